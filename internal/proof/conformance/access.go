package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

func testToken(t *testing.T, s suite) {
	ns := s.namespace(t)
	r := client.For(s.client, accounts)
	key := meta.KeyOf(must[*Namespace](t)(r.Create(t.Context(), &Namespace{ObjectMeta: meta.ObjectMeta{Namespace: ns, Name: "robot"}})))
	before := time.Now()
	token := must[client.Credential](t)(client.RequestToken(t.Context(), r, key, client.TokenOptions{Lifetime: 20 * time.Minute}))
	if life := token.Expires.Sub(before); life < 19*time.Minute || life > 21*time.Minute {
		t.Errorf("the token is good for %v, want 20m", life)
	}
	user := s.whoAmI(t, http.Header{"Authorization": {"Bearer " + string(token.Token)}})
	equal(t, "user", user.Username, "system:serviceaccount:"+ns+":robot")
	if !slices.Contains(user.Groups, "system:serviceaccounts:"+ns) || !slices.Contains(user.Groups, "system:authenticated") {
		t.Errorf("groups are %q", user.Groups)
	}
	foreign := must[client.Credential](t)(client.RequestToken(t.Context(), r, key, client.TokenOptions{Audiences: []string{"vault"}}))
	cfg := s.cfg
	cfg.BearerToken = foreign.Token
	c := must[*client.Client](t)(client.New(cfg))
	t.Cleanup(c.Close)
	_, err := client.For(c, accounts).Get(t.Context(), key)
	wantReason(t, err, apierrors.Unauthorized, 401)
	_, err = client.RequestToken(t.Context(), r, key, client.TokenOptions{
		BoundTo: client.Owner{GVK: meta.GVK{Version: "v1", Kind: "Secret"}, Identity: meta.Identity{Name: "absent"}},
	})
	wantReason(t, err, apierrors.NotFound, 404)
	_, err = client.RequestToken(t.Context(), r, key, client.TokenOptions{
		BoundTo: client.Owner{GVK: meta.GVK{Version: "v1", Kind: "ConfigMap"}, Identity: meta.Identity{Name: "absent"}},
	})
	wantReason(t, err, apierrors.BadRequest, 400)
	_, err = client.RequestToken(t.Context(), r, meta.Key{Namespace: ns, Name: "absent"}, client.TokenOptions{})
	wantReason(t, err, apierrors.NotFound, 404)

	const reviews, ok, wrong = "POST /apis/authentication.k8s.io/v1/tokenreviews", http.StatusCreated, "status.error"
	ask := func(token, more string) string { return fmt.Sprintf(`{"spec":{"token":%q%s}}`, token, more) }
	own, other := string(token.Token), string(foreign.Token)
	for _, e := range []exchange{
		{name: "whose token", path: reviews, body: ask(own, ""), code: ok, at: "status.user.username", is: `"` + user.Username + `"`},
		{name: "for whom", path: reviews, body: ask(own, ""), code: ok, at: "status.audiences", is: `["https://kubernetes.default.svc"]`},
		{name: "of another audience", path: reviews, body: ask(other, `,"audiences":["vault","x"]`), code: ok, at: "status.audiences", is: `["vault"]`},
		{
			name: "for another audience", path: reviews, body: ask(other, ""), code: ok, at: wrong,
			is: `"[invalid bearer token, token audiences [\"vault\"] is invalid for the target audiences [\"https://kubernetes.default.svc\"]]"`,
		},
		{name: "an unknown token", path: reviews, body: ask("x", ""), code: ok, at: wrong, is: `"invalid bearer token"`},
		refused("no token", reviews, "", ask("", ""), 400, apierrors.BadRequest, "token is required for TokenReview in authentication"),
	} {
		e.run(t, s, paths(ns))
	}
}

type userInfo struct {
	Username string
	UID      string
	Groups   []string
	Extra    map[string][]string
}

// adding adds headers to every request.
type adding struct {
	next   http.RoundTripper
	header http.Header
}

func (a adding) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	maps.Copy(r.Header, a.header)
	return a.next.RoundTrip(r)
}

