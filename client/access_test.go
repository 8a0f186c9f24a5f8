package client_test

import (
	"errors"
	"net/http"
	"reflect"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

func TestAccessReviews(t *testing.T) {
	const path = "/apis/authorization.k8s.io/v1/"
	review := func(kind, status string) string {
		return `{"kind":"` + kind + `","apiVersion":"authorization.k8s.io/v1","metadata":{},"spec":{},"status":` + status + `}`
	}
	logs := client.Access{
		Verb: "get", Resource: meta.GVR{Group: "apps", Version: "v1", Resource: "things"}, Subresource: "log", Key: web,
	}
	const logsBody = `"resourceAttributes":{"namespace":"web","verb":"get","group":"apps","version":"v1","resource":"things","subresource":"log","name":"a"}`
	self := func(a client.Access) func(c *client.Client) (client.Decision, error) {
		return func(c *client.Client) (client.Decision, error) { return client.CanI(t.Context(), c, a) }
	}
	for _, test := range []struct {
		name     string
		ask      func(c *client.Client) (client.Decision, error)
		status   string
		kind     string
		resource string
		spec     string
		want     client.Decision
	}{
		{"allowed", self(logs), `{"allowed":true,"reason":"RBAC: \u001b[2Jyes"}`, "SelfSubjectAccessReview", "selfsubjectaccessreviews", logsBody, client.Decision{Allowed: true, Reason: "RBAC: yes"}},
		{
			"no opinion", self(client.Access{Verb: "list", Resource: meta.GVR{Resource: "pods"}}), `{"allowed":false,"evaluationError":"no role"}`,
			"SelfSubjectAccessReview", "selfsubjectaccessreviews", `"resourceAttributes":{"verb":"list","resource":"pods"}`,
			client.Decision{EvaluationError: "no role"},
		},
		{
			"selectors", self(client.Access{
				Verb: "list", Resource: meta.GVR{Resource: "pods"}, LabelSelector: "app in (a,b)", FieldSelector: "spec.nodeName=n1",
			}), `{"allowed":true}`, "SelfSubjectAccessReview", "selfsubjectaccessreviews",
			`"resourceAttributes":{"verb":"list","resource":"pods","fieldSelector":{"rawSelector":"spec.nodeName=n1"},"labelSelector":{"rawSelector":"app in (a,b)"}}`,
			client.Decision{Allowed: true},
		},
		{
			"a path", self(client.Access{Verb: "get", Path: "/healthz"}), `{"allowed":false,"denied":true}`,
			"SelfSubjectAccessReview", "selfsubjectaccessreviews", `"nonResourceAttributes":{"path":"/healthz","verb":"get"}`,
			client.Decision{Denied: true},
		},
		{
			"somebody else", func(c *client.Client) (client.Decision, error) {
				return client.Can(t.Context(), c, client.Subject{
					User: "ann", UID: "7", Groups: []string{"dev"}, Extra: map[string][]string{"scopes": {"a", "b"}},
				}, logs)
			}, `{"allowed":true}`, "SubjectAccessReview", "subjectaccessreviews",
			logsBody + `,"user":"ann","uid":"7","groups":["dev"],"extra":{"scopes":["a","b"]}`,
			client.Decision{Allowed: true},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := answers(answer{code: http.StatusCreated, body: review(test.kind, test.status)})
			got, err := test.ask(connect(t, s))
			if err != nil || got != test.want {
				t.Errorf("got %+v, %v; want %+v", got, err, test.want)
			}
			call := s.one(t)
			want := `{"kind":"` + test.kind + `","apiVersion":"authorization.k8s.io/v1","metadata":{},"spec":{` + test.spec + `}}`
			if call.String() != "POST "+path+test.resource || call.body != want {
				t.Errorf("sent %s %s\nwant %s", call, call.body, want)
			}
		})
	}
}

