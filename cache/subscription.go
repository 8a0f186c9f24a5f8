package cache

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Subscription is the registration of one handler at a cache, made by [Reader.Subscribe]. All methods may be called from
// any goroutine, also from the handler itself. It lives as long as the store, unless it is closed. The zero Subscription
// is closed.
type Subscription struct {
	queue   queue // nil in the zero value
	signals signals
}

// queue is a subscriber without its type of objects.
type queue interface {
	backlog() (int, time.Duration)
	mark() <-chan struct{}
	close()
}

// signals are the channels that show a subscription's progress. Each is closed once.
type signals struct {
	synced chan struct{} // the initial objects have been handled
	closed chan struct{} // Close has been called
	done   chan struct{} // closed, and no call is in progress
}

// Synced returns a channel that is closed when the handler has received the initial objects: those that exist at the
// store's first [Relist.Commit] or, if that came earlier, when the subscription was made. It does not wait for initial
// objects that are deleted before their delivery. If the subscription is closed first, the channel stays open; WaitSynced
// returns an error in that case.
func (s *Subscription) Synced() <-chan struct{} { return s.signals.synced }

// WaitSynced waits for Synced. It returns an error that wraps ctx's cause if ctx ends first, and another error if the
// subscription is closed first.
func (s *Subscription) WaitSynced(ctx context.Context) error {
	if s.queue == nil {
		return errClosed()
	}
	select {
	case <-s.signals.synced:
	case <-s.signals.closed:
	case <-ctx.Done():
	}
	// If several are ready, select picks any; synced counts first, and closed second.
	switch {
	case ready(s.signals.synced):
		return nil
	case ready(s.signals.closed):
		return errClosed()
	default:
		return fmt.Errorf("wait for a subscription to sync: %w", context.Cause(ctx))
	}
}

func ready(signal <-chan struct{}) bool {
	select {
	case <-signal:
		return true
	default:
		return false
	}
}

func errClosed() error { return errors.New("wait for a subscription to sync: it is closed") }

// Handled returns a channel that is closed when the handler has received all changes that the store has now. If the subscription
// is closed first, the channel stays open.
func (s *Subscription) Handled() <-chan struct{} {
	if s.queue == nil {
		return make(chan struct{})
	}
	return s.queue.mark()
}

// Pending returns how many keys have changes that the handler has not handled, the one that it is handling included. It is
// 0 when the handler knows all that the cache knows.
func (s *Subscription) Pending() int {
	depth, _ := s.Backlog()
	return depth
}

// Backlog returns Pending, and how long the oldest of these changes has been waiting or being handled: 0 if there is none.
// A growing age means that the handler does not keep up, hangs, or that no Deliver is running.
func (s *Subscription) Backlog() (depth int, age time.Duration) {
	if s.queue == nil {
		return 0, 0
	}
	return s.queue.backlog()
}

// Close ends the subscription and drops its pending changes. After it has returned no further call of the handler begins.
// It does not wait for a call in progress, so that a handler may close its own subscription; Done says when that call has
// returned. A second Close does nothing.
//
// An index function must not call it.
func (s *Subscription) Close() {
	if s.queue != nil {
		s.queue.close()
	}
}

// Done returns a channel that is closed when the subscription is closed and no call of its handler is in progress: from
// then on the handler is not called, and its resources can be freed.
func (s *Subscription) Done() <-chan struct{} {
	if s.queue == nil {
		done := make(chan struct{})
		close(done)
		return done
	}
	return s.signals.done
}
