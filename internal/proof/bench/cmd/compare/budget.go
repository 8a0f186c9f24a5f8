package main

import "time"

// budget is the time that a run may take. The zero budget has no end.
type budget struct{ end time.Time }

// budgetOf returns a budget that begins now. A limit of 0 means no limit.
func budgetOf(limit time.Duration) budget {
	if limit == 0 {
		return budget{}
	}
	return budget{time.Now().Add(limit)}
}

// allows reports whether there is time for work that takes d.
func (b budget) allows(d time.Duration) bool {
	return b.end.IsZero() || time.Until(b.end) > d
}

// repeat does n rounds, and returns how many it has done. The first round is always done. Another one is done only if
// there is time for one that takes as long as the one before.
func (b budget) repeat(n int, round func(i int) error) (done int, err error) {
	for last := time.Duration(0); done < n && (done == 0 || b.allows(last)); done++ {
		began := time.Now()
		if err := round(done); err != nil {
			return done, err
		}
		last = time.Since(began)
	}
	return done, nil
}
