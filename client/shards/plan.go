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
	giveUp  meta.Ranges   // of those worked on, what others are to have, and are ready for
	confirm meta.Ranges   // what can be worked on if a list, which is asked for from now on, shows it in nobody's hands
	next    time.Duration // until there may be another plan, if nothing else happens; 0 if that will not be
	handed  bool          // a replica that leaves need not wait any longer: nobody has to take anything from it
	unowned meta.Ranges   // what nobody works on or waits for, as far as is known
	foreign *member       // another replica that shares by something else; nil if there is none
	ended   meta.Ranges   // what the work has ended on: another replica may have them
	write   bool          // the lease is to be written now
}

// table is what a replica has, and wants to have. Its caller holds Group.mu.
type table struct {
	count    int           // how many ranges there are: meta.RangeCount, but in some tests
	lease    time.Duration // LeaseDuration
	settling time.Duration // how long a range that nobody has is left to a replica that joins
	ours     *scores

	// bids are the ranges that the lease is to show: those that are worked on, and those that this replica is ready
	// for. The server certainly has those of accepted: every write since has had them.
	bids, accepted meta.Ranges
	reach          reach       // of these
	works          meta.Ranges // ranges that reconciles may begin for
	worked         meta.Ranges // ranges that were in works since this replica last bid for them
	drains         meta.Ranges // ranges that reconciles are still under way for
	have           meta.Ranges // ranges that everything is prepared for
	leaving        bool
	joining        bool // it is not known yet who has what; see view.knowsAll

	orphans [meta.RangeCount]time.Duration // since when nobody has had the range; 0 if somebody has
}

// company is who else may work, at one moment.
type company struct {
	live    []*member // replicas that share as this one does
	takers  []*member // those of them that are to have a share
	foreign *member   // see plan.foreign
	others  bool      // whether foreign ones may work
	first   bool      // whether they may do so before this one
}

// company returns who else may work.
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

// plan decides what to do, by what is known at the moment now. It changes bids, and joining.
func (t *table) plan(v *view, now time.Duration) (p plan) {
	p.next = v.expire(now)
	p.handed = t.works.Union(t.drains) == (meta.Ranges{})
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
		if t.bids.Has(n) || turn {
			p.wanted = p.wanted.With(n)
		}
		switch {
		case t.works.Has(n):
			if better {
				p.giveUp = p.giveUp.With(n)
			}
		case t.drains.Has(n): // its bid goes when its work has ended
		case t.bids.Has(n):
			switch {
			case better || c.first || t.leaving || !t.have.Has(n):
				t.bids = t.bids.Without(n)
			case rivals > 0 || c.others || !t.reach.ranges.Has(n) || !v.isKnown(n, now):
			default:
				p.confirm = p.confirm.With(n)
			}
		case !turn || !t.have.Has(n) || better || c.others:
		case rivals > 1: // the one who works would give the range up, and this one could not begin for the bid of the other
		case !v.isKnown(n, now) && !isWorkedOn(c.live, n): // a bid would only keep others from the range
		default:
			t.bids, t.worked = t.bids.With(n), t.worked.Without(n)
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

// turn reports whether it is this replica's turn to take range n. rival says whether another one has it in its hands,
// or waits for it.
func (t *table) turn(p *plan, n int, takers []*member, rival bool, now time.Duration) bool {
	mine := t.bids.Has(n)
	switch {
	case rival || mine:
		t.orphans[n] = 0
	case t.orphans[n] == 0:
		t.orphans[n] = max(now, 1)
	}
	if !mine && !rival {
		p.unowned = p.unowned.With(n)
	}
	// If who is to have a range does not take it, the next one does. One that joins cannot take it before somebody
	// works on it.
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

// rivals returns how many other replicas have range n in their hands or wait for it, and whether one of these is to
// have it rather than this one.
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

// precedes reports whether a replica that shares by something else may work before the one with the lease self does: it
// works already, or both wait, and its name is the lower one.
func (m *member) precedes(self string, now time.Duration) bool {
	holds := m.holds(now)
	return m.unsure || holds.Intersect(m.share.worked) != (meta.Ranges{}) || holds != (meta.Ranges{}) && m.name < self
}

// isWorkedOn reports whether a lease says that its replica works on range n, so that it is known who had it when that
// one gives it up.
func isWorkedOn(live []*member, n int) bool {
	return slices.ContainsFunc(live, func(m *member) bool { return m.share.ranges.Has(n) && m.share.worked.Has(n) })
}

// yields reports whether m is to have range n rather than this replica.
func (t *table) yields(m *member, n int) bool { return m.scores[n] > t.ours[n] }

// rank returns how many others are to have range n rather than this replica, and whether there are such that join yet,
// which it does not count.
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
