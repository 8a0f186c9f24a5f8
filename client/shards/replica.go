package shards

import (
	"slices"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// replica is what a replica knows, has and decides. Each method is one input, at the moment now of a clock that the
// caller reads: the list and the events of the leases, the answers to writes of its own lease, time, readiness, and the
// end of work. It has no I/O, no clock and no goroutine; a Group performs what it decides. So a test can drive it through
// all orders of inputs. Its caller holds Group.mu.
type replica struct {
	table
	view  *view
	drain time.Duration // Options.Drain

	weight int
	told   share // what the lease shows, or is to show with the next write
	edited bool  // somebody else has changed our annotation
	course course

	users [meta.RangeCount]int           // how many are at work
	until [meta.RangeCount]time.Duration // when the work on a range of draining ends, if it has not returned
}

// course is how the watches of a Run have gone.
type course struct {
	broken bool // the watch cannot go on from the version that it has come to
	barren int  // how many watches in a row have brought nothing
}

// enoughBarren is how many watches in a row may bring nothing, although the leases can be listed, before a list takes the
// place of what they should have brought.
const enoughBarren = 2

// newReplica returns a replica that has joined no group yet, of the Options with their defaults.
func newReplica(config Options) replica {
	name := config.lease().Name
	return replica{
		table: table{
			count: meta.RangeCount, lease: config.LeaseDuration, settling: config.RetryPeriod / 4,
			ours: newScores(name, max(config.Weight, 1)), have: meta.AllRanges(), joining: true,
		},
		view: newView(name, config.LeaseDuration, config.By), drain: config.Drain, weight: config.Weight,
	}
}

// advance makes a plan, and carries out what needs no request.
func (r *replica) advance(now time.Duration) plan {
	ended, _ := r.settle(now)
	p := r.plan(r.view, now)
	for n := range p.giveUp.All() {
		r.owns, r.draining = r.owns.Without(n), r.draining.With(n)
		r.until[n] = now + r.drain
	}
	more, next := r.settle(now)
	p.soon(next)
	p.ended = ended.Union(more)
	if says := r.says(); r.told != says || r.edited {
		r.edited, r.told, p.write = false, says, true
	}
	return p
}

// settle returns the ranges that were given up, and on which the work has returned or its time is over, and the time
// until that of the next one is over; 0 if there is none.
func (r *replica) settle(now time.Duration) (ended meta.Ranges, next time.Duration) {
	for n := range r.draining.All() {
		if left := r.until[n] - now; r.users[n] > 0 && left > 0 {
			if next == 0 || left < next {
				next = left
			}
			continue
		}
		ended = ended.With(n)
	}
	r.draining, r.claims = r.draining.Minus(ended), r.claims.Minus(ended)
	return ended, next
}

// says returns what the lease is to show.
func (r *replica) says() share {
	return share{ranges: r.claims, owned: r.owned, weight: r.weight, by: r.view.by, leaving: r.leaving, joining: r.joining}
}

// writes returns what a write of the lease that is about to be sent shows. From now on nobody knows whether the lease
// still has what this write leaves out.
func (r *replica) writes() share {
	r.told = r.says()
	r.accept(r.accepted.Intersect(r.told.ranges))
	return r.told
}

// accept notes which ranges the lease certainly has.
func (r *replica) accept(accepted meta.Ranges) {
	r.accepted = accepted
	r.observed.keep(accepted)
}

// stored notes what the lease certainly says. It reports whether the watch has yet to bring that version.
func (r *replica) stored(l leaseState) bool {
	r.edited, r.view.own = l.broken != nil, l.version
	r.accept(l.share.ranges.Intersect(r.claims))
	return r.observed.stored(l.version, r.accepted, r.view.head)
}

// question is a request for the leases that is under way, to begin the work on ranges.
type question struct {
	ranges meta.Ranges
	known  known
	asked  time.Duration
}

// asks notes that the leases are asked for now, to begin the work on these ranges.
func (r *replica) asks(ranges meta.Ranges, now time.Duration) question {
	return question{ranges: ranges.Intersect(r.accepted), known: r.view.known(), asked: now}
}

// answered notes the answer to q, and returns the ranges on which the work begins: none if the answer has taken a
// LeaseDuration. It returns false if the server has been restored from a backup; then the answer says nothing.
func (r *replica) answered(q question, list leaseList, now time.Duration) (begun meta.Ranges, ok bool) {
	if r.view.isEarlier(list, q.known) {
		return meta.Ranges{}, false
	}
	r.view.latest = list.version
	r.view.listed(list, now)
	if now >= q.asked+r.lease { // another replica may have renewed its lease since, and have seemed to lose it again
		return meta.Ranges{}, true
	}
	// A range may have left the lease, and come back, since the list was asked for. Then the watch has brought what others
	// claimed in between (see observed), and that counts for longer than the answer has taken.
	begun = q.ranges.Intersect(r.plan(r.view, now).confirm)
	r.owns, r.owned = r.owns.Union(begun), r.owned.Union(begun)
	for n := range begun.All() {
		r.users[n] = 0
	}
	return begun, true
}

// learns notes the list before a watch; k was known when it was asked for. It returns the version that the watch is to
// begin after, and whether the server has been restored from a backup.
func (r *replica) learns(list leaseList, k known, now time.Duration) (from string, restored bool) {
	v := r.view
	if restored = v.isEarlier(list, k); restored {
		v.restored(now)
	}
	v.latest = list.version
	v.listed(list, now)
	if v.head == "" || r.course.broken || restored || r.course.barren >= enoughBarren && len(r.observed.waits) > 0 {
		v.restart(list.version, now)
		r.observed.came(list.version)
		r.course.broken = false
	}
	r.course.barren++
	return v.head, restored
}

// hears notes an event of the watch: the state of a lease, or that it was deleted in that state. version is that of the
// event. It reports whether there may be another plan.
func (r *replica) hears(l leaseState, deleted bool, version string, now time.Duration) bool {
	switch {
	case l.name == "": // a bookmark
	case l.name == r.view.self:
		if l.broken != nil && !deleted {
			r.edited = true // the others do not know any more what this replica has
		}
	case deleted:
		r.view.deleted(l, now)
	default:
		r.view.saw(l, now)
	}
	r.course.barren = 0
	r.view.came(version)
	return r.observed.came(r.view.head) || l.name != ""
}

// leaves notes that this replica is about to end.
func (r *replica) leaves() { r.leaving = true }

// drop ends the work on all ranges, and takes all claims away. lost says that the replica has lost its lease, so others
// may work on the ranges before the lease shows that.
func (r *replica) drop(lost bool) {
	r.claims, r.accepted, r.owns, r.draining, r.observed = meta.Ranges{}, meta.Ranges{}, meta.Ranges{}, meta.Ranges{}, observed{}
	if lost {
		r.owned = meta.Ranges{}
	}
}

// over returns the names of the leases that this replica is to delete, because theirs ended long ago. One replica does
// it for all.
func (r *replica) over(now time.Duration) (old []string) {
	for _, m := range r.view.members {
		switch {
		case m.takesPart(now) && m.name < r.view.self:
			return nil
		case now >= m.seen+keptFor*m.lasts:
			old = append(old, m.name)
		}
	}
	slices.Sort(old)
	return old
}

// keptFor is how many lease durations the lease of a replica stays that has ended without deleting it.
const keptFor = 20
