package cache

import (
	"context"
	"time"

	"github.com/bowline-go/bowline/internal/store"
)

// Subscription is the registration of one handler at a cache, made by [Reader.Subscribe]. All methods may be called
// from any goroutine, also from the handler itself. It lives as long as the cache, unless it is closed. The zero
// Subscription is closed.
type Subscription struct {
	subscription
}

// subscription is the store's Subscription. The alias is unexported, so that users do not see Handled, which is for
// package controller.
type subscription = store.Subscription

// Synced returns a channel that is closed when the handler has received the initial objects: those of the informer's
// first list (of each namespace, if it lists them one by one) or, if the first list came before the subscription,
// those that exist when the subscription is made. It does not wait for initial objects that are deleted before their
// delivery. If the subscription is closed first, the channel stays open; WaitSynced returns an error in that case.
func (s *Subscription) Synced() <-chan struct{} { return s.subscription.Synced() }

// WaitSynced waits for Synced. It returns an error that wraps ctx's cause if ctx ends first, and another error if the
// subscription is closed first.
func (s *Subscription) WaitSynced(ctx context.Context) error { return s.subscription.WaitSynced(ctx) }

// Backlog returns how many keys have changes that the handler has not handled, the one that it is handling included,
// and how long the oldest of these changes has been waiting or being handled. Both are 0 when the handler has handled
// every change in the cache. A growing age means that the handler is too slow or hangs, or that the informer does not
// run.
func (s *Subscription) Backlog() (depth int, age time.Duration) { return s.subscription.Backlog() }

// Close ends the subscription and drops its pending changes. After it has returned, no further call of the handler
// begins. It does not wait for a call in progress, so that a handler may close its own subscription; Done says when
// that call has returned. A second Close does nothing.
//
// An index function must not call it.
func (s *Subscription) Close() { s.subscription.Close() }

// Done returns a channel that is closed when the subscription is closed and no call of its handler is in progress:
// from then on the handler is not called, and its resources can be freed.
func (s *Subscription) Done() <-chan struct{} { return s.subscription.Done() }
