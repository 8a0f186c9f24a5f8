package codec

import (
	"bytes"
	"hash/maphash"
	"runtime"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/bowline-go/bowline/internal/protobuf"
)

// Parts lets the objects of one cache share equal parts. If the text of a pointer, slice or map equals, byte for byte,
// that of a part that was decoded into the same Go type before, the object gets a reference to that part, and nothing
// of the text is decoded. So objects that were decoded with Parts must not be changed.
//
// The first time a text comes, Parts only remembers its hash. The second time (or the third, for a part within another
// one), the part is decoded into separate memory, which this object and later ones share. So a shared part does not
// keep the memory of the object that had it first. Parts does not keep a part alive: a part and its text live as long
// as an object that has the part. The texts take at most 4 MB.
//
// If little repeats, Parts looks for nothing for a while, and then tries again.
//
// A Parts is safe for concurrent use. The zero Parts is ready to use.
type Parts struct {
	table  atomic.Pointer[partTable] // nil before the first objects, and after a window in which little was found
	count  atomic.Uint64             // of the objects
	wakes  atomic.Uint64             // the number of the first object for which parts are looked for again
	window atomic.Uint64             // how many parts were looked for lately; in the upper half, how many were found

	mu    sync.Mutex // held while table or wakes changes; guards slept
	slept uint64     // how many objects the last sleep took
}

const (
	leastPart   = 16      // bytes; a shorter text saves too little
	largestPart = 8 << 10 // bytes

	leastSets   = 16
	largestSets = 1 << 12
	ways        = 4    // parts in a set
	textOfSet   = 1024 // bytes; the texts of a table take at most this many for each of its sets

	unsharedObjects = 3 // so a cache of a few objects has no table

	leastSleep = 1 << 9 // objects
	mostSleep  = 1 << 14
	windowSize = 1 << 12 // lookups
	leastFound = 16      // one lookup in so many must find a part
)

// partTable is a set-associative hash table of parts. A text that is looked for and not found does not displace parts:
// the table keeps only the hash of its text, until it comes again.
type partTable struct {
	seed  maphash.Seed
	begun uint64 // the number of its first object
	sets  []partSet
	met   [][4]atomic.Uint32 // hashes of texts that came before; the lowest two bits of each say how often
	text  atomic.Int64       // bytes
	turn  atomic.Uint32
	// sizes says which of the sizes in hashed are in use, so that a lookup hashes only these: an element has a bit for
	// each size. The highest byte of a plan's mark is the index of its element, so several plans may share one.
	sizes [256]atomic.Uint32
}

type partSet struct {
	hashes [ways]atomic.Uint32 // of the parts, or of earlier ones in their places
	parts  [ways]atomic.Pointer[part]
}

// part is a value and its text. Only used changes.
type part struct {
	plan   *plan
	binary bool // the text is protobuf
	hash   uint64
	text   []byte
	value  held
	levels int         // upper bound of the levels that the text nests
	lossy  bool        // the text may have members that have no place
	used   atomic.Bool // it has been found since another part wanted its place
}

// begin starts an object. It returns nil if the object looks for no parts.
func (s *Parts) begin() *partTable {
	n := s.count.Add(1)
	if n <= unsharedObjects || n < s.wakes.Load() {
		return nil
	}
	t := s.table.Load()
	if t == nil || len(t.sets) < largestSets && n-t.begun > 4*uint64(len(t.sets)) {
		return s.enlarge(n)
	}
	return t
}

// enlarge makes the first table, or replaces the table by a larger one.
func (s *Parts) enlarge(n uint64) *partTable {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.table.Load()
	if old == nil {
		s.table.Store(newPartTable(leastSets, maphash.MakeSeed(), n))
		return s.table.Load()
	}
	if n-old.begun <= 4*uint64(len(old.sets)) { // another goroutine has done it
		return old
	}
	t := newPartTable(4*len(old.sets), old.seed, old.begun)
	for i := range old.sets {
		for j := range old.sets[i].parts {
			if p := old.sets[i].parts[j].Load(); p != nil {
				if set, way := t.place(p.hash, 0); set != nil {
					t.put(set, way, p)
				}
			}
		}
	}
	s.table.Store(t)
	return t
}

