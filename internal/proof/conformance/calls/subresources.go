package calls

import (
	"context"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

func subresources() []Call {
	type (
		ctx     = context.Context
		names   = client.Resource[*Any]
		deps    = client.Resource[*Deployment]
		podList = client.Resource[*Pod]
	)
	status := patch.Merge(map[string]any{"status": map[string]any{"replicas": 2}})
	replicas := patch.Merge(map[string]any{"spec": map[string]any{"replicas": 3}})
	scale := func(n int32) *client.Scale {
		s := &client.Scale{ObjectMeta: at("a")}
		s.Spec.Replicas = n
		return s
	}
	reported := func() *Deployment {
		d := deployment(1)
		d.Status.Replicas = 1
		return d
	}
	custom := func(n int) *meta.Unstructured {
		u := &meta.Unstructured{Object: map[string]any{"spec": map[string]any{"replicas": n}}}
		u.SetTypeMeta("autoscaling/v1", "Scale")
		u.SetNamespace(Namespace)
		u.SetName("a")
		return u
	}
	return []Call{
		on("create-group", deployments, func(ctx ctx, r deps) error { return drop(r.Create(ctx, deployment(1))) }),
		on("status-get", deployments, func(ctx ctx, r deps) error { return drop(r.Status().Get(ctx, key("a"))) }),
		on("status-update", deployments, func(ctx ctx, r deps) error { return drop(r.Status().Update(ctx, reported())) }),
		on("status-update-options", deployments, func(ctx ctx, r deps) error {
			return drop(r.With(everyOption).Status().Update(ctx, reported()))
		}),
		on("status-patch", deployments, func(ctx ctx, r deps) error { return drop(r.Status().Patch(ctx, key("a"), status)) }),
		on("status-patch-metadata", deployments, func(ctx ctx, r deps) error {
			return drop(client.Metadata(r).Status().Patch(ctx, key("a"), status))
		}),
		on("status-apply", deployments, func(ctx ctx, r deps) error {
			config := map[string]any{"status": map[string]any{"replicas": 2}}
			return drop(r.With(client.WriteOptions{FieldManager: "wire"}).Status().Apply(ctx, key("a"), config, client.ApplyOptions{Force: true}))
		}),
		on("scale-get", deployments, func(ctx ctx, r deps) error { return drop(client.ScaleOf(r).Get(ctx, key("a"))) }),
		on("scale-update", deployments, func(ctx ctx, r deps) error { return drop(client.ScaleOf(r).Update(ctx, scale(2))) }),
		on("scale-update-options", deployments, func(ctx ctx, r deps) error {
			return drop(client.ScaleOf(r.With(everyOption)).Update(ctx, scale(0)))
		}),
		on("scale-patch", deployments, func(ctx ctx, r deps) error { return drop(client.ScaleOf(r).Patch(ctx, key("a"), replicas)) }),
		on("scale-as-unstructured", deployments, func(ctx ctx, r deps) error {
			return drop(client.SubOf[*meta.Unstructured](r, "scale").Update(ctx, custom(4)))
		}),
		on("finalize", namespaces, func(ctx ctx, r names) error {
			ns := &meta.Unstructured{Object: map[string]any{"spec": map[string]any{"finalizers": []any{"kubernetes"}}}}
			ns.SetName(Namespace)
			return drop(client.SubOf[*meta.Unstructured](r, "finalize").Update(ctx, ns))
		}),

		on("approval", requests, func(ctx ctx, r client.Resource[*meta.Unstructured]) error {
			approved := map[string]any{"type": "Approved", "status": "True", "reason": "Wire", "message": "it may"}
			csr := &meta.Unstructured{Object: map[string]any{
				"spec":   map[string]any{"request": "", "signerName": "example.com/wire"},
				"status": map[string]any{"conditions": []any{approved}},
			}}
			csr.SetName("absent")
			return drop(r.Sub("approval").Update(ctx, csr))
		}, apierrors.NotFound),
		on("create-account", accounts, func(ctx ctx, r names) error {
			return drop(r.Create(ctx, &Any{ObjectMeta: at("default")}))
		}),
		on("token", accounts, func(ctx ctx, r names) error {
			return drop(client.RequestToken(ctx, r, key("default"), client.TokenOptions{}))
		}),
		on("create-pod", pods, func(ctx ctx, r podList) error { return drop(r.Create(ctx, pod("a"))) }),
		on("create-second-pod", pods, func(ctx ctx, r podList) error { return drop(r.Create(ctx, pod("b"))) }),
		on("token-options", accounts, func(ctx ctx, r names) error {
			return drop(client.RequestToken(ctx, r, key("default"), client.TokenOptions{
				Audiences: []string{"vault", "registry"}, Lifetime: 20 * time.Minute,
				BoundTo: client.Owner{GVK: meta.GVK{Version: "v1", Kind: "Pod"}, Identity: meta.Identity{Name: "absent", UID: "u"}},
			}))
		}, apierrors.NotFound),
		on("binding", pods, func(ctx ctx, r podList) error { return client.Bind(ctx, r, key("a"), "n1") }),
		on("binding-again", pods, func(ctx ctx, r podList) error { return client.Bind(ctx, r, key("a"), "n2") }, apierrors.Conflict),
		on("ephemeralcontainers", pods, func(ctx ctx, r podList) error {
			debugger := map[string]any{"name": "debugger", "image": "example.com/debugger:1", "terminationMessagePolicy": "File"}
			return drop(r.Sub("ephemeralcontainers").Patch(ctx, key("a"), patch.Merge(
				map[string]any{"spec": map[string]any{"ephemeralContainers": []any{debugger}}})))
		}),
		on("resize", pods, func(ctx ctx, r podList) error {
			return drop(r.Sub("resize").Get(ctx, key("a")))
		}),
		on("eviction-options", pods, func(ctx ctx, r podList) error {
			return client.Evict(ctx, r.With(client.WriteOptions{DryRun: true}), key("a"), client.DeleteOptions{
				UID: "u", ResourceVersion: "1", GracePeriod: 30 * time.Second,
			})
		}, apierrors.Conflict),
		on("eviction", pods, func(ctx ctx, r podList) error {
			return client.Evict(ctx, r.In(Namespace), meta.Key{Name: "b"}, client.DeleteOptions{})
		}),
	}
}

func deletions() []Call {
	type (
		ctx   = context.Context
		names = client.Resource[*Any]
		maps  = client.Resource[*ConfigMap]
	)
	return []Call{
		on("delete-options", configMaps, func(ctx ctx, r maps) error {
			return r.Delete(ctx, key("a"), client.DeleteOptions{
				UID: "u", ResourceVersion: "1", Propagation: client.Foreground, GracePeriod: 30 * time.Second,
			})
		}, apierrors.Conflict),
		// An API server reads the query of a deletion only if there is no body: it would delete the object if the dry
		// run were only in the query.
		on("delete-dry-run", configMaps, func(ctx ctx, r maps) error {
			return r.With(everyOption).Delete(ctx, key("a"), client.DeleteOptions{Propagation: client.Orphan})
		}),
		on("delete", configMaps, func(ctx ctx, r maps) error { return r.Delete(ctx, key("a"), client.DeleteOptions{}) }),
		on("delete-metadata-at-once", configMaps, func(ctx ctx, r maps) error {
			return client.Metadata(r).Delete(ctx, key("bound"), client.DeleteOptions{GracePeriod: client.NoGracePeriod, Propagation: client.Background})
		}),
		on("deletecollection-options", configMaps, func(ctx ctx, r maps) error {
			return r.With(everyOption).DeleteCollection(ctx, client.Selection{
				Namespace: Namespace, LabelSelector: "app=wire,tier notin (a,b)", FieldSelector: "metadata.name=a",
			}, client.DeleteOptions{Propagation: client.Background, GracePeriod: client.NoGracePeriod})
		}),
		on("deletecollection", configMaps, func(ctx ctx, r maps) error {
			return r.In(Namespace).DeleteCollection(ctx, client.Selection{Everything: true}, client.DeleteOptions{})
		}),
		on("delete-cluster", namespaces, func(ctx ctx, r names) error {
			return r.Delete(ctx, meta.Key{Name: Namespace}, client.DeleteOptions{})
		}),
	}
}
