package strategy

import (
	"slices"
	"time"
)

// jobState has the conditions of a job.
type jobState struct{ complete, failed, failing, succeeding bool }

func stateOf(conditions value) jobState {
	return jobState{
		complete: hasTrue(conditions, "Complete"), failed: hasTrue(conditions, "Failed"),
		failing: hasTrue(conditions, "FailureTarget"), succeeding: hasTrue(conditions, "SuccessCriteriaMet"),
	}
}

func (s jobState) finished() bool { return s.complete || s.failed }

func checkJobStatus(v value) {
	status := v.at("status")
	naturals(status, "active", "succeeded", "failed", "ready", "terminating")
	checkUncounted(status.at("uncountedTerminatedPods"))
	checkJobConditions(v)
	checkFinishedJob(v)
	checkJobTimes(v)
	checkIndexes(v)
	active, ready := status.at("active"), status.at("ready")
	if ready.exists() && (!ready.unchanged() || !active.unchanged()) && ready.number() > active.number() {
		ready.invalid("cannot set more ready pods than active")
	}
	counters := []value{status.at("failed")}
	if spec := v.at("spec"); !spec.isIndexed() || !same(spec.at("completions").is, spec.at("parallelism").is) {
		counters = append(counters, status.at("succeeded"))
	}
	for _, counter := range counters {
		if counter.number() < before(counter).number() {
			counter.invalid("cannot decrease the counter")
		}
	}
}

// checkUncounted checks the UIDs of pods that have ended and are not counted yet.
func checkUncounted(v value) {
	seen := map[string]bool{}
	for _, uid := range slices.Concat(v.at("succeeded").items(), v.at("failed").items()) {
		switch {
		case uid.text() == "":
			uid.invalid("must not be empty")
		case seen[uid.text()]:
			uid.duplicate()
		}
		seen[uid.text()] = true
	}
}

func checkJobConditions(v value) {
	conditions := v.at("status", "conditions")
	is, was := stateOf(conditions), stateOf(before(conditions))
	changed := func(a, b bool) bool { return a != b }
	for _, wrong := range []struct {
		is  bool
		why string
	}{
		{is.complete && is.failed && (!was.complete || !was.failed), "cannot set Complete=True and Failed=true conditions"},
		{
			is.complete && is.failing && (!was.complete || !was.failing),
			"cannot set Complete=True and FailureTarget=true conditions",
		},
		{
			is.failed && !is.failing && (!was.failed || !v.at("status", "failedIndexes").unchanged()),
			"cannot set Failed=True condition without the FailureTarget=true condition",
		},
		{
			is.complete && !is.succeeding && (!was.complete || changed(is.succeeding, was.succeeding)),
			"cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
		},
		{is.succeeding && is.failed, "cannot set SuccessCriteriaMet=True and Failed=true conditions"},
		{is.succeeding && is.failing, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"},
		{
			is.complete && !is.succeeding && v.at("spec", "successPolicy").exists(),
			"cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True",
		},
		{
			was.failed && !is.failed || was.complete && !is.complete || was.failing && !is.failing,
			"cannot disable a terminal condition",
		},
		{was.succeeding && !is.succeeding, "cannot disable the SuccessCriteriaMet=True condition"},
		{
			was.complete && !was.succeeding && is.succeeding,
			"cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions",
		},
	} {
		if wrong.is {
			conditions.invalid("%s", wrong.why)
		}
	}
}

// checkFinishedJob checks that a job that finishes has no pods.
func checkFinishedJob(v value) {
	status := v.at("status")
	is, was := stateOf(status.at("conditions")), stateOf(before(status.at("conditions")))
	if !is.finished() {
		return
	}
	finishes := !was.finished()
	for _, name := range []string{"active", "terminating"} {
		if pods := status.at(name); pods.number() > 0 && (finishes || !pods.unchanged()) {
			pods.invalid("must be 0 for finished job")
		}
	}
	start, uncounted := status.at("startTime"), status.at("uncountedTerminatedPods")
	completions := v.at("spec", "completions")
	idle := v.at("spec", "suspend").flag() && completions.exists() && completions.number() == 0
	if !start.exists() && (finishes || !start.unchanged()) && !idle {
		start.required("startTime is required for finished job")
	}
	if uncounted.at("failed").len()+uncounted.at("succeeded").len() > 0 && (finishes || !uncounted.unchanged()) {
		uncounted.invalid("must be empty for finished job")
	}
}

func checkJobTimes(v value) {
	status := v.at("status")
	conditions, start, end := status.at("conditions"), status.at("startTime"), status.at("completionTime")
	is, was := stateOf(conditions), stateOf(before(conditions))
	ends := is.complete != was.complete || !end.unchanged()
	switch {
	case ends && end.exists() && !is.complete:
		end.invalid("cannot set completionTime when there is no Complete=True condition")
	case ends && !end.exists() && is.complete:
		end.required("completionTime is required for Complete jobs")
	}
	if (!start.unchanged() || !end.unchanged()) && start.exists() && end.exists() && end.time().Before(start.time()) {
		end.invalid("must be equal to or after `startTime`")
	}
	if end.exists() && before(end).exists() {
		end.immutable()
	}
	resumes := hasTrue(before(conditions), "Suspended") && hasCondition(conditions, "Suspended", "False")
	if before(start).exists() && !resumes && !v.at("spec", "suspend").flag() {
		start.immutable()
	}
}

// time returns a time; zero if it is absent.
func (v value) time() time.Time {
	t, _ := time.Parse(time.RFC3339, v.text())
	return t
}

// checkIndexes checks the indexes of pods that have ended.
func checkIndexes(v value) {
	completed, failed := v.at("status", "completedIndexes"), v.at("status", "failedIndexes")
	count := v.at("spec", "completions")
	limited := v.at("spec", "backoffLimitPerIndex").exists()
	done, err := parseIndexes(completed.text(), count.number())
	if !completed.unchanged() {
		switch {
		case !v.at("spec").isIndexed() && completed.text() != "":
			completed.invalid("cannot set non-empty completedIndexes when non-indexed completion mode")
		case count.exists() && err != nil:
			completed.invalid("error parsing completedIndexes: %v", err)
		}
	}
	lost, err := parseIndexes(failed.text(), count.number())
	switch {
	case failed.unchanged():
	case failed.exists() && !limited:
		failed.invalid("cannot set non-null failedIndexes when backoffLimitPerIndex is null")
	case count.exists() && failed.exists() && err != nil:
		failed.invalid("error parsing failedIndexes: %v", err)
	}
	if failed.unchanged() && completed.unchanged() || !count.exists() {
		return
	}
	for _, a := range done {
		for _, b := range lost {
			if a.from <= b.to && b.from <= a.to {
				failed.invalid("failedIndexes and completedIndexes overlap")
				return
			}
		}
	}
}
