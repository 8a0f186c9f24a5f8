package store

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/packed"
)

// A store of packed objects has the text of each object in packed form, and decodes it when a reader asks for the
// object. The other files serve both kinds of stores, because they look only at the identities and the rows of entries.
// They get the object of an entry from the methods of this file.
//
// The objects that arrived or were read lately are also kept decoded: they are hot. Handlers, index functions and the
// functions of views get the hot object, and share it, so they must not change it. Readers get an object of their own:
// a clone of the hot one, or a new one.

// Packing says how a store packs its objects. The functions may be called by several goroutines at once.
type Packing[T any] struct {
	// Pack packs an object whose text is not known, because a transform or a source of the program has made it. The
	// zero Text says that the object has none. The store then keeps the object itself. It also does so if Unpack of the
	// text returns an object that is not equal.
	Pack func(obj T) packed.Text
	// Unpack returns a new object, which belongs to the caller.
	Unpack func(text packed.Text) (T, error)
	// Clone returns a deep copy of an object.
	Clone func(obj T) T
	// Report is called once for each object that does not unpack. Readers do not find such an object until a relist
	// brings it again.
	Report func(id meta.Identity, err error)
}

// NewPacked returns an empty store that packs its objects.
func NewPacked[T meta.Object](p Packing[T]) *Store[T] {
	s := New[T]()
	s.packs = &packs[T]{Packing: p, room: mostHotBytes}
	return s
}

// packedEntry is an entry of a store of packed objects. Every entry of such a store is the first field of a
// packedEntry.
type packedEntry[T any] struct {
	entry[T]
	text packed.Text // the zero Text if the store keeps the object itself
	// hot is the object while it is hot; or packs.once, packs.broken or nil. If text is the zero Text, the object is
	// always hot.
	hot atomic.Pointer[T]
}

// packedOf returns the packedEntry whose first field is e. It is only for the entries of a store of packed objects. A
// field of entry that refers to the packedEntry would cost 16 bytes for each object in the other stores.
func packedOf[T any](e *entry[T]) *packedEntry[T] { return (*packedEntry[T])(unsafe.Pointer(e)) }

// packs has the hot objects of a store of packed objects. All other stores have a nil packs.
type packs[T any] struct {
	Packing[T]

	// The addresses of these fields are marks in packedEntry.hot: once for an entry that has been read, broken for one
	// that does not unpack.
	once, broken T

	room    int          // mostHotBytes, except in tests
	checked atomic.Int64 // one in so many hot objects is checked for changes; 0 is none

	mu     sync.Mutex // guards the fields below; no code of the user is called under it
	ring   [mostHot]*packedEntry[T]
	next   int // the place in ring that is filled next
	size   int // of the packed texts of those in ring
	oldest int // the place of the oldest of them
	found  []finding
	broke  []func() // report the objects that do not unpack
}

// mostHot and mostHotBytes bound the hot objects: how many there are, and how many bytes they have in packed form. The
// decoded objects have about twenty times as many.
const (
	mostHot      = 256
	mostHotBytes = 128 << 10
)

// unpackError is the value of the panic if a handler's object does not unpack. Package cache reports it as the panic of
// the handler.
func unpackError(id meta.Identity, err error) error {
	return fmt.Errorf("unpack %q at version %s: %w", id.Key(), id.ResourceVersion, err)
}

// entry returns a state of an object, which is hot at first.
func (p *packs[T]) entry(key meta.Key, id meta.Identity, c content[T], tag uint32) *entry[T] {
	if c.text.IsNone() {
		c.text = p.pack(c.obj)
	}
	e := &packedEntry[T]{entry: entry[T]{key: key, uid: id.UID, version: id.ResourceVersion, tag: tag}, text: c.text}
	if c.text.IsNone() {
		e.hot.Store(&c.obj)
	} else {
		p.heat(e, c.obj)
	}
	return &e.entry
}

