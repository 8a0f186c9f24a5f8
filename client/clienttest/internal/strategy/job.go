package strategy

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

func checkJob(v value) {
	spec := v.at("spec")
	checkJobSpec(spec)
	selector, template := spec.at("selector"), spec.at("template")
	switch {
	case !selector.exists():
		selector.required("")
		template.at("metadata", "labels").invalid("`selector` does not match template `labels`")
	case !selector.reports(checkSelector) && !selectsTemplate(spec):
		template.at("metadata", "labels").invalid("`selector` does not match template `labels`")
	}
	if v.creates() {
		checkJobLabels(v)
	} else {
		checkJobUpdate(v)
	}
	name, completions := v.at("metadata", "name"), spec.at("completions")
	if spec.isIndexed() && completions.number() > 0 {
		if host := fmt.Sprintf("%s-%d", name.text(), completions.number()-1); len(label(host)) > 0 {
			name.invalid("will not be able to create pod with invalid DNS label: %s", host)
		}
	}
}

// isIndexed reports whether each pod of a job has an index. v is the spec of the job.
func (v value) isIndexed() bool { return v.at("completionMode").text() == "Indexed" }

// checkJobLabels checks that the labels of the template and the selector are those that a server adds.
func checkJobLabels(v value) {
	spec := v.at("spec")
	if spec.at("manualSelector").flag() || !spec.at("selector").exists() {
		return
	}
	uid, name := v.at("metadata", "uid").text(), v.at("metadata", "name").text()
	wanted := jsontree.Object{
		"controller-uid": uid, "job-name": name,
		"batch.kubernetes.io/controller-uid": uid, "batch.kubernetes.io/job-name": name,
	}
	labels := spec.at("template", "metadata", "labels")
	for key, text := range wanted {
		switch label := labels.key(key); {
		case !label.exists():
			label.path = labels.path
			label.required("must be " + text.(string))
		case label.is != text:
			label.path = labels.path
			label.invalid("must be %s", text)
		}
	}
	sound := !value{to: &report{}, is: spec.at("selector").is}.reports(checkSelector)
	if sound && !selects(spec.at("selector"), value{is: wanted}) {
		spec.at("selector").invalid("`selector` not auto-generated")
	}
}

// checkJobSpec checks the spec of a job, also in a template.
func checkJobSpec(v value) {
	naturals(v, "parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished",
		"backoffLimitPerIndex", "maxFailedIndexes")
	if v.at("maxFailedIndexes").exists() && !v.at("backoffLimitPerIndex").exists() {
		v.at("backoffLimitPerIndex").required("when maxFailedIndexes is specified")
	}
	if by := v.at("managedBy"); by.exists() {
		checkManager(by)
	}
	if mode := v.at("completionMode"); mode.exists() {
		mode.among("NonIndexed", "Indexed")
	}
	checkIndexed(v)
	failures, successes, replacement := v.at("podFailurePolicy"), v.at("successPolicy"), v.at("podReplacementPolicy")
	if failures.exists() {
		checkFailurePolicy(v, failures.at("rules"))
	}
	switch {
	case successes.exists() && !v.isIndexed():
		successes.invalid("requires indexed completion mode")
	case successes.exists():
		checkSuccessPolicy(v, successes.at("rules"))
	}
	switch {
	case !replacement.exists():
	case failures.exists():
		replacement.among("Failed")
	default:
		replacement.among("Failed", "TerminatingOrFailed")
	}
	checkPodTemplate(v.at("template"))
	policy := v.at("template", "spec", "restartPolicy")
	switch policy.text() {
	case "Always", "":
		policy.required(`valid values: "OnFailure", "Never"`)
	case "Never":
	case "OnFailure":
		if failures.exists() {
			policy.invalid("only \"Never\" is supported when podFailurePolicy is specified")
		}
	default:
		policy.unsupported("OnFailure", "Never")
	}
}

// checkManager checks the name of the controller of a job, which is a path after a DNS name.
func checkManager(v value) {
	host, path, _ := strings.Cut(v.text(), "/")
	switch {
	case !v.must():
	case host == "" || path == "":
		v.invalid(`must be a domain-prefixed path (such as "acme.io/foo")`)
	default:
		v.fits(subdomain(host))
		v.fits(matching(regexp.MustCompile(`^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$`))(path))
	}
	if v.len() > 63 {
		v.tooLong(63)
	}
}

// checkIndexed checks the members of the spec of a job that depend on whether each pod has an index.
func checkIndexed(v value) {
	const high, highest = 10_000, 100_000
	limit, most := v.at("backoffLimitPerIndex"), v.at("maxFailedIndexes")
	completions, parallelism := v.at("completions"), v.at("parallelism")
	if mode := v.at("completionMode"); !mode.exists() || mode.text() == "NonIndexed" {
		for _, of := range []value{limit, most} {
			if of.exists() {
				of.invalid("requires indexed completion mode")
			}
		}
	}
	if !v.isIndexed() {
		return
	}
	if !completions.exists() {
		completions.required("when completion mode is Indexed")
	}
	if completions.exists() && most.exists() && most.number() > completions.number() {
		most.invalid("must be less than or equal to completions")
	}
	atMost := func(limit int64) {
		for _, of := range []value{parallelism, most} {
			if of.number() > limit {
				of.invalid("must be less than or equal to %d", limit)
			}
		}
	}
	atMost(highest)
	if completions.number() > highest && limit.exists() {
		if !most.exists() {
			most.required("must be specified when completions is above 100000")
		}
		atMost(high)
	}
}
