package shards

import (
	"slices"
	"time"
)

// This file is a model of what package leader does with the lease of a replica, and of what the server answers.

// accept is the server that gets a write. It returns what it answers.
func (w *world) accept(q put) (stage, leaseState) {
	if now := w.leases[index(q.lease.name)]; now.version != q.base || now.uid != q.lease.uid && q.base != "" {
		return refused, leaseState{}
	}
	l := q.lease
	if q.base == "" {
		w.uids++
		l.uid = w.text(w.uids)
	}
	return answered, w.store(l)
}

// send sends a write of the lease that p knows, with what its replica says.
func (w *world) send(p *player, i int, frees bool) {
	w.writes++
	l := leaseState{name: leaseNames[i], uid: p.lock.uid, share: p.r.writes()}
	l.record = record{holder: w.text(i + 1), renewed: w.text(w.writes), transitions: int64(p.life)}
	if frees {
		l.record.holder = ""
	}
	p.put = put{stage: sent, base: p.lock.version, lease: l, sent: w.now, frees: frees}
	p.due = false
}

// arrives is when the server gets the write of p.
func (w *world) arrives(p *player) {
	p.put.stage, p.put.lease = w.accept(p.put)
	p.unsettled = false
}

// The fates of a write that takes no time.
const (
	fine = iota
	lost
	unanswered
)

// slowly is how a process may begin: its lists take long.
const slowly = 1

// settle has the write of p, if there is one, come to its end at once, unless requests take time.
func (w *world) settle(p *player, i, fate int) {
	if w.slow || p.put.stage != sent {
		return
	}
	switch fate {
	case fine:
		w.arrives(p)
		w.reply(p, i)
	case lost:
		w.left.lost--
		w.giveUp(p, true)
	case unanswered:
		w.left.lost--
		w.arrives(p)
		w.giveUp(p, false)
	}
}

// take notes a state of the lease that the server has answered with. It reports whether it is the last that this
// process has certainly written.
func (w *world) take(p *player, l leaseState) bool {
	before := p.lock.version
	p.lock = l
	if i := slices.IndexFunc(p.tries, func(t try) bool { return l.name != "" && t.renewed == l.record.renewed }); i >= 0 {
		p.held, p.uid = l.record.renewed, l.uid
		p.extend(w, p.tries[i].sent)
		p.tries = nil
	} else if l.version != before {
		p.tries = nil
	}
	mine := l.name != "" && p.held != "" && l.record.renewed == p.held && l.uid == p.uid
	if mine {
		p.r.stored(l)
	}
	return mine
}

// extend notes that a claim has been accepted, unless the term is over.
func (p *player) extend(w *world, sent time.Duration) {
	if p.phase == seeking || w.holds(p) {
		p.term = sent
	}
}

// claim has p, which has no lease, read it and claim it.
func (w *world) claim(p *player, i int) {
	l := w.leases[i]
	if l.name != "" && l.record.holder != "" && int(l.record.transitions) != p.life && p.foreign != l.record.renewed {
		p.foreign, p.since = l.record.renewed, w.now
		return
	}
	p.foreign = ""
	if w.take(p, l) && l.record.holder != "" && w.lead(p) {
		return
	}
	w.send(p, i, false)
}

// lead begins a term, if the claim was answered soon.
func (w *world) lead(p *player) bool {
	if 2*(w.now-p.term) >= w.deadline {
		return false
	}
	p.phase = leading
	w.poke(p)
	return true
}

// reply has p get the answer to its write.
func (w *world) reply(p *player, i int) {
	q := p.put
	p.put = put{}
	if q.stage == answered {
		p.tries = append(p.tries, try{q.lease.record.renewed, q.sent})
		w.take(p, q.lease)
		switch p.phase {
		case seeking:
			w.lead(p)
		case releasing:
			if p.ending && w.leases[i].version == q.lease.version {
				w.remove(i)
			}
			w.released(p)
		case leading:
			w.poke(p)
		}
		return
	}
	switch p.phase {
	case leading: // it reads its lease
		switch before := p.held; {
		case !w.take(p, w.leases[i]) || p.lock.record.holder == "":
			w.lose(p)
		case p.held == before: // somebody else has changed it
			p.due = true
			w.poke(p)
		default:
			w.poke(p)
		}
	case releasing:
		if !w.take(p, w.leases[i]) {
			w.released(p)
		}
	}
}

// giveUp has p wait no longer for the answer to its write.
func (w *world) giveUp(p *player, unarrived bool) {
	q := p.put
	p.put = put{}
	if p.phase == leading {
		p.due = true // it is tried again
	}
	if q.stage == refused {
		return
	}
	p.tries = append(p.tries, try{q.lease.record.renewed, q.sent})
	if unarrived && w.left.late > 0 && len(p.ghosts) == 0 {
		w.left.late--
		p.ghosts = append(p.ghosts[:0:0], q)
	}
}

// lose ends the term of p.
func (w *world) lose(p *player) {
	p.r.drop(true)
	w.endTerm(p)
}

// endTerm has p give its lease back. A write that is under way is cancelled, which the server may not notice.
func (w *world) endTerm(p *player) {
	p.phase, p.confirm, p.poked, p.unsettled = releasing, read{}, false, false
	if p.put.stage != idle {
		w.giveUp(p, p.put.stage == sent)
	}
	p.due = false
}

// free has p give its lease back.
func (w *world) free(p *player, i int) {
	if len(p.tries) > 0 {
		w.take(p, w.leases[i])
	}
	if p.held == "" || p.lock.name == "" || p.lock.record.renewed != p.held {
		w.released(p)
		return
	}
	w.send(p, i, true)
}

// released is the end of Run of package leader.
func (w *world) released(p *player) {
	p.phase, p.term, p.foreign, p.held, p.uid, p.tries, p.lock = seeking, 0, "", "", "", nil, leaseState{}
	if p.ending {
		p.phase = down
	}
}

// sentLast returns when p sent its last write.
func (p *player) sentLast() time.Duration {
	last := p.term
	for _, t := range p.tries {
		last = max(last, t.sent)
	}
	return last
}

// mayClaim reports whether p may take its lease, as package leader decides: it is free, or nobody else has it.
func (w *world) mayClaim(p *player) bool {
	l := w.leases[w.index(p)]
	if l.name == "" || l.record.holder == "" || int(l.record.transitions) == p.life {
		return true
	}
	return p.foreign != l.record.renewed || w.now >= p.since+w.rules.lease // the first look notes it
}
