package cronjob

import (
	_ "embed" // for the definition

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/bowline-go/bowline/client"
)

// CronJob makes a job at each time of a schedule.
type CronJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              CronJobSpec   `json:"spec"`
	Status            CronJobStatus `json:"status,omitzero"`
}

// CronJobSpec says when jobs run, and which ones.
type CronJobSpec struct {
	// Schedule has the five fields of cron(5), in UTC.
	Schedule string `json:"schedule"`
	// StartingDeadlineSeconds is how late a job may start; nil means no limit.
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty"`
	// ConcurrencyPolicy says what happens when a job is due while others run; empty means Allow.
	ConcurrencyPolicy ConcurrencyPolicy `json:"concurrencyPolicy,omitempty"`
	// Suspend stops further jobs. Those that run go on.
	Suspend *bool `json:"suspend,omitempty"`
	// JobTemplate is what each job is made of.
	JobTemplate batchv1.JobTemplateSpec `json:"jobTemplate"`
	// SuccessfulJobsHistoryLimit and FailedJobsHistoryLimit are how many finished jobs stay; nil means all.
	SuccessfulJobsHistoryLimit *int32 `json:"successfulJobsHistoryLimit,omitempty"`
	FailedJobsHistoryLimit     *int32 `json:"failedJobsHistoryLimit,omitempty"`
}

// ConcurrencyPolicy says what happens when a job is due while others run.
type ConcurrencyPolicy string

// The policies.
const (
	Allow   ConcurrencyPolicy = "Allow"   // the job starts beside them
	Forbid  ConcurrencyPolicy = "Forbid"  // the job is skipped
	Replace ConcurrencyPolicy = "Replace" // they are deleted
)

// CronJobStatus is what the controller has found and done.
type CronJobStatus struct {
	// Active are the jobs that run.
	Active []corev1.ObjectReference `json:"active,omitempty"`
	// LastScheduleTime is the time of the schedule that the newest job was made for.
	LastScheduleTime *metav1.Time `json:"lastScheduleTime,omitempty"`
}

// CronJobs is the custom resource. Its definition is [Definition].
var CronJobs = client.Type[*CronJob]{Group: "batch.tutorial.example.com", Version: "v1", Kind: "CronJob", Resource: "cronjobs"}

// Jobs is the built-in resource.
var Jobs = client.Type[*batchv1.Job]{Group: "batch", Version: "v1", Kind: "Job", Resource: "jobs"}

// Definition is the CustomResourceDefinition of CronJobs. The schema leaves the template of a job open.
//
//go:embed cronjobs.json
var Definition string
