package cronjob_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/proof/e2e/cronjob"
)

// The day in figures: jobs start every five minutes, take between one and nine, and every fifth of them fails.
const (
	schedule = "*/5 * * * *"
	period   = 5 * time.Minute
	keep     = 3 // successful jobs
	keepBad  = 1 // failed jobs
	agent    = "cronjob-controller"
)

// TestEachTimeOfADayHasOneJob runs the controller for a day of virtual time, through faults of every kind and restarts of its own. Each time of the
// schedule has one job, whatever happened; in an outage longer than the period, the newest time that was missed has one. The last hour is
// calm, so that all must be in order at its end.
func TestEachTimeOfADayHasOneJob(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { oneDay(t, seed) })
		})
	}
}

func oneDay(t *testing.T, seed uint64) {
	d := newDay(t, seed)
	day, end := context.WithTimeout(t.Context(), 24*time.Hour+90*time.Second) // not at a full minute, when jobs end
	defer end()
	var wg sync.WaitGroup
	wg.Go(func() { d.cluster(day) })
	wg.Go(func() {
		troubled, calm := context.WithTimeout(day, 23*time.Hour)
		defer calm()
		d.faults(troubled)
	})
	wg.Go(func() { d.controllers(day) })

	cron := newCronJob("tick", schedule)
	cron.Spec.SuccessfulJobsHistoryLimit, cron.Spec.FailedJobsHistoryLimit = pointer(int32(keep)), pointer(int32(keepBad))
	made, err := client.For(d.client, cronjob.CronJobs).Create(t.Context(), cron)
	if err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	d.check(t, made)
}

// day is the world of one run: a server, and what was seen of the jobs on it.
type day struct {
	t      *testing.T
	server *clienttest.Server
	client *client.Client // of the test, which meets no faults of single requests
	start  time.Time

	mu    sync.Mutex // guards the rest
	dice  *rand.Rand
	made  map[string]int // the jobs that were ever there, by their time of the schedule
	down  []span         // when the controller could not work
	shift time.Time      // when the controller began
}

type span struct{ from, to time.Time }

