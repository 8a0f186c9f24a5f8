package quota

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/strategy"
)

// scope is a condition of a quota. A quota counts only the objects that meet all of its scopes.
type scope struct {
	name, operator string
	values         []any
}

// readScopes returns the scopes in the spec of a quota, and those of its selector.
func readScopes(spec jsontree.Object) []scope {
	var scopes []scope
	list, _ := spec["scopes"].([]any)
	for _, v := range list {
		name, _ := v.(string)
		scopes = append(scopes, scope{name: name, operator: "Exists"})
	}
	list, _ = inner(spec, "scopeSelector")["matchExpressions"].([]any)
	for _, v := range list {
		m, _ := v.(jsontree.Object)
		values, _ := m["values"].([]any)
		scopes = append(scopes, scope{text(m, "scopeName"), text(m, "operator"), values})
	}
	return scopes
}

// podIn reports whether a pod is in a scope.
func podIn(s scope, d *object.Draft) bool {
	switch s.name {
	case "Terminating":
		return hasDeadline(d)
	case "NotTerminating":
		return !hasDeadline(d)
	case "BestEffort":
		return strategy.QOSClass(d.Content) == "BestEffort"
	case "NotBestEffort":
		return strategy.QOSClass(d.Content) != "BestEffort"
	case "PriorityClass":
		return s.matches(text(inner(d.Content, "spec"), "priorityClassName"))
	case "CrossNamespacePodAffinity":
		return leavesNamespace(inner(inner(d.Content, "spec"), "affinity"))
	}
	return false
}

// claimIn reports whether a claim is in a scope: by the VolumeAttributesClasses that it wants, has or gets.
func claimIn(s scope, d *object.Draft) bool {
	if s.name != "VolumeAttributesClass" {
		return false
	}
	spec, status := inner(d.Content, "spec"), inner(d.Content, "status")
	return s.matches(
		text(spec, "volumeAttributesClassName"), text(status, "currentVolumeAttributesClassName"),
		text(inner(status, "modifyVolumeStatus"), "targetVolumeAttributesClassName"),
	)
}

// matches reports whether the names meet the scope. Empty names do not count. Some scopes are also met if there is no
// name.
func (s scope) matches(names ...string) bool {
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	listed := func(name string) bool { return slices.Contains(s.values, any(name)) }
	switch s.operator {
	case "Exists":
		return len(names) > 0
	case "DoesNotExist":
		return len(names) == 0
	case "In":
		return slices.ContainsFunc(names, listed)
	case "NotIn":
		return len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return !listed(name) })
	}
	return false
}

// hasDeadline reports whether a pod has an activeDeadlineSeconds, so that it ends at some time.
func hasDeadline(d *object.Draft) bool {
	n, found := inner(d.Content, "spec")["activeDeadlineSeconds"].(json.Number)
	return found && !strings.HasPrefix(string(n), "-")
}

// leavesNamespace reports whether an affinity is about pods in other namespaces.
func leavesNamespace(affinity jsontree.Object) bool {
	leaves := func(term jsontree.Object) bool {
		names, _ := term["namespaces"].([]any)
		return len(names) > 0 || term["namespaceSelector"] != nil
	}
	for _, kind := range []string{"podAffinity", "podAntiAffinity"} {
		required, _ := inner(affinity, kind)["requiredDuringSchedulingIgnoredDuringExecution"].([]any)
		preferred, _ := inner(affinity, kind)["preferredDuringSchedulingIgnoredDuringExecution"].([]any)
		for _, v := range required {
			if m, _ := v.(jsontree.Object); leaves(m) {
				return true
			}
		}
		for _, v := range preferred {
			if m, _ := v.(jsontree.Object); leaves(inner(m, "podAffinityTerm")) {
				return true
			}
		}
	}
	return false
}
