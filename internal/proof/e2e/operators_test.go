package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/proof/e2e/cronjob"
	"github.com/bowline-go/bowline/internal/proof/e2e/sample"
)

// define installs the definition of a custom resource and waits until it is served.
func define(t *testing.T, c *client.Client, definition string) {
	t.Helper()
	made := create(t, client.For(c, definitions), "", definition)
	t.Cleanup(func() {
		if err := client.For(c, definitions).Delete(context.WithoutCancel(t.Context()), meta.KeyOf(made), client.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must(client.WaitFor(ctx, client.For(c, definitions), meta.KeyOf(made), client.UntilReady()))(t)
}

// runs runs a controller until the test ends.
func runs(t *testing.T, ctl informer.Runner) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- informer.Run(ctx, ctl) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the controller ended: %v", err)
		}
	})
}

// until waits until an object is as a condition says.
func until[T meta.Object](t *testing.T, r client.Resource[T], key meta.Key, what string, met func(obj T) bool) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return must(client.WaitFor(ctx, r, key, client.Until(what, func(obj T) (bool, error) { return met(obj), nil })))(t)
}

func TestTheSampleControllerWorksOnARealServer(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	define(t, c, sample.Definition)
	runs(t, sample.New(open(t, adminConfig()), ns, controller.Options{OnError: func(error) {}}))

	foos, deployments := client.For(c, sample.Foos), client.For(c, sample.Deployments)
	foo := must(foos.Create(t.Context(), &sample.Foo{
		ObjectMeta: meta.ObjectMeta{Namespace: ns, Name: "a"},
		Spec:       sample.FooSpec{DeploymentName: "app", Replicas: 2},
	}))(t)
	key, app := meta.KeyOf(foo), meta.Key{Namespace: ns, Name: "app"}
	made := until(t, deployments, app, "there", func(d *sample.Deployment) bool { return d.Spec.Replicas == 2 })
	if owner, ok := meta.ControllerOf(made); !ok || owner.UID != foo.UID {
		t.Errorf("the deployment is owned by %v", owner)
	}
	must(deployments.Status().Modify(t.Context(), app, func(d *sample.Deployment) error {
		d.Status.Replicas, d.Status.ReadyReplicas, d.Status.AvailableReplicas = 2, 2, 2
		return nil
	}))(t)
	until(t, foos, key, "available", func(f *sample.Foo) bool { return f.Status.AvailableReplicas == 2 })

	must(foos.Modify(t.Context(), key, func(f *sample.Foo) error { f.Spec.Replicas = 0; return nil }))(t)
	until(t, deployments, app, "scaled to zero", func(d *sample.Deployment) bool { return d.Spec.Replicas == 0 })
	settled := until(t, foos, key, "ready", func(f *sample.Foo) bool {
		ready := meta.FindCondition(f.Status.Conditions, sample.Ready)
		return ready != nil && ready.ObservedGeneration == f.Generation
	})

	// A second Foo that names the same deployment is told whose it is, and changes nothing.
	before := must(deployments.Get(t.Context(), app))(t)
	must(foos.Create(t.Context(), &sample.Foo{
		ObjectMeta: meta.ObjectMeta{Namespace: ns, Name: "b"},
		Spec:       sample.FooSpec{DeploymentName: "app", Replicas: 5},
	}))(t)
	second := until(t, foos, meta.Key{Namespace: ns, Name: "b"}, "refused", func(f *sample.Foo) bool { return len(f.Status.Conditions) > 0 })
	if got := second.Status.Conditions[0]; got.Reason != "Taken" || !strings.Contains(got.Message, `Foo "a"`) {
		t.Errorf("the second Foo has the condition %+v", got)
	}
	equal(t, "the version of the deployment", must(deployments.Get(t.Context(), app))(t).ResourceVersion, before.ResourceVersion)
	equal(t, "the version of the first Foo", must(foos.Get(t.Context(), key))(t).ResourceVersion, settled.ResourceVersion)
}

func TestTheCronJobControllerWorksOnARealServer(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	define(t, c, cronjob.Definition)
	crons, jobs := client.For(c, cronjob.CronJobs), client.For(c, cronjob.Jobs)

	// The last run was two hours ago, so that a job is due at once and none for the rest of the hour.
	cron := &cronjob.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "tick"}}
	now := time.Now()
	cron.Spec.Schedule = fmt.Sprintf("%d * * * *", now.Add(-10*time.Minute).Minute())
	cron.Spec.SuccessfulJobsHistoryLimit = new(int32)
	cron.Spec.JobTemplate.Spec.Template.Spec = corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers:    []corev1.Container{{Name: "work", Image: "busybox"}},
	}
	cron = must(crons.Create(t.Context(), cron))(t)
	key := meta.KeyOf(cron)
	must(crons.Status().Modify(t.Context(), key, func(c *cronjob.CronJob) error {
		c.Status.LastScheduleTime = &metav1.Time{Time: now.Add(-2 * time.Hour)}
		return nil
	}))(t)
	runs(t, cronjob.New(open(t, adminConfig()), ns, controller.Options{}))

	active := until(t, crons, key, "active", func(c *cronjob.CronJob) bool { return len(c.Status.Active) == 1 })
	jobKey := meta.Key{Namespace: ns, Name: active.Status.Active[0].Name}
	job := must(jobs.Get(t.Context(), jobKey))(t)
	if owner := metav1.GetControllerOf(job); owner == nil || owner.UID != cron.UID || job.UID != active.Status.Active[0].UID {
		t.Errorf("the job is %v, owned by %v", job.UID, owner)
	}
	if last := active.Status.LastScheduleTime; last == nil || now.Sub(last.Time) > time.Hour || last.Time.After(now) {
		t.Errorf("the job is for %v, want the newest time that was missed before %v", last, now)
	}

	// A server lets a job be complete only in this order: started, successful, complete.
	for _, change := range []func(*batchv1.JobStatus){
		func(s *batchv1.JobStatus) { s.StartTime = &metav1.Time{Time: now} },
		func(s *batchv1.JobStatus) {
			s.Conditions = append(s.Conditions, batchv1.JobCondition{Type: batchv1.JobSuccessCriteriaMet, Status: corev1.ConditionTrue})
		},
		func(s *batchv1.JobStatus) {
			s.CompletionTime = &metav1.Time{Time: now.Add(time.Minute)}
			s.Succeeded, s.UncountedTerminatedPods = 1, nil
			s.Conditions = append(s.Conditions, batchv1.JobCondition{Type: batchv1.JobComplete, Status: corev1.ConditionTrue})
		},
	} {
		must(jobs.Status().Modify(t.Context(), jobKey, func(j *batchv1.Job) error { change(&j.Status); return nil }))(t)
	}
	until(t, crons, key, "idle", func(c *cronjob.CronJob) bool { return len(c.Status.Active) == 0 })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := client.WaitFor(ctx, jobs, jobKey, client.UntilDeleted(string(job.UID))); err != nil { // the history keeps none
		t.Error(err)
	}
	if _, err := jobs.Get(t.Context(), jobKey); !errors.Is(err, apierrors.NotFound) {
		t.Errorf("the job that the history does not keep is there: %v", err)
	}
}
