package controllers

import (
	"fmt"
	"slices"
)

// podFailurePolicy says what the failure of a pod means for its job.
type podFailurePolicy struct {
	Rules []struct {
		Action      string `json:"action"`
		OnExitCodes *struct {
			ContainerName *string `json:"containerName,omitempty"`
			Operator      string  `json:"operator"`
			Values        []int   `json:"values"`
		} `json:"onExitCodes,omitempty"`
		OnPodConditions []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
		} `json:"onPodConditions,omitempty"`
	} `json:"rules"`
}

// The actions of a policy.
const (
	ignoreFailure = "Ignore"
	failJob       = "FailJob"
	failIndex     = "FailIndex"
	countFailure  = "Count"
)

// action returns what the policy does about a pod that has failed, and why if it fails the job. Without a rule for the
// pod, the failure counts.
func (f *podFailurePolicy) action(p *podObject) (action, message string) {
	if f == nil {
		return countFailure, ""
	}
	for i, rule := range f.Rules {
		if on := rule.OnExitCodes; on != nil {
			for _, c := range slices.Concat(p.Status.Containers, p.Status.InitContainers) {
				ended := c.State.Terminated
				if ended == nil || ended.ExitCode == 0 || on.ContainerName != nil && *on.ContainerName != c.Name {
					continue
				}
				if slices.Contains(on.Values, ended.ExitCode) == (on.Operator == "In") {
					return rule.Action, fmt.Sprintf("Container %s for pod %s/%s failed with exit code %d matching %s rule at index %d",
						c.Name, p.Namespace, p.Name, ended.ExitCode, rule.Action, i)
				}
			}
			continue
		}
		for _, c := range p.Status.Conditions {
			for _, on := range rule.OnPodConditions {
				if c.Type == on.Type && c.Status == on.Status {
					return rule.Action, fmt.Sprintf("Pod %s/%s has condition %s matching %s rule at index %d", p.Namespace, p.Name, c.Type, rule.Action, i)
				}
			}
		}
	}
	return countFailure, ""
}

// successPolicy says which succeeded indexes are enough for the job to succeed.
type successPolicy struct {
	Rules []struct {
		SucceededIndexes *string `json:"succeededIndexes,omitempty"`
		SucceededCount   *int    `json:"succeededCount,omitempty"`
	} `json:"rules"`
}

// met returns the number of the rule that these indexes fulfil.
func (s *successPolicy) met(done indexes, completions int) (rule int, met bool) {
	if s == nil || len(done) == 0 {
		return 0, false
	}
	for i, rule := range s.Rules {
		if rule.SucceededIndexes == nil {
			if rule.SucceededCount != nil && len(done) >= *rule.SucceededCount {
				return i, true
			}
			continue
		}
		of := parseIndexes(*rule.SucceededIndexes, completions)
		have := 0
		for n := range of {
			if done[n] {
				have++
			}
		}
		if len(of) > 0 && (have == len(of) || rule.SucceededCount != nil && have >= *rule.SucceededCount) {
			return i, true
		}
	}
	return 0, false
}
