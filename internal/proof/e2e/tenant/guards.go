package tenant

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/builtin/core"
	"github.com/bowline-go/bowline/client/builtin/networking"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/webhook"
)

// allow returns an error unless the tenant allows a class. An empty name is allowed.
func (h *hooks) allow(c *Classes, kind, field, name string) error {
	if c == nil || name == "" || name == c.Default || c.has(name) {
		return nil
	}
	if len(c.MatchLabels) > 0 {
		class, known := h.known.classes[kind].Reader().Get(meta.Key{Name: name})
		selector := meta.LabelSelector{MatchLabels: c.MatchLabels}
		s, err := selector.Selector()
		if err != nil {
			return err
		}
		if known && s.Matches(class.Labels) {
			return nil
		}
	}
	return webhook.Invalid(field, "must not be %q; the tenant allows %s", name, c)
}

// String says which classes are allowed.
func (c *Classes) String() string {
	all := c.Allowed.Allowed
	if c.Default != "" && !slices.Contains(all, c.Default) {
		all = append([]string{c.Default}, all...)
	}
	text := list(all, c.AllowedRegex)
	if len(c.MatchLabels) > 0 {
		var labels []string
		for _, key := range slices.Sorted(maps.Keys(c.MatchLabels)) {
			labels = append(labels, key+"="+c.MatchLabels[key])
		}
		text += ", and those with the labels " + strings.Join(labels, ",")
	}
	return text
}

// complete puts the labels and annotations on an object.
func (m *Metadata) complete(to *meta.ObjectMeta) {
	for _, side := range []struct {
		have *map[string]string
		want map[string]string
	}{{&to.Labels, m.Labels}, {&to.Annotations, m.Annotations}} {
		for key, value := range side.want {
			if *side.have == nil {
				*side.have = make(map[string]string)
			}
			(*side.have)[key] = value
		}
	}
}

func (h *hooks) defaultPod(_ context.Context, t *Tenant, r *webhook.Request[*core.Pod]) error {
	if r.Operation != webhook.Create {
		return nil // classes of a Pod cannot change
	}
	t.Spec.PodOptions.AdditionalMetadata.complete(&r.Object.ObjectMeta)
	if c := t.Spec.RuntimeClasses; c != nil && c.Default != "" && value(r.Object.Spec.RuntimeClassName) == "" {
		r.Object.Spec.RuntimeClassName = &c.Default
	}
	if c := t.Spec.PriorityClasses; c != nil && c.Default != "" && r.Object.Spec.PriorityClassName == "" {
		// The server has filled in the priority of its own default class. It does so again after the webhook.
		r.Object.Spec.PriorityClassName, r.Object.Spec.Priority, r.Object.Spec.PreemptionPolicy = c.Default, nil, nil
	}
	return nil
}

func (h *hooks) checkPod(_ context.Context, t *Tenant, r *webhook.Request[*core.Pod]) error {
	s := &r.Object.Spec
	errs := []error{
		h.allow(t.Spec.RuntimeClasses, "RuntimeClass", "spec.runtimeClassName", value(s.RuntimeClassName)),
		h.allow(t.Spec.PriorityClasses, "PriorityClass", "spec.priorityClassName", s.PriorityClassName),
	}
	image := func(list string, i int, name, policy string) {
		field := fmt.Sprintf("spec.%s[%d]", list, i)
		if a := t.Spec.ContainerRegistries; a != nil && !a.has(registry(name)) {
			errs = append(errs, webhook.Invalid(field+".image", "must not come from %s; the tenant allows %s", registry(name), a))
		}
		if p := t.Spec.ImagePullPolicies; len(p) > 0 && !slices.Contains(p, PullPolicy(policy)) {
			errs = append(errs, webhook.Invalid(field+".imagePullPolicy", "must be one of %v, got %q", p, policy))
		}
	}
	for i, c := range s.InitContainers {
		image("initContainers", i, c.Image, string(c.ImagePullPolicy))
	}
	for i, c := range s.Containers {
		image("containers", i, c.Image, string(c.ImagePullPolicy))
	}
	for i, c := range s.EphemeralContainers {
		image("ephemeralContainers", i, c.Image, string(c.ImagePullPolicy))
	}
	return errors.Join(errs...)
}

// registry returns the host that an image comes from.
func registry(image string) string {
	host, _, found := strings.Cut(image, "/")
	if found && (strings.ContainsAny(host, ".:") || host == "localhost") {
		return host
	}
	return "docker.io"
}

func (h *hooks) defaultClaim(_ context.Context, t *Tenant, r *webhook.Request[*core.PersistentVolumeClaim]) error {
	if c := t.Spec.StorageClasses; r.Operation == webhook.Create && c != nil && c.Default != "" && r.Object.Spec.StorageClassName == nil {
		r.Object.Spec.StorageClassName = &c.Default
	}
	return nil
}

