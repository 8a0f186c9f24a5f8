package recorder_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/recorder"
	apierrors "github.com/bowline-go/bowline/errors"
)

func TestWrongOptionsEndRunAtOnce(t *testing.T) {
	c, err := client.New(client.Config{Server: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		o    recorder.Options
		want string
	}{
		{"no controller", recorder.Options{}, `recorder.Options: Controller must be set, such as "example.com/page-controller"`},
		{"a controller that is no name", recorder.Options{Controller: "a b"}, `recorder.Options: Controller must have the form of a label key: label key "a b"`},
		{"a long instance", recorder.Options{Controller: "a", Instance: strings.Repeat("x", 129)}, "recorder.Options: Instance must have at most 128 bytes, got 129"},
		{"an instance that is no text", recorder.Options{Controller: "a", Instance: "\xff"}, `recorder.Options: Instance must be valid UTF-8, got "\xff"`},
		{"one similar record", recorder.Options{Controller: "a", Similar: 1}, "recorder.Options: Similar must be 0 (10), negative (never) or at least 2, got 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := recorder.New(c, test.o)
			recorder.For(r, Pages).Normal(page("a"), "A", "") // which is safe
			if err := r.Run(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "run recorder: "+test.want) {
				t.Errorf("the error is %v, want %s", err, test.want)
			}
		})
	}
	if err := recorder.New(nil, recorder.Options{Controller: "a"}).Run(t.Context()); err == nil || err.Error() != "run recorder: recorder.New: the client must not be nil" {
		t.Errorf("the error is %v", err)
	}
	if err := (*recorder.Recorder)(nil).Run(t.Context()); err == nil {
		t.Error("a nil recorder runs")
	}
}

func TestTheInstanceIsTheHostName(t *testing.T) {
	bubble(t, recorder.Options{Controller: "pages"}, func(r *rig) {
		r.start()
		r.pages.Normal(page("a"), "A", "")
		after(time.Second)
		if got := r.taken(); len(got) != 1 || got[0].ReportingInstance == "" || got[0].ReportingController != "pages" {
			r.Errorf("the server has %+v", got)
		}
	})
}

// behaviour 348
func TestRunSendsEarlierRecords(t *testing.T) {
	bubble(t, recorder.Options{}, func(r *rig) {
		recorder.SetLimits(r.recorder, 3, 0, 0)
		for _, name := range []string{"a", "b", "c", "d", "a", "e"} {
			r.pages.Normal(page(name), "A", "")
			time.Sleep(time.Second)
		}
		r.wantStatus("recorded 6, sent 0, waiting 4, dropped 2 (QueueFull)")
		if told := r.told(); len(told) > 0 {
			r.Errorf("told %v before Run", told)
		}
		r.start()
		after(time.Second)
		r.want("a A x2", "b A x1", "c A x1")
		var dropped *recorder.DropError
		if told := r.told(); len(told) != 1 || !errors.As(told[0], &dropped) || dropped.Count != 2 || dropped.Record.Regarding.Identity.Name != "e" {
			r.Errorf("told %v", told)
		}
		creates, patches := r.writes()
		if creates != 3 || patches != 0 {
			r.Errorf("%d creates and %d patches", creates, patches)
		}
	})
}

// behaviour 348
func TestTheEndOfRunSendsWaitingRecords(t *testing.T) {
	bubble(t, recorder.Options{}, func(r *rig) {
		stop := r.start()
		for range 10 {
			r.pages.Normal(page("a"), "A", "")
			after(time.Second)
		}
		for i := range 100 {
			r.pages.Normal(page(fmt.Sprintf("p%02d", i)), "A", "")
		}
		began := time.Now()
		stop()
		if took := time.Since(began); took > 0 {
			r.Errorf("the end took %v", took)
		}
		r.wantStatus("recorded 110, sent 110, waiting 0")
		if got := r.taken(); len(got) != 101 || got[0].count() != 10 {
			r.Errorf("the server has %d records, the first %d times", len(got), got[0].count())
		}
		// After the end it is safe to record, and counted.
		r.pages.Normal(page("late"), "A", "")
		r.pages.Normal(nil, "A", "")
		r.wantStatus("recorded 112, sent 110, waiting 0, dropped 1 (Invalid), dropped 1 (Stopped)")
		if told := r.told(); len(told) > 0 {
			r.Errorf("told %v", told)
		}
		// It can be run again, and says then what was lost meanwhile.
		r.start()
		r.pages.Normal(page("again"), "A", "")
		after(time.Second)
		r.wantStatus("recorded 113, sent 111, waiting 0, dropped 1 (Invalid), dropped 1 (Stopped)")
		if told := r.told(); len(told) != 2 {
			r.Errorf("told %v", told)
		}
	})
}

