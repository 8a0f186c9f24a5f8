package kubeconfig

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
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
	shown := []string{string(asJSON), l.String(), l.GoString(), fmt.Sprint(l), fmt.Sprint(&l), fmt.Sprint([]any{l})}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%t"} {
		shown = append(shown, fmt.Sprintf(verb, l), fmt.Sprintf(verb, struct{ Inner Loaded }{l}))
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
