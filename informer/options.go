package informer

import (
	"fmt"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/go-logr/logr"
)

// Options choose what an informer caches, and who hears of it. The zero value caches every object of the resource, in all
// namespaces, starting with what the server has now.
type Options struct {
	// Namespace limits the informer to one namespace; empty means all of them.
	Namespace string
	// Namespaces limits the informer to these namespaces, each of which it lists and watches by itself: one that the server
	// refuses does not hold up the others. [Informer.SetNamespaces] changes them later. Nil means that Namespace decides;
	// empty and not nil means none for now, and such an informer is synced and has no objects.
	Namespaces []string
	// WideAbove is the number of Namespaces above which one list and one watch of all namespaces replace theirs; objects of
	// other namespaces are received then, but never enter the cache. It needs the permission to list all namespaces.
	// 0 means never.
	WideAbove int
	// LabelSelector and FieldSelector are the API's selectors; empty selects everything.
	LabelSelector string
	FieldSelector string
	// Mode is how the collection is listed.
	Mode Mode
	// PageSize is how many objects a list asks for at a time; 0 means client.DefaultPageSize, and a negative number all at once.
	// A streaming list has no pages.
	PageSize int
	// AllowStale lets the first list be answered from whatever the server has cached. It is cheaper for the server, and after
	// a restart the cache may start with an older state than this program has seen before.
	AllowStale bool
	// KeepManagedFields keeps metadata.managedFields, which otherwise never reaches the cache.
	KeepManagedFields bool
	// CheckMutations looks for handlers and readers that change objects of the cache, which nobody may: one object in so many
	// is remembered as it came, by its uid, and compared every minute, at every list, and when it is replaced. OnError is
	// given a *cache.MutationError that names the object and the field. It costs a second copy of the objects that are
	// remembered, and is meant for tests and staging. 1 checks every object. 0 checks none, except that an informer whose
	// client has the Config of a server from clienttest.Start checks up to 1000 objects at a time, and fails the test.
	CheckMutations int
	// AllowEarlyReads lets the cache be read before it holds a complete list, when it lacks objects that the server has. Without it
	// the first read that is too early is reported as an *EarlyReadError, and fails a test whose client is of clienttest.Start.
	// Such reads are Get where it finds nothing, loops, Select, Len, and those of indexes; Subscribe and Status are not. Where
	// some namespaces have been listed, it is too early for the others, and for reads of all.
	AllowEarlyReads bool
	// OnError is called with every error: of lists and watches, which are tried again; a *client.DecodeError for an object
	// that does not decode, once per change of it; a *cache.PanicError for a handler that panicked; a *cache.MutationError; an *EarlyReadError. It
	// is called by several goroutines at once, and should return soon: the list, the watch or the handler waits for it. It
	// may call any method of the informer that does not wait.
	//
	// Nil has errors logged, while Run runs, until what failed works again: each at once, and while it repeats at growing
	// intervals of up to a quarter of an hour. A function that does nothing silences them.
	OnError func(error)
	// OnWaited is called at the end of each [Informer.WaitFor] that found the cache up to the version that it asked for, with
	// the time that it took; it is called in the goroutine that has waited.
	OnWaited func(key meta.Key, waited time.Duration)
	// Logger gets the errors that OnError is not there to take, and changes of state at V(4). Where it is the zero Logger, as
	// logr.Discard() is too, the logger of Run's context is used (logr.NewContext), and where that has none, slog.Default().
	Logger logr.Logger
}

func (o Options) validate() error {
	if o.Namespace != "" {
		if err := meta.ValidSegment("informer.Options: Namespace", o.Namespace); err != nil {
			return err
		}
	}
	if o.Namespaces != nil {
		if o.Namespace != "" {
			return fmt.Errorf("informer.Options: Namespace and Namespaces exclude each other, got %q and %q", o.Namespace, o.Namespaces)
		}
		if err := validNamespaces("informer.Options: Namespaces", o.Namespaces); err != nil {
			return err
		}
	}
	if o.WideAbove < 0 {
		return fmt.Errorf("informer.Options: WideAbove must be 0 (never) or more, got %d", o.WideAbove)
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

// validNamespaces checks a set of namespaces that has been given as a slice.
func validNamespaces(field string, namespaces []string) error {
	for n, ns := range namespaces {
		if err := meta.ValidSegment(fmt.Sprintf("%s[%d]", field, n), ns); err != nil {
			return err
		}
		if first := slices.Index(namespaces, ns); first != n {
			return fmt.Errorf("%s[%d] must not be %q again, as number %d is", field, n, ns, first)
		}
	}
	return nil
}
