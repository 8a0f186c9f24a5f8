package clienttest

import (
	"maps"
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/clienttest/internal/strategy"
)

// settle changes the next state of an object where the server, and not the client, decides. It runs in the transaction
// of the write, before the object is checked. Nobody owns the fields that it sets. old is nil for a new object.
type settle func(c *call, tx store.Tx, old, d *object.Draft, dryRun bool) error

// settled returns d after settle, and d as the client meant it. The owners of fields are determined from the latter.
func (c *call) settled(tx store.Tx, old, d *object.Draft, dryRun bool) (settled, meant *object.Draft, _ error) {
	drop := c.res.Builtin && strategy.MayDrop(c.res.Of, d.Content)
	if c.res.admit == nil && c.res.settle == nil && !drop {
		return d, d, nil
	}
	settled = d.Clone()
	settled.Content, _ = jsontree.Clone(d.Content).(jsontree.Object)
	if drop {
		// The generation of a ResourceSlice also counts changes of fields that are dropped.
		if c.res.Kind == "ResourceSlice" && old != nil && !d.SameSpec(old, &c.res.Type) {
			settled.Meta.Generation = old.Meta.Generation + 1
		}
		strategies().DropDisabled(c.res.Of, settled.Content)
	}
	for _, step := range []settle{c.res.admit, c.res.settle} {
		if step != nil {
			if err := step(c, tx, old, settled, dryRun); err != nil {
				return nil, nil, err
			}
		}
	}
	return settled, d, nil
}

// settleNamespace adds the finalizer of namespaces to a new one, and keeps the finalizers of an old one.
func settleNamespace(c *call, _ store.Tx, old, d *object.Draft, _ bool) error {
	if c.Subresource != "" {
		return nil
	}
	spec := d.Member("spec")
	if old != nil {
		spec["finalizers"] = old.Member("spec")["finalizers"]
	} else if list, _ := spec["finalizers"].([]any); !slices.Contains(list, "kubernetes") {
		spec["finalizers"] = append(slices.Clone(list), "kubernetes")
	}
	if list, _ := spec["finalizers"].([]any); len(list) == 0 {
		delete(spec, "finalizers")
	}
	d.Content["spec"] = spec
	return nil
}

// awaitsClients reports whether a namespace has finalizers other than that of the server.
func awaitsClients(d *object.Draft) bool {
	list, _ := d.Member("spec")["finalizers"].([]any)
	return len(d.Meta.Finalizers) > 0 || slices.ContainsFunc(list, func(v any) bool { return v != "kubernetes" })
}

// settleNode drops the configuration of kubelets, which nodes no longer have, and an alpha field. A new node is not
// ready, and has the taint that says so.
func settleNode(_ *call, _ store.Tx, old, d *object.Draft, _ bool) error {
	for member, names := range map[string][]string{"spec": {"configSource", "podPreemptionPolicy"}, "status": {"config"}} {
		if m, found := d.Content[member].(jsontree.Object); found {
			for _, name := range names {
				delete(m, name)
			}
		}
	}
	if old == nil {
		addTaint(d, "node.kubernetes.io/not-ready", "NoSchedule")
	}
	return nil
}

// settleServiceAccount keeps only the names of a service account's secrets.
func settleServiceAccount(_ *call, _ store.Tx, _, d *object.Draft, _ bool) error {
	list, _ := d.Content["secrets"].([]any)
	for i, v := range list {
		m, _ := v.(jsontree.Object)
		list[i] = jsontree.Object{}
		if name := m["name"]; name != nil && name != "" {
			list[i] = jsontree.Object{"name": name}
		}
	}
	return nil
}

// settleEndpointSlice drops the topology of endpoints, which only v1beta1 had. An update that has one, or that changes
// labels, counts as a new generation.
func settleEndpointSlice(_ *call, _ store.Tx, old, d *object.Draft, _ bool) error {
	changed := old != nil && !maps.Equal(old.Meta.Labels, d.Meta.Labels)
	list, _ := d.Content["endpoints"].([]any)
	for _, v := range list {
		if m, _ := v.(jsontree.Object); m["deprecatedTopology"] != nil {
			delete(m, "deprecatedTopology")
			changed = true
		}
	}
	if old != nil && changed {
		d.Meta.Generation = old.Meta.Generation + 1
	}
	return nil
}

// settleAPIService says that a new API service without a service is available: the server serves it itself.
func settleAPIService(_ *call, _ store.Tx, old, d *object.Draft, _ bool) error {
	if old == nil && d.Member("spec")["service"] == nil {
		d.Content["status"] = jsontree.Object{"conditions": []any{jsontree.Object{
			"type": "Available", "status": "True", "reason": "Local", "message": "Local APIServices are always available",
			"lastTransitionTime": timeText(timestamp()),
		}}}
	}
	return nil
}

// settleResourceClaim drops the statuses that drivers have written for devices that are no longer allocated.
func settleResourceClaim(c *call, _ store.Tx, old, d *object.Draft, _ bool) error {
	if c.Subresource != "status" {
		return nil
	}
	status := d.Member("status")
	devices, _ := status["devices"].([]any)
	delete(status, "devices")
	if kept := strategy.Deallocated(devices, old.Member("status")["allocation"], status["allocation"]); len(kept) > 0 {
		status["devices"] = kept
	}
	d.Content["status"] = status
	return nil
}

// settleTaintRule sets the time at which the effect of a taint changes.
func settleTaintRule(c *call, _ store.Tx, old, d *object.Draft, _ bool) error {
	if c.Subresource != "" || old == nil {
		return nil
	}
	taint, _ := d.Member("spec")["taint"].(jsontree.Object)
	was, _ := old.Member("spec")["taint"].(jsontree.Object)
	if taint != nil && taint["effect"] != was["effect"] && taint["timeAdded"] == was["timeAdded"] {
		taint["timeAdded"] = timeText(timestamp())
	}
	return nil
}

// own records in d the owners of its fields, as the client meant them. The owners stay as they are if an element of a
// list has no key.
func (c *call) own(d, meant, old *object.Draft, manager string) {
	if c.res.Builtin && !c.res.Shape().Keyed(meant.Content) {
		if d.Meta.ManagedFields = nil; old != nil {
			d.Meta.ManagedFields = old.Meta.ManagedFields
		}
		return
	}
	if meant != d {
		c.res.Fill(meant)
	}
	c.manage(meant, old, manager)
	d.Meta.ManagedFields = meant.Meta.ManagedFields
}

// addTaint adds a taint to a node that does not have it.
func addTaint(d *object.Draft, key, effect string) {
	spec := d.Member("spec")
	taints, _ := spec["taints"].([]any)
	has := slices.ContainsFunc(taints, func(v any) bool {
		t, _ := v.(jsontree.Object)
		return t["key"] == key && t["effect"] == effect
	})
	if !has {
		spec["taints"] = append(slices.Clone(taints), jsontree.Object{"key": key, "effect": effect})
	}
	d.Content["spec"] = spec
}
