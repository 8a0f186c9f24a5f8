package fights

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/follow"
)

const (
	// quietPeriod is the time without an undone write after which a fight is over. It is also the least time between
	// two rotations: an object is forgotten if it is not written in the whole period between two of them.
	quietPeriod = 10 * time.Minute
	// maxWatched is how many objects are watched among those written since the last rotation. Those that were written
	// in the period before are remembered as well.
	maxWatched = 4096
	// maxReads and readWithin bound the reads before a reconcile.
	maxReads   = 8
	readWithin = 5 * time.Second
	// examineEvery is the shortest time between two examinations of the writes of an object that is not a suspect. An
	// examination costs about a tenth of a write. While each examined write differs from the one before, more and more
	// writes are skipped between two examinations, up to maxSkip.
	examineEvery = time.Second
	maxSkip      = 7
	// readEvery is the shortest time between two reads of a suspect.
	readEvery = 100 * time.Millisecond
	// maxWrites is how many writes to an object are remembered until the end of a reconcile.
	maxWrites = 16
)

// Watcher is what one run of a controller knows about the objects that its reconciles write to. Make one with [New]. It
// is safe for use by several goroutines at once. The keys are values of one comparable type; their static type is any,
// so that the compiler does not repeat the package for each type. An object becomes the subject of a fight in three
// steps:
//
//  1. The Watcher remembers the version that the first write has made. For most objects nothing more happens. A later
//     write with the same version changed nothing, and no other writer has written since.
//  2. Later reconciles write the same again, although the version has changed. The object gets 4 points if the server
//     says that such a write had an effect. Otherwise it gets 1 point, because in most cases there is no fight: the
//     reconcile always applies its fields, and other writers write other fields. With enough points the object is a
//     suspect.
//  3. A suspect is read before the next reconcile of the key. If that reconcile writes the same again, and the read
//     shows other values in these fields, another writer has undone the previous write. Five undone writes are a
//     fight. If the read shows nothing, the object is no longer a suspect, and needs twice as many points to become
//     one again.
//
// The first two steps need no request, and the third needs one read before a reconcile.
type Watcher struct {
	// busy is how many keys have suspects. While it is 0, Delay, Look, Over and On return at once, without mu.
	busy atomic.Int64

	// mu guards the fields below. It is never held while a function from outside this package is called.
	mu         sync.Mutex
	ended      bool
	reconciles uint64
	recent     map[target]*history // written since the last rotation
	older      map[target]*history // written in the period before, and not since
	rotated    time.Time
	keys       map[any]*keyState
	checked    time.Time // when the ends of fights were last looked for
}

// New returns a Watcher that knows of no writes.
func New() *Watcher {
	return &Watcher{rotated: time.Now(), recent: make(map[target]*history), keys: make(map[any]*keyState)}
}

// target is an object to which the reconciles of a key write.
type target struct {
	key  any
	uid  string
	part bool // through a subresource with its own kind, such as scale
}

// history is what is known about the writes to a target.
type history struct {
	first   uint64 // the number of the reconcile that made the first write
	version string // of the last write
	again   *repeats
}

// Reconcile is what a Watcher knows about one reconcile. The zero value is for a reconcile that begins.
type Reconcile struct {
	notes atomic.Pointer[notes] // nil until it reads a suspect or writes
}

// notes are what a reconcile has read and written.
type notes struct {
	number uint64
	over   bool
	looks  map[target][]byte
	// writes has the writes to targets that an earlier reconcile also wrote. Only the last one to each has its answer.
	writes map[target][]follow.Write
}

// Wrote notes a write of the reconcile r, which is one of k.
func (w *Watcher) Wrote(k any, r *Reconcile, write follow.Write) {
	if write.UID == "" {
		return
	}
	at := target{k, write.UID, write.OwnKind}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	n := r.notes.Load()
	if n == nil {
		n = w.begin(r)
	}
	if n.over { // the write of a goroutine that has outlived its reconcile
		return
	}
	switch {
	case write.Answer == nil && write.ResourceVersion == "": // the object is gone
		w.gone(at)
		return
	case write.Answer == nil:
		return
	}
	of := w.find(at)
	switch {
	case of == nil:
		w.add(at, &history{first: n.number, version: write.ResourceVersion})
		return
	case of.version == write.ResourceVersion:
		return // the write changed nothing, and no other writer did
	}
	of.version = write.ResourceVersion
	if of.first == n.number {
		return
	}
	if of.again == nil {
		of.again = &repeats{threshold: minThreshold}
	}
	if _, ok := n.writes[at]; !ok && of.again.suspect == nil {
		if time.Since(of.again.examined) < examineEvery {
			return
		}
		if of.again.left > 0 {
			of.again.left--
			return
		}
	}
	if n.writes == nil {
		n.writes = make(map[target][]follow.Write)
	}
	all := n.writes[at]
	if n := len(all); n > 0 {
		all[n-1].Answer = nil
	}
	if len(all) == maxWrites {
		all = slices.Delete(all, 0, 1)
	}
	n.writes[at] = append(all, write)
}

