package informer

import (
	"fmt"
	"testing"
	"time"
)

const long = time.Minute

// The whole of architecture's recovery table, as arrows of the machine.
func TestMachine(t *testing.T) {
	watching := state{phase: Watching, version: "5"}
	listing := state{phase: Listing, cause: Initial}
	waitFor := func(s state, then State) state { s.phase, s.then = Waiting, then; return s }
	relisting := func(cause Cause) state { return state{phase: Waiting, then: Listing, cause: cause} }
	for _, test := range []struct {
		name string
		s    state
		in   input
		want state
		todo effect
	}{
		{
			"a complete list is followed by a watch from its version",
			listing,
			input{outcome: done, version: "7"},
			state{phase: Watching, version: "7"},
			effect{action: watch},
		},
		{
			"a list that fails in passing is tried again after a backoff",
			listing,
			input{outcome: transient},
			waitFor(listing, Listing),
			effect{action: wait, pace: backoff},
		},
		{
			"Retry-After is a floor (fault F7)",
			listing,
			input{outcome: transient, floor: 7 * time.Second},
			waitFor(listing, Listing),
			effect{action: wait, pace: backoff, floor: 7 * time.Second},
		},
		{
			"a list that is refused is tried again slowly (behaviour 247, fault F29)",
			listing,
			input{outcome: refused},
			waitFor(listing, Listing),
			effect{action: wait, pace: slow},
		},
		{
			"a list of a resource that is not there is tried again slowly (fault F40)",
			listing,
			input{outcome: absent},
			waitFor(listing, Listing),
			effect{action: wait, pace: slow},
		},
		{
			"a stale first list that is not to be had becomes a consistent one (behaviours 172, 174)",
			state{phase: Listing, cause: Initial, stale: true},
			input{outcome: expired},
			state{phase: Waiting, then: Listing, cause: Initial},
			effect{action: wait, pace: backoff},
		},
		{
			"410 in the middle of paging starts the list again (fault F10)",
			state{phase: Listing, cause: Expired},
			input{outcome: expired},
			relisting(Expired),
			effect{action: wait, pace: backoff},
		},
		{
			"a list of the wrong kind is tried again",
			listing,
			input{outcome: inapplicable},
			waitFor(listing, Listing),
			effect{action: wait, pace: backoff},
		},
		{
			"a watch that ends well is opened again at once, where it was (behaviour 180, fault F4)",
			watching,
			input{outcome: done, version: "9", delivered: true, lived: long},
			state{phase: Watching, version: "9"},
			effect{action: watch},
		},
		{
			"an idle watch that ends well is opened again at once",
			watching,
			input{outcome: done, lived: long},
			watching,
			effect{action: watch},
		},
		{
			"a short watch that brought something is opened again gently",
			watching,
			input{outcome: done, version: "9", delivered: true, lived: 10 * time.Millisecond},
			waitFor(state{version: "9"}, Watching),
			effect{action: wait, pace: gentle},
		},
		{
			"a short empty watch is opened again after a backoff (behaviour 179)",
			watching,
			input{outcome: done, lived: 10 * time.Millisecond},
			waitFor(state{version: "5", empty: 1}, Watching),
			effect{action: wait, pace: backoff},
		},
		{
			"the third short empty watch leads to a relist (fault F4)",
			state{phase: Watching, version: "5", empty: 2},
			input{outcome: done, lived: 10 * time.Millisecond},
			relisting(Refused),
			effect{action: wait, pace: gentle},
		},
		{
			"an event forgives short empty watches",
			state{phase: Watching, version: "5", empty: 2},
			input{outcome: done, version: "6", delivered: true, lived: time.Millisecond},
			waitFor(state{version: "6"}, Watching),
			effect{action: wait, pace: gentle},
		},
		{
			"a watch that never opened is tried again at the same version (behaviours 175, 176, fault F8)",
			watching,
			input{outcome: transient},
			waitFor(watching, Watching),
			effect{action: wait, pace: backoff},
		},
		{
			"a watch that broke after events resumes after the last of them (fault F2)",
			watching,
			input{outcome: transient, version: "8", delivered: true, lived: long},
			waitFor(state{version: "8"}, Watching),
			effect{action: wait, pace: gentle},
		},
		{
			"410 leads to a relist (fault F6)",
			watching,
			input{outcome: expired, version: "8", delivered: true},
			relisting(Expired),
			effect{action: wait, pace: gentle},
		},
		{
			"410 after a relist that was of use",
			state{phase: Watching, version: "5", relist: true},
			input{outcome: expired, version: "8", delivered: true, lived: long},
			relisting(Expired),
			effect{action: wait, pace: gentle},
		},
		{
			"a relist is remembered until a watch has lasted",
			state{phase: Listing, cause: Expired},
			input{outcome: done, version: "7"},
			state{phase: Watching, version: "7", relist: true},
			effect{action: watch},
		},
		{
			"410 after a relist leads to a relist after a backoff, so that no server makes it spin",
			state{phase: Watching, version: "5", relist: true},
			input{outcome: expired, version: "6", delivered: true},
			state{phase: Waiting, then: Listing, cause: Expired, relist: true},
			effect{action: wait, pace: backoff},
		},
		{
			"a version from the future leads to a consistent list after what the server asks (fault F9)",
			watching,
			input{outcome: tooLarge, floor: time.Second},
			relisting(TooLarge),
			effect{action: wait, pace: gentle, floor: time.Second},
		},
		{
			"403 on a watch keeps the version and goes slowly",
			watching,
			input{outcome: refused},
			waitFor(watching, Watching),
			effect{action: wait, pace: slow},
		},
		{
			"404 on a watch leads to a relist, because what happened meanwhile is unknown (fault F40)",
			watching,
			input{outcome: absent},
			relisting(Absent),
			effect{action: wait, pace: slow},
		},
		{
			"an event that cannot be applied is asked for again (behaviour 45, fault F20)",
			watching,
			input{outcome: inapplicable, version: "6", delivered: true},
			waitFor(state{version: "6", broken: 1}, Watching),
			effect{action: wait, pace: gentle},
		},
		{
			"the third event that cannot be applied leads to a relist",
			state{phase: Watching, version: "6", broken: 2},
			input{outcome: inapplicable},
			relisting(Reset),
			effect{action: wait, pace: gentle},
		},
		{
			"a source that cannot be asked ends it",
			listing,
			input{outcome: unusable},
			state{phase: Idle, cause: Initial},
			effect{action: stop},
		},
		{
			"after a wait comes the watch that was waited for",
			waitFor(watching, Watching),
			input{},
			state{phase: Watching, then: Watching, version: "5"},
			effect{action: watch},
		},
		{
			"after a wait comes the list that was waited for",
			relisting(Expired),
			input{},
			state{phase: Listing, then: Listing, cause: Expired},
			effect{action: list},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, todo := next(test.s, test.in)
			if s != test.want || todo != test.todo {
				t.Errorf("next(%+v, %+v)\n = %+v, %+v\nwant %+v, %+v", test.s, test.in, s, todo, test.want, test.todo)
			}
		})
	}
}

