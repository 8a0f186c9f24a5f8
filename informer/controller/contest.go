// Which fights are on: the objects that reconciles write to again and again, and the keys that are slowed down.

package controller

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/follow"
)

const (
	// noticed is how many writes have to be undone until that is a fight, each within undoneWithin of the one before.
	noticed      = 5
	undoneWithin = 2 * time.Minute
	// calm is how long no write may be undone until a fight is over. Objects that were not written for as long are forgotten.
	calm = 10 * time.Minute
	// minSlow and maxSlow bound the delay of a key after a write that was undone.
	minSlow, maxSlow = time.Second, time.Minute
	// maxWatched is how many objects are watched that were written since the last turn. Those that were written in the turn before
	// are remembered as well.
	maxWatched = 4096
	// maxReads and readWithin bound the reads before a reconcile.
	maxReads   = 8
	readWithin = 5 * time.Second
	// maxIdle is how often a suspect is read that we do not write to.
	maxIdle = 5
	// examineEvery is how often the writes of an object are examined that is no suspect, and readEvery how often one is read that is.
	examineEvery = time.Second
	readEvery    = 100 * time.Millisecond
	// checkEvery is how often the ends of fights are looked for.
	checkEvery = 10 * time.Second
	// maxPatience bounds for how many points an object is not read again after a read that has shown nothing.
	minPatience, maxPatience = 4, 64
	// maxWrites is how many writes to an object are remembered until the end of a reconcile.
	maxWrites = 16
	// maxManagers is how many field managers of ours are told apart for an object.
	maxManagers = 4
	// maxShown is how many fights the status shows.
	maxShown = 20
)

// contests is what one run of a controller knows of the objects that its reconciles write to. An object becomes the subject of a
// fight in three steps:
//
//  1. The first write leaves its version here, and for most objects that is all. A later write with the same version changed
//     nothing, and nobody else has written since.
//  2. Later reconciles write the same again, although the version has changed. The object gets 4 points if the server says that
//     such a write had an effect, and 1 otherwise: that is mostly a reconcile that always applies its fields, while others
//     write other fields. With enough points the object is a suspect.
//  3. A suspect is read before the next reconcile of the key. If that reconcile writes the same again, and the read shows
//     other values in these fields, somebody has undone the write before it. Five of these are a fight. If the read shows
//     nothing, the next one needs twice as many points.
//
// The first two steps need no request, and the third one read before a reconcile.
//
// mu is never held while a hook, the queue or the user's code is called.
type contests[K comparable] struct {
	controller string
	// busy is how many keys have suspects; while it is 0, no reconcile asks further.
	busy atomic.Int64

	mu      sync.Mutex // guards the rest
	ended   bool
	rounds  uint64
	young   map[spot[K]]*contest // written since turned
	old     map[spot[K]]*contest // written in the turn before, and not since
	turned  time.Time
	keys    map[K]*contested[K]
	checked time.Time // when the ends of fights were last looked for
}

// spot is an object to which the reconciles of a key write.
type spot[K comparable] struct {
	key  K
	uid  string
	part bool // by a subresource with a kind of its own, such as scale
}

// contest is an object to which the reconciles of a key have written.
type contest struct {
	born    uint64 // the round of the first write
	version string // of the last write
	again   *repeats
}

// repeats is what is known of an object to which several reconciles have written.
type repeats struct {
	managers       []string  // ours
	content, times uint64    // of the last write that was examined, which every write of a suspect is
	examined       time.Time // zero if none was
	points         int
	patience       int // the points that make it a suspect
	suspect        *suspect
}

// suspect is an object whose writes somebody may undo.
type suspect struct {
	read    func(ctx context.Context) ([]byte, error)
	looked  time.Time // when it was read last
	asked   time.Time // when we wrote to it last
	idle    int       // reads since then
	removed []string  // what our last write took away
	count   int       // of writes that were undone, with no long pause
	since   time.Time
	last    time.Time
	fight   *Fight // nil until it is noticed
	gone    bool   // the object is
}

// contested is a key with suspects.
type contested[K comparable] struct {
	until    time.Time // when it may be reconciled again
	suspects map[spot[K]]*repeats
}

// round is one reconcile that looks at suspects or writes.
type round[K comparable] struct {
	id     uint64
	over   bool
	looks  map[spot[K]][]byte
	writes map[spot[K]][]follow.Write // of objects that an earlier round has written; only the last of each has its answer
}

