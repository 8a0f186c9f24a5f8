package clienttest

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/quantity"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/meta"
)

// runtimeClass returns the RuntimeClass of a pod; empty if it names none.
func (c *call) runtimeClass(tx store.Tx, pod string, spec jsontree.Object) (jsontree.Object, error) {
	name, named := spec["runtimeClassName"].(string)
	switch {
	case !named:
		return nil, nil
	case name == "":
		return nil, errors.New("resource name may not be empty")
	}
	kind := c.registry.named(meta.GVR{Group: "node.k8s.io", Version: "v1", Resource: "runtimeclasses"})
	found := tx.Get(kind.objects, meta.Key{Name: name})
	if found == nil {
		return nil, status.Forbidden(c.res, pod, "pod rejected: RuntimeClass %q not found", name)
	}
	return found.Draft().Content, nil
}

// applyRuntimeClass gives the spec of a new pod the overhead of its RuntimeClass, and adds what the class says about
// nodes. The pod may have no other overhead.
func (c *call) applyRuntimeClass(tx store.Tx, pod string, spec jsontree.Object) error {
	class, err := c.runtimeClass(tx, pod, spec)
	if err != nil {
		return err
	}
	own, _ := spec["overhead"].(jsontree.Object)
	overhead, defined := class["overhead"].(jsontree.Object)
	fixed, _ := overhead["podFixed"].(jsontree.Object)
	switch {
	case defined && len(own) > 0 && !maps.EqualFunc(own, fixed, sameAmount):
		return status.Forbidden(c.res, pod, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
	case len(fixed) > 0:
		spec["overhead"] = jsontree.Clone(fixed)
	}
	scheduling, found := class["scheduling"].(jsontree.Object)
	if !found {
		return nil
	}
	nodes, _ := spec["nodeSelector"].(jsontree.Object)
	wanted, _ := scheduling["nodeSelector"].(jsontree.Object)
	for key, text := range wanted {
		if is := nodes[key]; is != nil && is != text {
			return status.Forbidden(c.res, pod, "conflict: runtimeClass.scheduling.nodeSelector[%s] = %s; pod.spec.nodeSelector[%s] = %s",
				key, text, key, is)
		}
	}
	if len(wanted) > 0 {
		all, _ := jsontree.Clone(wanted).(jsontree.Object)
		maps.Copy(all, nodes)
		spec["nodeSelector"] = all
	}
	tolerations, _ := spec["tolerations"].([]any)
	more, _ := scheduling["tolerations"].([]any)
	spec["tolerations"] = mergeTolerations(tolerations, more)
	return nil
}

// refusePod refuses a pod with an overhead that is not its RuntimeClass's.
func refusePod(c *call, tx store.Tx, d *object.Draft) error {
	spec := d.Member("spec")
	class, err := c.runtimeClass(tx, d.Meta.Name, spec)
	if err == nil && class["overhead"] == nil && spec["overhead"] != nil {
		err = status.Forbidden(c.res, d.Meta.Name, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
	}
	return err
}

// sameAmount reports whether two quantities are the same amount.
func sameAmount(a, b any) bool {
	x, errX := quantity.Parse(amountText(a))
	y, errY := quantity.Parse(amountText(b))
	return errX == nil && errY == nil && x.Amount.Cmp(y.Amount) == 0
}

func amountText(v any) string {
	if n, isNumber := v.(json.Number); isNumber {
		return n.String()
	}
	text, _ := v.(string)
	return text
}

// mergeTolerations returns the tolerations of two lists without those that another covers.
func mergeTolerations(first, second []any) (merged []any) {
	all := slices.Concat(first, second)
	for i, v := range all {
		t, _ := v.(jsontree.Object)
		covered := func(by any) bool {
			other, _ := by.(jsontree.Object)
			return covers(other, t)
		}
		coveredLater := func(by any) bool { return !jsontree.Equal(by, v) && covered(by) }
		if !slices.ContainsFunc(merged, covered) && !slices.ContainsFunc(all[i+1:], coveredLater) {
			merged = append(merged, v)
		}
	}
	return merged
}

// covers reports whether a toleration tolerates all that another does.
func covers(a, b jsontree.Object) bool {
	text := func(t jsontree.Object, name string) string { return textOf(t[name]) }
	key, operator, effect := text(a, "key"), text(a, "operator"), text(a, "effect")
	switch {
	case jsontree.Equal(a, b):
		return true
	case key != text(b, "key") && (key != "" || operator != "Exists"), effect != text(b, "effect") && effect != "":
		return false
	case effect == "NoExecute" && a["tolerationSeconds"] != nil && (b["tolerationSeconds"] == nil || seconds(b) > seconds(a)):
		return false
	case operator == "Exists":
		return true
	}
	return (operator == "Equal" || operator == "") && text(b, "operator") == "Equal" && text(a, "value") == text(b, "value")
}

func textOf(v any) string {
	text, _ := v.(string)
	return text
}

// seconds returns for how long a toleration holds.
func seconds(toleration jsontree.Object) int64 {
	n, _ := toleration["tolerationSeconds"].(json.Number)
	i, _ := n.Int64()
	return i
}
