// Package limits applies LimitRanges to pods and claims: it gives containers requests and limits, and refuses amounts,
// in kube-apiserver's words.
package limits

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/demand"
	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/quantity"
)

// Range is a LimitRange.
type Range struct{ limits []limit }

// limit has the limits of a LimitRange for one type of objects.
type limit struct {
	of                          string // Container, Pod or PersistentVolumeClaim
	defaults, requests          quantity.List
	least, most, limitToRequest quantity.List
}

// Read reads a LimitRange from the content of the object.
func Read(content jsontree.Object) Range {
	spec, _ := content["spec"].(jsontree.Object)
	list, _ := spec["limits"].([]any)
	r := Range{}
	for _, v := range list {
		m, _ := v.(jsontree.Object)
		of, _ := m["type"].(string)
		r.limits = append(r.limits, limit{
			of:       of,
			defaults: quantity.Read(m["default"]), requests: quantity.Read(m["defaultRequest"]),
			least: quantity.Read(m["min"]), most: quantity.Read(m["max"]), limitToRequest: quantity.Read(m["maxLimitRequestRatio"]),
		})
	}
	return r
}

// Complete gives the containers in the spec of a pod the requests and limits that they lack. It returns the text of the
// annotation that says so, which is empty if the containers lack nothing. The spec must be the caller's own.
func (r Range) Complete(spec jsontree.Object) string {
	limits, requests := quantity.List{}, quantity.List{}
	for _, l := range r.limits {
		if l.of == "Container" {
			maps.Copy(limits, l.defaults)
			maps.Copy(requests, l.requests)
		}
	}
	var set []string
	for _, kind := range []struct{ list, name string }{{"containers", "container"}, {"initContainers", "init container"}} {
		list, _ := spec[kind.list].([]any)
		for _, v := range list {
			container, _ := v.(jsontree.Object)
			for _, part := range []struct {
				member, name string
				from         quantity.List
			}{{"requests", "request", requests}, {"limits", "limit", limits}} {
				if names := complete(container, part.member, part.from); len(names) > 0 {
					set = append(set, fmt.Sprintf("%s %s for %s %v", strings.Join(names, ", "), part.name, kind.name, container["name"]))
				}
			}
		}
	}
	if len(set) == 0 {
		return ""
	}
	return "LimitRanger plugin set: " + strings.Join(set, "; ")
}

// complete adds to the requests or limits of a container those that it lacks, and returns their names.
func complete(container jsontree.Object, member string, from quantity.List) []string {
	if container == nil || len(from) == 0 {
		return nil
	}
	resources, _ := container["resources"].(jsontree.Object)
	list, _ := resources[member].(jsontree.Object)
	var names []string
	for _, name := range from.Names() {
		if list[name] != nil {
			continue
		}
		if list == nil {
			list = jsontree.Object{}
		}
		list[name] = from[name].String()
		names = append(names, name)
	}
	if len(names) > 0 {
		if resources == nil {
			resources = jsontree.Object{}
		}
		resources[member] = list
		container["resources"] = resources
	}
	return names
}

// CheckPod returns why a pod is refused, or nil.
func (r Range) CheckPod(content jsontree.Object) error {
	pod := demand.Of(content)
	why := reasons{}
	for _, l := range r.limits {
		switch l.of {
		case "Container":
			for _, c := range append(pod.Containers("containers"), pod.Containers("initContainers")...) {
				why.check(l, c.Requests, c.Limits)
			}
		case "Pod":
			requests, limits := pod.Specified()
			ownRequests, ownLimits := pod.Own()
			whole := []string{"cpu", "memory"}
			maps.Copy(requests, ownRequests.Only(whole))
			maps.Copy(limits, ownLimits.Only(whole))
			why.check(l, requests, limits)
		}
	}
	return why.err()
}

