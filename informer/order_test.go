package informer_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/informer"
)

// counted is a runner that counts its runs.
type counted struct{ runs, running atomic.Int32 }

func (c *counted) Run(ctx context.Context) error {
	c.runs.Add(1)
	c.running.Add(1)
	defer c.running.Add(-1)
	<-ctx.Done()
	return nil
}

// leaning is a runner that needs another one, also for a while after its context has ended.
type leaning struct {
	counted
	on    *counted
	alone bool // the other one had returned before this one did
}

func (l *leaning) Runners() []informer.Runner { return []informer.Runner{l.on, l.on} }

func (l *leaning) Run(ctx context.Context) error {
	err := l.counted.Run(ctx)
	time.Sleep(time.Minute)
	l.alone = l.on.running.Load() == 0
	return err
}

// Run says so for all runners that others need, and the other tests have only informers and controllers.
func TestANeededRunnerRunsOnceAndStopsLast(t *testing.T) {
	for name, runners := range map[string]func(on *counted, a, b *leaning) []informer.Runner{
		"needed":               func(_ *counted, a, b *leaning) []informer.Runner { return []informer.Runner{a, b} },
		"named and needed":     func(on *counted, a, b *leaning) []informer.Runner { return []informer.Runner{a, on, b} },
		"named twice":          func(on *counted, a, b *leaning) []informer.Runner { return []informer.Runner{on, a, on, b} },
		"named after its user": func(on *counted, a, b *leaning) []informer.Runner { return []informer.Runner{a, b, on, on} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				on := &counted{}
				a, b := &leaning{on: on}, &leaning{on: on}
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- informer.Run(ctx, runners(on, a, b)...) }()
				synctest.Wait()
				if got := [3]int32{on.running.Load(), a.running.Load(), b.running.Load()}; got != [3]int32{1, 1, 1} {
					t.Errorf("running: %v, want each once", got)
				}
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
				}
				if got := [3]int32{on.runs.Load(), a.runs.Load(), b.runs.Load()}; got != [3]int32{1, 1, 1} {
					t.Errorf("they ran %v times, want each once", got)
				}
				if a.alone || b.alone {
					t.Error("the needed runner has stopped before its users")
				}
			})
		})
	}
}