func newContests[K comparable](controller string) *contests[K] {
	return &contests[K]{
		controller: controller, turned: time.Now(),
		young: make(map[spot[K]]*contest), keys: make(map[K]*contested[K]),
	}
}

// wrote notes a write of the reconcile of k whose round r is; *r is nil before the first.
func (c *contests[K]) wrote(k K, r *atomic.Pointer[round[K]], w follow.Write) {
	if w.UID == "" {
		return
	}
	at := spot[K]{k, w.UID, w.OwnKind}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	one := r.Load()
	if one == nil {
		one = c.begin(r)
	}
	if one.over { // the write of a goroutine that has outlived its reconcile
		return
	}
	switch {
	case w.Answer == nil && w.ResourceVersion == "": // it is gone
		c.gone(at)
		return
	case w.Answer == nil:
		return
	}
	of := c.find(at)
	switch {
	case of == nil:
		c.add(at, &contest{born: one.id, version: w.ResourceVersion})
		return
	case of.version == w.ResourceVersion:
		return // it changed nothing, and nobody else did
	}
	of.version = w.ResourceVersion
	if of.born == one.id {
		return
	}
	if of.again == nil {
		of.again = &repeats{patience: minPatience}
	}
	if _, ok := one.writes[at]; !ok && of.again.suspect == nil && time.Since(of.again.examined) < examineEvery {
		return
	}
	if one.writes == nil {
		one.writes = make(map[spot[K]][]follow.Write)
	}
	all := one.writes[at]
	if n := len(all); n > 0 {
		all[n-1].Answer = nil
	}
	if len(all) == maxWrites {
		all = slices.Delete(all, 0, 1)
	}
	one.writes[at] = append(all, w)
}

// begin makes the round of a reconcile. The caller holds mu.
func (c *contests[K]) begin(r *atomic.Pointer[round[K]]) *round[K] {
	c.rounds++
	one := &round[K]{id: c.rounds}
	r.Store(one)
	return one
}

// find returns what is known of an object, which is written to now. The caller holds mu.
func (c *contests[K]) find(at spot[K]) *contest {
	c.turn()
	if of := c.young[at]; of != nil {
		return of
	}
	of := c.old[at]
	if of != nil && len(c.young) < maxWatched {
		delete(c.old, at)
		c.young[at] = of
	}
	return of
}

// add begins to watch an object, unless there are too many. The caller holds mu.
func (c *contests[K]) add(at spot[K], of *contest) {
	if len(c.young) < maxWatched {
		c.young[at] = of
	}
}

// turn forgets the objects that were not written for long. The caller holds mu.
func (c *contests[K]) turn() {
	if now := time.Now(); now.Sub(c.turned) >= calm {
		c.old, c.young, c.turned = c.young, make(map[spot[K]]*contest), now
	}
}

// gone forgets an object that does not exist any more. The caller holds mu.
func (c *contests[K]) gone(at spot[K]) {
	for _, part := range []bool{false, true} {
		at.part = part
		delete(c.young, at)
		delete(c.old, at)
		if of := c.keys[at.key]; of != nil && of.suspects[at] != nil {
			of.suspects[at].suspect.gone = true
			c.checked = time.Time{}
		}
	}
}

// delay returns how long k is not to be reconciled.
func (c *contests[K]) delay(k K) time.Duration {
	if c.busy.Load() == 0 {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if of := c.keys[k]; of != nil {
		return time.Until(of.until)
	}
	return 0
}

// look reads the suspects of k before it is reconciled.
func (c *contests[K]) look(ctx context.Context, k K, r *atomic.Pointer[round[K]]) {
	if c.busy.Load() == 0 {
		return
	}
	for at, read := range c.toRead(k) {
		limited, cancel := context.WithTimeout(ctx, readWithin)
		before, err := read(limited)
		cancel()
		c.mu.Lock()
		if errors.Is(err, apierrors.NotFound) || err == nil && uidOf(before) != at.uid {
			c.gone(at)
		}
		if err != nil { // without evidence there is no fight
			c.mu.Unlock()
			continue
		}
		one := r.Load()
		if one == nil {
			one = c.begin(r)
			one.looks = make(map[spot[K]][]byte)
		}
		one.looks[at] = before
		c.mu.Unlock()
	}
}

// toRead returns the suspects of k that are to be read now: those that were read least recently.
func (c *contests[K]) toRead(k K) map[spot[K]]func(ctx context.Context) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.keys[k]
	if of == nil {
		return nil
	}
	now := time.Now()
	var due []spot[K]
	for at, one := range of.suspects {
		every := readEvery
		if one.suspect.fight != nil {
			every = one.suspect.fight.Delay / 2 // no write that was undone is followed sooner by another
		}
		if now.Sub(one.suspect.looked) >= every && !one.suspect.gone {
			due = append(due, at)
		}
	}
	slices.SortFunc(due, func(a, b spot[K]) int {
		return cmp.Or(of.suspects[a].suspect.looked.Compare(of.suspects[b].suspect.looked), cmp.Compare(a.uid, b.uid))
	})
	reads := make(map[spot[K]]func(ctx context.Context) ([]byte, error))
	for _, at := range due[:min(len(due), maxReads)] {
		s := of.suspects[at].suspect
		s.looked, reads[at] = now, s.read
	}
	return reads
}

