package informer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/guard"
	"github.com/bowline-go/bowline/internal/handle"
	"github.com/bowline-go/bowline/internal/report"
)

// Warm keeps the objects of caches from one process to the next ([Options].Warm). Package warm implements it with
// files.
//
// An informer whose cache has never held a list begins with the kept objects. It does not trust them: it asks the
// server for its version, and watches from the version at which the objects were kept. When the watch has reached the
// server's version, the objects are those of the server, and enter the cache in one step, as a list does. Until then
// the cache is empty, the informer is not synced, and no handler, index or controller sees any of the objects.
//
// If the watch cannot resume, or does not reach the server's version within some seconds, the informer lists as it
// would without kept objects, except that it does not decode those that are unchanged. Status.Cold has the reason.
type Warm interface {
	// Open returns the place where a collection is kept. It returns an error if the collection cannot be kept, or must
	// not be; Run then returns that error. It does no I/O.
	Open(Collection) (Kept, error)
}

// Collection names what one [Kept] holds: the objects that an informer caches, or those of one of its namespaces.
type Collection struct {
	// Informer is Options.Name, without the selectors.
	Informer string
	// Resource is the resource, and Namespace the only namespace; empty means all of them.
	Resource  meta.GVR
	Namespace string
	// LabelSelector and FieldSelector are the API's selectors.
	LabelSelector, FieldSelector string
	// KeepManagedFields says that the objects have metadata.managedFields.
	KeepManagedFields bool
	// Objects is the Go type of the objects.
	Objects reflect.Type
	// Shaped says that functions of the program may change the objects, or leave some out, as those of [Transform] and
	// [Filter] do.
	Shaped bool
	// Client reads the collection; nil if that is unknown.
	Client *client.Client
}

// Kept is the place where one collection is kept. An informer uses it from one goroutine at a time, except that Keep
// and its arguments run at the same time as the watch.
type Kept interface {
	// Load calls add for each object that is kept, one call at a time, and then returns the version of the collection
	// at which they were kept. If it returns an error, the informer uses no object. Load may wait for the server; it
	// then calls report with each error.
	Load(ctx context.Context, add func(Entry), report func(error)) (version string, err error)
	// Keep keeps the content of the cache from time to time, until ctx ends, and then once more. content returns false
	// if there is nothing that can be kept. Keep calls report when it fails, and with nil after it has succeeded.
	Keep(ctx context.Context, content func() (Content, bool), report func(error))
}

// Entry is one object of a collection.
type Entry struct {
	// Identity is the identity that the server sent.
	Identity meta.Identity
	// Object is the object in its last state that decodes; nil if there is none.
	Object meta.Object
	// Undecodable is why the state of Identity does not decode; nil if Object is that state.
	Undecodable error
}

// Content is a cache at one moment.
type Content struct {
	// Version is the resource version that the cache is current to.
	Version string
	// Objects loops over the objects, which are shared and must not be changed.
	Objects iter.Seq2[meta.Identity, meta.Object]
	// Undecodable are the objects that the server has in another state, which does not decode.
	Undecodable []*client.DecodeError
}

// open opens the place where the content of a namespace is kept; it returns nil without Options.Warm.
func (i *engine[T]) open(namespace string) (Kept, error) {
	if i.o.Warm == nil {
		return nil, nil
	}
	in := handle.Of(i.source)
	c, _ := in.Client.(*client.Client)
	kept, err := i.o.Warm.Open(Collection{
		Informer: i.o.Name, Resource: i.source.GVR(), Namespace: namespace,
		LabelSelector: i.o.LabelSelector, FieldSelector: i.o.FieldSelector, KeepManagedFields: i.o.KeepManagedFields,
		Objects: reflect.TypeFor[T](), Shaped: isShaped(i.source), Client: c,
	})
	if err != nil {
		return nil, fmt.Errorf("informer.Options: Warm: %w", err)
	}
	return kept, nil
}

// isShaped reports whether functions of the program may stand between the server's objects and the cache.
func isShaped[T meta.Object](src Source[T]) bool {
	in := handle.Of(src)
	return in.Filtered || in.Sharing == nil || reflect.TypeOf(in.Sharing()) != reflect.TypeOf(src)
}

