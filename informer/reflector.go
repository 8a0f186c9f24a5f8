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
	"github.com/bowline-go/bowline/internal/retry"
)

const (
	// firstBackoff bounds the first wait after a failure, and every wait after a watch that had worked.
	firstBackoff = 800 * time.Millisecond
	maxBackoff   = 30 * time.Second
	healthy      = 2 * time.Minute
	// slowBackoff and maxSlowBackoff are for what somebody has to mend.
	slowBackoff    = 5 * time.Second
	maxSlowBackoff = 30 * time.Second
	// minWatch is the least that the server is asked to keep a watch open; up to twice that, so that informers which began
	// together do not come back together.
	minWatch = 5 * time.Minute
	// watchGrace is how long after the time that it was asked to end a watch is given up, because the server does not keep
	// to that time or is not there any more.
	watchGrace = 30 * time.Second
	// stalled is how long a list may go without an object or a page. An API server gives a whole page a minute.
	stalled = 2 * time.Minute
)

var (
	errStalled = fmt.Errorf("server sent nothing for %v", stalled)
	errEndless = errors.New("server sent nothing, and did not end the watch when it was to")
)

// reflector makes a store equal to what a source holds. It is the loop around the machine: it performs effects and reports
// what came of them. One goroutine uses it.
type reflector[T meta.Object] struct {
	source Source[T]
	o      Options
	store  *cache.Store[T]
	record *record
	synced func() // called after each complete list

	backoff *retry.Backoff
	slow    *retry.Backoff
}

// run follows the source from where s is until ctx ends, or the source turns out to be one that cannot be asked, which is the
// error. It returns where it was then.
func (r *reflector[T]) run(ctx context.Context, s state) (state, error) {
	r.backoff = retry.New(retry.Policy{Base: firstBackoff, Max: maxBackoff, Reset: healthy})
	r.slow = retry.New(retry.Policy{Base: 2 * slowBackoff, Max: maxSlowBackoff, Reset: healthy})
	s, todo := start(s, r.o.AllowStale)
	for ctx.Err() == nil && todo.action != stop {
		r.record.update(func(st *Status) { st.State = s.phase })
		r.o.Logger.V(4).Info("informer", "resource", r.source.GVR().String(), "state", s.phase.String(), "version", s.version)
		var in input
		switch todo.action {
		case list:
			in = r.list(ctx, s)
		case watch:
			in = r.watch(ctx, s)
		case wait:
			_ = retry.Sleep(ctx, r.pause(todo))
		case stop: // the loop has ended
		}
		s, todo = next(s, in)
	}
	r.record.update(func(st *Status) { st.State = Idle })
	if todo.action == stop {
		return s, r.record.copy().Err
	}
	return s, nil
}

// pause returns how long a wait is.
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

// list reads the whole collection into the store, which changes when the list is complete, and not at all if it is not.
func (r *reflector[T]) list(ctx context.Context, s state) input {
	r.record.update(func(st *Status) { st.Lists++ })
	o := client.ListOptions{
		Namespace: r.o.Namespace, LabelSelector: r.o.LabelSelector, FieldSelector: r.o.FieldSelector,
		PageSize: r.o.PageSize, KeepManagedFields: r.o.KeepManagedFields,
	}
	if s.stale {
		o.ResourceVersion = "0"
	}
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stall := time.AfterFunc(stalled, func() { cancel(errStalled) })
	defer stall.Stop()
	relist := r.store.Relist()
	bad := make(map[meta.Key]bool)
	m, err := r.source.Each(limited, o, relist.Keep, func(item client.Item[T]) error {
		stall.Reset(stalled)
		switch {
		case item.Err != nil:
			relist.Retain(item.Identity)
			bad[item.Identity.Key()] = true
			r.undecodable(item.Identity, item.Err)
		case !item.Reused:
			relist.Set(item.Identity, item.Object)
		}
		return nil
	})
	if err == nil && m.ResourceVersion == "" {
		err = &client.OpError{
			Verb: "list", Resource: r.source.GVR(), Key: meta.Key{Namespace: r.o.Namespace},
			Err: errors.New("server sent a list without a resource version"),
		}
	}
	if err != nil {
		return r.failed(ctx, err)
	}
	relist.Commit(m.ResourceVersion)
	r.record.keepUndecodable(func(k meta.Key) bool { return bad[k] })
	r.record.alive()
	r.record.update(func(st *Status) {
		st.Synced = true
		if s.cause != Initial {
			if st.Relists == nil {
				st.Relists = make(map[Cause]int)
			}
			st.Relists[s.cause]++
		}
	})
	r.healthy()
	r.synced()
	return input{outcome: done, version: m.ResourceVersion}
}

