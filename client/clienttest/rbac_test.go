package clienttest_test

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

const (
	selfReviews = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
	robot       = "system:serviceaccount:web:robot"
)

// robotsRoles are roles as a program has them in its manifests.
const robotsRoles = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: parts, labels: {robots: "yes"}}
rules:
- {verbs: [get], apiGroups: [""], resources: [configmaps], resourceNames: [a]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: whole}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {robots: "yes"}}]}
rules: []
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: robot, namespace: web}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: whole}
subjects: [{kind: ServiceAccount, name: robot, namespace: web}]
`

// A program whose role lacks a verb fails in the test. GUIDE.md shows the first lines.
func TestAProgramHasTheRolesOfItsManifests(t *testing.T) {
	server := clienttest.Start(t, clienttest.Options{RBAC: true, Objects: []string{"testdata/roles.yaml"}})
	cfg := server.Config()
	cfg.Impersonate = &client.Subject{User: "system:serviceaccount:web:robot"}
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	configs := client.For(c, client.Type[*meta.Partial]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"})
	if _, err := configs.List(t.Context(), client.ListOptions{Namespace: "web"}); err != nil {
		t.Error(err)
	}
	err = configs.Delete(t.Context(), meta.Key{Namespace: "web", Name: "a"}, client.DeleteOptions{})
	if !errors.Is(err, apierrors.Forbidden) || !strings.Contains(err.Error(), `cannot delete resource "configmaps"`) {
		t.Errorf("a verb that the role lacks: %v", err)
	}
	role := server.Role("robot", clienttest.RoleOptions{User: "system:serviceaccount:web:robot", Names: []string{"leases"}})
	if !strings.Contains(string(role), "verbs: [list, delete]") {
		t.Errorf("the program has asked to list and to delete config maps:\n%s", role)
	}
}

// As with a real server, a rule with resourceNames allows to list and to watch the object that a field selector names.
func TestARuleWithNamesAllowsListsOfOneObject(t *testing.T) {
	file := write(t, "roles.yaml", strings.ReplaceAll(robotsRoles, "verbs: [get]", "verbs: [list, watch]"))
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{RBAC: true, Objects: []string{file}})
		for selector, want := range map[string]int{
			"": 403, "metadata.name=a": 200, "metadata.name=b": 403, "metadata.name!=a": 403, "metadata.name=a,metadata.namespace=web": 200,
			"metadata.namespace=web": 403, "metadata.name=a,": 200,
		} {
			for _, watch := range []string{"", "&watch=true&timeoutSeconds=1"} {
				path := "/api/v1/namespaces/web/configmaps?fieldSelector=" + url.QueryEscape(selector) + watch
				if got := h.do(t, http.MethodGet, path, "", "Impersonate-User", robot); got.code != want {
					t.Errorf("%q%s: answered %d, want %d: %s", selector, watch, got.code, want, got.body)
				}
			}
		}
	})
}

// A write with a field whose rules the server does not have is counted.
func TestWritesThatAreNotCheckedAreCounted(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	h.must(t, http.MethodPost, configMaps, `{"metadata":{"name":"a"}}`)
	if got := h.server.Unchecked(); len(got) != 0 {
		t.Errorf("a config map: %v", got)
	}
	for range 2 {
		h.must(t, http.MethodPost, "/apis/resource.k8s.io/v1/deviceclasses",
			`{"metadata":{"generateName":"a-"},"spec":{"selectors":[{"cel":{"expression":"true"}}]}}`)
	}
	want := map[string]int{"DeviceClass spec.selectors.cel.expression": 2}
	if got := h.server.Unchecked(); !maps.Equal(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
}

func TestAnAggregatedRoleHasTheRulesThatItSelects(t *testing.T) {
	h := newHarness(t, clienttest.Options{RBAC: true, Objects: []string{write(t, "roles.yaml", robotsRoles)}})
	const configs = "/api/v1/namespaces/web/configmaps"
	h.must(t, http.MethodPost, configs, `{"metadata":{"name":"a"}}`)
	h.must(t, http.MethodGet, configs+"/a", "", "Impersonate-User", robot)
	if a := h.do(t, http.MethodGet, configs, "", "Impersonate-User", robot); a.code != http.StatusForbidden {
		t.Errorf("a list: %d %s", a.code, a.body)
	}
	got := h.must(t, http.MethodPost, selfReviews, `{"spec":{"namespace":"web"}}`, "Impersonate-User", robot)
	want := `{"verbs":["get"],"apiGroups":[""],"resources":["configmaps"],"resourceNames":["a"]}`
	if rules := at(got, "status", "resourceRules"); !strings.Contains(rules, want) || at(got, "status", "incomplete") != "false" {
		t.Errorf("the rules are %s, want %s among them", got, want)
	}
	if paths := at(got, "status", "nonResourceRules"); !strings.Contains(paths, `"/api/*"`) {
		t.Errorf("the paths are %s, want those of system:discovery", paths)
	}
	// Without the part, the whole is empty.
	h.must(t, http.MethodDelete, "/apis/rbac.authorization.k8s.io/v1/clusterroles/parts", "")
	if a := h.do(t, http.MethodGet, configs+"/a", "", "Impersonate-User", robot); a.code != http.StatusForbidden {
		t.Errorf("without the rule: %d %s", a.code, a.body)
	}
}

// The role admin selects edit, which selects view, which selects the rules.
func TestTheRolesOfUsersAreAggregated(t *testing.T) {
	h := newHarness(t, clienttest.Options{RBAC: true})
	for role, may := range map[string][2]int{"view": {403, 403}, "edit": {201, 403}, "admin": {201, 201}} {
		h.must(t, http.MethodPost, "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings", `{"metadata":{"name":"`+role+`"},
			"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"`+role+`"},
			"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"`+role+`"}]}`)
		h.must(t, http.MethodGet, configMaps, "", "Impersonate-User", role)
		write := h.do(t, http.MethodPost, configMaps, `{"metadata":{"generateName":"a-"}}`, "Impersonate-User", role)
		grant := h.do(t, http.MethodPost, "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
			`{"metadata":{"name":"of-`+role+`"},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["configmaps"]}]}`, "Impersonate-User", role)
		if got := [2]int{write.code, grant.code}; got != may {
			t.Errorf("%s: a config map and a role: %v, want %v", role, got, may)
		}
	}
}

