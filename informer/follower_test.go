package informer_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	caches "github.com/bowline-go/bowline/informer/compact"
)

// object is what the oracle can follow.
type object interface {
	meta.Object
	GetUID() string
}

// follower is an informer of some kind, and its handlers, without their type of objects.
type follower interface {
	run()
	// stop ends the informer, which must return nil.
	stop()
	// join subscribes one more handler, and leave closes a subscription.
	join(s step)
	leave(n int)
	// follow changes the set of namespaces, if this follower has one.
	follow(namespaces []string)
	// share changes the ranges, if this follower has some.
	share(ranges meta.Ranges)
	// difference says how the cache differs from the server, or its handlers from the cache; it is empty when all is well.
	difference() string
	// busy says what is still on its way to the handlers.
	busy() bool
	status() informer.Status
	String() string
}

// following is the one follower.
type following[T object] struct {
	kind
	w   *world
	inf *informer.Informer[T]
	// print is what T keeps of an object, and want the same of the server's.
	print func(T) string
	want  func(*meta.Unstructured) string
	// strict says that T is one which cannot decode some objects.
	strict bool

	names     []string // of the namespaces, where they can change
	spread    *spread  // the ranges, where they can change
	listeners []*listener[T]
	cancel    context.CancelFunc
	ended     chan error
}

// kind is what a history chooses from.
type kind struct {
	name     string
	resource int
	// covers says which of the server's objects the server selects for the informer, apart from its namespaces.
	covers func(*meta.Unstructured) bool
	// lets says which of them the informer's own filter lets in; nil is all of them.
	lets func(*meta.Unstructured) bool
	// namespaced says that the set of namespaces can change.
	namespaced bool
	make       func(k kind, w *world) follower
}

// newFollowing makes the informer; src is of the kind's resource.
func newFollowing[T object](
	k kind, w *world, src informer.Source[T], o informer.Options, print func(T) string, want func(*meta.Unstructured) string,
) *following[T] {
	f := &following[T]{kind: k, w: w, print: print, want: want}
	o.OnError = func(err error) {
		if p := (*cache.PanicError)(nil); errors.As(err, &p) && p.Value != errOracle {
			w.fault("%s: %v\n%s", f, p, p.Stack)
		}
	}
	if w.compact() {
		o.Compact = caches.New()
	}
	f.names = o.Namespaces
	f.spread, _ = o.Shards.(*spread)
	f.inf = informer.New(src, o)
	return f
}

func (f *following[T]) String() string { return f.name }

func (f *following[T]) status() informer.Status { return f.inf.Status() }

func (f *following[T]) run() {
	var ctx context.Context
	ctx, f.cancel = context.WithCancel(context.Background())
	f.ended = make(chan error, 1)
	go func() { f.ended <- f.inf.Run(ctx) }()
}

func (f *following[T]) stop() {
	began := time.Now()
	f.cancel()
	if err := <-f.ended; err != nil {
		f.w.fault("%s: Run returned %v", f, err)
	}
	// A delete and an add may be handed on together.
	if d := time.Since(began); d > 2*slowest {
		f.w.fault("%s: Run took %v to end", f, d)
	}
}

func (f *following[T]) follow(namespaces []string) {
	if !f.namespaced {
		return
	}
	f.names = namespaces
	if err := f.inf.SetNamespaces(namespaces); err != nil {
		f.w.fault("%s: SetNamespaces(%q) returned %v", f, namespaces, err)
	}
}

func (f *following[T]) share(ranges meta.Ranges) {
	if f.spread != nil {
		f.spread.set(ranges)
	}
}

// has says whether the informer must hold an object of the server's.
func (f *following[T]) has(u *meta.Unstructured) bool {
	if f.namespaced {
		in := false
		for _, name := range f.names {
			in = in || name == u.GetNamespace()
		}
		if !in {
			return false
		}
	}
	if f.spread != nil && !f.spread.want.Has(f.spread.by.Range(meta.Identity{Namespace: u.GetNamespace(), UID: u.GetUID()})) {
		return false
	}
	return f.covers(u)
}

