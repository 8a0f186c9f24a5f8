package shards

import (
	"slices"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// plan is what a replica does next. It is made by [table.plan] from what is known, without I/O and without clocks,
// which tests use.
type plan struct {
	wanted  meta.Ranges   // what to prepare for, and to keep prepared for
	giveUp  meta.Ranges   // owned ranges that another replica claims, and should own instead
	confirm meta.Ranges   // claims that this replica will own if a list that it asks for now shows no other claim
	next    time.Duration // after that the plan may change although nothing has happened; 0 if it will not
	handed  bool          // a replica that leaves need not wait: no range is left that another one would take
	unowned meta.Ranges   // what nobody claims, as far as this replica knows
	foreign *member       // another replica that has another Options.By; nil if there is none
	ended   meta.Ranges   // ranges that were given up, and on which the work has ended now
	write   bool          // the lease is to be written now
}

// table is what a replica has, and wants to have. Its caller holds Group.mu.
type table struct {
	count    int           // how many ranges there are: meta.RangeCount, but in some tests
	lease    time.Duration // LeaseDuration
	settling time.Duration // how long this replica leaves a free range to one that joins
	ours     *scores

	// claims are the ranges that the lease should show: those that this replica owns, and those that it is ready for and
	// waits for. The server has had those of accepted in every state of the lease since they were added.
	claims, accepted meta.Ranges
	observed         observed    // which of these the watch has brought
	owns             meta.Ranges // ranges that work may begin on
	owned            meta.Ranges // claims that this replica has owned; see share.owned
	draining         meta.Ranges // ranges that were given up, and on which work is still under way
	have             meta.Ranges // ranges that all followers are prepared for
	leaving          bool
	joining          bool // it does not know yet who owns what; see view.knowsAll

	orphans [meta.RangeCount]time.Duration // since when nobody has claimed the range; 0 if somebody does
}

// company is who else may work, at one moment.
type company struct {
	live    []*member // replicas with the same Options.By
	takers  []*member // those of them that take ranges
	foreign *member   // see plan.foreign
	others  bool      // whether foreign ones may own ranges
	first   bool      // whether they may do so before this one
}

// company returns who else may own ranges.
func (v *view) company(now time.Duration) (c company) {
	for _, m := range v.members {
		switch {
		case !m.isLive(now):
		case v.isForeign(m):
			if !m.free && (c.foreign == nil || m.name < c.foreign.name) {
				c.foreign = m
			}
			c.others = c.others || m.holds(now) != (meta.Ranges{})
			c.first = c.first || m.precedes(v.self, now)
		default:
			c.live = append(c.live, m)
			if m.takesPart(now) {
				c.takers = append(c.takers, m)
			}
		}
	}
	return c
}

// plan decides what to do, by what is known at the moment now. It changes claims, and joining.
func (t *table) plan(v *view, now time.Duration) (p plan) {
	p.next = v.expire(now)
	p.handed = t.owns.Union(t.draining) == (meta.Ranges{})
	if !v.complete {
		return p
	}
	if t.joining = !v.knowsAll(now); t.joining {
		p.soon(v.since + v.lasts - now)
	}
	c := v.company(now)
	p.foreign = c.foreign
	p.handed = p.handed || len(c.takers) == 0
	for n := range t.count {
		rivals, better := t.rivals(c.live, n, now)
		turn := t.turn(&p, n, c.takers, rivals > 0 || c.others, now)
		if t.claims.Has(n) || turn {
			p.wanted = p.wanted.With(n)
		}
		switch {
		case t.owns.Has(n):
			if better {
				p.giveUp = p.giveUp.With(n)
			}
		case t.draining.Has(n): // its claim goes when its work has ended
		case t.claims.Has(n):
			switch {
			case better || c.first || t.leaving || !t.have.Has(n):
				t.claims = t.claims.Without(n)
			case rivals > 0 || c.others || !t.observed.ranges.Has(n) || !v.isKnown(n, now):
			default:
				p.confirm = p.confirm.With(n)
			}
		case !turn || !t.have.Has(n) || better || c.others:
		case rivals > 1: // one of them may own the range; it would give it up, and the claim of the other would keep this one from it
		case !v.isKnown(n, now) && !isOwned(c.live, n): // a claim would only keep others from the range
		default:
			t.claims, t.owned = t.claims.With(n), t.owned.Without(n)
		}
	}
	return p
}

// soon says that there may be another plan after d, if d is positive.
func (p *plan) soon(d time.Duration) {
	if d > 0 && (p.next == 0 || d < p.next) {
		p.next = d
	}
}

// turn reports whether it is this replica's turn to claim range n. rival says whether another one claims it.
func (t *table) turn(p *plan, n int, takers []*member, rival bool, now time.Duration) bool {
	mine := t.claims.Has(n)
	switch {
	case rival || mine:
		t.orphans[n] = 0
	case t.orphans[n] == 0:
		t.orphans[n] = max(now, 1)
	}
	if !mine && !rival {
		p.unowned = p.unowned.With(n)
	}
	// If the replica with the highest score does not claim the range, the next one does. One that joins cannot take it
	// before another one has owned it.
	rank, joiner := t.rank(takers, n)
	patience := time.Duration(rank) * t.lease
	if joiner {
		patience += t.settling
	}
	turn := rank == 0 && !joiner
	if waited := now - t.orphans[n]; !turn && !mine && !rival {
		if turn = waited >= patience; !turn {
			p.soon(patience - waited)
		}
	}
	return turn && !t.leaving
}

// rivals returns how many other replicas claim range n, and whether one of these should own it rather than this one.
func (t *table) rivals(live []*member, n int, now time.Duration) (rivals int, better bool) {
	for _, m := range live {
		if !m.unsure && !m.share.ranges.Has(n) {
			continue
		}
		rivals++
		if m.takesPart(now) && (t.leaving || t.yields(m, n)) {
			better = true
		}
	}
	return rivals, better
}

// precedes reports whether a replica with another Options.By comes before the one with the lease self: it owns ranges, or
// both wait, and its name is the lower one.
func (m *member) precedes(self string, now time.Duration) bool {
	holds := m.holds(now)
	return m.unsure || holds.Intersect(m.share.owned) != (meta.Ranges{}) || holds != (meta.Ranges{}) && m.name < self
}

// isOwned reports whether a lease says that its replica owns range n. When that one gives it up, the range is free.
func isOwned(live []*member, n int) bool {
	return slices.ContainsFunc(live, func(m *member) bool { return m.share.ranges.Has(n) && m.share.owned.Has(n) })
}

// yields reports whether m should own range n rather than this replica.
func (t *table) yields(m *member, n int) bool { return m.scores[n] > t.ours[n] }

// rank returns how many others should own range n rather than this replica. It does not count those that are joining, and
// reports whether there are any.
func (t *table) rank(takers []*member, n int) (rank int, joiner bool) {
	for _, m := range takers {
		switch {
		case !t.yields(m, n):
		case m.share.joining:
			joiner = true
		default:
			rank++
		}
	}
	return rank, joiner
}