// Two roles that select each other have no rules, and a role that selects has none of its own.
func TestRolesMaySelectEachOther(t *testing.T) {
	const rbac = "/apis/rbac.authorization.k8s.io/v1/"
	h := newHarness(t, clienttest.Options{RBAC: true})
	for a, b := range map[string]string{"a": "b", "b": "a"} {
		h.must(t, http.MethodPost, rbac+"clusterroles", `{"metadata":{"name":"`+a+`","labels":{"of":"`+a+`"}},
			"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"of":"`+b+`"}}]},
			"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["configmaps"]}]}`)
	}
	h.must(t, http.MethodPost, rbac+"clusterrolebindings", `{"metadata":{"name":"a"},
		"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"a"},
		"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"alice"}]}`)
	if a := h.do(t, http.MethodGet, configMaps+"/x", "", "Impersonate-User", "alice"); a.code != http.StatusForbidden {
		t.Errorf("%d %s", a.code, a.body)
	}
}

func TestWithoutRBACRolesHaveNoEffect(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	h.must(t, http.MethodGet, configMaps, "", "Impersonate-User", robot)
}

func TestObjectsOfFilesAreThereFromTheStart(t *testing.T) {
	folder := write(t, "a.yaml", strings.ReplaceAll(robotsRoles, "namespace: web", "namespace: made"))
	folder = folder[:strings.LastIndex(folder, "/")]
	h := newHarness(t, clienttest.Options{Objects: []string{folder}})
	h.must(t, http.MethodGet, "/api/v1/namespaces/made", "")
	h.must(t, http.MethodGet, "/apis/rbac.authorization.k8s.io/v1/namespaces/made/rolebindings/robot", "")
}

