package meta

import (
	"encoding/hex"
	"fmt"
	"iter"
	"math/bits"
	"strconv"
	"strings"
)

// RangeCount is the number of ranges into which the hashes of objects are divided.
const RangeCount = 256

// Ranges is a set of the 256 equal ranges of 64-bit hashes: range n has the hashes from n<<56 on. [ShardBy.Range]
// returns the range of an object. The zero value is the empty set. Ranges values can be compared with ==.
//
// A set of ranges is one process's share of a resource's objects, if several processes divide them; see package
// client/shards.
type Ranges struct {
	bits [RangeCount / 64]uint64
}

// AllRanges returns the set of all ranges. Every object belongs to one of them.
func AllRanges() Ranges {
	var r Ranges
	for i := range r.bits {
		r.bits[i] = ^uint64(0)
	}
	return r
}

// Has reports whether the set has range n. It is false for an n outside 0 to RangeCount-1.
func (r Ranges) Has(n int) bool {
	return n >= 0 && n < RangeCount && r.bits[n/64]&(1<<(n%64)) != 0
}

// With returns the set with range n, which must be at least 0 and less than RangeCount.
func (r Ranges) With(n int) Ranges {
	r.bits[n/64] |= 1 << (n % 64)
	return r
}

// Without returns the set without range n, which must be at least 0 and less than RangeCount.
func (r Ranges) Without(n int) Ranges {
	r.bits[n/64] &^= 1 << (n % 64)
	return r
}

// Union returns the ranges that r or other has.
func (r Ranges) Union(other Ranges) Ranges {
	for i := range r.bits {
		r.bits[i] |= other.bits[i]
	}
	return r
}

// Intersect returns the ranges that both r and other have.
func (r Ranges) Intersect(other Ranges) Ranges {
	for i := range r.bits {
		r.bits[i] &= other.bits[i]
	}
	return r
}

// Minus returns the ranges that r has and other does not have.
func (r Ranges) Minus(other Ranges) Ranges {
	for i := range r.bits {
		r.bits[i] &^= other.bits[i]
	}
	return r
}

// Len returns the number of ranges in the set.
func (r Ranges) Len() int {
	n := 0
	for _, word := range r.bits {
		n += bits.OnesCount64(word)
	}
	return n
}

// All iterates over the numbers of the ranges in the set, in order.
func (r Ranges) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, word := range r.bits {
			for ; word != 0; word &= word - 1 {
				if !yield(i*64 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

// spans iterates over the longest runs of ranges in the set. Each run includes first and last.
func (r Ranges) spans() iter.Seq2[int, int] {
	return func(yield func(first, last int) bool) {
		for n := 0; n < RangeCount; n++ {
			if !r.Has(n) {
				continue
			}
			first := n
			for r.Has(n + 1) {
				n++
			}
			if !yield(first, n) {
				return
			}
		}
	}
}

// String returns the numbers of the ranges as people write them, such as "0-63,128". It is empty for the empty set.
func (r Ranges) String() string {
	var b strings.Builder
	for first, last := range r.spans() {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(first))
		if last > first {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(last))
		}
	}
	return b.String()
}

// MarshalText implements encoding.TextMarshaler. The text has 64 hexadecimal digits, whatever the set; the first bit is
// that of range 0.
func (r Ranges) MarshalText() ([]byte, error) {
	var raw [RangeCount / 8]byte
	for n := range r.All() {
		raw[n/8] |= 0x80 >> (n % 8)
	}
	return hex.AppendEncode(nil, raw[:]), nil
}

// UnmarshalText implements encoding.TextUnmarshaler, for texts of MarshalText.
func (r *Ranges) UnmarshalText(text []byte) error {
	if len(text) != RangeCount/4 {
		return fmt.Errorf("meta.Ranges: the text must have %d hexadecimal digits, got %d bytes", RangeCount/4, len(text))
	}
	var raw [RangeCount / 8]byte
	if _, err := hex.Decode(raw[:], text); err != nil {
		return fmt.Errorf("meta.Ranges: %w", err)
	}
	*r = Ranges{}
	for n := range RangeCount {
		if raw[n/8]&(0x80>>(n%8)) != 0 {
			*r = r.With(n)
		}
	}
	return nil
}

// ShardBy says which field of an object decides which range it belongs to. The value is the field's name in a shard
// selector of the API (KEP-5866).
type ShardBy string

const (
	// ShardByUID divides the objects of a resource evenly, whatever their names. An object and the objects that it owns
	// are usually in different ranges.
	ShardByUID ShardBy = "object.metadata.uid"
	// ShardByNamespace keeps all objects of a namespace, of every kind, in one range. Objects without a namespace are
	// all in one range, so informers refuse cluster-wide resources.
	//
	// The server's hash does not spread similar names. Namespaces whose names differ in their last two characters only,
	// such as team-01 to team-99, are usually in one range, so one replica has all the work: use ShardByUID for those.
	ShardByNamespace ShardBy = "object.metadata.namespace"
)

// Validate returns an error unless by is one of the constants.
func (by ShardBy) Validate() error {
	if by != ShardByUID && by != ShardByNamespace {
		return fmt.Errorf("meta.ShardBy must be %q or %q, got %q", ShardByUID, ShardByNamespace, string(by))
	}
	return nil
}

// Range returns the number of the range that an object belongs to: the highest byte of the 64-bit FNV-1a hash of its
// uid or namespace, as the API server computes it.
func (by ShardBy) Range(id Identity) int {
	if by == ShardByNamespace {
		return rangeOf(id.Namespace)
	}
	return rangeOf(id.UID)
}

// rangeOf returns the highest byte of the 64-bit FNV-1a hash of s. Unlike a hash.Hash, it does not allocate.
func rangeOf(s string) int {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * prime
	}
	return int(h >> 56)
}

// Selector returns the shard selector of the API for the ranges, such as
//
//	shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')
//
// It is empty for the empty set, which no selector can express.
func (by ShardBy) Selector(r Ranges) string {
	var b strings.Builder
	for first, last := range r.spans() {
		if b.Len() > 0 {
			b.WriteString(" || ")
		}
		fmt.Fprintf(&b, "shardRange(%s, '%s', '%s')", string(by), bound(first), bound(last+1))
	}
	return b.String()
}

// bound returns the hash at which range n begins; for RangeCount, the end of the last one. The server requires all 16
// digits, although its documentation has '0x0'.
func bound(n int) string { return fmt.Sprintf("0x%02x%014x", n, 0) }