func (f *following[T]) difference() string {
	truth := f.w.truth(f.resource)
	held := map[meta.Key]T{}
	for obj := range f.inf.Reader().All() {
		held[meta.KeyOf(obj)] = obj
	}
	unreadable := map[meta.Key]string{}
	for key, u := range truth {
		obj, ok := held[key]
		switch {
		case f.has(u) && f.strict && unreadableThing(u):
			unreadable[key] = u.GetResourceVersion() // its last good state, or nothing, is in the cache
		case !f.has(u) || f.lets != nil && !f.lets(u):
			if ok {
				return fmt.Sprintf("%s: the cache has %v at %s, which it is not to have", f, key, obj.GetResourceVersion())
			}
		case !ok:
			return fmt.Sprintf("%s: the cache lacks %v", f, key)
		case obj.GetResourceVersion() != u.GetResourceVersion() || obj.GetUID() != u.GetUID() || f.print(obj) != f.want(u):
			return fmt.Sprintf("%s: the cache has %v as %s %s %s, want %s %s %s", f, key, obj.GetUID(), obj.GetResourceVersion(),
				f.print(obj), u.GetUID(), u.GetResourceVersion(), f.want(u))
		}
	}
	for key, obj := range held {
		if truth[key] == nil {
			return fmt.Sprintf("%s: the cache has %v at %s, which is gone", f, key, obj.GetResourceVersion())
		}
	}
	status := f.inf.Status()
	if !status.Synced {
		return fmt.Sprintf("%s: not synced: %v", f, status)
	}
	// A fault may have answered the latest request in JSON: formCheck reports any other answer in JSON.
	binary := f.w.binary() && f.resource == 0
	// An informer that has followed nothing, or whose lists were all refused before it followed nothing any more, has no answer.
	answered := status.ResourceVersion != "" || status.Watches > 0
	if said := status.Protobuf || status.WhyJSON == "the server has answered in JSON"; said && !binary || !said && binary && answered {
		return fmt.Sprintf("%s: protobuf: %v, and the server has it: %v: %v", f, status.Protobuf, binary, status)
	}
	if f.spread != nil && (status.Ranges != f.spread.want || f.spread.has() != f.spread.want) {
		return fmt.Sprintf("%s: the cache has ranges %v, says that it has %v, and is to have %v", f, status.Ranges, f.spread.has(), f.spread.want)
	}
	listed := 0
	for _, u := range status.Undecodable {
		listed++
		if unreadable[u.Identity.Key()] != u.Identity.ResourceVersion {
			return fmt.Sprintf("%s: the status lists %v as undecodable", f, u.Identity)
		}
	}
	if listed != len(unreadable) {
		return fmt.Sprintf("%s: the status lists %v as undecodable, the server has %v", f, status.Undecodable, unreadable)
	}
	for _, l := range f.listeners {
		if d := l.difference(held); d != "" {
			return d
		}
	}
	return ""
}

func (f *following[T]) busy() bool {
	for _, l := range f.listeners {
		if backlog, _ := l.sub.Backlog(); !l.gone && backlog > 0 {
			return true
		}
	}
	return false
}

// slowest is how long a call of a handler takes at most.
const slowest = 2 * time.Second

// errOracle is what handlers panic with.
var errOracle = errors.New("this handler panics")

func (f *following[T]) join(s step) {
	l := &listener[T]{w: f.w, of: f.name, have: map[meta.Key]T{}, versions: map[string]string{}}
	if s.b%2 == 0 {
		l.delay = time.Duration(1 + int64(s.c)*7919%int64(slowest))
	}
	l.panics = s.b%5 == 0
	var where func(T) bool
	if s.b%3 == 0 {
		where = func(obj T) bool {
			return meta.KeyOf(obj).Name < "f" && len(obj.GetResourceVersion())%2 == 1 || s.b%2 == 0
		}
		l.where = where
		l.sub = f.inf.Reader().Where(where).Subscribe(l)
	} else {
		l.sub = f.inf.Subscribe(l)
	}
	f.listeners = append(f.listeners, l)
}

func (f *following[T]) leave(n int) {
	if len(f.listeners) == 0 {
		return
	}
	l := f.listeners[n%len(f.listeners)]
	l.sub.Close()
	l.gone = true
}

