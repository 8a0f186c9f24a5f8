package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Subscription is the registration of one handler at a store; the zero Subscription is closed. cache.Subscription
// embeds it.
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

// Synced is cache.Subscription.Synced.
func (s *Subscription) Synced() <-chan struct{} { return s.signals.synced }

// WaitSynced is cache.Subscription.WaitSynced.
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

// ErrClosed says that a subscription is closed. If the caller has not closed it, the error of the informer that fills
// the store says why.
var ErrClosed = errors.New("the subscription is closed")

func errClosed() error { return fmt.Errorf("wait for a subscription to sync: %w", ErrClosed) }

// Handled returns a channel that is closed when the handler has received all changes that the store has now. If the
// subscription is closed first, the channel stays open.
func (s *Subscription) Handled() <-chan struct{} {
	if s.queue == nil {
		return make(chan struct{})
	}
	return s.queue.mark()
}

// Backlog is cache.Subscription.Backlog.
func (s *Subscription) Backlog() (depth int, age time.Duration) {
	if s.queue == nil {
		return 0, 0
	}
	return s.queue.backlog()
}

// Close is cache.Subscription.Close.
func (s *Subscription) Close() {
	if s.queue != nil {
		s.queue.close()
	}
}

// Done is cache.Subscription.Done.
func (s *Subscription) Done() <-chan struct{} {
	if s.queue == nil {
		done := make(chan struct{})
		close(done)
		return done
	}
	return s.signals.done
}
