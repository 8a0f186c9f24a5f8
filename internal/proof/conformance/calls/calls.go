package calls

import (
	"context"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

// Call is one call of the client, which sends one request, or starts with it.
type Call struct {
	// Name is the name of the call, and of its file.
	Name string
	// Do makes the call.
	Do func(ctx context.Context, c *client.Client) error
	// Refused are the reasons with which a server may refuse the call. If there are none, the server must accept the
	// call. If one of them is empty, it may also accept the call.
	Refused []apierrors.Reason
}

// All returns every call, in order. A client can make them again only after the server has been emptied.
func All() []Call {
	return slices.Concat(writes(), reads(), questions(), subresources(), deletions())
}

func drop[V any](_ V, err error) error { return err }

func drop3[V, W any](_ V, _ W, err error) error { return err }

// on makes a call of a handle on a resource.
func on[T meta.Object](
	name string, t client.Type[T], f func(ctx context.Context, r client.Resource[T]) error, refused ...apierrors.Reason,
) Call {
	return Call{Name: name, Do: func(ctx context.Context, c *client.Client) error { return f(ctx, client.For(c, t)) }, Refused: refused}
}

// everyOption are the options of a write.
var everyOption = client.WriteOptions{FieldManager: "me & you", DryRun: true, FieldValidation: client.ValidateStrict}

func writes() []Call {
	relabel := patch.Merge(map[string]any{"metadata": map[string]any{"annotations": map[string]any{"note": "<back & end>", "none": nil}}})
	object := func(value string) *meta.Unstructured {
		u := &meta.Unstructured{Object: map[string]any{"data": map[string]any{"k": value}}}
		u.SetNamespace(Namespace)
		u.SetName("dynamic")
		return u
	}
	applied := map[string]any{"data": map[string]any{"applied": "yes"}}
	read := configMap("applied", "<v>") // as if it had been read and changed
	read.UID, read.ResourceVersion, read.Labels = "u", "1", map[string]string{"l": "", "m": "x"}
	read.ManagedFields = []meta.ManagedFields{{
		Manager: "kubectl-client-side-apply", Operation: "Update", APIVersion: "v1", FieldsType: "FieldsV1",
		FieldsV1: []byte(`{"f:data":{"f:k":{}}}`),
	}}
	var calls []Call
	add := func(c ...Call) { calls = append(calls, c...) }
	type (
		ctx   = context.Context
		names = client.Resource[*Any]
		maps  = client.Resource[*ConfigMap]
		dyn   = client.Resource[*meta.Unstructured]
	)
	add(
		on("create-cluster", namespaces, func(ctx ctx, r names) error {
			return drop(r.Create(ctx, &Any{ObjectMeta: meta.ObjectMeta{Name: Namespace}}))
		}),
		on("create", configMaps, func(ctx ctx, r maps) error { return drop(r.Create(ctx, configMap("a", "<v>"))) }),
		on("create-again", configMaps, func(ctx ctx, r maps) error {
			return drop(r.Create(ctx, configMap("a", "<v>")))
		}, apierrors.AlreadyExists),
		on("create-generated-name", configMaps, func(ctx ctx, r maps) error {
			return drop(r.Create(ctx, &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: Namespace, GenerateName: "a-"}}))
		}),
		on("create-in-bound-namespace", configMaps, func(ctx ctx, r maps) error {
			return drop(r.In(Namespace).Create(ctx, &ConfigMap{ObjectMeta: meta.ObjectMeta{Name: "bound"}}))
		}),
		on("create-options", configMaps, func(ctx ctx, r maps) error {
			return drop(r.With(everyOption).Create(ctx, configMap("dry", "v")))
		}),
		on("create-unstructured", dynamic, func(ctx ctx, r dyn) error { return drop(r.Create(ctx, object("1"))) }),
		on("update", configMaps, func(ctx ctx, r maps) error { return drop(r.Update(ctx, configMap("a", "w"))) }),
		on("update-stale", configMaps, func(ctx ctx, r maps) error {
			c := configMap("a", "x")
			c.ResourceVersion = "1"
			return drop(r.Update(ctx, c))
		}, apierrors.Conflict),
		on("update-options", configMaps, func(ctx ctx, r maps) error {
			return drop(r.With(everyOption).Update(ctx, configMap("a", "x")))
		}),
		on("update-unstructured", dynamic, func(ctx ctx, r dyn) error { return drop(r.Update(ctx, object("2"))) }),
		on("ensure", configMaps, func(ctx ctx, r maps) error { return drop3(r.Ensure(ctx, configMap("a", "x"), client.EnsureOptions{})) }),
		on("ensure-bound-namespace", dynamic, func(ctx ctx, r dyn) error {
			u := object("3")
			u.SetNamespace("")
			return drop3(r.In(Namespace).Ensure(ctx, u, client.EnsureOptions{}))
		}),
		on("add-finalizer", configMaps, func(ctx ctx, r maps) error {
			return drop(r.AddFinalizer(ctx, key("a"), "example.com/wire", meta.FinalizerOptions{}))
		}),
		on("remove-finalizer-metadata", configMaps, func(ctx ctx, r maps) error {
			return drop(client.Metadata(r).RemoveFinalizer(ctx, key("a"), "example.com/wire", meta.FinalizerOptions{}))
		}),
		on("patch-merge", configMaps, func(ctx ctx, r maps) error { return drop(r.Patch(ctx, key("a"), relabel)) }),
		on("patch-merge-options", configMaps, func(ctx ctx, r maps) error {
			return drop(r.With(everyOption).Patch(ctx, key("a"), relabel))
		}),
		on("patch-merge-metadata", configMaps, func(ctx ctx, r maps) error {
			return drop(client.Metadata(r).Patch(ctx, key("a"), relabel))
		}),
		on("patch-merge-cluster", namespaces, func(ctx ctx, r names) error {
			return drop(r.Patch(ctx, meta.Key{Name: Namespace}, relabel))
		}),
		on("apply", configMaps, func(ctx ctx, r maps) error {
			return drop(r.With(client.WriteOptions{FieldManager: "wire"}).Apply(ctx, key("applied"), applied, client.ApplyOptions{}))
		}),
		on("apply-options", configMaps, func(ctx ctx, r maps) error {
			return drop(r.With(everyOption).Apply(ctx, key("applied"), applied, client.ApplyOptions{Force: true}))
		}),
		on("apply-paths", configMaps, func(ctx ctx, r maps) error {
			p := patch.Apply(read, "/metadata/labels/l", "/data")
			return drop(r.With(client.WriteOptions{FieldManager: "wire"}).Apply(ctx, key("applied"), p, client.ApplyOptions{}))
		}),
		on("patch-apply", configMaps, func(ctx ctx, r maps) error {
			p := patch.Apply(read, "/data").WithResourceVersion("1")
			return drop(r.With(client.WriteOptions{FieldManager: "wire"}).Patch(ctx, key("applied"), p))
		}, apierrors.Conflict),
		on("patch-migrate", configMaps, func(ctx ctx, r maps) error {
			p := patch.MigrateFields(read, patch.FieldManager{Name: "wire"}, "kubectl-client-side-apply")
			return drop(r.With(client.WriteOptions{FieldManager: "wire"}).Patch(ctx, key("applied"), p))
		}, apierrors.Conflict),
		on("apply-unstructured", dynamic, func(ctx ctx, r dyn) error {
			return drop(r.With(client.WriteOptions{FieldManager: "wire"}).Apply(ctx, key("dynamic"), object("2"), client.ApplyOptions{Force: true}))
		}),
	)
	return calls
}

