package clienttest_test

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

const operatorUser = "system:serviceaccount:default:operator"

// asking is a client for a user; "" is the administrator.
func asking(t *testing.T, server *clienttest.Server, user string) func(method, path, body string) (allowed bool) {
	cfg := server.Config()
	if user != "" {
		cfg.Impersonate = &client.Subject{User: user}
	}
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return func(method, path, body string) (allowed bool) {
		t.Helper()
		header := http.Header{"Content-Type": {"application/json"}}
		if method == http.MethodPatch {
			header.Set("Content-Type", "application/merge-patch+json")
		}
		path, text, _ := strings.Cut(path, "?")
		query, _ := url.ParseQuery(text)
		answer, err := c.Raw(t.Context(), client.RawRequest{Method: method, Path: path, Query: query, Body: []byte(body), Header: header})
		if errors.Is(err, apierrors.Forbidden) {
			return false
		}
		if err == nil {
			_ = answer.Body.Close()
		}
		return true
	}
}

// workOfAnOperator is what an operator asks for.
func workOfAnOperator(ask func(method, path, body string) bool) (refused []string) {
	const maps, leases = "/api/v1/namespaces/default/configmaps", "/apis/coordination.k8s.io/v1/namespaces/default/leases"
	for _, q := range []string{
		"POST " + maps + ` {"metadata":{"name":"one"}}`,
		"GET " + maps + "/one",
		"POST " + leases + ` {"metadata":{"name":"operator"}}`,
		"GET " + leases + "/operator",
		"PATCH " + leases + `/operator {"metadata":{"labels":{"a":"b"}}}`,
		"GET " + leases + "?fieldSelector=metadata.name%3Doperator",
		"GET /api/v1/pods",
		"GET /api/v1/namespaces/kube-public/configmaps",
		"POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews {\"spec\":{\"namespace\":\"default\"}}",
		"GET /version",
	} {
		parts := append(strings.SplitN(q, " ", 3), "")
		if !ask(parts[0], parts[1], parts[2]) {
			refused = append(refused, q)
		}
	}
	return refused
}

// shortRoles writes each rule of roles in one line.
func shortRoles(manifest []byte) string {
	text := strings.ReplaceAll(string(manifest), "apiVersion: rbac.authorization.k8s.io/v1\n", "")
	return regexp.MustCompile(`apiGroups: \[(.*)\](?:\n  resourceNames: \[(.*)\])?\n  resources: \[(.*)\]\n  verbs: \[(.*)\]`).ReplaceAllString(text, "$1 $3 [$2] $4")
}

