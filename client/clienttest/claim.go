package clienttest

import (
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/quantity"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/clienttest/internal/strategy"
	"github.com/bowline-go/bowline/client/meta"
)

// A finalizer, which admission adds, protects a claim that a pod uses and a volume that belongs to a claim. The
// controllers that remove it do not run here, so this server drops it when the object is deleted.

// protect adds to a new object the finalizer that protects it.
func (r *resource) protect(d *object.Draft) {
	if r.protects != "" && !slices.Contains(d.Meta.Finalizers, r.protects) {
		d.Meta.Finalizers = append(d.Meta.Finalizers, r.protects)
	}
}

// unprotected returns finalizers without the one that protects an object.
func (r *resource) unprotected(finalizers []string) []string {
	if r.protects == "" {
		return finalizers
	}
	return slices.DeleteFunc(slices.Clone(finalizers), func(f string) bool { return f == r.protects })
}

// settleVolume protects a new volume, and records when the phase of a volume changes.
func settleVolume(c *call, _ store.Tx, old, d *object.Draft, _ bool) error {
	const changed = "lastPhaseTransitionTime"
	if old == nil {
		c.res.protect(d)
	}
	if c.Subresource != "status" {
		return nil
	}
	status, was := d.Member("status"), old.Member("status")
	switch same := status["phase"] == was["phase"]; {
	case same && status[changed] == nil && was[changed] != nil:
		status[changed] = was[changed]
	case !same && (status[changed] == nil || status[changed] == was[changed]):
		status[changed] = timeText(timestamp())
	}
	d.Content["status"] = status
	return nil
}

// settleClaim protects a new claim. The members dataSource and dataSourceRef both say where the data of the volume come
// from: if the claim has one of them, settleClaim copies it into the other. It drops the sources that a server ignores:
// one in another namespace, and a dataSource of an unknown kind.
func settleClaim(c *call, tx store.Tx, old, d *object.Draft, _ bool) error {
	switch {
	case c.Subresource != "":
		status := d.Member("status")
		delete(status, "healthStatus") // it needs the feature gate CSIVolumeHealth
		d.Content["status"] = status
		return nil
	case old != nil:
		if err := c.mayGrow(tx, old, d); err != nil {
			return err
		}
	default:
		c.res.protect(d)
		c.setClass(tx, d)
		old = &object.Draft{}
	}
	spec, was := d.Member("spec"), old.Member("spec")
	source, _ := spec["dataSource"].(jsontree.Object)
	ref, _ := spec["dataSourceRef"].(jsontree.Object)
	if was["dataSourceRef"] == nil && namespaceOf(ref) != "" {
		ref = nil
		delete(spec, "dataSourceRef")
	}
	if was["dataSource"] == nil && was["dataSourceRef"] == nil && ref == nil && !copiesVolume(source) {
		source = nil
		delete(spec, "dataSource")
	}
	switch {
	case source != nil && ref == nil:
		spec["dataSourceRef"] = jsontree.Clone(source)
	case source == nil && ref != nil && namespaceOf(ref) == "":
		copied, _ := jsontree.Clone(ref).(jsontree.Object)
		delete(copied, "namespace")
		spec["dataSource"] = copied
	}
	for _, name := range []string{"dataSource", "dataSourceRef"} {
		if m, ok := spec[name].(jsontree.Object); ok && m["apiGroup"] == nil {
			m["apiGroup"] = nil // a server always writes it
		}
	}
	d.Content["spec"] = spec
	return nil
}

// setClass gives a new claim without a class the default one.
func (c *call) setClass(tx store.Tx, d *object.Draft) {
	spec := d.Member("spec")
	if spec["storageClassName"] != nil || d.Meta.Annotations["volume.beta.kubernetes.io/storage-class"] != "" {
		return
	}
	class := defaultClass(tx, c.storageClasses(),
		"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
	if class != "" {
		spec["storageClassName"] = class
		d.Content["spec"] = spec
	}
}

func (c *call) storageClasses() *resource {
	return c.registry.named(meta.GVR{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"})
}

// mayGrow refuses a bound claim that asks for more, unless its class allows that.
func (c *call) mayGrow(tx store.Tx, old, d *object.Draft) error {
	size := func(d *object.Draft) quantity.Quantity {
		q, _ := quantity.Parse(jsontree.Lookup(d.Content, "spec.resources.requests.storage"))
		return q
	}
	is, was := size(d), size(old)
	grows := is.Amount != nil && was.Amount != nil && is.Amount.Cmp(was.Amount) > 0
	if !grows || jsontree.Lookup(old.Content, "status.phase") != "Bound" {
		return nil
	}
	name := jsontree.Lookup(d.Content, "spec.storageClassName")
	class := tx.Get(c.storageClasses().objects, meta.Key{Name: name})
	if class != nil && name == jsontree.Lookup(old.Content, "spec.storageClassName") &&
		class.Draft().Content["allowVolumeExpansion"] == true {
		return nil
	}
	return status.Forbidden(c.res, d.Meta.Name, "only dynamically provisioned pvc can be resized and the storageclass "+
		"that provisions the pvc must support resize")
}

func namespaceOf(ref jsontree.Object) string {
	s, _ := ref["namespace"].(string)
	return s
}

// copiesVolume reports whether a dataSource is a claim or a snapshot.
func copiesVolume(source jsontree.Object) bool {
	group, _ := source["apiGroup"].(string)
	return source["kind"] == "PersistentVolumeClaim" && group == "" ||
		source["kind"] == "VolumeSnapshot" && group == "snapshot.storage.k8s.io"
}

// settleAttributesClass protects a new VolumeAttributesClass.
func settleAttributesClass(c *call, _ store.Tx, old, d *object.Draft, _ bool) error {
	if old == nil {
		c.res.protect(d)
	}
	return nil
}

// settleCSIDriver counts the changes of a driver's spec in its generation, from zero.
func settleCSIDriver(_ *call, _ store.Tx, old, d *object.Draft, _ bool) error {
	if old != nil && !strategy.Same(d.Member("spec"), old.Member("spec")) {
		d.Meta.Generation = old.Meta.Generation + 1
	}
	return nil
}