func newPartTable(sets int, seed maphash.Seed, begun uint64) *partTable {
	return &partTable{seed: seed, begun: begun, sets: make([]partSet, sets), met: make([][4]atomic.Uint32, 4*sets)}
}

// end ends an object. looked is how many parts were looked for, and found how many were found.
func (s *Parts) end(looked, found int) {
	w := s.window.Add(uint64(found)<<32 | uint64(looked))
	if uint32(w) < windowSize || !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	w = s.window.Swap(0)
	if uint32(w) < windowSize { // another goroutine has reset the window
		return
	}
	if w>>32*leastFound >= uint64(uint32(w)) {
		s.slept = 0
		return
	}
	s.slept = min(max(2*s.slept, leastSleep), mostSleep)
	s.wakes.Store(s.count.Load() + s.slept)
	s.table.Store(nil)
}

// hashed has the numbers of bytes at the start of a text that are hashed. The end of a JSON part is known only after
// the part has been read. So the text of a lookup may have any length, and the lookup tries each of these sizes.
var hashed = [...]int{512, 96, 32, leastPart}

// hash returns the hash of the first n bytes of a text.
func (t *partTable) hash(p *plan, b []byte, n int) uint64 {
	return maphash.Bytes(t.seed, b[:n]) ^ p.mark
}

// hashOf returns the hash of a whole text.
func (t *partTable) hashOf(p *plan, text []byte) uint64 {
	return t.hash(p, text, hashed[sizeOf(text)])
}

// sizeOf returns the index in hashed of the size that applies to a whole text. The text is not shorter than leastPart.
func sizeOf(text []byte) (i int) {
	for len(text) < hashed[i] {
		i++
	}
	return i
}

func (t *partTable) sizesOf(p *plan) *atomic.Uint32 { return &t.sizes[p.mark>>56] }

// find returns the part of the plan with that hash and text, or nil. JSON parts have their text at the start of b; the
// text of a protobuf part must be all of b. cost bounds how many bytes were compared without finding a part.
func (t *partTable) find(p *plan, hash uint64, b []byte, binary bool) (found *part, cost int) {
	set := t.set(hash)
	for i := range set.parts {
		if set.hashes[i].Load() != uint32(hash) {
			continue
		}
		q := set.parts[i].Load()
		if q == nil || q.hash != hash || q.plan != p || q.binary != binary || binary && len(q.text) != len(b) {
			continue
		}
		if bytes.HasPrefix(b, q.text) {
			if !q.used.Load() {
				q.used.Store(true)
			}
			return q, cost
		}
		cost += len(q.text)
	}
	return nil, cost
}

func (t *partTable) set(hash uint64) *partSet { return &t.sets[hash>>32&uint64(len(t.sets)-1)] }

// times returns how often a text has come, this time included, up to three. If its place is full, one of four other
// texts, by turn, is forgotten.
func (t *partTable) times(p *plan, text []byte) int {
	h := uint32(maphash.Bytes(t.seed, text) ^ p.mark)
	four := &t.met[h>>2&uint32(len(t.met)-1)]
	once, twice := h|3, h&^3|2 // never 0
	at := -1
	for i := range four {
		switch four[i].Load() {
		case once:
			four[i].Store(twice)
			return 2
		case twice:
			return 3
		case 0:
			at = i
		}
	}
	if at < 0 {
		at = int(t.turn.Add(1) % uint32(len(four)))
	}
	four[at].Store(once)
	return 1
}

// place returns a place for a part of size bytes, or nil. A part that has been found since the last such attempt keeps
// its place.
func (t *partTable) place(hash uint64, size int) (set *partSet, way int) {
	if t.text.Load()+int64(size) > int64(textOfSet*len(t.sets)) {
		return nil, 0
	}
	set, way = t.set(hash), -1
	for i := range set.parts {
		p := set.parts[i].Load()
		switch {
		case p == nil || !p.value.lives():
			return set, i
		case !p.used.Load():
			way = i
		}
	}
	if way >= 0 {
		return set, way
	}
	for i := range set.parts {
		if p := set.parts[i].Load(); p != nil {
			p.used.Store(false)
		}
	}
	return nil, 0
}

