package tenant_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/builtin/core"
	"github.com/bowline-go/bowline/client/builtin/networking"
	"github.com/bowline-go/bowline/client/builtin/scheduling"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/proof/e2e/tenant"
)

// guarded is a tenant that limits everything.
func guarded(owner string) *tenant.Tenant {
	t, no := newTenant("oil", owner), false
	s := &t.Spec
	s.ContainerRegistries = &tenant.Allowed{Allowed: []string{"registry.example.com"}, AllowedRegex: `r\d+\.example\.org`}
	s.ImagePullPolicies = []tenant.PullPolicy{"Always"}
	s.PriorityClasses = &tenant.Classes{Selected: tenant.Selected{Default: "low", MatchLabels: map[string]string{"tenants": "yes"}}}
	s.StorageClasses = &tenant.Classes{Allowed: tenant.Allowed{Allowed: []string{"fast"}}, Selected: tenant.Selected{Default: "slow"}}
	s.PodOptions.AdditionalMetadata.Labels = map[string]string{"billed": "oil"}
	s.IngressOptions = tenant.IngressOptions{
		AllowedClasses:         &tenant.Classes{Allowed: tenant.Allowed{AllowedRegex: "public-.*"}, Selected: tenant.Selected{Default: "public-a"}},
		AllowedHostnames:       &tenant.Allowed{AllowedRegex: `.*\.oil\.example\.com`},
		HostnameCollisionScope: tenant.CollisionTenant,
	}
	s.ServiceOptions = tenant.ServiceOptions{
		AllowedServices: tenant.AllowedServices{NodePort: &no}, ExternalIPs: &tenant.ExternalIPs{Allowed: []string{"10.1.0.0/16", "10.2.0.1"}},
		AdditionalMetadata: tenant.Metadata{Annotations: map[string]string{"pool": "oil"}}, ForbiddenLabels: tenant.Forbidden{DeniedRegex: "secret.*"},
	}
	return t
}

// create makes an object in oil-dev as the owner of the tenant, and returns it as the server has it.
func create[T meta.Object](w *world, of client.Type[T], obj T) (T, error) {
	return client.For(w.as("alice"), of).In("oil-dev").Create(w.Context(), obj)
}

func pod(name, image, pull, priority string) *core.Pod {
	p := &core.Pod{ObjectMeta: meta.ObjectMeta{Name: name}}
	p.Spec.PriorityClassName = priority
	p.Spec.Containers = []core.Container{{Name: "a", Image: image, ImagePullPolicy: core.ContainerImagePullPolicy(pull)}}
	return p
}

func ingress(name, host string) *networking.Ingress {
	in := &networking.Ingress{ObjectMeta: meta.ObjectMeta{Name: name}}
	backend := networking.IngressBackend{Service: &networking.IngressServiceBackend{Name: "a", Port: networking.ServiceBackendPort{Number: 80}}}
	in.Spec.Rules = []networking.IngressRule{{Host: host, HTTP: &networking.HTTPIngressRuleValue{Paths: []networking.HTTPIngressPath{{Path: "/", PathType: "Prefix", Backend: backend}}}}}
	return in
}

func TestTheWebhooksGuardNamespacesOnEitherServer(t *testing.T) {
	onEither(t, func(w *world) {
		for _, name := range []string{"low", "high", "vital"} {
			c := &scheduling.PriorityClass{ObjectMeta: meta.ObjectMeta{Name: name}, Value: int32(len(name))}
			if name == "high" {
				c.Labels = map[string]string{"tenants": "yes"}
			}
			must(client.For(w.admin, scheduling.PriorityClasses()).Create(w.Context(), c))(w)
		}
		must(w.tenants.Create(w.Context(), guarded("alice")))(w)
		w.until("alice owns the tenant", func() error { return namespace(w, "alice", "oil-dev", nil) })
		w.until("alice may make pods", func() error { // the role binding is made, and the service account
			_, err := create(w, core.Pods(), pod("ok", "registry.example.com/a:1", "Always", ""))
			return err
		})
		guardPods(w)
		guardClaims(w)
		guardIngresses(w)
		guardServices(w)
	})
}

func guardPods(w *world) {
	made := must(client.For(w.admin, core.Pods()).Get(w.Context(), meta.Key{Namespace: "oil-dev", Name: "ok"}))(w)
	if made.Spec.PriorityClassName != "low" || made.Spec.Priority == nil || *made.Spec.Priority != 3 || made.Labels["billed"] != "oil" {
		w.Errorf("the pod has priority class %q, %v and the labels %v", made.Spec.PriorityClassName, made.Spec.Priority, made.Labels)
	}
	must(create(w, core.Pods(), pod("regex", "r12.example.org/a", "Always", "high")))(w)
	for _, c := range []struct{ image, pull, priority, says string }{
		{"nginx", "Always", "", "spec.containers[0].image: must not come from docker.io; the tenant allows registry.example.com, and what matches"},
		{"registry.example.com/a:1", "Never", "", `spec.containers[0].imagePullPolicy: must be one of [Always], got "Never"`},
		{"registry.example.com/a:1", "Always", "vital", `spec.priorityClassName: must not be "vital"; the tenant allows low, and those with the labels tenants=yes`},
	} {
		_, err := create(w, core.Pods(), pod("no", c.image, c.pull, c.priority))
		w.refused(err, c.says)
	}
}

