package recorder

import "hash/maphash"

// digest stands for a key. It is a hash of 128 bits, with seeds that only the recorder knows, so two keys of a recorder
// have different digests. A digest takes a twentieth of the memory of a key, and does not keep the texts of an object.
type digest [2]uint64

// digester makes digests.
type digester [2]maphash.Seed

func newDigester() digester { return digester{maphash.MakeSeed(), maphash.MakeSeed()} }

func (d digester) key(k key) digest {
	return digest{maphash.Comparable(d[0], k), maphash.Comparable(d[1], k)}
}

func (d digester) source(s source) digest {
	return digest{maphash.Comparable(d[0], s), maphash.Comparable(d[1], s)}
}

// note returns a hash that tells the notes of a group apart.
func (d digester) note(note string) uint64 { return maphash.String(d[0], note) }