func (h *hooks) checkClaim(_ context.Context, t *Tenant, r *webhook.Request[*core.PersistentVolumeClaim]) error {
	return h.allow(t.Spec.StorageClasses, "StorageClass", "spec.storageClassName", value(r.Object.Spec.StorageClassName))
}

func (h *hooks) defaultIngress(_ context.Context, t *Tenant, r *webhook.Request[*networking.Ingress]) error {
	if c := t.Spec.IngressOptions.AllowedClasses; c != nil && c.Default != "" && value(r.Object.Spec.IngressClassName) == "" {
		r.Object.Spec.IngressClassName = &c.Default
	}
	return nil
}

func (h *hooks) checkIngress(_ context.Context, t *Tenant, r *webhook.Request[*networking.Ingress]) error {
	o := t.Spec.IngressOptions
	errs := []error{h.allow(o.AllowedClasses, "IngressClass", "spec.ingressClassName", value(r.Object.Spec.IngressClassName))}
	for i, rule := range r.Object.Spec.Rules {
		field := fmt.Sprintf("spec.rules[%d].host", i)
		if strings.HasPrefix(rule.Host, "*") && !o.AllowWildcardHostnames {
			errs = append(errs, webhook.Invalid(field, "must not begin with *, got %q", rule.Host))
		}
		if o.AllowedHostnames != nil && !o.AllowedHostnames.has(rule.Host) {
			errs = append(errs, webhook.Invalid(field, "must not be %q; the tenant allows %s", rule.Host, o.AllowedHostnames))
		}
	}
	for _, at := range places(r.Object) {
		for other := range h.known.byPlace.Get(at) {
			if other.Key() != r.Key && h.collides(o.HostnameCollisionScope, t, r.Key.Namespace, other.Namespace) {
				errs = append(errs, webhook.Invalid("spec.rules", "must not have host %q and path %q, because Ingress %s has them", at.host, at.path, other.Key()))
			}
		}
	}
	return errors.Join(errs...)
}

// collides reports whether Ingresses in the namespaces namespace and other must not have the same place.
func (h *hooks) collides(scope CollisionScope, t *Tenant, namespace, other string) bool {
	switch scope {
	case CollisionCluster:
		return true
	case CollisionTenant:
		ns, _ := h.known.namespaces.Reader().Get(meta.Key{Name: other})
		return ns != nil && ns.Labels[tenantLabel] == t.Name
	case CollisionNamespace:
		return namespace == other
	}
	return false
}

// place is a host and a path of an Ingress. Depending on HostnameCollisionScope, no other Ingress may have the same.
type place struct{ host, path string }

func places(in *networking.Ingress) (all []place) {
	for _, rule := range in.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		for _, p := range rule.HTTP.Paths {
			if at := (place{rule.Host, p.Path}); !slices.Contains(all, at) {
				all = append(all, at)
			}
		}
	}
	return all
}

func (h *hooks) defaultService(_ context.Context, t *Tenant, r *webhook.Request[*core.Service]) error {
	t.Spec.ServiceOptions.AdditionalMetadata.complete(&r.Object.ObjectMeta)
	return nil
}

func (h *hooks) checkService(_ context.Context, t *Tenant, r *webhook.Request[*core.Service]) error {
	o, s, before := t.Spec.ServiceOptions, r.Object.Spec, value(r.Old)
	errs := []error{
		o.ForbiddenLabels.newIn("metadata.labels", r.Object.Labels, before.Labels),
		o.ForbiddenAnnotations.newIn("metadata.annotations", r.Object.Annotations, before.Annotations),
	}
	for kind, allowed := range map[string]*bool{
		"NodePort": o.AllowedServices.NodePort, "ExternalName": o.AllowedServices.ExternalName, "LoadBalancer": o.AllowedServices.LoadBalancer,
	} {
		if string(s.Type) == kind && allowed != nil && !*allowed {
			errs = append(errs, webhook.Invalid("spec.type", "must not be %s in a namespace of tenant %q", kind, t.Name))
		}
	}
	if o.ExternalIPs != nil {
		for i, text := range s.ExternalIPs {
			address, err := netip.ParseAddr(text)
			if err != nil || !slices.ContainsFunc(o.ExternalIPs.Allowed, func(allowed string) bool {
				n, err := network(allowed)
				return err == nil && n.Contains(address)
			}) {
				errs = append(errs, webhook.Invalid(fmt.Sprintf("spec.externalIPs[%d]", i), "must be in %v, got %q", o.ExternalIPs.Allowed, text))
			}
		}
	}
	return errors.Join(errs...)
}
