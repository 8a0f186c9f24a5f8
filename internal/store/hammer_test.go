package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

// numbered is an object that belongs to one group at a time, and to one generation of relists.
type numbered struct {
	meta.Identity
	group, generation int
}

// TestReadersNeverSeeHalfOfAChange reads while one writer relists and writes. Each relist replaces all objects by
// those of the next generation, so two generations in one loop are half a relist; each write moves one object to
// another group, so a loop over a group that meets an object of another one is an index that disagrees.
//
// behaviours 206, 254
func TestReadersNeverSeeHalfOfAChange(t *testing.T) {
	for name, large := range map[string]int{"in place": 1000, "beside": 100} {
		t.Run(name, func(t *testing.T) { readBesideChanges(t, large) })
	}
}

func readBesideChanges(t *testing.T, large int) {
	const objects, groups, rounds = 700, 5, 20
	s := storetest.New[*numbered]()
	s.SetLarge(large)
	r := s.Reader()
	byGroup := cache.NewIndex(r, func(o *numbered) []int { return []int{o.group} })
	byGeneration := cache.NewIndex(r, func(o *numbered) []int { return []int{o.generation} })
	identity := func(i, version int) meta.Identity {
		return meta.Identity{
			Namespace: fmt.Sprint(i % 3), Name: fmt.Sprint(i), UID: fmt.Sprint(i), ResourceVersion: fmt.Sprint(version),
		}
	}
	version := 0
	put := func(set func(meta.Identity, *numbered), i, group, generation int) {
		version++
		id := identity(i, version)
		set(id, &numbered{id, group, generation})
	}
	relist := func(generation int) {
		rel := s.Relist()
		for i := range objects {
			put(rel.Set, i, i%groups, generation)
		}
		rel.Commit(fmt.Sprint("generation ", generation))
	}
	relist(0)

	var stop atomic.Bool
	var running sync.WaitGroup
	read := func(name string, check func(rnd *rand.Rand) error) {
		running.Go(func() {
			rnd := rand.New(rand.NewPCG(1, 1))
			for !stop.Load() {
				if err := check(rnd); err != nil {
					t.Errorf("%s: %v", name, err)
					stop.Store(true)
				}
			}
		})
	}
	read("All", func(*rand.Rand) error {
		var generations []int
		n := 0
		for o := range r.All() {
			n++
			if !slices.Contains(generations, o.generation) {
				generations = append(generations, o.generation)
			}
		}
		if n != objects || len(generations) != 1 {
			return fmt.Errorf("%d objects of the generations %v, want %d of one", n, generations, objects)
		}
		return nil
	})
	read("Namespace", func(rnd *rand.Rand) error {
		ns := fmt.Sprint(rnd.IntN(3))
		generation := -1
		for o := range r.Namespace(ns) {
			if generation < 0 {
				generation = o.generation
			}
			if o.Namespace != ns || o.generation != generation {
				return fmt.Errorf("%v of generation %d in %s of generation %d", o.Identity, o.generation, ns, generation)
			}
		}
		return nil
	})
	read("Index by group", func(rnd *rand.Rand) error {
		group, generation := rnd.IntN(groups), -1
		for o := range byGroup.Get(group) {
			if generation < 0 {
				generation = o.generation
			}
			if o.group != group || o.generation != generation {
				return fmt.Errorf("an object of group %d, generation %d under group %d, generation %d",
					o.group, o.generation, group, generation)
			}
		}
		return nil
	})
	read("Index by generation", func(*rand.Rand) error {
		keys := slices.Collect(byGeneration.Keys())
		if len(keys) != 1 {
			return fmt.Errorf("generations %v at once", keys)
		}
		n := 0
		for range byGeneration.Get(keys[0]) {
			n++
		}
		if n != 0 && n != objects {
			return fmt.Errorf("%d objects of a generation, want all %d or, after the next relist, none", n, objects)
		}
		return nil
	})
	read("Get", func(rnd *rand.Rand) error {
		i := rnd.IntN(objects)
		if o, ok := r.Get(identity(i, 0).Key()); !ok || o.UID != fmt.Sprint(i) {
			return fmt.Errorf("object %d is %v, %v", i, o, ok)
		}
		if r.Len() != objects || r.ResourceVersion() == "" {
			return fmt.Errorf("%d objects at version %q", r.Len(), r.ResourceVersion())
		}
		return nil
	})
	running.Go(func() {
		for i := 0; i < 100 && !stop.Load(); i++ {
			r.Subscribe(cache.HandlerFuncs[*numbered]{}).Close()
			if i%25 > 0 {
				continue
			}
			ix := cache.NewIndex(r, func(*numbered) []bool { return []bool{true} })
			if ix.Len(true) != objects {
				t.Errorf("a new index covers %d objects, want %d", ix.Len(true), objects)
			}
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	running.Go(func() {
		if err := s.Deliver(ctx, nil); err != nil {
			t.Error(err)
		}
	})

	rnd := rand.New(rand.NewPCG(2, 2))
	for generation := 1; generation <= rounds && !stop.Load(); generation++ {
		for range 30 {
			put(s.Set, rnd.IntN(objects), rnd.IntN(groups), generation-1)
		}
		relist(generation)
	}
	stop.Store(true)
	cancel()
	running.Wait()
}

// TestReadersGoOnDuringARelist reads in the middle of a Commit, while it computes what changes: in the function of an
// index, which is called then. Were readers locked out, the test would not end.
//
// behaviours 206, 254
func TestReadersGoOnDuringARelist(t *testing.T) {
	s := storetest.New[*thing]()
	r := s.Reader()
	relist(s, "1", "ns/a u@1", "ns/b u@2")
	inside := false
	tags := cache.NewIndex(r, func(o *thing) []string { return o.Tags })
	label := cache.NewLabelIndex(r, "app")
	cache.NewIndex(r, func(o *thing) []string {
		if !inside {
			return nil
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			if got, found := r.Get(key("ns/a")); !found || got.ID.ResourceVersion != "1" {
				t.Errorf("Get = %v, %v", got, found)
			}
			want := []string{"ns/a u@1", "ns/b u@2"}
			expect(t, "All", states(r.All()), want...)
			expect(t, "Sorted", states(r.Sorted()), want...)
			expect(t, "Namespace", states(r.Namespace("ns")), want...)
			expect(t, "Select", states(cache.Select(r, meta.Selector{})), want...)
			expect(t, "Index", states(tags.Get("x")))
			if r.Len() != 2 || r.ResourceVersion() != "1" || tags.Len("x")+label.Len("x") != 0 {
				t.Errorf("%d objects at %s", r.Len(), r.ResourceVersion())
			}
		}()
		<-done
		return nil
	})
	inside = true
	staged := s.Relist()
	staged.Set(id("ns/a u@3"), object("ns/a u@3", "x"))
	staged.Set(id("ns/c u@4"), object("ns/c u@4", "x"))
	staged.Commit("5")
	inside = false
	expect(t, "All", states(r.All()), "ns/a u@3", "ns/c u@4")
}

// TestWritersMayWriteAtTheSameTime has a writer for each namespace, each with relists and writes, and readers, waits, filtered
// subscriptions and indexes that come and go. In the end each namespace is what its writer left.
//
// behaviours 225, 231, 254
func TestWritersMayWriteAtTheSameTime(t *testing.T) {
	const writers, rounds, names = 4, 15, 40
	s := storetest.New[*numbered]()
	r := s.Reader()
	byGroup := cache.NewIndex(r, func(o *numbered) []int { return []int{o.group} })
	ctx, cancel := context.WithCancel(t.Context())
	var users, work sync.WaitGroup
	users.Go(func() {
		if err := s.Deliver(ctx, func(err *cache.PanicError) { t.Error(err) }); err != nil {
			t.Error(err)
		}
	})
	seen := map[meta.Key]int{}
	end := meta.Identity{Name: "end", UID: "u", ResourceVersion: "1"} // of delivery, where all is delivered in order
	told := make(chan struct{})
	even := r.Where(func(o *numbered) bool { return o.group%2 == 0 }).Subscribe(cache.HandlerFuncs[*numbered]{
		Add: func(o *numbered) {
			if seen[o.Key()]++; o.Name == "end" {
				close(told)
			}
		},
		Delete: func(o *numbered) { seen[o.Key()]-- },
	})
	for range 2 {
		users.Go(func() {
			for ctx.Err() == nil {
				ix := cache.NewIndex(r, func(o *numbered) []string { return []string{o.Namespace} })
				for o := range ix.Get("1") {
					if o.Namespace != "1" {
						t.Errorf("%v under namespace 1", o.Identity)
					}
				}
				ix.Close()
				for group := range 3 {
					for o := range byGroup.Get(group) {
						if o.group != group {
							t.Errorf("%v of group %d under %d", o.Identity, o.group, group)
						}
					}
				}
				before := meta.Key{}
				for o := range r.Sorted() {
					if before.Compare(o.Key()) >= 0 {
						t.Errorf("%v after %v", o.Key(), before)
					}
					before = o.Key()
					if got, found := r.Get(before); found && got.Key() != before {
						t.Errorf("Get(%v) = %v", before, got.Identity)
					}
				}
			}
		})
	}
	for w := range writers {
		work.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(w), 5))
			ns := fmt.Sprint(w)
			version := 0
			next := func(i int) (meta.Identity, *numbered) {
				version++
				id := meta.Identity{Namespace: ns, Name: fmt.Sprint(i), UID: "u", ResourceVersion: fmt.Sprint(version)}
				return id, &numbered{id, rnd.IntN(3), 0}
			}
			for range rounds {
				p := s.Writer(ns)
				list := p.Relist()
				for i := range names {
					id, o := next(i)
					list.Set(id, o)
					if rnd.IntN(20) == 0 {
						id, o := next(rnd.IntN(names))
						p.Set(id, o)
					}
				}
				list.Commit(fmt.Sprint(version))
				for range 20 {
					id, o := next(rnd.IntN(2 * names))
					if rnd.IntN(3) == 0 {
						p.Delete(id, o)
					} else {
						p.Set(id, o)
					}
				}
				last, _ := next(0)
				users.Go(func() {
					if _, err := r.WaitFor(ctx, last.Key(), last.ResourceVersion); err != nil && ctx.Err() == nil {
						t.Error(err)
					}
				})
				p.Bookmark(last.ResourceVersion)
				if rnd.IntN(8) == 0 {
					p.Drop()
				}
			}
			list := s.Writer(ns).Relist()
			for i := range names {
				id, o := next(i)
				list.Set(id, o)
			}
			list.Commit(fmt.Sprint(version))
		})
	}
	work.Wait()
	if err := even.WaitSynced(ctx); err != nil {
		t.Error(err)
	}
	s.Set(end, &numbered{end, 0, 0})
	<-told
	cancel()
	users.Wait()
	delete(seen, end.Key())
	for w := range writers {
		n := 0
		for o := range r.Namespace(fmt.Sprint(w)) {
			n++
			if want := 1 - min(1, o.group%2); seen[o.Key()] != want {
				t.Errorf("%v of group %d: the filtered handler holds %d, want %d", o.Identity, o.group, seen[o.Key()], want)
			}
			delete(seen, o.Key())
		}
		if n != names {
			t.Errorf("%d objects in namespace %d, want %d", n, w, names)
		}
	}
	for k, n := range seen {
		if n != 0 {
			t.Errorf("the filtered handler holds %v, which has gone", k)
		}
	}
}
