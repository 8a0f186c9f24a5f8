package informer

import (
	"testing"
	"time"
)

const long = time.Minute

// The whole of architecture's recovery table, as arrows of the machine.
func TestMachine(t *testing.T) {
	watching := state{phase: Watching, version: "5"}
	listing := state{phase: Listing, cause: Initial}
	streaming := state{phase: Listing, way: streamed, cause: Initial}
	waitFor := func(s state, then State) state { s.phase, s.then = Waiting, then; return s }
	polled := func(s state) state { s.phase, s.then, s.cause, s.polling = Waiting, Listing, Polled, true; return s }
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
			state{phase: Watching, version: "7", seen: "7"},
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
			"a list that is refused is tried again slowly",
			listing,
			input{outcome: refused},
			waitFor(listing, Listing),
			effect{action: wait, pace: slow},
		},
		{
			"a list that is forbidden is tried again slowly (behaviour 247, fault F29)",
			listing,
			input{outcome: forbidden},
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
			"a token that expires in the middle of paging starts the list again (behaviour 173, fault F10)",
			state{phase: Listing, cause: Expired},
			input{outcome: outdated},
			state{phase: Waiting, then: Listing, cause: Expired, expired: 1},
			effect{action: wait, pace: backoff},
		},
		{
			"after one token has expired comes another paged list (fault F10)",
			state{phase: Waiting, then: Listing, mode: Paged, cause: Expired, expired: 1},
			input{},
			state{phase: Listing, then: Listing, mode: Paged, cause: Expired, expired: 1},
			effect{action: list},
		},
		{
			"after two tokens have expired comes a list in one page (fault F10)",
			state{phase: Waiting, then: Listing, mode: Paged, cause: Expired, expired: 2},
			input{},
			state{phase: Listing, then: Listing, way: whole, mode: Paged, cause: Expired, expired: 2},
			effect{action: list},
		},
		{
			"a list that is older than the cache is repeated and replaces everything (a rollback)",
			state{phase: Listing, cause: Expired, seen: "9"},
			input{outcome: older},
			state{phase: Waiting, then: Listing, cause: Reset, afresh: true},
			effect{action: wait, pace: gentle},
		},
		{
			"a stale list that is older than the cache is followed by a consistent one (fault F33)",
			state{phase: Listing, cause: Initial, seen: "9", stale: true},
			input{outcome: older},
			state{phase: Waiting, then: Listing, cause: Initial, seen: "9"},
			effect{action: wait, pace: gentle},
		},
		{
			"a version from the future in a list leads to a consistent one, after a wait (behaviour 174, fault F9)",
			state{phase: Listing, cause: Initial, stale: true},
			input{outcome: tooLarge, floor: time.Second},
			state{phase: Waiting, then: Listing, cause: Initial},
			effect{action: wait, pace: backoff, floor: time.Second},
		},
		{
			"after a wait comes a streaming list, where that is not known to fail (behaviour 198)",
			state{phase: Waiting, then: Listing, cause: Expired},
			input{},
			state{phase: Listing, then: Listing, way: streamed, cause: Expired},
			effect{action: stream},
		},
		{
			"and where it is known to work",
			state{phase: Waiting, then: Listing, cause: Expired},
			input{streams: has},
			state{phase: Listing, then: Listing, way: streamed, cause: Expired},
			effect{action: stream},
		},
		{
			"but not where it is known to fail",
			state{phase: Waiting, then: Listing, way: streamed, cause: Expired},
			input{streams: lacks},
			state{phase: Listing, then: Listing, cause: Expired},
			effect{action: list},
		},
		{
			"unless it must",
			state{phase: Waiting, then: Listing, mode: Streaming, cause: Expired},
			input{streams: lacks},
			state{phase: Listing, then: Listing, mode: Streaming, way: streamed, cause: Expired},
			effect{action: stream},
		},
		{
			"nor where it must not (behaviour 207)",
			state{phase: Waiting, then: Listing, mode: Paged, cause: Expired},
			input{streams: has},
			state{phase: Listing, then: Listing, mode: Paged, cause: Expired},
			effect{action: list},
		},
		{
			"the end bookmark makes a streaming list a watch (behaviours 199, 202)",
			state{phase: Listing, way: streamed, cause: Expired, expired: 1, broken: 2},
			input{outcome: done, version: "7"},
			state{phase: Watching, version: "7", seen: "7", relist: true},
			effect{action: follow, learned: has},
		},
		{
			"a streaming list that breaks is tried again (behaviour 201)",
			streaming,
			input{outcome: transient},
			state{phase: Waiting, then: Listing, way: streamed, cause: Initial, broken: 1},
			effect{action: wait, pace: backoff},
		},
		{
			"so is one that meets 429 (behaviour 204, fault F7)",
			streaming,
			input{outcome: busy, floor: 7 * time.Second},
			state{phase: Waiting, then: Listing, way: streamed, cause: Initial, broken: 1},
			effect{action: wait, pace: backoff, floor: 7 * time.Second},
		},
		{
			"one that expires is tried again, and not stale (behaviour 204)",
			state{phase: Listing, way: streamed, cause: Initial, stale: true},
			input{outcome: expired},
			state{phase: Waiting, then: Listing, way: streamed, cause: Initial, broken: 1},
			effect{action: wait, pace: backoff},
		},
		{
			"one that is forbidden becomes a paged one at once, and is no answer about streaming lists (fault F29)",
			streaming,
			input{outcome: forbidden},
			listing,
			effect{action: list},
		},
		{
			"which, when it is forbidden too, is followed by a streaming one, slowly",
			state{phase: Waiting, then: Listing, cause: Initial},
			input{},
			state{phase: Listing, then: Listing, way: streamed, cause: Initial},
			effect{action: stream},
		},
		{
			"one that is forbidden where nothing else is allowed is tried again slowly",
			state{phase: Listing, mode: Streaming, way: streamed, cause: Initial},
			input{outcome: forbidden},
			state{phase: Waiting, then: Listing, mode: Streaming, way: streamed, cause: Initial},
			effect{action: wait, pace: slow},
		},
		{
			"one that is refused becomes a paged one at once, and that is remembered (behaviour 203)",
			streaming,
			input{outcome: refused, streams: has},
			listing,
			effect{action: list, learned: lacks},
		},
		{
			"where nothing else is allowed it is tried again slowly",
			state{phase: Listing, mode: Streaming, way: streamed, cause: Initial},
			input{outcome: refused},
			state{phase: Waiting, then: Listing, mode: Streaming, way: streamed, cause: Initial},
			effect{action: wait, pace: slow},
		},
		{
			"one without an end becomes a paged one at once",
			streaming,
			input{outcome: unended},
			state{phase: Listing, cause: Initial, doubt: true},
			effect{action: list},
		},
		{
			"which, when it works, shows that the server has no streaming lists",
			state{phase: Listing, cause: Initial, doubt: true},
			input{outcome: done, version: "7"},
			state{phase: Watching, version: "7", seen: "7"},
			effect{action: watch, learned: lacks},
		},
		{
			"and when it fails, that neither can be had",
			state{phase: Listing, cause: Initial, doubt: true},
			input{outcome: transient},
			waitFor(listing, Listing),
			effect{action: wait, pace: backoff},
		},
		{
			"one without an end of a server that is known for ends is tried again",
			streaming,
			input{outcome: unended, streams: has},
			state{phase: Waiting, then: Listing, way: streamed, cause: Initial, broken: 1},
			effect{action: wait, pace: backoff},
		},
		{
			"until the third",
			state{phase: Listing, way: streamed, cause: Initial, broken: 2},
			input{outcome: unended, streams: has},
			state{phase: Listing, cause: Initial, doubt: true},
			effect{action: list},
		},
		{
			"where nothing else is allowed it is tried again for ever",
			state{phase: Listing, mode: Streaming, way: streamed, cause: Initial, broken: 2},
			input{outcome: unended},
			state{phase: Waiting, then: Listing, mode: Streaming, way: streamed, cause: Initial, broken: 3},
			effect{action: wait, pace: backoff},
		},
		{
			"one with an event that cannot be applied is tried again",
			streaming,
			input{outcome: inapplicable},
			state{phase: Waiting, then: Listing, way: streamed, cause: Initial, broken: 1},
			effect{action: wait, pace: backoff},
		},
		{
			"the third becomes a paged one",
			state{phase: Listing, way: streamed, cause: Initial, broken: 2},
			input{outcome: inapplicable},
			state{phase: Listing, cause: Initial, doubt: true},
			effect{action: list},
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
			state{phase: Watching, version: "9", seen: "9"},
			effect{action: watch},
		},
		{
			"a watch that the server ends early is opened again gently, because others may have ended with it (fault F32)",
			watching,
			input{outcome: done, version: "9", delivered: true, early: true, lived: long},
			waitFor(state{version: "9", seen: "9"}, Watching),
			effect{action: wait, pace: gentle},
		},
		{
			"also when it brought nothing, which is no refusal",
			state{phase: Watching, version: "5", empty: 2},
			input{outcome: done, early: true, lived: long},
			waitFor(watching, Watching),
			effect{action: wait, pace: gentle},
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
			waitFor(state{version: "9", seen: "9"}, Watching),
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
			waitFor(state{version: "6", seen: "6"}, Watching),
			effect{action: wait, pace: gentle},
		},
		{
			"a watch that never opened is tried again at the same version (behaviours 175, 176, fault F8)",
			watching,
			input{outcome: transient},
			waitFor(state{version: "5", ask: true}, Watching),
			effect{action: wait, pace: backoff},
		},
		{
			"a watch that broke after events resumes after the last of them (fault F2)",
			watching,
			input{outcome: transient, version: "8", delivered: true, lived: long},
			waitFor(state{version: "8", seen: "8", ask: true}, Watching),
			effect{action: wait, pace: gentle},
		},
		{
			"410 leads to a relist (fault F6)",
			watching,
			input{outcome: expired, version: "8", delivered: true},
			state{phase: Waiting, then: Listing, seen: "8", cause: Expired},
			effect{action: wait, pace: gentle},
		},
		{
			"410 after a relist that was of use",
			state{phase: Watching, version: "5", relist: true},
			input{outcome: expired, version: "8", delivered: true, lived: long},
			state{phase: Waiting, then: Listing, seen: "8", cause: Expired},
			effect{action: wait, pace: gentle},
		},
		{
			"a relist is remembered until a watch has lasted",
			state{phase: Listing, cause: Expired},
			input{outcome: done, version: "7"},
			state{phase: Watching, version: "7", seen: "7", relist: true},
			effect{action: watch},
		},
		{
			"410 after a relist leads to a relist after a backoff, so that no server makes it spin",
			state{phase: Watching, version: "5", relist: true},
			input{outcome: expired, version: "6", delivered: true},
			state{phase: Waiting, then: Listing, seen: "6", cause: Expired, relist: true},
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
			"403 on a watch leads to a poll (fault F29)",
			state{phase: Watching, version: "5", seen: "5"},
			input{outcome: forbidden, said: "no"},
			polled(state{seen: "5"}),
			effect{action: wait, pace: polls},
		},
		{
			"so does any other refusal, after the time that the server asks for",
			state{phase: Watching, version: "5", seen: "5"},
			input{outcome: refused, said: "no", floor: 7 * time.Second},
			polled(state{seen: "5"}),
			effect{action: wait, pace: polls, floor: 7 * time.Second},
		},
		{
			"where lists must be watches, it is watched again slowly",
			state{phase: Watching, mode: Streaming, version: "5"},
			input{outcome: forbidden},
			state{phase: Waiting, then: Watching, mode: Streaming, version: "5"},
			effect{action: wait, pace: slow},
		},
		{
			"a poll is a paged list",
			state{phase: Waiting, then: Listing, cause: Polled, polling: true},
			input{streams: has},
			state{phase: Listing, then: Listing, cause: Polled, polling: true},
			effect{action: list},
		},
		{
			"the watch is tried after it",
			state{phase: Listing, cause: Polled, polling: true},
			input{outcome: done, version: "7", changed: true},
			state{phase: Watching, version: "7", seen: "7", relist: true, polling: true},
			effect{action: watch},
		},
		{
			"and any failure to open it leads to the next poll",
			state{phase: Watching, version: "7", seen: "7", relist: true, polling: true},
			input{outcome: transient, said: "no", answered: true},
			state{phase: Waiting, then: Listing, cause: Polled, seen: "7", relist: true, polling: true},
			effect{action: wait, pace: polls},
		},
		{
			"a watch that is open for a moment ends the polls",
			state{phase: Watching, version: "7", seen: "7", polling: true},
			input{outcome: done, lived: long},
			state{phase: Watching, version: "7", seen: "7"},
			effect{action: watch},
		},
		{
			"a poll that fails is tried again",
			state{phase: Listing, cause: Polled, polling: true},
			input{outcome: transient},
			state{phase: Waiting, then: Listing, cause: Polled, polling: true},
			effect{action: wait, pace: backoff},
		},
		{
			"a relist of a collection that is polled has the pace of polls",
			state{phase: Watching, version: "7", polling: true},
			input{outcome: expired},
			state{phase: Waiting, then: Listing, cause: Expired, polling: true},
			effect{action: wait, pace: polls},
		},
		{
			"a list without a version, of a server that serves no watch, is polled",
			listing,
			input{outcome: unversioned, said: "405"},
			polled(state{}),
			effect{action: wait, pace: polls},
		},
		{
			"a watch that fails to open counts once the server has answered before",
			state{phase: Watching, version: "5", failed: 1},
			input{outcome: transient, answered: true},
			state{phase: Waiting, then: Watching, version: "5", failed: 2, ask: true, unheard: true},
			effect{action: wait, pace: backoff},
		},
		{
			"and not if it has not",
			state{phase: Watching, version: "5", failed: 2, unheard: true},
			input{outcome: transient, answered: true},
			state{phase: Waiting, then: Watching, version: "5", failed: 2, ask: true, unheard: true},
			effect{action: wait, pace: backoff},
		},
		{
			"the third leads to a poll",
			state{phase: Watching, version: "5", seen: "5", failed: 2},
			input{outcome: transient, answered: true, said: "500"},
			polled(state{seen: "5"}),
			effect{action: wait, pace: polls},
		},
		{
			"one without an answer does not count at first",
			state{phase: Watching, version: "5", failed: 2},
			input{outcome: transient, away: lasting - 1},
			state{phase: Waiting, then: Watching, version: "5", failed: 2, ask: true},
			effect{action: wait, pace: backoff},
		},
		{
			"but after minutes",
			state{phase: Watching, version: "5", seen: "5", failed: 2},
			input{outcome: transient, away: lasting, said: "reset"},
			polled(state{seen: "5"}),
			effect{action: wait, pace: polls},
		},
		{
			"one that cannot connect never does",
			state{phase: Watching, version: "5", failed: 2},
			input{outcome: transient, unreached: true, away: time.Hour},
			state{phase: Waiting, then: Watching, version: "5", failed: 2, ask: true},
			effect{action: wait, pace: backoff},
		},
		{
			"a 429 is waited for, and the server is not asked more than that",
			state{phase: Watching, version: "5", failed: 2},
			input{outcome: busy, answered: true, away: lasting - 1, floor: 7 * time.Second},
			state{phase: Waiting, then: Watching, version: "5", failed: 2},
			effect{action: wait, pace: backoff, floor: 7 * time.Second},
		},
		{
			"until it has lasted for minutes",
			state{phase: Watching, version: "5", failed: 1},
			input{outcome: busy, answered: true, away: lasting},
			state{phase: Waiting, then: Watching, version: "5", failed: 2, ask: true, unheard: true},
			effect{action: wait, pace: backoff},
		},
		{
			"a watch that opens ends the count",
			state{phase: Watching, version: "5", failed: 2},
			input{outcome: transient, lived: shortWatch},
			state{phase: Waiting, then: Watching, version: "5", ask: true},
			effect{action: wait, pace: backoff},
		},
		{
			"after an outage the server is asked for its version",
			state{phase: Waiting, then: Watching, version: "5", ask: true},
			input{},
			state{phase: Watching, then: Watching, version: "5", ask: true, asking: true},
			effect{action: ask},
		},
		{
			"and watched if it has not gone back",
			state{phase: Watching, version: "5", seen: "5", ask: true, asking: true, unheard: true, unasked: 1},
			input{outcome: done, version: "9"},
			state{phase: Watching, version: "5", seen: "5"},
			effect{action: watch},
		},
		{
			"and listed afresh if it has",
			state{phase: Watching, version: "5", seen: "5", ask: true, asking: true},
			input{outcome: older},
			state{phase: Waiting, then: Listing, cause: Reset, afresh: true, ask: true},
			effect{action: wait, pace: gentle},
		},
		{
			"while it does not answer it is asked again",
			state{phase: Watching, version: "5", ask: true, asking: true},
			input{outcome: transient, floor: time.Second},
			state{phase: Waiting, then: Watching, version: "5", ask: true, unasked: 1},
			effect{action: wait, pace: backoff, floor: time.Second},
		},
		{
			"but it is watched after three questions",
			state{phase: Watching, version: "5", ask: true, asking: true, unasked: 2},
			input{outcome: transient},
			state{phase: Watching, version: "5", ask: true, unasked: 3},
			effect{action: watch},
		},
		{
			"and at once if it refuses to say",
			state{phase: Watching, version: "5", ask: true, asking: true},
			input{outcome: forbidden},
			state{phase: Watching, version: "5"},
			effect{action: watch},
		},
		{
			"a question that the end of the reflector interrupts is asked by the next one",
			state{phase: Watching, version: "5", ask: true, asking: true},
			input{outcome: stopped},
			state{phase: Waiting, then: Watching, version: "5", ask: true},
			effect{action: wait, pace: backoff},
		},
		{
			"a watch that the end of the reflector interrupts has not failed",
			state{phase: Watching, version: "5", failed: 2},
			input{outcome: stopped},
			state{phase: Waiting, then: Watching, version: "5", failed: 2},
			effect{action: wait, pace: backoff},
		},
		{
			"a further Run waits for the watch to come to the server's version",
			state{phase: Watching, version: "5", seen: "5", ask: true, asking: true, unproven: true},
			input{outcome: done, version: "9"},
			state{phase: Watching, version: "5", seen: "5", unproven: true, proof: "9"},
			effect{action: watch},
		},
		{
			"or is current if nothing has happened",
			state{phase: Watching, version: "5", seen: "5", ask: true, asking: true, unproven: true},
			input{outcome: done, version: "5"},
			state{phase: Watching, version: "5", seen: "5"},
			effect{action: watch},
		},
		{
			"or lists if nobody can tell",
			state{phase: Watching, version: "5", seen: "5", ask: true, asking: true, unproven: true},
			input{outcome: done, version: "x"},
			state{phase: Waiting, then: Listing, seen: "5", cause: Resumed, unproven: true},
			effect{action: wait, pace: gentle},
		},
		{
			"or if the server does not say its version",
			state{phase: Watching, version: "5", seen: "5", ask: true, asking: true, unproven: true},
			input{outcome: forbidden},
			state{phase: Waiting, then: Listing, seen: "5", cause: Resumed, unproven: true},
			effect{action: wait, pace: gentle},
		},
		{
			"it goes on asking a server that it cannot reach",
			state{phase: Watching, version: "5", seen: "5", ask: true, asking: true, unproven: true, unasked: patience},
			input{outcome: transient, unreached: true},
			state{phase: Waiting, then: Watching, version: "5", seen: "5", ask: true, unproven: true, unasked: patience + 1},
			effect{action: wait, pace: backoff},
		},
		{
			"and not one that does not answer",
			state{phase: Watching, version: "5", seen: "5", ask: true, asking: true, unproven: true, unasked: patience},
			input{outcome: transient},
			state{phase: Waiting, then: Listing, seen: "5", cause: Resumed, ask: true, unproven: true, unasked: patience + 1},
			effect{action: wait, pace: gentle},
		},
		{
			"or if the watch does not come to it in time",
			state{phase: Watching, version: "5", seen: "5", unproven: true, proof: "9"},
			input{outcome: unproven, delivered: true, version: "8", lived: proofTime},
			state{phase: Waiting, then: Listing, seen: "8", cause: Resumed, unproven: true, proof: "9", ask: true},
			effect{action: wait, pace: gentle},
		},
		{
			"a watch that ends before it asks anew",
			state{phase: Watching, version: "5", seen: "5", unproven: true, proof: "9"},
			input{outcome: done, delivered: true, version: "8", lived: shortWatch},
			state{phase: Watching, version: "8", seen: "8", unproven: true, proof: "9", ask: true, asking: true},
			effect{action: ask},
		},
		{
			"and one that has come to it does not",
			state{phase: Watching, version: "5", seen: "5", unproven: true, proof: "9"},
			input{outcome: done, delivered: true, version: "9", lived: shortWatch},
			state{phase: Watching, version: "9", seen: "9"},
			effect{action: watch},
		},
		{
			"changes that mute watches should have brought show that they are deaf",
			state{phase: Listing, cause: Silent},
			input{outcome: done, version: "7", changed: true},
			state{phase: Watching, version: "7", seen: "7", relist: true, polling: true, deaf: true},
			effect{action: watch},
		},
		{
			"a deaf watch is ended when a poll is due",
			state{phase: Watching, version: "7", seen: "7", relist: true, polling: true, deaf: true},
			input{outcome: due, lived: long},
			state{phase: Waiting, then: Listing, seen: "7", cause: Polled, polling: true, deaf: true},
			effect{action: wait, pace: gentle},
		},
		{
			"and is no longer deaf once a list finds no changes",
			state{phase: Listing, seen: "7", cause: Polled, polling: true, deaf: true},
			input{outcome: done, version: "9"},
			state{phase: Watching, version: "9", seen: "9", relist: true},
			effect{action: watch},
		},
		{
			"or when it brings something",
			state{phase: Watching, version: "7", seen: "7", polling: true, deaf: true},
			input{outcome: done, delivered: true, version: "8", lived: long},
			state{phase: Watching, version: "8", seen: "8"},
			effect{action: watch},
		},
		{
			"watches that end at once, although there are changes, lead to polls",
			state{phase: Listing, cause: Refused},
			input{outcome: done, version: "7", changed: true},
			state{phase: Watching, version: "7", seen: "7", relist: true, polling: true},
			effect{action: watch},
		},
		{
			"the third streaming list in a row that the server answers with an error is followed by a paged one, at once",
			state{phase: Listing, way: streamed, cause: Initial, broken: 2},
			input{outcome: transient, answered: true, said: "500", streams: has},
			state{phase: Listing, cause: Initial, plain: true},
			effect{action: list},
		},
		{
			"without an answer after a wait",
			state{phase: Listing, way: streamed, cause: Initial, broken: 2},
			input{outcome: transient, said: "reset"},
			state{phase: Waiting, then: Listing, way: streamed, cause: Initial, plain: true},
			effect{action: wait, pace: backoff},
		},
		{
			"and after a 429 too",
			state{phase: Listing, way: streamed, cause: Initial, broken: 2},
			input{outcome: busy, answered: true, said: "429", floor: time.Second},
			state{phase: Waiting, then: Listing, way: streamed, cause: Initial, plain: true},
			effect{action: wait, pace: backoff, floor: time.Second},
		},
		{
			"if the paged one fails, streaming lists are tried again",
			state{phase: Listing, cause: Initial, plain: true},
			input{outcome: transient},
			state{phase: Waiting, then: Listing, cause: Initial},
			effect{action: wait, pace: backoff},
		},
		{
			"and if not, the server is not taken for one without them",
			state{phase: Listing, cause: Initial, plain: true},
			input{outcome: done, version: "7"},
			state{phase: Watching, version: "7", seen: "7"},
			effect{action: watch},
		},
		{
			"where lists must be watches, streaming ones are tried for ever",
			state{phase: Listing, mode: Streaming, way: streamed, cause: Initial, broken: 2},
			input{outcome: transient, answered: true},
			state{phase: Waiting, then: Listing, mode: Streaming, way: streamed, cause: Initial, broken: 2},
			effect{action: wait, pace: backoff},
		},
		{
			"a bookmark from before the cache leads to a list that replaces everything (a rollback)",
			watching,
			input{outcome: older, version: "8", delivered: true},
			state{phase: Waiting, then: Listing, cause: Reset, afresh: true},
			effect{action: wait, pace: gentle},
		},
		{
			"a watch that falls silent is opened again where it was (behaviour 196, fault F3)",
			watching,
			input{outcome: silent, version: "8", delivered: true, lived: long},
			waitFor(state{version: "8", seen: "8", ask: true}, Watching),
			effect{action: wait, pace: gentle},
		},
		{
			"one that was silent from the start as well",
			watching,
			input{outcome: silent, mute: true, lived: long},
			waitFor(state{version: "5", mute: 1, ask: true}, Watching),
			effect{action: wait, pace: gentle},
		},
		{
			"the third in a row leads to a relist: its version may be one that is not reached for long",
			state{phase: Watching, version: "5", seen: "5", mute: 2},
			input{outcome: silent, mute: true, lived: long},
			state{phase: Waiting, then: Listing, seen: "5", cause: Silent},
			effect{action: wait, pace: gentle},
		},
		{
			"a watch that ends well without a word is one of them",
			state{phase: Watching, version: "5", mute: 1},
			input{outcome: done, mute: true, lived: long},
			state{phase: Watching, version: "5", mute: 2},
			effect{action: watch},
		},
		{
			"and may be the third",
			state{phase: Watching, version: "5", seen: "5", mute: 2},
			input{outcome: done, mute: true, lived: long},
			state{phase: Waiting, then: Listing, seen: "5", cause: Silent},
			effect{action: wait, pace: gentle},
		},
		{
			"but not where the server sends no bookmarks",
			state{phase: Watching, version: "5", mute: 2},
			input{outcome: done, lived: long},
			watching,
			effect{action: watch},
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
			waitFor(state{version: "6", seen: "6", broken: 1}, Watching),
			effect{action: wait, pace: gentle},
		},
		{
			"a bookmark at the version that there was does not make up for the event that follows it",
			state{phase: Watching, version: "6", broken: 1},
			input{outcome: inapplicable, version: "6", delivered: true},
			waitFor(state{version: "6", seen: "6", broken: 2}, Watching),
			effect{action: wait, pace: backoff},
		},
		{
			"nor does one at an older version",
			state{phase: Watching, version: "10", broken: 2},
			input{outcome: inapplicable, version: "9", delivered: true},
			state{phase: Waiting, then: Listing, seen: "9", cause: Reset},
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
			input{streams: lacks},
			state{phase: Listing, then: Listing, cause: Expired},
			effect{action: list},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, todo := next(test.s, test.in)
			s.lacking, todo.why = "", "" // see TestTheMachineSaysWhyAListIsPagedOrStreaming
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
		mode  Mode
		stale bool
		want  state
		todo  effect
	}{
		{
			"an empty cache is filled with a consistent list",
			state{},
			Paged, false,
			state{phase: Listing, mode: Paged, cause: Initial},
			effect{action: list},
		},
		{
			"a streaming one, unless something speaks against it",
			state{},
			Auto, false,
			state{phase: Listing, way: streamed, cause: Initial},
			effect{action: stream},
		},
		{
			"or with a stale one where that is allowed",
			state{},
			Paged, true,
			state{phase: Listing, mode: Paged, cause: Initial, stale: true},
			effect{action: list},
		},
		{
			"a Run after another resumes its watch",
			state{phase: Waiting, then: Watching, version: "5"},
			Auto, true,
			state{phase: Watching, then: Watching, version: "5"},
			effect{action: watch},
		},
		{
			"a relist that was due when a Run ended is due in the next, and not stale",
			state{phase: Waiting, then: Listing, cause: Expired},
			Paged, true,
			state{phase: Listing, then: Listing, mode: Paged, cause: Expired},
			effect{action: list},
		},
		{
			"a stale first list that was not to be had is not asked for again by the next Run",
			state{phase: Waiting, then: Listing, cause: Initial},
			Paged, true,
			state{phase: Listing, then: Listing, mode: Paged, cause: Initial},
			effect{action: list},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, todo := start(test.s, test.mode, test.stale, unknown)
			todo.why = ""
			if s != test.want || todo != test.todo {
				t.Errorf("start = %+v, %+v, want %+v, %+v", s, todo, test.want, test.todo)
			}
		})
	}
}

