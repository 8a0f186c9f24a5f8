package tenant

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/bowline-go/bowline/client/webhook"
)

// A tenant of v1beta1 has a label and annotations in the place of these fields of v1beta2. On a tenant of v1beta2 they
// have no meaning. Everything else that v1beta1 has no field for is in restKey.
const (
	cordonLabel    = Group + "/cordon"                          // "enabled" is Spec.Cordoned
	protectedKey   = Group + "/protected"                       // Spec.PreventDeletion, whatever the value
	noWildcardKey  = Group + "/deny-wildcard"                   // "true" is !IngressOptions.AllowWildcardHostnames
	labelsKey      = Group + "/forbidden-namespace-labels"      // NamespaceOptions.ForbiddenLabels
	annotationsKey = Group + "/forbidden-namespace-annotations" // NamespaceOptions.ForbiddenAnnotations
	regexSuffix    = "-regexp"                                  // the suffix of the two keys above, for DeniedRegex
	restKey        = Group + "/v1beta2"                         // a rest as JSON

	enabled, yes = "enabled", "true"
)

// rest has the values for which a tenant of v1beta1 has no other place. Some of them add to a field of v1beta1, such as
// a selector to the allowed classes. If a person removes that field, the values that add to it are dropped too.
type rest struct {
	ClusterRoles       map[string][]string `json:"clusterRoles,omitempty"` // by kind and name of the owner
	StorageClasses     *Selected           `json:"storageClasses,omitempty"`
	PriorityClasses    *Selected           `json:"priorityClasses,omitempty"`
	IngressClasses     *Selected           `json:"ingressClasses,omitempty"`
	RuntimeClasses     *Classes            `json:"runtimeClasses,omitempty"`
	PodOptions         *PodOptions         `json:"podOptions,omitempty"`
	ServiceLabels      *Forbidden          `json:"serviceLabels,omitempty"`
	ServiceAnnotations *Forbidden          `json:"serviceAnnotations,omitempty"`
}

// conversion is the step between the two versions.
func conversion() webhook.Step { return webhook.Between(OldTenants, Tenants, up, down) }

// up fills a tenant of v1beta2.
func up(_ context.Context, from *OldTenant, to *Tenant) error {
	var more rest
	if text, found := take(to.Annotations, restKey); found {
		d := json.NewDecoder(strings.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&more); err != nil {
			return fmt.Errorf("annotation %s: %w", restKey, err)
		}
	}
	old, spec := &from.Spec, &to.Spec
	to.Status, spec.Shared = from.Status, old.Shared
	for _, o := range old.Owners {
		spec.Owners = append(spec.Owners, Owner{
			Kind: o.Kind, Name: o.Name, ProxySettings: o.ProxySettings, ClusterRoles: more.ClusterRoles[ownerKey(o.Kind, o.Name)],
		})
	}
	if to.Labels[cordonLabel] == enabled {
		spec.Cordoned = true
		delete(to.Labels, cordonLabel)
	}
	if value, found := to.Annotations[protectedKey]; found {
		spec.PreventDeletion = true
		if value == yes {
			delete(to.Annotations, protectedKey)
		}
	}
	spec.IngressOptions.AllowWildcardHostnames = to.Annotations[noWildcardKey] != yes
	if !spec.IngressOptions.AllowWildcardHostnames {
		delete(to.Annotations, noWildcardKey)
	}
	spec.NamespaceOptions = NamespaceOptions{
		Quota: old.NamespaceOptions.Quota, AdditionalMetadata: old.NamespaceOptions.AdditionalMetadata,
		ForbiddenLabels: forbidden(to.Annotations, labelsKey), ForbiddenAnnotations: forbidden(to.Annotations, annotationsKey),
	}
	spec.ServiceOptions = ServiceOptions{
		AdditionalMetadata: old.ServiceOptions.AdditionalMetadata, AllowedServices: old.ServiceOptions.AllowedServices,
		ExternalIPs: old.ServiceOptions.ExternalIPs, ForbiddenLabels: value(more.ServiceLabels), ForbiddenAnnotations: value(more.ServiceAnnotations),
	}
	spec.PodOptions, spec.RuntimeClasses = value(more.PodOptions), more.RuntimeClasses
	spec.IngressOptions.AllowedClasses = classes(old.IngressOptions.AllowedClasses, more.IngressClasses)
	spec.IngressOptions.AllowedHostnames = old.IngressOptions.AllowedHostnames
	spec.IngressOptions.HostnameCollisionScope = old.IngressOptions.HostnameCollisionScope
	spec.StorageClasses = classes(old.StorageClasses, more.StorageClasses)
	spec.PriorityClasses = classes(old.PriorityClasses, more.PriorityClasses)
	return nil
}

