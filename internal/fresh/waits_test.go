package fresh

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/follow"
	"github.com/bowline-go/bowline/internal/store"
	"github.com/bowline-go/bowline/internal/store/storetest"
	"github.com/bowline-go/bowline/workqueue"
)

// stored is a cache without an informer.
type stored struct {
	storetest.Cache[*meta.Partial]
	calls  int
	during func() // called by AfterWrite, once
	whole  bool   // it holds every object, so it reports those that it has missed
}

func (s *stored) Run(context.Context) error        { return nil }
func (s *stored) WaitSynced(context.Context) error { return nil }

func (s *stored) AfterWrite(w follow.Write, f func(missed bool)) *store.Sight {
	if during := s.during; during != nil {
		s.during = nil
		during()
	}
	return s.AfterSeen(store.Write{
		Identity: meta.Identity{Name: w.Key.Name, UID: w.UID, ResourceVersion: w.ResourceVersion}, Outside: w.Key.Name == "outside",
	}, func(missed bool) { s.calls++; f(missed && s.whole) })
}

// left returns how many writes the store still looks out for.
func (s *stored) left() int {
	s.calls = 0
	s.EndWaits(func(string) bool { return true })
	return s.calls
}

// hookedQueue calls functions in place of a queue.
type hookedQueue struct {
	add     func(k string)
	hold    func(k string, d time.Duration)
	release func(k string)
}

func (q *hookedQueue) Add(k string)                   { q.add(k) }
func (q *hookedQueue) Hold(k string, d time.Duration) { q.hold(k, d) }
func (q *hookedQueue) Release(k string)               { q.release(k) }

// waitingRoom is the waits of keys for one store, with a limit of a minute.
type waitingRoom struct {
	*testing.T
	*Waits[string]
	*hookedQueue
	s      *stored
	q      *workqueue.Queue[string]
	caches []Place
}

func inWaitingRoom(t *testing.T, f func(r *waitingRoom)) {
	synctest.Test(t, func(t *testing.T) {
		s, q := &stored{Cache: storetest.New[*meta.Partial]()}, workqueue.New(workqueue.Options[string]{})
		hooked := &hookedQueue{q.Add, q.Hold, q.Release}
		f(&waitingRoom{T: t, Waits: New(hooked, time.Minute), hookedQueue: hooked, s: s, q: q, caches: []Place{{s, nil, 0}}})
	})
}

// writes notes a write of key k: of an object, with a version or without one.
func (r *waitingRoom) writes(k, name, version string) {
	r.Wrote(k, r.caches, follow.Write{Key: meta.Key{Name: name}, UID: "u", ResourceVersion: version})
}

// admits takes key k from the queue, and checks whether it is admitted.
func (r *waitingRoom) admits(k string, want bool) (a Admission) {
	r.Helper()
	if r.q.Len() == 0 {
		r.q.Add(k)
	}
	held := r.q.Stats().Held
	_ = r.q.Do(r.Context(), func(_ context.Context, k string) error {
		a = r.Admit(k)
		return nil
	})
	if a.OK != want || r.q.Stats().Held == held != want {
		r.Errorf("%s: admitted %v, want %v; %+v", k, a.OK, want, r.q.Stats())
	}
	return a
}

// isEmpty fails unless nothing is known and nothing is looked out for.
func (r *waitingRoom) isEmpty() {
	r.Helper()
	if left := r.s.left(); len(r.keys)+len(r.leaving)+r.Waiting()+left != 0 {
		r.Errorf("left are %d keys, %d leaving writes, %d waits; and the cache looks out for %d", len(r.keys), len(r.leaving), r.Waiting(), left)
	}
}

func TestAKeyWaitsOnlyForTheLastWriteOfAnObject(t *testing.T) {
	inWaitingRoom(t, func(r *waitingRoom) {
		for n := range 50 {
			r.writes("k", "a", fmt.Sprint(100+n))
			r.writes("k", "b", fmt.Sprint(200+n))
		}
		r.writes("k", "a", "120") // answered late, to another goroutine
		r.s.Bookmark("148")
		r.admits("k", false)
		r.s.Bookmark("149")
		if r.q.Len() != 0 {
			t.Error("released too early")
		}
		r.s.Bookmark("248")
		r.admits("k2", true)
		if n := r.s.left(); n != 1 {
			t.Errorf("the cache looks out for %d", n)
		}
		if a := r.admits("k", true); !a.Waited || a.Late != nil {
			t.Errorf("admitted %+v", a)
		}
		r.isEmpty()
	})
}

