package kubeconfig

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/internal/regular"
)

// behaviour 108
func TestAPodsServiceAccountIsAConfiguration(t *testing.T) {
	for _, test := range []struct {
		name       string
		host, port string
		remove     string // a file of the account that is missing
		server     string
		namespace  string
	}{
		{"an IPv4 address", "10.0.0.1", "443", "", "https://10.0.0.1:443", "web"},
		{"an IPv6 address", "fd00::1", "6443", "", "https://[fd00::1]:6443", "web"},
		{"a name", "kubernetes.default.svc", "443", "", "https://kubernetes.default.svc:443", "web"},
		{"without a CA the system's are trusted", "10.0.0.1", "443", "ca.crt", "https://10.0.0.1:443", "web"},
		{"without a namespace it is the default one", "10.0.0.1", "443", "namespace", "https://10.0.0.1:443", "default"},
	} {
		t.Run(test.name, func(t *testing.T) {
			environment(t)
			t.Setenv("KUBERNETES_SERVICE_HOST", test.host)
			t.Setenv("KUBERNETES_SERVICE_PORT", test.port)
			dir := t.TempDir()
			t.Setenv("POD_NAMESPACE", "not-this")
			files := map[string]string{"token": "abc", "ca.crt": "pem", "namespace": " web\n"}
			delete(files, test.remove)
			for name, content := range files {
				write(t, filepath.Join(dir, name), content)
			}
			l, err := inCluster(dir)
			if err != nil {
				t.Fatal(err)
			}
			ca := filepath.Join(dir, "ca.crt")
			var warnings []string
			if test.remove == "ca.crt" {
				warnings = []string{"in-cluster: the CA file " + ca + " does not exist; the system's certificates are trusted instead"}
				ca = ""
			}
			if !reflect.DeepEqual(l.Warnings, warnings) {
				t.Errorf("warnings are %q, want %q", l.Warnings, warnings)
			}
			c := l.Config
			if c.Server != test.server || c.TLS.CAFile != ca || c.TLS.Insecure {
				t.Errorf("config is %v", c)
			}
			// The client reads the file again and again: the token itself would expire.
			if c.BearerTokenFile != filepath.Join(dir, "token") || c.BearerToken != "" {
				t.Errorf("config is %v, want the token's file", c)
			}
			if l.Namespace != test.namespace || l.Origin != "in-cluster" || l.Context != "" {
				t.Errorf("loaded %v", l)
			}
		})
	}
}

// behaviour 108
func TestTheErrorOutsideAPodIsTyped(t *testing.T) {
	environment(t)
	for _, variable := range []string{"KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"} {
		_, err := inCluster(serviceAccount)
		if e := (*NotInClusterError)(nil); !errors.As(err, &e) || e.variable != variable {
			t.Errorf("error is %v, want a NotInClusterError for %s", err, variable)
		}
		if want := "not in a cluster: " + variable + " is not set"; err.Error() != want {
			t.Errorf("error is %q, want %q", err, want)
		}
		t.Setenv(variable, "10")
	}
}

func TestABrokenServiceAccountIsAnErrorThatNamesTheFile(t *testing.T) {
	for _, test := range []struct {
		name string
		make func(t *testing.T, dir string)
		want string // after "in-cluster: ", with $ for the folder
		is   error
	}{
		{"no token", func(*testing.T, string) {}, "read the service account's token $token: ", fs.ErrNotExist},
		{"a token that is a folder", func(t *testing.T, dir string) {
			mkdir(t, dir, "token")
		}, "read the service account's token $token: is a directory", regular.ErrDirectory},
		{"a CA that is a folder", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "token"), "abc")
			mkdir(t, dir, "ca.crt")
		}, "read the cluster's CA $ca.crt: is a directory", regular.ErrDirectory},
		{"a namespace that is a folder", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "token"), "abc")
			mkdir(t, dir, "namespace")
		}, "read the pod's namespace $namespace: ", nil},
		{"a host that is none", func(t *testing.T, _ string) {
			t.Setenv("KUBERNETES_SERVICE_HOST", "a b")
		}, "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must name a server: " +
			`the URL must be an absolute http or https URL, got "https://a b:443"`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			environment(t)
			t.Setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
			t.Setenv("KUBERNETES_SERVICE_PORT", "443")
			dir := t.TempDir()
			test.make(t, dir)
			_, err := inCluster(dir)
			want := "in-cluster: " + strings.ReplaceAll(test.want, "$", dir+string(filepath.Separator))
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("error is\n%v, want\n%v", err, want)
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("error %q does not match %q", err, test.is)
			}
			if errors.As(err, new(*NotInClusterError)) {
				t.Error("error says that this is no pod")
			}
		})
	}
}

func mkdir(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
		t.Fatal(err)
	}
}
