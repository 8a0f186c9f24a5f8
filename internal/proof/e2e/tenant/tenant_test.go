package tenant_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/builtin/core"
	"github.com/bowline-go/bowline/client/builtin/networking"
	"github.com/bowline-go/bowline/client/builtin/rbac"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/proof/e2e/tenant"
)

func isInvalid(err error) bool { return errors.Is(err, apierrors.Invalid) }

// refused fails unless an error is that of an admission webhook, and has a text.
func (w *world) refused(err error, text string) {
	w.Helper()
	if err == nil || !strings.Contains(err.Error(), "denied the request") || !strings.Contains(err.Error(), text) {
		w.Errorf("got %v, want a refusal that says %q", err, text)
	}
}

// namespace creates a namespace as a user.
func namespace(w *world, user, name string, labels map[string]string) error {
	ns := &core.Namespace{ObjectMeta: meta.ObjectMeta{Name: name, Labels: labels}}
	_, err := client.For(w.as(user), core.Namespaces()).Create(w.Context(), ns)
	return err
}

// names waits until a resource has these objects in a namespace.
func names[T meta.Object](w *world, of client.Type[T], ns string, want ...string) {
	w.Helper()
	w.until(fmt.Sprintf("the %s in %s are %v", of.Resource, ns, want), func() error {
		all, err := client.For(w.admin, of).List(w.Context(), client.ListOptions{Namespace: ns, LabelSelector: tenant.Group + "/tenant"})
		if err != nil {
			return err
		}
		var got []string
		for _, obj := range all.Items {
			got = append(got, obj.GetName())
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			return fmt.Errorf("they are %v", got)
		}
		return nil
	})
}

// rich is a tenant that uses everything that the controller makes.
func rich(name, owner string) *tenant.Tenant {
	t := newTenant(name, owner)
	two := int32(2)
	t.Spec.NamespaceOptions.Quota = &two
	t.Spec.NamespaceOptions.AdditionalMetadata = tenant.Metadata{Labels: map[string]string{"team": name}, Annotations: map[string]string{"paid": "yes"}}
	t.Spec.NamespaceOptions.ForbiddenLabels.Denied = []string{"secret"}
	t.Spec.NodeSelector = map[string]string{"pool": name}
	t.Spec.LimitRanges = &tenant.LimitRanges{Items: []core.LimitRangeSpec{{Limits: []core.LimitRangeItem{{
		Type: "Container", Max: map[string]meta.Quantity{"cpu": meta.MustQuantity("2")}, Default: map[string]meta.Quantity{"cpu": meta.MustQuantity("1")},
	}}}}}
	t.Spec.NetworkPolicies = &tenant.NetworkPolicies{Items: []networking.NetworkPolicySpec{{PolicyTypes: []networking.NetworkPolicySpecPolicyType{"Ingress"}}}}
	t.Spec.ResourceQuotas = &tenant.ResourceQuotas{Items: []core.ResourceQuotaSpec{{Hard: map[string]meta.Quantity{"services": meta.MustQuantity("3")}}}}
	t.Spec.AdditionalRoleBindings = []tenant.Binding{{ClusterRoleName: "view", Subjects: []rbac.Subject{{Kind: "Group", APIGroup: "rbac.authorization.k8s.io", Name: "auditors"}}}}
	return t
}

func TestATenantFillsItsNamespacesOnEitherServer(t *testing.T) { onEither(t, playLife) }

