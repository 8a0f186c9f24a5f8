// Package filler has what package controller needs of an informer besides what an informer shows its users. Neither
// imports the other.
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
	// or the informer does not run. f may be called before AfterWrite returns.
	AfterWrite(w follow.Write, f func()) *store.Sight
	// AwaitedBy notes that a controller waits for the cache, before its sources start. end is called when the source
	// that needs the cache has returned. calls is how many calls of functions of the controller's sources are in
	// progress. Such a function may read the cache before it is complete, because the cache's own source names the keys
	// again when the rest has been delivered.
	AwaitedBy(calls *atomic.Int64) (end func())
	// ListedIn reports whether the cache holds a complete list of a namespace, and has been current in this Run.
	// followed is false if the namespace is none of the informer's, and then listed says whether all of those have been
	// listed, as it does for the empty name. A namespace that SetNamespaces has removed has been listed: the cache has
	// nothing of it. An informer without Options.Namespaces follows all namespaces at once.
	ListedIn(namespace string) (listed, followed bool)
	// Namespaces returns which of its namespaces the informer has listed.
	Namespaces() Namespaces
	// Leaves returns why the object at key may have left the cache although it exists, for people. It is empty if the
	// object must have been deleted. For the zero Key it returns what may happen to any object.
	Leaves(key meta.Key) (why string)
	// Shards returns Options.Shards, which limits the cache to some ranges; nil if the cache has all objects.
	Shards() Shards
	// Refuse makes Run return err. A Run in progress goes on.
	Refuse(err error)
	// Away returns why the cache may not be current: the last error of a list or a watch, or what Stale returns. It is
	// nil if the server has sent something since, or has opened a watch, and while the informer polls and its lists
	// succeed.
	Away() error
	// Stale returns nil unless the cache is stale; see Options.StaleAfter. Otherwise it says since when, and why.
	Stale() error
}

// Shards are those of an informer, which a controller compares with its own.
type Shards interface{ By() meta.ShardBy }

// Namespaces is what a controller learns from an informer of several namespaces. The zero value is that of an informer
// that follows all of its objects at once.
type Namespaces struct {
	// Listed are the namespaces that have been listed completely, ordered.
	Listed []string
	// Missing are the others, each with the last error of the server; nil if there is none yet.
	Missing map[string]error
	// Changed is closed when Listed, Missing or one of the errors has changed.
	Changed <-chan struct{}
	// Partly tells the informer that the controller works without those that are missing.
	Partly func()
}

// Door is embedded in a type that is a Filler for package controller, and whose users are not to see that.
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

// As returns the Filler of what, or else what itself, as a type that either of them may be.
func As[I any](what any) (I, bool) {
	if f := Of(what); f != nil {
		what = f
	}
	i, ok := what.(I)
	return i, ok
}
