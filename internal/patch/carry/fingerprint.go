package carry

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/bowline-go/bowline/internal/patch/tree"
)

// fingerprints distinguishes values without reading them again. The fingerprint of a value is computed from those of
// its parts, and kept, so each value of a source is read once, however deep it is.
//
// Values that are alike have the same fingerprint, whatever the order of members and the spelling of strings. Values
// with the same fingerprint are alike, except by chance.
type fingerprints struct {
	seed   maphash.Seed
	known  map[*tree.Branch]uint64
	looked int // how many values were read; for a test
}

func newFingerprints() *fingerprints {
	return &fingerprints{seed: maphash.MakeSeed(), known: make(map[*tree.Branch]uint64)}
}

// of returns the fingerprint of a value, which must not change.
func (f *fingerprints) of(n *tree.Node) uint64 {
	kind := n.Kind()
	if kind == '{' || kind == '[' {
		b := n.Open()
		print, ok := f.known[b]
		if !ok {
			print = f.parts(b)
			f.known[b] = print
		}
		return print
	}
	f.looked++
	if kind == '"' {
		return f.text('"', n.Unquoted())
	}
	return f.text(0, n.Text())
}

func (f *fingerprints) parts(b *tree.Branch) uint64 {
	f.looked++
	if b.List {
		var h maphash.Hash
		h.SetSeed(f.seed)
		_ = h.WriteByte('[') // a Hash has no errors
		for i := range b.Items {
			_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, f.of(&b.Items[i])))
		}
		return h.Sum64()
	}
	sum := uint64(0) // does not depend on the order of the members
	for m := range b.Each {
		sum += f.pair('{', f.text('"', m.Name), f.of(&m.Value))
	}
	return f.pair('}', sum, uint64(b.Len()))
}

func (f *fingerprints) text(kind byte, text []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(f.seed)
	_ = h.WriteByte(kind)
	_, _ = h.Write(text)
	return h.Sum64()
}

func (f *fingerprints) pair(kind byte, a, b uint64) uint64 {
	var both [17]byte
	both[0] = kind
	binary.LittleEndian.PutUint64(both[1:], a)
	binary.LittleEndian.PutUint64(both[9:], b)
	return maphash.Bytes(f.seed, both[:])
}

// alike returns what tree.Alike returns for two values.
func (f *fingerprints) alike(a, b *tree.Node) bool { return f.of(a) == f.of(b) && tree.Alike(a, b) }

// same is like alike, but compares only the fingerprints of objects and lists, so by chance it may be wrong. It is for
// values that are compared with many others.
func (f *fingerprints) same(a, b *tree.Node) bool {
	if kind := a.Kind(); kind != b.Kind() {
		return false
	} else if kind != '{' && kind != '[' {
		return tree.Alike(a, b)
	}
	return f.of(a) == f.of(b)
}
