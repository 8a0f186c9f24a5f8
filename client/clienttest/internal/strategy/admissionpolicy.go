package strategy

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsonpath"
	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

// The expressions of policies are in CEL, and this package does not compile them.

// addAdmissionPolicies adds the policies of admission, and their bindings.
func addAdmissionPolicies(all map[meta.GVK]kind) {
	add := func(name string, k kind) {
		all[meta.GVK{Group: "admissionregistration.k8s.io", Version: "v1", Kind: name}] = k
	}
	add("ValidatingAdmissionPolicy", kind{check: checkValidatingPolicy, status: checkValidatingPolicyStatus})
	add("MutatingAdmissionPolicy", kind{check: checkMutatingPolicy})
	add("ValidatingAdmissionPolicyBinding", kind{check: checkValidatingBinding})
	add("MutatingAdmissionPolicyBinding", kind{check: checkMutatingBinding})
}

// addAdmissionPolicyDefaults adds the defaults of these kinds.
func addAdmissionPolicyDefaults(all map[string]func(jsontree.Object)) {
	const group = "admissionregistration.v1."
	policy := func(m jsontree.Object) { setDefault(section(m, "spec"), "failurePolicy", "Fail") }
	all[group+"ValidatingAdmissionPolicy"], all[group+"MutatingAdmissionPolicy"] = policy, policy
	all[group+"MatchResources"] = func(m jsontree.Object) {
		setDefault(m, "matchPolicy", "Equivalent")
		setDefault(m, "namespaceSelector", jsontree.Object{})
		setDefault(m, "objectSelector", jsontree.Object{})
	}
	all[group+"NamedRuleWithOperations"] = func(m jsontree.Object) { setDefault(m, "scope", "*") }
}

// checkValidatingPolicy checks a ValidatingAdmissionPolicy.
func checkValidatingPolicy(v value) {
	checkPolicy(v)
	spec := v.at("spec")
	validations, annotations := spec.at("validations"), spec.at("auditAnnotations")
	if validations.len()+annotations.len() == 0 {
		validations.required("validations or auditAnnotations must contain at least one item")
		annotations.required("validations or auditAnnotations must contain at least one item")
	}
	for _, one := range validations.items() {
		checkValidation(one)
	}
	if annotations.len() > 20 {
		annotations.invalid("must not have more than 20 auditAnnotations")
	}
	for _, a := range annotations.items() {
		key, expression := a.at("key"), a.at("valueExpression")
		key.fits(qualified(v.at("metadata", "name").text() + "/" + key.text()))
		if n := len(strings.TrimSpace(expression.text())); n == 0 || n > 5<<10 {
			expression.required("must have 1 to 5120 bytes")
		}
	}
	annotations.unique(func(a value) value { return a.at("key") })
}

// checkPolicy checks the members that both kinds of policies have.
func checkPolicy(v value) {
	checkStaticName(v)
	spec := v.at("spec")
	spec.at("failurePolicy").among("Fail", "Ignore")
	if of := spec.at("paramKind"); of.exists() {
		checkParamKind(of)
	}
	constraints := spec.at("matchConstraints")
	if constraints.exists() {
		checkMatched(constraints)
		constraints.at("resourceRules").must()
	} else {
		constraints.required("")
	}
	checkConditions(spec.at("matchConditions"))
	for _, variable := range spec.at("variables").items() {
		name := variable.at("name")
		if strings.TrimSpace(name.text()) == "" {
			name.required("name is not specified")
		} else {
			name.fits(identifier(name.text()))
		}
		checkExpression(variable.at("expression"))
	}
}

// checkExpression reports an expression without text.
func checkExpression(v value) {
	if strings.TrimSpace(v.text()) == "" {
		v.required("expression is not specified")
	}
}

// identifier is the form of a name in CEL.
func identifier(s string) []string {
	reserved := strings.Fields("true false null in as break const continue else for function if import let loop package namespace " +
		"return var void while")
	if slices.Contains(reserved, s) || !regexp.MustCompile(`^[_a-zA-Z][_a-zA-Z0-9]*$`).MatchString(s) {
		return []string{"must be a valid CEL identifier"}
	}
	return nil
}

// checkParamKind checks the kind of the parameters of a policy.
func checkParamKind(v value) {
	version, name := v.at("apiVersion"), v.at("kind")
	parts := strings.Split(version.text(), "/")
	switch {
	case !version.must():
	case len(parts) > 2:
		version.invalid("must be a group and a version")
	default:
		if len(parts) == 2 && parts[0] != "" {
			version.fits(subdomain(parts[0]))
		}
		version.fits(label1035(parts[len(parts)-1]))
	}
	if name.must() {
		name.fits(label1035(lowered(name.text())))
	}
}