func TestAListIsOlderOnlyWhereVersionsHaveAnOrder(t *testing.T) {
	for _, test := range []struct {
		seen, version string
		want          bool
	}{
		{"10", "9", true},
		{"9", "10", false},
		{"9", "9", false},
		{"", "9", false},
		{"zz", "9", false},
		{"9", "a", false},
	} {
		if got := (state{seen: test.seen}).outdates(test.version); got != test.want {
			t.Errorf("a list at %q is older than a cache at %q: %v, want %v", test.version, test.seen, got, test.want)
		}
	}
}

// The machine says with each list why it is read as it is, and keeps what it has found out until a streaming list is complete.
func TestTheMachineSaysWhyAListIsPagedOrStreaming(t *testing.T) {
	begun := func(mode Mode, streams answer) (state, effect) { return start(state{}, mode, false, streams) }
	_, first := begun(Auto, unknown)
	_, again := begun(Auto, has)
	_, paged := begun(Auto, lacks)
	_, demandedPages := begun(Paged, has)
	_, demandedStream := begun(Streaming, lacks)
	refusedBy := func(in input) effect {
		s, _ := begun(Auto, unknown)
		_, todo := next(s, in)
		return todo
	}
	complete := func(mode Mode) effect {
		s, _ := begun(mode, unknown)
		_, todo := next(s, input{outcome: done, version: "7"})
		return todo
	}
	// A relist after a paged list that took the place of a refused streaming one.
	s, _ := begun(Auto, unknown)
	s, _ = next(s, input{outcome: refused, said: "no such parameter"})
	s, _ = next(s, input{outcome: done, version: "7", streams: lacks})
	s, _ = next(s, input{outcome: expired, streams: lacks})
	relisted, relist := next(s, input{streams: lacks})
	// By now the server may have learned it; when it has shown that, what it said is forgotten.
	streaming, _ := next(s, input{streams: unknown})
	learned, _ := next(streaming, input{outcome: done, version: "9"})
	expiredAgain, _ := next(learned, input{outcome: expired})
	_, remembers := next(expiredAgain, input{streams: lacks})
	_, later := start(relisted, Auto, false, lacks)
	for _, test := range []struct {
		name string
		todo effect
		want string
	}{
		{"the first list", first, "to see whether the server serves streaming lists"},
		{"on a server that does", again, "server serves streaming lists"},
		{"on a server that is known not to", paged, "server has not served a streaming list within the last hour"},
		{"pages that are asked for", demandedPages, "Options.Mode asks for it"},
		{"a stream that is asked for", demandedStream, "Options.Mode asks for it"},
		{"after a refusal", refusedBy(input{outcome: refused, said: "no"}), "server does not serve streaming lists: no"},
		{"without an end", refusedBy(input{outcome: unended, said: "silence"}), "server does not serve streaming lists: silence"},
		{"without the permission", refusedBy(input{outcome: forbidden, said: "no"}), "a streaming list needs permission to watch: no"},
		{"a complete stream", complete(Auto), "server serves streaming lists"},
		{"a complete stream that was asked for", complete(Streaming), "Options.Mode asks for it"},
		{"a relist", relist, "server does not serve streaming lists: no such parameter"},
		{"after a stream that was complete", remembers, "server has not served a streaming list within the last hour"},
		{"in another Run", later, "server has not served a streaming list within the last hour"},
	} {
		if test.todo.why != test.want {
			t.Errorf("%s: %q, want %q", test.name, test.todo.why, test.want)
		}
	}
}
