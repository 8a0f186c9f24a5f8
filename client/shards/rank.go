package shards

import (
	"math"

	"github.com/bowline-go/bowline/client/meta"
)

// scores has the score of one replica for each range. The replica with the highest score should own the range (weighted rendezvous
// hashing). The scores depend on the replica alone, so when a replica comes or goes, no range moves between two others.
type scores [meta.RangeCount]float64

// newScores returns the scores of a replica, from the name of its lease and from its weight.
func newScores(lease string, weight int) *scores {
	s := new(scores)
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for i := range len(lease) {
		h = (h ^ uint64(lease[i])) * prime
	}
	for n := range s {
		uniform := (float64(mix(h+uint64(n)*0x9e3779b97f4a7c15)>>11) + 0.5) / (1 << 53) // in (0, 1)
		s[n] = -float64(weight) / math.Log(uniform)
	}
	return s
}

// mix spreads each bit of h over all bits, which FNV-1a does not.
func mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
