package explore

import "sync"

// atRest is the class of the places at which the world is at rest: rest:3 is the third rest of the history.
const atRest = "rest"

// compareWith has the run compared with a run in which a disturbance happens at rest. It is for disturbances that
// rightly lead to another state: an edit at a request, for example, is compared with the same edit at rest. The kind
// must have a rested function, and the argument must name the object if the kind changes one.
//
// In the compared run the disturbance happens at the next rest of the history or at the rest before. A run that calls
// compareWith more than once is compared with runs in which all of these disturbances happen. See [world.orders].
func (w *world) compareWith(k kind, argument string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.altered = true
	w.compared = append(w.compared, disturbance{k, argument, place{atRest, w.rests + 1}})
}

// disturbRest makes the disturbances of a rest happen, after the program has come to rest. It reports whether there
// were any.
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

// references are the runs with which other runs are compared. Each is played when it is first needed, and then kept.
type references struct {
	play func(schedule) *outcome // plays a run that is compared with no other

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