// first reads the first event of a watch, if the server has one.
func first[T meta.Object](ctx context.Context, r client.Resource[T], o client.WatchOptions) error {
	for _, err := range r.Watch(ctx, o) {
		return err
	}
	return nil
}

func reads() []Call {
	const labels, fields = "app=wire,tier notin (a,b),x!=y", "metadata.name=a"
	type (
		ctx   = context.Context
		names = client.Resource[*Any]
		maps  = client.Resource[*ConfigMap]
		deps  = client.Resource[*Deployment]
		dyn   = client.Resource[*meta.Unstructured]
	)
	return []Call{
		on("get", configMaps, func(ctx ctx, r maps) error { return drop(r.Get(ctx, key("a"))) }),
		on("get-cluster", namespaces, func(ctx ctx, r names) error { return drop(r.Get(ctx, meta.Key{Name: Namespace})) }),
		on("get-group", deployments, func(ctx ctx, r deps) error { return drop(r.Get(ctx, key("absent"))) }, apierrors.NotFound),
		on("get-metadata", configMaps, func(ctx ctx, r maps) error { return drop(client.Metadata(r).Get(ctx, key("a"))) }),
		on("get-bound-namespace", configMaps, func(ctx ctx, r maps) error {
			return drop(r.In(Namespace).Get(ctx, meta.Key{Name: "a"}))
		}),
		on("list", configMaps, func(ctx ctx, r maps) error {
			return drop(r.List(ctx, client.ListOptions{Namespace: Namespace}))
		}),
		on("list-all-namespaces", deployments, func(ctx ctx, r deps) error { return drop(r.List(ctx, client.ListOptions{})) }),
		on("list-cluster-at-once", namespaces, func(ctx ctx, r names) error {
			return drop(r.List(ctx, client.ListOptions{PageSize: -1}))
		}),
		on("list-options", configMaps, func(ctx ctx, r maps) error {
			return drop(r.List(ctx, client.ListOptions{
				Namespace: Namespace, LabelSelector: labels, FieldSelector: fields, PageSize: 7,
				ResourceVersion: "1", ResourceVersionMatch: client.NotOlderThan,
			}))
		}),
		on("list-whatever", configMaps, func(ctx ctx, r maps) error {
			return drop(r.List(ctx, client.ListOptions{ResourceVersion: "0"}))
		}),
		on("list-not-older", configMaps, func(ctx ctx, r maps) error {
			return drop(r.List(ctx, client.ListOptions{ResourceVersion: "1", PageSize: -1}))
		}),
		// etcd compacts its past after five minutes.
		on("list-exact", configMaps, func(ctx ctx, r maps) error {
			return drop(r.List(ctx, client.ListOptions{ResourceVersion: "1", ResourceVersionMatch: client.Exact}))
		}, "", apierrors.Expired),
		on("list-metadata", configMaps, func(ctx ctx, r maps) error {
			return drop(client.Metadata(r).List(ctx, client.ListOptions{Namespace: Namespace}))
		}),
		on("list-bound-namespace", dynamic, func(ctx ctx, r dyn) error {
			return drop(r.In(Namespace).List(ctx, client.ListOptions{}))
		}),
		on("watch", configMaps, func(ctx ctx, r maps) error { return first(ctx, r, client.WatchOptions{}) }),
		on("watch-options", configMaps, func(ctx ctx, r maps) error {
			return first(ctx, r, client.WatchOptions{
				Namespace: Namespace, LabelSelector: labels, FieldSelector: fields, ResourceVersion: "1", Bookmarks: true, Timeout: time.Second,
			})
		}, "", apierrors.Expired),
		on("watch-initial-events", namespaces, func(ctx ctx, r names) error {
			return first(ctx, r, client.WatchOptions{InitialEvents: true})
		}),
		on("watch-initial-events-not-older", configMaps, func(ctx ctx, r maps) error {
			return first(ctx, r, client.WatchOptions{Namespace: Namespace, InitialEvents: true, ResourceVersion: "1", Timeout: time.Second})
		}),
		on("watch-metadata", configMaps, func(ctx ctx, r maps) error {
			return first(ctx, client.Metadata(r), client.WatchOptions{Namespace: Namespace})
		}),
		on("watch-bound-namespace", configMaps, func(ctx ctx, r maps) error {
			return first(ctx, r.In(Namespace), client.WatchOptions{})
		}),
	}
}
