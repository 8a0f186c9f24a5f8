package strategy

import (
	"regexp"
	"strings"
	"sync"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// addConditionDefaults adds the members that the conditions of workloads always have, even if they are empty.
func addConditionDefaults(all map[string]func(jsontree.Object)) {
	for name, times := range map[string]string{
		"apps.v1.DeploymentCondition":                     "lastUpdateTime lastTransitionTime",
		"apps.v1.ReplicaSetCondition":                     "lastTransitionTime",
		"apps.v1.StatefulSetCondition":                    "lastTransitionTime",
		"apps.v1.DaemonSetCondition":                      "lastTransitionTime",
		"core.v1.ReplicationControllerCondition":          "lastTransitionTime",
		"core.v1.PersistentVolumeClaimCondition":          "lastProbeTime lastTransitionTime",
		"batch.v1.JobCondition":                           "lastProbeTime lastTransitionTime",
		"autoscaling.v2.HorizontalPodAutoscalerCondition": "lastTransitionTime",
	} {
		all[name] = func(m jsontree.Object) {
			setDefault(m, "type", "")
			setDefault(m, "status", "")
			for time := range strings.FieldsSeq(times) {
				if m[time] == nil {
					m[time] = nil // it is written as null
				}
			}
		}
	}
}

var reasonForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)
})

// checkStatusConditions checks a list of meta/v1 Conditions.
func checkStatusConditions(v value) {
	seen := map[string]bool{}
	for _, c := range v.items() {
		name, reason := c.at("type"), c.at("reason")
		if seen[name.text()] {
			c.duplicate()
		}
		seen[name.text()] = true
		if name.must() {
			name.fits(qualified(name.text()))
		}
		c.at("status").oneOf("False", "True", "Unknown")
		c.at("observedGeneration").natural()
		c.at("lastTransitionTime").must()
		if reason.must() {
			reason.fits(matching(reasonForm())(reason.text()))
		}
		if reason.len() > 1<<10 {
			reason.tooLong(1 << 10)
		}
		if message := c.at("message"); message.len() > 32<<10 {
			message.tooLong(32 << 10)
		}
	}
}
