package informer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/inside"
	"github.com/bowline-go/bowline/internal/retry"
)

const (
	// firstBackoff bounds the first wait after a failure, and every wait after a watch that had worked.
	firstBackoff = 800 * time.Millisecond
	maxBackoff   = 30 * time.Second
	healthy      = 2 * time.Minute
	// slowBackoff and maxSlowBackoff apply to faults that somebody has to fix.
	slowBackoff    = 5 * time.Second
	maxSlowBackoff = 30 * time.Second
	// stalled is how long a paged list may go without an object. An API server gives a whole page a minute.
	stalled = 2 * time.Minute
)

var errStalled = &silence{fmt.Sprintf("server sent nothing for %v", stalled)}

// reflector makes the store's content of a scope equal to the source. It is the loop around the machine: it performs
// effects and reports the results. One goroutine uses it. This file has the loop and the paged list, stream.go the watch
// and the streaming list.
type reflector[T meta.Object] struct {
	informer  *Informer[T]
	source    Source[T]
	o         Options
	namespace string // replaces that of o
	writer    *cache.Writer[T]
	record    *record
	portion   *portion // nil if every range is followed
	synced    func()   // called after each complete list

	backoff   *retry.Backoff
	slow      *retry.Backoff
	dog       watchdog
	streaming *inside.Feature // whether the server has streaming lists

	s state // of the machine; only advance changes it
}

// run follows the source from state s until ctx ends, or returns an error if the source cannot be asked. It returns the
// state that it reached.
func (r *reflector[T]) run(ctx context.Context, s state) (state, error) {
	r.backoff = retry.New(retry.Policy{Base: firstBackoff, Max: maxBackoff, Reset: healthy})
	r.slow = retry.New(retry.Policy{Base: 2 * slowBackoff, Max: maxSlowBackoff, Reset: healthy})
	defer r.record.update(func(st *Status) { st.State = Idle }) // also if an index function panics
	var todo effect
	r.s, todo = start(s, r.o.Mode, r.o.AllowStale, r.streams())
	r.enter(todo)
	for ctx.Err() == nil && todo.action != stop {
		todo = r.advance(r.perform(ctx, todo))
	}
	if todo.action == stop {
		return r.s, r.record.copy().Err
	}
	return r.s, nil
}

// perform carries out an effect, and returns the result. For a streaming list, the return to the machine between list and
// watch happens within it: see stream.
func (r *reflector[T]) perform(ctx context.Context, todo effect) input {
	switch todo.action {
	case list:
		return r.list(ctx)
	case stream:
		return r.stream(ctx)
	case watch:
		return r.watch(ctx)
	case wait:
		_ = retry.Sleep(ctx, r.pause(todo))
	case follow, stop: // the reader of a stream performs follow, and run performs stop
	}
	return input{}
}

// advance passes in to the machine, and remembers what it has learned about the server.
func (r *reflector[T]) advance(in input) effect {
	in.streams = r.streams()
	var todo effect
	r.s, todo = next(r.s, in)
	if todo.learned != unknown {
		r.streaming.Set(todo.learned == has)
	}
	r.enter(todo)
	return todo
}

// streams returns whether the server is known to serve streaming lists.
func (r *reflector[T]) streams() answer {
	switch yes, known := r.streaming.Known(); {
	case !known:
		return unknown
	case yes:
		return has
	}
	return lacks
}

// enter publishes the reflector's state, and the reason for its next step.
func (r *reflector[T]) enter(todo effect) {
	r.record.update(func(st *Status) {
		st.State = r.s.phase
		if todo.why != "" {
			st.Why = todo.why
		}
	})
	r.informer.log.Logger().V(4).Info("informer", "name", r.o.Name, "resource", r.source.GVR().String(), "namespace", r.namespace,
		"state", r.s.phase.String(), "version", r.s.version)
}

// pause returns the length of a wait.
func (r *reflector[T]) pause(e effect) time.Duration {
	switch e.pace {
	case gentle:
		return e.floor + rand.N(firstBackoff)
	case slow:
		return max(slowBackoff, r.slow.Next(e.floor))
	case backoff:
	}
	return r.backoff.Next(e.floor)
}

// list reads the whole collection page by page, or in one page.
func (r *reflector[T]) list(ctx context.Context) input {
	s := r.s
	r.record.listing(Paged)
	o := client.ListOptions{
		Namespace: r.namespace, LabelSelector: r.o.LabelSelector, FieldSelector: r.o.FieldSelector,
		PageSize: r.o.PageSize, KeepManagedFields: r.o.KeepManagedFields,
	}
	if s.way == whole {
		o.PageSize = -1
	}
	if s.stale {
		o.ResourceVersion = "0"
	}
	o.OnPage = func(m meta.ListMeta) { r.record.page(m.RemainingItemCount) }
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stall := time.AfterFunc(stalled, func() { cancel(errStalled) })
	defer stall.Stop()
	g := r.stage(s)
	source, excerpt := r.selected(s)
	m, err := source.ListEach(limited, o, g.reuse(), func(item client.Item[T]) error {
		stall.Reset(stalled)
		r.record.item()
		switch {
		case item.Err != nil:
			g.retain(item.Identity, item.Err)
		case !item.Reused:
			g.set(item.Identity, item.Object)
		}
		return nil
	})
	switch {
	case err == nil:
		excerpt.judge(r)
		err = r.fail("list", g.commit(m.ResourceVersion))
	case limited.Err() != nil && ctx.Err() == nil && errors.Is(err, context.Canceled):
		err = r.fail("list", context.Cause(limited)) // the caller's context has not ended
	}
	if err != nil {
		return g.failed(ctx, err)
	}
	return input{outcome: done, version: m.ResourceVersion}
}

// fail wraps an error that was found here in the operation that failed.
func (r *reflector[T]) fail(verb string, err error) error {
	if err == nil {
		return nil
	}
	return &client.OpError{Verb: verb, Resource: r.source.GVR(), Key: meta.Key{Namespace: r.namespace}, Err: err}
}

// failed reports an error, and returns its meaning. The end of ctx is not reported.
func (r *reflector[T]) failed(ctx context.Context, err error) input {
	if ctx.Err() != nil {
		return input{outcome: transient}
	}
	in := input{outcome: classify(err), said: err.Error()}
	in.floor, _ = apierrors.RetryAfter(err)
	verb := "watch"
	r.record.update(func(st *Status) {
		st.Err, st.Since = err, time.Now()
		if in.outcome == older {
			st.Resets++
		}
		if st.State == Listing {
			verb = "list"
		}
	})
	if in.outcome == unusable { // Run returns it
		r.informer.hand(err)
	} else {
		r.failedTo(verb, err)
	}
	return in
}

func (r *reflector[T]) undecodable(id meta.Identity, err error) {
	if r.record.undecodable(id, err) {
		r.badObject(id.Key().String(), err)
	}
}

func (r *reflector[T]) healthy() {
	r.backoff.Healthy()
	r.slow.Healthy()
}
