package strategy

import (
	"math"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

func addBatch(all map[meta.GVK]kind) {
	all[meta.GVK{Group: "batch", Version: "v1", Kind: "Job"}] = kind{check: checkJob, status: checkJobStatus}
	all[meta.GVK{Group: "batch", Version: "v1", Kind: "CronJob"}] = kind{check: checkCronJob}
}

func addBatchDefaults(all map[string]func(jsontree.Object)) {
	all["batch.v1.Job"] = defaultJob
	all["batch.v1.CronJob"] = func(m jsontree.Object) {
		spec := section(m, "spec")
		specWithTemplate(section(spec, "jobTemplate"))
		setText(spec, "concurrencyPolicy", "Allow")
		setDefault(spec, "suspend", false)
		setDefault(spec, "successfulJobsHistoryLimit", number(3))
		setDefault(spec, "failedJobsHistoryLimit", number(1))
	}
	all["batch.v1.PodFailurePolicyOnPodConditionsPattern"] = func(m jsontree.Object) { setText(m, "status", "True") }
}

func defaultJob(m jsontree.Object) {
	spec := specWithTemplate(m)
	if spec["parallelism"] == nil {
		setDefault(spec, "completions", number(1))
	}
	setDefault(spec, "parallelism", number(1))
	backoff, replacement := 6, "TerminatingOrFailed"
	if spec["backoffLimitPerIndex"] != nil {
		backoff = math.MaxInt32
	}
	if spec["podFailurePolicy"] != nil {
		replacement = "Failed"
	}
	setDefault(spec, "backoffLimit", number(backoff))
	setDefault(spec, "completionMode", "NonIndexed")
	setDefault(spec, "suspend", false)
	setDefault(spec, "podReplacementPolicy", replacement)
	setDefault(spec, "manualSelector", false)
}
