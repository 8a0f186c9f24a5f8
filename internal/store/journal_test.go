package store

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// reading is a reader of a journal with what it knows of the store.
type reading struct {
	q    *subscriber[meta.Identity]
	knew map[meta.Key]*entry[meta.Identity]
	late bool // it has been so far behind that the writer has merged its changes too
}

// TestTheJournalDoesWhatTheModelDoes writes at random beside readers of different speed, of which some do not read for a long time.
// Each step must begin with a state that its reader knows, which one that has been merged wrongly does not, and in the end
// each reader must know what the store holds.
func TestTheJournalDoesWhatTheModelDoes(t *testing.T) {
	for seed := range uint64(6) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		keys := []int{3, 50, 2000}[seed%3]
		j := &journal[meta.Identity]{}
		now := map[meta.Key]*entry[meta.Identity]{}
		var readers []*reading
		join := func() {
			every := len(readers)%5 == 0
			r := &reading{q: &subscriber[meta.Identity]{store: &Store[meta.Identity]{}, every: every}, knew: map[meta.Key]*entry[meta.Identity]{}}
			for k, e := range now {
				r.knew[k] = e
			}
			j.join(r.q)
			readers = append(readers, r)
		}
		read := func(r *reading, most int) {
			for range most {
				n := int(r.q.part.n.Load())
				if r.q.at == n {
					if !j.advance(r.q) {
						j.sleep(r.q)
						return
					}
					continue
				}
				st := &r.q.part.steps[r.q.at]
				key := st.key()
				if st.old != r.knew[key] && (st.old == nil || r.knew[key] == nil || !st.old.same(r.knew[key].uid, r.knew[key].version)) {
					t.Fatalf("seed %d: a step of %v begins with %v, the reader knows %v", seed, key, st.old, r.knew[key])
				}
				if st.number <= r.q.read || r.q.every && !r.late && st.number != r.q.read+1 {
					t.Fatalf("seed %d: change %d after %d", seed, st.number, r.q.read)
				}
				if r.knew[key] = st.now; st.now == nil {
					delete(r.knew, key)
				}
				r.q.pass(st)
			}
		}
		for range 10 {
			join()
		}
		version := 0
		for range 10_000 {
			var deltas []delta[meta.Identity]
			changed := []int{rnd.IntN(keys)}
			if rnd.IntN(2000) == 0 {
				changed = rnd.Perm(keys)[:rnd.IntN(keys)]
			}
			for _, i := range changed {
				version++
				d := delta[meta.Identity]{}
				key := meta.Key{Name: strconv.Itoa(i)}
				d.old = now[key]
				if d.old == nil || rnd.IntN(3) > 0 {
					d.now = &entry[meta.Identity]{key: key, uid: strconv.Itoa(rnd.IntN(2)), version: strconv.Itoa(version)}
					now[key] = d.now
				} else {
					delete(now, key)
				}
				if d.ends() {
					d.last = d.old
				}
				deltas = append(deltas, d)
			}
			j.add(deltas, time.Time{})
			for _, r := range readers {
				r.late = r.late || j.last-r.q.read > mostBehind
			}
			switch i := rnd.IntN(len(readers)); {
			case i > 5:
				read(readers[i], 5)
			case rnd.IntN(1000) == 0:
				read(readers[i], rnd.IntN(3000))
			case rnd.IntN(1000) == 0 && len(readers) > 8:
				j.leave(readers[i].q)
				readers = slices.Delete(readers, i, i+1)
				join()
			}
			// Each key twice, the newest changes, the segments that readers are in, and all that a reader needs one by one.
			steps, pinned := 0, 0
			for i, part := range j.parts {
				steps += len(part.steps)
				if part.readers > 0 || i > j.mergeable() {
					pinned += len(part.steps)
				}
			}
			if most := 4*keys + mostUnmerged + largest + 3*pinned; steps > most {
				t.Fatalf("seed %d: %d steps in %d segments, want %d or less for %d keys", seed, steps, len(j.parts), most, keys)
			}
		}
		for i, r := range readers {
			read(r, 1_000_000)
			if len(r.knew) != len(now) {
				t.Errorf("seed %d: reader %d knows %d objects, want %d", seed, i, len(r.knew), len(now))
			}
			for k, e := range now {
				if r.knew[k] != e {
					t.Errorf("seed %d: reader %d knows %v, want %v", seed, i, r.knew[k], e)
				}
			}
		}
		if len(j.parts) != 1 || len(j.asleep) != len(readers) || j.readers != len(readers) {
			t.Errorf("seed %d: %d segments, and %d of %d asleep when all has been read", seed, len(j.parts), len(j.asleep), j.readers)
		}
		for i := range j.parts[0].steps {
			if st := j.parts[0].steps[i]; st.old != nil || st.now != nil || st.last != nil {
				t.Errorf("seed %d: the journal holds states that everybody has read", seed)
				break
			}
		}
		for _, r := range readers {
			j.leave(r.q)
		}
		if j.parts != nil || j.asleep != nil || j.readers != 0 {
			t.Errorf("seed %d: something is left of a journal that nobody reads", seed)
		}
	}
}

