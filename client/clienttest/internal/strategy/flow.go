package strategy

import (
	"math"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

const flowGroup = "flowcontrol.apiserver.k8s.io"

// addFlows adds the kinds that share a server among its clients.
func addFlows(all map[meta.GVK]kind) {
	all[meta.GVK{Group: flowGroup, Version: "v1", Kind: "FlowSchema"}] = kind{check: checkFlowSchema, status: checkFlowStatus}
	all[meta.GVK{Group: flowGroup, Version: "v1", Kind: "PriorityLevelConfiguration"}] = kind{
		check: checkPriorityLevel, status: checkFlowStatus,
	}
}

// addFlowDefaults adds the defaults of these kinds.
func addFlowDefaults(all map[string]func(jsontree.Object)) {
	all["flowcontrol.v1.FlowSchema"] = func(m jsontree.Object) { setNumber(section(m, "spec"), "matchingPrecedence", 1000) }
	all["flowcontrol.v1.ExemptPriorityLevelConfiguration"] = func(m jsontree.Object) {
		setDefault(m, "nominalConcurrencyShares", number(0))
		setDefault(m, "lendablePercent", number(0))
	}
	all["flowcontrol.v1.LimitedPriorityLevelConfiguration"] = func(m jsontree.Object) {
		setDefault(m, "nominalConcurrencyShares", number(30))
		setDefault(m, "lendablePercent", number(0))
	}
	all["flowcontrol.v1.QueuingConfiguration"] = func(m jsontree.Object) {
		setNumber(m, "handSize", 8)
		setNumber(m, "queues", 64)
		setNumber(m, "queueLengthLimit", 50)
	}
}

// checkFlowSchema checks a FlowSchema.
func checkFlowSchema(v value) {
	spec := v.at("spec")
	precedence, method := spec.at("matchingPrecedence"), spec.at("distinguisherMethod")
	level := spec.at("priorityLevelConfiguration", "name")
	precedence.between(1, 10000)
	if precedence.number() == 1 && v.at("metadata", "name").text() != "exempt" {
		precedence.invalid("only the schema named 'exempt' may have matchingPrecedence 1")
	}
	if method.exists() {
		method.at("type").among("ByNamespace", "ByUser")
	}
	if level.must() {
		level.fits(subdomain(level.text()))
	}
	for _, rule := range spec.at("rules").items() {
		rule.at("subjects").must()
		for _, s := range rule.at("subjects").items() {
			checkFlowSubject(s)
		}
		resources, others := rule.at("resourceRules"), rule.at("nonResourceRules")
		if resources.len()+others.len() == 0 {
			rule.required("at least one of resourceRules and nonResourceRules has to be non-empty")
		}
		for _, r := range resources.items() {
			checkResourceRule(r)
		}
		for _, r := range others.items() {
			checkURLRule(r)
		}
	}
	checkFlowStatus(v)
}

// checkFlowSubject checks whom a rule is for.
func checkFlowSubject(v value) {
	members := map[string]string{"ServiceAccount": "serviceAccount", "User": "user", "Group": "group"}
	mine := members[v.at("kind").text()]
	if mine == "" {
		v.at("kind").unsupported("Group", "ServiceAccount", "User")
		return
	}
	for _, name := range members {
		if name != mine && v.at(name).exists() {
			v.at(name).forbidden("is for subjects of another kind")
		}
	}
	subject := v.at(mine)
	if !subject.exists() {
		subject.required("is required for this kind of subject")
		return
	}
	name, namespace := subject.at("name"), subject.at("namespace")
	named := name.must()
	if mine != "serviceAccount" {
		return
	}
	if named && name.text() != "*" {
		name.fits(subdomain(name.text()))
	}
	if namespace.must() {
		namespace.fits(label(namespace.text()))
	}
}

// checkVerbs checks the verbs of a rule.
func checkVerbs(v value) {
	known := strings.Fields("create delete deletecollection get list patch proxy update watch")
	switch all := v.texts(); {
	case !v.must():
	case slices.Contains(all, "*"):
		checkAlone(v)
	case slices.ContainsFunc(all, func(verb string) bool { return !slices.Contains(known, verb) }):
		v.unsupported(known...)
	}
}

// checkResourceRule checks a rule for resources.
func checkResourceRule(v value) {
	checkVerbs(v.at("verbs"))
	for _, name := range []string{"apiGroups", "resources"} {
		v.at(name).must()
		checkAlone(v.at(name))
	}
	namespaces := v.at("namespaces")
	switch {
	case namespaces.len() == 0 && !v.at("clusterScope").flag():
		namespaces.required("rules that are not cluster scoped must supply at least one namespace")
	case slices.Contains(namespaces.texts(), "*"):
		checkAlone(namespaces)
	default:
		for _, n := range namespaces.items() {
			n.fits(label(n.text()))
		}
	}
}

// checkURLRule checks a rule for paths that are not of resources.
func checkURLRule(v value) {
	checkVerbs(v.at("verbs"))
	urls := v.at("nonResourceURLs")
	if urls.must() && slices.Contains(urls.texts(), "*") {
		checkAlone(urls)
		return
	}
	for _, u := range urls.items() {
		stars := strings.Count(u.text(), "*")
		switch text := u.text(); {
		case text == "/":
		case !strings.HasPrefix(text, "/"):
			u.invalid("must start with slash")
		case strings.Contains(text, " ") || strings.Contains(text, "//"):
			u.invalid("must not contain white-space or a double slash")
		case stars > 1 || stars == 1 && !strings.HasSuffix(text, "/*"):
			u.invalid("wildcard can only do suffix matching")
		}
	}
}

// checkFlowStatus checks the conditions of these kinds.
func checkFlowStatus(v value) {
	conditions := v.at("status", "conditions")
	conditions.unique(func(c value) value { return c.at("type") })
	for _, c := range conditions.items() {
		c.at("type").must()
	}
}

// checkPriorityLevel checks a PriorityLevelConfiguration.
func checkPriorityLevel(v value) {
	const preserved = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"
	annotations, spec := v.at("metadata", "annotations"), v.at("spec")
	if annotations.key(preserved).exists() {
		annotations.forbidden("annotation '%s' is forbidden", preserved)
	}
	exempt, limited, name := spec.at("exempt"), spec.at("limited"), spec.at("type")
	if (v.at("metadata", "name").text() == "exempt") != (name.text() == "Exempt") {
		name.invalid("must be 'Exempt' if and only if `name` is 'exempt'")
	}
	if name.text() != "Exempt" && exempt.exists() {
		exempt.forbidden("must be nil if the type is Limited")
	}
	if name.text() != "Limited" && limited.exists() {
		limited.forbidden("must be nil if the type is not Limited")
	}
	switch {
	case !name.oneOf("Exempt", "Limited"):
	case name.text() == "Exempt":
		checkShares(exempt)
	case !limited.exists():
		limited.required("must not be empty when type is Limited")
	default:
		checkShares(limited)
		limited.at("borrowingLimitPercent").natural()
		checkLimitResponse(limited.at("limitResponse"))
	}
	checkFlowStatus(v)
}

// checkShares checks how much of the server a priority level gets.
func checkShares(v value) {
	v.at("nominalConcurrencyShares").natural()
	v.at("lendablePercent").between(0, 100)
}

// checkLimitResponse checks what the server does with requests above a limit.
func checkLimitResponse(v value) {
	queuing, name := v.at("queuing"), v.at("type")
	if name.text() != "Queue" && queuing.exists() {
		queuing.forbidden("must be nil if the type is not Queue")
	}
	if !name.oneOf("Queue", "Reject") || name.text() == "Reject" {
		return
	}
	if !queuing.exists() {
		queuing.required("must not be empty if the type is Queue")
		return
	}
	queues, hand := queuing.at("queues"), queuing.at("handSize")
	queuing.at("queueLengthLimit").atLeast(1)
	queues.between(1, 10_000_000)
	switch n := hand.number(); {
	case n <= 0:
		hand.invalid("must be positive")
	case n > queues.number():
		hand.invalid("should not be greater than queues (%d)", queues.number())
	case math.Ceil(math.Log2(float64(queues.number()))*float64(n)) > 60: // bits of a hash
		hand.invalid("too many ways to deal a hand")
	}
}