// keep keeps the content of a scope until end is called; end returns when the last content is kept. The argument sound
// says whether the content may be kept at the end.
func (i *engine[T]) keep(s *scope[T], kept Kept) (end func(sound bool)) {
	if kept == nil {
		return func(bool) {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended, broken := make(chan struct{}), false
	go func() {
		defer close(ended)
		guard.Call(func() {
			kept.Keep(ctx, func() (Content, bool) {
				if ctx.Err() != nil && broken {
					return Content{}, false
				}
				return i.content(s)
			}, func(err error) { i.keeps(s.namespace, err) })
		}, func(value any) {
			err := guard.ErrExited
			if value != nil {
				err = fmt.Errorf("panicked: %v", value)
			}
			i.keeps(s.namespace, fmt.Errorf("%T %w; they are kept again in the next Run", kept, err))
		})
	}()
	return func(sound bool) {
		broken = !sound
		cancel()
		<-ended
	}
}

// content returns the content of a scope, or false if it has no version from which a watch can go on.
func (i *engine[T]) content(s *scope[T]) (Content, bool) {
	version, objects := s.writer.Snapshot()
	return Content{
		Version: version,
		Objects: func(yield func(meta.Identity, meta.Object) bool) {
			for id, obj := range objects {
				if !yield(id, obj) {
					return
				}
			}
		},
		// The undecodable objects are read after the snapshot. If one of them has become decodable since the snapshot,
		// its event comes again in a watch from Version.
		Undecodable: s.record.copy().Undecodable,
	}, version != ""
}

const aboutKeeping = "warm/"

// keeps reports whether the content of a scope could be kept.
func (i *engine[T]) keeps(namespace string, err error) {
	if err == nil {
		i.log.Works(aboutKeeping + namespace)
		return
	}
	err = fmt.Errorf("keep objects of %s: %w", i.where(namespace), err)
	if !i.hand(err) {
		what := i.where(namespace) + ": its objects"
		i.log.Failed(report.Topic{Key: aboutKeeping + namespace, Fails: what + " cannot be kept", Works: what + " are kept again"}, err, nil)
	}
}

// warmth is the content that an earlier process kept, until it enters the cache. The watch resumes at its version.
// Events change the warm objects instead of the cache, until the server has confirmed them.
type warmth[T meta.Object] struct {
	objects map[meta.Key]known[T]
	bad     map[meta.Key]*client.DecodeError
	kept    string // the version at which they were kept
	version string // the version that they are current to now
}

// known is an object in the state that its identity names.
type known[T meta.Object] struct {
	id  meta.Identity
	obj T
}

// errOtherType says that a Kept has handed over an object of another type.
var errOtherType = errors.New("it has objects of another Go type")

// load loads the kept objects, and returns the state from which the machine goes on with them. After a failure it
// returns s.
func (r *reflector[T]) load(ctx context.Context, s state) state {
	if r.kept == nil || s.version != "" || s.cause != "" {
		return s
	}
	w := &warmth[T]{objects: make(map[meta.Key]known[T]), bad: make(map[meta.Key]*client.DecodeError)}
	other := false
	version, err := r.kept.Load(ctx, func(e Entry) {
		if e.Object != nil {
			obj, ok := e.Object.(T)
			other = other || !ok
			w.objects[e.Identity.Key()] = known[T]{e.Identity, obj}
		}
		if e.Undecodable != nil {
			w.bad[e.Identity.Key()] = &client.DecodeError{Identity: e.Identity, Err: e.Undecodable}
		}
	}, r.loadFails)
	if other && err == nil {
		err = errOtherType
	}
	if ctx.Err() != nil {
		return s
	}
	if err != nil {
		r.cold(err)
		return s
	}
	w.kept, w.version = version, version
	r.warm = w
	s.version, s.seen, s.unproven, s.ask = version, version, true, true
	return s
}

// loadFails reports an error of a request that Load waits for.
func (r *reflector[T]) loadFails(err error) {
	r.record.update(func(st *Status) { st.State, st.Err, st.Since = Waiting, err, time.Now() })
	r.failedTo("list", err)
}

// cold notes why the cache does not begin with the kept objects.
func (r *reflector[T]) cold(err error) {
	r.record.update(func(st *Status) { st.Cold = err })
	r.informer.log.Logger().V(4).Info(r.informer.where(r.namespace)+": does not begin with kept objects", "why", err.Error())
}

// relists notes that a list is needed although objects were kept. They then serve only to spare decoding.
func (r *reflector[T]) relists(in input) {
	if r.warm == nil || r.s.version != "" || r.warm.version == "" {
		return
	}
	r.warm.version = ""
	why := fmt.Errorf("%s: the server did not confirm the objects at resource version %s", r.s.cause, r.warm.kept)
	if in.err != nil && in.outcome != unproven {
		why = fmt.Errorf("%w: %w", why, in.err)
	}
	r.cold(why)
}

// event applies an event of the watch.
func (w *warmth[T]) event(e client.Event[T]) {
	key := e.Identity.Key()
	was := w.objects[key].id
	switch {
	case e.Type == client.Bookmark:
	case e.Err != nil && e.Type != client.Deleted:
		w.bad[key] = &client.DecodeError{Identity: e.Identity, Err: e.Err}
		if was.UID != e.Identity.UID && e.Identity.UID != "" {
			delete(w.objects, key)
		}
	case e.Type == client.Deleted:
		delete(w.objects, key)
		delete(w.bad, key)
	default:
		w.objects[key] = known[T]{e.Identity, e.Object}
		delete(w.bad, key)
	}
	if e.Identity.ResourceVersion != "" {
		w.version = e.Identity.ResourceVersion
	}
}

// same returns the object of an identity, if it is known in exactly that state. A nil w knows none.
func (w *warmth[T]) same(id meta.Identity) (obj T, found bool) {
	if w == nil || id.ResourceVersion == "" {
		return obj, false
	}
	k, found := w.objects[id.Key()]
	if !found || k.id != id || w.bad[id.Key()] != nil {
		return obj, false
	}
	return k.obj, true
}

// confirmed moves the warm objects into the cache: the server has confirmed that they are its objects at this version.
func (r *reflector[T]) confirmed() {
	w := r.warm
	r.warm = nil
	g := r.writer.Relist()
	for _, k := range w.objects {
		g.Set(k.id, k.obj)
	}
	g.Commit(w.version)
	for _, bad := range w.bad {
		r.undecodable(bad.Identity, bad.Err)
	}
	r.record.update(func(st *Status) { st.Warm, st.LastEvent = len(w.objects), time.Now() })
	r.informer.log.Logger().V(4).Info(r.informer.where(r.namespace)+": begins with kept objects", "objects", len(w.objects), "version", w.kept)
}
