package client_test

import (
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// behaviours 6, 9 and 23; guarantees S8 and S22: a handle that is bound to a namespace reaches no other, whatever a key, an
// option or an object says.
func TestAHandleOfOneNamespaceReachesNoOther(t *testing.T) {
	srv := says(object("a", "1"))
	c := connect(t, srv)
	r := client.For(c, slims).In("web")
	pods := client.For(c, pods).In("web")
	accounts := client.For(c, accounts).In("web")
	foreign, everything := meta.Key{Namespace: "other", Name: "a"}, client.Selection{Namespace: "other", Everything: true}
	obj := &Slim{Identity: at(foreign)}
	apply := r.With(client.WriteOptions{FieldManager: "me"})
	ctx := t.Context()
	for name, err := range map[string]error{
		"get":              drop(r.Get(ctx, foreign)),
		"list":             drop(r.List(ctx, client.ListOptions{Namespace: "other"})),
		"watch":            watch(ctx, r, client.WatchOptions{Namespace: "other"}),
		"create":           drop(r.Create(ctx, obj)),
		"update":           drop(r.Update(ctx, obj)),
		"modify":           drop(r.Modify(ctx, foreign, func(*Slim) error { return nil })),
		"patch":            drop(r.Patch(ctx, foreign, noChange)),
		"apply":            drop(apply.Apply(ctx, foreign, map[string]any{}, client.ApplyOptions{})),
		"delete":           r.Delete(ctx, foreign, client.DeleteOptions{}),
		"deletecollection": r.DeleteCollection(ctx, everything, client.DeleteOptions{}),
		"status get":       drop(r.Status().Get(ctx, foreign)),
		"status update":    drop(r.Status().Update(ctx, obj)),
		"custom create":    drop(r.Sub("custom").Create(ctx, foreign, obj)),
		"scale":            drop(client.ScaleOf(r).Get(ctx, foreign)),
		"scale update":     drop(client.ScaleOf(r).Update(ctx, &client.Scale{ObjectMeta: meta.ObjectMeta{Namespace: "other", Name: "a"}})),
		"custom kind":      drop(client.SubOf[*meta.Unstructured](r, "custom").Get(ctx, foreign)),
		"metadata":         drop(client.Metadata(r).Get(ctx, foreign)),
		"eviction":         client.Evict(ctx, pods, foreign, client.DeleteOptions{}),
		"binding":          client.Bind(ctx, pods, foreign, "n1"),
		"token":            drop(client.RequestToken(ctx, accounts, foreign, client.TokenOptions{})),
		"table":            drop(r.Table(ctx, client.ListOptions{Namespace: "other"}, client.TableOptions{})),
		"table of":         drop(r.TableOf(ctx, foreign, client.TableOptions{})),
		"wait":             drop(client.WaitFor(ctx, r, foreign, client.UntilCreated())),
		"as somebody":      drop(r.As(client.Subject{User: "jane"}).Get(ctx, foreign)),
		"metadata table":   drop(client.Metadata(r).Table(ctx, client.ListOptions{Namespace: "other"}, client.TableOptions{})),
		"metadata delete":  client.Metadata(r).Delete(ctx, foreign, client.DeleteOptions{}),
		"metadata apply":   drop(client.Metadata(apply).Apply(ctx, foreign, map[string]any{}, client.ApplyOptions{})),
		"custom as create": drop(client.SubOf[*meta.Unstructured](r, "custom").Create(ctx, foreign, &meta.Unstructured{})),
		"with":             drop(r.With(client.WriteOptions{}).Get(ctx, foreign)),
	} {
		wantErr(t, err, `namespace must be "web" or empty, which this handle is bound to, got "other"`)
		is[*client.UsageError](t, err)
		if t.Failed() {
			t.Fatal(name)
		}
	}
	for _, test := range []struct {
		err  error
		want string
	}{
		{drop(r.In("other").Get(ctx, web)), `client.Resource.In: namespace must be "web", which this handle is bound to, got "other"`},
		{drop(r.In("").Get(ctx, web)), "client.Resource.In: namespace must not be empty"},
		{drop(client.For(c, slims).In("../x").Get(ctx, web)), `client.Resource.In: namespace must be one path segment, without "/" and "%", got "../x"`},
	} {
		wantErr(t, test.err, test.want)
		is[*client.UsageError](t, test.err)
	}
	if calls := srv.all(); len(calls) != 0 {
		t.Errorf("the server got %v", calls)
	}
}

// behaviour 23
func TestAHandleOfOneNamespaceFillsItIn(t *testing.T) {
	srv := answers(answer{code: 403, body: status(403, "Forbidden", "no")})
	c := connect(t, srv)
	r := client.For(c, slims).In("web").In("web")
	name := meta.Key{Name: "a"}
	ctx := t.Context()
	for _, err := range []error{
		drop(r.Get(ctx, name)), drop(r.Get(ctx, web)), drop(r.Create(ctx, &Slim{Identity: at(name)})), drop(r.Update(ctx, &Slim{Identity: at(name)})),
		drop(r.List(ctx, client.ListOptions{})), watch(ctx, r, client.WatchOptions{}), r.Delete(ctx, name, client.DeleteOptions{}),
		drop(client.Metadata(r).Patch(ctx, name, noChange)), drop(r.Status().Update(ctx, &Slim{Identity: at(name)})),
		drop(client.For(c, nodes).In("web").Get(ctx, name)), // a cluster-wide resource has none
	} {
		is[*client.OpError](t, err)
	}
	const base = "/api/v1/namespaces/web/configmaps"
	want := []string{
		"GET " + base + "/a", "GET " + base + "/a", "POST " + base, "PUT " + base + "/a", "GET " + base + "?limit=500",
		"GET " + base + "?watch=true", "DELETE " + base + "/a", "PATCH " + base + "/a", "PUT " + base + "/a/status", "GET /api/v1/nodes/a",
	}
	for i, c := range srv.all() {
		if i >= len(want) || c.String() != want[i] {
			t.Errorf("request %d is %s", i, c)
		}
	}
	if n := len(srv.all()); n != len(want) {
		t.Errorf("%d requests, want %d", n, len(want))
	}
}