// A child that is created and deleted while the watch is away never comes into the cache. No event names its key.
func TestAKeyIsAddedWhenItsObjectHasGoneUnseen(t *testing.T) {
	for _, test := range []struct {
		name  string
		shows func(s *stored)
		added bool
	}{
		{"the cache is past the write, without the object", func(s *stored) { s.Bookmark("6") }, true},
		{"the object comes", func(s *stored) { s.Set(meta.Identity{Name: "a", UID: "u", ResourceVersion: "5"}, nil) }, false},
		{"the cache ends", func(s *stored) { s.EndWaits(func(string) bool { return true }) }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			inWaitingRoom(t, func(r *waitingRoom) {
				r.s.whole = true
				r.writes("k", "a", "5")
				test.shows(r.s)
				if added := r.q.Len() == 1; added != test.added {
					t.Errorf("added: %v", added)
				}
				r.admits("k", true)
				r.isEmpty()
			})
		})
	}
	t.Run("while the key waits", func(t *testing.T) {
		inWaitingRoom(t, func(r *waitingRoom) {
			r.s.whole = true
			r.writes("k", "a", "5")
			r.admits("k", false)
			r.s.Bookmark("6")
			r.admits("k", true)
			r.isEmpty()
			if n := r.q.Len(); n != 0 {
				t.Errorf("%d keys are ready after the reconcile", n)
			}
		})
	})
	t.Run("before the wait begins", func(t *testing.T) {
		inWaitingRoom(t, func(r *waitingRoom) {
			r.s.whole = true
			r.s.Bookmark("6")
			r.writes("k", "a", "5")
			if n := r.q.Len(); n != 1 {
				t.Errorf("%d keys are ready", n)
			}
		})
	})
}

// The answers of two writes may come in the wrong order. The later write counts.
func TestALateAnswerOfAnEarlierWriteDoesNotCount(t *testing.T) {
	inWaitingRoom(t, func(r *waitingRoom) {
		r.writes("k", "a", "9")
		r.writes("k", "a", "4")
		r.admits("k", false)
		r.s.Bookmark("8")
		if r.q.Len() != 0 {
			t.Error("released too early")
		}
		r.s.Bookmark("9")
		if a := r.admits("k", true); !a.Waited || a.Late != nil {
			t.Errorf("admitted %+v", a)
		}
		r.isEmpty()
	})
}

// Other goroutines go on while a cache is told of a write.
func TestOtherCallsGoOnWhileACacheIsToldOfAWrite(t *testing.T) {
	inWaitingRoom(t, func(r *waitingRoom) {
		r.s.during = func() {
			r.admits("k", false)    // nobody knows yet whether the cache has seen it
			r.writes("k", "a", "9") // a later write takes its place
		}
		r.writes("k", "a", "5")
		r.s.Bookmark("5")
		if r.q.Len() != 0 {
			t.Error("released too early")
		}
		r.s.Bookmark("9")
		r.admits("k", true)
		r.isEmpty()

		r.s.during = func() { r.s.Bookmark("12") }
		r.writes("k", "a", "12")
		if a := r.admits("k", true); a.Waited {
			t.Errorf("admitted %+v", a)
		}
		r.isEmpty()
	})
}

func TestSeenWritesLeaveNothingBehind(t *testing.T) {
	inWaitingRoom(t, func(r *waitingRoom) {
		r.writes("k", "a", "5")
		r.s.Bookmark("5")
		if len(r.keys) != 0 {
			t.Error("a write that was seen is remembered")
		}
		r.writes("k", "a", "4")
		if a := r.admits("k", true); a.Waited || len(r.keys) != 0 {
			t.Errorf("a write that had been seen: %+v", a)
		}
		r.writes("k", "a", "7")
		r.admits("k", false)
		time.Sleep(time.Second)
		r.s.Bookmark("7")
		if a := r.admits("k", true); !a.Waited || a.After != time.Second || r.admits("k", true).Waited {
			t.Errorf("admitted %+v", a)
		}
		r.isEmpty()
	})
}

// Something else may give a held key back; it waits for the rest of its time then, and no longer.
func TestAKeyThatSomethingElseReleasesKeepsWaiting(t *testing.T) {
	inWaitingRoom(t, func(r *waitingRoom) {
		r.writes("k", "a", "5")
		r.admits("k", false)
		time.Sleep(40 * time.Second)
		r.q.Release("k")
		r.admits("k", false)
		if r.Waiting() != 1 {
			t.Errorf("%d wait", r.Waiting())
		}
		time.Sleep(19 * time.Second)
		if r.q.Len() != 0 {
			t.Error("back too early")
		}
		time.Sleep(time.Second)
		if a := r.admits("k", true); a.After != time.Minute || len(a.Late) != 1 {
			t.Errorf("admitted %+v", a)
		}
		r.isEmpty()
	})
}

