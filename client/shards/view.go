package shards

import (
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// member is another replica, as its lease shows it.
type member struct {
	name     string
	identity string
	uid      string
	version  string
	record   record
	lasts    time.Duration // how long its lease counts after this replica has seen it change
	seen     time.Duration // when this replica last saw it change, by our monotonic clock
	share    share         // the last share that the member is known to have written
	unsure   bool          // the member may have written later shares, which we have not seen
	noticed  time.Duration // when we noticed that
	scores   *scores
	broken   error // why the share in the lease cannot be used: somebody has edited it
	gone     bool  // the lease has been deleted, which its replica may not know yet
	free     bool  // the lease has no holder: the replica has ended
}

// isLive reports whether the replica may still work.
func (m *member) isLive(now time.Duration) bool { return now < m.until() }

// until returns when the member has certainly lost its ranges. An unsure member may have renewed its lease without our
// seeing it, but only before the moment noticed, so its lease counts from that moment on.
func (m *member) until() time.Duration {
	if m.unsure {
		return max(m.seen, m.noticed) + m.lasts
	}
	return m.seen + m.lasts
}

// holds returns the ranges that the replica may work on.
func (m *member) holds(now time.Duration) meta.Ranges {
	switch {
	case !m.isLive(now):
		return meta.Ranges{}
	case m.unsure:
		return meta.AllRanges()
	}
	return m.share.ranges
}

// hasEnded reports whether the replica has given everything back.
func (m *member) hasEnded() bool { return m.free && !m.unsure && m.share.ranges == (meta.Ranges{}) }

// takesPart reports whether the replica takes ranges.
func (m *member) takesPart(now time.Duration) bool {
	return m.isLive(now) && !m.gone && !m.free && m.broken == nil && !m.share.leaving
}

// view is what a replica knows about the others. Its caller holds Group.mu.
type view struct {
	self     string        // the name of our own lease, which is not among the members
	lasts    time.Duration // our LeaseDuration; no lease counts for less
	by       meta.ShardBy  // of this replica
	members  map[string]*member
	complete bool          // the leases have been listed
	since    time.Duration // since when the watch has brought all changes
	head     string        // the version up to which the watch has brought all changes; "" before the first list
	fresh    bool          // the group was new at the moment since: no lease showed a claim
	released meta.Ranges   // the ranges that another replica has owned and given up after the moment since
	latest   string        // the version of the last list
	score    func(lease string, weight int) *scores
	own      string // the latest version of our own lease that the server has certainly had
}

func newView(self string, lasts time.Duration, by meta.ShardBy) *view {
	return &view{self: self, lasts: lasts, by: by, members: make(map[string]*member), score: newScores}
}

// isForeign reports whether a member is known to have another Options.By, so that its ranges are different from ours.
func (v *view) isForeign(m *member) bool { return m.share.by != "" && m.share.by != v.by }

// saw records a state of a lease that the server had at some moment before now. A state older than the known one
// changes nothing.
func (v *view) saw(l leaseState, now time.Duration) {
	if l.name == v.self {
		return
	}
	m := v.members[l.name]
	switch {
	case m != nil && m.gone && m.version == l.version:
		// A list has already shown that this lease was deleted.
	case m == nil || m.uid == l.uid:
		v.note(l.name, l, now)
	case isOlder(l.version, m.version):
		// This is an event of an earlier lease of that name. A list has already shown that the lease was deleted.
		if place := former(l.name, l.uid); v.members[place] != nil {
			v.note(place, l, now)
			v.members[place].gone = true
		}
	default:
		if !m.hasEnded() {
			m.miss(now)
			v.members[m.former()] = m
		}
		delete(v.members, l.name)
		v.note(l.name, l, now)
	}
}

// former returns the key in view.members of a deleted lease, so that the name can be the key of a later lease.
func former(name, uid string) string { return name + " " + uid }

func (m *member) former() string { return former(m.name, m.uid) }

func isOlder(a, b string) bool {
	order, ok := meta.CompareVersions(a, b)
	return ok && order < 0
}

// note records a state of a lease in v.members[place].
func (v *view) note(place string, l leaseState, now time.Duration) {
	m := v.members[place]
	if m != nil && (isOlder(l.version, m.version) || l.version == m.version && !m.gone) {
		return
	}
	next := &member{
		name: l.name, identity: l.record.holder, uid: l.uid, version: l.version, record: l.record, seen: now,
		lasts: max(l.lasts, v.lasts), free: l.record.holder == "", share: l.share, broken: l.broken,
	}
	if next.free && m != nil {
		next.identity = m.identity
	}
	if next.broken != nil {
		// The known share is the replica's last one only if the replica has not written since.
		next.share, next.unsure, next.noticed = share{weight: 1}, true, now
		if m != nil {
			next.share = m.share
			if m.record == next.record {
				next.unsure, next.noticed = m.unsure, m.noticed
			}
		}
	}
	if m != nil && m.share.weight == next.share.weight {
		next.scores = m.scores
	} else {
		next.scores = v.score(next.name, next.share.weight)
	}
	if m != nil {
		// A range becomes free if its owner removes the claim. If a replica removes the claim to a range that it has
		// not owned, that shows nothing: it may have waited for another replica.
		if m.isLive(now) && !v.isForeign(m) && !v.isForeign(next) {
			v.released = v.released.Union(m.share.ranges.Intersect(next.share.owned).Minus(next.holds(now)))
		}
		if m.record == next.record { // somebody other than the replica has changed the lease
			next.seen = m.seen
		}
	}
	v.members[place] = next
}

// miss records that the lease was deleted at some moment before now, and that we have not seen its last state. Its
// replica may not know of the deletion yet, and may have taken any range before the deletion.
func (m *member) miss(now time.Duration) {
	if !m.gone {
		m.gone, m.unsure, m.noticed = true, true, now
	}
}

// deleted records that a lease has been deleted; l is its last state. Its replica may not know that yet, so its ranges
// count until the lease would have expired.
func (v *view) deleted(l leaseState, now time.Duration) {
	if l.name == v.self {
		return
	}
	place := l.name
	if m := v.members[place]; m != nil && m.uid != l.uid {
		if place = former(l.name, l.uid); v.members[place] == nil {
			return // the lease has expired, and the view has forgotten it
		}
	}
	v.note(place, l, now)
	if m := v.members[place]; m.hasEnded() {
		delete(v.members, place)
	} else {
		m.gone = true
	}
}

// listed records a complete list of the group's leases, as the server had them at some moment before now. If the list
// lacks a lease, the lease has been deleted, unless the watch has brought a later version of the lease.
func (v *view) listed(list leaseList, now time.Duration) {
	names := make(map[string]bool, len(list.leases))
	for _, l := range list.leases {
		names[l.name] = true
		v.saw(l, now)
	}
	for name, m := range v.members {
		switch {
		case names[name] || isOlder(list.version, m.version):
		case m.hasEnded():
			delete(v.members, name)
		default:
			m.miss(now)
		}
	}
	if v.complete {
		return
	}
	v.complete, v.since, v.fresh = true, now, true
	for _, m := range v.members {
		if m.broken != nil || m.share.ranges != (meta.Ranges{}) {
			v.fresh = false
		}
	}
}

// restart records that the watch starts again from a list of that version, which listed has just recorded. This replica
// does not know what happened between the last change that it has seen and that list.
func (v *view) restart(version string, now time.Duration) {
	if v.head != "" {
		v.since, v.fresh, v.released = now, false, meta.Ranges{}
	}
	v.head = version
}

// restored records that the server has gone back to an earlier state, as after a restore of etcd from a backup. From
// now on, a version that is lower than a known one can be the later one. Another replica may not know yet that the
// server has lost its writes, and may own any range.
func (v *view) restored(now time.Duration) {
	v.own = ""
	for place, m := range v.members {
		if m.hasEnded() {
			delete(v.members, place)
			continue
		}
		m.miss(now)
		delete(v.members, place)
		v.members[m.former()] = m
	}
}

// known are the latest versions that this replica knew when it asked for the leases.
type known struct{ head, latest, own string }

func (v *view) known() known { return known{v.head, v.latest, v.own} }

// isEarlier reports whether a list shows an earlier state than this replica knew when it asked for the list: etcd has
// been restored from a backup. The version of the list alone may not show that, because others may have written as much
// since the restore. A list also shows it if the list is not older than a known lease and has that lease in an earlier
// version.
func (v *view) isEarlier(list leaseList, k known) bool {
	if isOlder(list.version, k.head) || isOlder(list.version, k.latest) || isOlder(list.version, k.own) {
		return true
	}
	for _, l := range list.leases {
		known := ""
		if m := v.members[l.name]; m != nil && m.uid == l.uid {
			known = m.version
		} else if l.name == v.self {
			known = v.own
		}
		if isOlder(l.version, known) && !isOlder(list.version, known) {
			return true
		}
	}
	return false
}

// came records that the watch has brought all changes up to that version.
func (v *view) came(version string) {
	if version != "" && !isOlder(version, v.head) {
		v.head = version
	}
}

// expire forgets leases that were deleted and have expired. It returns the time until the next lease expires; 0 if
// there is none.
func (v *view) expire(now time.Duration) (next time.Duration) {
	for name, m := range v.members {
		if left := m.until() - now; left > 0 {
			if next == 0 || left < next {
				next = left
			}
			continue
		}
		if m.gone {
			delete(v.members, name)
		}
	}
	return next
}

// isKnown reports whether it is certain that nobody works on range n if no lease shows the range. If somebody deletes a
// lease by hand, no lease shows the ranges of its replica until the replica learns of the deletion. So a replica that
// joins a group in which others own ranges takes only ranges that one of them has owned and given up since, until such
// a deleted lease would have expired.
func (v *view) isKnown(n int, now time.Duration) bool {
	return v.released.Has(n) || v.knowsAll(now)
}

// knowsAll reports whether isKnown is true of every range, even if none has been released.
func (v *view) knowsAll(now time.Duration) bool { return v.fresh || now >= v.since+v.lasts }
