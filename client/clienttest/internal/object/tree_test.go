package object

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTreesAgreeWithAMap changes a tree and a map at random, and holds every tree against a copy of the map: also the
// old ones, which must not have changed.
func TestTreesAgreeWithAMap(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	type snapshot struct {
		tree *Tree
		want map[string]*Revision
	}
	var snapshots []snapshot
	var now *Tree
	objects := map[string]*Revision{}
	for range 2000 {
		path := fmt.Sprintf("ns%d/%d", r.IntN(3), r.IntN(200))
		if _, found := objects[path]; found && r.IntN(2) == 0 {
			now = now.Remove(path)
			delete(objects, path)
		} else {
			rev := &Revision{Path: path}
			now = now.Set(rev)
			objects[path] = rev
		}
		if r.IntN(40) == 0 {
			snapshots = append(snapshots, snapshot{now, maps.Clone(objects)})
		}
	}
	for _, s := range snapshots {
		if s.tree.Len() != len(s.want) {
			t.Fatalf("a tree has %d objects, want %d", s.tree.Len(), len(s.want))
		}
		paths := slices.Sorted(maps.Keys(s.want))
		from, to := Span("ns1")
		var all, some []string
		for v := range s.tree.Between("", "") {
			all = append(all, v.Path)
		}
		for v := range s.tree.Between(from, to) {
			some = append(some, v.Path)
		}
		want := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return p < from || p >= to })
		if !slices.Equal(all, paths) || !slices.Equal(some, want) {
			t.Fatalf("got %v and %v, want %v and %v", all, some, paths, want)
		}
		for i, p := range paths {
			if s.tree.Get(p) != s.want[p] || s.tree.Below(p) != i || s.tree.Below(p+"\x00") != i+1 {
				t.Fatalf("%s: got %v, %d below", p, s.tree.Get(p), s.tree.Below(p))
			}
		}
		if s.tree.Get("ns9/none") != nil {
			t.Fatal("got an object that is not there")
		}
	}
}

// TestTreesStayFlat puts names in that count up, the worst order for a search tree without balance.
func TestTreesStayFlat(t *testing.T) {
	var now *Tree
	const objects = 10_000
	for i := range objects {
		now = now.Set(&Revision{Path: fmt.Sprintf("default/object-%06d", i)})
	}
	var depth func(t *Tree) int
	depth = func(t *Tree) int {
		if t == nil {
			return 0
		}
		return 1 + max(depth(t.left), depth(t.right))
	}
	if d := depth(now); d > 50 {
		t.Errorf("%d objects make a tree of depth %d", objects, d)
	}
}