// checkMatched checks which objects a policy is for.
func checkMatched(v value) {
	v.at("matchPolicy").among("Equivalent", "Exact")
	checkSelector(v.at("namespaceSelector"))
	checkSelector(v.at("objectSelector"))
	for _, list := range []string{"resourceRules", "excludeResourceRules"} {
		for _, rule := range v.at(list).items() {
			names := rule.at("resourceNames")
			for _, name := range names.items() {
				name.fits(segment(name.text()))
			}
			names.unique(func(name value) value { return name })
			checkWebhookRule(rule)
		}
	}
}

// checkValidation checks a validation of a policy.
func checkValidation(v value) {
	checkExpression(v.at("expression"))
	if text := v.at("messageExpression"); text.text() != "" && strings.TrimSpace(text.text()) == "" {
		text.invalid("must be non-empty if specified")
	}
	message := v.at("message")
	switch text := strings.TrimSpace(message.text()); {
	case message.text() != "" && text == "":
		message.invalid("must be non-empty if specified")
	case strings.ContainsAny(text, "\n\r"):
		message.invalid("must not contain line breaks")
	}
	if reason := v.at("reason"); reason.exists() {
		reason.among("Forbidden", "Invalid", "RequestEntityTooLarge")
	}
}

// checkValidatingPolicyStatus checks the status of a ValidatingAdmissionPolicy.
func checkValidatingPolicyStatus(v value) {
	status := v.at("status")
	for _, warning := range status.at("typeChecking", "expressionWarnings").items() {
		warning.at("warning").must()
		ref := warning.at("fieldRef")
		path := strings.TrimSpace(ref.text())
		if path == "" {
			ref.required("")
		} else if _, err := jsonpath.Parse(path); err != nil {
			ref.invalid("invalid JSONPath: %v", err)
		}
	}
	checkStatusConditions(status.at("conditions"))
}

// checkMutatingPolicy checks a MutatingAdmissionPolicy.
func checkMutatingPolicy(v value) {
	checkPolicy(v)
	spec := v.at("spec")
	checkMutated(spec.at("matchConstraints"))
	spec.at("mutations").must()
	for _, m := range spec.at("mutations").items() {
		patch, apply := m.at("jsonPatch"), m.at("applyConfiguration")
		switch kind := m.at("patchType"); {
		case !kind.oneOf("ApplyConfiguration", "JSONPatch"):
		case kind.text() == "JSONPatch":
			checkMutation(patch, apply)
		default:
			checkMutation(apply, patch)
		}
	}
	spec.at("reinvocationPolicy").oneOf("IfNeeded", "Never")
}

// checkMutation checks a mutation, whose type wants one member and not another.
func checkMutation(wanted, other value) {
	if wanted.exists() {
		checkExpression(wanted.at("expression"))
	} else {
		wanted.required("must be specified for this patchType")
	}
	if other.exists() {
		other.invalid("must not be specified for this patchType")
	}
}

// checkMutated refuses rules for operations that have no object to change. A real server does not name the rule in the
// error.
func checkMutated(v value) {
	for _, rule := range v.at("resourceRules").items() {
		for _, operation := range rule.at("operations").items() {
			operation.path = v.path + ".resourceRules.operations"
			operation.among("*", "CONNECT", "CREATE", "UPDATE")
		}
	}
}

// checkPolicyBinding checks the members that the bindings of both kinds of policies have.
func checkPolicyBinding(v value) {
	checkStaticName(v)
	spec := v.at("spec")
	policy, params, matched := spec.at("policyName"), spec.at("paramRef"), spec.at("matchResources")
	if policy.must() {
		policy.fits(subdomain(policy.text()))
	}
	if matched.exists() {
		checkMatched(matched)
	}
	if !params.exists() {
		return
	}
	name, selector := params.at("name"), params.at("selector")
	switch {
	case name.text() != "" && selector.exists():
		name.forbidden("name and selector are mutually exclusive")
		selector.forbidden("name and selector are mutually exclusive")
	case name.text() == "" && !selector.exists():
		params.required("one of name or selector must be specified")
	}
	if name.text() != "" {
		name.fits(segment(name.text()))
	}
	checkSelector(selector)
	params.at("parameterNotFoundAction").oneOf("Allow", "Deny")
}

// checkValidatingBinding checks a ValidatingAdmissionPolicyBinding.
func checkValidatingBinding(v value) {
	checkPolicyBinding(v)
	actions := v.at("spec", "validationActions")
	actions.must()
	for _, a := range actions.items() {
		a.among("Audit", "Deny", "Warn")
	}
	actions.unique(func(a value) value { return a })
	if all := actions.texts(); slices.Contains(all, "Deny") && slices.Contains(all, "Warn") {
		actions.invalid("must not contain both Deny and Warn")
	}
}

// checkMutatingBinding checks a MutatingAdmissionPolicyBinding.
func checkMutatingBinding(v value) {
	checkPolicyBinding(v)
	checkMutated(v.at("spec", "matchResources"))
}
