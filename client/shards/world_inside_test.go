package shards

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// world is a small group of replicas and its server, for a check of all that can happen. The decisions are those of the
// real code: a replica for each process. A model stands for what package leader does with the lease of a replica: its
// claims, its term, and how it finds out which of its writes have taken effect.
//
// Time goes in ticks. All waits are multiples of a tick, and a tick may pass at any moment, so a process that is stopped
// is one of which nothing happens while others go on.
type world struct {
	rules
	texts []string

	now      time.Duration
	version  int          // of the server
	uids     int          // how many leases have been made
	writes   int          // how many claims have been sent
	leases   []leaseState // of the players; without a name if there is none
	events   []event      // those that a watch may still ask for
	since    int          // the version after which all events are there
	backup   *snapshot
	restored bool
	players  []player
	left     budget // of the faults
}

// rules says what can happen in a world.
type rules struct {
	ranges   int
	prepares bool // whether replicas have something to prepare for ranges
	lazy     bool // whether time may pass between an input and the plan that follows
	slow     bool // whether requests take time to get to the server
	prompt   bool // whether all that is due happens in one order, but for what is held up
	events   int  // how far a watch may be behind
	residual bool // whether the two cases may happen that DESIGN.md says remain
	lease    time.Duration
	deadline time.Duration
	mixed    bool // whether the last player has another Options.By
	heals    int  // after how many ticks without faults every range is worked on again
}

// budget is how often each fault may happen.
type budget struct {
	lost    int // requests that do not arrive, or whose answers do not
	expire  int // leases that run out, because they are not renewed in time
	pause   int // processes that are stopped for a while
	deaf    int // watches that bring nothing for a while
	hold    int // lists that take long
	late    int // of the requests that do not arrive in time, how many arrive later
	cut     int // ends of watches
	compact int // ends of the history that the server keeps
	crash   int
	restart int
	leave   int
	remove  int // deletions of leases by hand
	edit    int // edits of leases by hand
	restore int // backups that are restored
	unready int // replicas that are not prepared any more
}

type event struct {
	renewal bool // it changes nothing but the record of the lease
	lease   leaseState
	deleted bool
	version int
}

type snapshot struct {
	version int
	leases  []leaseState
}

type phase uint8

const (
	down      phase = iota // there is no process
	seeking                // it has no lease
	leading                // it has a lease, as far as it knows
	releasing              // it gives its lease back
)

// stage is how far a request has come.
type stage uint8

const (
	idle stage = iota
	sent
	answered
	refused
)

// put is a write of a lease.
type put struct {
	stage stage
	base  string     // the version that it replaces; "" if it makes the lease
	lease leaseState // as it is to be, or as the server has answered
	sent  time.Duration
	frees bool
}

// try is a claim with an unknown outcome.
type try struct {
	renewed string
	sent    time.Duration
}

// read is a list of the leases that is under way.
type read struct {
	stage stage
	q     question
	list  leaseList
}

// player is a place where processes run, one after the other, each of which is a replica.
type player struct {
	phase phase
	life  int // how many processes have run before
	r     replica

	lock   leaseState    // the lease as package leader knows it
	held   string        // the record that the server has certainly accepted last
	uid    string        // of the lease with that record
	term   time.Duration // when the claim was sent that the term counts from
	tries  []try
	put    put
	ghosts []put // requests that may still arrive, although nobody waits for the answers

	confirm   read
	relist    read
	watches   bool
	due       bool // the lease is to be written at once
	poked     bool // there may be another plan
	slowList  bool // its list is held up
	unfit     bool // what it has to prepare cannot be prepared
	deaf      bool // its watch is held up
	paused    bool
	unsettled bool // a backup has been restored since it wrote its lease
	ending    bool // the process ends when it has given its lease back
	wanted    meta.Ranges

	foreign string        // the record of an earlier process, and since when it was seen
	since   time.Duration // only if foreign is not empty
}

const start = 1000 * time.Second // the moment at which a decoded world is

// text returns a version, or another number, as text; "" for 0.
func (w *world) text(v int) string {
	if w.texts == nil {
		w.texts = make([]string, 512)
		for v := 1; v < len(w.texts); v++ {
			w.texts[v] = strconv.Itoa(v)
		}
	}
	return w.texts[v]
}

func versionOf(text string) (v int) {
	for _, digit := range []byte(text) {
		v = 10*v + int(digit-'0')
	}
	return v
}

const names = "abcdefgh"

