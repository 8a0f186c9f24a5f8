package clienttest

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/clienttest/internal/strategy"
	"github.com/bowline-go/bowline/client/meta"
)

// The plugins of a real server that change pods by default: LimitRanger, Priority, DefaultTolerationSeconds and
// RuntimeClass.

// settlePod completes a new pod.
func settlePod(c *call, _ store.Tx, old, d *object.Draft, _ bool) error {
	if c.Subresource != "" {
		return nil
	}
	if old == nil {
		completePod(d)
	}
	return nil
}

// admitPod sets the resources of a pod, its priority, and for how long it stays on a node that fails.
func admitPod(c *call, tx store.Tx, old, d *object.Draft, _ bool) error {
	if old == nil || c.Subresource == "resize" {
		c.completeResources(tx, old, d)
	}
	spec, _ := d.Content["spec"].(jsontree.Object)
	if spec == nil || c.Subresource != "" {
		return nil
	}
	if !c.options.Lenient {
		strategies().DropDisabled(c.res.Of, d.Content)
	}
	tolerateFailures(spec)
	if old == nil {
		if err := c.setPriority(tx, d.Meta.Name, spec); err != nil {
			return err
		}
		return c.applyRuntimeClass(tx, d.Meta.Name, spec)
	}
	was := old.Member("spec")
	for _, name := range []string{"priority", "preemptionPolicy", "resources"} {
		if spec[name] == nil && was[name] != nil {
			spec[name] = was[name]
		}
	}
	return nil
}

// tolerateFailures adds the tolerations for nodes that are not ready or not reachable, unless the pod has its own.
func tolerateFailures(spec jsontree.Object) {
	list, _ := spec["tolerations"].([]any)
	for _, taint := range []string{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"} {
		if !slices.ContainsFunc(list, func(v any) bool {
			t, _ := v.(jsontree.Object)
			key, _ := t["key"].(string)
			effect, _ := t["effect"].(string)
			return (key == taint || key == "") && (effect == "NoExecute" || effect == "")
		}) {
			list = append(slices.Clip(list), jsontree.Object{
				"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": json.Number("300"),
			})
		}
	}
	spec["tolerations"] = list
}

// setPriority gives a new pod the priority and the preemption policy of its class. It refuses a pod that sets others.
func (c *call) setPriority(tx store.Tx, pod string, spec jsontree.Object) error {
	name, _ := spec["priorityClassName"].(string)
	class := c.priorityClass(tx, name)
	if class == nil {
		return status.Forbidden(c.res, pod, "no PriorityClass with name %s was found", name)
	}
	if name, _ := class["name"].(string); name != "" {
		spec["priorityClassName"] = name
	}
	if is := spec["priority"]; is != nil && is != class["value"] {
		return status.Forbidden(c.res, pod, "the integer value of priority (%v) must not be provided in pod spec; priority admission "+
			"controller computed %v from the given PriorityClass name", is, class["value"])
	}
	spec["priority"] = class["value"]
	policy := class["preemptionPolicy"]
	if is := spec["preemptionPolicy"]; is != nil && policy != nil && is != policy {
		return status.Forbidden(c.res, pod, "the string value of PreemptionPolicy (%v) must not be provided in pod spec; priority admission "+
			"controller computed %v from the given PriorityClass name", is, policy)
	}
	if policy != nil {
		spec["preemptionPolicy"] = policy
	}
	return nil
}

// priorityClass returns the name, the value and the policy of a PriorityClass, or of the default one if name is empty;
// nil if there is none. The two classes that every cluster has need not exist.
func (c *call) priorityClass(tx store.Tx, name string) jsontree.Object {
	const lower = "PreemptLowerPriority"
	kind := c.registry.named(meta.GVR{Group: "scheduling.k8s.io", Version: "v1", Resource: "priorityclasses"})
	if v := tx.Get(kind.objects, meta.Key{Name: name}); v != nil {
		return priorityOf(v)
	}
	best := jsontree.Object(nil)
	for v := range tx.Objects(kind.objects, "") {
		if name != "" || !bytes.Contains(v.Raw, []byte(`"globalDefault":true`)) {
			continue
		}
		if class := priorityOf(v); best == nil || valueOf(class) < valueOf(best) {
			best = class
		}
	}
	switch {
	case best != nil:
		return best
	case name == "":
		return jsontree.Object{"value": json.Number("0"), "preemptionPolicy": lower}
	case name == "system-cluster-critical":
		return jsontree.Object{"name": name, "value": json.Number("2000000000"), "preemptionPolicy": lower}
	case name == "system-node-critical":
		return jsontree.Object{"name": name, "value": json.Number("2000001000"), "preemptionPolicy": lower}
	}
	return nil
}

// priorityOf returns the name, the value and the policy of a PriorityClass.
func priorityOf(v *object.Revision) jsontree.Object {
	d := v.Draft()
	class := jsontree.Object{"name": d.Meta.Name, "value": d.Content["value"], "preemptionPolicy": d.Content["preemptionPolicy"]}
	if class["value"] == nil {
		class["value"] = json.Number("0")
	}
	return class
}

// valueOf returns the priority of a class.
func valueOf(class jsontree.Object) int {
	text, _ := class["value"].(json.Number)
	n, _ := strconv.Atoi(string(text)) // it was checked
	return n
}

// completePod completes the spec and the status of a new pod.
func completePod(d *object.Draft) {
	spec, _ := d.Content["spec"].(jsontree.Object)
	if spec == nil {
		return
	}
	labels := jsontree.Object{}
	for name, text := range d.Meta.Labels {
		labels[name] = text
	}
	strategy.CompletePodSpec(spec, labels)
	first, _ := d.Content["status"].(jsontree.Object)
	if first == nil {
		return
	}
	first["qosClass"] = strategy.QOSClass(d.Content)
	if gates, _ := spec["schedulingGates"].([]any); len(gates) > 0 {
		first["conditions"] = []any{jsontree.Object{
			"type": "PodScheduled", "status": "False", "reason": "SchedulingGated", "lastProbeTime": nil,
			"lastTransitionTime": timeText(timestamp()), "message": "Scheduling is blocked due to non-empty scheduling gates",
		}}
	}
}

// podStatusPart is statusPart, for the status of a pod. If a writer leaves out one of the members below, which it may
// not know, the old value stays.
func podStatusPart(old, d *object.Draft) *object.Draft {
	d = statusPart(old, d)
	was, written := old.Member("status"), d.Member("status")
	for _, name := range []string{"qosClass", "observedGeneration", "resourceClaimStatuses", "extendedResourceClaimStatus"} {
		if written[name] == nil && was[name] != nil {
			written[name] = was[name]
		}
	}
	d.Content["status"] = written
	return d
}
