package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"
	"strconv"
)

// shuffled returns the mutants in an order that seems random, and that only the seed and their identities decide.
func shuffled(all []mutant, seed int) []mutant {
	type ranked struct {
		mutant
		rank [sha256.Size]byte
	}
	rs := make([]ranked, len(all))
	for i, m := range all {
		rs[i] = ranked{m, sha256.Sum256([]byte(strconv.Itoa(seed) + " " + m.String()))}
	}
	slices.SortFunc(rs, func(a, b ranked) int {
		return cmp.Or(bytes.Compare(a.rank[:], b.rank[:]), cmp.Compare(a.start, b.start))
	})
	out := make([]mutant, len(rs))
	for i, r := range rs {
		out[i] = r.mutant
	}
	return out
}
