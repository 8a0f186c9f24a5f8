package informer

import (
	"fmt"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/bowline-go/bowline/client/meta"
)

// Until a cache has held a complete list, it reports every object as absent. A controller that believes this creates
// objects that already exist, or deletes objects that refer to them. So the informer reports the first such read. One
// kind of read is exempt: a read by a function of a controller's source, if that controller waits for the cache,
// because no reconcile acts on the result before the cache is complete.

// EarlyReadError says that the cache of an informer was read before it held a complete list, so the answer may lack
// objects that the server has. It is reported once for each informer; see [Options.AllowEarlyReads].
type EarlyReadError struct {
	text string
	err  error
}

// Error names the read, its file and line in the program, and why the cache was not complete, and says how to avoid it.
func (e *EarlyReadError) Error() string { return e.text }

// Unwrap returns why the cache was not complete.
func (e *EarlyReadError) Unwrap() error { return e.err }

// early reports a read of an object or a namespace that the informer covers and has not listed yet. The store calls it
// until every namespace is listed or one early read has been noted. op is the method, such as Get or Index.Len. key is
// the key that Get did not find; for a read of one namespace only its Namespace is set.
func (i *engine[T]) early(op string, key meta.Key) {
	if i.committed() || i.isAwaited() && bySource() || !i.isEarly(key.Namespace) {
		return
	}
	why := i.unsynced()
	if why == nil { // the list has just become complete
		return
	}
	if key != (meta.Key{}) {
		op = fmt.Sprintf("%s %q", op, key)
	}
	if at := reader(); at != "" {
		op += " at " + at
	}
	err := &EarlyReadError{err: why, text: fmt.Sprintf("read the cache of %s too early (%s), objects may be missing: %v; "+
		"declare the cache with controller.Reads, or call WaitSynced first", i.resource(), op, why)}
	i.report(err)
	i.test.Misused(err)
}

// AwaitedBy implements filler.Filler.
func (i *engine[T]) AwaitedBy(calls *atomic.Int64) (end func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.awaited == nil {
		i.awaited = make(map[*atomic.Int64]int)
	}
	i.awaited[calls]++
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		if i.awaited[calls]--; i.awaited[calls] == 0 {
			delete(i.awaited, calls)
		}
	}
}

// isAwaited reports whether a controller that waits for the cache is running a function of one of its sources.
func (i *engine[T]) isAwaited() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	for calls := range i.awaited {
		if calls.Load() > 0 {
			return true
		}
	}
	return false
}

// bySource reports whether a controller's source, and not a reconcile, made the call. It tells them apart by the files
// of package controller on the stack.
func bySource() bool {
	_, self, _, _ := runtime.Caller(0)
	dir := path.Join(path.Dir(self), "controller")
	pcs := make([]uintptr, 256)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	source := false
	for {
		frame, more := frames.Next()
		if path.Dir(frame.File) == dir && !strings.HasSuffix(frame.File, "_test.go") {
			source = true
			if path.Base(frame.File) == "reconcile.go" {
				return false
			}
		}
		if !more {
			return source
		}
	}
}

// committed reports whether every writer of the store has committed a list. The store commits, and tells its
// subscribers, a moment before the informer notes it; a read in between is not early.
func (i *engine[T]) committed() bool {
	i.mu.Lock()
	scopes := slices.Collect(maps.Values(i.scopes))
	i.mu.Unlock()
	for _, s := range scopes {
		if s.writer.ResourceVersion() == "" {
			return false
		}
	}
	return len(scopes) > 0
}

// isEarly reports whether a read is the first one that is too early. ns is the namespace that is read; empty means all
// of them.
func (i *engine[T]) isEarly(ns string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.warned || i.allListed() {
		return false
	}
	if ns != "" && !among(i.want, "") && (!among(i.want, ns) || i.listed[ns]) {
		return false // the informer does not cover it, or has listed it
	}
	if ns == "" && i.partly {
		return false // it reads all namespaces, and a controller has accepted that some are missing
	}
	i.warned = true
	i.store.OnRead(nil)
	return true
}

// reader returns the place in the program that reads: the first frame outside this package, package cache and its
// store. It compares file names, because the body of a range-over-func loop is a function of the package that has the
// loop.
func reader() string {
	_, self, _, _ := runtime.Caller(0)
	here := path.Dir(self)
	dirs := []string{here, path.Join(here, "../cache"), path.Join(here, "../internal/store")}
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		frame, more := frames.Next()
		ours := slices.Contains(dirs, path.Dir(frame.File)) && !strings.HasSuffix(frame.File, "_test.go")
		library := slices.ContainsFunc([]string{"iter.", "slices.", "maps."}, func(p string) bool { return strings.HasPrefix(frame.Function, p) })
		if frame.File != "" && !ours && !library {
			return fmt.Sprintf("%s:%d", frame.File, frame.Line)
		}
		if !more {
			return ""
		}
	}
}
