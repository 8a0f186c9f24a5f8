package explore

import "testing/synctest"

// The kinds of disturbances that hide events.
const (
	lag    kind = "lag"    // a resource's watches bring no events for a while, or during two steps of the history
	unseen kind = "unseen" // lists and watches are not served during two steps, and the server then forgets its history
)

func lags() []effect {
	return []effect{
		{
			kind: lag, argued: true, at: lagsAt, prepare: holdWatches,
			stepAt: func(_ int, want *result) []string { return want.watched() }, begin: beginLag, end: endLag, steps: 2,
		},
		{kind: unseen, begin: hide, end: reveal, steps: 2},
	}
}

func lagsAt(p *point, want *result) []string {
	if !p.writes() {
		return nil
	}
	return want.watched()
}

func holdWatches(w *world, p *point, d disturbance) {
	w.tell("replica %s sees nothing of %s from now on", p.life.name, d.argument)
	w.holdFor(func() {}, silence{p.life, events, d.argument})
}

// beginLag holds the watches of all replicas.
func beginLag(w *world, d disturbance) {
	w.tell("all replicas see nothing of %s from now on", d.argument)
	w.hold(silence{nil, events, d.argument})
}

// endLag undoes beginLag.
func endLag(w *world, d disturbance) {
	w.tell("all replicas see %s again", d.argument)
	w.release(silence{nil, events, d.argument})
}

// hide cuts all watches. From then on the scheduler lets no list and no watch through.
func hide(w *world, _ disturbance) {
	w.mu.Lock()
	w.hidden++
	first := w.hidden == 1
	for _, cut := range w.watches {
		cut()
	}
	w.mu.Unlock()
	if first {
		w.tell("no list and no watch is served from now on")
	}
	synctest.Wait()
}

// reveal undoes hide. The server forgets its history, so a new list fills each cache, and no program sees the states in
// between.
func reveal(w *world, _ disturbance) {
	w.mu.Lock()
	w.hidden--
	last := w.hidden == 0
	w.wake()
	w.mu.Unlock()
	if last {
		w.server.Compact()
		w.tell("lists and watches are served again, and start from the present")
	}
}