func newDay(t *testing.T, seed uint64) *day {
	server := clienttest.Start(t, clienttest.Options{CRDs: []string{"cronjobs.json"}})
	c, err := client.New(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &day{t: t, server: server, client: c, start: time.Now(), dice: rand.New(rand.NewPCG(seed, 7)), made: map[string]int{}}
}

// one reports true once in n times.
func (d *day) one(n int) bool { return d.number(n) == 0 }

func (d *day) number(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dice.IntN(n)
}

// finish writes into the status of a job that it has ended, as the job controller does: a server takes no less.
func finish(j *batchv1.Job, how batchv1.JobConditionType) {
	now := metav1.Now()
	j.Status.StartTime = &now
	why := batchv1.JobFailureTarget
	if how == batchv1.JobComplete {
		why, j.Status.CompletionTime = batchv1.JobSuccessCriteriaMet, &now
	}
	j.Status.Conditions = []batchv1.JobCondition{{Type: how, Status: corev1.ConditionTrue}, {Type: why, Status: corev1.ConditionTrue}}
}

// cluster plays the job controller of a cluster: each job that appears ends after a while.
func (d *day) cluster(ctx context.Context) {
	jobs := client.For(d.client, cronjob.Jobs)
	inf := informer.New(jobs, informer.Options{})
	var running sync.WaitGroup
	defer running.Wait()
	inf.Subscribe(cache.HandlerFuncs[*batchv1.Job]{Add: func(job *batchv1.Job) {
		if len(job.Status.Conditions) > 0 {
			return // it comes back from a relist that the handler slept through
		}
		d.mu.Lock()
		d.made[scheduledAt(job)]++
		d.mu.Unlock()
		takes, ends := time.Duration(1+d.number(9))*time.Minute, batchv1.JobComplete
		if d.one(5) {
			ends = batchv1.JobFailed
		}
		running.Go(func() {
			select {
			case <-time.After(takes):
			case <-ctx.Done():
				return
			}
			for ctx.Err() == nil { // the faults of the server as a whole are this program's too
				_, err := jobs.Status().Modify(ctx, meta.KeyOf(job), func(j *batchv1.Job) error {
					finish(j, ends)
					return nil
				})
				if err == nil {
					return
				}
				select {
				case <-time.After(10 * time.Second):
				case <-ctx.Done():
				}
			}
		})
	}})
	if err := informer.Run(ctx, inf); err != nil {
		d.t.Errorf("the job controller ended: %v", err)
	}
}

// controllers runs the controller under test, and restarts it every three hours.
func (d *day) controllers(ctx context.Context) {
	cfg := d.server.Config()
	cfg.UserAgent = agent
	for ctx.Err() == nil {
		c, err := client.New(cfg)
		if err != nil {
			d.t.Errorf("client.New: %v", err)
			return
		}
		d.mu.Lock()
		d.shift = time.Now()
		d.mu.Unlock()
		shift, end := context.WithTimeout(ctx, 3*time.Hour)
		ctl := cronjob.New(c, "", controller.Options{Workers: 2, Timeout: time.Minute, MaxBackoff: 10 * time.Second})
		if err := informer.Run(shift, ctl); err != nil {
			d.t.Errorf("the controller ended: %v", err)
		}
		end()
		c.Close()
	}
}

// faults makes trouble until ctx ends: every request of the controller may fail in one of several ways, before or after it had its
// effect, and every few minutes something happens to the server as a whole.
func (d *day) faults(ctx context.Context) {
	d.server.Intercept(func(r *http.Request) http.HandlerFunc {
		if r.UserAgent() != agent || !d.one(12) {
			return nil
		}
		write := r.Method != http.MethodGet
		switch d.number(6) {
		case 0:
			return clienttest.TooManyRequests(time.Second)
		case 1:
			return clienttest.Reset()
		case 2:
			if write {
				return d.server.CutBody(10) // the server has written; the answer is lost
			}
		case 3:
			if r.Method == http.MethodPut {
				return clienttest.Conflict()
			}
		case 4:
			return clienttest.Answer(meta.Status{Code: http.StatusServiceUnavailable, Reason: "ServiceUnavailable", Message: "no"})
		case 5:
			return clienttest.Answer(meta.Status{Code: http.StatusInternalServerError, Reason: "InternalError", Message: "no"})
		}
		return nil
	})
	defer d.server.Intercept(nil)
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(60+d.number(600)) * time.Second):
		}
		switch d.number(7) {
		case 0:
			d.server.DropWatches()
		case 1:
			d.server.EndWatches()
		case 2:
			d.server.FailWatches(meta.Status{Code: http.StatusGone, Reason: "Expired", Message: "too old resource version"})
		case 3:
			d.server.Compact()
			d.server.DropWatches()
		case 4:
			d.freeze()
		case 5, 6:
			d.outage(ctx)
		}
	}
}

// freeze makes the connections that are open half-open. Until the informer notices that its watch is silent, the controller waits in
// vain for what it has written. That is three bookmarks, which come each minute, or 10 minutes and a half if too few have come for the
// informer to know them.
func (d *day) freeze() {
	d.server.Freeze()
	d.mu.Lock()
	defer d.mu.Unlock()
	now, silent := time.Now(), 3*time.Minute
	if now.Sub(d.shift) < 5*time.Minute {
		silent = 10*time.Minute + 30*time.Second
	}
	d.down = append(d.down, span{now, now.Add(silent)})
}

// outage refuses connections for a while, sometimes for longer than the period of the schedule.
func (d *day) outage(ctx context.Context) {
	from := time.Now()
	d.server.Refuse(errors.New("connection refused"))
	d.freeze()
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(10+d.number(900)) * time.Second):
	}
	d.server.Refuse(nil)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.down = append(d.down, span{from, time.Now()})
}