func TestTheRoleOfAProgramIsWhatItAsksFor(t *testing.T) {
	for _, test := range []struct {
		name    string
		options clienttest.RoleOptions
		want    string
	}{
		{"everywhere", clienttest.RoleOptions{User: operatorUser}, `kind: ClusterRole
metadata:
  name: operator
rules:
- "" configmaps [] get, list, create
- "" pods [] list
- coordination.k8s.io leases [] get, list, create, patch
`},
		{"with fixed names", clienttest.RoleOptions{User: operatorUser, Names: []string{"leases"}}, `kind: ClusterRole
metadata:
  name: operator
rules:
- "" configmaps [] get, list, create
- "" pods [] list
- coordination.k8s.io leases [] create
- coordination.k8s.io leases [operator] get, list, patch
`},
		{"in their namespaces", clienttest.RoleOptions{User: operatorUser, Namespaced: true}, `kind: ClusterRole
metadata:
  name: operator
rules:
- "" pods [] list
---
kind: Role
metadata:
  name: operator
  namespace: default
rules:
- "" configmaps [] get, create
- coordination.k8s.io leases [] get, list, create, patch
---
kind: Role
metadata:
  name: operator
  namespace: kube-public
rules:
- "" configmaps [] list
`},
		{"of another user", clienttest.RoleOptions{User: "somebody"}, `kind: ClusterRole
metadata:
  name: operator
rules:
- "" secrets [] get
- "" services/status [] update
`},
		{"of names with their subresources", clienttest.RoleOptions{User: "somebody", Names: []string{"services"}}, `kind: ClusterRole
metadata:
  name: operator
rules:
- "" secrets [] get
- "" services/status [a] update
`},
		{"of a user without requests", clienttest.RoleOptions{User: "nobody", Namespaced: true}, `kind: ClusterRole
metadata:
  name: operator
rules: []
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := clienttest.Start(t, clienttest.Options{})
				ask := asking(t, server, operatorUser)
				workOfAnOperator(ask)
				workOfAnOperator(ask) // a second time changes nothing
				asking(t, server, "somebody")("GET", "/api/v1/namespaces/default/secrets/a", "")
				asking(t, server, "somebody")("PUT", "/api/v1/namespaces/default/services/a/status", "{}")
				if got := shortRoles(server.Role("operator", test.options)); got != test.want {
					t.Errorf("got\n%s\nwant\n%s", got, test.want)
				}
			})
		})
	}
}

// Without a user the role is for the requests of all, but the test's impersonations are not in it.
func TestTheRoleOfAllUsersHasNoImpersonations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		asking(t, server, "somebody")("GET", "/api/v1/namespaces/default/secrets/a", "")
		asking(t, server, "")("DELETE", "/api/v1/namespaces/default/secrets", "")
		const want = "kind: ClusterRole\nmetadata:\n  name: a\nrules:\n- \"\" secrets [] get, deletecollection\n"
		if got := shortRoles(server.Role("a", clienttest.RoleOptions{})); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

func TestAProgramWithItsObservedRoleMayDoItsWorkAgain(t *testing.T) {
	for _, o := range []clienttest.RoleOptions{{}, {Names: []string{"leases"}}, {Namespaced: true}, {Namespaced: true, Names: []string{"leases", "configmaps"}}} {
		o.User = operatorUser
		synctest.Test(t, func(t *testing.T) {
			server := clienttest.Start(t, clienttest.Options{RBAC: true})
			grant := func(manifest string) {
				for doc := range strings.SplitSeq(manifest, "---\n") {
					kind, namespace := "ClusterRole", ""
					if _, after, found := strings.Cut(doc, "\n  namespace: "); found {
						kind, namespace = "Role", after[:strings.Index(after, "\n")]
					}
					path := "/apis/rbac.authorization.k8s.io/v1/"
					if namespace != "" {
						path += "namespaces/" + namespace + "/"
					}
					apply(t, server, path+strings.ToLower(kind)+"s/operator", doc)
					apply(t, server, path+strings.ToLower(kind)+"bindings/operator", `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"`+kind+`Binding","metadata":{"name":"operator"},
						"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"`+kind+`","name":"operator"},
						"subjects":[{"kind":"ServiceAccount","namespace":"default","name":"operator"}]}`)
				}
			}
			ask := asking(t, server, operatorUser)
			if refused := workOfAnOperator(ask); len(refused) < 8 {
				t.Errorf("without a role only %q are refused", refused)
			}
			grant(string(server.Role("operator", o)))
			if refused := workOfAnOperator(ask); refused != nil {
				t.Errorf("%+v: %q are refused with\n%s", o, refused, server.Role("operator", o))
			}
		})
	}
}

// apply applies a manifest as the administrator.
func apply(t *testing.T, server *clienttest.Server, path, manifest string) {
	t.Helper()
	c, err := client.New(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	answer, err := c.Raw(t.Context(), client.RawRequest{
		Method: http.MethodPatch, Path: path, Query: url.Values{"fieldManager": {"test"}}, Body: []byte(manifest), Header: http.Header{"Content-Type": {"application/apply-patch+yaml"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
}

func TestARoleOfAccessesIsThatOfTheSameRequests(t *testing.T) {
	server := clienttest.Start(t, clienttest.Options{})
	ask := asking(t, server, "")
	for _, path := range []string{"/api/v1/namespaces/a/pods/x", "/api/v1/namespaces/b/pods", "/api/v1/nodes/n", "/api/v1/namespaces/a/pods/x/status"} {
		ask(http.MethodGet, path, "")
	}
	resource := func(name string) meta.GVR { return meta.GVR{Version: "v1", Resource: name} }
	all := []client.Access{
		{Verb: "get", Resource: resource("pods"), Key: meta.Key{Namespace: "a", Name: "x"}},
		{Verb: "get", Resource: resource("pods"), Key: meta.Key{Namespace: "a", Name: "x"}, Subresource: "status"},
		{Verb: "get", Resource: resource("nodes"), Key: meta.Key{Name: "n"}, LabelSelector: "a=b"},
		{Verb: "list", Resource: resource("pods"), Key: meta.Key{Namespace: "b"}},
		{Verb: "list", Resource: resource("pods"), Key: meta.Key{Namespace: "b"}},
	}
	for _, o := range []clienttest.RoleOptions{{}, {Namespaced: true}, {Names: []string{"pods"}}, {Namespaced: true, Names: []string{"nodes"}}} {
		got, err := clienttest.RoleOf("r", all, o)
		if want := server.Role("r", o); err != nil || string(got) != string(want) {
			t.Errorf("%+v: got (%v)\n%s\nwant\n%s", o, err, got, want)
		}
	}
	got, err := clienttest.RoleOf("r", []client.Access{{Verb: "get", Path: "/metrics"}, {Verb: "create", Resource: resource("pods"), Key: meta.Key{Name: "x"}}}, clienttest.RoleOptions{Names: []string{"pods"}})
	want := "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: r\nrules:\n- apiGroups: [\"\"]\n  resources: [pods]\n  verbs: [create]\n" +
		"- nonResourceURLs: [/metrics]\n  verbs: [get]\n"
	if err != nil || string(got) != want {
		t.Errorf("got (%v)\n%s\nwant\n%s", err, got, want)
	}
	for text, wrong := range map[string]client.Access{
		"access 1 of 2 has no Verb":                       {Resource: resource("pods")},
		"access 1 of 2 has neither a Resource nor a Path": {Verb: "get"},
	} {
		if _, err := clienttest.RoleOf("r", []client.Access{all[0], wrong}, clienttest.RoleOptions{}); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%+v: got %v, want %q", wrong, err, text)
		}
	}
}