// whoAmI asks the server for the user of a request with a header.
func (s suite) whoAmI(t *testing.T, header http.Header) userInfo {
	t.Helper()
	cfg := s.cfg
	if token, found := strings.CutPrefix(header.Get("Authorization"), "Bearer "); found {
		cfg.BearerToken = client.Secret(token)
		header.Del("Authorization")
	}
	cfg.Wrap = func(next http.RoundTripper) http.RoundTripper { return adding{next, header} }
	c := must[*client.Client](t)(client.New(cfg))
	t.Cleanup(c.Close)
	resp := must[*http.Response](t)(c.Raw(t.Context(), client.RawRequest{
		Method: http.MethodPost, Path: "/apis/authentication.k8s.io/v1/selfsubjectreviews", Header: http.Header{"Content-Type": {"application/json"}},
		Body: []byte(`{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"}`),
	}))
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		Kind   string
		Status struct{ UserInfo userInfo }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || answer.Kind != "SelfSubjectReview" {
		t.Fatalf("the answer is %+v, %v", answer, err)
	}
	return answer.Status.UserInfo
}

func testReviews(t *testing.T, s suite) {
	user := s.whoAmI(t, http.Header{
		"Impersonate-User": {"jane"}, "Impersonate-Group": {"ropes", "knots"}, "Impersonate-Uid": {"u1"},
		"Impersonate-Extra-Scopes": {"a", "b"},
	})
	equal(t, "user", user.Username, "jane")
	equal(t, "uid", user.UID, "u1")
	equal(t, "groups", strings.Join(user.Groups, " "), "ropes knots system:authenticated")
	equal(t, "extra", strings.Join(user.Extra["scopes"], " "), "a b")
	user = s.whoAmI(t, http.Header{"Impersonate-User": {"system:serviceaccount:default:robot"}})
	equal(t, "groups of a service account", strings.Join(user.Groups, " "),
		"system:serviceaccounts system:serviceaccounts:default system:authenticated")

	reviews := client.For(s.client, client.Type[*meta.Unstructured]{
		Group: "authorization.k8s.io", Version: "v1", Kind: "SelfSubjectAccessReview", Resource: "selfsubjectaccessreviews", Scope: meta.Cluster,
	})
	attributes := map[string]any{"verb": "list", "resource": "pods", "namespace": "default"}
	review := must[*meta.Unstructured](t)(reviews.Create(t.Context(), &meta.Unstructured{Object: map[string]any{
		"spec": map[string]any{"resourceAttributes": attributes},
	}}))
	status, _ := review.Object["status"].(map[string]any)
	equal(t, "allowed", status["allowed"], true)
	_, err := reviews.Create(t.Context(), &meta.Unstructured{Object: map[string]any{"spec": map[string]any{}}})
	wantReason(t, err, apierrors.Invalid, 422)
	_, err = reviews.List(t.Context(), client.ListOptions{})
	wantReason(t, err, apierrors.MethodNotAllowed, 405)

	rules := must[client.SubjectRules](t)(client.Rules(t.Context(), s.client, "default"))
	everything := func(r client.Rule) bool {
		return slices.Contains(r.Verbs, "*") && slices.Contains(r.Groups, "*") && slices.Contains(r.Resources, "*")
	}
	if rules.Incomplete || rules.EvaluationError != "" || !slices.ContainsFunc(rules.Rules, everything) ||
		!slices.ContainsFunc(rules.Rules, func(r client.Rule) bool { return slices.Contains(r.Paths, "*") }) {
		t.Errorf("the rules are %+v, want them to allow everything", rules)
	}
	t.Run("what is wrong with them", func(t *testing.T) { testWrongReviews(t, s) })
}