// listener is a handler that folds what it is told into a state, and finds fault with what it cannot be told.
type listener[T object] struct {
	w      *world
	of     string
	delay  time.Duration
	panics bool
	where  func(T) bool
	sub    *cache.Subscription
	gone   bool

	mu       sync.Mutex
	have     map[meta.Key]T
	versions map[string]string // the newest by uid
	epoch    int               // in which versions were seen
	calls    int
}

func (l *listener[T]) OnAdd(obj T) { l.note("add", obj, obj) }

func (l *listener[T]) OnUpdate(old, new T) { l.note("update", old, new) }

func (l *listener[T]) OnDelete(obj T) { l.note("delete", obj, obj) }

func (l *listener[T]) note(call string, old, obj T) {
	if l.delay > 0 {
		<-time.After(l.delay)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if epoch := l.w.epoch(); epoch != l.epoch {
		l.epoch = epoch
		clear(l.versions) // the server has gone back
	}
	key := meta.KeyOf(obj)
	was, there := l.have[key]
	uid, version := obj.GetUID(), obj.GetResourceVersion()
	if order, ok := meta.CompareVersions(version, l.versions[uid]); ok && order < 0 && !l.w.goesBack() {
		l.w.fault("%s: %s %v: version %s after %s", l.of, call, key, version, l.versions[uid])
	}
	l.versions[uid] = version
	switch {
	case call == "add" && there:
		l.w.fault("%s: add %v, which is there", l.of, key)
	case call != "add" && !there:
		l.w.fault("%s: %s %v, which is not there", l.of, call, key)
	case call != "add" && was.GetUID() != uid:
		l.w.fault("%s: %s %v: uid %s, and %s was added", l.of, call, key, uid, was.GetUID())
	case call == "update" && was.GetResourceVersion() != old.GetResourceVersion():
		l.w.fault("%s: update %v: old is not what was told last", l.of, key)
	case call != "delete" && l.where != nil && !l.where(obj):
		l.w.fault("%s: %s %v, which the filter does not let in", l.of, call, key)
	}
	if call == "delete" {
		delete(l.have, key)
	} else {
		l.have[key] = obj
	}
	if l.calls++; l.panics && l.calls%3 == 0 {
		panic(errOracle)
	}
}

func (l *listener[T]) difference(held map[meta.Key]T) string {
	if l.gone {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	want := 0
	for key, obj := range held {
		if l.where != nil && !l.where(obj) {
			continue
		}
		want++
		// One that has gone and come back in the same state, before the handler was told, may be another value.
		if got, ok := l.have[key]; !ok || got.GetUID() != obj.GetUID() || got.GetResourceVersion() != obj.GetResourceVersion() {
			return fmt.Sprintf("%s: a handler does not have %v as the cache has it", l.of, key)
		}
	}
	if len(l.have) != want {
		return fmt.Sprintf("%s: a handler has %d objects, the cache %d for it", l.of, len(l.have), want)
	}
	return ""
}

// Slim reads very little.
type Slim struct {
	meta.Identity `json:"metadata"`
	Data          struct {
		V string `json:"v"`
	} `json:"data"`
}

var widget = client.Type[*meta.Unstructured]{Group: "example.com", Version: "v1", Kind: "Widget", Resource: "widgets"}

// resources are those that histories change.
var resources = []client.Type[*meta.Unstructured]{raw, widget}

func thingType(resource int) client.Type[*Thing] { return typeAs[*Thing](resource) }

func typeAs[T meta.Object](resource int) client.Type[T] {
	t := resources[resource]
	return client.Type[T]{Group: t.Group, Version: t.Version, Kind: t.Kind, Resource: t.Resource}
}

func everything(*meta.Unstructured) bool { return true }

func labelOf(u *meta.Unstructured) string { return u.GetLabels()["app"] }

func valueOf(u *meta.Unstructured) string {
	v, _, _ := meta.Nested[string](u.Object, "data", "v")
	return v
}

func unreadableThing(u *meta.Unstructured) bool {
	v, _, _ := meta.Nested[string](u.Object, "data", "bad")
	return v != ""
}

func wholeOf(u *meta.Unstructured) string { return labelOf(u) + "/" + valueOf(u) }

func printThing(t *Thing) string { return t.Labels["app"] + "/" + t.Data["v"] }

// catalogue is what histories choose their followers from.
var catalogue = []kind{
	{
		name: "things, paged", covers: everything,
		make: func(k kind, w *world) follower {
			f := newFollowing(k, w, client.For(w.client, thingType(k.resource)), informer.Options{Mode: informer.Paged, PageSize: 2}, printThing, wholeOf)
			f.strict = true
			return f
		},
	},
	{
		name: "things with a label, auto", covers: func(u *meta.Unstructured) bool { return labelOf(u) == "web" },
		make: func(k kind, w *world) follower {
			f := newFollowing(k, w, client.For(w.client, thingType(k.resource)), informer.Options{LabelSelector: "app=web", PageSize: 3}, printThing, wholeOf)
			f.strict = true
			return f
		},
	},
	{
		name: "slim things of a namespace, streaming", covers: func(u *meta.Unstructured) bool { return u.GetNamespace() == "default" && u.GetName() != "c" },
		make: func(k kind, w *world) follower {
			return newFollowing(k, w, client.For(w.client, typeAs[*Slim](k.resource)),
				informer.Options{Mode: informer.Streaming, Namespace: "default", FieldSelector: "metadata.name!=c"},
				func(s *Slim) string { return s.Data.V }, valueOf)
		},
	},
	{
		name: "metadata, auto", covers: everything,
		make: func(k kind, w *world) follower {
			return newFollowing(k, w, client.Metadata(client.For(w.client, resources[k.resource])), informer.Options{},
				func(p *meta.Partial) string { return p.Labels["app"] }, labelOf)
		},
	},
	{
		name: "raw widgets, auto", covers: everything, resource: 1,
		make: func(k kind, w *world) follower {
			return newFollowing(k, w, client.For(w.client, typeAs[*meta.Raw](k.resource)), informer.Options{PageSize: 1},
				func(r *meta.Raw) string {
					v, _, _ := meta.Nested[string](r, "data", "v")
					return r.Labels["app"] + "/" + v
				}, wholeOf)
		},
	},
	{
		name: "unstructured widgets, streaming", covers: everything, resource: 1,
		make: func(k kind, w *world) follower {
			return newFollowing(k, w, client.For(w.client, resources[k.resource]), informer.Options{Mode: informer.Streaming}, wholeOf, wholeOf)
		},
	},
	{
		name: "things of some namespaces, auto", covers: everything, namespaced: true,
		make: func(k kind, w *world) follower {
			f := newFollowing(k, w, client.For(w.client, thingType(k.resource)), informer.Options{Namespaces: someNamespaces(3)}, printThing, wholeOf)
			f.strict = true
			return f
		},
	},
	{
		name: "slim widgets of some namespaces, paged", covers: everything, namespaced: true, resource: 1,
		make: func(k kind, w *world) follower {
			return newFollowing(k, w, client.For(w.client, typeAs[*Slim](k.resource)),
				informer.Options{Mode: informer.Paged, Namespaces: someNamespaces(5)},
				func(s *Slim) string { return s.Data.V }, valueOf)
		},
	},
	{
		name: "filtered things, auto", covers: everything, lets: func(u *meta.Unstructured) bool { return valueOf(u) != "3" },
		make: func(k kind, w *world) follower {
			src := informer.Filter(client.For(w.client, thingType(k.resource)), func(t *Thing) bool { return t.Data["v"] != "3" })
			f := newFollowing(k, w, src, informer.Options{}, printThing, wholeOf)
			f.strict = true
			return f
		},
	},
	{
		name: "transformed slim things, paged", covers: everything,
		make: func(k kind, w *world) follower {
			src := informer.Transform(client.For(w.client, typeAs[*Slim](k.resource)), func(s *Slim) *Slim {
				if s.Data.V == "" || s.Data.V[0] == 't' {
					w.fault("the transform is given %q", s.Data.V)
				}
				s.Data.V = "t" + s.Data.V
				return s
			})
			return newFollowing(k, w, src, informer.Options{Mode: informer.Paged, PageSize: 4},
				func(s *Slim) string { return s.Data.V }, func(u *meta.Unstructured) string { return "t" + valueOf(u) })
		},
	},
}