func playerName(i int) string { return names[i : i+1] }

// leaseNames are those of the players' leases.
var leaseNames = [...]string{"g-a", "g-b", "g-c", "g-d"}

// fresh returns the replica of a process that begins.
func (w *world) fresh(i int) replica {
	var r replica
	w.freshen(&r, i)
	return r
}

func (w *world) freshen(r *replica, i int) {
	by := meta.ShardByUID
	if w.mixed && i == len(w.leases)-1 {
		by = meta.ShardByNamespace
	}
	old := r.view
	*r = replica{
		table: table{count: w.ranges, lease: w.rules.lease, settling: time.Second, ours: w.score(leaseNames[i], 1), have: meta.AllRanges(), joining: true},
		view:  old, drain: time.Second, weight: 1,
	}
	if old == nil {
		r.view = newView(leaseNames[i], w.rules.lease, by)
	} else { // spares the map
		clear(old.members)
		*old = view{self: leaseNames[i], lasts: w.rules.lease, by: by, members: old.members}
	}
	r.view.score = w.score
	if w.prepares {
		r.have = meta.Ranges{}
	}
}

// score gives the first range to the first player rather than to the others, and the second range the other way round.
func (w *world) score(name string, _ int) *scores {
	i := int(name[2] - 'a')
	return &smallScores()[i]
}

var smallScores = sync.OnceValue(func() *[8]scores {
	all := new([8]scores)
	for i := range all {
		for n := range all[i] {
			all[i][n] = float64(10 - i)
			if n%2 == 1 {
				all[i][n] = float64(10 + i)
			}
		}
	}
	return all
})

// index returns which player a lease belongs to.
func index(name string) int { return int(name[2] - 'a') }

// holds reports whether the term of a player lasts, by its clock.
func (w *world) holds(p *player) bool { return p.phase == leading && w.now < p.term+w.deadline }

// works returns the ranges that a player may be at work on.
func (w *world) owns(p *player) (all meta.Ranges) {
	if !w.holds(p) {
		return all
	}
	all = p.r.owns
	for n := range p.r.draining.All() {
		if p.r.users[n] > 0 {
			all = all.With(n)
		}
	}
	return all
}

// overlap returns a range that two players are at work on.
func (w *world) overlap() error {
	for i := range w.players {
		for j := range i {
			if both := w.owns(&w.players[i]).Intersect(w.owns(&w.players[j])); both != (meta.Ranges{}) {
				return fmt.Errorf("replicas %s and %s both work on %v", playerName(j), playerName(i), both)
			}
		}
	}
	return nil
}

// store notes a new state of the lease of player i.
func (w *world) store(l leaseState) leaseState {
	w.version++
	l.version = w.text(w.version)
	was := w.leases[index(l.name)]
	renewal := was.uid == l.uid && was.share == l.share && was.broken == l.broken && (was.record.holder == "") == (l.record.holder == "")
	w.leases[index(l.name)] = l
	w.add(event{lease: l, version: w.version, renewal: renewal})
	return l
}

// remove deletes the lease of player i.
func (w *world) remove(i int) {
	w.version++
	l := w.leases[i]
	l.version = w.text(w.version)
	w.leases[i] = leaseState{}
	w.add(event{lease: l, deleted: true, version: w.version})
}

func (w *world) add(e event) {
	w.events = append(w.events, e)
	for w.trim(); len(w.events) >= w.rules.events && w.merge(); {
	}
}

// trim forgets the events that every watch has brought.
func (w *world) trim() {
	lowest := w.version
	for i := range w.players {
		if p := &w.players[i]; p.phase != down && p.r.view.head != "" {
			lowest = min(lowest, max(versionOf(p.r.view.head), w.since))
		}
	}
	n := 0
	for n < len(w.events) && w.events[n].version <= lowest {
		n++
	}
	w.events = w.events[n:]
	w.since = max(w.since, lowest)
}

// next returns the next event for the watch of p; nil if there is none yet.
func (w *world) next(p *player) *event {
	head := versionOf(p.r.view.head)
	i := slices.IndexFunc(w.events, func(e event) bool { return e.version > head })
	if i < 0 {
		return nil
	}
	return &w.events[i]
}

// listed returns what a list shows now.
func (w *world) listed() leaseList {
	l := leaseList{version: w.text(w.version)}
	for _, lease := range w.leases {
		if lease.name != "" {
			l.leases = append(l.leases, lease)
		}
	}
	return l
}
