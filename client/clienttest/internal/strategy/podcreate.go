package strategy

import (
	"math/big"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	amounts "github.com/bowline-go/bowline/client/clienttest/internal/quantity"
)

// CompletePodSpec adds to the spec of a new pod the members that a server adds when the pod is created: the labels that
// terms take from the pod, and the resources of the whole pod that follow from those of its containers.
func CompletePodSpec(spec, labels jsontree.Object) {
	for _, name := range []string{"podAffinity", "podAntiAffinity"} {
		affinity := inner(inner(spec, "affinity"), name)
		each(affinity["requiredDuringSchedulingIgnoredDuringExecution"], func(term jsontree.Object) { addLabels(term, labels) })
		each(affinity["preferredDuringSchedulingIgnoredDuringExecution"], func(term jsontree.Object) {
			addLabels(inner(term, "podAffinityTerm"), labels)
		})
	}
	each(spec["topologySpreadConstraints"], func(term jsontree.Object) { addLabels(term, labels) })
	completePodResources(spec)
}

// each calls f for the objects of a list.
func each(list any, f func(jsontree.Object)) {
	elements, _ := list.([]any)
	for _, e := range elements {
		if m, ok := e.(jsontree.Object); ok {
			f(m)
		}
	}
}

// addLabels adds requirements to the selector of a term: the values of labels that the pod has.
func addLabels(term, labels jsontree.Object) {
	selector := inner(term, "labelSelector")
	if selector == nil {
		return
	}
	expressions, _ := selector["matchExpressions"].([]any)
	add := func(keys, operator string) {
		list, _ := term[keys].([]any)
		for _, key := range list {
			name, _ := key.(string)
			if text, found := labels[name]; found {
				expressions = append(expressions, jsontree.Object{"key": name, "operator": operator, "values": []any{text}})
			}
		}
	}
	add("matchLabelKeys", "In")
	add("mismatchLabelKeys", "NotIn")
	if len(expressions) > 0 {
		selector["matchExpressions"] = expressions
	}
}

// completePodResources completes the requests and the limits of a whole pod, if it has any.
func completePodResources(spec jsontree.Object) {
	resources := inner(spec, "resources")
	limits, requests := inner(resources, "limits"), inner(resources, "requests")
	if len(limits)+len(requests) == 0 {
		return
	}
	if limits == nil {
		limits = jsontree.Object{}
	}
	if requests == nil {
		requests = jsontree.Object{}
	}
	p := pod{value: value{to: &report{}, is: spec}}
	requested, limited := p.sum("requests"), p.sum("limits")
	for name, sum := range limited {
		if strings.HasPrefix(name, "hugepages-") && requests[name] == nil {
			setDefault(limits, name, amountText(name, sum))
		}
	}
	for name, sum := range requested {
		if name == "cpu" || name == "memory" {
			setDefault(requests, name, amountText(name, sum))
		}
	}
	for name, limit := range limits {
		if forPods(name) {
			setDefault(requests, name, limit)
		}
	}
	for name, request := range requests {
		if forPods(name) && limits[name] == nil && p.allLimit(name) {
			limits[name] = amountText(name, limited[name])
			if quantity(request).Cmp(limited[name]) > 0 {
				limits[name] = request
			}
		}
	}
	for name, list := range map[string]jsontree.Object{"limits": limits, "requests": requests} {
		if len(list) > 0 {
			resources[name] = list
		}
	}
}

// allLimit reports whether all containers limit a resource.
func (p pod) allLimit(name string) bool {
	for _, c := range p.containers() {
		if !c.at("resources", "limits").key(name).exists() {
			return false
		}
	}
	return true
}

// amountText writes the amount of a resource; of a processor in decimals, and of memory in powers of 1024.
func amountText(name string, amount *big.Rat) string {
	return amounts.Of(amount, name != "cpu").String()
}
