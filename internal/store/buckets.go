package store

import "maps"

// buckets groups rows by a value: the objects of each namespace, and those of each value of an index. A value without
// rows has no bucket.
//
// The zero buckets is empty. It is guarded by the lock of the store.
type buckets[K comparable] struct {
	table[K, *bucket[K]]

	// A fork takes changes that readers must not see yet. It has its own map. base is the table that readers use; the
	// fork shares its buckets and copies a bucket before changing it. In buckets that are not a fork, forked and base
	// are zero.
	forked bool
	base   map[K]*bucket[K]
	copies []*bucket[K] // copies that replace buckets of base
}

type bucket[K comparable] struct {
	value K
	rowSet
}

// fork returns a fork of b. Until the result of joined replaces b, b must not change.
func (b *buckets[K]) fork() buckets[K] {
	f := buckets[K]{table: b.table, forked: true, base: b.m}
	f.m = maps.Clone(b.m)
	return f
}

// joined returns the contents of a fork as buckets that are not a fork.
func (b *buckets[K]) joined() buckets[K] { return buckets[K]{table: b.table} }

// own returns the bucket to change instead of bk: bk itself, or its copy in a fork.
func (b *buckets[K]) own(bk *bucket[K]) *bucket[K] {
	if !b.forked {
		return bk
	}
	now := b.m[bk.value]
	if now == nil || b.base[bk.value] != now {
		return now
	}
	own := &bucket[K]{value: now.value, rowSet: now.rowSet.fork()}
	b.m[own.value] = own
	b.copies = append(b.copies, own)
	return own
}

// add puts row under k, and returns the bucket of k.
func (b *buckets[K]) add(k K, row uint32, gen uint64) *bucket[K] {
	bk := b.m[k]
	if bk == nil {
		bk = &bucket[K]{value: k}
		b.table.put(k, bk)
	} else {
		bk = b.own(bk)
	}
	bk.add(row, gen)
	return bk
}

// drop removes row from a bucket that is in b, or in the base of b.
func (b *buckets[K]) drop(bk *bucket[K], row uint32, gen uint64) {
	if b.forked && b.m[bk.value].len() == 1 {
		b.table.drop(bk.value) // the bucket keeps the row, because readers may have it
		return
	}
	bk = b.own(bk)
	bk.rowSet.drop(row, gen)
	if bk.len() == 0 {
		b.table.drop(bk.value)
	}
}

func (b *buckets[K]) renumber(to []uint32, gen uint64) {
	for _, bk := range b.m {
		b.own(bk).renumber(to, gen)
	}
}

// rows returns the rows under k.
func (b *buckets[K]) rows(k K) rowSet {
	if bk := b.m[k]; bk != nil {
		return bk.rowSet
	}
	return rowSet{}
}
