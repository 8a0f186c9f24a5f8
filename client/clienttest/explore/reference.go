package explore

import "sync"

// atRest is the class of the places at which nothing moves: the third time that the history rests is atRest:3.
const atRest = "rest"

// compareWith says that the run is compared with one in which something happens at rest, for disturbances whose result
// is another state than without them. An edit at a request, for example, is compared with the same edit at rest. The
// kind must have an effect at rest, and the argument must say to which object it happens, if that matters.
//
// It happens when the history rests the next time, or when it rested the last time. A run for which this is called more
// than once is compared with those in which all of it happens. See [world.orders].
func (w *world) compareWith(k kind, argument string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.altered = true
	w.compared = append(w.compared, disturbance{k, argument, place{atRest, w.rests + 1}})
}

// disturbRest does what happens at rest, after the program has come to rest. It reports whether there was something.
func (w *world) disturbRest() bool {
	w.mu.Lock()
	w.rests++
	all := w.schedule.at(place{atRest, w.rests})
	w.mu.Unlock()
	for _, d := range all {
		w.disturb(nil, d)
		effectOf(d.kind).rested(w, d)
		w.altered = w.altered || stays(d.kind)
	}
	return len(all) > 0
}

// references are the runs with which others are compared. Each is played when it is needed first, and kept.
type references struct {
	play func(schedule) *outcome // compares with nothing

	mu   sync.Mutex
	runs map[string]func() *outcome // by schedule
}

// of returns the run of a schedule.
func (r *references) of(which schedule) *outcome {
	r.mu.Lock()
	run := r.runs[which.String()]
	if run == nil {
		run = sync.OnceValue(func() *outcome { return r.play(which) })
		if r.runs == nil {
			r.runs = map[string]func() *outcome{}
		}
		r.runs[which.String()] = run
	}
	r.mu.Unlock()
	return run()
}
