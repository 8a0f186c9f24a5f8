package informer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// WaitSynced returns nil when the cache holds a complete list, that of an earlier Run included; of several namespaces, of
// each that is wanted at present. It may be called before Run. When ctx ends before, it returns why there is none: ctx's
// cause and the last error of the server, for each namespace that is missing. When Run ends before, or has ended and was
// not called again, it returns Run's error, or the server's.
func (i *Informer[T]) WaitSynced(ctx context.Context) error { return i.waitSynced(ctx, nil) }

// waitSynced is WaitSynced, which ends with a user too, if there is one.
func (i *Informer[T]) waitSynced(ctx context.Context, user *span) error {
	i.mu.Lock()
	span, synced := i.span, i.synced
	i.mu.Unlock()
	var left <-chan struct{} // never
	if user != nil {
		left = user.ended
	}
	var why error
	select {
	case <-synced:
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
	case <-synced: // also where it has come together with an end
		return nil
	default:
	}
	if i.o.Namespaces != nil {
		missing := i.missing()
		if missing == nil { // they have come this moment
			return nil
		}
		return fmt.Errorf("sync %s: %w; %w", i.name(), why, missing)
	}
	if last := i.Status().Err; last != nil && !errors.Is(why, last) {
		return fmt.Errorf("sync %s: %w; last error: %w", i.name(), why, last)
	}
	return fmt.Errorf("sync %s: %w", i.name(), why)
}

// Unsynced returns nil when the cache holds a complete list, and otherwise why it does not: the last error of the server, for
// each namespace that is missing, or how far the list is, or that nobody runs the informer. It does not wait.
func (i *Informer[T]) Unsynced() error {
	i.mu.Lock()
	done, running, span := i.allListed(), i.running, i.span
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

// missing says which namespaces have not been listed, and why. It returns nil if all have been.
func (i *Informer[T]) missing() error {
	i.mu.Lock()
	var names []string
	scopes := make(map[string]*scope[T])
	for _, ns := range i.want {
		if i.listed[ns] {
			continue
		}
		names = append(names, ns)
		if scopes[ns] = i.scopes[ns]; scopes[ns] == nil {
			scopes[ns] = i.scopes[""] // a wide one, if any
		}
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
		if s == nil { // it has been wanted for a moment only
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

// WaitFor returns nil when the cache has seen the write that resourceVersion came from, or something later: what a write of
// this program returned is then what Reader shows for key, or has been overtaken there by a later state, or has been
// deleted again. It also returns nil where the versions of the server cannot be ordered, because nobody can tell then.
//
// It returns an error at once if key is in a namespace that the informer does not cover, and otherwise when ctx ends
// before. It waits for the watch to bring what the server has, usually for milliseconds; Options.OnWaited is told how long.
// A write whose object the informer does not select is waited for until something later comes.
func (i *Informer[T]) WaitFor(ctx context.Context, key meta.Key, resourceVersion string) error {
	return i.waitFor(ctx, key, resourceVersion, i.o.OnWaited)
}

// waitFor waits, and then tells onWaited how long it was.
func (i *Informer[T]) waitFor(
	ctx context.Context, key meta.Key, resourceVersion string, onWaited func(meta.Key, time.Duration),
) error {
	err := i.covers(key)
	var waited time.Duration
	if err == nil {
		waited, err = i.store.Reader().WaitFor(ctx, key, resourceVersion)
	}
	if err != nil {
		return fmt.Errorf("wait for version %q of %q in the cache of %s: %w", resourceVersion, key, i.name(), err)
	}
	if onWaited != nil {
		onWaited(key, waited)
	}
	return nil
}

// covers returns an error if the informer has nothing to do with the namespace of key.
func (i *Informer[T]) covers(key meta.Key) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.o.Namespaces == nil && i.o.Namespace == "", among(i.want, key.Namespace):
		return nil
	case i.o.Namespaces == nil:
		return fmt.Errorf("the informer covers namespace %q only", i.o.Namespace)
	}
	return fmt.Errorf("namespace %q is none of the %d that the informer covers", key.Namespace, len(i.want))
}
