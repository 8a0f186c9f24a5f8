package cache

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"sync"
)

// Deliver calls the handlers of all subscriptions, those that are made while it runs included, until ctx ends. It
// then waits for the handler calls that are in progress, and returns nil; nothing of it runs after that. What has not
// been delivered stays pending, and another Deliver goes on with it. Only one Deliver of a store runs at a time: a
// second one returns an error at once.
//
// A handler that panics has been told nevertheless: the panic is handed to report, and the next change follows.
// report is called from the goroutines of the handlers, from several at once. If report is nil, panics are not
// recovered and end the program, as panics do.
func (s *Store[T]) Deliver(ctx context.Context, report func(*PanicError)) error {
	if !s.startDelivering() {
		return errors.New("deliver the changes of a store: another Deliver of it is running")
	}
	defer s.stopDelivering()
	// Each subscription's goroutine is ended by ctx or by its Close, and waited for here, before stopDelivering.
	var running sync.WaitGroup
	defer running.Wait()
	for {
		// joined works as subscriber.wake does: who subscribes is in the list before the token is sent, and the list is
		// read after the token was received. So a subscription made at any moment is in this list or in the next.
		for _, q := range s.subscribers() {
			if q.claim() {
				running.Go(func() { q.run(ctx, report) })
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.joined:
		}
	}
}

func (s *Store[T]) startDelivering() bool {
	s.write.Lock()
	defer s.write.Unlock()
	if s.delivering {
		return false
	}
	s.delivering = true
	return true
}

func (s *Store[T]) stopDelivering() {
	s.write.Lock()
	defer s.write.Unlock()
	s.delivering = false
}

func (s *Store[T]) subscribers() []*subscriber[T] {
	s.write.Lock()
	defer s.write.Unlock()
	return slices.Clone(s.subs)
}

// claim reports whether the caller has to start the subscription's goroutine.
func (q *subscriber[T]) claim() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running || q.closed {
		return false
	}
	q.running = true
	return true
}

func (q *subscriber[T]) release() {
	q.finish() // the handler has ended this goroutine (runtime.Goexit) in the middle of a call
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running = false
}

// run delivers until ctx ends or the subscription is closed. It looks at ctx between changes, so that a long backlog
// does not delay the end.
func (q *subscriber[T]) run(ctx context.Context, report func(*PanicError)) {
	defer q.release()
	for ctx.Err() == nil {
		c, open := q.take()
		if !open {
			return
		}
		if c != nil {
			q.tell(c, report)
			q.finish()
			continue
		}
		select {
		case <-ctx.Done():
		case <-q.wake:
		case <-q.signals.closed:
		}
	}
}

func (q *subscriber[T]) tell(c *change[T], report func(*PanicError)) {
	if q.match != nil {
		q.tellFiltered(c, report)
		return
	}
	q.tellAll(c, report)
}

// tellAll makes the one or two calls that take the handler from what it knows to what is there.
func (q *subscriber[T]) tellAll(c *change[T], report func(*PanicError)) {
	switch {
	case c.old == nil:
		q.call("OnAdd", c, report)
	case c.now == nil:
		q.call("OnDelete", c, report)
	case c.old.uid == c.now.uid:
		q.call("OnUpdate", c, report)
	default:
		q.call("OnDelete", c, report)
		if !q.isClosed() {
			q.call("OnAdd", c, report)
		}
	}
}

func (q *subscriber[T]) call(op string, c *change[T], report func(*PanicError)) {
	if report != nil {
		defer func() {
			if value := recover(); value != nil {
				report(&PanicError{Value: value, Stack: debug.Stack(), Key: c.key, Op: op})
			}
		}()
	}
	switch op {
	case "OnAdd":
		q.handler.OnAdd(c.now.obj)
	case "OnUpdate":
		q.handler.OnUpdate(c.old.obj, c.now.obj)
	case "OnDelete":
		q.handler.OnDelete(c.last.obj)
	}
}
