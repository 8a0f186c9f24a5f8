package clienttest_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	apierrors "github.com/bowline-go/bowline/errors"
)

// What Options.Authorize allows cannot be listed, as with a webhook of a real server, and the answer says so.
func TestTheRulesOfAUserCannotBeListed(t *testing.T) {
	t.Run("with Authorize", func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{Authorize: func(clienttest.Access) (bool, string) { return true, "" }})
		rules := rulesOf(t, server.Config())
		if !rules.Incomplete || len(rules.Rules) > 0 ||
			rules.EvaluationError != "webhook authorizer does not support user rule resolution" {
			t.Errorf("the rules are %+v", rules)
		}
	})
	t.Run("without", func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		rules := rulesOf(t, server.Config())
		if rules.Incomplete || rules.EvaluationError != "" || len(rules.Rules) != 2 {
			t.Errorf("the rules are %+v", rules)
		}
	})
}

func rulesOf(t *testing.T, cfg client.Config) client.SubjectRules {
	t.Helper()
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	rules, err := client.Rules(t.Context(), c, "default")
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// Everybody may ask what they may do, and nobody else's reviews are open to all.
func TestEveryUserMayReviewTheirOwnAccess(t *testing.T) {
	server := clienttest.Start(t, clienttest.Options{Authorize: func(a clienttest.Access) (bool, string) { return a.Verb == "impersonate", "" }})
	cfg := server.Config()
	cfg.Impersonate = &client.Subject{User: "jane"}
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	const base = "/apis/authorization.k8s.io/v1/"
	for _, test := range []struct {
		method, path string
		allowed      bool
	}{
		{"POST", base + "selfsubjectaccessreviews", true},
		{"POST", base + "selfsubjectrulesreviews", true},
		{"POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", true},
		{"GET", base + "selfsubjectaccessreviews", false},
		{"POST", base + "subjectaccessreviews", false},
		{"POST", base + "namespaces/default/localsubjectaccessreviews", false},
	} {
		resp, err := c.Raw(t.Context(), client.RawRequest{
			Method: test.method, Path: test.path, Header: http.Header{"Content-Type": {"application/json"}},
			Body: []byte(`{"spec":{"namespace":"default","user":"jane","nonResourceAttributes":{"verb":"get","path":"/"}}}`),
		})
		if err == nil {
			resp.Body.Close()
		}
		if test.allowed != (err == nil) || !test.allowed && !errors.Is(err, apierrors.Forbidden) {
			t.Errorf("%s %s: %v, want allowed to be %v", test.method, test.path, err, test.allowed)
		}
	}
}

// A review in a namespace is about that one.
func TestALocalReviewIsAboutItsNamespace(t *testing.T) {
	h := newHarness(t, clienttest.Options{Authorize: func(a clienttest.Access) (bool, string) {
		return a.User.Name != "jane" || a.Key.Namespace == "default", ""
	}})
	for namespace, allowed := range map[string]string{"default": "true", "kube-system": "false"} {
		got := h.must(t, "POST", "/apis/authorization.k8s.io/v1/namespaces/"+namespace+"/localsubjectaccessreviews",
			`{"spec":{"user":"jane","resourceAttributes":{"namespace":"`+namespace+`","verb":"get","resource":"pods"}}}`)
		if at(got, "status", "allowed") != allowed || at(got, "metadata", "namespace") != namespace {
			t.Errorf("in %s: %s", namespace, got)
		}
	}
	named := h.do(t, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
		`{"metadata":{"name":"a"},"spec":{"nonResourceAttributes":{"path":"/"}}}`)
	if want := `.authorization.k8s.io "" is invalid: metadata: Invalid value: {"name":"a"}: must be empty`; named.code != 422 || named.status(t).Message != want {
		t.Errorf("a review with a name: %d %s, want %s", named.code, strings.TrimSpace(named.body), want)
	}
}

func TestATokenReviewKnowsTheTokenOfTheOptions(t *testing.T) {
	h := newHarness(t, clienttest.Options{Token: "secret"})
	for body, want := range map[string]string{
		`{"spec":{"token":"secret"}}`:                       `{"authenticated":true,"user":{"username":"admin","groups":["system:masters","system:authenticated"]},"audiences":["https://kubernetes.default.svc"]}`,
		`{"spec":{"token":"secret","audiences":["vault"]}}`: `{"user":{},"error":"invalid bearer token"}`,
		`{"spec":{"token":"other"}}`:                        `{"user":{},"error":"invalid bearer token"}`,
	} {
		if got := at(h.must(t, http.MethodPost, "/apis/authentication.k8s.io/v1/tokenreviews", body), "status"); got != want {
			t.Errorf("%s: got %s, want %s", body, got, want)
		}
	}
}

func TestTheListOfComponentStatusesIsEmpty(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	a := h.do(t, http.MethodGet, "/api/v1/componentstatuses", "")
	if a.code != http.StatusOK || !strings.Contains(a.body, `"items":[]`) || !strings.Contains(a.header.Get("Warning"), "v1 ComponentStatus is deprecated") {
		t.Errorf("got %+v", a)
	}
	if a := h.do(t, http.MethodPost, "/api/v1/componentstatuses", `{"metadata":{"name":"a"}}`); a.code != http.StatusMethodNotAllowed {
		t.Errorf("a create is answered with %+v", a)
	}
	if a := h.do(t, http.MethodGet, "/api/v1/componentstatuses/scheduler", ""); a.code != http.StatusNotFound {
		t.Errorf("a component is %+v", a)
	}
}
