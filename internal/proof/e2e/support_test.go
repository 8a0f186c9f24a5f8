package e2e

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/proof/conformance"
)

// object is one of a kind that no test needs a struct for.
type object = *meta.Unstructured

// The resources of which tests read little.
var (
	deployments     = client.Type[object]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}
	pods            = client.Type[object]{Version: "v1", Kind: "Pod", Resource: "pods"}
	services        = client.Type[object]{Version: "v1", Kind: "Service", Resource: "services"}
	secrets         = client.Type[object]{Version: "v1", Kind: "Secret", Resource: "secrets"}
	serviceAccounts = client.Type[object]{Version: "v1", Kind: "ServiceAccount", Resource: "serviceaccounts"}
	roles           = client.Type[object]{Group: rbac, Version: "v1", Kind: "Role", Resource: "roles"}
	roleBindings    = client.Type[object]{Group: rbac, Version: "v1", Kind: "RoleBinding", Resource: "rolebindings"}
)

const rbac = "rbac.authorization.k8s.io"

// adminConfig is how the admin reaches the control plane that the tests share.
func adminConfig() client.Config {
	return client.Config{Server: plane.Server, TLS: client.TLS{CAData: client.Secret(plane.CA)}, BearerToken: client.Secret(plane.Token)}
}

// userConfig is how a user with a certificate does. The user has no rights but those of the groups.
func userConfig(t *testing.T, user string, groups ...string) client.Config {
	t.Helper()
	cert, key, err := plane.Issue(user, groups, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return client.Config{Server: plane.Server, TLS: client.TLS{CAData: client.Secret(plane.CA), CertData: client.Secret(cert), KeyData: client.Secret(key)}}
}

// open makes a client that lives as long as the test.
func open(t *testing.T, cfg client.Config) *client.Client {
	t.Helper()
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// admin makes a client of the admin's, and a namespace for the test.
func admin(t *testing.T) (*client.Client, string) {
	t.Helper()
	c := open(t, adminConfig())
	ns := &conformance.Namespace{ObjectMeta: meta.ObjectMeta{GenerateName: "e2e-"}}
	return c, must(client.For(c, conformance.Namespaces).Create(t.Context(), ns))(t).Name
}

// must returns what a call returned, which has to succeed.
func must[V any](v V, err error) func(testing.TB) V {
	return func(t testing.TB) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// parse returns the object that a JSON text is.
func parse(t testing.TB, text string) object {
	t.Helper()
	obj := new(meta.Unstructured)
	if err := json.Unmarshal([]byte(text), obj); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return obj
}

// exampleFile returns the object of a YAML file of an example as JSON.
func exampleFile(t testing.TB, name string) string {
	t.Helper()
	text := must(os.ReadFile(filepath.Join("..", "..", "..", "examples", filepath.FromSlash(name))))(t)
	return string(must(yaml.YAMLToJSON(text))(t))
}

// make creates an object in a namespace; empty means that there is none.
func create(t testing.TB, r client.Resource[object], namespace, text string) object {
	t.Helper()
	obj := parse(t, text)
	if namespace != "" {
		obj.SetNamespace(namespace)
	}
	return must(r.Create(t.Context(), obj))(t)
}

// nested returns what an object has at a path, the zero V where it has nothing.
func nested[V any](t *testing.T, obj object, path ...string) V {
	t.Helper()
	v, _, err := meta.Nested[V](obj.Object, path...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func wantReason(t *testing.T, err error, reason apierrors.Reason) {
	t.Helper()
	if !errors.Is(err, reason) {
		t.Errorf("error is %v, want %s", err, reason)
	}
}

func equal[V comparable](t *testing.T, what string, got, want V) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// eventually waits until check returns nil. It is for what the server learns from itself, such as rights: nothing tells when.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(patience)
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("after %v: %v", patience, err)
		}
	}
}