// playLife makes a tenant with namespaces, changes it and deletes it.
func playLife(w *world) {
	key := meta.Key{Name: "oil"}
	oil := must(w.tenants.Create(w.Context(), rich("oil", "alice")))(w)
	w.until("alice owns the tenant", func() error { return namespace(w, "alice", "oil-dev", nil) })
	w.refused(namespace(w, "bob", "oil-prod", nil), `"bob" owns no tenant`)
	w.refused(namespace(w, "alice", "oil-prod", map[string]string{"secret": "a"}), `must not have "secret"`)
	must(0, namespace(w, "alice", "oil-prod", nil))(w)
	w.refused(namespace(w, "alice", "oil-test", nil), "may have no more than 2")

	made := must(w.namespaces.Get(w.Context(), meta.Key{Name: "oil-dev"}))(w)
	if owner, _ := meta.ControllerOf(made); owner.UID != oil.UID {
		w.Errorf("the controller of the namespace is %+v", owner)
	}
	for _, ns := range []string{"oil-dev", "oil-prod"} {
		names(w, core.LimitRanges(), ns, "capsule-oil-0")
		names(w, networking.NetworkPolicies(), ns, "capsule-oil-0")
		names(w, core.ResourceQuotas(), ns, "capsule-oil-0")
		names(w, rbac.RoleBindings(), ns, "capsule-oil-0-view", "capsule-oil-owners-admin", "capsule-oil-owners-capsule-namespace-deleter")
	}
	w.until("the namespace has its metadata", func() error {
		ns := must(w.namespaces.Get(w.Context(), meta.Key{Name: "oil-dev"}))(w)
		if ns.Labels["team"] != "oil" || ns.Annotations["paid"] != "yes" || ns.Annotations["scheduler.alpha.kubernetes.io/node-selector"] != "pool=oil" {
			return fmt.Errorf("it has %v and %v", ns.Labels, ns.Annotations)
		}
		return nil
	})
	w.until("the status is as the tenant", func() error {
		s := must(w.tenants.Get(w.Context(), key))(w).Status
		if s.Size != 2 || !slices.Equal(s.Namespaces, []string{"oil-dev", "oil-prod"}) || s.State != tenant.Active || !meta.IsConditionTrue(s.Conditions, tenant.ReadyCondition) {
			return fmt.Errorf("it is %+v", s)
		}
		return nil
	})
	alice := client.For(w.as("alice"), core.Namespaces())
	_, err := alice.Modify(w.Context(), meta.Key{Name: "oil-dev"}, func(ns *core.Namespace) error { delete(ns.Labels, tenant.Group+"/tenant"); return nil })
	w.refused(err, `must stay in tenant "oil"`)

	must(w.tenants.Modify(w.Context(), key, func(t *tenant.Tenant) error { t.Spec.Cordoned = true; return nil }))(w)
	w.until("the tenant is cordoned", func() error {
		s := must(w.tenants.Get(w.Context(), key))(w).Status
		if s.State != tenant.Cordoned || !meta.IsConditionTrue(s.Conditions, tenant.CordonedCondition) {
			return fmt.Errorf("the status is %+v", s)
		}
		return nil
	})
	w.refused(alice.Delete(w.Context(), meta.Key{Name: "oil-dev"}, client.DeleteOptions{}), "cordoned")
	must(w.tenants.Modify(w.Context(), key, func(t *tenant.Tenant) error { t.Spec.Cordoned, t.Spec.PreventDeletion = false, true; return nil }))(w)
	w.refused(w.tenants.Delete(w.Context(), key, client.DeleteOptions{}), "protected")
	w.until("the owner deletes a namespace", func() error {
		return alice.Delete(w.Context(), meta.Key{Name: "oil-dev"}, client.DeleteOptions{})
	})
	w.until("one namespace is left", func() error {
		if s := must(w.tenants.Get(w.Context(), key))(w).Status; !slices.Equal(s.Namespaces, []string{"oil-prod"}) {
			return fmt.Errorf("they are %v", s.Namespaces)
		}
		return nil
	})
}

func TestFieldsAndObjectsThatATenantDropsAreRemovedOnEitherServer(t *testing.T) {
	onEither(t, playPrune)
}

