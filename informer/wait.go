package informer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// waitSynced is [Informer.WaitSynced]. It also ends when user ends, unless user is nil.
func (i *engine[T]) waitSynced(ctx context.Context, user *span) error {
	i.mu.Lock()
	last := i.span
	i.mu.Unlock()
	last.waitNext(ctx, errStopped)
	i.mu.Lock()
	span, synced := i.span, i.synced
	i.mu.Unlock()
	var left <-chan struct{} // never closed without a user
	if user != nil {
		left = user.ended
	}
	var why error
	forever, stop := i.patience(ctx)
	defer stop()
	select {
	case <-synced:
	case <-forever:
		err := i.waitSynced(ended(fmt.Errorf("waited for %v, and the context of WaitSynced has no deadline", longestWait)), user)
		if err != nil {
			i.test.Misused(err)
		}
		return err
	case <-left:
		why = user.err
	case <-span.ended:
		why = span.err
	case <-ctx.Done():
		why = context.Cause(ctx)
		if i.o.Namespaces == nil {
			why = fmt.Errorf("%w, while %s", why, i.status().State)
		}
	}
	select {
	case <-synced: // also if both happened at the same time
		return nil
	default:
	}
	if i.o.Namespaces != nil {
		missing := i.missing()
		if missing == nil { // they have just been listed
			return nil
		}
		return fmt.Errorf("sync %s: %w; %w", i.name(), why, missing)
	}
	if last := i.status().Err; last != nil && !errors.Is(why, last) {
		return fmt.Errorf("sync %s: %w; last error: %w", i.name(), why, last)
	}
	return fmt.Errorf("sync %s: %w", i.name(), why)
}

// longestWait is how long WaitSynced waits in a test. In virtual time, an endless wait is a loop that keeps a processor
// busy, and the testing package ends it after ten minutes without an explanation.
const longestWait = 24 * time.Hour

// patience returns a channel that receives when a test has waited for too long. It is nil outside of tests, and if ctx
// has a deadline or has ended.
func (i *engine[T]) patience(ctx context.Context) (<-chan time.Time, func()) {
	if _, ends := ctx.Deadline(); i.test == nil || ends || ctx.Err() != nil {
		return nil, func() {}
	}
	timer := time.NewTimer(longestWait)
	return timer.C, func() { timer.Stop() }
}

// ended returns a context that has ended for that reason.
func ended(why error) context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	return ctx
}

// unsynced is [Informer.Unsynced].
func (i *engine[T]) unsynced() error {
	i.mu.Lock()
	done, running, span := i.allCurrent(), i.running, i.span
	i.mu.Unlock()
	if done {
		return nil
	}
	if !running {
		select {
		case <-span.ended:
			return fmt.Errorf("Run has ended: %w", span.err)
		default:
			return errNotRun
		}
	}
	if i.o.Namespaces != nil {
		return i.missing()
	}
	status := i.status()
	if status.Err != nil {
		return status.Err
	}
	return fmt.Errorf("not synced: %s, %d objects so far", status.State, status.Listed)
}

var errNotRun = errors.New("Run has not been called")

// named is the maximum number of namespaces that an error names.
const named = 5

// missing returns an error that names the namespaces that have not been listed, and why. It returns nil if all have
// been listed.
func (i *engine[T]) missing() error {
	i.mu.Lock()
	var names []string
	wanted, scopes := len(i.want), make(map[string]*scope[T])
	for _, ns := range i.want {
		if i.isCurrent(ns) {
			continue
		}
		names = append(names, ns)
		scopes[ns] = i.scopes[ns]
	}
	i.mu.Unlock()
	if len(names) == 0 {
		return nil
	}
	err := fmt.Errorf("%d of %d namespaces not synced", len(names), wanted)
	for n, ns := range names {
		before := ", "
		if n == 0 {
			before = ": "
		}
		if n == named {
			return fmt.Errorf("%w, and %d more", err, len(names)-named)
		}
		s := scopes[ns]
		if s == nil { // it has just been added
			err = fmt.Errorf("%w%s%q", err, before, ns)
			continue
		}
		switch status := s.record.copy(); {
		case status.Err != nil:
			err = fmt.Errorf("%w%s%q (%s, last error: %w)", err, before, ns, status.State, status.Err)
		default:
			err = fmt.Errorf("%w%s%q (%s)", err, before, ns, status.State)
		}
	}
	return err
}

// waitFor is [Informer.WaitFor].
func (i *engine[T]) waitFor(ctx context.Context, key meta.Key, resourceVersion string) error {
	err := i.covers(key)
	if err == nil {
		_, err = i.store.WaitFor(ctx, key, resourceVersion)
	}
	if err != nil {
		return fmt.Errorf("wait for version %q of %q in the cache of %s: %w", resourceVersion, key, i.name(), err)
	}
	return nil
}

// covers returns an error if the informer does not follow the namespace of key.
func (i *engine[T]) covers(key meta.Key) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if err := i.shares.without(i.o.Shards, key); err != nil {
		return err
	}
	switch {
	case i.o.Namespaces == nil && i.o.Namespace == "", among(i.want, key.Namespace):
		return nil
	case i.o.Namespaces == nil:
		return fmt.Errorf("the informer covers namespace %q only", i.o.Namespace)
	}
	return fmt.Errorf("namespace %q is not among the %d that the informer covers", key.Namespace, len(i.want))
}
