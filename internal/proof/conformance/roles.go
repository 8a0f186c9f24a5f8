package conformance

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	apierrors "github.com/bowline-go/bowline/errors"
)

// RunRoles is the part of the suite about a server whose roles decide what users may do (RBAC).
func RunRoles(t *testing.T, cfg client.Config) {
	s := newSuite(t, cfg)
	for _, test := range []struct {
		name string
		run  func(*testing.T, suite)
	}{
		{"a role allows what it lists", testRole},
		{"roles that do not exist", testMissingRole},
		{"nobody grants what they do not have", testEscalation},
		{"paths", testPaths},
		{"impersonation", testMayImpersonate},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, s)
		})
	}
}

// as returns the suite with a client that acts for a user.
func (s suite) as(t *testing.T, user string, groups ...string) suite {
	t.Helper()
	s.cfg.Impersonate = &client.Subject{User: user, Groups: groups}
	c, err := client.New(s.cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	s.client = c
	return s
}

// inRoles returns the names of a namespace of the test, and a function that plays exchanges with these names.
func (s suite) inRoles(t *testing.T) (names *strings.Replacer, play func(s suite, all ...exchange)) {
	t.Helper()
	ns := s.namespace(t)
	const rbac = "/apis/rbac.authorization.k8s.io/v1"
	names = strings.NewReplacer(
		"{ns}", ns, "{core}", "/api/v1/namespaces/"+ns, "{roles}", rbac+"/namespaces/"+ns+"/roles", "{bindings}", rbac+"/namespaces/"+ns+"/rolebindings",
		"{clusterroles}", rbac+"/clusterroles", "{clusterbindings}", rbac+"/clusterrolebindings", "{user}", "user-"+ns, "{group}", "group-"+ns,
		"{account}", "system:serviceaccount:"+ns+":robot",
	)
	return names, func(s suite, all ...exchange) {
		t.Helper()
		for _, e := range all {
			e.run(t, s, names)
		}
	}
}

// until waits until the answer to a user's request has a text: the roles of a real server take effect a little later.
func (s suite) until(t *testing.T, user suite, request, body, text string) {
	t.Helper()
	method, path, _ := strings.Cut(request, " ")
	var last string
	for range 300 {
		answer, err := user.raw(t, client.RawRequest{
			Method: method, Path: path, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(body),
		})
		last = string(answer)
		if err != nil {
			last = err.Error()
		}
		if strings.Contains(last, text) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%s has the answer %s, want %s in it", request, last, text)
}

// made returns an exchange that makes an object.
func made(name, path, body string) exchange {
	return exchange{name: name, path: "POST " + path, body: body, code: http.StatusCreated}
}

// allowed returns an exchange that a user may do, and forbidden one that a user may not.
func allowed(name, path string) exchange {
	return exchange{name: name, path: path, code: http.StatusOK}
}

func forbidden(name, path, body, message string) exchange {
	return refused(name, path, "", body, http.StatusForbidden, apierrors.Forbidden, message)
}

// boundTo returns the rest of a binding after its metadata.
func boundTo(kind, role, subjects string) string {
	return `,"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"` + kind + `","name":"` + role + `"},"subjects":[` + subjects + `]}`
}

const (
	theUser    = `{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"{user}"}`
	theGroup   = `{"apiGroup":"rbac.authorization.k8s.io","kind":"Group","name":"{group}"}`
	theAccount = `{"kind":"ServiceAccount","name":"robot","namespace":"{ns}"}`
)

func testRole(t *testing.T, s suite) {
	names, play := s.inRoles(t)
	user := s.as(t, names.Replace("{user}"))
	const list = "GET {core}/configmaps"
	cannot := func(verb, resource string) string {
		return `User "{user}" cannot ` + verb + ` resource "` + resource + `" in API group "" in the namespace "{ns}"`
	}
	play(user, forbidden("without a role", list, "", names.Replace("configmaps is forbidden: "+cannot("list", "configmaps"))))
	play(
		s, made("a role", "{roles}", `{"metadata":{"name":"a"},"rules":[{"verbs":["list"],"apiGroups":[""],"resources":["configmaps"]},
			{"verbs":["get"],"apiGroups":[""],"resources":["configmaps"],"resourceNames":["mine"]},
			{"verbs":["*"],"apiGroups":[""],"resources":["pods/status"]},{"verbs":["patch"],"apiGroups":[""],"resources":["*/scale"]}]}`),
		made("a binding", "{bindings}", `{"metadata":{"name":"a"}`+boundTo("Role", "a", theUser)),
		made("an object", "{core}/configmaps", `{"metadata":{"name":"mine"}}`),
	)
	s.until(t, user, names.Replace(list), "", `"items"`)
	play(
		user, allowed("a verb of the role", list), allowed("a name of the role", "GET {core}/configmaps/mine"),
		forbidden("another name", "GET {core}/configmaps/other", "", names.Replace(cannot("get", "configmaps"))),
		forbidden("another verb", "DELETE {core}/configmaps/mine", "", names.Replace(cannot("delete", "configmaps"))),
		forbidden("everywhere", "GET /api/v1/configmaps", "", names.Replace(`User "{user}" cannot list resource "configmaps" in API group "" at the cluster scope`)),
		refused("a subresource of the role", "GET {core}/pods/p/status", "", "", http.StatusNotFound, apierrors.NotFound, `pods "p" not found`),
		forbidden("the resource of a subresource", "GET {core}/pods/p", "", names.Replace(cannot("get", "pods"))),
		refused("a subresource of any resource", "{core}/replicationcontrollers/r/scale", asMerge, "{}", http.StatusNotFound, apierrors.NotFound,
			`replicationcontrollers "r" not found`),
		forbidden("the namespace", "GET /api/v1/namespaces/{ns}", "", names.Replace(cannot("get", "namespaces"))),
	)
	play(s, exchange{path: "DELETE {bindings}/a", code: http.StatusOK})
	s.until(t, user, names.Replace(list), "", "is forbidden")
	play(user, forbidden("without the binding", list, "", names.Replace(cannot("list", "configmaps"))))

	// A role of the cluster, bound in a namespace, to a group and to a service account.
	play(
		s, made("a cluster role", "{clusterroles}", `{"metadata":{"name":"{ns}"},"rules":[{"verbs":["list","get"],"apiGroups":[""],"resources":["configmaps","namespaces"]}]}`),
		made("its binding", "{bindings}", `{"metadata":{"name":"b"}`+boundTo("ClusterRole", "{ns}", theGroup+","+theAccount)),
	)
	for _, one := range []suite{s.as(t, "anybody", names.Replace("{group}")), s.as(t, names.Replace("{account}"))} {
		s.until(t, one, names.Replace(list), "", `"items"`)
		play(one, allowed("in the namespace", list), allowed("the namespace itself", "GET /api/v1/namespaces/{ns}"),
			forbidden("in another", "GET /api/v1/namespaces/default/configmaps", "", `in the namespace "default"`),
			forbidden("all namespaces", "GET /api/v1/namespaces", "", "at the cluster scope"))
	}
	play(s, made("a binding of the cluster", "{clusterbindings}", `{"metadata":{"name":"{ns}"}`+boundTo("ClusterRole", "{ns}", theUser)))
	s.until(t, user, "GET /api/v1/configmaps", "", `"items"`)
	play(user, allowed("everywhere", "GET /api/v1/configmaps"), allowed("all namespaces", "GET /api/v1/namespaces"))
	play(s, exchange{path: "DELETE {clusterbindings}/{ns}", code: http.StatusOK}, exchange{path: "DELETE {clusterroles}/{ns}", code: http.StatusOK})
}

func testMissingRole(t *testing.T, s suite) {
	names, play := s.inRoles(t)
	play(s, made("a binding", "{bindings}", `{"metadata":{"name":"a"}`+boundTo("Role", "absent", theUser)))
	user := s.as(t, names.Replace("{user}"))
	s.until(t, user, names.Replace("GET {core}/configmaps"), "", `"absent" not found`)
	play(user, forbidden("the reason names the role", "GET {core}/configmaps", "", `RBAC: role.rbac.authorization.k8s.io "absent" not found`))
	play(s, made("another", "{bindings}", `{"metadata":{"name":"b"}`+boundTo("ClusterRole", "bowline-absent", theUser)))
	s.until(t, user, names.Replace("GET {core}/configmaps"), "", `"bowline-absent" not found`)
	play(user, forbidden("both", "GET {core}/configmaps", "",
		`RBAC: [role.rbac.authorization.k8s.io "absent" not found, clusterrole.rbac.authorization.k8s.io "bowline-absent" not found]`))
}

func testEscalation(t *testing.T, s suite) {
	names, play := s.inRoles(t)
	play(
		s, made("a role", "{roles}", `{"metadata":{"name":"owner"},"rules":[
			{"verbs":["create","update","patch","get"],"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles","rolebindings"]},
			{"verbs":["get","list"],"apiGroups":[""],"resources":["configmaps"]},
			{"verbs":["escalate"],"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles"],"resourceNames":["free"]},
			{"verbs":["bind"],"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles"],"resourceNames":["free"]}]}`),
		made("a binding", "{bindings}", `{"metadata":{"name":"owner"}`+boundTo("Role", "owner", theUser)),
		made("a role to change", "{roles}", `{"metadata":{"name":"free"},"rules":[]}`),
	)
	user := s.as(t, names.Replace("{user}"))
	const (
		less = `"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["configmaps"]}]}`
		more = `"rules":[{"verbs":["get","watch"],"apiGroups":[""],"resources":["configmaps","secrets"]}]}`
	)
	missing := func(rules ...string) string {
		return names.Replace("user \"{user}\" (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n" +
			strings.Join(rules, "\n"))
	}
	const watch, secrets = `{APIGroups:[""], Resources:["configmaps"], Verbs:["watch"]}`, `{APIGroups:[""], Resources:["secrets"], Verbs:["get" "watch"]}`
	s.until(t, user, names.Replace("GET {core}/configmaps"), "", `"items"`)
	play(
		user, made("rules that the user has", "{roles}", `{"metadata":{"name":"less"},`+less),
		forbidden("rules that the user has not", "POST {roles}", `{"metadata":{"name":"more"},`+more, missing(watch, secrets)),
		forbidden("escalate with a name, for a new role", "POST {roles}", `{"metadata":{"name":"free"},`+more, missing(watch, secrets)),
		forbidden("an update with more", "PUT {roles}/less", `{"metadata":{"name":"less"},`+more, missing(watch, secrets)),
		exchange{name: "labels", path: "{roles}/less", media: asMerge, body: `{"metadata":{"labels":{"a":"b"}}}`, code: http.StatusOK},
		exchange{name: "escalate", path: "PUT {roles}/free", body: `{"metadata":{"name":"free"},` + more, code: http.StatusOK},
		made("a binding to what the user has", "{bindings}", `{"metadata":{"name":"less"}`+boundTo("Role", "less", theGroup)),
		made("bind", "{bindings}", `{"metadata":{"name":"free"}`+boundTo("Role", "free", theGroup)),
		forbidden("a binding to more", "POST {bindings}", `{"metadata":{"name":"edit"}`+boundTo("ClusterRole", "cluster-admin", theGroup), `rolebindings.rbac.authorization.k8s.io "edit" is forbidden: *"], Verbs:["*"]}`),
		refused("a binding to nothing", "POST {bindings}", "", `{"metadata":{"name":"none"}`+boundTo("Role", "none", theGroup), http.StatusNotFound, apierrors.NotFound,
			`rolebindings.rbac.authorization.k8s.io "none" not found`),
	)
}

func testPaths(t *testing.T, s suite) {
	names, play := s.inRoles(t)
	user := s.as(t, names.Replace("{user}"))
	play(user, allowed("discovery", "GET /apis"), allowed("the version", "GET /version"),
		forbidden("another path", "GET /logs", "", names.Replace(`forbidden: User "{user}" cannot get path "/logs"`)))
	play(s, made("a role", "{clusterroles}", `{"metadata":{"name":"{ns}"},"rules":[{"verbs":["get"],"nonResourceURLs":["/bowline/*"]}]}`),
		made("its binding", "{clusterbindings}", `{"metadata":{"name":"{ns}"}`+boundTo("ClusterRole", "{ns}", theUser)))
	review := func(path, is string) exchange {
		return exchange{
			name: path, path: "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", code: http.StatusCreated, at: "status.allowed", is: is,
			body: `{"spec":{"nonResourceAttributes":{"path":"` + path + `","verb":"get"}}}`,
		}
	}
	s.until(t, user, review("/bowline/a", "").path, review("/bowline/a", "").body, `"allowed":true`)
	play(user, review("/bowline/a", "true"), review("/bowline", "false"))
	play(s, exchange{path: "DELETE {clusterbindings}/{ns}", code: http.StatusOK}, exchange{path: "DELETE {clusterroles}/{ns}", code: http.StatusOK})
}

func testMayImpersonate(t *testing.T, s suite) {
	names, play := s.inRoles(t)
	user := names.Replace("{user}")
	play(s, made("a role", "{clusterroles}", `{"metadata":{"name":"{ns}"},"rules":[{"verbs":["impersonate"],"apiGroups":[""],"resources":["users"],"resourceNames":["{user}"]}]}`))
	review := func(name, is string) exchange {
		return exchange{
			name: name, path: "POST /apis/authorization.k8s.io/v1/subjectaccessreviews", code: http.StatusCreated, at: "status.allowed", is: is,
			body: `{"spec":{"user":"boss","resourceAttributes":{"verb":"impersonate","resource":"users","name":"` + name + `"}}}`,
		}
	}
	play(s, review(user, "false"), made("its binding", "{clusterbindings}",
		`{"metadata":{"name":"{ns}"}`+boundTo("ClusterRole", "{ns}", `{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"boss"}`)))
	s.until(t, s, review(user, "").path, review(user, "").body, `"allowed":true`)
	play(s, review(user, "true"), review("other", "false"))
	play(s, exchange{path: "DELETE {clusterbindings}/{ns}", code: http.StatusOK}, exchange{path: "DELETE {clusterroles}/{ns}", code: http.StatusOK})
}
