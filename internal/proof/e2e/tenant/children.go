package tenant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/builtin/core"
	"github.com/bowline-go/bowline/client/builtin/networking"
	"github.com/bowline-go/bowline/client/builtin/rbac"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
)

// Annotations of a namespace.
const (
	nodeSelectorKey = "scheduler.alpha.kubernetes.io/node-selector" // which the admission plugin PodNodeSelector reads
	metadataKey     = Group + "/metadata"                           // the Metadata that the controller has put there
)

// mark gives a namespace the labels and annotations of its tenant, and removes those that the tenant no longer has. A
// server-side apply would do the same, but it would create a namespace again that has just been deleted.
func mark(ns *core.Namespace, t *Tenant) error {
	var had Metadata
	if text := ns.Annotations[metadataKey]; text != "" {
		_ = json.Unmarshal([]byte(text), &had) // an annotation that cannot be read removes nothing
	}
	unset := func(from, keys map[string]string) {
		maps.DeleteFunc(from, func(key, value string) bool { written, found := keys[key]; return found && written == value })
	}
	unset(ns.Labels, had.Labels)
	unset(ns.Annotations, had.Annotations)
	additional := t.Spec.NamespaceOptions.AdditionalMetadata
	want := Metadata{Labels: map[string]string{}, Annotations: map[string]string{}}
	maps.Copy(want.Labels, additional.Labels)
	maps.Copy(want.Annotations, additional.Annotations)
	want.Labels[tenantLabel] = t.Name
	if len(t.Spec.NodeSelector) > 0 {
		want.Annotations[nodeSelectorKey] = pairs(t.Spec.NodeSelector)
	}
	text, err := json.Marshal(want)
	if err != nil {
		return err
	}
	want.Annotations[metadataKey] = string(text)
	want.complete(&ns.ObjectMeta)
	return nil
}

// child is an object that a tenant owns in a namespace.
type child interface {
	meta.Identified[string]
	meta.Ownable[meta.OwnerReference]
	meta.Deletable[*meta.Time]
	meta.Labelled
}

// set has the objects of one kind that the controller makes.
type set[T child] struct {
	resource client.Resource[T]
	known    *informer.Informer[T]
}

// newSet returns a set, whose cache has the managed fields, so that an apply that would change nothing is not sent.
func newSet[T child](r client.Resource[T]) *set[T] {
	return &set[T]{r, informer.New(r, informer.Options{LabelSelector: tenantLabel, KeepManagedFields: true})}
}

func (s *set[T]) access() []client.Access { return s.resource.Access("create", "patch", "delete") }

// sync changes the objects in a namespace to those that are wanted. An apply removes the fields that the tenant no
// longer has.
func (s *set[T]) sync(ctx context.Context, t *Tenant, namespace string, wanted []T) error {
	var errs []error
	names := make(map[string]bool)
	for _, want := range wanted {
		names[want.GetName()] = true
		key := meta.Key{Namespace: namespace, Name: want.GetName()}
		known, _ := s.known.Reader().Get(key)
		if err := client.SetController(want, client.OwnerOf(Tenants, t)); err != nil {
			return err
		}
		_, err := s.resource.Apply(ctx, key, want, client.ApplyOptions{Force: true, Known: known})
		errs = append(errs, err)
	}
	for have := range s.known.Reader().Namespace(namespace) {
		owner, _ := meta.ControllerOf(have)
		if owner.UID != t.UID || names[have.GetName()] || meta.IsDeleting(have) {
			continue
		}
		err := s.resource.Delete(ctx, meta.KeyOf(have), client.DeleteOptions{UID: have.GetUID()})
		errs = append(errs, apierrors.Ignore(err, apierrors.NotFound, apierrors.Conflict))
	}
	return errors.Join(errs...)
}

// labelled returns the metadata of an object of the tenant.
func labelled(t *Tenant, suffix string) meta.ObjectMeta {
	return meta.ObjectMeta{Name: strings.Join([]string{name, t.Name, suffix}, "-"), Labels: map[string]string{tenantLabel: t.Name}}
}