func TestStart(t *testing.T) {
	for _, test := range []struct {
		name  string
		s     state
		stale bool
		want  state
		todo  effect
	}{
		{
			"an empty cache is filled with a consistent list",
			state{},
			false,
			state{phase: Listing, cause: Initial},
			effect{action: list},
		},
		{
			"or with a stale one where that is allowed",
			state{},
			true,
			state{phase: Listing, cause: Initial, stale: true},
			effect{action: list},
		},
		{
			"a Run after another resumes its watch",
			state{phase: Waiting, then: Watching, version: "5"},
			true,
			state{phase: Watching, then: Watching, version: "5"},
			effect{action: watch},
		},
		{
			"a relist that was due when a Run ended is due in the next, and not stale",
			state{phase: Waiting, then: Listing, cause: Expired},
			true,
			state{phase: Listing, then: Listing, cause: Expired},
			effect{action: list},
		},
		{
			"a stale first list that was not to be had is not asked for again by the next Run",
			state{phase: Waiting, then: Listing, cause: Initial},
			true,
			state{phase: Listing, then: Listing, cause: Initial},
			effect{action: list},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if s, todo := start(test.s, test.stale); s != test.want || todo != test.todo {
				t.Errorf("start = %+v, %+v, want %+v, %+v", s, todo, test.want, test.todo)
			}
		})
	}
}

// FuzzMachine drives the machine with any inputs, and checks what must hold whatever happens.
func FuzzMachine(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 255, 254, 128, 64})
	f.Fuzz(func(t *testing.T, script []byte) {
		s, todo := start(state{}, false)
		applied := "" // the newest version that the store has
		for i, b := range script {
			in := input{
				outcome: outcome(b % 8), delivered: b&0x80 != 0,
				lived: time.Duration(b&0x40) * time.Second, floor: time.Duration(b&0x20) * time.Second,
			}
			version := fmt.Sprint(i + 1)
			switch todo.action {
			case list:
				if in.outcome == done {
					in.version, applied = version, version
				}
			case watch:
				if s.version == "" {
					t.Fatalf("step %d: a watch without a version: %+v", i, s)
				}
				if s.version != applied {
					t.Fatalf("step %d: a watch from version %s, but %s was applied last", i, s.version, applied)
				}
				if in.delivered {
					in.version, applied = version, version
				}
			case wait:
				in = input{}
			case stop:
				return
			}
			before, did := s, todo
			s, todo = next(s, in)
			switch {
			case (todo.action == stop) != (in.outcome == unusable):
				t.Fatalf("step %d: outcome %d, action %d", i, in.outcome, todo.action)
			case did.action == wait && todo.action == wait:
				t.Fatalf("step %d: a wait after a wait: %+v -> %+v", i, before, s)
			case did.action != wait && todo.action == list:
				t.Fatalf("step %d: a list without a wait before it: %+v -> %+v", i, before, s)
			case did.action == list && in.outcome == done && todo.action != watch:
				t.Fatalf("step %d: a complete list is not followed by a watch: %+v", i, s)
			case did.action == watch && in.outcome != expired && in.outcome != tooLarge && in.outcome != absent &&
				in.outcome != inapplicable && in.outcome != done && s.version == "":
				t.Fatalf("step %d: a relist for outcome %d: %+v", i, in.outcome, s)
			case todo.floor != 0 && todo.floor != in.floor:
				t.Fatalf("step %d: the floor %v is not the server's %v", i, todo.floor, in.floor)
			}
		}
	})
}
