package strategy

import (
	"slices"
	"strconv"
)

// checkAffinity checks the preferences and requirements of a pod for nodes and for other pods.
func (p pod) checkAffinity() {
	const required, preferred = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
	node := p.at("affinity", "nodeAffinity")
	if node.at(required).exists() {
		checkNodeSelector(node.at(required))
	}
	for _, e := range node.at(preferred).items() {
		checkWeight(e.at("weight"))
		checkNodeSelectorTerm(e.at("preference"), true)
	}
	for _, name := range []string{"podAffinity", "podAntiAffinity"} {
		v := p.at("affinity", name)
		for _, e := range v.at(required).items() {
			checkPodTerm(e)
		}
		for _, e := range v.at(preferred).items() {
			checkWeight(e.at("weight"))
			checkPodTerm(e.at("podAffinityTerm"))
		}
	}
}

// checkWeight checks how much a pod prefers a term.
func checkWeight(v value) {
	if n := v.number(); n < 1 || n > 100 {
		v.invalid("must be in the range 1-100")
	}
}

// checkNodeSelector checks a NodeSelector.
func checkNodeSelector(v value) {
	terms := v.at("nodeSelectorTerms")
	if terms.len() == 0 {
		terms.required("must have at least one node selector term")
	}
	for _, e := range terms.items() {
		checkNodeSelectorTerm(e, false)
	}
}

// checkNodeSelectorTerm checks a term of a NodeSelector. If anyValue is true, the values need not be valid labels.
func checkNodeSelectorTerm(v value, anyValue bool) {
	for _, e := range v.at("matchExpressions").items() {
		values := e.at("values")
		switch op := e.at("operator"); {
		case op.text() == "Gt" || op.text() == "Lt":
			if values.len() != 1 {
				values.required("must be specified single value when `operator` is 'Lt' or 'Gt'")
			}
		case !checkOperator(e):
			op.invalid("not a valid selector operator")
		}
		e.at("key").fits(qualified(e.at("key").text()))
		for _, text := range values.items() {
			if !anyValue {
				text.fits(labelValue(text.text()))
			}
		}
	}
	for _, e := range v.at("matchFields").items() {
		if op := e.at("operator"); op.text() != "In" && op.text() != "NotIn" {
			op.invalid("not a valid selector operator")
		} else if e.at("values").len() != 1 {
			e.at("values").required("must be only one value when `operator` is 'In' or 'NotIn' for node field selector")
		}
		if e.at("key").text() != "metadata.name" {
			e.at("key").invalid("not a valid field selector key")
			continue
		}
		for _, text := range e.at("values").items() {
			text.fits(subdomain(text.text()))
		}
	}
}

// checkPodTerm checks a term that selects other pods.
func checkPodTerm(v value) {
	checkSelector(v.at("labelSelector"))
	checkSelector(v.at("namespaceSelector"))
	for _, name := range v.at("namespaces").items() {
		name.as(v.at("namespace")).fits(label(name.text()))
	}
	checkLabelKeys(v)
	topology := v.at("topologyKey")
	topology.must()
	topology.fits(qualified(topology.text()))
}

// checkLabelKeys checks the labels whose values a term takes from the pod.
func checkLabelKeys(v value) {
	selector, match, mismatch := v.at("labelSelector"), v.at("matchLabelKeys"), v.at("mismatchLabelKeys")
	for _, keys := range []value{match, mismatch} {
		if keys.len() > 0 && !selector.exists() {
			keys.forbidden("must not be specified when labelSelector is not set")
			continue
		}
		for _, key := range keys.items() {
			key.fits(qualified(key.text()))
		}
	}
	seen := selector.at("matchLabels").keys()
	for _, e := range selector.at("matchExpressions").items() {
		key := e.at("key").text()
		last := -1
		for i, other := range match.items() {
			if other.text() == key {
				last = i
			}
		}
		if last >= 0 && slices.Contains(seen, key) {
			v.item(last).invalid("exists in both matchLabelKeys and labelSelector")
		}
		seen = append(seen, key)
	}
	for _, key := range match.items() {
		if slices.Contains(mismatch.list(), key.is) {
			key.invalid("exists in both matchLabelKeys and mismatchLabelKeys")
		}
	}
}

