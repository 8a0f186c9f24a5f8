package tenant

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/builtin/core"
	"github.com/bowline-go/bowline/client/builtin/networking"
	"github.com/bowline-go/bowline/client/builtin/node"
	"github.com/bowline-go/bowline/client/builtin/rbac"
	"github.com/bowline-go/bowline/client/builtin/scheduling"
	"github.com/bowline-go/bowline/client/builtin/storage"
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/webhook"
	"github.com/bowline-go/bowline/client/webhook/certificates"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// name is that of the lease, the field manager and the configurations of webhooks.
const name = "capsule"

// Options configure the operator.
type Options struct {
	// Namespace has the lease, and the Secret with the certificate.
	Namespace string
	// Listener accepts the calls of the API server. Nil means that the webhooks run elsewhere.
	Listener net.Listener
	// Service is the Service that webhooks.yaml and the definition call. Names are the hosts of the webhooks if they
	// have URLs instead.
	Service meta.Key
	Names   []string
	// Groups are those of the users who may own tenants; nil means Group.
	Groups []string
	// ForcePrefix requires that the name of a namespace begins with that of its tenant.
	ForcePrefix bool
}

// caches has the caches of the webhooks and the controller.
type caches struct {
	tenants    *informer.Informer[*Tenant]
	namespaces *informer.Informer[*core.Namespace]
	ingresses  *informer.Informer[*networking.Ingress]
	classes    map[string]*informer.Informer[*meta.Partial] // by kind
	byTenant   *cache.Index[string, *core.Namespace]
	byPlace    *cache.Index[place, *networking.Ingress]
}

func newCaches(c *client.Client, tenants client.Resource[*Tenant], namespaces client.Resource[*core.Namespace]) *caches {
	k := &caches{
		tenants:    informer.New(tenants, informer.Options{}),
		namespaces: informer.New(namespaces, informer.Options{}),
		ingresses:  informer.New(client.For(c, networking.Ingresses()), informer.Options{}),
		classes: map[string]*informer.Informer[*meta.Partial]{
			"StorageClass":  labels(client.For(c, storage.StorageClasses())),
			"IngressClass":  labels(client.For(c, networking.IngressClasses())),
			"PriorityClass": labels(client.For(c, scheduling.PriorityClasses())),
			"RuntimeClass":  labels(client.For(c, node.RuntimeClasses())),
		},
	}
	k.byTenant = cache.NewLabelIndex(k.namespaces.Reader(), tenantLabel)
	k.byPlace = cache.NewIndex(k.ingresses.Reader(), places)
	return k
}

// labels returns a cache of the metadata of a resource.
func labels[T meta.Object](r client.Resource[T]) *informer.Informer[*meta.Partial] {
	return informer.New(client.Metadata(r), informer.Options{})
}

// runners are the caches that no controller runs.
func (k *caches) runners() []informer.Runner {
	all := []informer.Runner{k.ingresses}
	for _, kind := range []string{"StorageClass", "IngressClass", "PriorityClass", "RuntimeClass"} {
		all = append(all, k.classes[kind])
	}
	return all
}

// New returns the operator. The controller works in one replica at a time; the webhooks answer in all of them.
func New(c *client.Client, o Options) *informer.Group {
	as := client.WriteOptions{FieldManager: name}
	tenants, namespaces := client.For(c, Tenants).With(as), client.For(c, core.Namespaces()).With(as)
	known := newCaches(c, tenants, namespaces)
	r := &reconciler{
		tenants: tenants, namespaces: namespaces, known: known,
		limits:   newSet(client.For(c, core.LimitRanges()).With(as)),
		policies: newSet(client.For(c, networking.NetworkPolicies()).With(as)),
		quotas:   newSet(client.For(c, core.ResourceQuotas()).With(as)),
		bindings: newSet(client.For(c, rbac.RoleBindings()).With(as)), roles: client.For(c, rbac.ClusterRoles()),
	}
	h := &hooks{groups: o.Groups, forcePrefix: o.ForcePrefix, tenants: tenants, namespaces: namespaces, known: known}
	if h.groups == nil {
		h.groups = []string{Group}
	}
	g := &informer.Group{
		Runners: append(known.runners(), controller.New("tenants", controller.Options{
			Timeout: time.Minute, Grace: 5 * time.Second, Permissions: r.permissions(),
		}, r.reconcile, r.sources()...)),
		Leader:      leader.New(c, leader.Options{Namespace: o.Namespace, Name: name}),
		StopTimeout: 20 * time.Second,
	}
	if o.Listener != nil {
		g.Services = []informer.Runner{&webhook.Server{
			Handler: h.handler(), Listener: o.Listener,
			Certificates: certificates.New(c, certificates.Options{
				Secret: meta.Key{Namespace: o.Namespace, Name: name + "-tls"}, Service: o.Service, Names: o.Names,
				Validating: []string{name}, Mutating: []string{name}, Definitions: []string{"tenants." + Group},
			}),
		}}
	}
	return g
}