// A goroutine slept although there was a change: Backlog had read it from the journal after the goroutine had looked.
func TestASubscriberDoesNotSleepBesideAChange(t *testing.T) {
	s := New[meta.Identity]()
	s.Writer("").Relist().Commit("1")
	q := s.Subscribe(ignoring[meta.Identity]{}, nil).queue.(*subscriber[meta.Identity])
	if c, open := q.take(t.Context(), nil); c != nil || !open {
		t.Fatalf("take = %v, %v", c, open)
	}
	s.Writer("").Set(meta.Identity{Name: "a", UID: "u", ResourceVersion: "2"}, meta.Identity{})
	if depth, _ := q.backlog(); depth != 1 {
		t.Fatalf("%d pending, want 1", depth)
	}
	if q.sleep() {
		t.Error("the goroutine sleeps")
	}
}

// A state that everybody has handled is not kept, whether it came alone or in a large list.
func TestTheJournalKeepsNoHandledStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New[meta.Identity]()
		for range 3 {
			s.Subscribe(ignoring[meta.Identity]{}, nil)
		}
		s.Subscribe(ignoring[meta.Identity]{}, func(meta.Identity) bool { return false })
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- s.Deliver(ctx, nil) }()
		defer func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}()
		for version, n := range []int{1, 5, 3000, 1, 3000, 2, 0, 1} {
			r := s.Writer("").Relist()
			for i := range n {
				id := meta.Identity{Name: strconv.Itoa(i), UID: "u", ResourceVersion: strconv.Itoa(version + 1)}
				r.Set(id, id)
			}
			r.Commit(strconv.Itoa(version))
			synctest.Wait()
			kept, room := 0, 0
			for _, part := range s.journal.parts {
				room += len(part.steps)
				for i := range part.steps {
					if part.steps[i].old != nil || part.steps[i].now != nil || part.steps[i].last != nil {
						kept++
					}
				}
			}
			if kept > 0 || room > largest {
				t.Errorf("after a list of %d: the journal keeps %d changes, and room for %d", n, kept, room)
			}
		}
	})
}

// A subscription that stands still kept the changes of 15 relists: each is a segment, and merging began at 17.
func TestTheJournalMergesWholeRelists(t *testing.T) {
	const keys = 10_000
	j := &journal[meta.Identity]{}
	j.join(&subscriber[meta.Identity]{store: &Store[meta.Identity]{}})
	now := make([]*entry[meta.Identity], keys)
	for relist := range 20 {
		deltas := make([]delta[meta.Identity], keys)
		for i := range deltas {
			e := &entry[meta.Identity]{key: meta.Key{Name: strconv.Itoa(i)}, uid: "u", version: strconv.Itoa(relist)}
			deltas[i] = delta[meta.Identity]{old: now[i], now: e}
			now[i] = e
		}
		j.add(deltas, time.Time{})
		if held := j.held(); held > 2*keys {
			t.Fatalf("after %d relists of %d objects the journal has %d changes", relist+1, keys, held)
		}
	}
}

// A reader that comes into a segment while the writer merges it finds all of its steps.
func TestASegmentWithAReaderIsNotReplaced(t *testing.T) {
	for _, enters := range []bool{false, true} {
		j := &journal[meta.Identity]{}
		q := &subscriber[meta.Identity]{store: &Store[meta.Identity]{}}
		j.join(q)
		version := 0
		for j.held() <= mostUnmerged {
			version++
			e := &entry[meta.Identity]{key: meta.Key{Name: strconv.Itoa(version)}, version: "1"}
			j.write([]delta[meta.Identity]{{now: e}}, time.Time{})
		}
		group := j.group()
		if len(group) < 2 || group[0] != j.parts[1] {
			t.Fatalf("a group of %d, want it to begin after the reader", len(group))
		}
		if enters {
			q.at = int(q.part.n.Load())
			if !j.advance(q) || q.part != group[0] {
				t.Fatal("the reader has not come into the group")
			}
		}
		if replaced := j.replace(group, mergeSegments(group)); replaced == enters {
			t.Errorf("replaced: %v, with a reader: %v", replaced, enters)
		}
	}
}