// checkSpread checks how the pods of a workload are spread.
func (p pod) checkSpread() {
	list := p.at("topologySpreadConstraints").items()
	for i, v := range list {
		positive(v.at("maxSkew"))
		key, action := v.at("topologyKey"), v.at("whenUnsatisfiable")
		key.must()
		action.among("DoNotSchedule", "ScheduleAnyway")
		for _, other := range list[i+1:] {
			if other.at("topologyKey").text() == key.text() && other.at("whenUnsatisfiable").text() == action.text() {
				v.at("{topologyKey, whenUnsatisfiable}").duplicate()
				break
			}
		}
		if domains := v.at("minDomains"); domains.exists() {
			positive(domains)
			if action.text() != "DoNotSchedule" {
				domains.invalid("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not %s", action.text())
			}
		}
		for _, name := range []string{"nodeAffinityPolicy", "nodeTaintsPolicy"} {
			if v.at(name).exists() {
				v.at(name).among("Honor", "Ignore")
			}
		}
		checkLabelKeys(v)
		checkSelector(v.at("labelSelector"))
	}
}

// positive reports a number that is not above zero.
func positive(v value) {
	if v.number() <= 0 {
		v.invalid("must be greater than zero")
	}
}

// checkTolerations checks a list of tolerations.
func checkTolerations(list value) {
	used := slices.ContainsFunc(before(list).items(), func(v value) bool { return compares(v.at("operator").text()) })
	for _, v := range list.items() {
		key, operator, effect := v.at("key"), v.at("operator"), v.at("effect")
		if key.text() != "" {
			key.fits(qualified(key.text()))
		} else if operator.text() != "Exists" {
			operator.invalid("operator must be Exists when `key` is empty, which means \"match all values and all keys\"")
		}
		if v.at("tolerationSeconds").exists() && effect.text() != "NoExecute" {
			effect.invalid("effect must be 'NoExecute' when `tolerationSeconds` is set")
		}
		switch text := v.at("value").text(); {
		case operator.text() == "Equal" || operator.text() == "":
			operator.fits(labelValue(text))
		case operator.text() == "Exists":
			if text != "" {
				operator.invalid("value must be empty when `operator` is 'Exists'")
			}
		case compares(operator.text()) && used:
			if _, err := strconv.ParseInt(text, 10, 64); err != nil {
				v.at("value").invalid("must be an integer")
			}
		default:
			operator.unsupported("Equal", "Exists")
		}
		if effect.text() != "" {
			effect.among("NoSchedule", "PreferNoSchedule", "NoExecute")
		}
	}
}

// compares reports whether an operator of a toleration compares numbers. Only an update of a pod that already has such
// an operator may use one.
func compares(operator string) bool { return operator == "Lt" || operator == "Gt" }

// checkGates checks the readiness gates, the scheduling gates and the resource claims of a pod.
func (p pod) checkGates() {
	for _, v := range p.at("readinessGates").items() {
		v.at("conditionType").fits(qualified(v.at("conditionType").text()))
	}
	seen := names{empty: true}
	for _, v := range p.at("schedulingGates").items() {
		name := v.at("name").as(v)
		name.fits(qualified(name.text()))
		seen.add(name)
	}
	seen = names{}
	for _, v := range p.at("resourceClaims").items() {
		name, claim, template := v.at("name"), v.at("resourceClaimName"), v.at("resourceClaimTemplateName")
		if name.must() {
			if seen.has(name.text()) {
				name.duplicate()
			} else {
				name.fits(label(name.text()))
				seen.add(name)
			}
		}
		if claim.exists() == template.exists() {
			v.invalid("must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")
		}
		for _, to := range []value{claim, template} {
			if to.exists() {
				to.fits(subdomain(to.text()))
			}
		}
	}
}
