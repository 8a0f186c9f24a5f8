package cache

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

// TestRowsAgainstModel makes random changes, takes views at random moments, and compares each view in the end with what
// the rows held when it was taken: a view that changed after it was taken shows here.
func TestRowsAgainstModel(t *testing.T) {
	for seed := range uint64(12) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var r rows[uint64]
		gen := uint64(1)
		model := map[uint64]*entry[uint64]{}
		type moment struct {
			view view[uint64]
			want []uint64
		}
		var moments []moment
		// Few seqs make the sequence grow and shrink in the middle, many make it grow at its end.
		seqs := []uint64{40, 3_000, 1 << 40}[seed%3]
		value := uint64(0)
		var used []uint64
		for step := range 6_000 {
			// Waves of growth and of shrinking, so that chunks split and merge.
			grow := 70 - 40*(step/1_500%2)
			seq := rnd.Uint64N(seqs)
			switch n := rnd.IntN(100); {
			case n < grow:
				value++
				e := &entry[uint64]{seq: seq, obj: value}
				model[seq] = e
				r.put(e, gen)
				used = append(used, seq)
			default:
				if seqs > 1<<20 && len(used) > 0 {
					seq = used[rnd.IntN(len(used))]
				}
				e := model[seq]
				if e == nil {
					r.drop(&entry[uint64]{seq: seq}, gen)
					break
				}
				if rnd.IntN(5) == 0 {
					r.drop(&entry[uint64]{seq: seq}, gen) // not the entry that is there: it stays
					break
				}
				r.drop(e, gen)
				delete(model, seq)
			}
			if rnd.IntN(300) == 0 {
				moments = append(moments, moment{r.view(), inOrder(model)})
				gen++
			}
		}
		moments = append(moments, moment{r.view(), inOrder(model)})
		for i, m := range moments {
			if got := slices.Collect(m.view.each); !slices.Equal(got, m.want) {
				t.Fatalf("seed %d: view %d of %d has %d objects that are not the %d of its moment",
					seed, i, len(moments), len(got), len(m.want))
			}
		}
		if r.n != len(model) {
			t.Errorf("seed %d: n = %d, want %d", seed, r.n, len(model))
		}
		for i, c := range r.chunks {
			if len(c.items) == 0 || len(c.items) > chunkSize {
				t.Errorf("seed %d: chunk %d has %d items", seed, i, len(c.items))
			}
		}
		if seqs == 3_000 && len(r.chunks) > 8*(r.n/chunkSize+1) {
			t.Errorf("seed %d: %d chunks for %d entries", seed, len(r.chunks), r.n)
		}
	}
}

func inOrder(model map[uint64]*entry[uint64]) []uint64 {
	var values []uint64
	for _, seq := range slices.Sorted(maps.Keys(model)) {
		values = append(values, model[seq].obj)
	}
	return values
}

// A write copies what a view holds, and only that: loading copies nothing, and one write beside readers one chunk.
func TestRowsCopyOnlyWhatAViewHolds(t *testing.T) {
	var r rows[int]
	for i := range 10 * chunkSize {
		r.put(&entry[int]{seq: uint64(i)}, 1)
	}
	if len(r.chunks) != 10 {
		t.Fatalf("%d chunks, want 10 full ones", len(r.chunks))
	}
	before := r.view()
	r.put(&entry[int]{seq: 3 * chunkSize}, 2)
	r.put(&entry[int]{seq: 3*chunkSize + 1}, 2)
	copied := 0
	for i := range r.chunks {
		if r.chunks[i] != before.chunks[i] {
			copied++
		}
	}
	if copied != 1 {
		t.Errorf("%d chunks copied, want 1", copied)
	}
}

// Deletions at random do not leave a long sequence of short chunks.
func TestRowsMergeShortChunks(t *testing.T) {
	var r rows[int]
	var entries []*entry[int]
	for i := range 100 * chunkSize {
		entries = append(entries, &entry[int]{seq: uint64(i)})
		r.put(entries[i], 1)
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	rnd.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	for _, e := range entries[chunkSize:] {
		r.drop(e, 1)
	}
	if r.n != chunkSize || len(r.chunks) > 8 {
		t.Errorf("%d entries in %d chunks, want %d in 8 or less", r.n, len(r.chunks), chunkSize)
	}
}

// TestBucketsBySize takes a value through all of its representations, up and down.
func TestBucketsBySize(t *testing.T) {
	var b buckets[string, int]
	var entries []*entry[int]
	check := func() {
		t.Helper()
		var got []int
		b.view("x").each(func(obj int) bool { got = append(got, obj); return true })
		slices.Sort(got)
		var want []int
		for _, e := range entries {
			want = append(want, e.obj)
		}
		if !slices.Equal(got, want) || b.count("x") != len(want) {
			t.Fatalf("%v, count %d, want %v", got, b.count("x"), want)
		}
	}
	for i := range 3 * most {
		e := &entry[int]{seq: uint64(i), obj: 2 * i}
		b.put("x", e, 1)
		again := &entry[int]{seq: uint64(i), obj: 2*i + 1}
		b.put("x", again, 1)
		b.drop("x", e, 1) // the state before, which is not there any more
		entries = append(entries, again)
		check()
	}
	for len(entries) > 0 {
		b.drop("x", &entry[int]{seq: entries[0].seq}, 1)
		i := len(entries) / 2
		b.drop("x", entries[i], 1)
		entries = slices.Delete(entries, i, i+1)
		check()
		if small := len(entries) <= fewest; small {
			if _, isRows := b.m["x"].(*rows[int]); isRows {
				t.Errorf("%d entries in rows", len(entries))
			}
		}
	}
	if b.len() != 0 {
		t.Error("a value without entries is still there")
	}
}

// A closed subscription leaves nothing behind in the store.
func TestCloseDetaches(t *testing.T) {
	s := NewStore[meta.Object]()
	first, second := s.Reader().Subscribe(nil), s.Reader().Subscribe(nil)
	first.Close()
	if len(s.subs) != 1 {
		t.Errorf("%d subscriptions, want 1", len(s.subs))
	}
	second.Close()
	if len(s.subs) != 0 {
		t.Errorf("%d subscriptions, want none", len(s.subs))
	}
}

func TestTableGivesMemoryBack(t *testing.T) {
	var tab table[int, int]
	for i := range 100_000 {
		tab.put(i, i)
	}
	for i := range 99_990 {
		tab.drop(i)
	}
	if tab.len() != 10 || tab.peak >= tableFloor {
		t.Errorf("%d entries in a map made for %d, want 10 in less than %d", tab.len(), tab.peak, tableFloor)
	}
	for i := 99_990; i < 100_000; i++ {
		if tab.m[i] != i {
			t.Errorf("tab[%d] = %d", i, tab.m[i])
		}
	}
}
