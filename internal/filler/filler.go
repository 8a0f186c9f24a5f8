// Package filler has the methods of an informer that package controller needs and that users do not see. Neither
// package imports the other.
package filler

import (
	"reflect"
	"sync/atomic"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/follow"
	"github.com/bowline-go/bowline/internal/store"
)

// Filler is an informer, which fills a cache.
type Filler interface {
	// AfterWrite calls f once when the cache has seen a write (see store.Store.AfterSeen), or will not see it: the
	// write is of another resource, of another server, or in a namespace or a range that the informer does not follow,
	// or the informer does not run. f may be called before AfterWrite returns. missed says that the object has gone
	// since the write, and that the cache may never have held it.
	AfterWrite(w follow.Write, f func(missed bool)) *store.Sight
	// AwaitedBy notes that a controller waits for the cache, before its sources start. The caller calls end when the
	// source that needs the cache has returned. calls is the number of calls in progress of functions of the
	// controller's sources. These functions may read the cache before it is complete: when the cache is complete, the
	// source that follows it adds the keys again.
	AwaitedBy(calls *atomic.Int64) (end func())
	// ListedIn reports whether the cache holds a complete list of a namespace, and has been current in this Run. For
	// the empty name it reports whether all followed namespaces have been listed. It reports the same for a namespace
	// that the informer does not follow; followed is then false. A namespace that SetNamespaces has removed counts as
	// listed, because the cache has no object of it. An informer without Options.Namespaces follows all namespaces at
	// once.
	ListedIn(namespace string) (listed, followed bool)
	// Namespaces returns which of its namespaces the informer has listed.
	Namespaces() Namespaces
	// Leaves returns, for people, why the object at key may have left the cache although it exists. It is empty if the
	// object must have been deleted. For the zero Key it returns why any object may leave.
	Leaves(key meta.Key) (why string)
	// Shards returns Options.Shards, which limits the cache to some ranges; nil if the cache has all objects.
	Shards() Shards
	// Refuse makes the next call of Run return err. A Run in progress goes on.
	Refuse(err error)
	// Away returns why the cache may not be current: the last error of a list or a watch, or the error of Stale. It
	// returns nil if the server has answered since that error, by opening a watch or sending an event, and while an
	// informer that polls receives its lists.
	Away() error
	// Stale returns nil unless the cache is stale; see Options.StaleAfter. Otherwise it says since when, and why.
	Stale() error
}

// Shards are the Shards of an informer, which a controller compares with its own.
type Shards interface{ By() meta.ShardBy }

// Namespaces says which namespaces an informer has listed. The zero value is for an informer that follows all of its
// objects at once.
type Namespaces struct {
	// Listed are the namespaces that have been listed completely, ordered.
	Listed []string
	// Missing are the other followed namespaces, each with the last error of the server; nil if there is none yet.
	Missing map[string]error
	// Changed is closed when Listed, Missing or one of the errors has changed.
	Changed <-chan struct{}
	// Partly tells the informer that the controller works without the missing namespaces.
	Partly func()
}

// Door is embedded in a type that is a Filler for package controller. It hides the methods of Filler from the type's
// users.
type Door struct{ filler Filler }

// NewDoor returns the door to f.
func NewDoor(f Filler) Door { return Door{f} }

// Behind returns the Filler.
func (d *Door) Behind() Filler { return d.filler }

// Of returns the Filler of an informer, or of a value whose type embeds an informer. It returns nil for any other
// value.
func Of(what any) Filler {
	d, ok := what.(interface{ Behind() Filler })
	if v := reflect.ValueOf(what); !ok || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	return d.Behind()
}

// As converts the Filler of a value, or the value itself if it has no Filler, to the interface I. It returns false if
// that does not implement I.
func As[I any](what any) (I, bool) {
	if f := Of(what); f != nil {
		what = f
	}
	i, ok := what.(I)
	return i, ok
}
