package strategy

import (
	"net/url"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

// addWebhooks adds the configurations of webhooks, and the policies of admission.
func addWebhooks(all map[meta.GVK]kind) {
	for _, name := range []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"} {
		all[meta.GVK{Group: "admissionregistration.k8s.io", Version: "v1", Kind: name}] = kind{check: checkWebhooks}
	}
	addAdmissionPolicies(all)
}

// addWebhookDefaults adds the defaults of webhooks.
func addWebhookDefaults(all map[string]func(jsontree.Object)) {
	const group = "admissionregistration.v1."
	validating := func(m jsontree.Object) {
		setDefault(m, "failurePolicy", "Fail")
		setDefault(m, "matchPolicy", "Equivalent")
		setDefault(m, "namespaceSelector", jsontree.Object{})
		setDefault(m, "objectSelector", jsontree.Object{})
		setDefault(m, "timeoutSeconds", number(10))
	}
	all[group+"ValidatingWebhook"] = validating
	all[group+"MutatingWebhook"] = func(m jsontree.Object) {
		validating(m)
		setDefault(m, "reinvocationPolicy", "Never")
	}
	addAdmissionPolicyDefaults(all)
	all[group+"RuleWithOperations"] = func(m jsontree.Object) { setDefault(m, "scope", "*") }
	all[group+"ServiceReference"] = func(m jsontree.Object) { setDefault(m, "port", number(443)) }
}

// checkWebhooks checks the webhooks of a configuration of either kind.
func checkWebhooks(v value) {
	checkStaticName(v)
	hooks := v.at("webhooks")
	old := before(hooks).items()
	known := func(hook value) bool {
		return len(hook.at("admissionReviewVersions").texts()) == 0 || reviewsKnown(hook)
	}
	rules := webhookRules{
		harmless: all(old, func(hook value) bool { return slices.Contains(harmless(), hook.at("sideEffects").text()) }),
		reviewed: all(old, known),
		unique:   !repeats(old),
	}
	seen := map[string]bool{}
	for _, hook := range hooks.items() {
		rules.check(hook)
		name := hook.at("name")
		if rules.unique && name.text() != "" && seen[name.text()] {
			name.duplicate()
		}
		seen[name.text()] = true
	}
}

// checkStaticName refuses a new object with a name that is reserved for objects from files of the server.
func checkStaticName(v value) {
	if name := v.at("metadata", "name"); v.creates() && strings.HasSuffix(name.text(), ".static.k8s.io") {
		name.invalid("names ending with '.static.k8s.io' are reserved")
	}
}

// webhookRules says which rules an update must keep, because all old webhooks kept them.
type webhookRules struct{ harmless, reviewed, unique bool }

// all reports whether is returns true for all webhooks.
func all(hooks []value, is func(value) bool) bool {
	return !slices.ContainsFunc(hooks, func(hook value) bool { return !is(hook) })
}

// repeats reports whether two webhooks have the same name.
func repeats(hooks []value) bool {
	seen := map[string]bool{}
	return !all(hooks, func(hook value) bool {
		name := hook.at("name").text()
		again := seen[name]
		seen[name] = true
		return !again
	})
}

// harmless are the side effects that a new webhook may have.
func harmless() []string { return []string{"None", "NoneOnDryRun"} }

// reviewsKnown reports whether a webhook takes a version of AdmissionReview that the server sends.
func reviewsKnown(hook value) bool {
	versions := hook.at("admissionReviewVersions").texts()
	return slices.Contains(versions, "v1") || slices.Contains(versions, "v1beta1")
}

// check checks a webhook.
func (r webhookRules) check(hook value) {
	checkFullName(hook.at("name"))
	for _, rule := range hook.at("rules").items() {
		checkWebhookRule(rule)
	}
	for _, choice := range []struct {
		name string
		from []string
	}{
		{"failurePolicy", []string{"Fail", "Ignore"}},
		{"matchPolicy", []string{"Equivalent", "Exact"}},
		{"reinvocationPolicy", []string{"IfNeeded", "Never"}},
	} {
		if v := hook.at(choice.name); v.exists() {
			v.among(choice.from...)
		}
	}
	effects := harmless()
	if !r.harmless {
		effects = append(effects, "Some", "Unknown")
	}
	if v := hook.at("sideEffects"); v.exists() {
		v.among(effects...)
	} else {
		v.required("")
	}
	if v := hook.at("timeoutSeconds"); v.exists() {
		v.between(1, 30)
	}
	checkSelector(hook.at("namespaceSelector"))
	checkSelector(hook.at("objectSelector"))
	checkClient(hook.at("clientConfig"))
	r.checkVersions(hook)
	checkConditions(hook.at("matchConditions"))
}

// checkFullName checks a DNS name of at least three labels.
func checkFullName(v value) {
	if v.must() && v.fits(subdomain(v.text())) && strings.Count(v.text(), ".") < 2 {
		v.invalid("should be a domain with at least three segments separated by dots")
	}
}

