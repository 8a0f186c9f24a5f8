package strategy

import (
	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

const accessGroup = "rbac.authorization.k8s.io"

// addAccess adds roles and their bindings.
func addAccess(all map[meta.GVK]kind) {
	for name, check := range map[string]func(value){
		"Role":               func(v value) { checkRules(v.at("rules"), true) },
		"ClusterRole":        checkClusterRole,
		"RoleBinding":        func(v value) { checkBinding(v, true) },
		"ClusterRoleBinding": func(v value) { checkBinding(v, false) },
	} {
		all[meta.GVK{Group: accessGroup, Version: "v1", Kind: name}] = kind{check: check}
	}
}

// addAccessDefaults adds the defaults of bindings.
func addAccessDefaults(all map[string]func(jsontree.Object)) {
	binding := func(m jsontree.Object) {
		if ref := inner(m, "roleRef"); ref != nil {
			setText(ref, "apiGroup", accessGroup)
		} else if m["roleRef"] == nil {
			m["roleRef"] = jsontree.Object{"apiGroup": accessGroup}
		}
	}
	all["rbac.v1.RoleBinding"], all["rbac.v1.ClusterRoleBinding"] = binding, binding
	all["rbac.v1.Subject"] = func(m jsontree.Object) {
		if m["kind"] == "User" || m["kind"] == "Group" {
			setText(m, "apiGroup", accessGroup)
		}
	}
}

// checkClusterRole checks a ClusterRole.
func checkClusterRole(v value) {
	checkRules(v.at("rules"), false)
	rule := v.at("aggregationRule")
	if !rule.exists() {
		return
	}
	selectors := rule.at("clusterRoleSelectors")
	selectors.must()
	for _, s := range selectors.items() {
		checkWholeSelector(s)
	}
}

// checkWholeSelector checks a LabelSelector that the server also compiles: an error inside of the selector is also
// reported at the selector itself.
func checkWholeSelector(v value) {
	before := len(v.to.causes)
	checkSelector(v)
	if len(v.to.causes) > before {
		v.invalid("invalid label selector")
	}
}

// checkRules checks the rules of a role.
func checkRules(v value, namespaced bool) {
	for _, rule := range v.items() {
		rule.at("verbs").must()
		urls := rule.at("nonResourceURLs")
		if urls.len() == 0 {
			rule.at("apiGroups").must()
			rule.at("resources").must()
			continue
		}
		if namespaced {
			urls.invalid("namespaced rules cannot apply to non-resource URLs")
		}
		if rule.at("apiGroups").len()+rule.at("resources").len()+rule.at("resourceNames").len() > 0 {
			urls.invalid("rules cannot apply to both regular resources and non-resource URLs")
		}
	}
}

// checkBinding checks a binding. A namespaced one may refer to both kinds of roles.
func checkBinding(v value, namespaced bool) {
	ref := v.at("roleRef")
	ref.at("apiGroup").among(accessGroup)
	if namespaced {
		ref.at("kind").among("Role", "ClusterRole")
	} else {
		ref.at("kind").among("ClusterRole")
	}
	ref.immutable()
	if ref.at("name").must() {
		ref.at("name").fits(segment(ref.at("name").text()))
	}
	for _, s := range v.at("subjects").items() {
		checkSubject(s, namespaced)
	}
}

// checkSubject checks a subject of a binding.
func checkSubject(v value, namespaced bool) {
	named := v.at("name").must()
	switch v.at("kind").text() {
	case "ServiceAccount":
		if named {
			v.at("name").fits(subdomain(v.at("name").text()))
		}
		if v.at("apiGroup").text() != "" {
			v.at("apiGroup").unsupported("")
		}
		if !namespaced {
			v.at("namespace").must()
		}
	case "User", "Group":
		v.at("apiGroup").among(accessGroup)
	default:
		v.at("kind").unsupported("ServiceAccount", "User", "Group")
	}
}