// CheckClaim returns why a PersistentVolumeClaim is refused, or nil. It compares only requests, because a claim has no
// limits.
func (r Range) CheckClaim(content jsontree.Object) error {
	requests, _ := demand.Of(jsontree.Object{"spec": content["spec"]}).Own()
	why := reasons{}
	for _, l := range r.limits {
		if l.of != "PersistentVolumeClaim" {
			continue
		}
		for _, name := range l.least.Names() {
			why.atLeast(l, name, requests, nil)
		}
		for _, name := range l.most.Names() {
			why.requestAtMost(l, name, requests)
		}
	}
	return why.err()
}

// reasons are the reasons why an object is refused.
type reasons struct{ texts []string }

func (r *reasons) add(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.texts, text) {
		r.texts = append(r.texts, text)
	}
}

func (r *reasons) err() error {
	switch len(r.texts) {
	case 0:
		return nil
	case 1:
		return errors.New(r.texts[0])
	}
	return errors.New("[" + strings.Join(r.texts, ", ") + "]")
}

// check compares requests and limits with those of a limit.
func (r *reasons) check(l limit, requests, limits quantity.List) {
	for _, name := range l.least.Names() {
		r.atLeast(l, name, requests, limits)
	}
	for _, name := range l.most.Names() {
		r.atMost(l, name, requests, limits)
	}
	for _, name := range l.limitToRequest.Names() {
		r.ratio(l, name, requests, limits)
	}
}

func (r *reasons) atLeast(l limit, name string, requests, limits quantity.List) {
	bound := l.least[name]
	request, requested := requests[name]
	limit, limited := limits[name]
	const least = "minimum %s usage per %s is %s"
	switch {
	case !requested:
		r.add(least+".  No request is specified", name, l.of, bound)
	case compare(request, bound) < 0:
		r.add(least+", but request is %s", name, l.of, bound, request)
	case limited && compare(limit, bound) < 0:
		r.add(least+", but limit is %s", name, l.of, bound, limit)
	}
}

const atMost = "maximum %s usage per %s is %s"

func (r *reasons) atMost(l limit, name string, requests, limits quantity.List) {
	bound := l.most[name]
	request, requested := requests[name]
	limit, limited := limits[name]
	switch {
	case !limited:
		r.add(atMost+".  No limit is specified", name, l.of, bound)
	case compare(limit, bound) > 0:
		r.add(atMost+", but limit is %s", name, l.of, bound, limit)
	case requested && compare(request, bound) > 0:
		r.add(atMost+", but request is %s", name, l.of, bound, request)
	}
}

func (r *reasons) requestAtMost(l limit, name string, requests quantity.List) {
	bound := l.most[name]
	request, requested := requests[name]
	switch {
	case !requested:
		r.add(atMost+".  No request is specified", name, l.of, bound)
	case compare(request, bound) > 0:
		r.add(atMost+", but request is %s", name, l.of, bound, request)
	}
}

func (r *reasons) ratio(l limit, name string, requests, limits quantity.List) {
	bound := l.limitToRequest[name]
	const ratio = "%s max limit to request ratio per %s is %s, but "
	request, requested := requests[name]
	limit, limited := limits[name]
	switch {
	case !requested || request.Amount.Sign() == 0:
		r.add(ratio+"no request is specified or request is 0", name, l.of, bound)
		return
	case !limited || limit.Amount.Sign() == 0:
		r.add(ratio+"no limit is specified or limit is 0", name, l.of, bound)
		return
	}
	is := float(limit) / float(request)
	if is*1000 > float(bound) {
		r.add(ratio+"provided ratio is %f", name, l.of, bound, is)
	}
}

// compare compares amounts in thousandths, as a server does.
func compare(a, b quantity.Quantity) int { return a.RoundUp().Amount.Cmp(b.RoundUp().Amount) }

// float returns an amount in thousandths.
func float(q quantity.Quantity) float64 {
	f, _ := new(big.Rat).Mul(q.RoundUp().Amount, big.NewRat(1000, 1)).Float64()
	return f
}
