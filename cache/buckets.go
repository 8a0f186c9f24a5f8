package cache

// buckets groups rows by a value: the objects of each namespace, and those of each value of an index. A value without rows
// has no bucket.
//
// The zero buckets is empty. It is guarded by the lock of the store.
type buckets[K comparable] struct {
	table[K, *bucket[K]]
}

type bucket[K comparable] struct {
	value K
	rowSet
}

// add puts row under k, and returns the bucket of k.
func (b *buckets[K]) add(k K, row uint32, gen uint64) *bucket[K] {
	bk := b.m[k]
	if bk == nil {
		bk = &bucket[K]{value: k}
		b.table.put(k, bk)
	}
	bk.add(row, gen)
	return bk
}

// drop removes row from a bucket that is in b.
func (b *buckets[K]) drop(bk *bucket[K], row uint32, gen uint64) {
	bk.rowSet.drop(row, gen)
	if bk.len() == 0 {
		b.table.drop(bk.value)
	}
}

func (b *buckets[K]) renumber(to []uint32, gen uint64) {
	for _, bk := range b.m {
		bk.renumber(to, gen)
	}
}

// rows returns the rows under k.
func (b *buckets[K]) rows(k K) rowSet {
	if bk := b.m[k]; bk != nil {
		return bk.rowSet
	}
	return rowSet{}
}
