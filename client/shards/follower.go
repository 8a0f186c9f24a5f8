package shards

import (
	"slices"

	"github.com/bowline-go/bowline/client/meta"
)

// follower is something that has to be prepared for a range before work on it begins, such as a cache.
type follower struct {
	g    *Group
	name string
	have meta.Ranges // guarded by Group.mu
}

// Follow notes something that has to be prepared for a range before work on it can begin: an informer that caches the objects of the
// ranges, or a controller. The name is for people. It stays until its Leave is called, also between two Runs. Informers and controllers
// whose Options have the Group call it themselves.
//
// Wanted returns the ranges to prepare for, and a channel that is closed when they change. Have says which of them are prepared, and
// replaces what it has said before.
func (g *Group) Follow(name string) interface {
	Wanted() (ranges meta.Ranges, changed <-chan struct{})
	Have(ranges meta.Ranges)
	Leave()
} {
	f := &follower{g: g, name: name}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.followers = append(g.followers, f)
	g.count()
	return f
}

// count notes what all followers are prepared for. The caller holds mu.
func (g *Group) count() {
	have := meta.AllRanges()
	for _, f := range g.followers {
		have = have.Intersect(f.have)
	}
	g.table.have = have
	g.poke()
}

func (f *follower) Wanted() (meta.Ranges, <-chan struct{}) {
	f.g.mu.Lock()
	defer f.g.mu.Unlock()
	return f.g.wanted, f.g.rewanted
}

func (f *follower) Have(ranges meta.Ranges) {
	f.g.mu.Lock()
	defer f.g.mu.Unlock()
	f.have = ranges
	f.g.count()
}

func (f *follower) Leave() {
	f.g.mu.Lock()
	defer f.g.mu.Unlock()
	f.g.followers = slices.DeleteFunc(f.g.followers, func(other *follower) bool { return other == f })
	f.g.count()
}