func (t *partTable) put(set *partSet, way int, p *part) {
	t.sizesOf(p.plan).Or(1 << sizeOf(p.text))
	set.hashes[way].Store(uint32(p.hash))
	t.text.Add(int64(len(p.text)))
	if old := set.parts[way].Swap(p); old != nil {
		t.text.Add(-int64(len(old.text)))
	}
}

// freed names a part whose value the garbage collector has freed. It keeps neither its text nor the other parts alive.
type freed struct {
	parts weak.Pointer[Parts]
	hash  uint64
}

// forget drops the parts in the set of this part whose values are gone.
func (f freed) forget() {
	s := f.parts.Value()
	if s == nil {
		return
	}
	t := s.table.Load()
	if t == nil {
		return
	}
	set := t.set(f.hash)
	for i := range set.parts {
		if p := set.parts[i].Load(); p != nil && !p.value.lives() && set.parts[i].CompareAndSwap(p, nil) {
			t.text.Add(-int64(len(p.text)))
		}
	}
}

// sharing is what a decoder needs to share parts.
type sharing struct {
	parts     *Parts     // nil if the object has no shared parts
	table     *partTable // nil if parts are not looked for, or no longer
	looked    int
	found     int
	allowance int  // how many bytes may still be compared without a result, or decoded twice
	around    int  // how many values that may become parts contain the current value
	apart     bool // a part is being decoded into separate memory
	deepest   int  // the depth that messages have reached
}

// allowed is how many bytes may be compared without a result or decoded twice, for each byte of an object. Only an
// object that was made to be slow to decode reaches the limit.
const allowed = 8

// share begins an object of a given size. Its parts are shared unless s is nil.
func (d *decoder) share(s *Parts, size int) {
	d.sharing = sharing{}
	if s != nil {
		if t := s.begin(); t != nil {
			d.sharing = sharing{parts: s, table: t, allowance: allowed * size}
		}
	}
}

// unshare ends the object.
func (d *decoder) unshare() {
	if s := &d.sharing; s.parts != nil {
		s.parts.end(s.looked, s.found)
	}
	d.sharing = sharing{}
}

// spend takes n bytes from the allowance, and reports whether it suffices. If not, the rest of the object shares
// nothing.
func (s *sharing) spend(n int) bool {
	if s.allowance -= n; s.allowance < 0 {
		s.table = nil
	}
	return s.table != nil
}

// know puts a part into a place, unless it would nest too deep there. q may be nil. It returns the size of the text,
// or 0.
func (d *decoder) know(q *part, to place, levels int) int {
	d.sharing.looked++
	if q == nil || d.depth+q.levels > levels || !to.refer(q.value, q.plan.shape) {
		return 0
	}
	d.sharing.found++
	d.sharing.deepest = max(d.sharing.deepest, d.depth+q.levels)
	d.lossy = d.lossy || q.lossy
	return len(q.text)
}

// learns reports whether a value that was decoded from text is to become a part: whether the text has come before. A
// value within another one that may become a part must have come twice before. If both have come once, it is enough
// that the outer one becomes a part.
func (d *decoder) learns(p *plan, text []byte) bool {
	s := &d.sharing
	if s.table == nil || s.apart || len(text) < leastPart || len(text) > largestPart {
		return false
	}
	times := s.table.times(p, text)
	return (times > 2 || times == 2 && s.around == 0) && s.spend(len(text))
}

// learn makes q a part, and replaces the value at a place by that of the part. The value of the part has separate
// memory: decode decodes it from a copy of the text.
func (d *decoder) learn(q *part, to place, decode func(to place, text []byte) bool) {
	s := &d.sharing
	t := s.table
	q.hash = t.hashOf(q.plan, q.text)
	set, way := t.place(q.hash, len(q.text))
	if set == nil {
		return
	}
	q.text = bytes.Clone(q.text)
	value := newPlace(q.plan.typ)
	depth, failed := d.depth, d.fault
	s.apart = true
	d.text.beginPart(len(q.text), &q.plan.text)
	ok := decode(value, q.text)
	d.text.endPart(&q.plan.text)
	s.apart = false
	d.depth, d.fault = depth, failed
	if !ok {
		return
	}
	if q.value, ok = value.hold(q.plan.shape); ok {
		q.lossy = d.lossy
		to.refer(q.value, q.plan.shape)
		t.put(set, way, q)
		value.onFree(freed{weak.Make(s.parts), q.hash})
	}
	runtime.KeepAlive(value.p) // to.refer must have stored the value before it may be freed
}