// A cache may see the write between the decision that a key waits and the moment when the queue holds it.
func TestAWriteThatIsSeenBeforeItsKeyIsHeld(t *testing.T) {
	inWaitingRoom(t, func(r *waitingRoom) {
		r.hold = func(k string, d time.Duration) {
			r.s.Bookmark("5")
			r.q.Hold(k, d)
		}
		r.writes("k", "a", "5")
		r.q.Add("k")
		_ = r.q.Do(t.Context(), func(_ context.Context, k string) error {
			if r.Admit(k).OK {
				t.Error("admitted before the write was seen")
			}
			return nil
		})
		if s := r.q.Stats(); s.Ready != 1 || s.Held != 0 || r.Waiting() != 0 {
			t.Errorf("%d wait, and the queue has %+v", r.Waiting(), s)
		}
		r.hold = r.q.Hold
		if a := r.admits("k", true); !a.Waited || a.Late != nil {
			t.Errorf("admitted %+v", a)
		}
		r.isEmpty()

		r.hold = func(k string, d time.Duration) { // or the run ends
			r.q.Hold(k, d)
			r.End()
		}
		r.writes("k", "a", "7")
		r.q.Add("k")
		_ = r.q.Do(t.Context(), func(_ context.Context, k string) error { r.Admit(k); return nil })
		if s := r.q.Stats(); s.Held != 0 {
			t.Errorf("the queue has %+v", s)
		}
	})
}

// While a cache begins to look out for a deletion, a later write may replace it, or the run may end. Nobody else would end that wait.
func TestADeletionMayBeReplacedBeforeItsWaitBegins(t *testing.T) {
	inWaitingRoom(t, func(r *waitingRoom) {
		r.s.during = func() { r.writes("k", "a", "") }
		r.writes("k", "a", "")
		time.Sleep(time.Minute)
		r.admits("k", true)
		r.isEmpty()
		r.s.during = r.End
		r.writes("k", "a", "")
		r.isEmpty()
	})
}

// The queue calls hooks, and they may call whatever looks at the waits.
func TestTheQueueIsCalledWithoutALock(t *testing.T) {
	inWaitingRoom(t, func(r *waitingRoom) {
		calls := 0
		r.hold = func(k string, d time.Duration) { calls += r.Waiting(); r.q.Hold(k, d) }
		r.release = func(k string) { calls += 1 + r.Waiting(); r.q.Release(k) }
		r.writes("k", "a", "5")
		r.admits("k", false)
		r.s.Bookmark("5")
		r.admits("k", true)

		r.writes("k", "outside", "6") // an older state comes and goes
		r.s.Set(meta.Identity{Name: "outside", UID: "u", ResourceVersion: "5"}, &meta.Partial{})
		r.admits("k", false)
		r.s.Delete(meta.Identity{Name: "outside", UID: "u", ResourceVersion: "5"}, nil)
		r.writes("k", "gone", "") // of another goroutine
		r.admits("k", true)
		if calls != 4 {
			t.Errorf("%d calls, want 4", calls)
		}
		time.Sleep(time.Minute)
		r.admits("k", true)
		r.isEmpty()
	})
}

// The cache may never see a deletion of what it never held. It is not waited for, unless the object shows up; and it is
// forgotten after the limit.
func TestAWriteThatMayNeverBeSeenIsForgotten(t *testing.T) {
	inWaitingRoom(t, func(r *waitingRoom) {
		set := func(version string) {
			r.s.Set(meta.Identity{Name: "a", UID: "u", ResourceVersion: version}, &meta.Partial{})
		}
		r.writes("k", "a", "")
		r.admits("k", true)
		r.writes("later", "b", "")
		time.Sleep(time.Minute - 1)
		r.admits("k", true)
		if len(r.keys) != 2 || len(r.leaving) != 2 {
			t.Errorf("forgotten too early: %v", r.keys)
		}
		set("3") // it shows up
		r.admits("k", false)
		time.Sleep(time.Nanosecond)
		r.admits("other", true)
		if len(r.keys) != 1 || r.Waiting() != 1 {
			t.Errorf("left are %v", r.keys) // a key that waits goes on
		}
		r.s.Delete(meta.Identity{Name: "a", UID: "u", ResourceVersion: "4"}, nil)
		if a := r.admits("k", true); a.After != 1 || a.Late != nil {
			t.Errorf("admitted %+v", a)
		}
		time.Sleep(time.Minute)
		r.admits("k", true)
		r.isEmpty()

		r.writes("k", "a", "")
		set("5")
		r.admits("k", false)
		r.s.Set(meta.Identity{Name: "a", UID: "v", ResourceVersion: "6"}, &meta.Partial{})
		r.admits("k", true)
		time.Sleep(time.Minute)
		r.admits("k", true)
		r.isEmpty()
	})
}

