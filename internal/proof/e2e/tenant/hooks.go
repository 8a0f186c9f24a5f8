package tenant

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/builtin/core"
	"github.com/bowline-go/bowline/client/builtin/networking"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/webhook"
	apierrors "github.com/bowline-go/bowline/errors"
)

// hooks answers the API server. Its caches may be a moment behind, so objects that they lack are read from the server.
type hooks struct {
	groups      []string // of the users who own tenants
	forcePrefix bool
	tenants     client.Resource[*Tenant]
	namespaces  client.Resource[*core.Namespace]
	known       *caches
}

// handler returns the handlers of all webhooks by the paths that webhooks.yaml and the definition have.
func (h *hooks) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/convert", webhook.Convert(conversion()))
	mux.Handle("/tenants", webhook.Validate(Tenants, h.checkTenant))
	mux.Handle("/namespaces/default", webhook.Default(core.Namespaces(), h.defaultNamespace))
	mux.Handle("/namespaces", webhook.Validate(core.Namespaces(), h.checkNamespace))
	mux.Handle("/pods/default", webhook.Default(core.Pods(), within(h, h.defaultPod)))
	mux.Handle("/pods", webhook.Validate(core.Pods(), within(h, h.checkPod)))
	mux.Handle("/claims/default", webhook.Default(core.PersistentVolumeClaims(), within(h, h.defaultClaim)))
	mux.Handle("/claims", webhook.Validate(core.PersistentVolumeClaims(), within(h, h.checkClaim)))
	mux.Handle("/ingresses/default", webhook.Default(networking.Ingresses(), within(h, h.defaultIngress)))
	mux.Handle("/ingresses", webhook.Validate(networking.Ingresses(), within(h, h.checkIngress)))
	mux.Handle("/services/default", webhook.Default(core.Services(), within(h, h.defaultService)))
	mux.Handle("/services", webhook.Validate(core.Services(), within(h, h.checkService)))
	return mux
}

// within calls f for an object in a namespace of a tenant. Everything is allowed elsewhere. The owners of a cordoned
// tenant change nothing.
func within[T meta.Object](h *hooks, f func(ctx context.Context, t *Tenant, r *webhook.Request[T]) error) func(context.Context, *webhook.Request[T]) error {
	return func(ctx context.Context, r *webhook.Request[T]) error {
		t, err := h.tenantOf(ctx, r.Key.Namespace)
		if t == nil || err != nil {
			return err
		}
		if t.Spec.Cordoned && t.ownedBy(r.User) {
			return fmt.Errorf("tenant %q is cordoned: its owners may not change anything", t.Name)
		}
		if r.Operation == webhook.Delete {
			return nil
		}
		return f(ctx, t, r)
	}
}

// tenantOf returns the tenant of a namespace; nil if it has none.
func (h *hooks) tenantOf(ctx context.Context, namespace string) (*Tenant, error) {
	ns, err := find(ctx, h.namespaces, h.known.namespaces.Reader(), namespace)
	if err != nil {
		return nil, err
	}
	name := ns.Labels[tenantLabel]
	if name == "" {
		return nil, nil
	}
	t, err := find(ctx, h.tenants, h.known.tenants.Reader(), name)
	return t, apierrors.Ignore(err, apierrors.NotFound)
}

// find returns an object of the cache, or else of the server.
func find[T meta.Object](ctx context.Context, r client.Resource[T], known cache.Reader[T], name string) (T, error) {
	if obj, ok := known.Get(meta.Key{Name: name}); ok {
		return obj, nil
	}
	return r.Get(ctx, meta.Key{Name: name})
}

// checkTenant validates tenants.
func (h *hooks) checkTenant(_ context.Context, r *webhook.Request[*Tenant]) error {
	if r.Operation == webhook.Delete {
		if r.Old.Spec.PreventDeletion {
			return fmt.Errorf("tenant %q is protected: set spec.preventDeletion to false first", r.Old.Name)
		}
		return nil
	}
	if r.Operation == webhook.Update && meta.IsDeleting(r.Object) {
		return nil // so that finalizers can be removed from a tenant that an older version allowed
	}
	return r.Object.check()
}

