package store

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

// Otherwise a cache whose objects come and go would need more and more memory.
func TestEachFreeRowIsUsedAgain(t *testing.T) {
	var r rows[int]
	var live []*entry[int]
	add := func() {
		e := &entry[int]{row: r.next()}
		r.put(e, 1)
		live = append(live, e)
	}
	for range 10 {
		add()
	}
	for n := range 100 {
		for range n%9 + 1 {
			r.drop(live[0], 1)
			live = live[1:]
		}
		for range n%9 + 1 {
			add()
		}
		if r.used != 10 || r.n != 10 {
			t.Fatalf("%d entries have %d rows, want 10", r.n, r.used)
		}
	}
}

// TestRowsDoWhatTheModelDoes makes random changes, takes views at random moments, and compares each view in the end with what
// the rows held when it was taken: a view that changed after it was taken shows here.
func TestRowsDoWhatTheModelDoes(t *testing.T) {
	for seed := range uint64(12) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var r rows[uint64]
		var odd rowSet // the rows of odd values
		gen := uint64(1)
		model := map[uint32]*entry[uint64]{}
		type moment struct {
			all, odd         view[uint64]
			wantAll, wantOdd []uint64
		}
		var moments []moment
		look := func() {
			var m moment
			m.all = r.view()
			m.odd = m.all.only(odd)
			for _, row := range slices.Sorted(maps.Keys(model)) {
				m.wantAll = append(m.wantAll, model[row].obj)
				if model[row].obj%2 == 1 {
					m.wantOdd = append(m.wantOdd, model[row].obj)
				}
			}
			moments = append(moments, m)
			gen++
		}
		var live []uint32
		value := uint64(0)
		drop := func(e *entry[uint64]) {
			r.drop(e, gen)
			odd.drop(e.row, gen)
			delete(model, e.row)
		}
		for step := range 8_000 {
			// Waves of growth and of shrinking.
			grow := []int{80, 10}[step/2_000%2]
			value += 1 + rnd.Uint64N(2)
			switch n := rnd.IntN(100); {
			case n < grow || len(live) == 0:
				e := &entry[uint64]{obj: value, row: r.next()}
				if model[e.row] != nil {
					t.Fatalf("seed %d: row %d is given out twice", seed, e.row)
				}
				model[e.row] = e
				live = append(live, e.row)
				r.put(e, gen)
				if value%2 == 1 {
					odd.add(e.row, gen)
				}
			case n%2 == 0:
				now := &entry[uint64]{obj: value, row: live[rnd.IntN(len(live))]}
				model[now.row] = now
				r.put(now, gen)
				odd.drop(now.row, gen)
				if value%2 == 1 {
					odd.add(now.row, gen)
					odd.add(now.row, gen)
				}
			default:
				i := rnd.IntN(len(live))
				drop(model[live[i]])
				live = slices.Delete(live, i, i+1)
			}
			if r.sparse() {
				t.Fatalf("seed %d: %d of %d rows used", seed, r.n, r.used)
			}
			if rnd.IntN(400) == 0 {
				look()
			}
			if rnd.IntN(1_000) == 0 {
				odd.renumber(r.renumber(gen), gen)
				renumbered := map[uint32]*entry[uint64]{}
				for _, e := range model {
					renumbered[e.row] = e
				}
				model, live = renumbered, slices.Sorted(maps.Keys(renumbered))
				if int(r.used) != r.n || len(model) != r.n {
					t.Fatalf("seed %d: %d rows used for %d entries", seed, r.used, r.n)
				}
			}
		}
		look()
		for _, row := range live {
			drop(model[row])
		}
		look()
		for i, m := range moments {
			if got := collect(m.all); !slices.Equal(got, m.wantAll) {
				t.Fatalf("seed %d: view %d of %d has %d objects that are not the %d of its moment",
					seed, i, len(moments), len(got), len(m.wantAll))
			}
			if got := collect(m.odd); !slices.Equal(got, m.wantOdd) {
				t.Fatalf("seed %d: set %d of %d has %d objects that are not the %d of its moment",
					seed, i, len(moments), len(got), len(m.wantOdd))
			}
		}
		if r.n != 0 || len(r.tree) != 0 || odd.len() != 0 {
			t.Errorf("seed %d: %d entries, %d branches, %d odd ones left", seed, r.n, len(r.tree), odd.len())
		}
	}
}

func collect(v view[uint64]) []uint64 {
	return slices.Collect(func(yield func(uint64) bool) { v.each(yield) })
}

