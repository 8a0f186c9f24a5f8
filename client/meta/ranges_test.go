package meta_test

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

// Ranges against a map, by random operations.
func TestRanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func() (meta.Ranges, map[int]bool) {
		var r meta.Ranges
		want := make(map[int]bool)
		for range rng.IntN(300) {
			n := rng.IntN(meta.RangeCount)
			r, want[n] = r.With(n), true
			if n := rng.IntN(meta.RangeCount); rng.IntN(3) == 0 {
				r = r.Without(n)
				delete(want, n)
			}
		}
		return r, want
	}
	check := func(what string, r meta.Ranges, want map[int]bool) {
		t.Helper()
		sorted := slices.Sorted(maps.Keys(want))
		if got := slices.Collect(r.All()); !slices.Equal(got, sorted) || r.Len() != len(sorted) {
			t.Fatalf("%s: %v, Len %d, want %v", what, got, r.Len(), sorted)
		}
		for n := -2; n < meta.RangeCount+2; n++ {
			if r.Has(n) != want[n] {
				t.Fatalf("%s: Has(%d) is %v", what, n, r.Has(n))
			}
		}
	}
	for range 200 {
		a, inA := random()
		b, inB := random()
		union, both, minus := maps.Clone(inA), map[int]bool{}, map[int]bool{}
		maps.Copy(union, inB)
		for n := range inA {
			if inB[n] {
				both[n] = true
			} else {
				minus[n] = true
			}
		}
		check("a", a, inA)
		check("union", a.Union(b), union)
		check("intersection", a.Intersect(b), both)
		check("difference", a.Minus(b), minus)
		text, err := a.MarshalText()
		var back meta.Ranges
		if err != nil || back.UnmarshalText(text) != nil || back != a {
			t.Fatalf("%v became %s, %v, and %v", a, text, err, back)
		}
	}
	check("all", meta.AllRanges(), maps.Collect(func(yield func(int, bool) bool) {
		for n := range meta.RangeCount {
			yield(n, true)
		}
	}))
	for _, bad := range []string{"", "00", strings.Repeat("0", 63) + "x", strings.Repeat("0", 65)} {
		kept := meta.Ranges{}.With(7)
		if err := kept.UnmarshalText([]byte(bad)); err == nil || kept != (meta.Ranges{}).With(7) {
			t.Errorf("%q gives %v, %v", bad, kept, err)
		}
	}
}

func TestRangesAsText(t *testing.T) {
	of := func(n ...int) meta.Ranges {
		var r meta.Ranges
		for _, n := range n {
			r = r.With(n)
		}
		return r
	}
	half := meta.AllRanges()
	for n := range 128 {
		half = half.Without(n)
	}
	for _, test := range []struct {
		r              meta.Ranges
		text, selector string
	}{
		{meta.Ranges{}, "", ""},
		{of(0), "0", "shardRange(object.metadata.uid, '0x0000000000000000', '0x0100000000000000')"},
		{of(255), "255", "shardRange(object.metadata.uid, '0xff00000000000000', '0x10000000000000000')"},
		{of(3, 4, 5, 9), "3-5,9", "shardRange(object.metadata.uid, '0x0300000000000000', '0x0600000000000000') || shardRange(object.metadata.uid, '0x0900000000000000', '0x0a00000000000000')"},
		{half, "128-255", "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')"},
		{meta.AllRanges(), "0-255", "shardRange(object.metadata.uid, '0x0000000000000000', '0x10000000000000000')"},
	} {
		if got, selector := test.r.String(), meta.ShardByUID.Selector(test.r); got != test.text || selector != test.selector {
			t.Errorf("%q and %q, want %q and %q", got, selector, test.text, test.selector)
		}
	}
}

func TestShardBy(t *testing.T) {
	for n := range 1000 {
		id := meta.Identity{Namespace: fmt.Sprintf("ns-%d", n), Name: "x", UID: fmt.Sprintf("%08x-0000-4000-8000-000000000000", uint64(n)*2654435761)}
		for by, field := range map[meta.ShardBy]string{meta.ShardByUID: id.UID, meta.ShardByNamespace: id.Namespace} {
			h := fnv.New64a()
			_, _ = h.Write([]byte(field))
			if got, want := by.Range(id), int(h.Sum64()>>56); got != want {
				t.Fatalf("the range of %q by %s is %d, want %d", field, by, got, want)
			}
		}
	}
	var none meta.ShardBy
	if meta.ShardByUID.Validate() != nil || meta.ShardByNamespace.Validate() != nil || none.Validate() == nil {
		t.Error("Validate takes what it should not, or refuses what it should take")
	}
}

// The doc of ShardByNamespace says so.
func TestNamesThatDifferInTwoCharactersShareARange(t *testing.T) {
	counts := map[int]int{}
	for n := range 100 {
		counts[meta.ShardByNamespace.Range(meta.Identity{Namespace: fmt.Sprintf("team-%02d", n)})]++
	}
	if len(counts) > 3 {
		t.Errorf("100 namespaces are in %d ranges", len(counts))
	}
}
