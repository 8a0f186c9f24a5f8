package client_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

// each calls a method of a resource, whatever it returns beside its error.
type each func(ctx context.Context, c *client.Client) error

func drop[T any](_ T, err error) error { return err }

func watch[T meta.Object](ctx context.Context, r client.Resource[T], o client.WatchOptions) error {
	for _, err := range r.Watch(ctx, o) {
		if err != nil {
			return err
		}
	}
	return nil
}

// behaviours 1, 4, 10, 11, 12, 22 and 327: what is on the wire for every verb and scope.
func TestTheRequestOfEveryVerb(t *testing.T) {
	const (
		mergeType = "application/merge-patch+json"
		jsonType  = "application/json"
		core      = "/api/v1/namespaces/web/configmaps"
		apps      = "/apis/apps/v1/namespaces/web/deployments"
	)
	slim := &Slim{Identity: meta.Identity{Namespace: "web", Name: "a", UID: "u", ResourceVersion: "7"}, Data: map[string]string{"k": "<v>"}}
	const slimBody = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"web","name":"a","uid":"u","resourceVersion":"7"},"data":{"k":"\u003cv\u003e"}}`
	node := &Slim{Identity: meta.Identity{Name: "n1"}}
	merge := patch.Merge(map[string]any{"data": map[string]any{"k": nil}})
	const deletion = `{"kind":"DeleteOptions","apiVersion":"v1"`
	on := func(f func(ctx context.Context, r client.Resource[*Slim]) error) each {
		return func(ctx context.Context, c *client.Client) error { return f(ctx, client.For(c, slims)) }
	}
	onApps := func(f func(ctx context.Context, r client.Resource[*Slim]) error) each {
		return func(ctx context.Context, c *client.Client) error { return f(ctx, client.For(c, deployments)) }
	}
	onNodes := func(f func(ctx context.Context, r client.Resource[*Slim]) error) each {
		return func(ctx context.Context, c *client.Client) error { return f(ctx, client.For(c, nodes)) }
	}
	with := client.WriteOptions{FieldManager: "me & you", DryRun: true, FieldValidation: client.ValidateStrict}
	const withQuery = "?dryRun=All&fieldManager=me+%26+you&fieldValidation=Strict"

	for _, test := range []struct {
		name        string
		do          each
		want        string // method and URI
		contentType string
		body        string
	}{
		{
			"get", on(func(ctx context.Context, r client.Resource[*Slim]) error { return drop(r.Get(ctx, web)) }),
			"GET " + core + "/a", "", "",
		},
		{
			"get in a group",
			onApps(func(ctx context.Context, r client.Resource[*Slim]) error { return drop(r.Get(ctx, web)) }),
			"GET " + apps + "/a", "", "",
		},
		{"get of a cluster-wide resource", onNodes(func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop(r.Get(ctx, meta.Key{Name: "n1"}))
		}), "GET /api/v1/nodes/n1", "", ""},
		{"get through a subresource", onApps(func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop(r.Status().Get(ctx, web))
		}), "GET " + apps + "/a/status", "", ""},

		{"list of a namespace", on(func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop(r.List(ctx, client.ListOptions{Namespace: "web"}))
		}), "GET " + core + "?limit=500", "", ""},
		{"list of all namespaces", onApps(func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop(r.List(ctx, client.ListOptions{}))
		}), "GET /apis/apps/v1/deployments?limit=500", "", ""},
		{"list of a cluster-wide resource", onNodes(func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop(r.List(ctx, client.ListOptions{PageSize: -1}))
		}), "GET /api/v1/nodes", "", ""},
		{"list with everything", on(func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop(r.List(ctx, client.ListOptions{
				Namespace: "web", LabelSelector: "app=web,tier in (a,b),x!=1+1&2", FieldSelector: "metadata.name=a", PageSize: 7,
				ResourceVersion: "9", ResourceVersionMatch: client.NotOlderThan,
			}))
		}), "GET " + core + "?fieldSelector=metadata.name%3Da&labelSelector=app%3Dweb%2Ctier+in+%28a%2Cb%29%2Cx%21%3D1%2B1%262" +
			"&limit=7&resourceVersion=9&resourceVersionMatch=NotOlderThan", "", ""},
		{"list as it was at a version", on(func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop(r.List(ctx, client.ListOptions{ResourceVersion: "9", ResourceVersionMatch: client.Exact}))
		}), "GET /api/v1/configmaps?limit=500&resourceVersion=9&resourceVersionMatch=Exact", "", ""},

		// behaviour 14: a watch has no limit and no continue, because its options have none.
		{"watch of everything", on(func(ctx context.Context, r client.Resource[*Slim]) error {
			return watch(ctx, r, client.WatchOptions{})
		}), "GET /api/v1/configmaps?watch=true", "", ""},
		{"watch with everything", onApps(func(ctx context.Context, r client.Resource[*Slim]) error {
			return watch(ctx, r, client.WatchOptions{
				Namespace: "web", LabelSelector: "a", FieldSelector: "b=c", ResourceVersion: "9", Bookmarks: true, Timeout: 5 * time.Minute,
			})
		}), "GET " + apps + "?allowWatchBookmarks=true&fieldSelector=b%3Dc&labelSelector=a&resourceVersion=9&timeoutSeconds=300&watch=true", "", ""},
		// behaviour 208: nor has one that begins with a list, which is of what is not older, and of nothing else.
		{"watch that begins with what is there", on(func(ctx context.Context, r client.Resource[*Slim]) error {
			return watch(ctx, r, client.WatchOptions{InitialEvents: true})
		}), "GET /api/v1/configmaps?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=true", "", ""},
		{"the same, not older than a version", on(func(ctx context.Context, r client.Resource[*Slim]) error {
			return watch(ctx, r, client.WatchOptions{Namespace: "web", InitialEvents: true, ResourceVersion: "9"})
		}), "GET " + core + "?allowWatchBookmarks=true&resourceVersion=9&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=true", "", ""},
		{"watch of a cluster-wide resource", onNodes(func(ctx context.Context, r client.Resource[*Slim]) error {
			return watch(ctx, r, client.WatchOptions{ResourceVersion: "9"})
		}), "GET /api/v1/nodes?resourceVersion=9&watch=true", "", ""},

		{
			"create",
			on(func(ctx context.Context, r client.Resource[*Slim]) error { return drop(r.Create(ctx, slim)) }),
			"POST " + core, jsonType, slimBody,
		},
		{"create of a cluster-wide object with options", onNodes(func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop(r.With(with).Create(ctx, node))
		}), "POST /api/v1/nodes" + withQuery, jsonType, `{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1"}}`},
		{
			"update",
			on(func(ctx context.Context, r client.Resource[*Slim]) error { return drop(r.Update(ctx, slim)) }),
			"PUT " + core + "/a", jsonType, slimBody,
		},
		{"update with options", on(func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop(r.With(with).Update(ctx, slim))
		}), "PUT " + core + "/a" + withQuery, jsonType, slimBody},
		{"update of a status with options", onApps(func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop(r.With(with).Status().Update(ctx, &Slim{Identity: at(web)}))
		}), "PUT " + apps + "/a/status" + withQuery, jsonType, `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"namespace":"web","name":"a"}}`},
		{"merge patch", on(func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop(r.Patch(ctx, web, merge))
		}), "PATCH " + core + "/a", mergeType, `{"data":{"k":null}}`},
		{"merge patch of a status with options", onApps(func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop(r.With(with).Status().Patch(ctx, web, merge))
		}), "PATCH " + apps + "/a/status" + withQuery, mergeType, `{"data":{"k":null}}`},

		{"delete", on(func(ctx context.Context, r client.Resource[*Slim]) error {
			return r.Delete(ctx, web, client.DeleteOptions{})
		}), "DELETE " + core + "/a", jsonType, deletion + "}"},
		{"delete of a cluster-wide object", onNodes(func(ctx context.Context, r client.Resource[*Slim]) error {
			return r.Delete(ctx, meta.Key{Name: "n1"}, client.DeleteOptions{})
		}), "DELETE /api/v1/nodes/n1", jsonType, deletion + "}"},
		{"delete with everything", on(func(ctx context.Context, r client.Resource[*Slim]) error {
			return r.Delete(ctx, web, client.DeleteOptions{
				UID: "u", ResourceVersion: "7", Propagation: client.Foreground, GracePeriod: 30 * time.Second,
			})
		}), "DELETE " + core + "/a", jsonType, deletion + `,"gracePeriodSeconds":30,"preconditions":{"uid":"u","resourceVersion":"7"},"propagationPolicy":"Foreground"}`},
		{"delete at once", on(func(ctx context.Context, r client.Resource[*Slim]) error {
			return r.Delete(ctx, web, client.DeleteOptions{GracePeriod: client.Immediately, Propagation: client.Background})
		}), "DELETE " + core + "/a", jsonType, deletion + `,"gracePeriodSeconds":0,"propagationPolicy":"Background"}`},
		// An API server reads the query of a deletion only where there is no body: a dry run that stood there alone would delete.
		{"delete as a dry run", on(func(ctx context.Context, r client.Resource[*Slim]) error {
			return r.With(with).Delete(ctx, web, client.DeleteOptions{Propagation: client.Orphan})
		}), "DELETE " + core + "/a", jsonType, deletion + `,"propagationPolicy":"Orphan","dryRun":["All"]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			srv := answers(answer{code: 403, body: status(403, "Forbidden", "no")})
			err := test.do(t.Context(), connect(t, srv))
			if !errors.Is(err, apierrors.Forbidden) {
				t.Fatalf("error is %v, want the server's", err)
			}
			got := srv.one(t)
			if got.String() != test.want {
				t.Errorf("request is %s\n        want %s", got, test.want)
			}
			if got.body != test.body {
				t.Errorf("body is %s\n   want %s", got.body, test.body)
			}
			for name, want := range map[string]string{
				"Content-Type": test.contentType, "Accept": jsonType, "User-Agent": "bowline/v0 (" + runtime.GOOS + "/" + runtime.GOARCH + ")",
			} {
				if value := got.header.Get(name); value != want {
					t.Errorf("%s is %q, want %q", name, value, want)
				}
			}
		})
	}
}

func at(k meta.Key) meta.Identity { return meta.Identity{Namespace: k.Namespace, Name: k.Name} }