// settle examines the writes of a reconcile that has ended, and returns the fights that are noticed now.
func (c *contests[K]) settle(r *atomic.Pointer[round[K]]) (fights []Fight) {
	one := r.Load()
	if one == nil {
		return nil
	}
	c.mu.Lock()
	one.over = true
	c.mu.Unlock()
	// writes and looks change no more.
	for at := range one.looks {
		if _, ok := one.writes[at]; !ok {
			c.idle(at)
		}
	}
	for at, all := range one.writes {
		if f := c.examine(at, all, one.looks[at]); f != nil {
			fights = append(fights, *f)
		}
	}
	return fights
}

// idle notes that an object was read in vain: the reconcile has not written to it.
func (c *contests[K]) idle(at spot[K]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.keys[at.key]
	if of == nil || of.suspects[at] == nil || of.suspects[at].suspect.fight != nil {
		return
	}
	one := of.suspects[at]
	if one.suspect.idle++; one.suspect.idle == maxIdle {
		c.acquit(at, one)
	}
}

// examine examines the writes of a reconcile to an object; before is the object as it was before, if that is known.
func (c *contests[K]) examine(at spot[K], all []follow.Write, before []byte) *Fight {
	w := all[len(all)-1]
	managers := c.managers(at, w.Manager)
	after, ok := evidenceOf(w.Answer)
	if managers == nil || !ok {
		return nil
	}
	if at.part {
		after.owners = append(after.owners, owner{manager: w.Manager, set: specOf(after.object)})
	}
	f := finding{write: w}
	f.content, f.times = after.content(managers)
	if was, ok := evidenceOf(before); ok {
		f.looked, f.kind = true, was.kind
		acts := actsOf(all, was.version)
		f.undone = undone(was, after, managers, acts)
		if at.part { // the object may have the field in another place
			f.undone = slices.DeleteFunc(f.undone, func(field FieldWriter) bool { return field.OtherRemoves })
		} else {
			f.removed = removed(was, after, managers, acts)
		}
	}
	return c.judge(at, f)
}

// managers returns the field managers by which the reconciles of a key have written to an object; nil if nothing is known of it.
func (c *contests[K]) managers(at spot[K], latest string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.young[at]
	if of == nil || of.again == nil {
		return nil
	}
	if all := of.again.managers; !slices.Contains(all, latest) && len(all) < maxManagers {
		of.again.managers = append(slices.Clip(all), latest)
	}
	return of.again.managers
}

// finding is what the answer of a write shows.
type finding struct {
	write           follow.Write
	kind            string
	content, times  uint64
	looked          bool // the object was read before
	undone, removed []FieldWriter
}

