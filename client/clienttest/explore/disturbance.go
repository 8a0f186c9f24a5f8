package explore

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// disturbance is something that goes wrong at one place of a run.
type disturbance struct {
	kind     kind
	argument string // of kinds that take one, such as the resource of lag
	place    place
}

// place is the number of a request among those of its class, as in update:pods/status:3, or of a step of the history,
// as in step:3. The other requests of a run may come in another order each time.
type place struct {
	class  string
	number int
}

// String returns the place as placeOf reads it.
func (p place) String() string { return p.class + ":" + strconv.Itoa(p.number) }

// placeOf reads a place. The number of a text that is not a place is 0.
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

// kind is the name of what goes wrong.
type kind string

// effect is how a kind of disturbance works. The search and the scheduler know nothing else of it.
type effect struct {
	kind kind

	// at returns the arguments with which the disturbance may happen at a request of the run want: nil for nowhere, and
	// once for a kind without an argument. If it is nil, the disturbance does not happen at requests.
	at func(p *point, want *result) (arguments []string)

	// prepare, if set, changes the world right before the request is let through. It is called by the scheduler.
	prepare func(w *world, p *point, d disturbance)

	// serve, if set, answers the request instead of next, which answers it as if nothing went wrong. It is called in
	// the goroutine of the request.
	serve func(p *point, d disturbance, rw http.ResponseWriter, r *http.Request, next http.HandlerFunc)

	// plan, if set, prepares a run before its server starts.
	plan func(w *world, d disturbance)

	// begin changes the world before a step of the history, and end undoes that after so many steps. They are called by
	// the scheduler. Without an end, begin undoes itself. stepAt returns the arguments, as at does; nil is for once.
	begin, end func(w *world, d disturbance)
	steps      int
	stepAt     func(number int, want *result) (arguments []string)

	// leaves, if set, says what the disturbance leaves behind besides the state in which it happens, which is all that
	// the future depends on: two that leave the same in equal states lead to the same. It returns "" for a request at
	// which there is more to say, and it is nil for a kind that has consequences later.
	leaves func(p *point) string

	// rested does the same when the program has come to rest, in a run with which others are compared; see
	// [world.compareWith]. It is called by the scheduler.
	rested func(w *world, d disturbance)

	// argued reports whether the disturbance takes an argument. check, if set, says what is wrong with one.
	argued bool
	check  func(argument string) error
}

// effects are the kinds of disturbances, in the order in which they are tried.
var effects = sync.OnceValue(func() []effect {
	return slices.Concat(
		crashes(), answers(), delays(), lags(), touches(), staleness(),
		refusals(), permissions(), persons(), claimed(), clusters(),
	)
})

// effectOf returns how a kind works; nil if there is no such kind.
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

// once is what an effect's at returns for a kind without an argument.
func once(applies bool) []string {
	if applies {
		return []string{""}
	}
	return nil
}

// disturbancesAt returns what may go wrong at a request of a run.
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

// disturbancesOfStep returns what may go wrong at a step of the history.
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

// parseDisturbance reads a disturbance as String writes it.
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

// schedule is what goes wrong in a run.
type schedule []disturbance

func (s schedule) String() string {
	texts := make([]string, len(s))
	for i, d := range s {
		texts[i] = d.String()
	}
	return strings.Join(texts, ",")
}

// parseSchedule reads a schedule as String writes it.
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

// at returns what goes wrong at a place.
func (s schedule) at(where place) (all []disturbance) {
	for _, d := range s {
		if d.place == where {
			all = append(all, d)
		}
	}
	return all
}

// takes reports whether another disturbance may happen in the same run. These rules limit what may:
//
//   - People and other programs do one thing, because two may undo each other: a person who takes away the owner
//     references also takes that of another program.
//   - One thing goes wrong during steps of the history: a program that sees nothing of all of it rightly does nothing.
//   - Nobody edits an object while a program sees nothing during several steps: it could mend the edit before the next
//     step otherwise.
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

// isOfOthers reports whether a person or another program does it.
func (k kind) isOfOthers() bool {
	return stays(k) || k == stranger || slices.ContainsFunc(claims(), func(c claim) bool { return c.kind == k })
}
