package fights

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"time"

	"github.com/bowline-go/bowline/internal/follow"
)

const (
	// minUndone is how many undone writes make a fight. Each must follow the previous one within undoneWithin.
	minUndone    = 5
	undoneWithin = 2 * time.Minute
	// minDelay and maxDelay bound the delay of a key after a write that was undone.
	minDelay, maxDelay = time.Second, time.Minute
	// maxVainReads bounds the reads of a suspect without a write of ours. After that many, the target is no longer a
	// suspect.
	maxVainReads = 5
	// checkEvery is how often the Watcher looks for fights that have ended.
	checkEvery = 10 * time.Second
	// minThreshold and maxThreshold bound the number of points that makes an object a suspect. It doubles when reads
	// have shown nothing. A repeated write that had an effect counts minThreshold points.
	minThreshold, maxThreshold = 4, 64
	// maxManagers is how many of our field managers are distinguished for an object.
	maxManagers = 4
	// maxShown is how many fights On returns.
	maxShown = 20
)

// repeats is what is known about a target of several reconciles.
type repeats struct {
	managers       []string  // ours
	content, times uint64    // of the last examined write; every write of a suspect is examined
	examined       time.Time // zero if none was
	skip, left     int       // writes to skip before the next examination: in all, and remaining
	points         int
	threshold      int // the points that make it a suspect
	suspect        *suspect
}

// suspect is a target whose writes another writer may undo.
type suspect struct {
	read      func(ctx context.Context) ([]byte, error)
	lastRead  time.Time
	lastWrite time.Time // of ours
	vainReads int       // reads since our last write
	removed   []string  // the fields that our last write removed
	count     int       // undone writes that followed each other without a long pause
	since     time.Time
	last      time.Time
	fight     *Fight // nil until it is noticed
	gone      bool   // the object no longer exists
}

// keyState is a key with suspects.
type keyState struct {
	until    time.Time // when it may be reconciled again
	suspects map[target]*repeats
}

// readInVain notes that a target was read without a write of ours.
func (w *Watcher) readInVain(at target) {
	w.mu.Lock()
	defer w.mu.Unlock()
	of := w.keys[at.key]
	if of == nil || of.suspects[at] == nil || of.suspects[at].suspect.fight != nil {
		return
	}
	one := of.suspects[at]
	if one.suspect.vainReads++; one.suspect.vainReads == maxVainReads {
		w.dropSuspect(at, one)
	}
}

// examine examines the writes of a reconcile to a target. before is the object before the writes, if that is known.
func (w *Watcher) examine(at target, all []follow.Write, before []byte) *Fight {
	last := all[len(all)-1]
	managers := w.managers(at, last.Manager)
	after, ok := evidenceOf(last.Answer)
	if managers == nil || !ok {
		return nil
	}
	if at.part {
		after.owners = append(after.owners, owner{manager: last.Manager, set: specOf(after.object)})
	}
	f := finding{write: last}
	f.content, f.times = after.content(managers)
	if was, ok := evidenceOf(before); ok {
		f.read, f.kind = true, was.kind
		acts := actsOf(all, was.version)
		f.undone = undone(was, after, managers, acts)
		if at.part { // the object may have the field in another place
			f.undone = slices.DeleteFunc(f.undone, func(field Field) bool { return field.OtherRemoves })
		} else {
			f.removed = removed(was, after, managers, acts)
		}
	}
	return w.conclude(at, f)
}

// managers returns the field managers by which the reconciles of a key have written to a target; nil if the target is
// not known.
func (w *Watcher) managers(at target, latest string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	of := w.recent[at]
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
	read            bool // the object was read before the write
	undone, removed []Field
}