// pack returns the text of an object, or the zero Text if Unpack does not return an equal object for it.
func (p *packs[T]) pack(obj T) packed.Text {
	text := p.Pack(obj)
	if text.IsNone() {
		return text
	}
	if again, err := p.Unpack(text); err != nil || !isSame(obj, again) {
		return packed.Text{}
	}
	return text
}

// copied returns another entry of old's state.
func (s *Store[T]) copied(old *entry[T]) *entry[T] {
	if s.packs == nil {
		return &entry[T]{key: old.key, uid: old.uid, version: old.version, obj: old.obj, tag: old.tag}
	}
	was := packedOf(old)
	e := &packedEntry[T]{entry: entry[T]{key: old.key, uid: old.uid, version: old.version, tag: old.tag}, text: was.text}
	if e.text.IsNone() {
		e.hot.Store(was.hot.Load())
	}
	return &e.entry
}

// heat makes e hot, and returns the hot object, which is not obj if another goroutine has made e hot. A large object
// does not become hot.
func (p *packs[T]) heat(e *packedEntry[T], obj T) T {
	size := e.text.Size()
	if size > p.room/4 {
		return obj
	}
	if was := e.hot.Load(); p.isObject(was) {
		return *was
	} else if was == &p.broken || !e.hot.CompareAndSwap(was, &obj) {
		if now := e.hot.Load(); p.isObject(now) {
			return *now
		}
		return obj
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.ring[p.next] != nil || p.size > 0 && p.size+size > p.room {
		p.cool()
	}
	p.ring[p.next] = e
	p.next = (p.next + 1) % mostHot
	p.size += size
	return obj
}

// cool makes the oldest hot object cold. The caller holds mu.
func (p *packs[T]) cool() {
	e := p.ring[p.oldest]
	p.ring[p.oldest] = nil
	p.oldest = (p.oldest + 1) % mostHot
	p.size -= e.text.Size()
	p.examine(e)
	if was := e.hot.Load(); p.isObject(was) {
		e.hot.CompareAndSwap(was, nil)
	}
}

// isObject reports whether hot is an object and not a mark.
func (p *packs[T]) isObject(hot *T) bool { return hot != nil && hot != &p.once && hot != &p.broken }

// isBroken reports whether the object of e does not unpack.
func (p *packs[T]) isBroken(e *entry[T]) bool { return p != nil && packedOf(e).hot.Load() == &p.broken }

// breaks notes that e does not unpack.
func (p *packs[T]) breaks(e *packedEntry[T], err error) {
	for {
		was := e.hot.Load()
		if was == &p.broken {
			return
		}
		if e.hot.CompareAndSwap(was, &p.broken) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.broke = append(p.broke, func() { p.Report(e.identity(), err) })
			return
		}
	}
}

// tell reports the objects that do not unpack. It is called with no lock held.
func (p *packs[T]) tell() {
	if p == nil {
		return
	}
	p.mu.Lock()
	broke := p.broke
	p.broke = nil
	p.mu.Unlock()
	for _, report := range broke {
		report()
	}
}

// get returns an object for a reader, and makes it hot if it was read before.
func (p *packs[T]) get(of *entry[T]) (obj T, found bool) {
	e := packedOf(of)
	hot := e.hot.Load()
	obj, found = p.own(of)
	switch {
	case !found || p.isObject(hot):
	case hot == &p.once:
		p.heat(e, p.Clone(obj))
	default:
		e.hot.CompareAndSwap(nil, &p.once)
	}
	return obj, found
}

// own returns an object for a reader.
func (p *packs[T]) own(of *entry[T]) (obj T, found bool) {
	e := packedOf(of)
	hot := e.hot.Load()
	switch {
	case hot == &p.broken:
		return obj, false
	case p.isObject(hot):
		return p.Clone(*hot), true
	}
	obj, err := p.Unpack(e.text)
	if err != nil {
		var none T
		p.breaks(e, err)
		p.tell()
		return none, false
	}
	return obj, true
}