// Conversion answers conversions alone, for tests of the controller without the webhooks.
func Conversion() http.Handler { return webhook.Convert(conversion()) }

type reconciler struct {
	tenants    client.Resource[*Tenant]
	namespaces client.Resource[*core.Namespace]
	known      *caches
	limits     *set[*core.LimitRange]
	policies   *set[*networking.NetworkPolicy]
	quotas     *set[*core.ResourceQuota]
	bindings   *set[*rbac.RoleBinding]
	roles      client.Resource[*rbac.ClusterRole]
}

func (r *reconciler) sources() []controller.Source[meta.Key] {
	return []controller.Source[meta.Key]{
		controller.Watch(r.known.tenants),
		controller.Map(r.known.namespaces, func(ns *core.Namespace) []meta.Key {
			if t := ns.Labels[tenantLabel]; t != "" {
				return []meta.Key{{Name: t}}
			}
			return nil
		}),
		controller.Owns(r.limits.known, Tenants), controller.Owns(r.policies.known, Tenants),
		controller.Owns(r.quotas.known, Tenants), controller.Owns(r.bindings.known, Tenants),
	}
}

// permissions are those of the controller and the webhooks, besides those of their caches.
func (r *reconciler) permissions() []client.Access {
	return slices.Concat(
		r.tenants.Access("get"), r.tenants.Status().Access("get", "update"), r.tenants.Sub("finalizers").Access("update"),
		r.namespaces.Access("get", "list", "update"),
		r.limits.access(), r.policies.access(), r.quotas.access(), r.bindings.access(),
		r.roles.Access("bind"), // to give owners roles with more permissions than the operator has
	)
}

// reconcile gives each namespace of a tenant what the tenant wants there. The garbage collector deletes the namespaces
// of a tenant that is deleted.
func (r *reconciler) reconcile(ctx context.Context, key meta.Key) (controller.Result, error) {
	t, ok := r.known.tenants.Reader().Get(key)
	if !ok || meta.IsDeleting(t) {
		return controller.Result{}, nil
	}
	namespaces := slices.SortedFunc(r.known.byTenant.Get(t.Name), func(a, b *core.Namespace) int { return a.Key().Compare(b.Key()) })
	var errs []error
	for _, ns := range namespaces {
		if !meta.IsDeleting(ns) {
			errs = append(errs, r.fill(ctx, t, ns, namespaces))
		}
	}
	failed := errors.Join(errs...)
	return controller.Result{}, errors.Join(failed, r.report(ctx, t, namespaces, failed))
}

// fill gives a namespace its metadata and objects.
func (r *reconciler) fill(ctx context.Context, t *Tenant, ns *core.Namespace, all []*core.Namespace) error {
	_, err := r.namespaces.ModifyWith(ctx, ns.Key(), func(live *core.Namespace) error {
		if live.UID != ns.UID {
			return nil // it has been made again, and comes as another event
		}
		return mark(live, t)
	}, client.ModifyOptions{Known: ns})
	if err != nil {
		return apierrors.Ignore(err, apierrors.NotFound)
	}
	return errors.Join(
		r.limits.sync(ctx, t, ns.Name, limitRanges(t)),
		r.policies.sync(ctx, t, ns.Name, networkPolicies(t)),
		r.quotas.sync(ctx, t, ns.Name, r.resourceQuotas(t, ns.Name, all)),
		r.bindings.sync(ctx, t, ns.Name, roleBindings(t)))
}

// report writes the status. It sends nothing if the tenant already has that status.
func (r *reconciler) report(ctx context.Context, t *Tenant, namespaces []*core.Namespace, failed error) error {
	ready := meta.Condition{Type: ReadyCondition, Status: meta.ConditionTrue, Reason: "Reconciled"}
	if failed != nil {
		ready = meta.Condition{Type: ReadyCondition, Status: meta.ConditionFalse, Reason: "Failed", Message: failed.Error()}
	}
	state, cordoned := Active, meta.Condition{Type: CordonedCondition, Status: meta.ConditionFalse, Reason: "Active"}
	if t.Spec.Cordoned {
		state, cordoned = Cordoned, meta.Condition{Type: CordonedCondition, Status: meta.ConditionTrue, Reason: "Cordoned"}
	}
	_, err := r.tenants.Status().ModifyWith(ctx, t.Key(), func(live *Tenant) error {
		live.Status.State, live.Status.Size, live.Status.Namespaces = state, int32(len(namespaces)), nil
		for _, ns := range namespaces {
			live.Status.Namespaces = append(live.Status.Namespaces, ns.Name)
		}
		return errors.Join(
			meta.SetCondition(&live.Status.Conditions, t.Generation, ready),
			meta.SetCondition(&live.Status.Conditions, t.Generation, cordoned))
	}, client.ModifyOptions{Known: t})
	return apierrors.Ignore(err, apierrors.NotFound)
}