// check compares what happened with what must have happened.
func (d *day) check(t *testing.T, cron *cronjob.CronJob) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var slots, served, missed int
	for at := d.start.Truncate(period).Add(period); at.Before(d.start.Add(24 * time.Hour)); at = at.Add(period) {
		slots++
		switch n := d.made[stamp(at)]; {
		case n == 1:
			served++
		case n > 1:
			t.Errorf("%d jobs were made for %s", n, stamp(at))
		case d.excused(at):
			missed++
		default:
			t.Errorf("no job was made for %s", stamp(at))
		}
		delete(d.made, stamp(at))
	}
	for at := range d.made {
		if at != stamp(d.start.Add(24*time.Hour)) {
			t.Errorf("a job was made for %s, which is no time of the schedule", at)
		}
	}
	t.Logf("%d times, %d with a job, %d within %d troubles", slots, served, missed, len(d.down))
	if served < slots*8/10 {
		t.Errorf("only %d of %d times had a job: the faults are too many to show anything", served, slots)
	}

	left, err := client.For(d.client, cronjob.Jobs).List(t.Context(), client.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var active []string
	good, bad := 0, 0
	for _, job := range left.Items {
		if owner := metav1.GetControllerOf(job); owner == nil || owner.UID != cron.UID {
			t.Errorf("%s is owned by %v", job.Name, owner)
		}
		switch {
		case len(job.Status.Conditions) == 0:
			active = append(active, job.Name)
		case job.Status.Conditions[0].Type == batchv1.JobFailed:
			bad++
		default:
			good++
		}
	}
	if good != keep || bad != keepBad {
		t.Errorf("%d successful jobs are left, and %d failed ones, want %d and %d", good, bad, keep, keepBad)
	}
	live, err := client.For(d.client, cronjob.CronJobs).Get(t.Context(), meta.KeyOf(cron))
	if err != nil {
		t.Fatal(err)
	}
	due := d.start.Add(24 * time.Hour).Truncate(period)
	if last := live.Status.LastScheduleTime; last == nil || !last.Time.Equal(due) {
		t.Errorf("lastScheduleTime is %v at the end of the day, want %v", last, due)
	}
	if n := d.made[stamp(due)]; n != 1 {
		t.Errorf("%d jobs were made for the end of the day", n)
	}
	if len(live.Status.Active) != len(active) {
		t.Errorf("the status names %d active jobs, and %v run", len(live.Status.Active), active)
	}
	for _, ref := range live.Status.Active {
		if !slices.ContainsFunc(left.Items, func(job *batchv1.Job) bool { return job.UID == ref.UID }) {
			t.Errorf("the status names %s, which is gone", ref.Name)
		}
	}
}

// excused reports whether troubles that follow on each other cover a time of the schedule until the next time, within which a later job
// takes its place. After each of them, connections come back within the client's backoff.
func (d *day) excused(at time.Time) bool {
	const recovery = 90 * time.Second
	slices.SortFunc(d.down, func(a, b span) int { return a.from.Compare(b.from) })
	var o span
	for _, next := range d.down {
		if next.from.After(o.to.Add(recovery)) {
			o = next
		} else if next.to.After(o.to) {
			o.to = next.to
		}
		if o.from.Before(at.Add(recovery)) && o.to.Add(recovery).After(at.Add(period)) {
			return true
		}
	}
	return false
}

func newCronJob(name, schedule string) *cronjob.CronJob {
	c := &cronjob.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	c.Spec.Schedule = schedule
	c.Spec.JobTemplate.Spec.Template.Spec = corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers:    []corev1.Container{{Name: "work", Image: "busybox"}},
	}
	return c
}

func scheduledAt(job *batchv1.Job) string {
	return job.Annotations["batch.tutorial.example.com/scheduled-at"]
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }

func pointer[V any](v V) *V { return &v }