func testWrongReviews(t *testing.T, s suite) {
	const (
		base     = "/apis/authorization.k8s.io/v1/"
		local    = "namespaces/default/localsubjectaccessreviews"
		resource = `"resourceAttributes":{"verb":"get","resource":"pods"}`
		path     = `"nonResourceAttributes":{"path":"/"}`
		invalid  = `.authorization.k8s.io "" is invalid: `
		oneOf    = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
		nobody   = `spec.user: Invalid value: "": at least one of user or group must be specified`
		notFound = "the server could not find the requested resource"
		notThis  = "the server does not allow this method on the requested resource"
	)
	both := s.words(in136(`spec: Invalid value: {"Path":"/","Verb":""}: `+oneOf,
		`spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":""}: cannot be specified in combination with resourceAttributes`))
	neither := s.words(in136(`spec: Invalid value: null: `+oneOf, `spec.resourceAttributes: Invalid value: null: `+oneOf))
	for _, test := range []struct {
		method, path, body string
		code               int
		message            string
	}{
		{"POST", "selfsubjectrulesreviews", `{"spec":{}}`, 400, "no namespace on request"},
		{"POST", "selfsubjectaccessreviews", `{"spec":{` + resource + `,` + path + `}}`, 422, invalid + both},
		{"POST", "selfsubjectaccessreviews", `{}`, 422, invalid + neither},
		{"POST", "subjectaccessreviews", `{"spec":{` + path + `}}`, 422, invalid + nobody},
		{"POST", "subjectaccessreviews", `{}`, 422, invalid + "[" + neither + ", " + nobody + "]"},
		{
			"POST", local, `{"spec":{"user":"jane",` + resource + `}}`, 422,
			invalid + `spec.resourceAttributes.namespace: Invalid value: "": must match metadata.namespace`,
		},
		{
			"POST", local, `{"spec":{"user":"jane",` + path + `}}`, 422,
			invalid + `spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":""}: disallowed on this kind of request`,
		},
		{
			"POST", local, `{"metadata":{"namespace":"other"},"spec":{"user":"jane",` + path + `}}`, 400,
			"the namespace of the provided object does not match the namespace sent on the request",
		},
		{"POST", "localsubjectaccessreviews", `{}`, 404, notFound},
		{"POST", "namespaces/default/selfsubjectaccessreviews", `{}`, 404, notFound},
		{"GET", local, "", 405, notThis},
		{"GET", "selfsubjectrulesreviews", "", 405, notThis},
		{"GET", "selfsubjectrulesreviews/a", "", 404, notFound},
		{"DELETE", "selfsubjectrulesreviews", "", 405, notThis},
	} {
		req := client.RawRequest{Method: test.method, Path: base + test.path, Header: http.Header{}}
		if test.body != "" {
			req.Body = []byte(test.body)
			req.Header.Set("Content-Type", "application/json")
		}
		resp, err := s.client.Raw(t.Context(), req)
		if err == nil {
			_ = resp.Body.Close()
		}
		var status *apierrors.StatusError
		if !errors.As(err, &status) || status.Status.Code != test.code || status.Status.Message != test.message {
			t.Errorf("%s %s with %s: %v, want %d %s", test.method, test.path, test.body, err, test.code, test.message)
		}
	}
}

func testReviewsOfSelectors(t *testing.T, s suite) {
	const path = "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
	review := func(more string) string {
		return `{"spec":{"resourceAttributes":{"verb":"list","resource":"pods",` + more + `}}}`
	}
	ask := func(name, more, at, is string) exchange {
		return exchange{name: name, path: path, body: review(more), code: 201, at: at, is: is}
	}
	const field = "spec.resourceAttributes.fieldSelector"
	for _, e := range []exchange{
		ask("both", `"fieldSelector":{"rawSelector":"spec.nodeName=a"},"labelSelector":{"rawSelector":"app in (a,b)"}`, "status", `{"allowed":true}`),
		ask("one that cannot be parsed", `"fieldSelector":{"rawSelector":"nonsense"}`, "status.evaluationError", `"`+field+` ignored due to parse error"`),
		ask("another", `"labelSelector":{"rawSelector":"app in web"}`, "status.evaluationError", `"spec.resourceAttributes.labelSelector ignored due to parse error"`),
		ask("what was asked", `"fieldSelector":{"rawSelector":"a=b"}`, field, `{"rawSelector":"a=b"}`),
		ask("terms", `"fieldSelector":{"requirements":[{"key":"a","operator":"In","values":["b"]}]}`, "status", `{"allowed":true}`),
		refused("an empty one", path, "", review(`"fieldSelector":{}`), 422, apierrors.Invalid,
			field+".requirements: Required value: when "+field+" is specified, requirements or rawSelector is required"),
		refused("text beside terms", path, "", review(`"fieldSelector":{"rawSelector":"a=b","requirements":[{"key":"a","operator":"In","values":["b"]}]}`),
			422, apierrors.Invalid, field+`.rawSelector: Invalid value: "a=b": may not specified at the same time as requirements`),
	} {
		e.run(t, s, strings.NewReplacer())
	}
	d := must[client.Decision](t)(client.CanI(t.Context(), s.client, client.Access{
		Verb: "list", Resource: meta.GVR{Version: "v1", Resource: "pods"}, LabelSelector: "a=b", FieldSelector: "spec.nodeName=x",
	}))
	equal(t, "allowed", d, client.Decision{Allowed: true})
}
