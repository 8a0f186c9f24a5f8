package strategy

import (
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

func addPolicies(all map[meta.GVK]kind) {
	all[meta.GVK{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"}] = kind{
		check: checkBudget, status: checkBudgetStatus,
	}
	all[meta.GVK{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}] = kind{
		check: checkAutoscaler, status: checkAutoscalerStatus,
	}
	all[meta.GVK{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"}] = kind{check: checkLease}
	all[meta.GVK{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"}] = kind{check: checkPriorityClass}
	all[meta.GVK{Version: "v1", Kind: "ResourceQuota"}] = kind{check: checkQuota, status: checkQuotaStatus}
	all[meta.GVK{Version: "v1", Kind: "LimitRange"}] = kind{check: checkLimitRange}
}

func addPolicyDefaults(all map[string]func(jsontree.Object)) {
	all["autoscaling.v2.HorizontalPodAutoscaler"] = defaultAutoscaler
	for _, name := range []string{"ExternalMetricStatus", "ObjectMetricStatus", "PodsMetricStatus"} {
		all["autoscaling.v2."+name] = func(m jsontree.Object) {
			section(m, "metric")
			if name == "ObjectMetricStatus" {
				section(m, "describedObject")
			}
		}
	}
	all["scheduling.v1.PriorityClass"] = func(m jsontree.Object) {
		setDefault(m, "preemptionPolicy", "PreemptLowerPriority")
	}
	all["core.v1.LimitRangeItem"] = defaultLimit
	all["core.v1.LimitRangeSpec"] = func(m jsontree.Object) {
		if limits, _ := m["limits"].([]any); len(limits) == 0 {
			delete(m, "limits")
		}
	}
}

func checkBudget(v value) {
	spec := v.at("spec")
	least, most := spec.at("minAvailable"), spec.at("maxUnavailable")
	if least.exists() && most.exists() {
		spec.invalid("minAvailable and maxUnavailable cannot be both set")
	}
	for _, share := range []value{least, most} {
		if share.exists() {
			share.share(true)
		}
	}
	checkSelector(spec.at("selector"))
	if policy := spec.at("unhealthyPodEvictionPolicy"); policy.exists() {
		policy.among("AlwaysAllow", "IfHealthyBudget")
	}
}

func checkBudgetStatus(v value) {
	status := v.at("status")
	checkStatusConditions(status.at("conditions"))
	naturals(status, "disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
}

func checkLease(v value) {
	spec := v.at("spec")
	if duration := spec.at("leaseDurationSeconds"); duration.exists() {
		duration.atLeast(1)
	}
	spec.at("leaseTransitions").natural()
}

func checkPriorityClass(v value) {
	if v.updates {
		if n := v.at("value"); n.number() != before(n).number() {
			n.forbidden("may not be changed in an update")
		}
		v.at("preemptionPolicy").immutable()
		return
	}
	switch name := v.at("metadata", "name"); {
	case strings.HasPrefix(name.text(), "system-"):
		name.forbidden("priority class names with 'system-' prefix are reserved for system use only")
	case v.at("value").number() > 1_000_000_000:
		v.at("value").forbidden("maximum allowed value of a user defined priority is 1000000000")
	}
	v.at("preemptionPolicy").oneOf("Never", "PreemptLowerPriority")
}