// owner reports whether the rules for owners apply to the user.
func (h *hooks) owner(u webhook.User) bool {
	return slices.ContainsFunc(u.Groups, func(group string) bool { return slices.Contains(h.groups, group) })
}

// defaultNamespace puts a new namespace into the tenant that its creator owns. If the creator owns several tenants, the
// label chooses one.
func (h *hooks) defaultNamespace(_ context.Context, r *webhook.Request[*core.Namespace]) error {
	if !h.owner(r.User) || r.Operation != webhook.Create {
		return nil
	}
	chosen := r.Object.Labels[tenantLabel]
	var mine []*Tenant
	for t := range h.known.tenants.Reader().Sorted() {
		if t.ownedBy(r.User) && (chosen == "" || chosen == t.Name) {
			mine = append(mine, t)
		}
	}
	switch {
	case len(mine) == 0 && chosen != "":
		return fmt.Errorf("user %q does not own tenant %q", r.User.Name, chosen)
	case len(mine) == 0:
		return fmt.Errorf("user %q owns no tenant", r.User.Name)
	case len(mine) > 1:
		var names []string
		for _, t := range mine {
			names = append(names, t.Name)
		}
		return fmt.Errorf("user %q owns several tenants: the label %s must name one of %s", r.User.Name, tenantLabel, strings.Join(names, ", "))
	}
	if r.Object.Labels == nil {
		r.Object.Labels = make(map[string]string)
	}
	r.Object.Labels[tenantLabel] = mine[0].Name
	return client.SetController(r.Object, client.OwnerOf(Tenants, mine[0]))
}

// checkNamespace keeps the owners within what their tenant allows.
func (h *hooks) checkNamespace(ctx context.Context, r *webhook.Request[*core.Namespace]) error {
	if !h.owner(r.User) {
		return nil
	}
	of := r.Object
	if r.Operation != webhook.Create {
		of = r.Old
	}
	t, err := find(ctx, h.tenants, h.known.tenants.Reader(), of.Labels[tenantLabel])
	if of.Labels[tenantLabel] == "" || errors.Is(err, apierrors.NotFound) || err == nil && !t.ownedBy(r.User) {
		return fmt.Errorf("namespace %q is not one of a tenant of user %q", of.Name, r.User.Name)
	}
	if err != nil {
		return err
	}
	if t.Spec.Cordoned {
		return fmt.Errorf("tenant %q is cordoned: its owners may not change anything", t.Name)
	}
	switch r.Operation {
	case webhook.Create:
		if err := h.checkCreate(ctx, t, of); err != nil {
			return err
		}
	case webhook.Update:
		if owner, _ := meta.ControllerOf(r.Object); r.Object.Labels[tenantLabel] != t.Name || owner.UID != t.UID {
			return fmt.Errorf("namespace %q must stay in tenant %q", of.Name, t.Name)
		}
	default:
		return nil
	}
	o, before := t.Spec.NamespaceOptions, value(r.Old)
	return errors.Join(
		o.ForbiddenLabels.newIn("metadata.labels", r.Object.Labels, before.Labels),
		o.ForbiddenAnnotations.newIn("metadata.annotations", r.Object.Annotations, before.Annotations))
}

// checkCreate validates a new namespace. It counts the namespaces on the server, because the cache may not have the
// last one yet.
func (h *hooks) checkCreate(ctx context.Context, t *Tenant, ns *core.Namespace) error {
	if h.forcePrefix && !strings.HasPrefix(ns.Name, t.Name+"-") {
		return webhook.Invalid("metadata.name", "must begin with %q", t.Name+"-")
	}
	quota := t.Spec.NamespaceOptions.Quota
	if quota == nil {
		return nil
	}
	all, err := client.Metadata(h.namespaces).List(ctx, client.ListOptions{LabelSelector: tenantLabel + "=" + t.Name})
	if err != nil {
		return err
	}
	if len(all.Items) >= int(*quota) {
		return fmt.Errorf("tenant %q has %d namespaces, and may have no more than %d", t.Name, len(all.Items), *quota)
	}
	return nil
}
