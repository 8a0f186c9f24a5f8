package shards

import (
	"fmt"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// move is one thing that can happen.
type move struct {
	kind   kind
	player int
	n      int // which range, or which of several
}

type kind uint8

const (
	tick kind = iota
	begin
	claim
	renew
	arrive
	reply
	losePut
	loseReply
	ghost
	plans
	expire
	pause
	resume
	serveConfirm
	replyConfirm
	loseConfirm
	holdUp
	letGo
	lag
	goOn
	askRelist
	serveRelist
	replyRelist
	loseRelist
	deliver
	finish
	prepare
	unready
	heal
	leave
	stop
	free
	keep
	crash
	cut
	compact
	remove
	edit
	backUp
	restore
)

var kinds = [...]string{
	tick: "a tick passes", begin: "the process of %s begins", claim: "%s claims its lease", renew: "%s writes its lease",
	arrive: "the write of %s reaches the server", reply: "%s gets the answer to its write", losePut: "a write of %s is lost",
	loseReply: "the answer to the write of %s is lost", ghost: "an earlier write of %s reaches the server", plans: "%s makes a plan",
	expire: "%s notices that its lease has run out", pause: "%s is stopped", resume: "%s goes on",
	serveConfirm: "the server answers the list with which %s confirms its ranges",
	holdUp:       "lists take long to get to %s", letGo: "lists take no time to get to %s any more", lag: "the watch of %s brings nothing", goOn: "the watch of %s goes on",
	replyConfirm: "%s gets that list", loseConfirm: "that list of %s fails", askRelist: "%s lists the leases before a watch",
	serveRelist: "the server answers that list of %s", replyRelist: "%s gets the list before a watch, and watches",
	loseRelist: "the list of %s before a watch fails", deliver: "the watch of %s brings an event", finish: "the work of %s on a range returns",
	prepare: "%s is prepared for its ranges", unready: "%s is not prepared any more", heal: "%s can be prepared again", leave: "%s is to leave", stop: "the work of %s has returned",
	free: "%s gives its lease back", keep: "%s does not give its lease back", crash: "%s crashes", cut: "the watch of %s ends",
	compact: "the server forgets its history", remove: "somebody deletes the lease of %s", edit: "somebody edits the lease of %s",
	backUp: "somebody backs the server up", restore: "somebody restores the backup",
}

func (m move) String() string {
	text := kinds[m.kind]
	if m.kind == begin && m.n == slowly {
		text += ", and its lists take long"
	}
	if m.kind == claim || m.kind == renew || m.kind == free {
		text += [...]string{"", ", and the write is lost", ", and the answer is lost"}[m.n]
	}
	if m.kind == tick || m.kind == compact || m.kind == backUp || m.kind == restore {
		return text
	}
	return fmt.Sprintf(text, playerName(m.player))
}

// isFault reports whether a move is no part of a group without faults.
func (m move) isFault() bool {
	switch m.kind {
	case losePut, loseReply, ghost, pause, loseConfirm, loseRelist, holdUp, lag, unready, leave, stop, keep, crash, cut, compact, remove, edit, backUp, restore:
		return true
	}
	return false
}

// moves appends what can happen in w to all. In a prompt world all that is due happens first, in one order, but for what is
// held up: so a search gets further from the beginning.
func (w *world) moves(all []move) []move {
	from := len(all)
	all = w.possible(all)
	if !w.prompt {
		return all
	}
	due := slices.IndexFunc(all[from:], func(m move) bool { return !m.isChoice() && m.kind != tick })
	if due < 0 {
		due = slices.IndexFunc(all[from:], func(m move) bool { return m.kind == tick })
	}
	rests := due < 0 || all[from+due].kind == tick
	kept := all[:from]
	for i, m := range all[from:] {
		if i == due || m.isChoice() && (rests || m.kind == crash || m.kind == remove || m.n != fine) {
			kept = append(kept, m)
		}
	}
	return kept
}

// isChoice reports whether a move is not due when it is possible.
func (m move) isChoice() bool {
	return m.isFault() || m.n != fine && (m.kind == claim || m.kind == renew || m.kind == free) || m.kind == begin || m.kind == resume || m.kind == goOn || m.kind == heal || m.kind == letGo
}

// possible appends all that can happen in w to all.
func (w *world) possible(all []move) []move {
	if w.mayTick() {
		all = append(all, move{kind: tick})
	}
	for i := range w.players {
		p := &w.players[i]
		add := func(ok bool, k kind) {
			if ok {
				all = append(all, move{kind: k, player: i})
			}
		}
		alive, has := p.phase != down, w.leases[i].name != ""
		add(alive && p.paused, resume)
		add(p.put.stage == sent && (w.hasRoom() || p.unsettled), arrive)
		add(len(p.ghosts) > 0 && w.hasRoom(), ghost)
		add(alive && w.left.crash > 0, crash)
		add(has && w.left.remove > 0 && w.hasRoom(), remove)
		add(has && w.left.edit > 0 && w.leases[i].broken == nil && w.hasRoom(), edit)
		if p.paused {
			continue
		}
		add(p.phase == leading && w.left.pause > 0, pause)
		mayBegin := !alive && (p.life == 0 || w.left.restart > 0)
		add(mayBegin, begin)
		if mayBegin && w.left.hold > 0 {
			all = append(all, move{begin, i, slowly})
		}
		write := func(ok bool, k kind) {
			ok = ok && p.put.stage == idle && (w.hasRoom() || p.unsettled)
			add(ok, k)
			if ok && !w.slow && w.left.lost > 0 && len(p.tries) < 2 {
				all = append(all, move{k, i, lost}, move{k, i, unanswered})
			}
		}
		write(p.phase == seeking && w.mayClaim(p), claim)
		write(w.holds(p) && (p.due || w.now > p.sentLast()), renew)
		add(alive && p.put.stage >= answered, reply)
		add(alive && p.put.stage == sent && w.left.lost > 0 && len(p.tries) < 2, losePut)
		add(alive && p.put.stage >= answered && w.left.lost > 0 && len(p.tries) < 2, loseReply)
		add(p.phase == leading && p.poked, plans)
		add(p.phase == leading && !w.holds(p), expire)
		add(p.confirm.stage == sent && !w.isExcluded(i), serveConfirm)
		add(p.confirm.stage == answered && !p.slowList, replyConfirm)
		add(alive && !p.slowList && w.left.hold > 0, holdUp)
		add(p.slowList, letGo)
		add(p.watches && !p.deaf && w.left.deaf > 0, lag)
		add(p.deaf, goOn)
		add((p.confirm.stage == sent || p.confirm.stage == answered) && w.left.lost > 0, loseConfirm)
		add(alive && !p.watches && p.relist.stage == idle, askRelist)
		add(p.relist.stage == sent && !w.isExcluded(i), serveRelist)
		add(p.relist.stage == answered, replyRelist)
		add(p.relist.stage != idle && w.left.lost > 0, loseRelist)
		add(alive && p.watches && !p.deaf && w.next(p) != nil && !w.isUnsettled(i), deliver)
		for n := range w.ranges {
			if p.phase == leading && p.r.draining.Has(n) && p.r.users[n] > 0 {
				all = append(all, move{finish, i, n})
			}
		}
		add(w.prepares && p.phase == leading && p.wanted != p.r.have && !p.unfit, prepare)
		add(w.prepares && p.phase == leading && w.left.unready > 0 && !p.unfit, unready)
		add(p.unfit, heal)
		add(p.phase == leading && w.left.leave > 0 && !p.r.leaving, leave)
		add(p.phase == leading && p.r.leaving, stop)
		write(p.phase == releasing, free)
		add(p.phase == releasing && p.put.stage == idle, keep)
		add(p.watches && w.left.cut > 0, cut)
	}
	if w.left.compact > 0 && w.since < w.version {
		all = append(all, move{kind: compact})
	}
	if w.left.restore > 0 {
		if w.backup == nil && w.version > 0 {
			all = append(all, move{kind: backUp})
		} else if w.backup != nil && w.backup.version < w.version {
			all = append(all, move{kind: restore})
		}
	}
	return all
}

// mayTick reports whether time may pass: no replica loses its lease for want of a renewal, unless that fault is left.
func (w *world) mayTick() bool {
	if w.left.expire > 0 {
		return true
	}
	for i := range w.players {
		if p := &w.players[i]; p.phase == leading && !p.paused && w.now+time.Second >= p.term+w.deadline && w.holds(p) {
			return false
		}
	}
	return true
}

// hasRoom reports whether the server can change a lease now. If a watch is far behind, changes wait, so that the number
// of worlds is finite.
func (w *world) hasRoom() bool {
	w.trim()
	return len(w.events) < w.rules.events
}

// merge drops an event that a mere renewal of the same lease follows, unless something else than renewals is between them:
// a watch has to bring changes in their order. It reports whether there is such an event.
func (w *world) merge() bool {
	for i, e := range w.events {
		for j, later := range w.events[i+1:] {
			if !later.renewal {
				break
			}
			if later.lease.name == e.lease.name {
				w.events[i+1+j].renewal = e.renewal
				w.events = slices.Delete(w.events, i, i+1)
				return true
			}
		}
	}
	return false
}

func (w *world) index(p *player) int {
	for i := range w.players {
		if p == &w.players[i] {
			return i
		}
	}
	panic("no player")
}

// isExcluded reports whether one of the two cases that DESIGN.md says remain would begin if the server answered a list
// of player i now.
func (w *world) isExcluded(i int) bool {
	if w.residual {
		return false
	}
	if w.isUnsettled(i) {
		return true
	}
	if w.players[i].r.view.complete {
		return false
	}
	for _, l := range w.leases {
		if l.broken != nil || l.share.ranges != (meta.Ranges{}) {
			return false
		}
	}
	for j := range w.players { // its lease with claims has been deleted, so nothing shows these
		if p := &w.players[j]; j != i && w.holds(p) && p.r.claims != (meta.Ranges{}) && w.leases[j].uid != p.uid {
			return true
		}
	}
	return false
}

// isUnsettled reports whether a replica other than i has a lease that the server has in an earlier state, after a backup
// was restored, and has not tried to renew it since.
func (w *world) isUnsettled(i int) bool {
	for j := range w.players {
		if p := &w.players[j]; j != i && p.unsettled && w.holds(p) && !w.residual {
			return true
		}
	}
	return false
}

// do lets m happen.
func (w *world) do(m move) {
	p := &w.players[m.player]
	r := &p.r
	switch m.kind {
	case tick:
		w.now += time.Second
		for i := range w.players {
			q := &w.players[i]
			if q.confirm.stage == refused && !q.paused {
				q.confirm = read{}
			}
			switch {
			case q.phase != leading || q.paused:
			case w.now == q.term+w.deadline:
				w.left.expire--
				w.lose(q)
			case w.now > q.term+w.deadline:
				w.lose(q)
			default:
				w.poke(q)
			}
		}
	case begin:
		if p.life > 0 {
			w.left.restart--
		}
		*p = player{phase: seeking, life: p.life + 1, ghosts: p.ghosts, r: w.fresh(m.player), slowList: m.n == slowly}
		if m.n == slowly {
			w.left.hold--
		}
	case claim:
		w.claim(p, m.player)
		w.settle(p, m.player, m.n)
	case renew:
		w.send(p, m.player, false)
		w.settle(p, m.player, m.n)
	case arrive:
		w.arrives(p)
	case reply:
		w.reply(p, m.player)
	case losePut, loseReply:
		w.left.lost--
		w.giveUp(p, m.kind == losePut)
	case ghost:
		_, _ = w.accept(p.ghosts[0])
		p.ghosts = p.ghosts[1:]
	case plans:
		w.plan(p)
	case expire:
		w.lose(p)
	case pause:
		w.left.pause--
		p.paused = true
	case resume:
		p.paused = false
		w.poke(p)
	case serveConfirm:
		p.confirm.stage, p.confirm.list = answered, w.listed()
	case replyConfirm:
		q := p.confirm
		p.confirm = read{}
		begun, ok := r.answered(q.q, q.list, w.now)
		if !ok {
			p.confirm.stage = refused // it is asked for again after a while
		}
		for n := range begun.All() {
			r.users[n] = 1
		}
		w.poke(p)
	case loseConfirm:
		w.left.lost--
		p.confirm = read{stage: refused}
	case holdUp:
		w.left.hold--
		p.slowList = true
	case letGo:
		p.slowList = false
	case lag:
		w.left.deaf--
		p.deaf = true
	case goOn:
		p.deaf = false
	case askRelist:
		p.relist = read{stage: sent, q: question{known: r.view.known()}}
		if !w.slow && !w.isExcluded(m.player) {
			p.relist.list = w.listed()
			w.learn(p)
		}
	case serveRelist:
		p.relist.stage, p.relist.list = answered, w.listed()
	case replyRelist:
		w.learn(p)
	case loseRelist:
		w.left.lost--
		p.relist = read{}
	case deliver:
		e := w.next(p)
		if r.hears(e.lease, e.deleted, w.text(e.version), w.now) {
			w.poke(p)
		}
		if r.edited {
			w.poke(p)
		}
	case finish:
		r.users[m.n] = 0
		w.poke(p)
	case prepare:
		r.have = p.wanted
		w.poke(p)
	case heal:
		p.unfit = false
	case unready:
		w.left.unready--
		p.unfit = true
		r.have = meta.Ranges{}
		w.poke(p)
	case leave:
		w.left.leave--
		r.leaves()
		w.poke(p)
	case stop:
		r.leaves()
		r.drop(false)
		p.ending = true
		w.endTerm(p)
	case free:
		w.free(p, m.player)
		w.settle(p, m.player, m.n)
	case keep:
		w.released(p)
	case crash:
		w.left.crash--
		if p.put.stage == sent {
			p.ghosts = append(p.ghosts[:0:0], p.put)
		}
		p.phase = down
	case cut:
		w.left.cut--
		p.watches = false
	case compact:
		w.left.compact--
		w.compact()
	case remove:
		w.left.remove--
		w.remove(m.player)
	case edit:
		w.left.edit--
		l := w.leases[m.player]
		l.broken, l.share = errEdited, share{}
		w.store(l)
	case backUp:
		w.backup = &snapshot{w.version, slices.Clone(w.leases)}
	case restore:
		w.restore()
	}
}

// learn has p learn the list before a watch, and watch.
func (w *world) learn(p *player) {
	from, _ := p.r.learns(p.relist.list, p.relist.q.known, w.now)
	p.relist, p.watches = read{}, true
	if versionOf(from) < w.since {
		p.watches, p.r.course.broken = false, true
	}
	w.poke(p)
}

// poke has p make another plan, at once or later.
func (w *world) poke(p *player) {
	if p.phase != leading {
		return
	}
	p.poked = true
	if !w.lazy {
		w.plan(p)
	}
}

// plan has p make a plan, and carries it out as Group does.
func (w *world) plan(p *player) {
	p.poked = false
	plan := p.r.advance(w.now)
	p.due = p.due || plan.write
	p.wanted = plan.wanted
	if plan.confirm != (meta.Ranges{}) && p.confirm.stage == idle {
		p.confirm = read{stage: sent, q: p.r.asks(plan.confirm, w.now)}
		if !w.slow && !w.isExcluded(w.index(p)) {
			p.confirm.stage, p.confirm.list = answered, w.listed()
		}
	}
}

// compact has the server forget its history: watches that are behind end.
func (w *world) compact() {
	w.events, w.since = nil, w.version
	for i := range w.players {
		if p := &w.players[i]; p.watches && versionOf(p.r.view.head) < w.since {
			p.watches, p.r.course.broken = false, true
		}
	}
}

// restore has the server go back to its backup. All watches end.
func (w *world) restore() {
	w.left.restore--
	w.restored = true
	w.version, w.leases, w.events, w.since = w.backup.version, slices.Clone(w.backup.leases), nil, w.backup.version
	w.backup = nil
	for i := range w.players {
		p := &w.players[i]
		p.watches = false
		p.unsettled = w.holds(p) && w.leases[i].version != p.lock.version
		if p.put.stage == sent { // by an API server that has been started anew
			w.giveUp(p, false)
		}
	}
}
