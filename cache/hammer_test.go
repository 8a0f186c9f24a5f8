package cache_test

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
	const objects, groups, rounds = 700, 5, 20
	s := cache.NewStore[*numbered]()
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