// part decodes the array or object at i into a pointer, slice or map that may be shared.
func (d *decoder) part(p *plan, to place, i int) int {
	if d.tooHigh(p) {
		return d.unshared(p, to, i)
	}
	rest := d.data[i:]
	if size := d.know(d.findText(p, rest), to, maxDepth); size > 0 {
		return i + size
	}
	d.sharing.around++
	next := d.unshared(p, to, i)
	d.sharing.around--
	if next < 0 {
		return next
	}
	if text := rest[:next-i]; d.learns(p, text) {
		outer := d.data
		q := &part{plan: p, text: text, levels: bytes.Count(text, []byte{'['}) + bytes.Count(text, []byte{'{'})}
		d.learn(q, to, func(to place, text []byte) bool {
			d.data = text
			return d.unshared(p, to, 0) == len(text)
		})
		d.data = outer
	}
	return next
}

// tooHigh reports whether a value must not be shared because of its place: it is the object itself, to which the kind
// may be added, or it may be the object's metadata, in which some unknown members do not make the object lossy.
func (d *decoder) tooHigh(p *plan) bool {
	return d.depth == 0 || d.depth == 1 && p.shape == shapePointer
}

// findText returns the part whose text is at the start of b, or nil.
func (d *decoder) findText(p *plan, b []byte) *part {
	t := d.sharing.table
	sizes := t.sizesOf(p).Load()
	for i, n := range hashed {
		if sizes&(1<<i) == 0 || len(b) < n {
			continue
		}
		q, cost := t.find(p, t.hash(p, b, n), b, false)
		if q != nil {
			return q
		}
		if !d.sharing.spend(cost) {
			break
		}
	}
	return nil
}

// unshared decodes a value for a plan whose values may be shared, without sharing it.
func (d *decoder) unshared(p *plan, to place, i int) int {
	switch p.shape {
	case shapePointer:
		target := newPlace(p.elem.typ)
		to.point(target)
		return d.value(p.elem, target, i)
	case shapeSlice:
		return d.slice(p, to, i)
	case shapeStrings:
		return d.stringSlice(p, to, i)
	case shapeMap:
		return d.mapping(p, to, i)
	}
	return d.stringMap(p, to, i)
}

// messagePart decodes b into a pointer, slice or map that may be shared. b is the values of one tag, without the tag
// of the first; decode decodes it without sharing.
func (d *decoder) messagePart(p *plan, to place, b []byte, decode func(to place, b []byte) bool) bool {
	s := &d.sharing
	if s.table == nil || !p.shared || d.tooHigh(p) || len(b) < leastPart || len(b) > largestPart {
		return decode(to, b)
	}
	q, cost := s.table.find(p, s.table.hashOf(p, b), b, true)
	if d.know(q, to, maxMessageDepth) > 0 {
		return true
	}
	s.spend(cost)
	outer := s.deepest
	s.deepest = d.depth
	s.around++
	ok := decode(to, b)
	s.around--
	levels := s.deepest - d.depth
	if ok && d.learns(p, b) {
		d.learn(&part{plan: p, binary: true, text: b, levels: levels}, to, decode)
	}
	s.deepest = max(s.deepest, outer)
	return ok
}

// pointerPart decodes a value into a pointer that may be shared.
func (d *decoder) pointerPart(v *jointValue, to place, b []byte) (rest []byte, ok bool) {
	_, rest, err := protobuf.ReadBytes(b)
	switch {
	case err != nil:
		return nil, d.malformed(err)
	case !to.isEmpty():
		return nil, d.malformed(errMerged)
	}
	return rest, d.messagePart(v.plan, to, b[:len(b)-len(rest)], func(to place, b []byte) bool {
		_, ok := d.pointee(v, to, b)
		return ok
	})
}