func guardClaims(w *world) {
	claim := func(name string, class *string) (*core.PersistentVolumeClaim, error) {
		c := &core.PersistentVolumeClaim{ObjectMeta: meta.ObjectMeta{Name: name}}
		c.Spec.AccessModes = []core.PersistentVolumeClaimSpecAccessMode{"ReadWriteOnce"}
		c.Spec.Resources.Requests = map[string]meta.Quantity{"storage": meta.MustQuantity("1Gi")}
		c.Spec.StorageClassName = class
		return create(w, core.PersistentVolumeClaims(), c)
	}
	if c := must(claim("a", nil))(w); *c.Spec.StorageClassName != "slow" {
		w.Errorf("the claim has the class %q", *c.Spec.StorageClassName)
	}
	fast, other := "fast", "other"
	must(claim("b", &fast))(w)
	_, err := claim("c", &other)
	w.refused(err, `spec.storageClassName: must not be "other"; the tenant allows slow, fast`)
}

func guardIngresses(w *world) {
	if in := must(create(w, networking.Ingresses(), ingress("a", "a.oil.example.com")))(w); *in.Spec.IngressClassName != "public-a" {
		w.Errorf("the ingress has the class %q", *in.Spec.IngressClassName)
	}
	_, err := create(w, networking.Ingresses(), ingress("b", "*.oil.example.com"))
	w.refused(err, "must not begin with *")
	_, err = create(w, networking.Ingresses(), ingress("b", "example.com"))
	w.refused(err, `must not be "example.com"`)
	private := ingress("b", "b.oil.example.com")
	class := "private"
	private.Spec.IngressClassName = &class
	_, err = create(w, networking.Ingresses(), private)
	w.refused(err, `must not be "private"`)
	w.until("the second ingress of a host is refused", func() error { // when the cache has the first
		_, err := client.For(w.as("alice"), networking.Ingresses()).In("oil-dev").With(client.WriteOptions{DryRun: true}).
			Create(w.Context(), ingress("b", "a.oil.example.com"))
		if err == nil || !strings.Contains(err.Error(), "Ingress oil-dev/a has them") {
			return fmt.Errorf("got %w", errors.Join(err, errors.New("no collision")))
		}
		return nil
	})
}

func guardServices(w *world) {
	make := func(name string, change func(*core.Service)) (*core.Service, error) {
		s := &core.Service{ObjectMeta: meta.ObjectMeta{Name: name}, Spec: core.ServiceSpec{Ports: []core.ServicePort{{Port: 80}}}}
		change(s)
		return create(w, core.Services(), s)
	}
	if s := must(make("a", func(s *core.Service) { s.Spec.ExternalIPs = []string{"10.1.2.3", "10.2.0.1"} }))(w); s.Annotations["pool"] != "oil" {
		w.Errorf("the service has the annotations %v", s.Annotations)
	}
	_, err := make("b", func(s *core.Service) { s.Spec.Type = "NodePort" })
	w.refused(err, `must not be NodePort in a namespace of tenant "oil"`)
	_, err = make("b", func(s *core.Service) { s.Spec.ExternalIPs = []string{"10.1.2.3", "10.2.0.2"} })
	w.refused(err, `spec.externalIPs[1]: must be in [10.1.0.0/16 10.2.0.1], got "10.2.0.2"`)
	_, err = make("b", func(s *core.Service) { s.Labels = map[string]string{"secret-a": "b"} })
	w.refused(err, `must not have "secret-a", which the tenant forbids: what matches secret.*`)
}

// A tenant is validated in the version that the webhook names, whichever version a user writes.
func TestWrongTenantsAreRefusedOnEitherServer(t *testing.T) {
	onEither(t, func(w *world) {
		for says, wrong := range map[string]func(*tenant.Spec){
			"spec.storageClasses.allowedRegex: must be a regular expression": func(s *tenant.Spec) {
				s.StorageClasses = &tenant.Classes{Allowed: tenant.Allowed{AllowedRegex: "("}}
			},
			"spec.owners[1].name: must be system:serviceaccount:NAMESPACE:NAME": func(s *tenant.Spec) {
				s.Owners = append(s.Owners, tenant.Owner{Kind: tenant.ServiceAccount, Name: "a"})
			},
			"spec.serviceOptions.externalIPs.allowed[0]: must be an address or a network": func(s *tenant.Spec) {
				s.ServiceOptions.ExternalIPs = &tenant.ExternalIPs{Allowed: []string{"10.0.0.0/99"}}
			},
		} {
			bad := newTenant("bad", "alice")
			wrong(&bad.Spec)
			_, err := w.tenants.Create(w.Context(), bad)
			w.refused(err, says)
		}
		old := &tenant.OldTenant{ObjectMeta: meta.ObjectMeta{Name: "old", Annotations: map[string]string{tenant.Group + "/forbidden-namespace-labels-regexp": "("}}}
		old.Spec.Owners = []tenant.OldOwner{{Kind: tenant.User, Name: "alice"}}
		_, err := w.olds.Create(w.Context(), old)
		w.refused(err, "spec.namespaceOptions.forbiddenLabels.deniedRegex: must be a regular expression")
		old.Annotations = map[string]string{tenant.Group + "/protected": "true"}
		must(w.olds.Create(w.Context(), old))(w)
		w.refused(w.olds.Delete(w.Context(), meta.Key{Name: "old"}, client.DeleteOptions{}), `tenant "old" is protected`)
		if s := must(w.tenants.Get(w.Context(), meta.Key{Name: "old"}))(w).Spec; !s.PreventDeletion || !s.IngressOptions.AllowWildcardHostnames {
			w.Errorf("the tenant is %+v", s)
		}
	})
}