// checkVersions checks the versions of AdmissionReview that a webhook takes.
func (r webhookRules) checkVersions(hook value) {
	versions := hook.at("admissionReviewVersions")
	if !versions.must() {
		return
	}
	seen := map[string]bool{}
	for _, v := range versions.items() {
		if seen[v.text()] {
			v.invalid("duplicate version")
			continue
		}
		seen[v.text()] = true
		v.fits(label1035(v.text()))
	}
	if r.reviewed && !reviewsKnown(hook) {
		versions.invalid("must include at least one of v1, v1beta1")
	}
}

// checkConditions checks the conditions of a webhook without their expressions, which are in CEL.
func checkConditions(v value) {
	if v.len() > 64 {
		v.tooMany(64)
	}
	seen := map[string]bool{}
	for _, c := range v.items() {
		if strings.TrimSpace(c.at("expression").text()) == "" {
			c.at("expression").required("")
		}
		name := c.at("name")
		if !name.must() {
			continue
		}
		name.fits(qualified(name.text()))
		if seen[name.text()] {
			name.duplicate()
		}
		seen[name.text()] = true
	}
}

// checkWebhookRule checks which requests a webhook takes.
func checkWebhookRule(v value) {
	operations := v.at("operations")
	operations.must()
	checkAlone(operations)
	for _, o := range operations.items() {
		o.among("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
	}
	for _, name := range []string{"apiGroups", "apiVersions"} {
		v.at(name).must()
		checkAlone(v.at(name))
	}
	for _, version := range v.at("apiVersions").items() {
		version.must()
	}
	checkRuleResources(v.at("resources"))
	if scope := v.at("scope"); scope.exists() {
		scope.among("*", "Cluster", "Namespaced")
	}
}

// checkAlone refuses other elements beside "*".
func checkAlone(v value) {
	if v.len() > 1 && slices.Contains(v.texts(), "*") {
		v.invalid("if '*' is present, must not specify others")
	}
}

// checkRuleResources checks the resources and subresources of a rule, where "*" stands for all.
func checkRuleResources(v value) {
	v.must()
	wholes, subs := map[string]bool{}, map[string]bool{} // the x of each x/*, and of each */x
	bare := false                                        // the last resource without a subresource is not *
	for _, e := range v.items() {
		if !e.must() {
			continue
		}
		resource, sub, found := strings.Cut(e.text(), "/")
		if !found {
			bare = resource != "*"
			continue
		}
		if wholes[resource] {
			e.invalid("if '%s/*' is present, must not specify %s", resource, e.text())
		}
		if subs[sub] {
			e.invalid("if '*/%s' is present, must not specify %s", sub, e.text())
		}
		wholes[resource], subs[sub] = wholes[resource] || sub == "*", subs[sub] || resource == "*"
	}
	if v.len() > 1 && slices.Contains(v.texts(), "*/*") {
		v.invalid("if '*/*' is present, must not specify other resources")
	}
	if bare && slices.Contains(v.texts(), "*") {
		v.invalid("if '*' is present, must not specify other resources without subresources")
	}
}

// checkClient checks where a webhook is.
func checkClient(v value) {
	at, service := v.at("url"), v.at("service")
	switch {
	case at.exists() == service.exists():
		v.required("exactly one of url or service is required")
	case at.exists():
		checkWebhookURL(at)
	default:
		// A real server confuses the name and the namespace here, and reports both with the other's field.
		if service.at("name").text() == "" {
			service.at("namespace").required("")
		}
		if service.at("namespace").text() == "" {
			service.at("name").required("")
		}
		service.at("port").between(1, 65535)
		checkWebhookPath(service.at("path"))
	}
}

// checkWebhookURL checks the URL of a webhook.
func checkWebhookURL(v value) {
	u, err := url.Parse(v.text())
	if err != nil {
		v.required("url must be a valid URL")
		return
	}
	if u.Scheme != "https" {
		v.invalid("'https' is the only allowed URL scheme")
	}
	if u.Host == "" {
		v.invalid("host must be specified")
	}
	if u.User != nil {
		v.invalid("user information is not permitted in the URL")
	}
	if u.Fragment != "" {
		v.invalid("fragments are not permitted in the URL")
	}
	if u.RawQuery != "" {
		v.invalid("query parameters are not permitted in the URL")
	}
}

// checkWebhookPath checks a path of DNS names.
func checkWebhookPath(v value) {
	path := v.text()
	if path == "" || path == "/" {
		return
	}
	if !strings.HasPrefix(path, "/") {
		v.invalid("must start with a '/'")
	}
	for step := range strings.SplitSeq(strings.TrimSuffix(path[1:], "/"), "/") {
		if step == "" {
			v.invalid("a segment may not be empty")
			continue
		}
		v.fits(subdomain(step))
	}
}
