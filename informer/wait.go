package informer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// WaitSynced returns nil when the cache holds a complete list and has been current in this Run; with several namespaces, a list
// of each that is wanted at present. It may be called before Run, and between two Runs. When ctx ends first, it returns ctx's
// cause and the last error of the server, for each missing namespace. When Run ends first, or has ended and is not called
// again within 5 s, it returns Run's error, or the server's.
//
// In a test with clienttest.Start it fails the test, and returns an error, when it has waited for a day with a ctx without a deadline.
func (i *Informer[T]) WaitSynced(ctx context.Context) error { return i.waitSynced(ctx, nil) }

// waitSynced is WaitSynced that also ends with user, unless it is nil.
func (i *Informer[T]) waitSynced(ctx context.Context, user *span) error {
	i.mu.Lock()
	last := i.span
	i.mu.Unlock()
	last.waitNext(ctx, errStopped)
	i.mu.Lock()
	span, synced := i.span, i.synced
	i.mu.Unlock()
	var left <-chan struct{} // never
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
			why = fmt.Errorf("%w, while %s", why, i.Status().State)
		}
	}
	select {
	case <-synced: // also if both happened at once
		return nil
	default:
	}
	if i.o.Namespaces != nil {
		missing := i.missing()
		if missing == nil { // they have been listed this moment
			return nil
		}
		return fmt.Errorf("sync %s: %w; %w", i.name(), why, missing)
	}
	if last := i.Status().Err; last != nil && !errors.Is(why, last) {
		return fmt.Errorf("sync %s: %w; last error: %w", i.name(), why, last)
	}
	return fmt.Errorf("sync %s: %w", i.name(), why)
}

// longestWait is how long WaitSynced waits in a test. In virtual time a wait without an end is a loop that keeps a processor busy, and the
// testing package ends it after ten minutes without a word.
const longestWait = 24 * time.Hour

// patience returns a channel that receives when a test has waited for too long; nil outside of tests, or if ctx ends by itself.
func (i *Informer[T]) patience(ctx context.Context) (<-chan time.Time, func()) {
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

// Unsynced returns nil when WaitSynced would. Otherwise it returns why it does not: the last error of the
// server, for each missing namespace; or how far the list has come; or that nobody runs the informer. It does not wait.
func (i *Informer[T]) Unsynced() error {
	i.mu.Lock()
	done, running, span := i.allCurrent(), i.running, i.span
	i.mu.Unlock()
	if done {
		return nil
	}
	if !running {
		select {
		case <-span.ended:
			return fmt.Errorf("its Run has ended: %w", span.err)
		default:
			return errNotRun
		}
	}
	if i.o.Namespaces != nil {
		return i.missing()
	}
	status := i.Status()
	if status.Err != nil {
		return status.Err
	}
	return fmt.Errorf("it is %s, with %d objects so far", status.State, status.Progress.Items)
}

var errNotRun = errors.New("nobody has called its Run")

// named is how many namespaces an error names.
const named = 5

// missing returns an error that names the namespaces that have not been listed, and why. It returns nil if all have been.
func (i *Informer[T]) missing() error {
	i.mu.Lock()
	var names []string
	scopes := make(map[string]*scope[T])
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
	err := fmt.Errorf("%d namespaces have not been listed", len(names))
	for n, ns := range names {
		if n == named {
			return fmt.Errorf("%w, and %d more", err, len(names)-named)
		}
		s := scopes[ns]
		if s == nil { // it was added this moment
			err = fmt.Errorf("%w, %q", err, ns)
			continue
		}
		switch status := s.record.copy(); {
		case status.Err != nil:
			err = fmt.Errorf("%w, %q (%s, last error: %w)", err, ns, status.State, status.Err)
		default:
			err = fmt.Errorf("%w, %q (%s)", err, ns, status.State)
		}
	}
	return err
}

// WaitFor returns nil when the cache has seen the write that returned resourceVersion, or something later. Reader then
// shows for key what the write returned, or a later state, or the object has been deleted again. It also returns nil if
// the server's versions have no order, because then nobody can tell.
//
// It returns an error at once if key is in a namespace that the informer does not cover, also because Options.Shards leaves
// it out, and otherwise when ctx ends first. It waits for the watch to catch up with the server, usually for milliseconds.
// If the informer does not select the written object, WaitFor waits until something later comes.
func (i *Informer[T]) WaitFor(ctx context.Context, key meta.Key, resourceVersion string) error {
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
func (i *Informer[T]) covers(key meta.Key) error {
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
	return fmt.Errorf("namespace %q is none of the %d that the informer covers", key.Namespace, len(i.want))
}
