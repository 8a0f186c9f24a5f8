package informer

import (
	"fmt"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/go-logr/logr"
)

// Options choose what an informer caches, and who hears of it. The zero value caches every object of the resource, in all
// namespaces, starting with what the server has now.
type Options struct {
	// Namespace limits the informer to one namespace; empty means all of them.
	Namespace string
	// LabelSelector and FieldSelector are the API's selectors; empty selects everything.
	LabelSelector string
	FieldSelector string
	// PageSize is how many objects a list asks for at a time; 0 means client.DefaultPageSize, and a negative number all at once.
	PageSize int
	// AllowStale lets the first list be answered from whatever the server has cached. It is cheaper for the server, and after
	// a restart the cache may start with an older state than this program has seen before.
	AllowStale bool
	// KeepManagedFields keeps metadata.managedFields, which otherwise never reaches the cache.
	KeepManagedFields bool
	// OnError is called with every error: of lists and watches, which are tried again; a *client.DecodeError for an object
	// that does not decode, once per change of it; a *cache.PanicError for a handler that panicked. It is called by several
	// goroutines at once, and should return soon: the list, the watch or the handler waits for it. It may call any method
	// of the informer that does not wait.
	OnError func(error)
	// Logger gets the changes of state at V(4) and errors at V(1). The zero value discards them.
	Logger logr.Logger
}

func (o Options) validate() error {
	if o.Namespace != "" {
		if err := meta.ValidSegment("informer.Options: Namespace", o.Namespace); err != nil {
			return err
		}
	}
	if _, err := meta.ParseSelector(o.LabelSelector); err != nil {
		return fmt.Errorf("informer.Options: LabelSelector: %w", err)
	}
	if _, err := meta.ParseFieldSelector(o.FieldSelector); err != nil {
		return fmt.Errorf("informer.Options: FieldSelector: %w", err)
	}
	return nil
}
