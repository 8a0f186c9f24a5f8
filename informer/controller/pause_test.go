package controller_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/informer/controller"
)

// A pause that nobody sees is a controller that silently does nothing.
func TestAPauseIsInTheStatusAndTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := logged{newLog()}
		c := controller.New("c", controller.Options{Logger: l.logger(), OnError: func(error) {}}, func(context.Context, string) (controller.Result, error) {
			return controller.Result{}, nil
		}, keys{names: []string{"a", "b"}})
		c.Pause()
		c.Pause()
		if s := c.Status(); !s.Paused || s.State != controller.Idle || s.Workers != 1 {
			t.Errorf("status is %v, want it idle and paused, with one worker", s)
		}
		stop := run(t, c)
		time.Sleep(30 * time.Second)
		c.Pause() // it pauses already
		time.Sleep(30 * time.Second)
		if got, want := c.Status().String(), `controller "c": running, paused, 0 reconciles, 0 errors, 2 ready`; got != want {
			t.Errorf("status is %s, want %s", got, want)
		}
		c.Resume()
		c.Resume()
		time.Sleep(time.Hour)
		if s := c.Status(); s.Paused || s.Reconciles != 2 {
			t.Errorf("status is %v, want two reconciles", s)
		}
		mustStop(t, stop)
		l.has(t, `0s controller \"c\": paused, reconciles nothing"`, `5s controller \"c\": still paused, reconciles nothing"`, `20s controller \"c\": still paused`,
			`1m0s controller \"c\": pause is over"`)
		if !strings.Contains(l.lines[1], `"ready"=2`) {
			t.Errorf("the line %s does not say how many keys wait", l.lines[1])
		}
	})
}

func TestAPauseLetsReconcilesEndAndKeepsKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, finish := gated(10, 3)
		stop := run(t, c)
		working(t, c, 3)
		c.Pause()
		working(t, c, 3)
		finish()
		working(t, c, 2)
		finish()
		finish()
		working(t, c, 0)
		if s := c.Status(); s.Queue.Ready != 7 || s.Reconciles != 3 {
			t.Errorf("status is %v, want 7 keys to wait", s)
		}
		setWorkers(t, c, 4)
		working(t, c, 0)
		c.Resume()
		working(t, c, 4)
		mustStop(t, stop)
	})
}

func TestAPausedControllerDrainsNothing(t *testing.T) {
	for _, pause := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			runs := 0
			c := controller.New("c", controller.Options{Logger: logged{newLog()}.logger(), Drain: time.Hour}, func(context.Context, string) (controller.Result, error) {
				runs++
				time.Sleep(time.Second)
				return controller.Result{}, nil
			}, keys{names: numbers(10)})
			stop := run(t, c)
			want := 10
			if pause {
				c.Pause()
				want = 1
			}
			mustStop(t, stop)
			if runs != want {
				t.Errorf("%d reconciles, want %d", runs, want)
			}
		})
	}
}

func TestAPauseOutlastsTheLossOfLeadership(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		errLost := errors.New("the lease is lost")
		runs := 0
		c := controller.New("c", controller.Options{Logger: logged{newLog()}.logger()}, func(context.Context, string) (controller.Result, error) {
			runs++
			return controller.Result{}, nil
		}, keys{names: []string{"a"}})
		c.Pause()
		stop := led(t, c, func(ctx context.Context, work func(context.Context) error) error {
			leading, lose := context.WithCancelCause(ctx)
			time.AfterFunc(time.Second, func() { lose(errLost) })
			if err := work(leading); err != nil {
				t.Error(err)
			}
			return work(ctx) // elected again
		})
		time.Sleep(time.Minute)
		if s := c.Status(); runs != 0 || !s.Paused || s.State != controller.Running {
			t.Errorf("status is %v, want it running and paused", s)
		}
		c.Resume()
		synctest.Wait()
		if runs != 1 {
			t.Errorf("%d reconciles, want 1", runs)
		}
		mustStop(t, stop)
	})
}

// A pause while the controller drained did nothing, although the status showed it.
func TestAPauseEndsADrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int64
		c := controller.New("c", controller.Options{Logger: logged{newLog()}.logger(), Drain: time.Hour}, func(ctx context.Context, _ string) (controller.Result, error) {
			runs.Add(1)
			time.Sleep(10 * time.Second)
			return controller.Result{}, ctx.Err() // the reconcile in progress goes on to its end
		}, keys{names: numbers(10)})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx) }()
		time.Sleep(time.Second)
		cancel()
		time.Sleep(20 * time.Second)
		setWorkers(t, c, 5) // for the next Run
		time.Sleep(time.Second)
		c.Pause()
		c.Resume() // the drain is over
		began := time.Now()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if s := c.Status(); runs.Load() != 3 || s.Errors != 0 || time.Since(began) != 8*time.Second {
			t.Errorf("%d reconciles, want 3; Run has returned after %v; %v", runs.Load(), time.Since(began), s)
		}
		stop := run(t, c)
		working(t, c, 5)
		sleep(time.Minute)
		mustStop(t, stop)
		if runs.Load() != 13 {
			t.Errorf("%d reconciles after another Run, want 13", runs.Load())
		}
	})
}