// down fills a tenant of v1beta1.
func down(_ context.Context, from *Tenant, to *OldTenant) error {
	if to.Labels == nil {
		to.Labels = make(map[string]string)
	}
	if to.Annotations == nil {
		to.Annotations = make(map[string]string)
	}
	spec, old := &from.Spec, &to.Spec
	var more rest
	to.Status, old.Shared = from.Status, spec.Shared
	for _, o := range spec.Owners {
		old.Owners = append(old.Owners, OldOwner{Kind: o.Kind, Name: o.Name, ProxySettings: o.ProxySettings})
		if o.ClusterRoles != nil {
			if more.ClusterRoles == nil {
				more.ClusterRoles = make(map[string][]string)
			}
			more.ClusterRoles[ownerKey(o.Kind, o.Name)] = o.ClusterRoles
		}
	}
	say(to.Labels, cordonLabel, enabled, spec.Cordoned)
	if _, found := to.Annotations[protectedKey]; spec.PreventDeletion && !found {
		to.Annotations[protectedKey] = yes
	} else if !spec.PreventDeletion {
		delete(to.Annotations, protectedKey)
	}
	say(to.Annotations, noWildcardKey, yes, !spec.IngressOptions.AllowWildcardHostnames)
	forbid(to.Annotations, labelsKey, spec.NamespaceOptions.ForbiddenLabels)
	forbid(to.Annotations, annotationsKey, spec.NamespaceOptions.ForbiddenAnnotations)
	old.NamespaceOptions = OldNamespaceOptions{Quota: spec.NamespaceOptions.Quota, AdditionalMetadata: spec.NamespaceOptions.AdditionalMetadata}
	old.ServiceOptions = OldServiceOptions{
		AdditionalMetadata: spec.ServiceOptions.AdditionalMetadata, AllowedServices: spec.ServiceOptions.AllowedServices, ExternalIPs: spec.ServiceOptions.ExternalIPs,
	}
	more.ServiceLabels, more.ServiceAnnotations = filled(spec.ServiceOptions.ForbiddenLabels), filled(spec.ServiceOptions.ForbiddenAnnotations)
	more.PodOptions, more.RuntimeClasses = filled(spec.PodOptions), spec.RuntimeClasses
	old.IngressOptions.AllowedHostnames = spec.IngressOptions.AllowedHostnames
	old.IngressOptions.HostnameCollisionScope = spec.IngressOptions.HostnameCollisionScope
	old.IngressOptions.AllowedClasses, more.IngressClasses = split(spec.IngressOptions.AllowedClasses)
	old.StorageClasses, more.StorageClasses = split(spec.StorageClasses)
	old.PriorityClasses, more.PriorityClasses = split(spec.PriorityClasses)
	text, err := json.Marshal(more)
	if err != nil {
		return err
	}
	delete(to.Annotations, restKey)
	say(to.Annotations, restKey, string(text), !bytes.Equal(text, []byte("{}")))
	return nil
}

func ownerKey(kind OwnerKind, name string) string { return string(kind) + "/" + name }

// take returns a value, and removes it.
func take(from map[string]string, key string) (value string, found bool) {
	value, found = from[key]
	delete(from, key)
	return value, found
}

// say sets key to value if holds is true. Otherwise it removes key, if key has that value.
func say(to map[string]string, key, value string, holds bool) {
	switch {
	case holds:
		to[key] = value
	case to[key] == value:
		delete(to, key)
	}
}

// forbidden returns the keys that the two annotations forbid, and removes the annotations.
func forbidden(annotations map[string]string, key string) (f Forbidden) {
	if text, found := take(annotations, key); found {
		f.Denied = []string{}
		if text != "" {
			f.Denied = strings.Split(text, ",")
		}
	}
	if annotations[key+regexSuffix] != "" {
		f.DeniedRegex, _ = take(annotations, key+regexSuffix)
	}
	return f
}

// forbid writes the two annotations.
func forbid(annotations map[string]string, key string, f Forbidden) {
	delete(annotations, key)
	if f.Denied != nil {
		annotations[key] = strings.Join(f.Denied, ",")
	}
	if f.DeniedRegex != "" {
		annotations[key+regexSuffix] = f.DeniedRegex
	} else if annotations[key+regexSuffix] != "" {
		delete(annotations, key+regexSuffix)
	}
}

// classes joins the two parts of Classes. It returns nil if allowed is nil.
func classes(allowed *Allowed, more *Selected) *Classes {
	if allowed == nil {
		return nil
	}
	return &Classes{Allowed: *allowed, Selected: value(more)}
}

// split is the inverse of classes.
func split(c *Classes) (*Allowed, *Selected) {
	if c == nil {
		return nil, nil
	}
	return &c.Allowed, filled(c.Selected)
}

// filled returns a pointer to a value, or nil if the value is zero.
func filled[V any](v V) *V {
	if reflect.ValueOf(v).IsZero() {
		return nil
	}
	return &v
}

// value returns the value of a pointer, or zero.
func value[V any](p *V) (v V) {
	if p != nil {
		v = *p
	}
	return v
}
