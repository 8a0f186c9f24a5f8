package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/kubeconfig"
)

// plugin is the first argument with which the test binary is a credential plugin. The second is a directory, with the files
// 1, 2 and so on: what it says in each of its runs, the last one again and again.
const plugin = "credential-plugin"

// playPlugin is the plugin. It says what it would if it were told of the cluster, too.
func playPlugin(dir string) error {
	var info struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Spec       struct {
			Cluster struct{ Server string } `json:"cluster"`
		} `json:"spec"`
	}
	if err := json.Unmarshal([]byte(os.Getenv("KUBERNETES_EXEC_INFO")), &info); err != nil {
		return err
	}
	if info.Kind != "ExecCredential" || info.Spec.Cluster.Server == "" {
		return fmt.Errorf("KUBERNETES_EXEC_INFO is %+v", info)
	}
	runs, err := os.OpenFile(filepath.Join(dir, "runs"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer runs.Close()
	if _, err := runs.WriteString("x"); err != nil {
		return err
	}
	number, err := os.ReadFile(runs.Name())
	if err != nil {
		return err
	}
	for n := len(number); n > 0; n-- {
		if status, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(n))); err == nil {
			_, err = fmt.Printf(`{"kind": "ExecCredential", "apiVersion": %q, "status": %s}`, info.APIVersion, status)
			return err
		}
	}
	return fmt.Errorf("nothing to say in %s", dir)
}

// credentialOf is what a plugin prints.
type credentialOf struct {
	Token       string    `json:"token,omitempty"`
	Certificate string    `json:"clientCertificateData,omitempty"`
	Key         string    `json:"clientKeyData,omitempty"`
	Expires     time.Time `json:"expirationTimestamp,omitzero"`
}

// pluginConfig writes a kubeconfig whose user has the plugin, and loads it. runs returns how often the plugin has run.
func pluginConfig(t *testing.T, version string, says ...credentialOf) (cfg client.Config, runs func() int) {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, text []byte) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for i, s := range says {
		write(fmt.Sprint(i+1), must(json.Marshal(s))(t))
	}
	path := write("kubeconfig", fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: here, user: plugin, namespace: there}}]
clusters: [{name: here, cluster: {server: %q, certificate-authority-data: %s}}]
users:
- name: plugin
  user:
    exec:
      apiVersion: client.authentication.k8s.io/%s
      command: %q
      args: [%s, %q]
      provideClusterInfo: true
      interactiveMode: Never
`, plane.Server, base64.StdEncoding.EncodeToString(plane.CA), version, must(os.Executable())(t), plugin, dir))
	loaded := must(kubeconfig.Load(kubeconfig.Options{Path: path}))(t)
	equal(t, "namespace", loaded.Namespace, "there")
	return loaded.Config, func() int { return len(must(os.ReadFile(filepath.Join(dir, "runs")))(t)) }
}

func TestAPluginGivesAToken(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1", "v1beta1"} {
		cfg, runs := pluginConfig(t, version, credentialOf{Token: "wrong"}, credentialOf{Token: plane.Token})
		c := open(t, cfg)
		// The server refuses the first token, so the plugin runs once more, and the request goes on.
		for range 3 {
			equal(t, "user", must(client.WhoAmI(t.Context(), c))(t).User, "admin")
		}
		// Who shares the Config shares the credential.
		equal(t, "user", must(client.WhoAmI(t.Context(), open(t, cfg)))(t).User, "admin")
		equal(t, "the number of runs", runs(), 2)
	}
}

// A certificate that ends soon is replaced in time, and what it belonged to makes way for a new connection.
func TestAPluginGivesCertificates(t *testing.T) {
	t.Parallel()
	says := func(user string, life time.Duration) credentialOf {
		cert, key, err := plane.Issue(user, []string{"sailors"}, life)
		if err != nil {
			t.Fatal(err)
		}
		return credentialOf{Certificate: string(cert), Key: string(key)}
	}
	cfg, runs := pluginConfig(t, "v1", says("first", 6*time.Second), says("second", time.Hour))
	c := open(t, cfg)
	who := must(client.WhoAmI(t.Context(), c))(t)
	equal(t, "user", who.User, "first")
	if !strings.Contains(strings.Join(who.Groups, " "), "sailors") {
		t.Errorf("the groups are %q, want sailors among them", who.Groups)
	}
	eventually(t, func() error { // and no request fails
		if user := must(client.WhoAmI(t.Context(), c))(t).User; user != "second" {
			return fmt.Errorf("the user is still %s", user)
		}
		return nil
	})
	equal(t, "the number of runs", runs(), 2)
}
