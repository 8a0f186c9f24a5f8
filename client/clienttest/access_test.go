package clienttest_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
)

// guard allows what a test wants, and remembers who was refused what.
type guard struct {
	mu      sync.Mutex
	refused []string
}

func (g *guard) authorize(a clienttest.Access) (bool, string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case a.User.Name == "admin" && (a.Verb != "impersonate" || a.Key.Name != "root"):
		return true, ""
	case a.User.Name == "jane" && a.Key.Namespace == "default" && a.Resource.Resource == "configmaps":
		return true, "she may"
	case slices.Contains(a.User.Groups, "readers") && a.Verb == "get":
		return true, ""
	case a.Path == "/healthz":
		return true, ""
	}
	g.refused = append(g.refused, a.User.Name+" "+a.Verb)
	return false, "not in the test"
}

// The words are those of kube-apiserver.
func TestDeniedRequestsAreForbidden(t *testing.T) {
	g := &guard{}
	servers(t, clienttest.Options{Authorize: g.authorize}, func(t *testing.T, h *harness) {
		const maps = "/api/v1/namespaces/default/configmaps"
		for _, test := range []struct {
			method, path, user string
			code               int
			message            string
		}{
			{"GET", maps, "", 200, ""},
			{"GET", maps, "jane", 200, ""},
			{"GET", "/api/v1/configmaps", "jane", 403, `configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" at the cluster scope: not in the test`},
			{"GET", "/api/v1/namespaces/kube-system/pods/a", "jane", 403, `pods "a" is forbidden: User "jane" cannot get resource "pods" in API group "" in the namespace "kube-system": not in the test`},
			{"GET", "/apis/apps/v1/namespaces/default/deployments/a/scale", "jane", 403, `deployments.apps "a" is forbidden: User "jane" cannot get resource "deployments/scale" in API group "apps" in the namespace "default": not in the test`},
			{"GET", "/api/v1/namespaces/default", "jane", 403, `namespaces "default" is forbidden: User "jane" cannot get resource "namespaces" in API group "" in the namespace "default": not in the test`},
			{"GET", maps, "root", 403, `users "root" is forbidden: User "admin" cannot impersonate resource "users" in API group "" at the cluster scope: not in the test`},
			{"GET", "/apis/none.example/v1/things", "jane", 403, `things.none.example is forbidden: User "jane" cannot list resource "things" in API group "none.example" at the cluster scope: not in the test`},
			{"GET", "/healthz", "jane", 200, ""},
		} {
			var header []string
			if test.user != "" {
				header = []string{"Impersonate-User", test.user}
			}
			got := h.do(t, test.method, test.path, "", header...)
			if got.code != test.code || test.message != "" && got.status(t).Message != test.message {
				t.Errorf("%s %s as %q: %d %s\nwant %d %s", test.method, test.path, test.user, got.code, got.body, test.code, test.message)
			}
		}
		alone := h.do(t, "GET", maps, "", "Impersonate-Group", "readers")
		if alone.code != http.StatusBadRequest {
			t.Errorf("a group without a user: %d %s", alone.code, alone.body)
		}
	})
	if len(g.refused) == 0 {
		t.Error("nobody was refused anything")
	}
}

func TestReviewsAskTheSameQuestion(t *testing.T) {
	g := &guard{}
	servers(t, clienttest.Options{Authorize: g.authorize}, func(t *testing.T, h *harness) {
		const (
			base     = "/apis/authorization.k8s.io/v1/"
			resource = `"resourceAttributes":{"verb":"%s","resource":"%s","namespace":"%s"}`
		)
		ask := func(review, user, spec string) answer {
			var header []string
			if user != "" {
				header = []string{"Impersonate-User", user}
			}
			return h.do(t, "POST", base+review, `{"spec":{`+spec+`}}`, header...)
		}
		for _, test := range []struct {
			review, user, spec string
			allowed, reason    string
		}{
			{"selfsubjectaccessreviews", "jane", fmt.Sprintf(resource, "list", "configmaps", "default"), "true", "she may"},
			{"selfsubjectaccessreviews", "jane", fmt.Sprintf(resource, "list", "secrets", "default"), "false", "not in the test"},
			{"selfsubjectaccessreviews", "", fmt.Sprintf(resource, "list", "secrets", ""), "true", ""},
			{"selfsubjectaccessreviews", "jane", `"nonResourceAttributes":{"verb":"get","path":"/healthz"}`, "true", ""},
			{"subjectaccessreviews", "", `"user":"joe","groups":["readers"],` + fmt.Sprintf(resource, "get", "pods", "x"), "true", ""},
			{"subjectaccessreviews", "", `"user":"joe",` + fmt.Sprintf(resource, "get", "pods", "x"), "false", "not in the test"},
		} {
			got := ask(test.review, test.user, test.spec)
			if got.code != http.StatusCreated || at(got.body, "status", "allowed") != test.allowed || at(got.body, "status", "reason") != test.reason {
				t.Errorf("%s of %q about %s: %d %s", test.review, test.user, test.spec, got.code, got.body)
			}
		}
		if got := ask("subjectaccessreviews", "jane", `"user":"joe"`); got.code != http.StatusForbidden {
			t.Errorf("jane may ask about joe: %d %s", got.code, got.body)
		}
		for spec, code := range map[string]int{
			fmt.Sprintf(resource, "get", "pods", "x"): 422, // about nobody
			`"user":"joe"`: 422, // about nothing
		} {
			if got := ask("subjectaccessreviews", "", spec); got.code != code {
				t.Errorf("a review with %s: %d %s", spec, got.code, got.body)
			}
		}
		if got := h.do(t, "GET", base+"selfsubjectaccessreviews", ""); got.code != http.StatusMethodNotAllowed {
			t.Errorf("a list of reviews: %d %s", got.code, got.body)
		}
	})
}

// A token is good for the server until it expires, also beside Options.Token.
func TestTokensOfServiceAccountsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{Token: "t"})
		const accounts = "/api/v1/namespaces/default/serviceaccounts"
		h.must(t, "POST", accounts, `{"metadata":{"name":"robot"}}`)
		token := at(h.must(t, "POST", accounts+"/robot/token", `{"spec":{"expirationSeconds":600}}`), "status", "token")
		get := func(token string) int { return h.do(t, "GET", accounts, "", "Authorization", "Bearer "+token).code }
		if get(token) != 200 || get("t") != 200 || get("x") != 401 {
			t.Error("the token is not good")
		}
		time.Sleep(601 * time.Second)
		if get(token) != 401 || get("t") != 200 {
			t.Error("the token is still good")
		}
	})
}

func TestMissingSubresourcesAreRefused(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	const pod = "/api/v1/namespaces/default/pods/a"
	for _, test := range []struct {
		method, path string
		code         int
		message      string
	}{
		{"GET", pod + "/scale", 404, "the server could not find the requested resource"},
		{"GET", pod + "/eviction", 405, "the server does not allow this method on the requested resource"},
		{"DELETE", pod + "/binding", 405, "the server does not allow this method on the requested resource"},
		{"POST", pod + "/status", 405, "the server does not allow this method on the requested resource"},
		{"GET", "/api/v1/namespaces/default/configmaps/a/status", 404, "the server could not find the requested resource"},
	} {
		if got := h.do(t, test.method, test.path, ""); got.code != test.code || got.status(t).Message != test.message {
			t.Errorf("%s %s: %d %s", test.method, test.path, got.code, got.body)
		}
	}
}