// A write copies what a view holds, and only that: loading copies nothing, and one write beside readers one chunk, its
// branch and the root. The copies once grew with the number of objects.
func TestRowsCopyOnlyWhatAViewHolds(t *testing.T) {
	const branches = 3
	var r rows[int]
	for range branches * branchSize * chunkSize {
		r.put(&entry[int]{row: r.next()}, 1)
	}
	if len(r.tree) != branches || len(r.tree[0].chunks) != branchSize {
		t.Fatalf("%d branches, the first of %d chunks; want %d full ones", len(r.tree), len(r.tree[0].chunks), branches)
	}
	before := r.view()
	r.put(&entry[int]{row: 3 * chunkSize}, 2)
	r.put(&entry[int]{row: 3*chunkSize + 1}, 2)
	chunks, copied := 0, 0
	for i, b := range r.tree {
		if b != before.tree[i] {
			copied++
		}
		for j, c := range b.chunks {
			if c != before.tree[i].chunks[j] {
				chunks++
			}
		}
	}
	if copied != 1 || chunks != 1 {
		t.Errorf("%d branches and %d chunks copied, want 1 of each", copied, chunks)
	}
}

// A branch whose last chunk goes costs no memory, and its rows can be used again.
func TestABranchWithoutEntriesGoes(t *testing.T) {
	const n = branchSize * chunkSize
	var r rows[uint32]
	for range 2 * n {
		row := r.next()
		r.put(&entry[uint32]{obj: row, row: row}, 1)
	}
	full := r.view()
	for row := range uint32(n) {
		r.drop(r.at(row), 2)
	}
	if r.tree[0] != nil || len(collect32(r.view())) != n || len(collect32(full)) != 2*n {
		t.Errorf("the branch is %v; %d entries now, %d before", r.tree[0], len(collect32(r.view())), len(collect32(full)))
	}
	row := r.next()
	r.put(&entry[uint32]{obj: row, row: row}, 3)
	if r.at(row).obj != row || row >= n || len(collect32(r.view())) != n+1 {
		t.Errorf("row %d: %d entries, want it and %d others", row, len(collect32(r.view())), n)
	}
}

func collect32(v view[uint32]) []uint32 {
	return slices.Collect(func(yield func(uint32) bool) { v.each(yield) })
}

