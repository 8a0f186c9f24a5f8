package shards

import (
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// lease is the part of a Lease that a group uses. Its times are compared for equality only.
type lease struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		HolderIdentity       string `json:"holderIdentity,omitempty"`
		LeaseDurationSeconds int64  `json:"leaseDurationSeconds,omitempty"`
		AcquireTime          string `json:"acquireTime,omitempty"`
		RenewTime            string `json:"renewTime,omitempty"`
		LeaseTransitions     int64  `json:"leaseTransitions,omitempty"`
	} `json:"spec"`
}

// member is another replica, as its lease shows it.
type member struct {
	name     string
	identity string
	uid      string
	version  string
	record   record
	lasts    time.Duration // how long its lease counts after it was seen to change
	seen     time.Duration // when that was, by our monotonic clock
	share    share
	scores   *scores
	broken   error // why share is not that of the lease as it is: somebody has edited it
	gone     bool  // the lease has been deleted, which its replica may not know yet
	free     bool  // the lease has no holder: the replica has ended
}

// isLive reports whether the replica may still work.
func (m *member) isLive(now time.Duration) bool { return now < m.seen+m.lasts }

// holds returns the ranges that the replica may work on.
func (m *member) holds(now time.Duration) meta.Ranges {
	if !m.isLive(now) {
		return meta.Ranges{}
	}
	return m.share.ranges
}

// takesPart reports whether the replica is to have a share.
func (m *member) takesPart(now time.Duration) bool {
	return m.isLive(now) && !m.gone && !m.free && m.broken == nil && !m.share.leaving
}

// view is what a replica knows of the others. Its caller holds Group.mu.
type view struct {
	self     string        // the name of our own lease, which is not among the members
	lasts    time.Duration // for leases that do not say it
	members  map[string]*member
	complete bool          // the leases have been listed
	since    time.Duration // when that was first so
	fresh    bool          // when it was, no other replica had been in the group for long
	released meta.Ranges   // those that have been seen in the hands of another replica, and then not
}

func newView(self string, lasts time.Duration) *view {
	return &view{self: self, lasts: lasts, members: make(map[string]*member)}
}

// saw notes a lease as the server had it, at the moment now after that. Older news than what is known change nothing.
func (v *view) saw(l *lease, now time.Duration) {
	if l.Name == v.self {
		return
	}
	m := v.members[l.Name]
	if m != nil && m.uid == l.UID {
		if order, ok := meta.CompareVersions(l.ResourceVersion, m.version); ok && order < 0 || l.ResourceVersion == m.version && !m.gone {
			return
		}
	}
	if m != nil && m.uid != l.UID {
		// The replica whose lease was deleted may not know that yet.
		m.gone = true
		v.members[m.name+" "+m.uid] = m
		m = nil
	}
	next := &member{
		name: l.Name, identity: l.Spec.HolderIdentity, uid: l.UID, version: l.ResourceVersion, record: recordOf(l), seen: now, lasts: v.lasts,
		free: l.Spec.HolderIdentity == "",
	}
	if l.Spec.LeaseDurationSeconds > 0 {
		next.lasts = max(time.Duration(l.Spec.LeaseDurationSeconds)*time.Second, v.lasts)
	}
	if next.free && m != nil {
		next.identity = m.identity
	}
	next.share, next.broken = parseShare(l.Annotations[shareAnnotation], l.Name)
	if next.broken != nil {
		next.share = share{ranges: meta.AllRanges(), weight: 1} // nobody knows
		if m != nil {
			next.share = m.share
		}
	}
	if m != nil && m.share.weight == next.share.weight {
		next.scores = m.scores
	} else {
		next.scores = newScores(next.name, next.share.weight)
	}
	if m != nil {
		v.released = v.released.Union(m.holds(now).Minus(next.share.ranges))
		if m.record == next.record { // somebody else has changed it
			next.seen = m.seen
		}
	}
	v.members[l.Name] = next
}

// record is what a replica changes with every write of its lease.
type record struct {
	holder, acquired, renewed string
	transitions               int64
}

func recordOf(l *lease) record {
	return record{l.Spec.HolderIdentity, l.Spec.AcquireTime, l.Spec.RenewTime, l.Spec.LeaseTransitions}
}

// vanished notes that a lease has been deleted. Its replica may not know it yet, so its ranges count until the lease had run out.
func (v *view) vanished(name string) {
	m := v.members[name]
	if m == nil {
		return
	}
	if m.free && m.share.ranges == (meta.Ranges{}) {
		delete(v.members, name) // it had ended
		return
	}
	m.gone = true
}

// listed notes a complete list of the leases of the group, which the server had at some moment before now.
func (v *view) listed(leases []*lease, now time.Duration) {
	names := make(map[string]bool, len(leases))
	for _, l := range leases {
		names[l.Name] = true
		v.saw(l, now)
	}
	for name := range v.members {
		if !names[name] {
			v.vanished(name)
		}
	}
	if v.complete {
		return
	}
	v.complete, v.since, v.fresh = true, now, true
	for _, m := range v.members {
		if !m.free && (m.broken != nil || m.share.up >= m.lasts) {
			v.fresh = false
		}
	}
}

// expire forgets leases that have been deleted and have run out, and notes whose ranges are free since they have run out. It returns
// the time until the next lease runs out; 0 if there is none.
func (v *view) expire(now time.Duration) (next time.Duration) {
	for name, m := range v.members {
		if left := m.seen + m.lasts - now; left > 0 {
			if next == 0 || left < next {
				next = left
			}
			continue
		}
		v.released = v.released.Union(m.share.ranges)
		if m.gone {
			delete(v.members, name)
		}
	}
	return next
}

// isKnown reports whether it is certain that nobody works on a range that no lease shows. A lease that somebody has deleted by hand does
// not show what its replica works on until that learns of it. So a replica that joins a group in which others have been for long takes
// only what it has seen in somebody's hands, until a lease would have run out.
func (v *view) isKnown(n int, now time.Duration) bool {
	return v.fresh || v.released.Has(n) || now >= v.since+v.lasts
}
