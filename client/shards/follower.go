package shards

import (
	"slices"

	"github.com/bowline-go/bowline/client/meta"
)

// follower is something that has to be prepared for a range before work on it begins, such as a cache.
type follower struct {
	g    *Group
	name string

	// Group.mu guards the rest.
	have    meta.Ranges
	passing bool // it was added during a Run, and is removed when that Run ends
}

// Follow adds a follower: something that must be prepared for a range before work on the range can begin, such as an
// informer that caches the objects of the ranges, or a controller. The name is for people. Work begins only on ranges
// for which every follower is prepared. Leave removes the follower. The end of a Run removes the followers that were
// added during that Run; the next call of Have adds such a follower again. Informers and controllers whose Options have
// the Group call Follow themselves.
//
// Wanted returns the ranges to prepare for, and a channel that is closed when they change. Have says for which ranges
// the follower is prepared, and replaces what it said before.
func (g *Group) Follow(name string) interface {
	Wanted() (ranges meta.Ranges, changed <-chan struct{})
	Have(ranges meta.Ranges)
	Leave()
} {
	f := &follower{g: g, name: name}
	f.Have(meta.Ranges{})
	return f
}

// count records the ranges for which all followers are prepared. The caller holds mu.
func (g *Group) count() {
	have := meta.AllRanges()
	for _, f := range g.followers {
		have = have.Intersect(f.have)
	}
	g.replica.have = have
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
	if !slices.Contains(f.g.followers, f) {
		f.g.followers, f.passing = append(f.g.followers, f), f.g.running
	}
	f.g.count()
}

func (f *follower) Leave() {
	f.g.mu.Lock()
	defer f.g.mu.Unlock()
	f.g.followers = slices.DeleteFunc(f.g.followers, func(other *follower) bool { return other == f })
	f.g.count()
}
