package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// behaviours 5 and 6; guarantee S8: a subresource is one segment, and named once: by the only call that makes a Sub.
func TestASubresourceIsOneSegment(t *testing.T) {
	srv := says(object("a", "1"))
	r := client.For(connect(t, srv), slims)
	for _, name := range []string{"", ".", "..", "a/b", "../../secrets/x", "a%2fb", "a\x00"} {
		for _, err := range []error{
			drop(r.Sub(name).Get(t.Context(), web)), drop(r.Sub(name).Update(t.Context(), &Slim{Identity: at(web)})),
			drop(client.SubOf[*meta.Unstructured](r, name).Get(t.Context(), web)),
		} {
			is[*client.UsageError](t, err)
			wantErr(t, err, "client.Resource.Sub: subresource must ")
		}
	}
	for _, key := range []meta.Key{{Namespace: "web"}, {Namespace: "web", Name: ".."}, {Namespace: "a/b", Name: "a"}, {Name: "a"}} {
		is[*client.UsageError](t, drop(r.Sub("custom").Create(t.Context(), key, &Slim{Identity: at(web)})))
	}
	if calls := srv.all(); len(calls) != 0 {
		t.Errorf("the server got %v", calls)
	}
}

func TestASubresourceMayHaveAnotherKind(t *testing.T) {
	const scale = `{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"namespace":"web","name":"a","resourceVersion":"7"},` +
		`"spec":{"replicas":2,"new":true},"status":{"replicas":1,"selector":"app=web"}}`
	srv := says(scale)
	r := client.For(connect(t, srv), deployments)
	got := must[*client.Scale](t)(client.ScaleOf(r).Modify(t.Context(), web, func(s *client.Scale) error {
		s.Spec.Replicas++
		return nil
	}))
	if got.Spec.Replicas != 2 || got.Status.Selector != "app=web" || got.ResourceVersion != "7" {
		t.Errorf("got %+v", got)
	}
	want := strings.Replace(scale, `"replicas":2`, `"replicas":3`, 1)
	if c := srv.all()[1]; c.String() != "PUT /apis/apps/v1/namespaces/web/deployments/a/scale" || !sameJSON(t, c.body, want) {
		t.Errorf("the server got %s with %s, want %s", c, c.body, want)
	}
	// SubOf takes what comes; the object says what it is.
	loose := must[*meta.Unstructured](t)(client.SubOf[*meta.Unstructured](r, "scale").Get(t.Context(), web))
	if loose.GVK().Kind != "Scale" {
		t.Errorf("got %v", loose.Object)
	}
	// ScaleOf does not.
	other := client.For(connect(t, says(object("a", "1"))), deployments)
	if e := answered(t, drop(client.ScaleOf(other).Get(t.Context(), web)), client.WrongKind); e.Want != "autoscaling/v1 Scale" || e.Got != "v1 ConfigMap" {
		t.Errorf("error is %+v", e)
	}
	none := client.For(connect(t, says(`{"metadata":{"name":"a"}}`)), deployments)
	answered(t, drop(client.SubOf[*meta.Unstructured](none, "scale").Get(t.Context(), web)), client.WrongKind)
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var docs [2]any
	for i, s := range [...]string{a, b} {
		if err := json.Unmarshal([]byte(s), &docs[i]); err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprint(docs[0]) == fmt.Sprint(docs[1])
}

// behaviour 25: what the server says of a subresource is of the type and the reason that it is of anywhere else.
func TestErrorsOfSubresourcesAreTyped(t *testing.T) {
	const budget = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"TooManyRequests","code":429,"message":"Cannot evict pod",` +
		`"details":{"retryAfterSeconds":10,"causes":[{"reason":"DisruptionBudget","message":"The budget needs 2"}]}}`
	refuse := func(code int, body string) *script { return answers(answer{code: code, body: body}) }
	ctx := t.Context()
	srv := refuse(429, budget)
	err := client.Evict(ctx, client.For(connect(t, srv), pods), web, client.DeleteOptions{})
	cause, found := apierrors.Cause(err, apierrors.CauseDisruptionBudget)
	if !found || cause.Message != "The budget needs 2" || !errors.Is(err, apierrors.TooManyRequests) {
		t.Errorf("error is %v, want one that says why", err)
	}
	srv.one(t) // it is not tried again
	if want := `create pods/eviction "web/a": server said TooManyRequests (429): Cannot evict pod`; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error is %v, want %s", err, want)
	}
	// An API server says so within a 201 where several budgets cover the pod.
	const several = `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"more than one","code":500}`
	err = client.Evict(ctx, client.For(connect(t, refuse(201, several)), pods), web, client.DeleteOptions{})
	if !errors.Is(err, apierrors.InternalError) || is[*client.OpError](t, err).Subresource != "eviction" {
		t.Errorf("error is %v, want the failure in the body", err)
	}
	notFound := connect(t, refuse(404, status(404, "NotFound", "no")))
	for subresource, err := range map[string]error{
		"status":   drop(client.For(notFound, slims).Status().Get(ctx, web)),
		"scale":    drop(client.ScaleOf(client.For(notFound, deployments)).Get(ctx, web)),
		"token":    drop(client.RequestToken(ctx, client.For(notFound, accounts), web, client.TokenOptions{})),
		"binding":  client.Bind(ctx, client.For(notFound, pods), web, "n1"),
		"eviction": client.Evict(ctx, client.For(notFound, pods), web, client.DeleteOptions{}),
		"custom":   drop(client.SubOf[*meta.Unstructured](client.For(notFound, slims), "custom").Patch(ctx, web, noChange)),
	} {
		if !errors.Is(err, apierrors.NotFound) || is[*client.OpError](t, err).Subresource != subresource {
			t.Errorf("%s: error is %v", subresource, err)
		}
	}
}

func TestInvalidCallsOfSubresourcesAreRefused(t *testing.T) {
	srv := says(object("a", "1"))
	c := connect(t, srv)
	maps, pods, accounts := client.For(c, slims), client.For(c, pods), client.For(c, accounts)
	token := func(o client.TokenOptions) error { return drop(client.RequestToken(t.Context(), accounts, web, o)) }
	for _, test := range []struct {
		err  error
		want string
	}{
		{
			client.Evict(t.Context(), maps, web, client.DeleteOptions{}),
			`create configmaps/eviction "web/a": client.Evict: the resource must be core v1 pods, got configmaps.v1`,
		},
		{
			client.Evict(t.Context(), pods, web, client.DeleteOptions{GracePeriod: time.Millisecond}),
			`create pods/eviction "web/a": client.DeleteOptions: GracePeriod must be whole seconds or NoGracePeriod, got 1ms`,
		},
		{
			client.Bind(t.Context(), maps, web, "n1"),
			`create configmaps/binding "web/a": client.Bind: the resource must be core v1 pods, got configmaps.v1`,
		},
		{
			client.Bind(t.Context(), pods, web, ""),
			`create pods/binding "web/a": client.Bind: node must not be empty`,
		},
		{
			client.Bind(t.Context(), pods, meta.Key{Name: "a"}, "n1"),
			`create pods/binding "a": namespace must not be empty for a namespaced resource`,
		},
		{
			drop(client.RequestToken(t.Context(), maps, web, client.TokenOptions{})),
			`create configmaps/token "web/a": client.RequestToken: the resource must be core v1 serviceaccounts, got configmaps.v1`,
		},
		{
			token(client.TokenOptions{Lifetime: time.Minute}),
			`create serviceaccounts/token "web/a": client.TokenOptions: Lifetime must be whole seconds, at least 10m0s, or 0, got 1m0s`,
		},
		{
			token(client.TokenOptions{Lifetime: time.Hour + time.Millisecond}),
			`create serviceaccounts/token "web/a": client.TokenOptions: Lifetime must be whole seconds, at least 10m0s, or 0, got 1h0m0.001s`,
		},
		{
			token(client.TokenOptions{Audiences: []string{"a", ""}}),
			`create serviceaccounts/token "web/a": client.TokenOptions: Audiences must not contain an empty text`,
		},
		{
			token(client.TokenOptions{BoundTo: client.Owner{GVK: meta.GVK{Kind: "Pod"}, Identity: meta.Identity{Name: "a"}}}),
			`create serviceaccounts/token "web/a": client.TokenOptions: BoundTo must be empty, or have a version, a kind and a name, got `,
		},
		{
			token(client.TokenOptions{BoundTo: client.Owner{GVK: meta.GVK{Version: "v1", Kind: "Pod"}, Identity: meta.Identity{Namespace: "other", Name: "a"}}}),
			`create serviceaccounts/token "web/a": client.TokenOptions: BoundTo must be in the namespace of the service account, "web", got "other"`,
		},
	} {
		if test.err == nil || !strings.HasPrefix(test.err.Error(), test.want) {
			t.Errorf("error is %v\n         want %s", test.err, test.want)
		}
		is[*client.UsageError](t, test.err)
	}
	if calls := srv.all(); len(calls) != 0 {
		t.Errorf("the server got %v", calls)
	}
}

// guarantee S2: a token shows itself to nobody who does not ask for it.
func TestATokenDoesNotShowItself(t *testing.T) {
	const answer = `{"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","metadata":{"name":"a","namespace":"web"},` +
		`"spec":{"audiences":["api"],"expirationSeconds":3600},"status":{"token":"s3cr3t","expirationTimestamp":"2030-01-02T03:04:05Z"}}`
	r := client.For(connect(t, says(answer)), accounts)
	token := must[client.Credential](t)(client.RequestToken(t.Context(), r, web, client.TokenOptions{}))
	if want := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC); token.Token != "s3cr3t" || !token.Expires.Equal(want) {
		t.Errorf("got %q until %v", string(token.Token), token.Expires)
	}
	for _, v := range []any{token, &token, struct{ T client.Credential }{token}, struct{ T *client.Credential }{&token}} {
		for _, s := range printed(t, v) {
			if strings.Contains(s, "s3cr3t") || strings.Contains(strings.ToLower(s), fmt.Sprintf("%x", "s3cr3t")) {
				t.Errorf("it shows the token: %s", s)
			}
		}
	}
	none := client.For(connect(t, says(strings.Replace(answer, "s3cr3t", "", 1))), accounts)
	wantErr(t, drop(client.RequestToken(t.Context(), none, web, client.TokenOptions{})), "server sent no token")
}

// A server answers NotFound for a subresource that the resource does not have, as if there were no object. A controller that ignores
// NotFound wrote no status, without a word.
func TestAMissingSubresourceIsNotTakenForAMissingObject(t *testing.T) {
	type Page struct {
		meta.ObjectMeta `json:"metadata"`
		Status          map[string]string `json:"status,omitempty"`
	}
	server := clienttest.Start(t, clienttest.Options{Resources: []clienttest.Resource{
		{Group: "example.com", Version: "v1", Kind: "Page", Resource: "pages"}, // without Status
	}})
	c, home := dial(t, server.Config()), meta.Key{Namespace: "default", Name: "home"}
	pages := client.For(c, client.Type[*Page]{Group: "example.com", Version: "v1", Kind: "Page", Resource: "pages"})
	if _, err := pages.Create(t.Context(), &Page{ObjectMeta: home.ObjectMeta()}); err != nil {
		t.Fatal(err)
	}
	set := func(p *Page) error { p.Status = map[string]string{"a": "b"}; return nil }
	for name, call := range map[string]func(meta.Key) error{
		"get":    func(k meta.Key) error { return drop(pages.Status().Get(t.Context(), k)) },
		"modify": func(k meta.Key) error { return drop(pages.Status().Modify(t.Context(), k, set)) },
		"update": func(k meta.Key) error {
			return drop(pages.Status().Update(t.Context(), &Page{ObjectMeta: k.ObjectMeta()}))
		},
		"patch": func(k meta.Key) error { return drop(pages.Status().Patch(t.Context(), k, noChange)) },
	} {
		err := call(home)
		is[*client.UsageError](t, err)
		if errors.Is(err, apierrors.NotFound) {
			t.Errorf("%s: the object is not found: %v", name, err)
		}
		wantErr(t, err, `the object exists, and pages.example.com/v1 has no subresource "status"`)
		if err := call(meta.Key{Namespace: "default", Name: "gone"}); !errors.Is(err, apierrors.NotFound) {
			t.Errorf("%s of an object that is gone: %v", name, err)
		}
	}
	before := server.Requests()[clienttest.Call{Verb: "get", Resource: "pages"}]
	if err := drop(pages.Get(t.Context(), meta.Key{Namespace: "default", Name: "gone"})); !errors.Is(err, apierrors.NotFound) {
		t.Error(err)
	}
	if n := server.Requests()[clienttest.Call{Verb: "get", Resource: "pages"}] - before; n != 1 {
		t.Errorf("a get of an object that is gone took %d requests", n)
	}
	// Who may not read the object is told what the server said.
	server.Intercept(func(r *http.Request) http.HandlerFunc {
		if r.Method == http.MethodGet && !strings.HasSuffix(r.URL.Path, "/status") {
			return clienttest.Answer(meta.Status{Code: 403, Reason: "Forbidden", Message: "not you"})
		}
		return nil
	})
	if err := drop(pages.Status().Get(t.Context(), home)); !errors.Is(err, apierrors.NotFound) {
		t.Errorf("without the permission to read: %v", err)
	}
}