// behaviour 348
func TestTheEndOfRunIsBounded(t *testing.T) {
	for _, test := range []struct {
		name  string
		grace time.Duration
		fault http.HandlerFunc
		took  time.Duration
	}{
		{"a server that hangs", 0, clienttest.Hang(), 5 * time.Second},
		{"a server that fails", time.Second, failure(503, apierrors.ServiceUnavailable), time.Second},
		{"no time", -1, nil, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, recorder.Options{Grace: test.grace}, func(r *rig) {
				r.answer(func(clienttest.Request) http.HandlerFunc { return test.fault })
				ctx, cancel := context.WithCancel(r.Context())
				cancel()
				for i := range 10 {
					r.pages.Normal(page(fmt.Sprint(i)), "A", "")
					r.pages.Normal(page(fmt.Sprint(i)), "A", "")
				}
				began := time.Now()
				if err := r.recorder.Run(ctx); err != nil {
					r.Errorf("Run returned %v", err)
				}
				if took := time.Since(began); took != test.took {
					r.Errorf("the end took %v, want %v", took, test.took)
				}
				s := r.recorder.Status()
				if s.Running || s.Sent+s.Dropped[recorder.Stopped] != 20 || test.fault != nil && s.Sent > 0 {
					r.Errorf("the status is %v", s)
				}
				told := r.told()
				var dropped *recorder.DropError
				if len(told) == 0 || !errors.As(told[len(told)-1], &dropped) || dropped.Cause != recorder.Stopped || dropped.Count != s.Dropped[recorder.Stopped] {
					r.Errorf("told %v", told)
				}
				if test.fault != nil && dropped.Err == nil && test.name == "a server that fails" {
					r.Error("the error does not say why nothing was sent")
				}
			})
		})
	}
}

// A long wait of one record ends when Run does.
func TestTheEndOfRunTriesOnceMore(t *testing.T) {
	bubble(t, recorder.Options{}, func(r *rig) {
		stop := r.start()
		r.answer(func(clienttest.Request) http.HandlerFunc { return clienttest.TooManyRequests(20 * time.Minute) })
		r.pages.Normal(page("a"), "A", "")
		r.pages.Normal(page("b"), "A", "")
		after(time.Minute)
		r.server.Intercept(nil)
		stop()
		r.wantStatus("recorded 2, sent 2, waiting 0")
	})
}

func TestARecorderRunsOnce(t *testing.T) {
	bubble(t, recorder.Options{}, func(r *rig) {
		r.start()
		if err := r.recorder.Run(r.Context()); err == nil || err.Error() != "run recorder: already running" {
			r.Errorf("the second Run returned %v", err)
		}
		if !r.recorder.Status().Running {
			r.Error("the first has ended")
		}
	})
}

// A second Run sends what is made in it. The recorder drops what is made between the two Runs, and the second Run reports that.
func TestARecorderRunsAgain(t *testing.T) {
	bubble(t, recorder.Options{}, func(r *rig) {
		r.pages.Normal(page("a"), "A", "")
		stop := r.start()
		r.pages.Normal(page("a"), "A", "")
		after(time.Second)
		stop()
		r.pages.Normal(page("a"), "Between", "")
		r.pages.Normal(page("a"), "Between", "")
		if told := r.told(); len(told) > 0 {
			r.Errorf("told %v without a Run", told)
		}
		time.Sleep(time.Hour)
		stop = r.start()
		r.pages.Normal(page("a"), "A", "")
		r.pages.Normal(page("b"), "B", "")
		after(time.Minute)
		r.want("a A x2", "a A x1", "b B x1") // the first series is an hour old
		var dropped *recorder.DropError
		if told := r.told(); len(told) != 1 || !errors.As(told[0], &dropped) || dropped.Cause != recorder.Stopped || dropped.Count != 2 {
			r.Errorf("told %v", told)
		}
		r.wantStatus("recorded 6, sent 4, waiting 0, dropped 2 (Stopped)")
		stop()
		for range 3 { // a Run in which nothing is made
			r.start()()
		}
		r.wantStatus("recorded 6, sent 4, waiting 0, dropped 2 (Stopped)")
		if s := r.recorder.Status(); s.Running {
			r.Error("it runs")
		}
	})
}

// behaviour 347: a hook that hangs, and a server that does, delay nobody who records.
func TestRecordingNeverBlocks(t *testing.T) {
	var release chan struct{} // made within the bubble
	bubble(t, recorder.Options{
		Controller: "a", Instance: "a", OnError: func(error) { <-release },
		Hooks: recorder.Hooks{Sent: func(context.Context, recorder.SentInfo) { <-release }, Dropped: func(context.Context, *recorder.DropError) { <-release }},
	}, func(r *rig) {
		release = make(chan struct{})
		stop := r.start()
		began := time.Now()
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for j := range 2000 {
					r.pages.Warningf(page(fmt.Sprint(i)), fmt.Sprint("R", j%100), "%d", j)
					r.pages.Normal(nil, "", "")
				}
			})
		}
		all.Wait()
		if took := time.Since(began); took > 0 {
			r.Errorf("recording took %v", took)
		}
		if s := r.recorder.Status(); s.Recorded != 32_000 {
			r.Errorf("the status is %v", s)
		}
		close(release)
		stop()
		s := r.recorder.Status()
		if n := s.Sent + s.Waiting + s.Dropped[recorder.Invalid] + s.Dropped[recorder.Spam] + s.Dropped[recorder.QueueFull] + s.Dropped[recorder.Stopped]; n != s.Recorded || s.Waiting != 0 {
			r.Errorf("the status is %v, which does not add up", s)
		}
	})
}

