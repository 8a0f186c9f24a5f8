package strategy

import (
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// checkChange checks the changes of a pod. Only a few fields may change.
func (p pod) checkChange() {
	if jsontree.Equal(p.is, p.was) {
		return
	}
	old := before(p.value)
	for _, name := range []string{"containers", "initContainers"} {
		list := p.at(name)
		if list.len() != before(list).len() {
			list.forbidden("pod updates may not add or remove containers")
			return
		}
		for _, c := range list.items() {
			c.at("image").must()
			checkImageSpace(c)
		}
	}
	if !p.checkDeadline() {
		return
	}
	checkOnlyAdded(p.at("tolerations"))
	gates := namesOf(before(p.at("schedulingGates"))).all
	for _, gate := range p.at("schedulingGates").items() {
		if name := gate.at("name"); !slices.Contains(gates, name.text()) {
			name.forbidden("only deletion is allowed, but found new scheduling gate '%s'", name.text())
		}
	}
	is, _ := jsontree.Clone(p.is).(jsontree.Object)
	was, _ := p.was.(jsontree.Object)
	for _, name := range []string{"containers", "initContainers"} {
		copyImages(is[name], was[name])
	}
	for _, name := range []string{"activeDeadlineSeconds", "tolerations", "schedulingGates"} {
		is[name] = was[name]
	}
	if before(p.at("terminationGracePeriodSeconds")).number() < 0 && p.at("terminationGracePeriodSeconds").number() == 1 {
		is["terminationGracePeriodSeconds"] = was["terminationGracePeriodSeconds"]
	}
	if len(gates) > 0 {
		p.checkGatedChange(is, was)
	}
	if !sameSpec(is, old.is) {
		p.forbidden("pod updates may not change fields other than the images of containers, activeDeadlineSeconds and tolerations")
	}
}

// copyImages replaces the images of containers by those of others.
func copyImages(is, was any) {
	list, _ := is.([]any)
	old, _ := was.([]any)
	for i, c := range list {
		container, _ := c.(jsontree.Object)
		other, _ := old[i].(jsontree.Object)
		if container != nil && other != nil {
			container["image"] = other["image"]
		}
	}
}

// checkDeadline checks that the deadline of a pod only gets shorter.
func (p pod) checkDeadline() bool {
	v := p.at("activeDeadlineSeconds")
	was := before(v)
	switch {
	case v.exists() && (v.number() < 0 || v.number() > 1<<31-1):
		v.invalid("must be between 0 and 2147483647, inclusive")
		return false
	case v.exists() && was.exists() && was.number() < v.number():
		v.invalid("must be less than or equal to previous value")
		return false
	case !v.exists() && was.exists():
		v.invalid("must not update from a positive integer to nil value")
	}
	return true
}

// checkOnlyAdded refuses to remove a toleration, or to change more of it than its tolerationSeconds.
func checkOnlyAdded(list value) {
	for _, old := range before(list).items() {
		if !slices.ContainsFunc(list.items(), func(v value) bool {
			return sameSpec(without(v.is, "tolerationSeconds"), without(old.is, "tolerationSeconds"))
		}) {
			list.forbidden("existing toleration can not be modified except its tolerationSeconds")
			return
		}
	}
}

// without returns a copy of an object that lacks a member.
func without(v any, name string) jsontree.Object {
	m, _ := jsontree.Clone(v).(jsontree.Object)
	delete(m, name)
	return m
}

// checkGatedChange checks the changes of a pod that still has scheduling gates: its requirements for nodes may become
// stricter. It undoes the allowed changes in is.
func (p pod) checkGatedChange(is, was jsontree.Object) {
	labels := p.at("nodeSelector")
	for _, name := range before(labels).keys() {
		if labels.key(name).is != labels.key(name).was {
			labels.invalid("only additions to spec.nodeSelector are allowed (no mutations or deletions)")
			break
		}
	}
	is["nodeSelector"] = was["nodeSelector"]
	node := p.at("affinity", "nodeAffinity")
	if sameSpec(node.is, node.was) {
		return
	}
	checkNodeAffinityChange(node.at("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"))
	affinity, _ := is["affinity"].(jsontree.Object)
	if affinity == nil {
		affinity = jsontree.Object{}
	}
	if delete(affinity, "nodeAffinity"); node.was != nil {
		affinity["nodeAffinity"] = node.was
	}
	if is["affinity"] = affinity; len(affinity) == 0 && was["affinity"] == nil {
		delete(is, "affinity")
	}
}

// checkNodeAffinityChange checks that each of the terms only got more requirements.
func checkNodeAffinityChange(terms value) {
	old := before(terms)
	switch {
	case old.len() == 0:
		return
	case terms.len() != old.len():
		terms.invalid("no additions/deletions to non-empty NodeSelectorTerms list are allowed")
		return
	}
	for _, term := range terms.items() {
		was := before(term)
		if was.at("matchExpressions").len()+was.at("matchFields").len() == 0 && !sameSpec(term.is, was.is) {
			term.invalid("only additions are allowed (no mutations or deletions)")
			continue
		}
		for _, name := range []string{"matchExpressions", "matchFields"} {
			if list := term.at(name); !startsWith(list.list(), before(list).list()) {
				term.invalid("only additions are allowed (no mutations or deletions)")
				break
			}
		}
	}
}

// startsWith reports whether a list starts with the elements of another.
func startsWith(list, start []any) bool {
	return len(list) >= len(start) && sameSpec(list[:len(start)], start)
}

// sameSpec reports whether two values mean the same in a compiled-in type, which does not tell an empty list from an
// absent one.
func sameSpec(a, b any) bool { return jsontree.Equal(emptied(a), emptied(b)) }

// Same is sameSpec.
func Same(a, b any) bool { return sameSpec(a, b) }

// emptied returns a value without empty lists, and without empty objects that are not pointers.
func emptied(v any) any {
	switch v := v.(type) {
	case jsontree.Object:
		out := jsontree.Object{}
		for name, e := range v {
			list, isList := e.([]any)
			m, isObject := e.(jsontree.Object)
			// These are written even if they are not set.
			written := isObject && len(m) == 0 && v["containers"] == nil && (name == "resources" || name == "metadata")
			if e != nil && !written && (!isList || len(list) > 0) {
				out[name] = emptied(e)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = emptied(e)
		}
		return out
	}
	return v
}

// checkEphemeralChange checks that no ephemeral container is removed or changed.
func (p pod) checkEphemeralChange() {
	list := p.at("ephemeralContainers")
	for _, old := range before(list).items() {
		if !slices.ContainsFunc(list.items(), func(c value) bool { return sameSpec(c.is, old.is) }) {
			list.forbidden("existing ephemeral containers may not be removed or changed")
		}
	}
}

// checkResize checks the changes of the resources of containers.
func (p pod) checkResize() {
	if qosClass(p.is) != qosClass(p.was) {
		p.invalid("Pod QOS Class may not change as a result of resizing")
	}
	parts := []value{p.at("resources")}
	for _, name := range []string{"initContainers", "containers"} {
		list := p.at(name)
		if list.len() != before(list).len() {
			list.forbidden("containers may not be added or removed on resize")
			return
		}
		for _, c := range list.items() {
			if c.at("name").text() != before(c.at("name")).text() {
				c.at("name").forbidden("containers may not be renamed or reordered on resize")
				return
			}
			parts = append(parts, c.at("resources"))
		}
	}
	for _, v := range parts {
		for _, name := range []string{"requests", "limits"} {
			p.checkResized(v.at(name))
		}
	}
}

// checkResized checks that no resource is removed, and that only the amounts of cpu and memory change.
func (p pod) checkResized(list value) {
	for _, name := range before(list).keys() {
		if !list.key(name).exists() {
			list.forbidden("resources cannot be removed")
			break
		}
	}
	for _, name := range list.keys() {
		v := list.key(name)
		if name == "cpu" || name == "memory" || v.exists() && v.amount().Cmp(before(v).amount()) == 0 {
			continue
		}
		if i := strings.Index(v.path, "spec.initContainers"); i >= 0 {
			v.path = v.path[:strings.Index(v.path, "]")+1]
			v.forbidden("only cpu and memory resources for init or sidecar containers are mutable")
		} else {
			p.forbidden("only cpu and memory resources are mutable")
		}
	}
}
