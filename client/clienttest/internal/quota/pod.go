package quota

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/demand"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/quantity"
)

// countsPods reports whether a quota limits pods by a name.
func countsPods(name string) bool {
	switch name {
	case "count/pods", "pods", "cpu", "memory", "ephemeral-storage":
		return true
	}
	for _, prefix := range []string{"requests.", "limits."} {
		if of, found := strings.CutPrefix(name, prefix); found {
			if of == "cpu" || of == "memory" || of == "ephemeral-storage" {
				return true
			}
		}
	}
	of, requested := strings.CutPrefix(name, "requests.")
	return strings.HasPrefix(of, hugePages) || requested && isExtended(of)
}

const hugePages = "hugepages-"

// isExtended reports whether a resource is one that Kubernetes does not define.
func isExtended(name string) bool {
	return strings.Contains(name, "/") && !strings.Contains(name, "kubernetes.io/") && !strings.HasPrefix(name, "requests.") ||
		strings.HasPrefix(name, "deviceclass.resource.kubernetes.io/")
}

// handlesPod reports whether a write to a pod can need more of a quota: its resources can change only in a resize, and
// its scope only with its deadline.
func handlesPod(c Change) bool {
	switch {
	case c.Subresource != "":
		return c.Subresource == "resize" && c.Old != nil
	case c.Old != nil:
		return hasDeadline(c.Old) != hasDeadline(c.New)
	}
	return true
}

// usageOfPod counts a pod. One that has ended counts only as an object.
func usageOfPod(d *object.Draft, now time.Time) quantity.List {
	used := once("count/pods")
	if hasEnded(d, now) {
		return used
	}
	used.Add(named(demand.Of(d.Content).Charged()))
	used.Add(once("pods"))
	return used
}

// hasEnded reports whether a pod uses no resources any more: it has ended, or is being deleted and its grace period is
// over, as on a node that is gone.
func hasEnded(d *object.Draft, now time.Time) bool {
	if phase := inner(d.Content, "status")["phase"]; phase == "Failed" || phase == "Succeeded" {
		return true
	}
	at, grace := d.Meta.DeletionTimestamp, d.Meta.DeletionGracePeriodSeconds
	return at != nil && grace != nil && now.After(at.Add(time.Duration(*grace)*time.Second))
}

// named returns requests and limits by the names that they have in quotas.
func named(requests, limits quantity.List) quantity.List {
	list := quantity.List{}
	for name, q := range requests {
		switch {
		case name == "cpu", name == "memory", name == "ephemeral-storage", strings.HasPrefix(name, hugePages):
			list[name], list["requests."+name] = q, q
		case isExtended(name):
			list["requests."+name] = q
		}
	}
	for _, name := range []string{"cpu", "memory", "ephemeral-storage"} {
		if q, found := limits[name]; found {
			list["limits."+name] = q
		}
	}
	return list
}

// podLacks returns an error that names the containers without a request or a limit of cpu or memory that a quota
// limits. It returns nil if the pod as a whole has resources.
func podLacks(names []string, d *object.Draft) error {
	pod := demand.Of(d.Content)
	if requests, limits := pod.Own(); demand.HasOwn(requests) || demand.HasOwn(limits) {
		return nil
	}
	lacking := map[string][]string{}
	for _, c := range append(pod.Containers("containers"), pod.Containers("initContainers")...) {
		has := named(c.Requests, c.Limits)
		for _, name := range names {
			of := strings.TrimPrefix(strings.TrimPrefix(name, "requests."), "limits.")
			if _, found := has[name]; !found && (of == "cpu" || of == "memory") {
				lacking[name] = append(lacking[name], c.Name)
			}
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(lacking)) {
		containers := lacking[name]
		slices.Sort(containers)
		parts = append(parts, name+" for: "+strings.Join(slices.Compact(containers), ","))
	}
	return errors.New("must specify " + strings.Join(parts, "; "))
}