// conclude updates a target with a finding, and returns a fight that is noticed now.
func (w *Watcher) conclude(at target, f finding) *Fight {
	w.mu.Lock()
	defer w.mu.Unlock()
	held := w.recent[at]
	if w.ended || held == nil || held.again == nil {
		return nil
	}
	of, now := held.again, time.Now()
	first, same, effective := of.examined.IsZero(), of.content == f.content, of.times != f.times
	same = same && !first
	of.content, of.times, of.examined = f.content, f.times, now
	if of.suspect == nil {
		if !first && of.score(same, effective) {
			w.addSuspect(at, of, f.write.Read)
		}
		return nil
	}
	s := of.suspect
	s.read, s.lastWrite, s.vainReads = f.write.Read, now, 0
	if !f.read {
		return nil
	}
	proof := s.proof(f, same)
	recent := s.count > 0 && now.Sub(s.last) <= undoneWithin
	switch {
	case len(proof) > 0:
	case s.fight != nil || recent || same && len(f.removed) > 0:
		return nil
	default:
		w.dropSuspect(at, of)
		return nil
	}
	if s.fight == nil && !recent {
		s.count, s.since = 0, now
	}
	s.count++
	s.last = now
	of.threshold = minThreshold
	if s.fight == nil && s.count < minUndone {
		return nil
	}
	isNew := s.fight == nil
	if isNew {
		s.fight = &Fight{
			Key: at.key, Resource: f.write.Resource, Kind: f.kind, Object: f.write.Key, UID: at.uid, Since: s.since, Delay: minDelay / 2,
		}
	}
	s.fight.Fields, s.fight.Count, s.fight.Last = proof, s.count, now
	s.fight.Delay = min(2*s.fight.Delay, maxDelay)
	k := w.keys[at.key]
	if until := now.Add(s.fight.Delay); until.After(k.until) {
		k.until = until
	}
	if !isNew {
		return nil
	}
	told := *s.fight
	return &told
}

// score counts an examined write, and reports whether the target becomes a suspect. same says that it has the content
// of the previously examined write, and effective that it had an effect.
func (r *repeats) score(same, effective bool) bool {
	switch {
	case !same:
		r.points, r.skip = 0, min(2*r.skip+1, maxSkip)
	case r.skip > 0:
		r.skip = 0 // the skipped writes are unknown: examine the next one
	case effective:
		r.points += minThreshold
	default:
		r.points++
	}
	r.left = r.skip
	return r.points >= r.threshold
}

// proof returns the fields that show that a write was undone, and notes the fields that this write removed. same says
// that it has the same content as the previous write.
func (s *suspect) proof(f finding, same bool) (proof []Field) {
	if same {
		proof = f.undone
		for _, field := range f.removed { // if it is removed again, another writer has put it back
			if slices.Contains(s.removed, field.Path) && len(proof) < maxFields {
				proof = append(proof, field)
			}
		}
	}
	s.removed = nil
	for _, field := range f.removed {
		s.removed = append(s.removed, field.Path)
	}
	return proof
}

// addSuspect makes a target a suspect. The caller holds mu.
func (w *Watcher) addSuspect(at target, of *repeats, read func(ctx context.Context) ([]byte, error)) {
	of.points, of.suspect = 0, &suspect{read: read, lastWrite: time.Now()}
	k := w.keys[at.key]
	if k == nil {
		k = &keyState{suspects: make(map[target]*repeats)}
		w.keys[at.key] = k
		w.busy.Add(1)
	}
	k.suspects[at] = of
}

// dropSuspect ends the suspicion of a target, which then needs twice as many points, but at most maxThreshold, to
// become a suspect again. The caller holds mu.
func (w *Watcher) dropSuspect(at target, of *repeats) {
	of.suspect, of.threshold = nil, min(2*of.threshold, maxThreshold)
	k := w.keys[at.key]
	delete(k.suspects, at)
	if len(k.suspects) > 0 {
		return
	}
	delete(w.keys, at.key)
	w.busy.Add(-1)
	if len(w.keys) == 0 {
		w.keys = make(map[any]*keyState) // frees the memory of a peak
	}
}

// isOver reports whether the suspicion is over: the object is gone, or nothing has happened for quietPeriod.
func (s *suspect) isOver(now time.Time) bool {
	at := s.last
	if s.fight == nil {
		at = s.lastWrite
	}
	return s.gone || now.Sub(at) >= quietPeriod
}

// Over drops the suspects for which isOver returns true, and returns the fights among them.
func (w *Watcher) Over() (fights []Fight) {
	if w.busy.Load() == 0 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if now.Sub(w.checked) < checkEvery {
		return nil
	}
	w.checked = now
	for _, k := range w.keys {
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
			w.dropSuspect(at, of)
			of.threshold = minThreshold
		}
		if !on {
			k.until = time.Time{}
		}
	}
	return fights
}

// On returns the number of current fights, and the first noticed of them, at most 20.
func (w *Watcher) On() (n int, first []Fight) {
	if w.busy.Load() == 0 {
		return 0, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	for _, k := range w.keys {
		for _, of := range k.suspects {
			if s := of.suspect; s.fight != nil && !s.isOver(now) {
				first = append(first, *s.fight)
			}
		}
	}
	sort.Slice(first, func(i, j int) bool {
		return cmp.Or(first[i].Since.Compare(first[j].Since), cmp.Compare(first[i].UID, first[j].UID)) < 0
	})
	return len(first), slices.Clone(first[:min(len(first), maxShown)])
}
