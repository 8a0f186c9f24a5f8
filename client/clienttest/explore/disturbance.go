package explore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// disturbance is something that goes wrong at one place of a run.
type disturbance struct {
	kind     kind
	resource string // for lag
	place    place
}

// place is the number of a request among those of its class, as in update:pods/status:3, or of a step of the history, as
// in step:3. The other requests of a run may come in another order each time.
type place struct {
	class  string
	number int
}

// step is the class of the steps of the history.
const step = "step"

// kind is what goes wrong.
type kind string

// The kinds of disturbances. Doc.go explains them.
const (
	crashBefore kind = "crash-before" // a replica dies before its request is sent
	crashAfter  kind = "crash-after"  // a replica dies after its request was served, and before the answer
	lostAnswer  kind = "lost-answer"  // a request is served, and the connection breaks before the answer
	timeout     kind = "timeout"      // a request is served, and the answer is 504
	failure     kind = "failure"      // a request is answered with 500, and not served
	throttled   kind = "throttled"    // a request is answered with 429 and Retry-After, and not served
	slow        kind = "slow"         // the answer takes a while
	late        kind = "late"         // nothing of a replica gets through for a while, and then everything does
	touched     kind = "touched"      // another writer changes the object right before the request
	lag         kind = "lag"          // the watches of one resource say nothing for a while
	unseen      kind = "unseen"       // no watch and no list is served during two steps of the history
)

func kinds() []kind {
	return []kind{crashBefore, crashAfter, lostAnswer, timeout, failure, throttled, slow, late, touched, lag, unseen}
}

// disturbancesAt returns what may go wrong at a request of a program that watches some resources.
func disturbancesAt(p *point, watched []string) (all []disturbance) {
	add := func(kinds ...kind) {
		for _, kind := range kinds {
			all = append(all, disturbance{kind: kind, place: p.place})
		}
	}
	if p.request.Verb == "watch" {
		add(crashBefore, failure)
		return all
	}
	add(crashBefore, crashAfter, failure, throttled, slow)
	if !p.writes() {
		return all
	}
	add(lostAnswer, timeout, late)
	if p.request.Key.Name != "" && p.request.Verb != "create" {
		add(touched)
	}
	for _, resource := range watched {
		all = append(all, disturbance{lag, resource, p.place})
	}
	return all
}

// String returns the disturbance as in crash-after@update:pods/status:3 or lag-pods@create:pods:1.
func (d disturbance) String() string {
	text := string(d.kind)
	if d.resource != "" {
		text += "-" + d.resource
	}
	return text + "@" + d.place.class + ":" + strconv.Itoa(d.place.number)
}

// parseDisturbance reads a disturbance as String writes it.
func parseDisturbance(text string) (disturbance, error) {
	name, where, _ := strings.Cut(text, "@")
	d := disturbance{kind: kind(name)}
	if resource, lags := strings.CutPrefix(name, string(lag)+"-"); lags && resource != "" {
		d.kind, d.resource = lag, resource
	}
	colon := max(0, strings.LastIndexByte(where, ':'))
	number, err := strconv.Atoi(strings.TrimPrefix(where[colon:], ":"))
	d.place = place{where[:colon], number}
	if err != nil || number < 1 || !slices.Contains(kinds(), d.kind) || (d.kind == lag) != (d.resource != "") ||
		d.place.class == "" || (d.kind == unseen) != (d.place.class == step) {
		example := disturbance{kind: crashAfter, place: place{"update:pods/status", 3}}
		return d, fmt.Errorf("explore: a disturbance must be such as %s, got %q", example, text)
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

// at returns what goes wrong at a request.
func (s schedule) at(where place) disturbance {
	for _, d := range s {
		if d.place == where {
			return d
		}
	}
	return disturbance{}
}

// hides reports whether watches and lists are away during a step of the history.
func (s schedule) hides(number int) bool {
	return slices.ContainsFunc(s, func(d disturbance) bool {
		return d.kind == unseen && (d.place.number == number || d.place.number+1 == number)
	})
}
