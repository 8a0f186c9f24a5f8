package informer

import (
	"fmt"
	"testing"
	"time"
)

// FuzzMachine drives the machine with any inputs, and checks what must hold whatever happens. A byte pair is one input: the
// outcome and what is known of the server, and the rest.
func FuzzMachine(f *testing.F) {
	f.Add(uint8(0), []byte{0, 1, 2, 3, 4, 5, 6, 255, 254, 128, 64})
	f.Add(uint8(1), []byte{0, 0, 0, 3, 0, 3, 0, 3})
	f.Add(uint8(0), []byte{0, 0, 0xee, 0, 1, 128, 2, 0, 0, 128, 3, 0})
	f.Add(uint8(1), []byte{0, 0, 0xdd, 7, 0, 0, 0xdd, 128, 14, 0, 0, 0})
	f.Add(uint8(2), []byte{7, 0, 11, 0, 11, 0, 11, 0, 0, 0, 12, 128})
	f.Fuzz(func(t *testing.T, mode uint8, script []byte) {
		s, todo := start(state{}, Mode(mode%3), mode&0x80 != 0, answer(mode/3%3))
		applied := "" // the newest version that the store has
		unwaited := 0 // lists in a row without a wait between them
		for i := 0; i+1 < len(script); i += 2 {
			b := script[i+1]
			in := input{
				outcome: outcome(script[i] % byte(stopped+1)), streams: answer(script[i] / 16 % 3),
				answered: b&0x04 != 0, changed: b&0x02 != 0, unreached: b&0x01 != 0, away: time.Duration(b&0x20) * time.Minute,
				delivered: b&0x80 != 0, early: b&0x10 != 0, mute: b&0x98 == 0x08,
				lived: time.Duration(b&0x40) * time.Second, floor: time.Duration(b&0x20) * time.Second,
			}
			version := fmt.Sprint(i + 10)
			if script[i] == 0xdd && s.version != "" { // a further Run
				s.unproven, s.ask = true, true
				s, todo = start(s, s.mode, false, in.streams)
			}
			switch todo.action {
			case list, stream:
				if in.outcome == done {
					if i%3 == 0 && s.seen != "" {
						version = fmt.Sprint(i + 1) // older than anything for a while
					}
					if s.outdates(version) { // as the loop does it
						in.outcome = older
						break
					}
					in.version, applied = version, version
				}
			case ask:
				in.version = version
				if s.outdates(version) && in.outcome == done {
					in.outcome = older
				}
				if in.outcome == done && s.unproven && b&0x40 != 0 {
					in.version = applied // nothing has happened
				}
			case watch, follow:
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
				in = input{streams: in.streams}
			case stop:
				return
			}
			before, did := s, todo
			s, todo = next(s, in)
			check := func(ok bool, what string) {
				t.Helper()
				if !ok {
					t.Fatalf("step %d: %s: %+v, %+v, %+v -> %+v, %+v", i/2, what, before, did, in, s, todo)
				}
			}
			lists := todo.action == list || todo.action == stream
			listed := did.action == list || did.action == stream
			if lists && did.action != wait {
				unwaited++
			} else {
				unwaited = 0
			}
			check((todo.action == stop) == (in.outcome == unusable), "it stops for what is unusable, and nothing else")
			check(did.action != wait || todo.action != wait, "a wait after a wait")
			check(unwaited <= 1, "two lists in a row without a wait")
			check(!lists || did.action == wait || did.action == stream && todo.action == list, "a list without a wait before it")
			check(did.action != stream || in.outcome != done || todo.action == follow, "a complete streaming list is not followed up")
			check(did.action != list || in.outcome != done || todo.action == watch, "a complete list is not followed by a watch")
			check(todo.action != follow || did.action == stream, "there is no stream to follow")
			check(todo.action != stream || s.mode != Paged, "a streaming list that must not be")
			check(todo.action != list || s.mode != Streaming, "a paged list that must not be")
			check(todo.action != stream || s.mode != Auto || in.streams != lacks, "a streaming list of a server without them")
			check(todo.action != watch || !s.unproven || s.proof != "", "a watch of a further Run that can prove nothing")
			check(!before.unproven || s.unproven || did.action == ask && in.version == before.version || listed && in.outcome == done ||
				did.action == watch && in.version == version, "a cache that counts as current without a proof")
			check(todo.action != stream || !s.polling || s.mode == Streaming, "a streaming list of a server that serves no watch")
			check(todo.learned != has || todo.action == follow, "a server that has not shown that it can")
			check(todo.learned != lacks || before.way == streamed && in.outcome == refused || before.doubt && in.outcome == done,
				"a server that has not shown that it cannot")
			check(s.version == "" || before.seen == s.seen || s.seen == applied, "what the cache is current to")
			check(todo.floor == 0 || todo.floor == in.floor, "another floor than the server's")
			if !listed && did.action != wait && s.version == "" && todo.action != stop {
				switch in.outcome {
				case forbidden, refused, transient, busy:
					if did.action == ask && before.unproven {
						break
					}
					check(s.mode != Streaming && s.cause == Polled && todo.pace == polls && !in.delivered, "a relist for what needs none")
				case unended, stopped:
					check(did.action == ask && before.unproven && in.outcome == unended, "a relist for what needs none")
				}
			}
			if s.seen != before.seen && before.seen != "" && s.seen == "" {
				check(in.outcome == older && s.afresh && s.cause == Reset, "the version is forgotten without a rollback")
			}
		}
	})
}
