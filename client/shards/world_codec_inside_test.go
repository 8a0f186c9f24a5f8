package shards

import (
	"errors"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// coder writes a world in a form that is equal for all worlds that differ only in what nobody can tell apart: the names
// of versions, uids and records, and how long ago something was that is over. It reads that form too. Each function of it
// serves both directions, so that nothing is written that is not read.
type coder struct {
	reads bool
	in    []byte // is read
	at    int    // up to there
	buf   []byte // is written

	// versions are in order. A version is written as its place among them; after anchor, which is that of the server or of
	// its backup, as that of anchor and the distance from it, because a restored server comes to the same versions again.
	versions []int
	anchor   int
	counting bool // the versions are collected, and nothing is written
	uids     []string
	records  []string
}

var errEdited = errors.New("edited")

// encode returns the form of w.
func (c *coder) encode(w *world) []byte {
	w.tidy()
	c.versions, c.uids, c.records, c.buf = append(c.versions[:0], 0), c.uids[:0], c.records[:0], c.buf[:0]
	c.reads, c.counting, c.anchor = false, true, w.version
	if w.backup != nil {
		c.anchor = w.backup.version
	}
	c.world(w)
	slices.Sort(c.versions)
	c.versions = slices.Compact(c.versions)
	c.counting, c.uids, c.records, c.buf = false, c.uids[:0], c.records[:0], c.buf[:0]
	c.world(w)
	return c.buf
}

// decode sets w, whose rules are set, to the world that was written as form.
func (c *coder) decode(form []byte, w *world) {
	c.reads, c.counting, c.in, c.at = true, false, form, 0
	w.now = start
	c.world(w)
}

func (c *coder) byte(b *byte) {
	switch {
	case c.counting:
	case c.reads:
		*b = c.in[c.at]
		c.at++
	default:
		c.buf = append(c.buf, *b)
	}
}

func (c *coder) int(n *int) {
	b := byte(*n)
	c.byte(&b)
	*n = int(b)
}

func (c *coder) bool(v *bool) {
	var b byte
	if *v {
		b = 1
	}
	c.byte(&b)
	*v = b == 1
}

// flags writes up to eight booleans.
func (c *coder) flags(all ...*bool) {
	var b byte
	for i, v := range all {
		if *v {
			b |= 1 << i
		}
	}
	c.byte(&b)
	if c.reads {
		for i, v := range all {
			*v = b&(1<<i) != 0
		}
	}
}

// ago writes a moment before now, if it is not longer ago than most.
func (c *coder) ago(t *time.Duration, now, most time.Duration) {
	b := byte(min(now-*t, most) / time.Second)
	c.byte(&b)
	if c.reads {
		*t = now - time.Duration(b)*time.Second
	}
}

func (c *coder) ranges(r *meta.Ranges, count int) {
	var b byte
	for n := range count {
		if r.Has(n) {
			b |= 1 << n
		}
	}
	c.byte(&b)
	if !c.reads {
		return
	}
	*r = meta.Ranges{}
	for n := range count {
		if b&(1<<n) != 0 {
			*r = r.With(n)
		}
	}
}

func (c *coder) number(v *int) {
	if c.counting {
		c.versions = append(c.versions, *v)
		return
	}
	if !c.reads {
		place, _ := slices.BinarySearch(c.versions, min(*v, c.anchor))
		b := byte(place + max(*v-c.anchor, 0))
		c.byte(&b)
		return
	}
	c.int(v)
}

func (c *coder) version(w *world, text *string) {
	v := versionOf(*text)
	c.number(&v)
	if c.reads {
		*text = w.text(v)
	}
}

// name writes a text that is only compared with others for equality.
func (c *coder) name(w *world, text *string, known *[]string) {
	var b byte
	if !c.reads && *text != "" {
		i := slices.Index(*known, *text)
		if i < 0 {
			i = len(*known)
			*known = append(*known, *text)
		}
		b = byte(i + 1)
	}
	c.byte(&b)
	if c.reads {
		*text = w.text(int(b))
	}
}

func (c *coder) uid(w *world, text *string)    { c.name(w, text, &c.uids) }
func (c *coder) record(w *world, text *string) { c.name(w, text, &c.records) }

// list writes how many elements s has, and each.
func list[T any](c *coder, s *[]T, each func(*T)) {
	n := len(*s)
	c.int(&n)
	if c.reads {
		*s = slices.Grow((*s)[:0], n)[:n]
	}
	for i := range *s {
		each(&(*s)[i])
	}
}

func (c *coder) world(w *world) {
	c.number(&w.version)
	c.number(&w.since)
	list(c, &w.leases, func(l *leaseState) { c.lease(w, l) })
	list(c, &w.events, func(e *event) {
		c.lease(w, &e.lease)
		c.flags(&e.deleted, &e.renewal)
		c.number(&e.version)
	})
	has := w.backup != nil
	c.flags(&has, &w.restored)
	if has {
		if w.backup == nil {
			w.backup = new(snapshot)
		}
		c.number(&w.backup.version)
		list(c, &w.backup.leases, func(l *leaseState) { c.lease(w, l) })
	} else {
		w.backup = nil
	}
	list(c, &w.players, func(p *player) { c.player(w, p) })
	if c.reads {
		w.uids, w.writes = 100, 100
	}
	b := &w.left
	for _, n := range []*int{&b.lost, &b.late, &b.expire, &b.pause, &b.deaf, &b.hold, &b.cut, &b.compact, &b.crash, &b.restart, &b.leave, &b.remove, &b.edit, &b.restore, &b.unready} {
		c.int(n)
	}
}

// player writes p. Its name is its place among the players.
func (c *coder) player(w *world, p *player) {
	i := 0
	for j := range w.players {
		if p == &w.players[j] {
			i = j
		}
	}
	c.byte((*byte)(&p.phase))
	c.int(&p.life)
	list(c, &p.ghosts, func(g *put) { c.put(w, g) })
	if c.reads {
		w.freshen(&p.r, i)
	}
	if p.phase == down {
		*p = player{life: p.life, ghosts: p.ghosts, r: p.r}
		return
	}
	c.replica(w, p)
	c.lease(w, &p.lock)
	c.record(w, &p.held)
	c.uid(w, &p.uid)
	c.ago(&p.term, w.now, w.deadline)
	list(c, &p.tries, func(t *try) {
		c.record(w, &t.renewed)
		c.ago(&t.sent, w.now, w.deadline)
	})
	c.put(w, &p.put)
	c.read(w, &p.confirm)
	c.read(w, &p.relist)
	c.flags(&p.watches, &p.due, &p.poked, &p.ending, &p.unsettled, &p.paused, &p.slowList, &p.deaf)
	c.bool(&p.unfit)
	c.ranges(&p.wanted, w.ranges)
	c.record(w, &p.foreign)
	c.ago(&p.since, w.now, w.rules.lease)
}

func (c *coder) put(w *world, p *put) {
	c.byte((*byte)(&p.stage))
	if p.stage == idle || p.stage == refused {
		*p = put{stage: p.stage, frees: p.frees, sent: p.sent}
		c.bool(&p.frees)
		return
	}
	c.version(w, &p.base)
	c.lease(w, &p.lease)
	c.ago(&p.sent, w.now, w.deadline)
	c.bool(&p.frees)
}

func (c *coder) read(w *world, r *read) {
	c.byte((*byte)(&r.stage))
	if r.stage == idle || r.stage == refused {
		*r = read{stage: r.stage}
		return
	}
	c.ranges(&r.q.ranges, w.ranges)
	c.ago(&r.q.asked, w.now, w.rules.lease)
	c.version(w, &r.q.known.head)
	c.version(w, &r.q.known.latest)
	c.version(w, &r.q.known.own)
	if r.stage == answered {
		c.version(w, &r.list.version)
		list(c, &r.list.leases, func(l *leaseState) { c.lease(w, l) })
	}
}

// owner writes the name of a lease; its first byte is 0 if there is none.
func (c *coder) owner(name *string) bool {
	var b byte
	if !c.reads && *name != "" {
		b = byte(index(*name) + 1)
	}
	c.byte(&b)
	if c.reads {
		*name = ""
		if b > 0 {
			*name = leaseNames[b-1]
		}
	}
	return *name != ""
}

func (c *coder) lease(w *world, l *leaseState) {
	if !c.owner(&l.name) {
		*l = leaseState{}
		return
	}
	c.uid(w, &l.uid)
	c.version(w, &l.version)
	c.heldBy(w, l.name, &l.record)
	broken := l.broken != nil
	c.bool(&broken)
	if l.broken = nil; broken {
		l.broken = errEdited
		l.share = share{}
		return
	}
	c.share(w, l.name, &l.share)
}

func (c *coder) heldBy(w *world, name string, r *record) {
	free := r.holder == ""
	c.bool(&free)
	life := int(r.transitions)
	c.int(&life)
	if r.transitions = int64(life); c.reads {
		if r.holder = ""; !free {
			r.holder = w.text(index(name) + 1)
		}
	}
	c.record(w, &r.renewed)
}

func (c *coder) share(w *world, name string, s *share) {
	c.ranges(&s.ranges, w.ranges)
	c.ranges(&s.owned, w.ranges)
	unset := s.by == ""
	c.flags(&s.leaving, &s.joining, &unset)
	if c.reads {
		s.weight = 1
		if s.by = meta.ShardByUID; unset {
			s.by = ""
		} else if w.mixed && index(name) == len(w.leases)-1 {
			s.by = meta.ShardByNamespace
		}
	}
}

func (c *coder) replica(w *world, p *player) {
	r := &p.r
	for _, ranges := range []*meta.Ranges{&r.claims, &r.accepted, &r.owns, &r.owned, &r.draining, &r.have} {
		c.ranges(ranges, w.ranges)
	}
	if c.reads && !w.prepares {
		r.have = meta.AllRanges()
	}
	c.flags(&r.leaving, &r.joining, &r.edited, &r.course.broken)
	c.int(&r.course.barren)
	c.ranges(&r.observed.ranges, w.ranges)
	list(c, &r.observed.waits, func(s *write) {
		c.version(w, &s.version)
		c.ranges(&s.ranges, w.ranges)
	})
	c.share(w, r.view.self, &r.told)
	if c.reads && r.told.by == "" { // nothing has been written
		r.told = share{}
	}
	for n := range w.ranges {
		c.int(&r.users[n])
		if r.draining.Has(n) {
			c.ahead(&r.until[n], w.now)
		}
		orphan := r.orphans[n] != 0
		c.bool(&orphan)
		if orphan {
			c.ago(&r.orphans[n], w.now, time.Duration(len(w.players))*w.rules.lease+time.Second)
		}
	}
	c.view(w, r.view)
}

// ahead writes a moment after now.
func (c *coder) ahead(t *time.Duration, now time.Duration) {
	b := byte(max(*t-now, 0) / time.Second)
	c.byte(&b)
	if c.reads {
		*t = now + time.Duration(b)*time.Second
	}
}

func (c *coder) view(w *world, v *view) {
	c.flags(&v.complete, &v.fresh)
	c.ago(&v.since, w.now, w.rules.lease)
	c.version(w, &v.head)
	c.version(w, &v.latest)
	c.version(w, &v.own)
	c.ranges(&v.released, w.ranges)
	var places []string
	for place := range v.members {
		places = append(places, place)
	}
	slices.SortFunc(places, func(a, b string) int { return v.members[a].order(v.members[b], a, b) })
	n := len(places)
	c.int(&n)
	for i := range n {
		m := new(member)
		current := false
		if !c.reads {
			m = v.members[places[i]]
			current = places[i] == m.name
		}
		c.member(w, m)
		c.bool(&current)
		if !c.reads {
			continue
		}
		if m.scores = w.score(m.name, 1); current {
			v.members[m.name] = m
		} else {
			v.members[m.former()] = m
		}
	}
}

// order sorts members by name and by how new they are.
func (m *member) order(other *member, place, otherPlace string) int {
	switch {
	case m.name != other.name:
		return int(m.name[2]) - int(other.name[2])
	case (place == m.name) != (otherPlace == other.name):
		if place == m.name {
			return -1
		}
		return 1
	}
	return versionOf(m.version) - versionOf(other.version)
}

func (c *coder) member(w *world, m *member) {
	c.owner(&m.name)
	c.uid(w, &m.uid)
	c.version(w, &m.version)
	c.heldBy(w, m.name, &m.record)
	c.ago(&m.seen, w.now, w.rules.lease)
	broken := m.broken != nil
	c.flags(&m.unsure, &broken, &m.gone, &m.free)
	if m.unsure {
		c.ago(&m.noticed, w.now, w.rules.lease)
	}
	c.share(w, m.name, &m.share)
	if c.reads {
		m.lasts = w.rules.lease
		if broken {
			m.broken = errEdited
		}
	}
}

// mostForgotten is how many changes a server may forget when a backup is restored.
const mostForgotten = 6

// tidy forgets what cannot matter any more.
func (w *world) tidy() {
	w.trim()
	if w.backup != nil && w.version > w.backup.version+mostForgotten {
		w.backup, w.left.restore = nil, 0
	}
	restores := w.left.restore > 0 || w.restored
	for i := range w.players {
		p := &w.players[i]
		if p.phase == down {
			*p = player{phase: down, life: p.life, ghosts: p.ghosts}
			continue
		}
		v := p.r.view
		if !restores { // only a list after that is compared with these
			v.latest, v.own, p.confirm.q.known, p.relist.q.known = "", "", known{}, known{}
		}
		if v.complete && v.knowsAll(w.now) {
			v.since, v.fresh, v.released = w.now-w.rules.lease, false, meta.Ranges{}
		}
	}
}