// Deletions at random do not leave a long sequence of short runs.
func TestRunsMerge(t *testing.T) {
	var s rowSet
	rows := make([]uint32, 100*runSize)
	for i := range rows {
		rows[i] = uint32(i)
		s.add(rows[i], 1)
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	rnd.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	for _, row := range rows[runSize:] {
		s.drop(row, 1)
	}
	if s.len() != runSize || len(s.many.runs) > 8 {
		t.Errorf("%d rows in %d runs, want %d in 8 or less", s.len(), len(s.many.runs), runSize)
	}
}

// A run has at least one row and at most runSize, whatever comes and goes: what a change copies is bounded by it.
func TestRunsKeepTheirSize(t *testing.T) {
	for name, next := range map[string]func(rnd *rand.Rand, i int) uint32{
		"in order":  func(_ *rand.Rand, i int) uint32 { return uint32(i) },
		"at random": func(rnd *rand.Rand, _ int) uint32 { return rnd.Uint32N(20 * runSize) },
	} {
		var s rowSet
		rnd := rand.New(rand.NewPCG(1, 1))
		check := func() {
			t.Helper()
			if s.many == nil {
				return
			}
			for _, r := range s.many.runs {
				if len(r.rows) == 0 || len(r.rows) > runSize {
					t.Fatalf("%s: a run of %d rows, want 1 to %d", name, len(r.rows), runSize)
				}
			}
		}
		for i := range 20 * runSize {
			s.add(next(rnd, i), 1)
			check()
		}
		for range 100 * runSize {
			s.drop(rnd.Uint32N(20*runSize), 1)
			check()
		}
	}
}

// TestABucketWorksAtEachSize takes a value through all of its representations, up and down.
func TestABucketWorksAtEachSize(t *testing.T) {
	var b buckets[string]
	var want []uint32
	check := func() {
		t.Helper()
		set := b.rows("x")
		var got []uint32
		set.each(func(row uint32) { got = append(got, row) })
		if !slices.Equal(got, want) || set.len() != len(want) {
			t.Fatalf("%v, len %d, want %v", got, set.len(), want)
		}
	}
	for row := range uint32(3 * most) {
		b.add("x", row, 1)
		b.add("x", row, 1)
		want = append(want, row)
		check()
	}
	for len(want) > 0 {
		b.m["x"].rowSet.drop(1_000, 1) // which is not there
		i := len(want) / 2
		b.drop(b.m["x"], want[i], 1)
		want = slices.Delete(want, i, i+1)
		check()
		if len(want) > 0 && len(want) <= fewest && b.m["x"].many != nil {
			t.Errorf("%d rows in runs", len(want))
		}
	}
	if b.len() != 0 {
		t.Error("a value without rows is still there")
	}
}

// TestKeysDoWhatTheModelDoes makes random changes to a table whose tags collide in all ways.
func TestKeysDoWhatTheModelDoes(t *testing.T) {
	for _, tags := range []uint32{1, 5, 1 << 20} {
		var table keys[int]
		rnd := rand.New(rand.NewPCG(uint64(tags), 3))
		model := map[meta.Key]*entry[int]{}
		tag := func(k meta.Key) uint32 { return (uint32(k.Name[0])*2654435761+uint32(k.Name[1])*40503)%tags | 1<<31 }
		for step := range 4_000 {
			grow := []int{70, 20}[step/1_500%2]
			k := meta.Key{Name: string([]byte{byte(rnd.IntN(20)), byte(rnd.IntN(20))})}
			was := model[k]
			switch {
			case rnd.IntN(100) < grow && was == nil:
				e := &entry[int]{key: k, tag: tag(k)}
				table.add(e)
				model[k] = e
			case was != nil && rnd.IntN(3) == 0:
				e := &entry[int]{key: k, tag: tag(k)}
				table.replace(was, e)
				model[k] = e
			case was != nil:
				table.drop(was)
				delete(model, k)
			}
			if step%500 > 0 {
				continue
			}
			for a := range byte(20) {
				for b := range byte(20) {
					k := meta.Key{Name: string([]byte{a, b})}
					if got := table.find(tag(k), k); got != model[k] {
						t.Fatalf("%d tags, step %d: find(%q) = %v, want %v", tags, step, k, got, model[k])
					}
				}
			}
			if table.n != len(model) {
				t.Fatalf("%d tags: n = %d, want %d", tags, table.n, len(model))
			}
		}
	}
}

// A view of a set stays as it is when deletions join two of its runs.
func TestAViewStaysWhenRunsMerge(t *testing.T) {
	const gen, later = 1, 2
	for _, test := range []struct {
		name       string
		first, end uint32 // the rows that go after the view was taken, one by one
	}{
		{"the right one shrinks", runSize, 2 * runSize},
		{"the left one shrinks", 0, runSize},
	} {
		t.Run(test.name, func(t *testing.T) {
			var r rows[uint64]
			var s rowSet
			for row := range uint32(2 * runSize) {
				r.put(&entry[uint64]{obj: uint64(row), row: r.next()}, gen)
				s.add(row, gen)
			}
			// Short runs, so that the two fill half a run as soon as one of them loses one more.
			for row := range uint32(2 * runSize) {
				if row%4 != 0 {
					s.drop(row, gen)
				}
			}
			if len(s.many.runs) != 2 {
				t.Fatalf("%d runs, want 2", len(s.many.runs))
			}
			v := r.view().only(s)
			want := collect(v)
			for row := test.first; row < test.end; row += 4 {
				s.drop(row, later)
				if got := collect(v); !slices.Equal(got, want) {
					t.Fatalf("after row %d went the view has %d objects, want the %d of its moment", row, len(got), len(want))
				}
			}
			if len(s.many.runs) != 1 {
				t.Errorf("%d runs are left, want 1", len(s.many.runs))
			}
		})
	}
}

// The rows of a chunk without entries cost no memory, and can be given out again.
func TestAChunkWithoutEntriesGoes(t *testing.T) {
	var r rows[uint32]
	for range 3 * chunkSize {
		row := r.next()
		r.put(&entry[uint32]{obj: row, row: row}, 1)
	}
	full := r.view()
	for row := uint32(chunkSize); row < 2*chunkSize; row++ {
		r.drop(r.at(row), 2)
	}
	if c := r.tree[0].chunks[1]; c != nil {
		t.Errorf("a chunk of %d entries is still there", c.n)
	}
	count := func(v view[uint32]) (n int) {
		v.each(func(uint32) bool { n++; return true })
		return n
	}
	empty := r.view()
	again := r.next()
	r.put(&entry[uint32]{obj: again, row: again}, 3)
	if again/chunkSize != 1 || r.at(again).obj != again || r.tree[0].chunks[1].n != 1 {
		t.Errorf("row %d was given out, want a free one, and it alone in its chunk", again)
	}
	now := r.view()
	for _, check := range []struct {
		when string
		v    view[uint32]
		want int
	}{{"before", full, 3 * chunkSize}, {"empty", empty, 2 * chunkSize}, {"after", now, 2*chunkSize + 1}} {
		if got, entries := count(check.v), len(check.v.entries()); got != check.want || entries != check.want {
			t.Errorf("%s: %d objects and %d entries, want %d", check.when, got, entries, check.want)
		}
	}
}

// A chunk that has gone is passed over by whatever looks at all objects.
func TestLoopsPassOverAChunkThatHasGone(t *testing.T) {
	s := New[meta.Object]()
	name := func(i int) meta.Identity {
		return meta.Identity{Namespace: "ns", Name: strconv.Itoa(i), UID: "u", ResourceVersion: "1"}
	}
	for i := range 3 * chunkSize {
		s.Writer("").Set(name(i), name(i))
	}
	for i := chunkSize; i < 2*chunkSize; i++ {
		s.Writer("").Delete(name(i), nil)
	}
	if s.all.tree[0].chunks[1] != nil {
		t.Fatal("the chunk is still there")
	}
	if got := indexed(s, func(meta.Object) []string { return []string{"all"} }).Len("all"); got != 2*chunkSize {
		t.Errorf("an index has %d objects, want %d", got, 2*chunkSize)
	}
	if got, want := s.Writer("").Relist().Commit("9"), (Changes{Deleted: 2 * chunkSize}); got != want {
		t.Errorf("Commit = %+v, want %+v", got, want)
	}
}

// A value that most objects have left keeps no memory for them.
func TestStoreGivesMemoryBack(t *testing.T) {
	s := New[meta.Object]()
	r := s
	byName := indexed(r, func(o meta.Object) []string { return []string{o.GetName(), "all"} })
	unique := indexed(r, func(o meta.Object) []string { return []string{o.GetName()} })
	const n = 20_000
	name := func(i int) meta.Identity {
		return meta.Identity{Namespace: "ns", Name: string(rune('a'+i%26)) + string(rune(0x4e00+i)), UID: "u", ResourceVersion: "1"}
	}
	for i := range n {
		s.Writer("").Set(name(i), name(i))
	}
	staged := s.Writer("ns").Relist()
	for i := range n {
		if i%1_000 == 7 || i == 5 {
			staged.Keep(name(i))
		}
	}
	for i := range n {
		if i%1_000 != 7 {
			s.Writer("").Delete(name(i), nil)
		}
	}
	if got := r.Len(); got != n/1_000 {
		t.Fatalf("%d objects left, want %d", got, n/1_000)
	}
	if s.all.used > 2*fewestRows || len(s.items.slots.Load().tags) > 2*tableFloor || len(unique.of) > 2*fewestRows {
		t.Errorf("%d rows, a table of %d and an index of %d for %d objects",
			s.all.used, len(s.items.slots.Load().tags), len(unique.of), r.Len())
	}
	for i := 7; i < n; i += 1_000 {
		k := name(i).Key()
		if o, found := r.Get(k); !found || o != meta.Object(name(i)) || unique.Len(k.Name) != 1 || byName.Len(k.Name) != 1 {
			t.Errorf("object %d is %v, %v; %d and %d under its name", i, o, found, unique.Len(k.Name), byName.Len(k.Name))
		}
		for o := range unique.Get(k.Name) {
			if o != meta.Object(name(i)) {
				t.Errorf("%v under %q", o, k.Name)
			}
		}
	}
	if byName.Len("all") != n/1_000 {
		t.Errorf("%d under all", byName.Len("all"))
	}
	// The relist kept them, and one that has been deleted, before they were renumbered.
	if got, want := staged.Commit("9"), (Changes{Added: 1, Unchanged: n / 1_000}); got != want {
		t.Errorf("Commit = %+v, want %+v", got, want)
	}
}

// A closed subscription leaves nothing behind in the store, nor does a closed index or a WaitFor that has returned.
func TestCloseDetaches(t *testing.T) {
	s := New[meta.Labelled]()
	first, second := s.Subscribe(ignoring[meta.Labelled]{}, nil), s.Subscribe(ignoring[meta.Labelled]{}, nil)
	first.Close()
	if len(s.subs) != 1 {
		t.Errorf("%d subscriptions, want 1", len(s.subs))
	}
	second.Close()
	ix, labels := indexed(s, func(meta.Labelled) []int { return nil }), new(Index[string, meta.Labelled])
	OpenLabel(labels, s, "app")
	ix.Close()
	labels.Close()
	if len(s.subs) != 0 || len(s.indexes) != 0 || len(s.labelled) != 0 {
		t.Errorf("%d subscriptions, %d and %d indexes, want none", len(s.subs), len(s.indexes), len(s.labelled))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.WaitFor(ctx, meta.Key{Name: "a"}, "1"); err == nil || len(s.waits.of) != 0 {
		t.Errorf("%v, %d waiters, want an error and none", err, len(s.waits.of))
	}
}

func TestTableGivesMemoryBack(t *testing.T) {
	var tab table[int, int]
	for i := range 100_000 {
		tab.put(i, i)
	}
	if tab.peak != 100_000 {
		t.Errorf("peak %d, want 100000", tab.peak)
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
