package strategy

import (
	"slices"
	"strings"
)

func checkQuota(v value) {
	spec := v.at("spec")
	checkQuotaAmounts(spec.at("hard"))
	checkQuotaScopes(spec)
	if selector := spec.at("scopeSelector"); selector.exists() {
		checkScopeSelector(selector, spec.at("hard"))
	}
	scopes := spec.at("scopes")
	texts := func(v value) []string {
		var all []string
		for _, scope := range v.items() {
			all = append(all, scope.text())
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	if v.updates && !slices.Equal(texts(scopes), texts(before(scopes))) {
		scopes.invalid("field is immutable")
	}
}

func checkQuotaStatus(v value) {
	checkQuotaAmounts(v.at("status", "hard"))
	checkQuotaAmounts(v.at("status", "used"))
}

func checkQuotaAmounts(v value) {
	for _, name := range v.keys() {
		v.key(name).fits(quotaResource(name))
		checkAmount(v.key(name), name)
	}
}

// isQuotaResource reports whether a quota knows a resource without a domain.
func isQuotaResource(name string) bool {
	return name != "storage" && !strings.Contains(name, "/") && len(resourceName(name)) == 0
}

// quotaResource is the form of the name of a resource that a quota may limit.
func quotaResource(s string) []string {
	why := resourceName(s)
	if !strings.Contains(s, "/") && !isQuotaResource(s) {
		why = append(why, "must be a standard resource for quota")
	}
	return why
}

func checkQuotaScopes(spec value) {
	scopes := spec.at("scopes")
	seen := map[string]bool{}
	for _, scope := range scopes.items() {
		seen[scope.text()] = true
		if !isScope(scope.text()) {
			scopes.invalid("unsupported scope")
		}
		checkScopeResources(scopes, scope.text(), spec.at("hard"))
	}
	checkScopePairs(scopes, seen)
}

func isScope(s string) bool {
	return slices.Contains([]string{
		"Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass", "VolumeAttributesClass",
		"CrossNamespacePodAffinity",
	}, s)
}

// checkScopeResources reports at v a scope that does not apply to one of the resources of a quota.
func checkScopeResources(v value, scope string, hard value) {
	pods := []string{"pods", "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"}
	switch scope {
	case "BestEffort":
		pods = pods[:1]
	case "VolumeAttributesClass":
		pods = []string{"persistentvolumeclaims", "requests.storage"}
	default:
		if !isScope(scope) {
			return
		}
	}
	for _, name := range hard.keys() {
		if isQuotaResource(name) && !slices.Contains(pods, name) {
			v.invalid("unsupported scope applied to resource")
		}
	}
}

// checkScopePairs reports scopes that exclude each other.
func checkScopePairs(v value, seen map[string]bool) {
	if seen["BestEffort"] && seen["NotBestEffort"] || seen["Terminating"] && seen["NotTerminating"] {
		v.invalid("conflicting scopes")
	}
}

// checkScopeSelector checks the requirements for scopes. A server reports them without their indices.
func checkScopeSelector(v, hard value) {
	all := v.at("matchExpressions")
	seen := map[string]bool{}
	for _, e := range all.items() {
		e.path = all.path
		name, operator, values := e.at("scopeName"), e.at("operator"), e.at("values")
		seen[name.text()] = true
		if !isScope(name.text()) {
			name.invalid("unsupported scope")
		}
		checkScopeResources(all, name.text(), hard)
		takesValues := name.text() == "PriorityClass" || name.text() == "VolumeAttributesClass"
		if isScope(name.text()) && !takesValues && operator.text() != "Exists" {
			operator.invalid("must be 'Exists' for this scope")
		}
		switch operator.text() {
		case "In", "NotIn":
			values.must()
		case "Exists", "DoesNotExist":
			if values.len() > 0 {
				values.invalid("must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector")
			}
		default:
			operator.invalid("not a valid selector operator")
		}
	}
	checkScopePairs(all, seen)
}
