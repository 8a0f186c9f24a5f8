package carry

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestElementsAreFoundByKeyUntilTheyAreTaken(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 11))
		keys := make([]string, r.IntN(12))
		for i := range keys {
			keys[i] = []string{"a", "b", "", "none"}[r.IntN(4)]
		}
		k := keyElements(len(keys), func(i int) (string, bool) { return keys[i], keys[i] != "none" })
		for left := slices.Repeat([]bool{true}, len(keys)); ; {
			var takable []int
			for _, key := range []string{"a", "b", "", "none", "other"} {
				var want []int
				for i := range keys {
					if left[i] && keys[i] == key && key != "none" {
						want = append(want, i)
					}
					if k.has(i, key) != slices.Contains(want, i) {
						t.Fatalf("seed %d: has %d %q: %t", seed, i, key, k.has(i, key))
					}
				}
				if got := slices.Collect(k.of(key)); !slices.Equal(got, want) {
					t.Fatalf("seed %d: of %q: %v, want %v", seed, key, got, want)
				}
				takable = append(takable, want...)
			}
			if k.has(len(keys), "a") {
				t.Fatal("there is an element behind the last")
			}
			if len(takable) == 0 {
				break
			}
			i := takable[r.IntN(len(takable))]
			k.take(i)
			left[i] = false
		}
	}
}
