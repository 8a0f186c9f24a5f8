package strategy

import (
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

func defaultAutoscaler(m jsontree.Object) {
	spec := section(m, "spec")
	setDefault(spec, "minReplicas", number(1))
	if metrics, _ := spec["metrics"].([]any); len(metrics) == 0 {
		spec["metrics"] = []any{jsontree.Object{"type": "Resource", "resource": jsontree.Object{
			"name": "cpu", "target": jsontree.Object{"type": "Utilization", "averageUtilization": number(80)},
		}}}
	}
	behavior := inner(spec, "behavior")
	if behavior == nil {
		return
	}
	policy := func(kind string, n int) any {
		return jsontree.Object{"type": kind, "value": number(n), "periodSeconds": number(15)}
	}
	up, down := section(behavior, "scaleUp"), section(behavior, "scaleDown")
	setDefault(up, "stabilizationWindowSeconds", number(0))
	setDefault(up, "policies", []any{policy("Pods", 4), policy("Percent", 100)})
	setDefault(down, "policies", []any{policy("Percent", 100)})
	for _, rules := range []jsontree.Object{up, down} {
		setDefault(rules, "selectPolicy", "Max")
	}
}

func checkAutoscaler(v value) {
	spec := v.at("spec")
	least, most, target := spec.at("minReplicas"), spec.at("maxReplicas"), spec.at("scaleTargetRef")
	least.natural()
	if most.number() == 0 {
		most.required("must be set and greater than 0")
	} else {
		most.atLeast(1)
	}
	if most.number() < least.number() {
		most.invalid("must be greater than or equal to `minReplicas`")
	}
	checkScaled(target)
	if version, kind := target.at("apiVersion"), target.at("kind"); !version.unchanged() || !kind.unchanged() {
		checkVersion(version, kind.text() == "ReplicationController")
	}
	scalesToZero := false
	metrics := spec.at("metrics")
	for _, metric := range metrics.items() {
		checkMetric(metric)
		scalesToZero = scalesToZero || metric.at("type").text() == "Object" || metric.at("type").text() == "External"
	}
	if least.number() == 0 && !scalesToZero {
		metrics.forbidden("must specify at least one Object or External metric to support scaling to zero replicas")
	}
	checkScaling(spec.at("behavior", "scaleUp"))
	checkScaling(spec.at("behavior", "scaleDown"))
}

// checkScaled checks the kind and the name of an object that an autoscaler refers to.
func checkScaled(v value) {
	for _, name := range []string{"kind", "name"} {
		if part := v.at(name); part.must() {
			part.fits(segment(part.text()))
		}
	}
}

// checkVersion checks an apiVersion. core says whether that of the core group is allowed.
func checkVersion(v value, core bool) {
	group, _, found := strings.Cut(v.text(), "/")
	switch {
	case strings.Count(v.text(), "/") > 1:
		v.invalid("unexpected GroupVersion string")
	case (!found || group == "") && !core:
		v.invalid("apiVersion must specify API group")
	}
}

func checkScaling(v value) {
	if !v.exists() {
		return
	}
	v.at("stabilizationWindowSeconds").between(0, 3600)
	v.at("selectPolicy").among("Disabled", "Max", "Min")
	v.at("policies").must()
	for _, policy := range v.at("policies").items() {
		policy.at("type").among("Percent", "Pods")
		policy.at("value").atLeast(1)
		policy.at("periodSeconds").between(1, 1800)
	}
	if tolerance := v.at("tolerance"); tolerance.isNegative() {
		tolerance.invalid("must be greater than or equal to 0")
	}
}

// metricMembers returns the member that a metric of each type has, in the order in which a server looks for them.
func metricMembers() [][2]string {
	return [][2]string{
		{"Object", "object"},
		{"External", "external"},
		{"Pods", "pods"},
		{"Resource", "resource"},
		{"ContainerResource", "containerResource"},
	}
}

func checkMetric(v value) {
	kind := v.at("type")
	if kind.text() == "" {
		kind.required("must specify a metric source type")
	}
	wanted, count := "", 0
	var supported, others []string
	for _, pair := range metricMembers() {
		supported = append(supported, pair[0])
		source := v.at(pair[1])
		if source.exists() {
			if count++; count == 1 {
				checkSource(source, pair[0])
			}
		}
		switch {
		case pair[0] == kind.text():
			if wanted = pair[1]; !source.exists() {
				source.required("must populate information for the given metric source")
			}
		case source.exists():
			others = append(others, pair[1])
		}
	}
	if wanted == "" {
		kind.unsupported(supported...)
	}
	if count < 2 {
		return
	}
	for _, name := range others {
		v.at(name).forbidden("must populate the given metric source only")
	}
}

// checkSource checks the member of a metric that has its source. kind is the type of the metric that has this member.
func checkSource(v value, kind string) {
	target := v.at("target")
	checkMetricTarget(target)
	total, average, share := target.at("value"), target.at("averageValue"), target.at("averageUtilization")
	switch kind {
	case "Object", "External":
		if !total.exists() && !average.exists() {
			average.required("must set either a target value or averageValue")
		}
		if kind == "External" && total.exists() && average.exists() {
			total.forbidden("may not set both a target value for metric and a per-pod target")
		}
	case "Pods":
		if !average.exists() {
			average.required("must specify a positive target averageValue")
		}
	default:
		if !share.exists() && !average.exists() {
			share.required("must set either a target raw value or a target utilization")
		}
		if share.exists() && average.exists() {
			average.forbidden("may not set both a target raw value and a target utilization")
		}
	}
	checkMetricName(v, kind)
}

// checkMetricName checks the members that say what a metric measures.
func checkMetricName(v value, kind string) {
	if name := v.at("metric", "name"); kind == "Object" || kind == "External" || kind == "Pods" {
		if name.must() {
			name.fits(segment(name.text()))
		}
	}
	switch kind {
	case "Object":
		checkScaled(v.at("describedObject"))
		checkVersion(v.at("describedObject", "apiVersion"), true)
	case "Resource":
		v.at("name").must()
	case "ContainerResource":
		if v.at("name").must() {
			v.at("name").fits(containerResource(v.at("name").text()))
		}
		if v.at("container").must() {
			v.at("container").fits(label(v.at("container").text()))
		}
	}
}

func checkMetricTarget(v value) {
	kind := v.at("type")
	switch kind.text() {
	case "Utilization", "Value", "AverageValue":
	case "":
		kind.required("must specify a metric target type")
		fallthrough
	default:
		kind.invalid("must be either Utilization, Value, or AverageValue")
	}
	for _, name := range []string{"value", "averageValue"} {
		if q := v.at(name); q.exists() && q.amount().Sign() <= 0 {
			q.invalid("must be positive")
		}
	}
	if share := v.at("averageUtilization"); share.exists() {
		share.atLeast(1)
	}
}

func checkAutoscalerStatus(v value) {
	status := v.at("status")
	for _, c := range status.at("conditions").items() {
		c.at("observedGeneration").natural()
	}
	naturals(status, "currentReplicas", "desiredReplicas")
}