// watch applies events to the store until the watch ends.
func (r *reflector[T]) watch(ctx context.Context, s state) input {
	r.record.update(func(st *Status) { st.Watches++ })
	o := client.WatchOptions{
		Namespace: r.o.Namespace, LabelSelector: r.o.LabelSelector, FieldSelector: r.o.FieldSelector,
		ResourceVersion: s.version, Bookmarks: true, KeepManagedFields: r.o.KeepManagedFields,
		Timeout: (minWatch + rand.N(minWatch)).Truncate(time.Second),
	}
	limited, cancel := context.WithTimeoutCause(ctx, o.Timeout+watchGrace, errEndless)
	defer cancel()
	began := time.Now()
	var in input
	for event, err := range r.source.Watch(limited, o) {
		if bad := (*client.DecodeError)(nil); err != nil && !errors.As(err, &bad) {
			if limited.Err() != nil && in.delivered {
				break // it has worked, and its time is up: as good an end as the server's
			}
			failed := r.failed(ctx, err)
			in.outcome, in.floor = failed.outcome, failed.floor
			break
		}
		r.apply(event, err)
		in.version, in.delivered = event.Identity.ResourceVersion, true
		r.record.alive()
		r.healthy()
	}
	if in.lived = time.Since(began); in.outcome == done {
		r.ended(in.lived)
	}
	return in
}

// apply makes the store what an event says. err, where there is one, says that its object did not decode.
func (r *reflector[T]) apply(event client.Event[T], err error) {
	id := event.Identity
	switch {
	case event.Type == client.Bookmark:
		r.store.Bookmark(id.ResourceVersion)
		return
	case event.Type == client.Deleted:
		if err != nil {
			var none T
			event.Object = none // the last good state stands in for the final one
			r.report(err)
		}
		r.store.Delete(id, event.Object)
		r.record.decodable(id.Key())
	case err != nil:
		r.undecodable(id, err)
		r.store.Bookmark(id.ResourceVersion)
	default:
		r.store.Set(id, event.Object)
		r.record.decodable(id.Key())
	}
	r.record.update(func(st *Status) { st.Events++ })
}

// failed reports an error, and returns what it means. The end of ctx is none.
func (r *reflector[T]) failed(ctx context.Context, err error) input {
	if ctx.Err() != nil {
		return input{outcome: transient}
	}
	r.record.update(func(st *Status) { st.Err, st.Since = err, time.Now() })
	r.report(err)
	floor, _ := apierrors.RetryAfter(err)
	return input{outcome: classify(err), floor: floor}
}

func (r *reflector[T]) undecodable(id meta.Identity, err error) {
	if r.record.undecodable(id, err) {
		r.report(err)
	}
}

func (r *reflector[T]) report(err error) {
	r.o.Logger.V(1).Info("informer", "resource", r.source.GVR().String(), "error", err.Error())
	if r.o.OnError != nil {
		r.o.OnError(err)
	}
}

// ended notes the clean end of a watch. Without bookmarks it may be all that an idle resource's server ever shows of its
// health.
func (r *reflector[T]) ended(lived time.Duration) {
	if lived >= shortWatch {
		r.record.update(func(st *Status) { st.Err = nil })
	}
	if lived >= healthy {
		r.backoff.Reset()
		r.slow.Reset()
	}
}

func (r *reflector[T]) healthy() {
	r.backoff.Healthy()
	r.slow.Healthy()
}
