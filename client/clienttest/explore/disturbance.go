package explore

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// disturbance is a fault, or a change by others, at one place of a run.
type disturbance struct {
	kind     kind
	argument string // such as the resource of lag; empty for a kind without an argument
	place    place
}

// place is the number of a request among the requests of its class, as in update:pods/status:3, or the number of a step
// of the history, as in step:3. Numbers are by class because requests of different classes may come in another order in
// each run.
type place struct {
	class  string
	number int
}

// String returns the place in the form that placeOf reads.
func (p place) String() string { return p.class + ":" + strconv.Itoa(p.number) }

// placeOf reads a place. If the text is not a place, the number is 0.
func placeOf(text string) place {
	colon := max(0, strings.LastIndexByte(text, ':'))
	number, err := strconv.Atoi(strings.TrimPrefix(text[colon:], ":"))
	if err != nil {
		number = 0
	}
	return place{text[:colon], number}
}

// step is the class of the steps of the history.
const step = "step"

// kind is the name of a kind of disturbance.
type kind string

// effect defines how a kind of disturbance works. The search and the scheduler know nothing else about the kind.
type effect struct {
	kind kind

	// at returns the arguments with which the disturbance may happen at a request of the run want. It returns nil if
	// the disturbance cannot happen there, and once(true) for a kind without an argument. If at is nil, the disturbance
	// does not happen at requests.
	at func(p *point, want *result) (arguments []string)

	// prepare, if set, changes the world right before the scheduler lets the request through. The scheduler calls it.
	prepare func(w *world, p *point, d disturbance)

	// serve, if set, answers the request instead of next, which would answer it undisturbed. The goroutine of the
	// request calls it.
	serve func(p *point, d disturbance, rw http.ResponseWriter, r *http.Request, next http.HandlerFunc)

	// plan, if set, prepares a run before its server starts.
	plan func(w *world, d disturbance)

	// begin changes the world before a step of the history, and end undoes the change when this many steps are done.
	// The scheduler calls both. If end is nil, begin also arranges the undoing. stepAt returns the arguments, as at
	// does; a nil stepAt means once(true).
	begin, end func(w *world, d disturbance)
	steps      int
	stepAt     func(number int, want *result) (arguments []string)

	// leaves, if set, describes all that the future depends on besides the state in which the disturbance happens. Two
	// disturbances with the same description in equal states have the same future. leaves returns "" for a request at
	// which such a description would be incomplete. It is nil for a kind that also has consequences later.
	leaves func(p *point) string

	// rested, if set, makes the disturbance happen when the program has come to rest, in a run with which other runs
	// are compared; see [world.compareWith]. The scheduler calls it.
	rested func(w *world, d disturbance)

	// argued reports whether the disturbance takes an argument. check, if set, returns an error for an invalid
	// argument.
	argued bool
	check  func(argument string) error
}

// effects are the kinds of disturbances, in the order in which the search tries them.
var effects = sync.OnceValue(func() []effect {
	return slices.Concat(
		crashes(), answers(), delays(), lags(), touches(), staleness(),
		refusals(), permissions(), persons(), claimed(), clusters(),
	)
})

// effectOf returns the effect of a kind; nil if there is no such kind.
func effectOf(k kind) *effect {
	for i, e := range effects() {
		if e.kind == k {
			return &effects()[i]
		}
	}
	return nil
}

// happensAt reports whether the disturbance may happen at a place.
func (e *effect) happensAt(p place) bool {
	switch p.class {
	case "":
		return false
	case step:
		return e.begin != nil
	case atRest:
		return e.rested != nil
	}
	return e.at != nil
}

// once returns the result of an effect's at for a kind without an argument: one empty argument, or nil if the
// disturbance does not apply.
func once(applies bool) []string {
	if applies {
		return []string{""}
	}
	return nil
}

// disturbancesAt returns the disturbances that may happen at a request of a run.
func disturbancesAt(p *point, want *result) (all []disturbance) {
	for _, e := range effects() {
		if e.at == nil {
			continue
		}
		for _, argument := range e.at(p, want) {
			all = append(all, disturbance{e.kind, argument, p.place})
		}
	}
	return all
}

// disturbancesOfStep returns the disturbances that may happen at a step of the history.
func disturbancesOfStep(number int, want *result) (all []disturbance) {
	for _, e := range effects() {
		if e.begin == nil {
			continue
		}
		arguments := once(true)
		if e.stepAt != nil {
			arguments = e.stepAt(number, want)
		}
		for _, argument := range arguments {
			all = append(all, disturbance{e.kind, argument, place{step, number}})
		}
	}
	return all
}

// String returns the disturbance as in crash-after@update:pods/status:3 or lag-pods@create:pods:1.
func (d disturbance) String() string {
	text := string(d.kind)
	if d.argument != "" {
		text += "-" + d.argument
	}
	return text + "@" + d.place.String()
}

// parseDisturbance reads a disturbance in the form that String writes.
func parseDisturbance(text string) (disturbance, error) {
	name, where, _ := strings.Cut(text, "@")
	d := disturbance{}
	for _, e := range effects() {
		argument, follows := strings.CutPrefix(name, string(e.kind)+"-")
		switch {
		case e.argued && follows && argument != "":
			d.kind, d.argument = e.kind, argument
		case !e.argued && name == string(e.kind):
			d.kind, d.argument = e.kind, ""
		}
	}
	d.place = placeOf(where)
	if d.place.number < 1 || d.kind == "" || !effectOf(d.kind).happensAt(d.place) {
		example := disturbance{kind: crashAfter, place: place{"update:pods/status", 3}}
		return d, fmt.Errorf("explore: a disturbance must be such as %s, got %q", example, text)
	}
	if check := effectOf(d.kind).check; check != nil {
		return d, check(d.argument)
	}
	return d, nil
}

// schedule is the disturbances of a run.
type schedule []disturbance

func (s schedule) String() string {
	texts := make([]string, len(s))
	for i, d := range s {
		texts[i] = d.String()
	}
	return strings.Join(texts, ",")
}

// parseSchedule reads a schedule in the form that String writes.
func parseSchedule(text string) (s schedule, err error) {
	for one := range strings.SplitSeq(text, ",") {
		d, err := parseDisturbance(one)
		if err != nil {
			return nil, err
		}
		s = append(s, d)
	}
	return s, nil
}

// at returns the disturbances at a place.
func (s schedule) at(where place) (all []disturbance) {
	for _, d := range s {
		if d.place == where {
			all = append(all, d)
		}
	}
	return all
}

// takes reports whether another disturbance may happen in the same run. It applies these rules:
//
//   - A schedule has at most one change by a person or another program, because two may undo each other: a person who
//     removes the owner references also removes the one that another program added.
//   - At most one disturbance happens at steps of the history: a program that sees none of the steps rightly does
//     nothing.
//   - Nobody edits an object during a disturbance that lasts for several steps: without that disturbance, the program
//     could repair the edit before the next step.
func (s schedule) takes(d disturbance) bool {
	for _, is := range s {
		switch {
		case d.kind.isOfOthers() && is.kind.isOfOthers(), d.place.class == step && is.place.class == step,
			d.isLong() && stays(is.kind), stays(d.kind) && is.isLong():
			return false
		}
	}
	return true
}

// isLong reports whether the disturbance lasts until a later step of the history.
func (d disturbance) isLong() bool { return d.place.class == step && effectOf(d.kind).end != nil }

// isOfOthers reports whether the kind is a change by a person or another program.
func (k kind) isOfOthers() bool {
	return stays(k) || k == stranger || slices.ContainsFunc(claims(), func(c claim) bool { return c.kind == k })
}