func TestObjectsThatTheServerWouldRefuseAreErrors(t *testing.T) {
	for text, want := range map[string]string{
		"a: b": "has no object",
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"A"}}`:                   `ConfigMap A: `,
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"date":{}}`:         `ConfigMap a: unknown field "date"`,
		`{"apiVersion":"v2","kind":"ConfigMap","metadata":{"name":"a"}}`:                   `ConfigMap a: the apiVersion must be v1, got v2`,
		`{"apiVersion":"apps/v1beta1","kind":"Deployment","metadata":{"name":"a"}}`:        `Deployment a: the apiVersion must be apps/v1, got apps/v1beta1`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"nodeName":"n"}}`: `Pod a: Pod "a" is invalid: spec.containers: Required value`,
		`{"apiVersion":"a.example/v1","kind":"Page","metadata":{"name":"a"}}`:              `Page a: the server has no kind Page of apiVersion "a.example/v1"`,
		"{": "yaml",
	} {
		server := clienttest.New(clienttest.Options{Objects: []string{write(t, "a.yaml", text)}})
		err := server.Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "clienttest.Options: Objects: ") {
			t.Errorf("of %s the error is %v, want %s", text, err, want)
		}
	}
}

func TestRBACAndAuthorizeExcludeEachOther(t *testing.T) {
	server := clienttest.New(clienttest.Options{RBAC: true, Authorize: func(clienttest.Access) (bool, string) { return true, "" }})
	if err := server.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "Authorize must be nil if RBAC is set") {
		t.Errorf("the error is %v", err)
	}
}

// An apply or an update that creates the object needs the permission to create too, and the least role has it.
func TestAnApplyThatCreatesNeedsThePermissionToCreate(t *testing.T) {
	const roles = `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: robot, namespace: web}
rules:
- {verbs: [patch], apiGroups: [""], resources: [configmaps]}
- {verbs: [update], apiGroups: [coordination.k8s.io], resources: [leases]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: robot, namespace: web}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: robot}
subjects: [{kind: ServiceAccount, name: robot, namespace: web}]
`
	server := clienttest.Start(t, clienttest.Options{RBAC: true, Objects: []string{write(t, "roles.yaml", roles)}})
	cfg := server.Config()
	admin, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	cfg.Impersonate = &client.Subject{User: robot}
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	configs := client.Type[*meta.Partial]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
	leases := client.Type[*meta.Partial]{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Resource: "leases"}
	key, as := meta.Key{Namespace: "web", Name: "a"}, client.WriteOptions{FieldManager: "robot"}
	apply := func() error {
		_, err := client.For(c, configs).With(as).Apply(t.Context(), key, map[string]any{"data": map[string]any{"a": "b"}}, client.ApplyOptions{})
		return err
	}
	refused := func(what, says string, err error) {
		t.Helper()
		if !errors.Is(err, apierrors.Forbidden) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s returns %v, want that the user %s", what, err, says)
		}
	}
	refused("an apply that creates", `cannot create resource "configmaps"`, apply())
	_, err = client.For(c, leases).Update(t.Context(), &meta.Partial{ObjectMeta: key.ObjectMeta()})
	refused("an update that creates", `cannot create resource "leases"`, err)
	if _, err := client.For(admin, configs).Create(t.Context(), &meta.Partial{ObjectMeta: key.ObjectMeta()}); err != nil {
		t.Fatal(err)
	}
	if err := apply(); err != nil {
		t.Errorf("an apply to an object that exists returns %v", err)
	}
	role := string(server.Role("robot", clienttest.RoleOptions{User: robot}))
	if !strings.Contains(role, "verbs: [create, patch]") || !strings.Contains(role, "verbs: [create, update]") {
		t.Errorf("the least role is\n%s", role)
	}
}