// judge draws the conclusions, and returns a fight that is noticed now.
func (c *contests[K]) judge(at spot[K], f finding) *Fight {
	c.mu.Lock()
	defer c.mu.Unlock()
	held := c.young[at]
	if c.ended || held == nil || held.again == nil {
		return nil
	}
	of, now := held.again, time.Now()
	same := !of.examined.IsZero() && of.content == f.content
	had := of.times != f.times // an effect
	of.content, of.times, of.examined = f.content, f.times, now
	if of.suspect == nil {
		switch {
		case !same:
			of.points = 0
		case had:
			of.points += minPatience
		default:
			of.points++
		}
		if of.points >= of.patience {
			c.accuse(at, of, f.write.Read)
		}
		return nil
	}
	s := of.suspect
	s.read, s.asked, s.idle = f.write.Read, now, 0
	if !f.looked {
		return nil
	}
	var proof []FieldWriter
	if same {
		proof = f.undone
		for _, field := range f.removed { // that it is taken away again shows that somebody has put it back
			if slices.Contains(s.removed, field.Path) && len(proof) < maxFields {
				proof = append(proof, field)
			}
		}
	}
	s.removed = nil
	for _, field := range f.removed {
		s.removed = append(s.removed, field.Path)
	}
	recent := s.count > 0 && now.Sub(s.last) <= undoneWithin
	switch {
	case len(proof) > 0:
	case s.fight != nil || recent || same && len(f.removed) > 0:
		return nil
	default:
		c.acquit(at, of)
		return nil
	}
	if s.fight == nil && !recent {
		s.count, s.since = 0, now
	}
	s.count++
	s.last = now
	of.patience = minPatience
	if s.fight == nil && s.count < noticed {
		return nil
	}
	isNew := s.fight == nil
	if isNew {
		s.fight = &Fight{
			Controller: c.controller, Key: at.key, Resource: f.write.Resource, Kind: f.kind, Object: f.write.Key, UID: at.uid,
			Since: s.since, Delay: minSlow / 2,
		}
	}
	s.fight.Fields, s.fight.Count, s.fight.Last = proof, s.count, now
	s.fight.Delay = min(2*s.fight.Delay, maxSlow)
	k := c.keys[at.key]
	if until := now.Add(s.fight.Delay); until.After(k.until) {
		k.until = until
	}
	if !isNew {
		return nil
	}
	told := *s.fight
	return &told
}

// accuse makes an object a suspect. The caller holds mu.
func (c *contests[K]) accuse(at spot[K], of *repeats, read func(ctx context.Context) ([]byte, error)) {
	of.points, of.suspect = 0, &suspect{read: read, asked: time.Now()}
	k := c.keys[at.key]
	if k == nil {
		k = &contested[K]{suspects: make(map[spot[K]]*repeats)}
		c.keys[at.key] = k
		c.busy.Add(1)
	}
	k.suspects[at] = of
}

// acquit ends that an object is a suspect; it needs more points to become one again. The caller holds mu.
func (c *contests[K]) acquit(at spot[K], of *repeats) {
	of.suspect, of.patience = nil, min(2*of.patience, maxPatience)
	k := c.keys[at.key]
	delete(k.suspects, at)
	if len(k.suspects) > 0 {
		return
	}
	delete(c.keys, at.key)
	c.busy.Add(-1)
	if len(c.keys) == 0 {
		c.keys = make(map[K]*contested[K]) // frees the memory of a peak
	}
}

// isOver reports whether a suspect is none any more: nothing has happened for long.
func (s *suspect) isOver(now time.Time) bool {
	at := s.last
	if s.fight == nil {
		at = s.asked
	}
	return s.gone || now.Sub(at) >= calm
}

// overs ends what is over, and returns the fights among it.
func (c *contests[K]) overs() (fights []Fight) {
	if c.busy.Load() == 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if now.Sub(c.checked) < checkEvery {
		return nil
	}
	c.checked = now
	for _, k := range c.keys {
		on := false
		for at, of := range k.suspects {
			s := of.suspect
			if !s.isOver(now) {
				on = on || s.fight != nil
				continue
			}
			if s.fight != nil {
				s.fight.Over = true
				fights = append(fights, *s.fight)
			}
			c.acquit(at, of)
			of.patience = minPatience
		}
		if !on {
			k.until = time.Time{}
		}
	}
	return fights
}

// on returns how many fights are on, and those that were noticed first.
func (c *contests[K]) on() (n int, first []Fight) {
	if c.busy.Load() == 0 {
		return 0, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	for _, k := range c.keys {
		for _, of := range k.suspects {
			if s := of.suspect; s.fight != nil && !s.isOver(now) {
				first = append(first, *s.fight)
			}
		}
	}
	slices.SortFunc(first, func(a, b Fight) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.UID, b.UID)) })
	return len(first), slices.Clone(first[:min(len(first), maxShown)])
}

// end forgets everything.
func (c *contests[K]) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended, c.young, c.old, c.keys = true, nil, nil, nil
	c.busy.Store(0)
}