func TestRules(t *testing.T) {
	s := says(`{"kind":"SelfSubjectRulesReview","apiVersion":"authorization.k8s.io/v1","metadata":{},"spec":{},"status":{` +
		`"resourceRules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods","pods/log"],"resourceNames":["a"]}],` +
		`"nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["/healthz*"]}],"incomplete":true,"evaluationError":"webhook"}}`)
	got, err := client.Rules(t.Context(), connect(t, s), "web")
	want := client.SubjectRules{
		Rules: []client.Rule{
			{Verbs: []string{"get"}, Groups: []string{""}, Resources: []string{"pods", "pods/log"}, Names: []string{"a"}},
			{Verbs: []string{"*"}, Paths: []string{"/healthz*"}},
		},
		Incomplete: true, EvaluationError: "webhook",
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	call := s.one(t)
	if call.String() != "POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews" ||
		call.body != `{"kind":"SelfSubjectRulesReview","apiVersion":"authorization.k8s.io/v1","metadata":{},"spec":{"namespace":"web"}}` {
		t.Errorf("sent %s %s", call, call.body)
	}
}

func TestWhoAmI(t *testing.T) {
	s := says(`{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1","metadata":{},"status":{"userInfo":{` +
		`"username":"ann","uid":"7","groups":["dev","system:authenticated"],"extra":{"k":["v"]}}}}`)
	got, err := client.WhoAmI(t.Context(), connect(t, s))
	want := client.Subject{User: "ann", UID: "7", Groups: []string{"dev", "system:authenticated"}, Extra: map[string][]string{"k": {"v"}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	call := s.one(t)
	if call.String() != "POST /apis/authentication.k8s.io/v1/selfsubjectreviews" ||
		call.body != `{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1","metadata":{}}` {
		t.Errorf("sent %s %s", call, call.body)
	}
}

// A review that is refused is no decision.
func TestAReviewThatIsRefused(t *testing.T) {
	c := connect(t, answers(answer{code: 403, body: status(403, "Forbidden", "no")}))
	if d, err := client.Can(t.Context(), c, client.Subject{User: "ann"}, client.Access{Verb: "get", Path: "/"}); !errors.Is(err, apierrors.Forbidden) || d != (client.Decision{}) {
		t.Errorf("got %+v, %v", d, err)
	}
}

func TestInvalidReviewsSendNothing(t *testing.T) {
	c := without(t, func(*http.Request) (*http.Response, error) {
		t.Error("something was sent")
		return nil, errors.New("no")
	})
	pods := meta.GVR{Resource: "pods"}
	canI := func(a client.Access) error {
		_, err := client.CanI(t.Context(), c, a)
		return err
	}
	const self = "create selfsubjectaccessreviews.authorization.k8s.io: "
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"no verb", canI(client.Access{Resource: pods}), self + `client.Access: Verb must be set, such as "get"`},
		{"nothing", canI(client.Access{Verb: "get"}), self + "client.Access: Resource.Resource or Path must be set"},
		{"a subresource of nothing", canI(client.Access{Verb: "get", Subresource: "log"}), self + "client.Access: Resource.Resource or Path must be set"},
		{"both", canI(client.Access{Verb: "get", Resource: pods, Path: "/x"}), self + "client.Access: Resource, Subresource and Key must be empty if Path is set"},
		{"a path with a key", canI(client.Access{Verb: "get", Key: web, Path: "/x"}), self + "client.Access: Resource, Subresource and Key must be empty if Path is set"},
		{"a path without a slash", canI(client.Access{Verb: "get", Path: "x"}), self + `client.Access: Path must be "*" or start with a slash, got "x"`},
		{"nobody", func() error {
			_, err := client.Can(t.Context(), c, client.Subject{UID: "7"}, client.Access{Verb: "get", Path: "/"})
			return err
		}(), "create subjectaccessreviews.authorization.k8s.io: client.Subject: User or Groups must be set"},
		{"no namespace", func() error {
			_, err := client.Rules(t.Context(), c, "")
			return err
		}(), "create selfsubjectrulesreviews.authorization.k8s.io: namespace must not be empty"},
		{"no client", func() error {
			_, err := client.WhoAmI(t.Context(), nil)
			return err
		}(), "create selfsubjectreviews.authentication.k8s.io: client.For: the client must not be nil; client.New makes one"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if is[*client.UsageError](t, test.err); test.err.Error() != test.want {
				t.Errorf("error is %v\nwant     %v", test.err, test.want)
			}
		})
	}
}