// Drops are told of at once, and then in sums.
func TestManyDropsAreReportedInSums(t *testing.T) {
	var drops []string
	began := time.Time{}
	o := recorder.Options{Burst: 1, Hooks: recorder.Hooks{Dropped: func(_ context.Context, d *recorder.DropError) {
		drops = append(drops, fmt.Sprintf("%v:%s:%d", time.Since(began), d.Cause, d.Count))
	}}}
	bubble(t, o, func(r *rig) {
		began = time.Now()
		r.start()
		for i := range 50 {
			r.pages.Normal(page("a"), fmt.Sprint("R", i), "")
			r.pages.Normal(page("a"), "", "")
			after(100 * time.Millisecond)
		}
		after(time.Minute)
		want := []string{
			"0s:Invalid:1", "1s:Invalid:10", "1s:Spam:10", "2s:Invalid:10", "2s:Spam:10", "3s:Invalid:10", "3s:Spam:10", "4s:Invalid:10", "4s:Spam:10",
			"5s:Invalid:9", "5s:Spam:9",
		}
		total := 0
		for _, d := range drops {
			var n int
			_, _ = fmt.Sscan(d[strings.LastIndex(d, ":")+1:], &n)
			total += n
		}
		if total != 99 || len(drops) > len(want)+1 {
			r.Errorf("told %q, want about %q", drops, want)
		}
		if told := r.told(); len(told) != len(drops) {
			r.Errorf("OnError got %d errors, the hook %d", len(told), len(drops))
		}
	})
}

func TestErrorsWithoutAHandlerAreLogged(t *testing.T) {
	for _, where := range []string{"Options.Logger", "the context's logger", "slog.Default"} {
		t.Run(where, func(t *testing.T) {
			var mu sync.Mutex
			var text bytes.Buffer
			handler := slog.NewTextHandler(locked{&mu, &text}, &slog.HandlerOptions{Level: slog.Level(-10), ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey || a.Key == "since" {
					return slog.Attr{}
				}
				return a
			}})
			synctest.Test(t, func(t *testing.T) {
				server := clienttest.Start(t, clienttest.Options{})
				c, err := client.New(server.Config())
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				o, ctx := recorder.Options{Controller: "pages", Instance: "1", Burst: 1}, t.Context()
				switch where {
				case "Options.Logger":
					o.Logger = logr.FromSlogHandler(handler)
				case "the context's logger":
					ctx = logr.NewContext(ctx, logr.FromSlogHandler(handler))
				default:
					was := slog.Default()
					slog.SetDefault(slog.New(handler))
					defer slog.SetDefault(was)
				}
				ctx, cancel := context.WithCancel(ctx)
				r := recorder.New(c, o)
				pages := recorder.For(r, Pages)
				done := make(chan error, 1)
				go func() { done <- r.Run(ctx) }()
				server.Intercept(func(*http.Request) http.HandlerFunc { return failure(500, apierrors.InternalError) })
				pages.Warning(page("a"), "Failed", "no ink")
				pages.Normal(page("a"), "", "")
				for i := range 100 {
					pages.Warning(page("a"), fmt.Sprint("Also", i), "")
					after(time.Second)
				}
				server.Intercept(nil)
				after(time.Minute)
				pages.Warning(page("b"), "Failed", strings.Repeat("x", 2000))
				after(time.Minute)
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
			mu.Lock()
			defer mu.Unlock()
			for _, want := range []string{
				`level=ERROR msg="recorder \"pages\": sending fails" err="create events.events.k8s.io \"default/a.`,
				`level=ERROR msg="recorder \"pages\": records are dropped" err="dropped 1 record (invalid); the latest is about Page \"default/a\": recorder.Record: Reason must not be empty`,
				`(too many about one object)`,
				`msg="recorder \"pages\": sending works again after `,
				`msg="recorder \"pages\": records are cut" err="cut 1 record; the latest is about Page \"default/b\": Note has 2000 bytes`,
				`level=DEBUG-0 msg=recorded object="Page \"default/a\"" warning=true reason=Failed note="no ink" count=1`,
			} {
				if where == "slog.Default" && strings.HasPrefix(want, "level=DEBUG") {
					continue
				}
				want = strings.Replace(want, "level=DEBUG-0", "level=DEBUG", 1)
				if !strings.Contains(text.String(), want) {
					t.Errorf("no %s in\n%s", want, text.String())
				}
			}
			if lines := strings.Count(text.String(), "level=ERROR"); lines > 20 {
				t.Errorf("%d lines:\n%s", lines, text.String())
			}
		})
	}
}

type locked struct {
	mu *sync.Mutex
	b  *bytes.Buffer
}

func (l locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}
