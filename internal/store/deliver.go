package store

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/guard"
)

// Deliver calls the handlers of all subscriptions until ctx ends, including subscriptions that are made while it runs.
// It then waits for the handler calls in progress, and returns nil; all its goroutines have ended then. Undelivered
// changes stay pending for the next Deliver. Only one Deliver of a store runs at a time: a second one returns an error
// at once.
//
// A change counts as delivered even if the handler panics: Deliver passes the panic to report, and goes on with the
// next change. It calls report from the goroutines of the handlers, several at once. If report is nil, panics are not
// recovered and end the program. If a handler ends its goroutine (runtime.Goexit, as t.FailNow of a test does),
// Deliver reports that too, and goes on with the next change in another goroutine.
func (s *Store[T]) Deliver(ctx context.Context, report func(*Panic)) error {
	end, err := s.Begin(ctx, report)
	if err != nil {
		return err
	}
	<-ctx.Done()
	end()
	return nil
}

// Begin does what Deliver does, and returns at once. It has a goroutine for each subscription, and none without one.
// The caller calls end after ctx has ended: it waits for the handler calls in progress.
func (s *Store[T]) Begin(ctx context.Context, report func(*Panic)) (end func(), err error) {
	if !s.delivering.CompareAndSwap(false, true) {
		return nil, errors.New("deliver the changes of a store: another Deliver of it is running")
	}
	// ctx or Close ends a subscription's goroutine, and end waits for it.
	var running sync.WaitGroup
	s.write.Lock()
	defer s.write.Unlock()
	s.deliver = func(q *subscriber[T]) {
		if q.claim() {
			q.start(ctx, &running, report)
		}
	}
	for _, q := range s.subs {
		s.deliver(q)
	}
	return func() {
		s.write.Lock()
		s.deliver = nil // so that nothing is added to running while end waits for it
		s.write.Unlock()
		running.Wait()
		s.delivering.Store(false)
	}, nil
}

// claim reports whether the caller must start the subscription's goroutine.
func (q *subscriber[T]) claim() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running || q.closed {
		return false
	}
	q.running = true
	return true
}

// start runs the subscription's goroutine, and starts another if a handler ends it during a call. It adds the next
// goroutine to running before the ending one is removed, so Deliver does not return in between.
func (q *subscriber[T]) start(ctx context.Context, running *sync.WaitGroup, report func(*Panic)) {
	running.Go(func() {
		exited := true
		defer func() {
			if exited { // if it panics instead, the program ends
				q.start(ctx, running, report)
			}
		}()
		q.resume(report)
		q.run(ctx, report)
		q.release()
		exited = false
	})
}

func (q *subscriber[T]) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running = false
}

// resume finishes the delivery during which a handler ended the previous goroutine.
func (q *subscriber[T]) resume(report func(*Panic)) {
	c, unmatched := q.rest, q.unmatched
	q.rest, q.unmatched = nil, nil
	q.sifted(false, 0)
	switch {
	case q.isClosed():
	case c != nil:
		q.call("OnAdd", c, report)
	case unmatched != nil:
		q.tellMatched(unmatched, false, report)
	}
	q.finish()
}

// run delivers until ctx ends or the subscription is closed. It checks ctx between changes, so that a long backlog
// does not delay the end.
func (q *subscriber[T]) run(ctx context.Context, report func(*Panic)) {
	for ctx.Err() == nil {
		c, open := q.take(ctx, report)
		if !open {
			return
		}
		if c != nil {
			q.tell(c, report)
			q.finish()
			continue
		}
		if !q.sleep() {
			continue
		}
		select {
		case <-ctx.Done():
		case <-q.wake:
		case <-q.signals.closed:
		}
	}
}

func (q *subscriber[T]) tell(c *change[T], report func(*Panic)) {
	if q.match != nil {
		q.tellFiltered(c, report)
		return
	}
	q.tellAll(c, report)
}

// tellAll makes the one or two calls that take the handler from the state it knows to the present state.
func (q *subscriber[T]) tellAll(c *change[T], report func(*Panic)) {
	switch {
	case c.old == nil:
		q.call("OnAdd", c, report)
	case c.now == nil:
		q.call("OnDelete", c, report)
	case c.old.uid == c.now.uid:
		q.call("OnUpdate", c, report)
	default:
		q.rest = c
		q.call("OnDelete", c, report)
		q.rest = nil
		if !q.isClosed() {
			q.call("OnAdd", c, report)
		}
	}
}

func (q *subscriber[T]) call(op string, c *change[T], report func(*Panic)) {
	reporting(report, c.key, op, func() {
		switch op {
		case "OnAdd":
			q.add(c)
		case "OnUpdate":
			q.handler.OnUpdate(q.store.shared(c.old), q.store.shared(c.now))
		case "OnDelete":
			q.handler.OnDelete(q.store.shared(c.last))
		}
	})
}

func (q *subscriber[T]) add(c *change[T]) {
	if q.initially != nil && q.isInitial(c) {
		q.initially.OnInitial(q.store.shared(c.now))
		return
	}
	q.handler.OnAdd(q.store.shared(c.now))
}

// reporting calls f, and reports a panic and the end of the goroutine. Without report, a panic ends the program.
func reporting(report func(*Panic), key meta.Key, op string, f func()) {
	if report == nil {
		f()
		return
	}
	guard.Call(f, func(value any) { report(notReturned(value, key, op)) })
}

// Panic is a recovered panic. Its fields are those of cache.PanicError.
type Panic struct {
	Value any
	Stack []byte
	Key   meta.Key
	Op    string
}

// notReturned returns the report of a call that has not returned.
func notReturned(recovered any, key meta.Key, op string) *Panic {
	if recovered == nil {
		recovered = guard.ErrExited
	}
	return &Panic{Value: recovered, Stack: debug.Stack(), Key: key, Op: op}
}
