package controller_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer/controller"
)

// idleShare is a share that says why it has no ranges.
type idleShare struct {
	*share
	why error // nil if it has some
}

func (s *idleShare) WhyIdle() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.why
}

func (s *idleShare) because(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.why = why
}

// A program that forgot to run the Group reconciled nothing, and nothing said so.
func TestAControllerSaysWhyItsShardsGiveItNothing(t *testing.T) {
	errIdle := errors.New(`shards "default/web" does not run: call its Run`)
	for _, silent := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s, l := newPods(t), logged{newLog()}
			share := &idleShare{newShare(meta.ShardByNamespace), errIdle}
			o := controller.Options{Shards: share, Logger: l.logger()}
			if silent {
				o.OnError = func(err error) { t.Errorf("told of %v", err) }
			}
			c := controller.New("c", o, func(context.Context, meta.Key) (controller.Result, error) { return controller.Result{}, nil }, controller.Watch(s.Reader()))
			unsynced := func(when string, want ...string) {
				t.Helper()
				var got []string
				for _, u := range c.Status().Unsynced {
					got = append(got, u.Error())
				}
				if len(got) != len(want) || len(got) > 0 && got[0] != want[0] {
					t.Errorf("%s: unsynced are %q, want %q", when, got, want)
				}
			}
			unsynced("before Run")
			s.list()
			stop := run(t, c)
			unsynced("at first", "Shards: "+errIdle.Error())
			if got, want := c.Status().String(), `controller "c": running (waiting for Shards: `+errIdle.Error()+`), 0 reconciles, 0 errors`; got != want {
				t.Errorf("the status is %s, want %s", got, want)
			}
			sleep(26 * time.Second)
			share.because(nil)
			share.set(meta.AllRanges(), meta.Ranges{})
			unsynced("with ranges")
			sleep(time.Hour)
			share.because(errIdle)
			sleep(8 * time.Second)
			share.because(nil) // before it lasted for 5 s since it was seen
			sleep(time.Hour)
			mustStop(t, stop)
			unsynced("after Run")
			if silent {
				l.has(t)
				return
			}
			const none = `controller \"c\": Shards give this replica no ranges, nothing is reconciled"`
			l.has(t, "5s "+none, "20s "+none, `26s controller \"c\": Shards work again after 26s"`)
		})
	}
}
