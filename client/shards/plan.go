package shards

import (
	"slices"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// plan is what a replica does next. [table.plan] computes it from what is known, without I/O and without reading a
// clock, so that tests can play any order of events.
type plan struct {
	wanted  meta.Ranges   // ranges to prepare for, or to stay prepared for
	giveUp  meta.Ranges   // owned ranges that another replica claims, and should own instead
	confirm meta.Ranges   // claims that this replica will own if a list that it asks for now shows no other claim
	next    time.Duration // how long until the plan may change although nothing happens; 0 if it will not
	handed  bool          // a leaving replica need not wait: no range is left that another one would take
	unowned meta.Ranges   // ranges that nobody claims, as far as this replica knows
	foreign *member       // a member with another Options.By than this replica; nil if there is none
	ended   meta.Ranges   // ranges that were given up, and on which the work has ended now
	write   bool          // the lease must be written now
}

// table is what a replica has, and wants to have. Its caller holds Group.mu.
type table struct {
	count    int           // the number of ranges: meta.RangeCount, except in some tests
	lease    time.Duration // LeaseDuration
	settling time.Duration // how long this replica leaves a free range to a joining one
	ours     *scores

	// claims are the ranges that the lease should show: those that this replica owns, and those that it is ready for
	// and waits for. accepted are those that the server has accepted, and that every version of the lease has had
	// since.
	claims, accepted meta.Ranges
	observed         observed    // which of the accepted claims the watch has brought
	owns             meta.Ranges // ranges that work may begin on
	owned            meta.Ranges // claims that this replica has owned; see share.owned
	draining         meta.Ranges // ranges that were given up, and on which work is still under way
	have             meta.Ranges // ranges that all followers are prepared for
	leaving          bool
	joining          bool // this replica does not know yet who owns what; see view.knowsAll

	orphans [meta.RangeCount]time.Duration // since when nobody has claimed the range; 0 if somebody does
}

// company has the other replicas that may work at one moment.
type company struct {
	live    []*member // replicas with the same Options.By
	takers  []*member // those of them that take ranges
	foreign *member   // see plan.foreign
	others  bool      // whether replicas with another Options.By may own ranges
	first   bool      // whether they may do so before this replica
}

// company returns the other replicas that may own ranges.
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

// plan decides what to do, from what is known at the moment now. It updates claims, owned, joining and orphans.
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
		case t.draining.Has(n): // the claim is removed when the work on the range has ended
		case t.claims.Has(n):
			switch {
			case better || c.first || t.leaving || !t.have.Has(n):
				t.claims = t.claims.Without(n)
			case rivals > 0 || c.others || !t.observed.ranges.Has(n) || !v.isKnown(n, now):
			default:
				p.confirm = p.confirm.With(n)
			}
		case !turn || !t.have.Has(n) || better || c.others:
		case rivals > 1: // one may be the owner: it would give up the range, and this replica would wait for the other
		case !v.isKnown(n, now) && !isOwned(c.live, n): // a claim would only keep others from the range
		default:
			t.claims, t.owned = t.claims.With(n), t.owned.Without(n)
		}
	}
	return p
}

// soon makes sure that the next plan is made after d at the latest, if d is positive.
func (p *plan) soon(d time.Duration) {
	if d > 0 && (p.next == 0 || d < p.next) {
		p.next = d
	}
}

// turn reports whether it is this replica's turn to claim range n. rival says whether another replica claims it. turn
// also records since when nobody has claimed the range.
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
	// If the replica with the highest score does not claim the range, the replica with the next score does. This
	// replica leaves a range to a joining one for t.settling only, because a joining replica cannot claim a range
	// before another replica has owned it.
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

// rivals returns how many other replicas claim range n, and whether one of them should own it rather than this replica.
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

// precedes reports whether m, a replica with another Options.By, goes before the replica with the lease self: m may own
// ranges, or it claims ranges and its name is the lower one.
func (m *member) precedes(self string, now time.Duration) bool {
	holds := m.holds(now)
	return m.unsure || holds.Intersect(m.share.owned) != (meta.Ranges{}) || holds != (meta.Ranges{}) && m.name < self
}

// isOwned reports whether a lease shows that its replica owns range n. When that replica gives up the range, the range
// is free.
func isOwned(live []*member, n int) bool {
	return slices.ContainsFunc(live, func(m *member) bool { return m.share.ranges.Has(n) && m.share.owned.Has(n) })
}

// yields reports whether m should own range n rather than this replica.
func (t *table) yields(m *member, n int) bool { return m.scores[n] > t.ours[n] }

// rank returns how many other replicas should own range n rather than this one. It does not count joining replicas;
// joiner reports whether there is one.
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
