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
// uses. DESIGN.md says how to add one.
type gate[K comparable] interface {
	// enter is called before a reconcile, with the context that the previous gate has returned. It returns the context
	// for the next gates and for the function. ok is false if the key must not be reconciled now: then the gate has
	// ensured that the key comes again, by workqueue.Queue.Hold, or knows that it need not. leave, unless it is nil, is
	// called at the end, after the leave functions of the later gates. It is also called if a later gate refuses the
	// key, although no reconcile has begun then. If enter returns false, it returns no leave.
	enter(ctx context.Context, v *visit[K]) (inner context.Context, leave func(), ok bool)
}

// listener is a gate that receives the writes of reconciles.
type listener[K comparable] interface {
	// listen returns a function that receives the writes of a reconcile; nil if the gate does not need them.
	listen(v *visit[K]) func(follow.Write)
}

// visit is one reconcile on its way through the gates, and the outermost context of that reconcile. It provides a
// logger on request, and notes writes of package client.
type visit[K comparable] struct {
	context.Context
	epoch *epoch[K]
	key   K
	end   ReconcileEnd
	// writes is what is known about the writes of the reconcile.
	writes fights.Reconcile
	// interrupted says that a gate has interrupted the reconcile, and that the key has been added since.
	interrupted bool
	// settled says that the reconcile has ended, and that the queue does not retry the key.
	settled bool
	// timed says that a hook or the log needs to know when the function was called, and how long it took.
	timed  bool
	leaves []func()
}

// enter passes through gates. If it returns false, the key must not be reconciled now.
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

// leave passes back through the gates, until n leave functions remain. A function that panics or ends its goroutine, as
// a hook of a program may, does not prevent the others from being called.
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

// Value returns the logger for the key of logr, the receiver of writes for the key of package follow, the number of the
// attempt for that of Attempt, and otherwise the value of the context.
func (v *visit[K]) Value(key any) any {
	switch {
	case key == v.epoch.c.loggerKey:
		return v.logger()
	case follow.IsWrites(key):
		return v.onWrite()
	case key == (followsKey{}):
		return v.epoch.c
	case key == (attemptKey{}):
		return v.attempt()
	}
	return v.Context.Value(key)
}

// onWrite returns the receiver of the writes of the reconcile.
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
	return c.log.Logger().WithValues("controller", c.name, "key", fmt.Sprint(v.key), "attempt", v.attempt())
}

// epoch is the state that the reconciles of one run share, or those of one term with Options.StartAtTerm.
type epoch[K comparable] struct {
	c     *Controller[K]
	queue *workqueue.Queue[K]
	// gates decide whether a key is reconciled. around are the gates around the call of the function alone: they may
	// change the outcome of the call before conclude judges it.
	gates, around []gate[K]
	listeners     []listener[K]
	fresh         *freshGate[K]
	fights        *fightGate[K]

	// failing is how many keys of the queue have failed and not succeeded since.
	failing atomic.Int64

	mu      sync.Mutex     // guards overdue
	overdue map[K]struct{} // keys for which the log has said that their times stay in the past
}

// newEpoch returns an epoch with the gates that the controller uses, in the order in which keys pass them. DESIGN.md
// gives the reasons for the order.
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

// over forgets what the epoch knows about writes.
func (e *epoch[K]) over() {
	e.fresh.waits.End()
	e.fights.watcher.End()
}
