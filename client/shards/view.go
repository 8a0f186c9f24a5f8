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
	lasts    time.Duration // how long its lease counts after it was seen to change
	seen     time.Duration // when that was, by our monotonic clock
	share    share         // the last that its replica is known to have written
	unsure   bool          // it may have written others since, which we have not seen
	noticed  time.Duration // when we noticed that
	scores   *scores
	broken   error // why share is not that of the lease as it is: somebody has edited it
	gone     bool  // the lease has been deleted, which its replica may not know yet
	free     bool  // the lease has no holder: the replica has ended
}

// isLive reports whether the replica may still work.
func (m *member) isLive(now time.Duration) bool { return now < m.until() }

// until returns when the replica has certainly lost what it had. If it may have renewed its lease without our seeing
// that, it has not done so since we noticed.
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

// view is what a replica knows of the others. Its caller holds Group.mu.
type view struct {
	self     string        // the name of our own lease, which is not among the members
	lasts    time.Duration // for leases that do not say it
	by       meta.ShardBy  // of this replica
	members  map[string]*member
	complete bool          // the leases have been listed
	since    time.Duration // from when on the watch has brought all changes
	head     string        // the version up to which they have; "" before the first list
	fresh    bool          // at since the group was new: no lease showed a claim
	released meta.Ranges   // those that another replica has owned and given up since
	latest   string        // the version of the last list
	score    func(lease string, weight int) *scores
	own      string // the version of our own lease that the server has had last, as far as is certain
}

func newView(self string, lasts time.Duration, by meta.ShardBy) *view {
	return &view{self: self, lasts: lasts, by: by, members: make(map[string]*member), score: newScores}
}

// isForeign reports whether the ranges of a replica are ranges of something else than ours.
func (v *view) isForeign(m *member) bool { return m.share.by != "" && m.share.by != v.by }

// saw notes a lease as the server had it, at the moment now after that. An older state than the known one changes nothing.
func (v *view) saw(l leaseState, now time.Duration) {
	if l.name == v.self {
		return
	}
	m := v.members[l.name]
	switch {
	case m != nil && m.gone && m.version == l.version:
		// A list has told that it is gone.
	case m == nil || m.uid == l.uid:
		v.note(l.name, l, now)
	case isOlder(l.version, m.version):
		// An event of a lease that has been deleted, as a list has shown already.
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

// former is where the view has a lease that was deleted before another one of its name was made.
func former(name, uid string) string { return name + " " + uid }

func (m *member) former() string { return former(m.name, m.uid) }

func isOlder(a, b string) bool {
	order, ok := meta.CompareVersions(a, b)
	return ok && order < 0
}

// note notes a lease in its place among the members.
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
		// The share that is known is the last one only if the replica has not written since.
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
		if m.isLive(now) && !v.isForeign(m) && !v.isForeign(next) { // a claim alone that is taken away shows nothing: its replica may have waited for somebody
			v.released = v.released.Union(m.share.ranges.Intersect(next.share.owned).Minus(next.holds(now)))
		}
		if m.record == next.record { // somebody else has changed it
			next.seen = m.seen
		}
	}
	v.members[place] = next
}

// miss notes that the lease has been deleted at some time before now, and that we have not seen how it was at last. Its
// replica may not know of the deletion yet, and may have taken any range before it.
func (m *member) miss(now time.Duration) {
	if !m.gone {
		m.gone, m.unsure, m.noticed = true, true, now
	}
}

// deleted notes that a lease has been deleted, and was as l is at last. Its replica may not know that yet, so its
// ranges count until the lease would have run out.
func (v *view) deleted(l leaseState, now time.Duration) {
	if l.name == v.self {
		return
	}
	place := l.name
	if m := v.members[place]; m != nil && m.uid != l.uid {
		if place = former(l.name, l.uid); v.members[place] == nil {
			return // it has run out
		}
	}
	v.note(place, l, now)
	if m := v.members[place]; m.hasEnded() {
		delete(v.members, place)
	} else {
		m.gone = true
	}
}

// listed notes a complete list of the leases of the group, which the server had at some moment before now. A lease that it
// does not have has been deleted, unless the watch has brought it since.
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

// restart notes that the watch goes on from a list of that version, which has been noted at the moment now. This replica
// does not know what happened between the changes that it has seen and that list.
func (v *view) restart(version string, now time.Duration) {
	if v.head != "" {
		v.since, v.fresh, v.released = now, false, meta.Ranges{}
	}
	v.head = version
}

// restored notes that the server has gone back to an earlier state, as after etcd was restored from a backup: lower
// versions than before are later ones from now on. Another replica may not know yet that its lease is not as it has written
// it, and may have everything.
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

// isEarlier reports whether a list shows an earlier state than this replica knew when it asked for it: etcd has been
// restored from a backup. The version of the list may not tell that, because others may have written as much since. So a
// list that is not older than a lease, but shows it in an earlier state, tells it too.
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

// came notes that the watch has brought all changes up to that version.
func (v *view) came(version string) {
	if version != "" && !isOlder(version, v.head) {
		v.head = version
	}
}

// expire forgets leases that have been deleted and have run out. It returns the time until the next lease runs out; 0
// if there is none.
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

// isKnown reports whether it is certain that nobody works on a range that no lease shows. A lease that somebody has
// deleted by hand does not show what its replica works on until that learns of it. So a replica that joins a group in
// which others own ranges takes only what one of these has owned meanwhile, until a lease would have run out.
func (v *view) isKnown(n int, now time.Duration) bool {
	return v.released.Has(n) || v.knowsAll(now)
}

// knowsAll reports whether that is certain of all ranges.
func (v *view) knowsAll(now time.Duration) bool { return v.fresh || now >= v.since+v.lasts }