func limitRanges(t *Tenant) (all []*core.LimitRange) {
	for i, spec := range value(t.Spec.LimitRanges).Items {
		all = append(all, &core.LimitRange{ObjectMeta: labelled(t, fmt.Sprint(i)), Spec: spec})
	}
	return all
}

func networkPolicies(t *Tenant) (all []*networking.NetworkPolicy) {
	for i, spec := range value(t.Spec.NetworkPolicies).Items {
		all = append(all, &networking.NetworkPolicy{ObjectMeta: labelled(t, fmt.Sprint(i)), Spec: spec})
	}
	return all
}

// resourceQuotas returns the quotas of a namespace. If the namespaces share an amount, the quota of each is its own use
// plus the part of the amount that none of them uses.
func (r *reconciler) resourceQuotas(t *Tenant, namespace string, all []*core.Namespace) (quotas []*core.ResourceQuota) {
	wanted := value(t.Spec.ResourceQuotas)
	for i, spec := range wanted.Items {
		q := &core.ResourceQuota{ObjectMeta: labelled(t, fmt.Sprint(i)), Spec: spec}
		if wanted.Scope != QuotaOfNamespace {
			q.Spec.Hard = make(map[string]meta.Quantity)
			for resource, hard := range spec.Hard {
				left := hard
				for _, ns := range all {
					left = left.Sub(r.used(ns.Name, q.Name, resource))
				}
				if left.Cmp(meta.Quantity{}) < 0 {
					left = meta.Quantity{}
				}
				q.Spec.Hard[resource] = left.Add(r.used(namespace, q.Name, resource))
			}
		}
		quotas = append(quotas, q)
	}
	return quotas
}

// used returns how much of a resource a namespace uses, according to the status of the quota in the cache.
func (r *reconciler) used(namespace, quota, resource string) meta.Quantity {
	q, ok := r.quotas.known.Reader().Get(meta.Key{Namespace: namespace, Name: quota})
	if !ok {
		return meta.Quantity{}
	}
	return q.Status.Used[resource]
}

// roleBindings returns the role bindings of the owners, and the additional ones.
func roleBindings(t *Tenant) (all []*rbac.RoleBinding) {
	of := make(map[string][]rbac.Subject) // by role
	for _, o := range t.Spec.Owners {
		roles := o.ClusterRoles
		if roles == nil {
			roles = []string{"admin", "capsule-namespace-deleter"}
		}
		for _, role := range roles {
			of[role] = append(of[role], o.subject())
		}
	}
	for _, role := range slices.Sorted(maps.Keys(of)) {
		all = append(all, binding(t, "owners-"+role, role, of[role]))
	}
	for i, b := range t.Spec.AdditionalRoleBindings {
		all = append(all, binding(t, fmt.Sprintf("%d-%s", i, b.ClusterRoleName), b.ClusterRoleName, b.Subjects))
	}
	return all
}

func binding(t *Tenant, suffix, role string, subjects []rbac.Subject) *rbac.RoleBinding {
	return &rbac.RoleBinding{
		ObjectMeta: labelled(t, suffix), Subjects: subjects,
		RoleRef: rbac.RoleRef{APIGroup: rbac.RoleBindings().Group, Kind: "ClusterRole", Name: role},
	}
}

// subject returns an owner as a role binding names it.
func (o *Owner) subject() rbac.Subject {
	if o.Kind == ServiceAccount {
		namespace, account, _ := strings.Cut(strings.TrimPrefix(o.Name, prefixOfAccounts), ":")
		return rbac.Subject{Kind: string(o.Kind), Namespace: namespace, Name: account}
	}
	return rbac.Subject{APIGroup: rbac.RoleBindings().Group, Kind: string(o.Kind), Name: o.Name}
}

// pairs writes a selector as text.
func pairs(labels map[string]string) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		all = append(all, key+"="+labels[key])
	}
	return strings.Join(all, ",")
}
