package codec

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"sync/atomic"

	"github.com/bowline-go/bowline/internal/protobuf"
)

// text makes the strings of the objects that one decoder decodes. They are valid UTF-8.
//
// A string that has been seen twice lately is taken from a table. So a string that repeats from object to object
// (labels, images, phases, node names) is stored once, and costs no allocation. The table keeps only the hash of a new
// string, so strings that do not repeat (UIDs, names) neither fill the table nor displace others. The table has a
// fixed size.
//
// Other strings of one object are cut from one piece of memory, whose size is guessed from a hint. So one of these
// strings keeps the memory of all of them; never that of another object, or of the document.
type text struct {
	table   [1 << tableBits]entry
	*piece        // the piece in use: whole or partial
	whole   piece // of the object
	partial piece // of a part that is decoded apart
}

// piece is the memory from which strings are cut.
type piece struct {
	memory strings.Builder
	used   int // bytes in this and earlier memory of the object
	hint   int // bytes that it is expected to use
	most   int // bytes that it can use
}

const (
	tableBits    = 11
	longestEntry = 256  // longer strings are not looked up
	longestPiece = 1024 // longer strings have separate memory
	leastPiece   = 64
	largestPiece = 4096
)

// entry is one place of the table. A string that repeats replaces another one only if the other one has not been found
// since the last attempt to replace it.
type entry struct {
	s     string
	seen  uint32 // the rest of the hash of the last string that was not found here
	found bool
}

// begin starts a new object, in a document of the given size.
func (t *text) begin(size int, h *hint) {
	t.piece = &t.whole
	t.start(size, h)
}

// end forgets the object.
func (t *text) end(h *hint) { t.whole.end(h) }

// beginPart starts a part of the object whose strings do not share memory with the rest of it.
func (t *text) beginPart(size int, h *hint) {
	t.piece = &t.partial
	t.start(size, h)
}

// endPart ends the part.
func (t *text) endPart(h *hint) {
	t.partial.end(h)
	t.piece = &t.whole
}

func (p *piece) start(size int, h *hint) {
	p.memory.Reset()
	p.used, p.hint, p.most = 0, h.of(size), size
}

func (p *piece) end(h *hint) {
	p.memory.Reset()
	h.learn(p.used, p.most)
}

// string returns b as a string.
func (t *text) string(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) > longestEntry {
		return t.cut(b)
	}
	h := hash(b)
	e := &t.table[h>>(64-tableBits)]
	if e.s == string(b) {
		if !e.found {
			e.found = true
		}
		return e.s
	}
	if e.seen != uint32(h) {
		e.seen = uint32(h)
		return t.cut(b)
	}
	if e.found {
		e.found = false
		return t.cut(b)
	}
	e.s = string(b)
	return e.s
}

// valid returns b, which need not be valid UTF-8, as a string. Each invalid byte becomes a replacement character, as
// in JSON. The strings of the table are valid.
func (t *text) valid(b []byte) string {
	if len(b) <= longestEntry {
		if e := &t.table[hash(b)>>(64-tableBits)]; e.s == string(b) {
			e.found = true
			return e.s
		}
	}
	return t.string(protobuf.Text(b))
}

// cut returns b as a string in the memory of the object. A Builder never changes the bytes that it has written.
func (t *text) cut(b []byte) string {
	if len(b) > longestPiece {
		return string(b)
	}
	p := t.piece
	start := p.memory.Len()
	if p.memory.Cap()-start < len(b) {
		p.memory.Reset()
		room := min(max(p.hint-p.used, leastPiece), p.most-p.used, largestPiece)
		p.memory.Grow(max(len(b), room))
		start = 0
	}
	p.used += len(b)
	p.memory.Write(b)
	return p.memory.String()[start:]
}

// hint is how much text the latest documents of a type had. It is the smaller of two guesses, a constant amount and a
// constant share of the document, because unused memory would be kept as long as the object. Decoders may overwrite
// each other's values: it is only a hint.
type hint struct {
	bytes atomic.Uint32
	share atomic.Uint32 // of 1024 bytes
}

func (h *hint) of(size int) int {
	return int(min(uint64(h.bytes.Load()), uint64(h.share.Load())*uint64(size)/1024))
}

func (h *hint) learn(used, size int) {
	follow(&h.bytes, used)
	follow(&h.share, int(uint64(used)*1024/uint64(max(size, 1))))
}

// follow moves a mean towards a new value.
func follow(mean *atomic.Uint32, value int) {
	last := int(mean.Load())
	if next := last + (value-last)/4 + min(max(value-last, -1), 1); next != last {
		mean.Store(uint32(next))
	}
}

// hash mixes eight bytes at a time. It is not secret, because collisions only make decoding slower.
func hash(b []byte) uint64 {
	const k1, k2 = 0x9e3779b97f4a7c15, 0xd6e8feb86659fd93
	h := uint64(len(b)) * k1
	for len(b) > 8 {
		h = mix(h^binary.LittleEndian.Uint64(b), k2)
		b = b[8:]
	}
	var last uint64
	switch {
	case len(b) == 8:
		last = binary.LittleEndian.Uint64(b)
	case len(b) >= 4:
		last = uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint32(b[len(b)-4:]))<<32
	case len(b) > 0:
		last = uint64(b[0]) | uint64(b[len(b)/2])<<8 | uint64(b[len(b)-1])<<16
	}
	return mix(h^last, k1)
}

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
