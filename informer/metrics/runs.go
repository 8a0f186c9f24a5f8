package metrics

import "sync"

// runs are the runs in progress. The zero value is ready for use.
type runs[R any] struct {
	mu   sync.Mutex // guards the fields below
	next int
	all  map[int]R
}

// add adds a run, which remains until ended is called.
func (r *runs[R]) add(run R) (ended func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = make(map[int]R)
	}
	id := r.next
	r.next++
	r.all[id] = run
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.all, id)
	}
}

// each calls f with each run. No run ends during these calls.
func (r *runs[R]) each(f func(R)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, run := range r.all {
		f(run)
	}
}
