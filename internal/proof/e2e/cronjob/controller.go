// Package cronjob is a controller like the CronJob controller that the Kubebuilder tutorial builds, for the types of
// k8s.io/api: a custom resource that makes jobs by a schedule, keeps a history of them, and says in its status which
// run.
package cronjob

import (
	"context"
	"errors"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// New returns the controller of the CronJobs of one namespace, or of all if it is empty.
func New(c *client.Client, namespace string, o controller.Options) *controller.Controller[meta.Key] {
	r := &reconciler{cronJobs: client.For(c, CronJobs), jobs: client.For(c, Jobs)}
	r.knownCronJobs = informer.New(r.cronJobs, informer.Options{Namespace: namespace})
	r.knownJobs = informer.New(r.jobs, informer.Options{Namespace: namespace})
	r.byOwner = cache.NewIndex(r.knownJobs.Reader(), func(job *batchv1.Job) []types.UID {
		if owner := metav1.GetControllerOf(job); owner != nil && owner.Kind == CronJobs.Kind {
			return []types.UID{owner.UID}
		}
		return nil
	})
	return controller.New("cronjobs", o, r.reconcile,
		controller.Watch(r.knownCronJobs),
		controller.Owns(r.knownJobs, CronJobs))
}

type reconciler struct {
	cronJobs      client.Resource[*CronJob]
	jobs          client.Resource[*batchv1.Job]
	knownCronJobs *informer.Informer[*CronJob]
	knownJobs     *informer.Informer[*batchv1.Job]
	byOwner       *cache.Index[types.UID, *batchv1.Job]
}

func (r *reconciler) reconcile(ctx context.Context, key meta.Key) (controller.Result, error) {
	cron, ok := r.knownCronJobs.Reader().Get(key)
	if !ok || meta.IsDeleting(cron) {
		return controller.Result{}, nil // the garbage collector deletes the jobs
	}
	mine := sorted(r.byOwner.Get(cron.UID))
	cron, err := r.writeStatus(ctx, cron, mine)
	if err != nil {
		return controller.Result{}, apierrors.Ignore(err, apierrors.NotFound)
	}
	old := slices.Concat(beyond(mine.succeeded, cron.Spec.SuccessfulJobsHistoryLimit), beyond(mine.failed, cron.Spec.FailedJobsHistoryLimit))
	if err := r.remove(ctx, old); err != nil {
		return controller.Result{}, err
	}
	if cron.Spec.Suspend != nil && *cron.Spec.Suspend {
		return controller.Result{}, nil
	}
	return r.start(ctx, cron, mine)
}

// writeStatus writes which jobs run, and the newest time for which there was a job, because that job may be deleted.
func (r *reconciler) writeStatus(ctx context.Context, cron *CronJob, mine children) (*CronJob, error) {
	key := meta.KeyOf(cron)
	written, err := r.cronJobs.Status().ModifyWith(ctx, key, func(c *CronJob) error {
		c.Status.Active = references(mine.active)
		if last := c.Status.LastScheduleTime; !mine.newest.IsZero() && (last == nil || last.Time.Before(mine.newest)) {
			c.Status.LastScheduleTime = &metav1.Time{Time: mine.newest}
		}
		return nil
	}, client.ModifyOptions{Known: cron})
	if err != nil {
		return nil, err
	}
	// The written status decides about the next job, so it has to be in the cache before the next reconcile.
	return written, r.knownCronJobs.WaitFor(ctx, key, written.ResourceVersion)
}

// remove deletes jobs, each only if it is still the one that was looked at, and their pods with them.
func (r *reconciler) remove(ctx context.Context, jobs []*batchv1.Job) error {
	var all []error
	for _, job := range jobs {
		err := r.jobs.Delete(ctx, meta.KeyOf(job), client.DeleteOptions{UID: string(job.UID), Propagation: client.Background})
		all = append(all, apierrors.Ignore(err, apierrors.NotFound, apierrors.Conflict))
	}
	return errors.Join(all...)
}

// start makes the job that is due, if one is, and says when to look again.
func (r *reconciler) start(ctx context.Context, cron *CronJob, mine children) (controller.Result, error) {
	now := time.Now()
	last := cron.CreationTimestamp.Time
	if cron.Status.LastScheduleTime != nil {
		last = cron.Status.LastScheduleTime.Time
	}
	if deadline := cron.Spec.StartingDeadlineSeconds; deadline != nil {
		if from := now.Add(-time.Duration(*deadline) * time.Second); from.After(last) {
			last = from
		}
	}
	missed, next, err := due(cron.Spec.Schedule, last, now)
	if err != nil {
		return controller.Result{}, controller.Terminal(err)
	}
	later := controller.Result{RequeueAt: next}
	if missed.IsZero() {
		return later, nil
	}
	switch cron.Spec.ConcurrencyPolicy {
	case Forbid:
		if len(mine.active) > 0 {
			return later, nil
		}
	case Replace:
		if err := r.remove(ctx, mine.active); err != nil {
			return controller.Result{}, err
		}
	}
	job, err := jobAt(cron, missed)
	if err != nil {
		return controller.Result{}, controller.Terminal(err)
	}
	made, err := r.jobs.Create(ctx, job)
	switch {
	case errors.Is(err, apierrors.AlreadyExists): // an earlier attempt made it, and its answer was lost
	case err != nil:
		return controller.Result{}, err
	default:
		// The next reconcile has to see it among the active ones.
		if err := r.knownJobs.WaitFor(ctx, meta.KeyOf(made), made.ResourceVersion); err != nil {
			return controller.Result{}, err
		}
	}
	return later, nil
}