// hotOf returns the object that handlers share, and makes it hot.
func (p *packs[T]) hotOf(of *entry[T]) (obj T, err error) {
	e := packedOf(of)
	hot := e.hot.Load()
	if p.isObject(hot) {
		return *hot, nil
	}
	if obj, err = p.Unpack(e.text); err != nil {
		var none T
		p.breaks(e, err)
		return none, unpackError(e.identity(), err)
	}
	return p.heat(e, obj), nil
}

// each calls yield with the objects of entries until yield returns false, and reports whether it never did.
func (p *packs[T]) each(entries []*entry[T], yield func(T) bool) bool {
	for _, e := range entries {
		if e == nil {
			continue
		}
		if obj, found := p.own(e); found && !yield(obj) {
			return false
		}
	}
	return true
}

// eachIn is each for rows of a tree.
func (p *packs[T]) eachIn(t tree[T], rows []uint32, yield func(T) bool) bool {
	for _, row := range rows {
		if obj, found := p.own(t.at(row)); found && !yield(obj) {
			return false
		}
	}
	return true
}

// own returns the object of e for a reader.
func (s *Store[T]) own(e *entry[T]) (obj T, found bool) {
	if s.packs == nil {
		return e.obj, true
	}
	return s.packs.own(e)
}

// shared returns the object of e for a handler. It panics if the object does not unpack: the caller reports panics.
func (s *Store[T]) shared(e *entry[T]) T {
	if s.packs == nil {
		return e.obj
	}
	obj, err := s.packs.hotOf(e)
	if err != nil {
		s.packs.tell()
		panic(err)
	}
	return obj
}

// known returns the object of e for an index function, and false if it does not unpack. The caller holds write.
func (s *Store[T]) known(e *entry[T]) (obj T, ok bool) {
	if s.packs == nil {
		return e.obj, true
	}
	obj, err := s.packs.hotOf(e)
	return obj, err == nil
}

// holds reports whether the object of e is equal to obj.
func (s *Store[T]) holds(e *entry[T], obj T) bool {
	was, found := s.known(e)
	return found && isSame(was, obj)
}

// check sets that one in oneIn hot objects is checked for changes. To find a hot object that the program has changed,
// the functions below compare it with a new object from its text.
func (p *packs[T]) check(oneIn int) {
	if p != nil {
		p.checked.Store(int64(max(oneIn, 0)))
	}
}

// isPacked reports whether e has a packed text.
func (p *packs[T]) isPacked(e *entry[T]) bool { return p != nil && !packedOf(e).text.IsNone() }

// plain returns the object of an entry that is not packed.
func (p *packs[T]) plain(e *entry[T]) T {
	if p == nil {
		return e.obj
	}
	return *packedOf(e).hot.Load()
}

// compare examines e.
func (p *packs[T]) compare(e *entry[T]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.examine(packedOf(e))
}

// sweep examines all hot objects.
func (p *packs[T]) sweep() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.ring {
		if e != nil {
			p.examine(e)
		}
	}
}

// examine looks for a change of a hot object. A changed object is cold from then on, so that no read returns it again.
// The caller holds mu.
func (p *packs[T]) examine(e *packedEntry[T]) {
	oneIn, hot := p.checked.Load(), e.hot.Load()
	if oneIn == 0 || int64(e.tag)%oneIn != 0 || !p.isObject(hot) {
		return
	}
	fresh, err := p.Unpack(e.text)
	if err != nil {
		return
	}
	if field, memory := firstDifference(*hot, fresh); field != "" {
		e.hot.CompareAndSwap(hot, nil)
		p.found = append(p.found, finding{Mutation{Key: e.key, ResourceVersion: e.version, Field: field}, memory})
	}
}

// take appends the new findings to found.
func (p *packs[T]) take(found []finding) []finding {
	if p == nil {
		return found
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	found = append(found, p.found...)
	p.found = nil
	return found
}
