// The gates that a key passes before the function is called. Each gate has one concern.

package controller

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/internal/fights"
	"github.com/bowline-go/bowline/internal/follow"
	"github.com/bowline-go/bowline/workqueue"
)

// gate is one concern of reconciles, such as the wait for caches. An epoch has a list of the gates that its controller
// uses.
type gate[K comparable] interface {
	// enter is called before a reconcile, with the context that the gate before it has returned. It returns the context
	// of the gates behind it and of the function. ok is false if the key is not to be reconciled now: then the gate has
	// seen to it that the key comes again, or that it need not. leave, unless it is nil, is called at the end, after
	// those of the gates behind.
	enter(ctx context.Context, v *visit[K]) (inner context.Context, leave func(), ok bool)
}

// listener is a gate that hears of the writes of reconciles.
type listener[K comparable] interface {
	// listen returns what takes the writes of a reconcile; nil if nobody wants them.
	listen(v *visit[K]) func(follow.Write)
}

// visit is one reconcile on its way through the gates, and the outermost context of it: it has a logger for those who
// ask for one, and notes writes for the client.
type visit[K comparable] struct {
	context.Context
	epoch *epoch[K]
	key   K
	end   ReconcileEnd
	// writes is what is known of the writes of the reconcile.
	writes fights.Reconcile[K]
	// interrupted says that a gate has interrupted the reconcile, and that the key has been added since.
	interrupted bool
	// settled says that the reconcile has ended, and that the queue does not retry the key.
	settled bool
	// timed says that somebody wants to know when the function was called, and how long it took.
	timed  bool
	leaves []func()
}

// enter goes through some gates. If it returns false, the key is not to be reconciled now.
func (v *visit[K]) enter(ctx context.Context, gates []gate[K]) (context.Context, bool) {
	for _, g := range gates {
		inner, leave, ok := g.enter(ctx, v)
		if !ok {
			return nil, false
		}
		if ctx = inner; leave != nil {
			v.leaves = append(v.leaves, leave)
		}
	}
	return ctx, true
}

// leave goes back through the gates, until n functions are left to call. A function that panics or ends its goroutine,
// as a hook of a program may, does not keep the others from being called.
func (v *visit[K]) leave(n int) {
	if len(v.leaves) <= n {
		return
	}
	last := len(v.leaves) - 1
	leave := v.leaves[last]
	v.leaves = v.leaves[:last]
	defer v.leave(n)
	leave()
}

// Value returns the logger for the key of logr, the function that takes writes for that of package follow, and else the
// value of the context.
func (v *visit[K]) Value(key any) any {
	switch {
	case key == v.epoch.c.loggerKey:
		return v.logger()
	case follow.IsWrites(key):
		return v.onWrite()
	case key == (followsKey{}):
		return v.epoch.c
	}
	return v.Context.Value(key)
}

// onWrite returns what takes the writes of the reconcile.
func (v *visit[K]) onWrite() func(follow.Write) {
	all := follow.OnWrite(v.Context)
	for _, l := range v.epoch.listeners {
		outer, next := all, l.listen(v)
		switch {
		case next == nil:
		case outer == nil:
			all = next
		default:
			all = func(w follow.Write) {
				outer(w)
				next(w)
			}
		}
	}
	return all
}

func (v *visit[K]) logger() logr.Logger {
	c := v.epoch.c
	return c.log.Logger().WithValues("controller", c.name, "key", fmt.Sprint(v.key), "attempt", v.epoch.queue.Failures(v.key)+1)
}

// epoch is what the reconciles of one run share, or those of one term with Options.StartAtTerm.
type epoch[K comparable] struct {
	c     *Controller[K]
	queue *workqueue.Queue[K]
	// gates decide whether a key is reconciled. around are those of the call of the function: they may change how it
	// has ended before that is judged.
	gates, around []gate[K]
	listeners     []listener[K]
	fresh         *freshGate[K]
	fights        *fightGate[K]

	// failing is how many keys of the queue have failed and not succeeded since.
	failing atomic.Int64

	mu      sync.Mutex     // guards overdue
	overdue map[K]struct{} // keys of which the log has said that their times stay in the past
}

// newEpoch returns an epoch with the gates that the controller uses.
func newEpoch[K comparable](c *Controller[K], queue *workqueue.Queue[K]) *epoch[K] {
	e := &epoch[K]{c: c, queue: queue, fresh: newFreshGate(c, queue), fights: newFightGate(c)}
	use := func(to *[]gate[K], g gate[K], used bool) {
		if !used {
			return
		}
		*to = append(*to, g)
		if l, ok := g.(listener[K]); ok {
			e.listeners = append(e.listeners, l)
		}
	}
	looksForFights := !c.options.AllowFights
	use(&e.gates, sourceGate[K]{c, queue}, true)
	use(&e.gates, slowGate[K]{e.fights}, looksForFights)
	use(&e.gates, e.fresh, true)
	use(&e.gates, shardGate[K]{c}, c.sharding != nil)
	use(&e.gates, e.fights, looksForFights)
	use(&e.gates, hookGate[K]{c}, c.hooks.Reconcile != nil)
	use(&e.around, &c.deletions, true)
	use(&e.around, timeoutGate[K]{c}, c.options.Timeout > 0)
	return e
}

// over forgets what the epoch knows of writes.
func (e *epoch[K]) over() {
	e.fresh.waits.End()
	e.fights.watcher.End()
}
