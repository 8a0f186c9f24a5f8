package client_test

import (
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// behaviour 2: what is wrong with a handle is the error of every call, and nothing is sent.
func TestAHandleThatCannotBeUsedSaysWhy(t *testing.T) {
	srv := says(object("a", "1"))
	c := connect(t, srv)
	with := func(change func(*client.Type[*Slim])) client.Resource[*Slim] {
		typ := slims
		change(&typ)
		return client.For(c, typ)
	}
	for _, test := range []struct {
		name string
		r    client.Resource[*Slim]
		want string
	}{
		{"the zero handle", client.Resource[*Slim]{}, "the zero client.Resource has no client; use client.For"},
		{"the zero handle with options", client.Resource[*Slim]{}.With(client.WriteOptions{DryRun: true}), "use client.For"},
		{"no client", client.For(nil, slims), "client.For: the client must not be nil; client.New makes one"},
		{"no version", with(func(t *client.Type[*Slim]) { t.Version = "" }), "client.Type: Version must not be empty"},
		{"no kind", with(func(t *client.Type[*Slim]) { t.Kind = "" }), "client.Type: Kind must not be empty"},
		{"no resource", with(func(t *client.Type[*Slim]) { t.Resource = "" }), "client.Type: Resource must not be empty"},
		{
			"a group that is a path", with(func(t *client.Type[*Slim]) { t.Group = "../api" }),
			"client.Type: Group must be one path segment",
		},
		{
			"a resource that is a path", with(func(t *client.Type[*Slim]) { t.Resource = "pods/log" }),
			"client.Type: Resource must be one path segment",
		},
		{"a version that leads up", with(func(t *client.Type[*Slim]) { t.Version = ".." }), "client.Type: Version must not be"},
		{
			"another scope", with(func(t *client.Type[*Slim]) { t.Scope = 7 }),
			"client.Type: Scope must be meta.Namespaced or meta.Cluster, got ",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx := t.Context()
			_, each := test.r.ListEach(ctx, client.ListOptions{}, nil, func(client.Item[*Slim]) error { return nil })
			_, _, all := collect(ctx, test.r, client.ListOptions{})
			for verb, err := range map[string]error{
				"get": drop(test.r.Get(ctx, web)), "list": drop(test.r.List(ctx, client.ListOptions{})), "each": each, "all": all,
				"watch": watch(ctx, test.r, client.WatchOptions{}), "create": drop(test.r.Create(ctx, &Slim{})),
				"update": drop(test.r.Update(ctx, &Slim{})), "delete": test.r.Delete(ctx, web, client.DeleteOptions{}),
				"modify": drop(test.r.Modify(ctx, web, func(*Slim) error { return nil })),
				"modify a known object": drop(test.r.ModifyWith(
					ctx, web, func(*Slim) error { return nil }, client.ModifyOptions{Known: &Slim{Identity: at(web)}})),
				"status": drop(test.r.Status().Get(ctx, web)),
			} {
				wantErr(t, err, test.want)
				if t.Failed() {
					t.Fatalf("of %s", verb)
				}
			}
		})
	}
	if calls := srv.all(); len(calls) != 0 {
		t.Errorf("the server got %v", calls)
	}
	if _, err := (client.Sub[*Slim]{}).Get(t.Context(), web); err == nil {
		t.Error("the zero Sub is no error")
	}
}

func TestADescriptorSaysWhatItIs(t *testing.T) {
	r := client.For(nil, deployments)
	if got, want := r.GVR(), (meta.GVR{Group: "apps", Version: "v1", Resource: "deployments"}); got != want || r.Type() != deployments {
		t.Errorf("got %v of %v, want %v", got, r.Type(), want)
	}
	if got, want := deployments.GVK(), (meta.GVK{Group: "apps", Version: "v1", Kind: "Deployment"}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
