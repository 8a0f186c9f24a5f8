package explore

import "math/rand/v2"

// mixes plays random mixes of disturbances until the search is over. The seeds of the mixes are successive numbers.
func (s *search) mixes() {
	if len(s.all) == 0 {
		return
	}
	work(func(yield func(func()) bool) {
		for number := s.seed; ; number++ {
			if !yield(func() { s.count(&s.counts.mixes); s.try(mix(s.all, number)) }) {
				return
			}
		}
	}, s.over)
}

// mix returns up to five disturbances, each at a different place: the place at which it may happen alone, or a later
// request of the same class. If a run does not send that many requests, the disturbance does not happen.
func mix(all []disturbance, seed uint64) (which schedule) {
	r := rand.New(rand.NewPCG(seed, 1))
	for range 2 + r.IntN(4) {
		d := all[r.IntN(len(all))]
		if d.place.class != step && d.place.class != atRest && r.IntN(2) == 0 {
			d.place.number += r.IntN(2 * d.place.number)
		}
		if len(which.at(d.place)) == 0 && which.takes(d) {
			which = append(which, d)
		}
	}
	return which
}