func playPrune(w *world) {
	gas := rich("gas", "gina")
	gas.Spec.LimitRanges.Items = append(gas.Spec.LimitRanges.Items, gas.Spec.LimitRanges.Items[0])
	must(w.tenants.Create(w.Context(), gas))(w)
	w.until("gina owns the tenant", func() error { return namespace(w, "gina", "gas-dev", nil) })
	names(w, core.LimitRanges(), "gas-dev", "capsule-gas-0", "capsule-gas-1")
	limits := client.For(w.admin, core.LimitRanges()).In("gas-dev")
	must(limits.Modify(w.Context(), meta.Key{Name: "capsule-gas-0", Namespace: "gas-dev"}, func(l *core.LimitRange) error {
		l.Spec.Limits[0].Max["cpu"] = meta.MustQuantity("64")
		return nil
	}))(w)
	must(w.tenants.Modify(w.Context(), meta.Key{Name: "gas"}, func(t *tenant.Tenant) error {
		t.Spec.LimitRanges.Items = t.Spec.LimitRanges.Items[:1]
		t.Spec.LimitRanges.Items[0].Limits[0].Default = nil
		t.Spec.NetworkPolicies, t.Spec.ResourceQuotas, t.Spec.NodeSelector = nil, nil, nil
		t.Spec.NamespaceOptions.AdditionalMetadata.Labels = nil
		t.Spec.Owners[0].ClusterRoles = []string{"edit"}
		return nil
	}))(w)
	names(w, core.LimitRanges(), "gas-dev", "capsule-gas-0")
	names(w, networking.NetworkPolicies(), "gas-dev")
	names(w, core.ResourceQuotas(), "gas-dev")
	names(w, rbac.RoleBindings(), "gas-dev", "capsule-gas-0-view", "capsule-gas-owners-edit")
	w.until("the limits are as wanted", func() error {
		l := must(limits.Get(w.Context(), meta.Key{Name: "capsule-gas-0", Namespace: "gas-dev"}))(w)
		if got := l.Spec.Limits[0].Max["cpu"]; got != meta.MustQuantity("2") {
			return fmt.Errorf("max is %v", got)
		}
		return nil
	})
	w.until("the metadata is gone", func() error {
		ns := must(w.namespaces.Get(w.Context(), meta.Key{Name: "gas-dev"}))(w)
		if ns.Labels["team"] != "" || ns.Annotations["scheduler.alpha.kubernetes.io/node-selector"] != "" || ns.Annotations["paid"] != "yes" {
			return fmt.Errorf("it is %v and %v", ns.Labels, ns.Annotations)
		}
		return nil
	})
}

func TestNamespacesShareAQuotaOnEitherServer(t *testing.T) { onEither(t, playQuota) }

// playQuota makes Services until the tenant has no more.
func playQuota(w *world) {
	must(w.tenants.Create(w.Context(), rich("sun", "sam")))(w)
	w.until("sam owns the tenant", func() error { return namespace(w, "sam", "sun-dev", nil) })
	must(0, namespace(w, "sam", "sun-prod", nil))(w)
	services := client.For(w.admin, core.Services())
	service := func(ns, name string) error {
		s := &core.Service{ObjectMeta: meta.ObjectMeta{Namespace: ns, Name: name}, Spec: core.ServiceSpec{Ports: []core.ServicePort{{Port: 80}}}}
		_, err := services.Create(w.Context(), s)
		return err
	}
	hard := func(ns, want string) {
		w.Helper()
		w.until("the quota of "+ns+" is "+want, func() error {
			q, err := client.For(w.admin, core.ResourceQuotas()).Get(w.Context(), meta.Key{Namespace: ns, Name: "capsule-sun-0"})
			if err != nil {
				return err
			}
			if got := q.Spec.Hard["services"]; got != meta.MustQuantity(want) {
				return fmt.Errorf("it is %v", got)
			}
			return nil
		})
	}
	hard("sun-dev", "3")
	hard("sun-prod", "3")
	for _, name := range []string{"a", "b"} {
		w.until("a service is made", func() error { return service("sun-dev", name) })
	}
	hard("sun-prod", "1")
	hard("sun-dev", "3")
	w.until("the last service is made", func() error { return service("sun-prod", "a") })
	hard("sun-dev", "2")
	if err := service("sun-dev", "c"); err == nil || !strings.Contains(err.Error(), "exceeded quota") {
		w.Errorf("a fourth service: %v", err)
	}
}

// Ten minutes in which nothing happens cost no write, and no read but of the lease and of what the certificate is in.
func TestAnIdleOperatorWritesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := onFake(t)
		must(w.tenants.Create(t.Context(), rich("oil", "alice")))(w)
		w.until("alice owns the tenant", func() error { return namespace(w, "alice", "oil-dev", nil) })
		names(w, core.LimitRanges(), "oil-dev", "capsule-oil-0")
		time.Sleep(time.Minute)
		before := w.server.Requests()
		time.Sleep(10 * time.Minute)
		for call, n := range w.server.Requests() {
			looks := call.Verb == "get" && slices.Contains([]string{
				"secrets", "validatingwebhookconfigurations", "mutatingwebhookconfigurations", "customresourcedefinitions",
			}, call.Resource)
			if call.Verb != "list" && call.Verb != "watch" && call.Resource != "leases" && !looks && n != before[call] {
				t.Errorf("%d requests %v although nothing has changed", n-before[call], call)
			}
		}
	})
}
