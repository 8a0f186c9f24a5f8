package cronjob_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/proof/e2e/cronjob"
)

// shift runs the controller over a CronJob for some time and returns the jobs that are there then, by their time of the schedule.
func shift(t *testing.T, cron *cronjob.CronJob, takes time.Duration, o controller.Options) []*batchv1.Job {
	t.Helper()
	d := newDay(t, 0)
	if _, err := client.For(d.client, cronjob.CronJobs).Create(t.Context(), cron); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithTimeout(t.Context(), takes)
	defer end()
	if err := informer.Run(ctx, cronjob.New(d.client, "default", o)); err != nil {
		t.Fatal(err)
	}
	left, err := client.For(d.client, cronjob.Jobs).List(t.Context(), client.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(left.Items, func(a, b *batchv1.Job) int { return strings.Compare(scheduledAt(a), scheduledAt(b)) })
	return left.Items
}

func TestThePolicyDecidesAboutJobsThatOverlap(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*cronjob.CronJobSpec)
		want   []string // the times that have a job after 16 minutes in which no job ends
	}{
		{"beside each other", func(s *cronjob.CronJobSpec) {}, []string{"00:05", "00:10", "00:15"}},
		{"forbidden", func(s *cronjob.CronJobSpec) { s.ConcurrencyPolicy = cronjob.Forbid }, []string{"00:05"}},
		{"replaced", func(s *cronjob.CronJobSpec) { s.ConcurrencyPolicy = cronjob.Replace }, []string{"00:15"}},
		{"suspended", func(s *cronjob.CronJobSpec) { s.Suspend = pointer(true) }, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cron := newCronJob("tick", schedule)
				test.change(&cron.Spec)
				var got []string
				for _, job := range shift(t, cron, 16*time.Minute, controller.Options{}) {
					at, _ := time.Parse(time.RFC3339, scheduledAt(job))
					got = append(got, at.Format("15:04"))
				}
				if !slices.Equal(got, test.want) {
					t.Errorf("jobs are there for %v, want %v", got, test.want)
				}
			})
		})
	}
}

func TestAJobThatIsTooLateIsSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cron := newCronJob("tick", "0 * * * *")
		cron.Spec.StartingDeadlineSeconds = pointer(int64(60))
		d := newDay(t, 0)
		if _, err := client.For(d.client, cronjob.CronJobs).Create(t.Context(), cron); err != nil {
			t.Fatal(err)
		}
		time.Sleep(62 * time.Minute) // nothing runs at the full hour
		ctx, end := context.WithTimeout(t.Context(), time.Hour)
		defer end()
		if err := informer.Run(ctx, cronjob.New(d.client, "", controller.Options{})); err != nil {
			t.Fatal(err)
		}
		_, err := client.For(d.client, cronjob.Jobs).Get(t.Context(), meta.Key{Namespace: "default", Name: "tick-946688400"}) // 01:00
		if err == nil {
			t.Error("a job was made two minutes after its time, with a deadline of one")
		}
		if _, err := client.For(d.client, cronjob.Jobs).Get(t.Context(), meta.Key{Namespace: "default", Name: "tick-946692000"}); err != nil { // 02:00
			t.Errorf("the job of the next hour is missing: %v", err)
		}
	})
}

// A schedule that nobody can read is reported and not tried again.
func TestAnInvalidScheduleIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []error
		shift(t, newCronJob("tick", "each day"), time.Hour, controller.Options{OnError: func(err error) { got = append(got, err) }})
		var failed *controller.ReconcileError
		if len(got) != 1 || !errors.As(got[0], &failed) || !strings.Contains(got[0].Error(), `spec.schedule "each day"`) {
			t.Errorf("reported %v, want one error that names spec.schedule", got)
		}
	})
}

// The status names the jobs that run, and only those.
func TestTheStatusNamesWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDay(t, 0)
		crons, jobs := client.For(d.client, cronjob.CronJobs), client.For(d.client, cronjob.Jobs)
		made, err := crons.Create(t.Context(), newCronJob("tick", schedule))
		if err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithTimeout(t.Context(), 12*time.Minute)
		defer end()
		ended := make(chan error, 1)
		go func() { ended <- informer.Run(ctx, cronjob.New(d.client, "", controller.Options{})) }()
		active := func() []string {
			live, err := crons.Get(t.Context(), meta.KeyOf(made))
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, ref := range live.Status.Active {
				names = append(names, ref.Name)
			}
			return names
		}
		time.Sleep(6 * time.Minute)
		if got := active(); !slices.Equal(got, []string{"tick-946685100"}) {
			t.Errorf("active are %v, want the job of 00:05", got)
		}
		_, err = jobs.Status().Modify(t.Context(), meta.Key{Namespace: "default", Name: "tick-946685100"}, func(j *batchv1.Job) error {
			finish(j, batchv1.JobComplete)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if got := active(); len(got) != 0 {
			t.Errorf("active are %v after the only job has ended", got)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
