package informer

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// record is the Status that the reflector writes and everybody reads. Its lock guards all of it, and is never held while
// anything else is called.
type record struct {
	mu  sync.Mutex
	s   Status
	bad map[meta.Key]Undecodable
}

func (r *record) update(f func(*Status)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.s)
}

// alive notes that the server has sent something that could be used.
func (r *record) alive() {
	r.update(func(s *Status) { s.Err, s.LastEvent = nil, time.Now() })
}

// undecodable notes an object that does not decode. It returns false if this state of it is known already.
func (r *record) undecodable(id meta.Identity, err error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if was, ok := r.bad[id.Key()]; ok && was.Identity == id {
		return false
	}
	if r.bad == nil {
		r.bad = make(map[meta.Key]Undecodable)
	}
	r.bad[id.Key()] = Undecodable{Identity: id, Err: err}
	return true
}

// decodable notes that the object of a key decodes, or is gone.
func (r *record) decodable(key meta.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.bad, key)
}

// keepUndecodable forgets the objects that do not decode, except those for which keep is true.
func (r *record) keepUndecodable(keep func(meta.Key) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.bad, func(k meta.Key, _ Undecodable) bool { return !keep(k) })
}

func (r *record) copy() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.s
	s.Relists = maps.Clone(s.Relists)
	s.Undecodable = slices.SortedFunc(maps.Values(r.bad), func(a, b Undecodable) int {
		return a.Identity.Key().Compare(b.Identity.Key())
	})
	return s
}
