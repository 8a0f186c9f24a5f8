package explore

import (
	"fmt"
	"slices"
	"strings"
)

// stays reports whether the kind is a person's edit that stays, so that the state may differ from then on.
func stays(k kind) bool {
	return slices.ContainsFunc(edits(), func(e edit) bool { return e.kind == k })
}

// edited returns the edits of a schedule that stay and are made at rest. A run of such edits alone is not compared:
// other runs are compared with it.
func (s schedule) edited() (at schedule) {
	for _, d := range s {
		if d.place.class == atRest && stays(d.kind) {
			at = append(at, d)
		}
	}
	return at
}

// orders returns the schedules of the runs whose states are right for this run. An edit at a request may have the
// effect of an edit at the rest before the request, or at the rest after it. Or it has no effect, because the program
// writes the same field next. The first schedule makes each edit at the rest after the request.
func (w *world) orders() (all []schedule) {
	all = []schedule{w.schedule.edited()}
	w.mu.Lock()
	compared := slices.Clone(w.compared)
	w.mu.Unlock()
	for _, d := range compared {
		var more []schedule
		earlier := d
		earlier.place.number--
		for _, before := range all {
			more = append(more, append(slices.Clone(before), d))
			if earlier.place.number > 0 {
				more = append(more, append(slices.Clone(before), earlier))
			}
			more = append(more, before)
		}
		all = more
	}
	return all
}

// unlike is a wrong state at rest, with the state that was wanted.
type unlike struct {
	want, is state
	story    story // of the run that has the wanted state
}

// compare records the state at rest and, if sure, compares it with the right states. If sure is false, no disturbance
// has happened yet, so compare does not compare.
func (w *world) compare(sure bool) {
	is, err := w.state()
	if err != nil {
		w.found("%v", err)
	}
	w.states = append(w.states, is)
	at := len(w.states) - 1
	if w.ask == nil || !sure || len(w.ends) > 0 || w.unlike != nil || w.isReference() || w.isRight(at) {
		return
	}
	w.beSure()
	if w.states[at], err = w.state(); err != nil {
		w.found("%v", err)
	}
	if w.isRight(at) {
		return
	}
	if all := len(w.ask(nil).states); at < all-1 {
		w.found("when the history rests the %s time of %d, the state is not as it should be:", ordinal(at+1), all)
	}
	right := w.ask(w.orders()[0])
	w.unlike = &unlike{right.states[at], w.states[at], right.story}
	for _, line := range w.explain(w.unlike.want, w.unlike.is) {
		w.found("%s", line)
	}
}

func ordinal(n int) string {
	switch n {
	case 1:
		return "first"
	case 2:
		return "second"
	case 3:
		return "third"
	}
	return fmt.Sprintf("%dth", n)
}

// isReference reports whether other runs are compared with this run, which itself is not compared.
func (w *world) isReference() bool {
	edited := len(w.schedule.edited())
	return edited > 0 && edited == len(w.schedule)
}

// isRight reports whether the state at a rest equals that of a run in orders, or of the run without disturbances.
func (w *world) isRight(at int) bool {
	return slices.ContainsFunc(slices.Insert(w.orders(), 0, nil), func(order schedule) bool {
		states := w.ask(order).states
		return at < len(states) && len(differences(states[at], w.states[at])) == 0
	})
}

// checkHarm reports harm to objects of others that the program does in this run, but neither in a run in orders nor in
// the run without disturbances.
func (w *world) checkHarm() {
	if w.ask == nil || w.isReference() {
		return
	}
	for _, line := range w.ledger.harm {
		usual := slices.ContainsFunc(slices.Insert(w.orders(), 0, nil), func(order schedule) bool {
			return slices.Contains(w.ask(order).harm, line)
		})
		if !usual {
			w.found("%s", line)
		}
	}
}

// explain returns the differences of a state. It adds a reason in words where the ledger knows who made or deleted the
// object.
func (w *world) explain(want, is state) (lines []string) {
	for _, line := range differences(want, is) {
		if name, found := strings.CutSuffix(line, leftOver); found {
			line += w.surplus(name, want)
		} else if name, found := strings.CutSuffix(line, notThere); found {
			if r := w.ledger.last(name); r != nil && r.deleted != "" {
				line += fmt.Sprintf(": %s deleted it, and it was not made again", r.deleted)
			}
		} else if name, _, found := strings.Cut(line, " differs ("); found && strings.Contains(line, "\n  + metadata.deletionTimestamp") {
			line += w.unfinished(name)
		}
		lines = append(lines, line)
	}
	return lines
}

// described returns a text of explain. If only one of the states has the object, described adds all of its fields.
func (o *outcome) described(text string) string {
	if o.unlike == nil {
		return text
	}
	for _, end := range []string{notThere, leftOver} {
		if name, words, found := strings.Cut(text, end); found {
			return strings.Replace(described(name+end, o.unlike.want, o.unlike.is), end, end+words, 1)
		}
	}
	return text
}

// surplus explains why an object is left over.
func (w *world) surplus(name string, want state) string {
	kind, number, several := strings.Cut(name, " (")
	r := w.ledger.last(kind)
	switch {
	case r == nil || r.made != byProgram:
		return ""
	case several && want[kind] != nil:
		return fmt.Sprintf(": the program made it %s times", strings.TrimSuffix(number, ")"))
	case len(r.meta.OwnerReferences) == 0:
		return ": the program made it, and it is left over without an owner"
	}
	for _, o := range r.meta.OwnerReferences {
		if owner := w.ledger.get(o.UID); owner == nil || owner.present {
			return ": the program made it, and it is left over"
		}
	}
	return ": the program made it, and it is left over although its owners have gone"
}

// unfinished explains why an object is still being deleted.
func (w *world) unfinished(name string) string {
	r := w.ledger.last(name)
	if r == nil || len(r.meta.Finalizers) == 0 {
		return ""
	}
	return fmt.Sprintf("\n  its deletion does not end, because nobody removes the finalizers %q: a cleanup that was due was not done", r.meta.Finalizers)
}

// last returns the last object with a name; nil if there never was one.
func (l *ledger) last(name string) *record {
	for _, r := range slices.Backward(l.records) {
		if r.name() == name {
			return r
		}
	}
	return nil
}
