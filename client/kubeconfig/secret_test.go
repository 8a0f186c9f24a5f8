package kubeconfig

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
)

// guarantee S2, for what this package returns; behaviour 104
func TestNoWayOfPrintingShowsASecret(t *testing.T) {
	cert, key := keyPair(t, "admin")
	l, err := Parse([]byte(one(someServer+`proxy-url: "http://a:pr0xy@p"`,
		`token: t0k3n, client-certificate-data: `+base(cert)+`, client-key-data: `+base(key))), Options{Path: "/c"})
	if err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(map[string]any{"value": l, "pointer": &l})
	if err != nil {
		t.Fatal(err)
	}
	shown := []string{string(asJSON), fmt.Sprint(l), fmt.Sprint(&l), fmt.Sprint([]any{l})}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%t"} {
		shown = append(shown, fmt.Sprintf(verb, l), fmt.Sprintf(verb, struct{ Inner Loaded }{l}), fmt.Sprintf(verb, struct{ Inner *Loaded }{&l}))
	}
	// What fmt makes of bytes where it does not know what they are: [45 45 45 ...].
	numbers := strings.Trim(fmt.Sprint(key[:16]), "[]")
	for _, text := range shown {
		if !strings.Contains(text, "https://s:6443") {
			t.Errorf("it shows no server: %s", text)
		}
		for _, secret := range []string{"t0k3n", "pr0xy", base(key)[:16], numbers, "PRIVATE KEY", fmt.Sprintf("%x", "t0k3n")} {
			if strings.Contains(text, secret) {
				t.Errorf("it shows a secret: %s", text)
			}
		}
	}
}

// guarantee S2, for what Write is given; behaviour 104
func TestNoWayOfPrintingAChangeShowsASecret(t *testing.T) {
	_, key := keyPair(t, "admin")
	exec := Exec{Command: "c", Args: []client.Secret{"t0k3n"}, Env: map[string]client.Secret{"A": "t0k3n"}}
	user := User{Token: "t0k3n", Username: "anna", Password: "t0k3n", KeyData: client.Secret(key), CertData: client.Secret(key), Exec: exec, AsGroups: []string{"a"}}
	cluster := Cluster{Server: "https://s", ProxyURL: "http://a:t0k3n@p", CAData: client.Secret(key)}
	change := Change{Users: map[string]*User{"u": &user}, Clusters: map[string]*Cluster{"c": &cluster}}
	var shown []string
	for _, v := range []any{
		user, &user, cluster, &cluster, exec, &exec, change, &change,
		[]any{user, cluster, exec},
		struct{ Inner User }{user},
		struct {
			User    *User
			Cluster *Cluster
			Exec    *Exec
		}{&user, &cluster, &exec},
		map[string]Exec{"a": exec},
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%t"} {
			shown = append(shown, fmt.Sprintf(verb, v))
		}
		asJSON, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		shown = append(shown, string(asJSON))
	}
	numbers := strings.Trim(fmt.Sprint(key[:16]), "[]")
	for _, text := range shown {
		for _, secret := range []string{"t0k3n", base(key)[:16], numbers, "PRIVATE KEY", fmt.Sprintf("%x", "t0k3n"), base([]byte("t0k3n"))} {
			if strings.Contains(text, secret) {
				t.Errorf("it shows a secret: %s", text)
			}
		}
	}
	const wantExec = "{APIVersion: Command:c Args:[[redacted]] Env:map[A:[redacted]] InteractiveMode: InstallHint: ClusterInfo:false}"
	if got := fmt.Sprintf("%+v", exec); got != wantExec {
		t.Errorf("the plugin is %s", got)
	}
	const wantCluster = "{Server:https://s CAFile: CAData:[redacted] Insecure:false ServerName: ProxyURL:[redacted] Uncompressed:false}"
	if got := fmt.Sprintf("%+v", cluster); got != wantCluster {
		t.Errorf("the cluster is %s", got)
	}
}

// guarantee S2: a parser's messages may quote what they do not understand.
func TestAFileThatIsNotYAMLDoesNotShowItsSecrets(t *testing.T) {
	for _, data := range []string{
		"users: [{name: u, user: {token: *s3cr3t}}]", // not quoted
		"users: [{name: u, user: {token: s3cr3t",
		"token: %s3cr3t\n%s3cr3t",
		"token: !!int s3cr3t",
		"token: !s3cr3t! a",
		"token: &s3cr3t",
		"token: @s3cr3t",
		"token: `s3cr3t",
		"token: \"s3cr3t\\q\"",
		"token: 's3cr3t",
		"s3cr3t",
		"- s3cr3t",
		"token: |\n s3cr3t\n\ts3cr3t\nx",
		"token: s3cr3t: s3cr3t",
		"token: s3cr3t\n\xff",
		"token: s3cr3t\x01",
		one(someServer, `token: *s3cr3t`),
		one(someServer, `token: !!null s3cr3t, exec: !!bool s3cr3t`),
		one(someServer+`insecure-skip-tls-verify: s3cr3t`, ``),
		one(someServer+`insecure-skip-tls-verify: !!bool s3cr3t`, ``),
	} {
		t.Run(data, func(t *testing.T) {
			_, err := Parse([]byte(data), Options{Path: "/c"})
			if err == nil {
				t.Fatal("no error")
			}
			if text := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(text, "s3cr3t") {
				t.Errorf("error shows a secret: %s", text)
			}
		})
	}
}