// begin makes the notes of a reconcile. The caller holds mu.
func (w *Watcher) begin(r *Reconcile) *notes {
	w.reconciles++
	n := &notes{number: w.reconciles}
	r.notes.Store(n)
	return n
}

// find returns the history of a target that is being written. The caller holds mu.
func (w *Watcher) find(at target) *history {
	w.rotate()
	if of := w.recent[at]; of != nil {
		return of
	}
	of := w.older[at]
	if of != nil && len(w.recent) < maxWatched {
		delete(w.older, at)
		w.recent[at] = of
	}
	return of
}

// add begins to watch a target, unless there are too many. The caller holds mu.
func (w *Watcher) add(at target, of *history) {
	if len(w.recent) < maxWatched {
		w.recent[at] = of
	}
}

// rotate forgets the targets that have not been written for a long time. The caller holds mu.
func (w *Watcher) rotate() {
	if now := time.Now(); now.Sub(w.rotated) >= quietPeriod {
		w.older, w.recent, w.rotated = w.recent, make(map[target]*history), now
	}
}

// gone forgets an object that does not exist any more. The caller holds mu.
func (w *Watcher) gone(at target) {
	for _, part := range []bool{false, true} {
		at.part = part
		delete(w.recent, at)
		delete(w.older, at)
		if of := w.keys[at.key]; of != nil && of.suspects[at] != nil {
			of.suspects[at].suspect.gone = true
			w.checked = time.Time{}
		}
	}
}

// Delay returns for how long k must not be reconciled.
func (w *Watcher) Delay(k any) time.Duration {
	if w.busy.Load() == 0 {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if of := w.keys[k]; of != nil {
		return time.Until(of.until)
	}
	return 0
}

// Look reads the suspects of k before r, which is a reconcile of k.
func (w *Watcher) Look(ctx context.Context, k any, r *Reconcile) {
	if w.busy.Load() == 0 {
		return
	}
	for at, read := range w.toRead(k) {
		limited, cancel := context.WithTimeout(ctx, readWithin)
		before, err := read(limited)
		cancel()
		w.mu.Lock()
		if errors.Is(err, apierrors.NotFound) || err == nil && uidOf(before) != at.uid {
			w.gone(at)
		}
		if err != nil { // without evidence there is no fight
			w.mu.Unlock()
			continue
		}
		n := r.notes.Load()
		if n == nil {
			n = w.begin(r)
			n.looks = make(map[target][]byte)
		}
		n.looks[at] = before
		w.mu.Unlock()
	}
}

// toRead returns the suspects of k that must be read now, at most maxReads. It prefers those that were read least
// recently.
func (w *Watcher) toRead(k any) map[target]func(ctx context.Context) ([]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	of := w.keys[k]
	if of == nil {
		return nil
	}
	now := time.Now()
	var due []target
	for at, one := range of.suspects {
		every := readEvery
		if one.suspect.fight != nil {
			every = one.suspect.fight.Delay / 2 // the next write of the fight comes only after Delay
		}
		if now.Sub(one.suspect.lastRead) >= every && !one.suspect.gone {
			due = append(due, at)
		}
	}
	sort.Slice(due, func(i, j int) bool {
		a, b := due[i], due[j]
		return cmp.Or(of.suspects[a].suspect.lastRead.Compare(of.suspects[b].suspect.lastRead), cmp.Compare(a.uid, b.uid)) < 0
	})
	reads := make(map[target]func(ctx context.Context) ([]byte, error))
	for _, at := range due[:min(len(due), maxReads)] {
		s := of.suspects[at].suspect
		s.lastRead, reads[at] = now, s.read
	}
	return reads
}

// Settle examines the writes of a reconcile that has ended, and returns the fights that are noticed now.
func (w *Watcher) Settle(r *Reconcile) (fights []Fight) {
	n := r.notes.Load()
	if n == nil {
		return nil
	}
	w.mu.Lock()
	n.over = true
	w.mu.Unlock()
	// The writes and the looks of n no longer change.
	for at := range n.looks {
		if _, ok := n.writes[at]; !ok {
			w.readInVain(at)
		}
	}
	for at, all := range n.writes {
		if f := w.examine(at, all, n.looks[at]); f != nil {
			fights = append(fights, *f)
		}
	}
	return fights
}

// End forgets everything.
func (w *Watcher) End() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended, w.recent, w.older, w.keys = true, nil, nil, nil
	w.busy.Store(0)
}