// An object that is deleted may have left the selector of a cache before, and come again.
func TestADeletedObjectMayComeAgainFirst(t *testing.T) {
	for name, begin := range map[string]func(r *waitingRoom, object meta.Identity){
		"it leaves": func(r *waitingRoom, object meta.Identity) {
			r.s.Set(object, &meta.Partial{})
			r.writes("k", "outside", "")
			r.admits("k", false)
			r.s.Delete(object, nil)
		},
		"an earlier write leaves it outside": func(r *waitingRoom, _ meta.Identity) {
			r.writes("other", "outside", "3")
			r.writes("k", "outside", "")
			r.admits("k", false)
			r.s.Bookmark("3")
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWaitingRoom(t, func(r *waitingRoom) {
				object := meta.Identity{Name: "outside", UID: "u", ResourceVersion: "2"}
				begin(r, object)
				r.admits("k", true)
				object.ResourceVersion = "4"
				r.s.Set(object, &meta.Partial{})
				r.admits("k", false)
				r.s.Delete(object, nil)
				r.admits("k", true)
				time.Sleep(time.Minute)
				r.admits("k", true)
				r.isEmpty()
			})
		})
	}
}

// A deletion that a cache does not hold does not delay the key's next write, after which the cache is not to hold the object either.
func TestAnUncachedDeletionDoesNotDelayALaterWrite(t *testing.T) {
	inWaitingRoom(t, func(r *waitingRoom) {
		r.writes("other", "outside", "")
		r.writes("k", "outside", "")
		r.writes("k", "outside", "9") // of a new object
		r.admits("k", true)
		time.Sleep(time.Minute)
		r.admits("k", true)
		r.admits("other", true)
		r.isEmpty()
	})
}

// After a write that took an object out of the cache, an older state that comes and goes is waited for while it is there.
func TestAnOlderStateIsWaitedForWhileItIsThere(t *testing.T) {
	inWaitingRoom(t, func(r *waitingRoom) {
		older := meta.Identity{Name: "outside", UID: "u", ResourceVersion: "3"}
		r.writes("k", "outside", "9")
		r.writes("k", "gone", "")
		r.admits("k", true)
		r.s.Set(older, &meta.Partial{})
		r.admits("k", false)
		older.ResourceVersion = "4"
		r.s.Delete(older, nil)
		time.Sleep(time.Second)
		r.q.Release("k")
		if a := r.admits("k", true); !a.Waited || a.After != time.Second || r.Waiting() != 0 {
			t.Errorf("admitted %+v", a)
		}
		older.ResourceVersion = "5"
		r.s.Set(older, &meta.Partial{})
		r.admits("k", false)
		time.Sleep(time.Minute)
		if a := r.admits("k", true); len(a.Late) != 1 || a.Late[0].Write.Key.Name != "outside" {
			t.Errorf("admitted %+v", a)
		}
		r.isEmpty()
	})
}

// A later write of the object is not forgotten with the one that may never be seen.
func TestALaterWriteIsNotForgotten(t *testing.T) {
	inWaitingRoom(t, func(r *waitingRoom) {
		r.writes("k", "a", "")
		time.Sleep(59 * time.Second)
		r.writes("k", "a", "9")
		time.Sleep(time.Second)
		r.admits("k", false)
		r.s.Bookmark("9")
		r.admits("k", true)
		r.isEmpty()
	})
}

// The end of a run stops the caches from looking out for its writes, and later writes are not noted.
func TestTheEndStopsEverything(t *testing.T) {
	inWaitingRoom(t, func(r *waitingRoom) {
		r.writes("k", "a", "5")
		r.writes("k", "b", "")
		r.writes("k2", "c", "9")
		r.admits("k", false)
		r.End()
		r.writes("k", "a", "6")
		r.isEmpty()
	})
}
