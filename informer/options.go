package informer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/runners"
)

// Options choose what an informer caches, and where its errors go. The zero value caches every object of the resource,
// in all namespaces, starting with the server's present state.
type Options struct {
	// Name is for people, and distinguishes informers of one resource, for example by their cluster. It is in the
	// informer's String, in its log lines and Status, on the page of package debug, and a label of its metrics. The
	// selectors follow it there, so informers with different selectors differ without a Name. Empty means none; it must
	// have printable characters only.
	Name string
	// Namespace limits the informer to one namespace; empty means all of them.
	Namespace string
	// Namespaces limits the informer to these namespaces. It lists and watches each separately, so a namespace that the
	// server refuses, or whose list hangs, does not hold up the others: they stay current, and a controller reconciles
	// their keys (see package controller). WaitSynced waits for all of them; Status reports each. For hundreds of
	// namespaces an informer of all namespaces is cheaper, with a [Filter] by namespace around its source: it has one
	// watch, and needs the permission to list all namespaces. [Informer.SetNamespaces] changes the set later. Nil means
	// that Namespace decides. Empty but not nil means no namespace for now: such an informer is synced and has no
	// objects.
	Namespaces []string
	// Shards, if not nil, limits the informer to the objects of some ranges, which may change during a Run; see
	// [Shards]. It excludes Namespaces.
	Shards Shards
	// LabelSelector and FieldSelector are the API's selectors; empty selects everything.
	LabelSelector string
	FieldSelector string
	// Mode is how the collection is listed.
	Mode Mode
	// PageSize is how many objects a list asks for at a time; 0 means 500, and a negative number means all
	// at once. A streaming list has no pages.
	PageSize int
	// AllowStale lets the server answer the first list from its cache. That is cheaper for the server, but after a
	// restart the cache may start with an older state than this program has seen before.
	AllowStale bool
	// Warm, if not nil, keeps the objects of the cache from one process to the next, so that the first Run of the next
	// one needs no full list; see [Warm] and package warm. It excludes Shards. Nil means that each process lists.
	Warm Warm
	// StaleAfter is how long the cache may go without being renewed before it counts as stale; see Status.Renewed and
	// [Group.MustBeFresh]. 0 means five minutes, and a negative duration means that it never counts as stale. API
	// servers send a bookmark about once a minute, so a quiet cache is renewed no more often: use three minutes or
	// more.
	StaleAfter time.Duration
	// KeepManagedFields keeps metadata.managedFields, which otherwise never reaches the cache.
	KeepManagedFields bool
	// Compact makes the cache keep its objects compressed: compact.New of package informer/compact. Each object then
	// takes a small part of the memory, and a read costs the time to decode it; see that package. The objects that
	// readers get are their own, and may be changed. Nil keeps objects as they are.
	Compact Compact
	// CheckMutations detects handlers and readers that change objects of the cache, which is forbidden. It copies one
	// object in every CheckMutations, chosen by uid, and compares it every minute, at every list, and when it is
	// replaced. OnError receives a *cache.MutationError that names the object and the field. The check costs a second
	// copy of the chosen objects, and is meant for tests and staging. 1 checks every object. 0 checks none, with one
	// exception: an informer whose client has the Config of a server from clienttest.Start checks up to 1000 objects at
	// a time, and fails the test.
	CheckMutations int
	// AllowEarlyReads allows reads of the cache before it holds a complete list, when it lacks objects that the server
	// has. Without it the informer reports the first such read as an *EarlyReadError, and fails the test if its client
	// is from clienttest.Start. Early reads are a Get that finds nothing, a loop, Select, Len, and each of these
	// methods of an index. Subscribe and Status are not early reads. If a controller waits for the cache, reads by the
	// functions of its sources, such as the function of controller.Map, are not early either. If only some namespaces
	// have been listed, reads of the others and reads of all namespaces are too early. Reads of all namespaces are
	// allowed once a controller has said in its log that it works without the missing ones.
	AllowEarlyReads bool
	// OnError is called with every error:
	//
	//   - an error of a list or a watch, which is retried;
	//   - a *client.DecodeError for an object that does not decode, once per change of it;
	//   - a *cache.PanicError for a handler that panicked;
	//   - a *cache.MutationError;
	//   - an *EarlyReadError;
	//   - an error if Warm cannot keep the objects;
	//   - once in a Run, an error if the server claims to select the ranges of Shards but has sent an object of another
	//     range; the informer leaves that object out;
	//   - once in a Run, an error if Shards by namespace cannot divide objects, because they have no namespace.
	//
	// Several goroutines call it at once. It should return soon, because the list, the watch or the handler waits for
	// it. It may call any method of the informer that does not wait.
	//
	// If it is nil, the informer logs errors during Run: each at once, and a repeated one at growing intervals of up to
	// a quarter of an hour, until the operation works again. Set a function that does nothing to silence them.
	OnError func(error)
	// Hooks are called on events that a program may want to observe; see also [WithHooks].
	Hooks Hooks
	// Logger receives errors if OnError is nil, and changes of state at V(4). If it is the zero Logger, which
	// logr.Discard() returns too, the informer uses the logger of Run's context (logr.NewContext), or else
	// slog.Default().
	Logger logr.Logger
}

