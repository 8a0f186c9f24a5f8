package clienttest

import (
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/meta"
)

// admitIngress gives a new ingress that names no class the default class of the server, if there is one.
func admitIngress(c *call, tx store.Tx, old, d *object.Draft, _ bool) error {
	spec := d.Member("spec")
	_, annotated := d.Meta.Annotations["kubernetes.io/ingress.class"]
	if old != nil || annotated || spec["ingressClassName"] != nil {
		return nil
	}
	classes := c.registry.named(meta.GVR{Group: "networking.k8s.io", Version: "v1", Resource: "ingressclasses"})
	if class := defaultClass(tx, classes, "ingressclass.kubernetes.io/is-default-class"); class != "" {
		spec["ingressClassName"] = class
		d.Content["spec"] = spec
	}
	return nil
}

// defaultClass returns the name of the default class, or "" if there is none. A class is the default one if one of the
// annotations says so. If there are several, it returns the newest. If two were created in the same second, it returns
// the first by name.
func defaultClass(tx store.Tx, classes *resource, annotations ...string) string {
	var newest meta.ObjectMeta
	for v := range tx.Objects(classes.objects, "") { // by name
		m := v.Draft().Meta
		isDefault := slices.ContainsFunc(annotations, func(name string) bool { return m.Annotations[name] == "true" })
		if isDefault && (newest.Name == "" || m.CreationTimestamp.After(newest.CreationTimestamp.Time)) {
			newest = m
		}
	}
	return newest.Name
}
