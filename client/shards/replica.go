package shards

import (
	"slices"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// replica is what a replica knows, has and decides. Each of its methods is one input: a list or an event of the leases,
// an answer to a write of its own lease, the time, readiness, or the end of work. now is the time by a clock that the
// caller reads. replica has no I/O, no clock and no goroutine; a Group performs what it decides. So a test can play all
// orders of inputs. The caller holds Group.mu.
type replica struct {
	table
	view  *view
	drain time.Duration // Options.Drain

	weight int
	told   share // the share that the lease shows, or will show with the next write
	edited bool  // somebody else has changed our annotation
	course course

	users [meta.RangeCount]int           // how many callers of Group.Enter are at work on the range
	until [meta.RangeCount]time.Duration // when the work on a draining range is ended, if it has not returned by then
}

// course is how the watches of a Run have gone.
type course struct {
	broken bool // the next watch cannot continue from view.head
	barren int  // how many watches in a row have brought nothing
}

// enoughBarren is how many watches in a row may bring nothing although the leases can be listed. After that, a list
// replaces the events that the watches should have brought.
const enoughBarren = 2

// newReplica returns a replica that has not joined yet. config has its defaults.
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

// advance makes a plan, and carries out the part that needs no request.
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

// settle removes the claims to the draining ranges on which the work has returned or has run out of time, and returns
// these ranges. next is the time until the work on another draining range runs out of time; 0 if there is none.
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

// says returns the share that the lease should show.
func (r *replica) says() share {
	return share{ranges: r.claims, owned: r.owned, weight: r.weight, by: r.view.by, leaving: r.leaving, joining: r.joining}
}

// writes returns the share for a write of the lease that is about to be sent. From now on nobody knows whether the
// lease at the server still has the claims that this write leaves out.
func (r *replica) writes() share {
	r.told = r.says()
	r.accept(r.accepted.Intersect(r.told.ranges))
	return r.told
}

// accept records which claims the lease at the server certainly has.
func (r *replica) accept(accepted meta.Ranges) {
	r.accepted = accepted
	r.observed.keep(accepted)
}

// stored records a state that the lease at the server certainly has. It reports whether that version adds claims, and
// the watch has yet to bring it.
func (r *replica) stored(l leaseState) bool {
	r.edited, r.view.own = l.broken != nil, l.version
	r.accept(l.share.ranges.Intersect(r.claims))
	return r.observed.stored(l.version, r.accepted, r.view.head)
}

// question is a list of the leases that is under way. Its answer decides on which of the ranges work begins.
type question struct {
	ranges meta.Ranges
	known  known
	asked  time.Duration
}

// asks returns the question for a list that the caller is about to request. The question is about those of ranges whose
// claims the server has accepted.
func (r *replica) asks(ranges meta.Ranges, now time.Duration) question {
	return question{ranges: ranges.Intersect(r.accepted), known: r.view.known(), asked: now}
}

// answered records the answer to q, and returns the ranges on which work begins: none if the answer took LeaseDuration
// or longer. It returns false if the server has been restored from a backup; the answer then proves nothing.
func (r *replica) answered(q question, list leaseList, now time.Duration) (begun meta.Ranges, ok bool) {
	if r.view.isEarlier(list, q.known) {
		return meta.Ranges{}, false
	}
	r.view.latest = list.version
	r.view.listed(list, now)
	if now >= q.asked+r.lease { // another replica's later renewal may look expired by now
		return meta.Ranges{}, true
	}
	// This replica may have removed a claim since it requested the list, and made it again. In that case the watch has
	// brought what others claimed in between (see observed), and these claims count for longer than the answer took.
	begun = q.ranges.Intersect(r.plan(r.view, now).confirm)
	r.owns, r.owned = r.owns.Union(begun), r.owned.Union(begun)
	for n := range begun.All() {
		r.users[n] = 0
	}
	return begun, true
}

// learns records the list that precedes a watch. k has the versions that this replica knew when it requested the list.
// learns returns the version from which the watch continues, and whether the server has been restored from a backup.
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

// hears records an event of the watch: l is the state of a lease, or its last state if it was deleted. version is the
// version of the event. hears reports whether the plan may change.
func (r *replica) hears(l leaseState, deleted bool, version string, now time.Duration) bool {
	switch {
	case l.name == "": // a bookmark
	case l.name == r.view.self:
		if l.broken != nil && !deleted {
			r.edited = true // the others no longer know what this replica has
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

// leaves records that this replica is about to end.
func (r *replica) leaves() { r.leaving = true }

// drop ends the work on all ranges, and removes all claims. lost says that the replica has lost its lease, so that
// others may work on the ranges before the lease shows the removal.
func (r *replica) drop(lost bool) {
	r.claims, r.accepted, r.owns, r.draining, r.observed = meta.Ranges{}, meta.Ranges{}, meta.Ranges{}, meta.Ranges{}, observed{}
	if lost {
		r.owned = meta.Ranges{}
	}
}

// over returns the names of the leases that this replica should delete, because their replicas ended long ago. Only one
// replica does so: of those that take ranges, the one whose lease has the lowest name.
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

// keptFor is the number of lease durations for which the group keeps the lease of a replica that ended without deleting
// its lease.
const keptFor = 20