// staleAfter returns StaleAfter, or its default. It is negative for never.
func (o Options) staleAfter() time.Duration {
	return cmp.Or(o.StaleAfter, 5*time.Minute)
}

// isStale reports whether a cache that was last renewed at this time is stale.
func (o Options) isStale(renewed time.Time) bool {
	return o.staleAfter() > 0 && time.Since(renewed) > o.staleAfter()
}

func (o Options) validate() error {
	if strings.ContainsFunc(o.Name, func(c rune) bool { return c == utf8.RuneError || !unicode.IsPrint(c) }) {
		return fmt.Errorf("informer.Options: Name must have printable characters only, got %q", o.Name)
	}
	if o.Namespace != "" {
		if err := meta.ValidSegment("informer.Options: Namespace", o.Namespace); err != nil {
			return err
		}
	}
	if o.Namespaces != nil {
		if o.Namespace != "" {
			return fmt.Errorf("informer.Options: Namespace and Namespaces exclude each other, got %q and %q", o.Namespace, o.Namespaces)
		}
		if err := validNamespaces("informer.Options: ", "Namespaces", o.Namespaces); err != nil {
			return err
		}
	}
	if o.Shards != nil {
		if runners.IsNil(o.Shards) {
			return fmt.Errorf("informer.Options: Shards is a nil %T: leave Shards out, or set a Group", o.Shards)
		}
		if o.Namespaces != nil {
			return fmt.Errorf("informer.Options: Shards and Namespaces exclude each other, got Namespaces %q", o.Namespaces)
		}
		if o.Warm != nil {
			return errors.New("informer.Options: Shards and Warm exclude each other")
		}
		if err := o.Shards.By().Validate(); err != nil {
			return fmt.Errorf("informer.Options: Shards: %w", err)
		}
	}
	if o.Warm != nil && runners.IsNil(o.Warm) {
		return fmt.Errorf("informer.Options: Warm is a nil %T: leave Warm out, or set one", o.Warm)
	}
	if _, err := meta.ParseSelector(o.LabelSelector); err != nil {
		return fmt.Errorf("informer.Options: LabelSelector: %w", err)
	}
	if _, err := meta.ParseFieldSelector(o.FieldSelector); err != nil {
		return fmt.Errorf("informer.Options: FieldSelector: %w", err)
	}
	switch o.Mode {
	case Auto, Paged, Streaming:
	default:
		return fmt.Errorf("informer.Options: Mode must be Auto, Paged or Streaming, got %v", o.Mode)
	}
	if o.CheckMutations < 0 {
		return fmt.Errorf("informer.Options: CheckMutations must be 0 (off) or more, got %d", o.CheckMutations)
	}
	return nil
}

// validNamespaces checks that namespaces are valid and different. Errors begin with where and the name of the field.
func validNamespaces(where, field string, namespaces []string) error {
	for n, ns := range namespaces {
		if err := meta.ValidSegment(fmt.Sprintf("%s%s[%d]", where, field, n), ns); err != nil {
			return err
		}
		if first := slices.Index(namespaces, ns); first != n {
			return fmt.Errorf("%s%s[%d] duplicates %s[%d] (%q)", where, field, n, field, first, ns)
		}
	}
	return nil
}
