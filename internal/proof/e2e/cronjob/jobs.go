package cronjob

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/bowline-go/bowline/client"
)

// scheduledAt is the annotation of a job that says for which time of the schedule it was made.
const scheduledAt = "batch.tutorial.example.com/scheduled-at"

// children are the jobs of one CronJob by their state, each group in the order of the schedule.
type children struct {
	active, succeeded, failed []*batchv1.Job
	newest                    time.Time // of the times that they were made for
}

func sorted(jobs iter.Seq[*batchv1.Job]) children {
	var c children
	for job := range jobs {
		switch finished(job) {
		case batchv1.JobComplete:
			c.succeeded = append(c.succeeded, job)
		case batchv1.JobFailed:
			c.failed = append(c.failed, job)
		default:
			c.active = append(c.active, job)
		}
		if t := timeOf(job); t.After(c.newest) {
			c.newest = t
		}
	}
	for _, group := range [][]*batchv1.Job{c.active, c.succeeded, c.failed} {
		slices.SortFunc(group, func(a, b *batchv1.Job) int {
			return cmp.Or(timeOf(a).Compare(timeOf(b)), cmp.Compare(a.Name, b.Name))
		})
	}
	return c
}

// finished returns the type of the condition that ended a job; it is empty while the job runs.
func finished(job *batchv1.Job) batchv1.JobConditionType {
	for _, c := range job.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return c.Type
		}
	}
	return ""
}

// timeOf returns the time of the schedule that a job was made for; zero if it does not say.
func timeOf(job *batchv1.Job) time.Time {
	t, err := time.Parse(time.RFC3339, job.Annotations[scheduledAt])
	if err != nil {
		return time.Time{}
	}
	return t
}

// beyond returns the oldest jobs, as many as there are above a limit.
func beyond(jobs []*batchv1.Job, limit *int32) []*batchv1.Job {
	if limit == nil {
		return nil
	}
	return jobs[:max(0, len(jobs)-max(0, int(*limit)))]
}

// references returns the jobs as a status names them.
func references(jobs []*batchv1.Job) []corev1.ObjectReference {
	var refs []corev1.ObjectReference
	for _, job := range jobs {
		refs = append(refs, corev1.ObjectReference{
			APIVersion: Jobs.GVK().APIVersion(), Kind: Jobs.Kind, Namespace: job.Namespace, Name: job.Name, UID: job.UID,
		})
	}
	return refs
}

// jobAt returns the job of a CronJob for one time of its schedule. The name is the same however often it is made, so
// that a second attempt cannot make a second job.
func jobAt(cron *CronJob, at time.Time) (*batchv1.Job, error) {
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: cron.Namespace, Name: fmt.Sprintf("%s-%d", cron.Name, at.Unix()),
			Labels:      maps.Clone(cron.Spec.JobTemplate.Labels),
			Annotations: map[string]string{scheduledAt: at.UTC().Format(time.RFC3339)},
		},
		Spec: *cron.Spec.JobTemplate.Spec.DeepCopy(),
	}
	maps.Copy(job.Annotations, cron.Spec.JobTemplate.Annotations)
	return job, client.SetController(job, client.OwnerOf(CronJobs, cron))
}
