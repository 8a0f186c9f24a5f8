// Package demand computes which resources a pod asks for. Its containers run side by side, and its init containers run
// before them one after another, except for those that are restarted: these run beside everything that follows. See
// KEP-753 (sidecar containers), KEP-1287 (resize) and KEP-2837 (resources of a pod).
package demand

import (
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/quantity"
)

// Pod is a pod whose demand is asked for.
type Pod struct{ spec, status jsontree.Object }

// Of reads the spec and the status of a pod from the content of the object.
func Of(content jsontree.Object) Pod { return Pod{inner(content, "spec"), inner(content, "status")} }

// Container is a container of a pod.
type Container struct {
	Name             string
	Requests, Limits quantity.List
	stays            bool // an init container that is restarted
}

// Containers returns the containers of a pod; list is containers or initContainers.
func (p Pod) Containers(list string) []Container {
	all := objects(p.spec, list)
	containers := make([]Container, 0, len(all))
	for _, m := range all {
		name, _ := m["name"].(string)
		requests, limits := resources(m)
		containers = append(containers, Container{name, requests, limits, m["restartPolicy"] == "Always"})
	}
	return containers
}

// Own returns the resources that the pod asks for as a whole, beside those of its containers.
func (p Pod) Own() (requests, limits quantity.List) { return resources(p.spec) }

// HasOwn reports whether a list of own resources has one that counts for the whole pod.
func HasOwn(own quantity.List) bool {
	for name := range own {
		if forPods(name) {
			return true
		}
	}
	return false
}

// forPods reports whether a pod can ask for a resource as a whole.
func forPods(name string) bool {
	return name == "cpu" || name == "memory" || strings.HasPrefix(name, "hugepages-")
}

// Specified returns the sum of what the spec asks for.
func (p Pod) Specified() (requests, limits quantity.List) {
	return p.sum(func(c Container) quantity.List { return c.Requests }),
		p.sum(func(c Container) quantity.List { return c.Limits })
}

// Charged returns what a quota counts. It is the sum of what the containers ask for, or more while a resize is not
// complete. Requests and limits of the whole pod replace that sum, and the overhead of the pod is
// added.
func (p Pod) Charged() (requests, limits quantity.List) {
	requests, limits = p.withStatus()
	ownRequests, ownLimits := p.Own()
	override(requests, ownRequests)
	override(limits, ownLimits)
	overhead := quantity.Read(p.spec["overhead"])
	requests.Add(overhead)
	for name := range overhead {
		if q, found := limits[name]; found && q.Amount.Sign() != 0 {
			limits.Add(overhead.Only([]string{name}))
		}
	}
	return requests, limits
}

// override replaces the sums in list with what the pod asks for as a whole.
func override(list, own quantity.List) {
	for name, q := range own {
		if forPods(name) {
			list[name] = q
		}
	}
}

// withStatus returns the sums of the resources of the containers. For each resource there are up to three sums, and
// the greatest counts: the sum of the amounts in the spec, of the actual amounts and, for requests, of the allocated
// amounts. The actual and the allocated amounts are in the status of the pod. An infeasible resize does not count.
func (p Pod) withStatus() (requests, limits quantity.List) {
	requests, limits = quantity.List{}, quantity.List{}
	infeasible := p.infeasible()
	if !infeasible {
		requests, limits = p.Specified()
	}
	has := p.statuses()
	spec := func(list quantity.List) quantity.List {
		if infeasible {
			return nil
		}
		return list
	}
	allocated := func(c Container) quantity.List {
		if is := has[c.Name]; is["allocatedResources"] != nil {
			return quantity.Read(is["allocatedResources"])
		}
		return spec(c.Requests)
	}
	requests.Raise(p.sum(func(c Container) quantity.List {
		if is := inner(has[c.Name], "resources"); is["requests"] != nil {
			return quantity.Read(is["requests"])
		}
		return allocated(c)
	}))
	requests.Raise(p.sum(allocated))
	limits.Raise(p.sum(func(c Container) quantity.List {
		if is := inner(has[c.Name], "resources"); is["limits"] != nil {
			return quantity.Read(is["limits"])
		}
		return spec(c.Limits)
	}))
	return requests, limits
}

// sum adds up the resources of the containers: the greater of what all need together and of what the init containers
// need while they run.
func (p Pod) sum(of func(Container) quantity.List) quantity.List {
	total, beside, initial := quantity.List{}, quantity.List{}, quantity.List{}
	for _, c := range p.Containers("containers") {
		total.Add(of(c))
	}
	for _, c := range p.Containers("initContainers") {
		needs := quantity.List{}
		needs.Add(of(c))
		if c.stays {
			total.Add(needs)
		}
		needs.Add(beside)
		initial.Raise(needs)
		if c.stays {
			beside.Add(of(c))
		}
	}
	total.Raise(initial)
	return total
}

// infeasible reports whether the pod waits for a resize for which its node has no room.
func (p Pod) infeasible() bool {
	for _, m := range objects(p.status, "conditions") {
		if m["type"] == "PodResizePending" {
			return m["reason"] == "Infeasible"
		}
	}
	return false
}

// statuses returns the statuses of the containers by name.
func (p Pod) statuses() map[string]jsontree.Object {
	all := map[string]jsontree.Object{}
	for _, list := range []string{"initContainerStatuses", "containerStatuses"} {
		for _, m := range objects(p.status, list) {
			name, _ := m["name"].(string)
			all[name] = m
		}
	}
	return all
}

func resources(m jsontree.Object) (requests, limits quantity.List) {
	r := inner(m, "resources")
	return quantity.Read(r["requests"]), quantity.Read(r["limits"])
}

func inner(m jsontree.Object, name string) jsontree.Object {
	v, _ := m[name].(jsontree.Object)
	return v
}

// objects returns the objects in a list.
func objects(m jsontree.Object, name string) []jsontree.Object {
	list, _ := m[name].([]any)
	all := make([]jsontree.Object, 0, len(list))
	for _, v := range list {
		if o, ok := v.(jsontree.Object); ok {
			all = append(all, o)
		}
	}
	return all
}
