package strategy

import (
	"maps"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// checkJobUpdate checks the changes of a job.
func checkJobUpdate(v value) {
	spec := v.at("spec")
	completions := spec.at("completions")
	switch {
	case !spec.isIndexed():
		completions.immutable()
	case !completions.unchanged() && completions.exists() && completions.number() != spec.at("parallelism").number():
		completions.invalid("can only be modified in tandem with parallelism")
	}
	for _, name := range []string{
		"selector", "completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy",
	} {
		if of := spec.at(name); of.immutable() && of.exists() != before(of).exists() {
			of.invalid("field is immutable")
		}
	}
	checkJobTemplateUpdate(v)
}

// checkJobTemplateUpdate checks the changes of the template of a job. As long as the job is suspended and has no active
// pods, an update may change the resources of containers, the labels and annotations, and the members that decide where
// a pod runs.
func checkJobTemplateUpdate(v value) {
	template, old := v.at("spec", "template"), before(v)
	suspended := old.at("spec", "suspend").flag()
	idle := suspended && old.at("status", "active").number() == 0 &&
		(!old.at("status", "startTime").exists() || hasTrue(old.at("status", "conditions"), "Suspended"))
	if !idle {
		if !sameSpec(template.is, template.was) {
			template.invalid("field is immutable")
		}
		return
	}
	pod := template.at("spec")
	if !sameSpec(fixedPod(pod.is), fixedPod(pod.was)) {
		pod.invalid("field is immutable")
	}
}

// fixedPod returns the spec of a pod without the members that may change while a job is suspended.
func fixedPod(spec any) jsontree.Object {
	m, _ := spec.(jsontree.Object)
	if m = maps.Clone(m); m == nil {
		return nil
	}
	for _, name := range []string{"nodeSelector", "tolerations", "schedulingGates"} {
		delete(m, name)
	}
	if affinity := maps.Clone(inner(m, "affinity")); affinity != nil {
		delete(affinity, "nodeAffinity")
		if m["affinity"] = affinity; len(affinity) == 0 {
			delete(m, "affinity")
		}
	}
	for _, name := range []string{"containers", "initContainers"} {
		list, _ := m[name].([]any)
		var containers []any
		for _, c := range list {
			containers = append(containers, lacking(c, "resources"))
		}
		m[name] = containers
	}
	return m
}

// hasTrue reports whether a list of conditions has a true one of a type.
func hasTrue(conditions value, kind string) bool { return hasCondition(conditions, kind, "True") }

func hasCondition(conditions value, kind, status string) bool {
	for _, c := range conditions.items() {
		if c.at("type").text() == kind && c.at("status").text() == status {
			return true
		}
	}
	return false
}
