package store_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

// Nothing delivers while the writes of a case are made, so that the handler is as slow as can be.
//
// behaviours 210, 211, fault F15
func TestDeliveryMerges(t *testing.T) {
	for _, test := range []struct {
		name  string
		known []string // what the handler knows
		write func(things)
		want  []string
	}{
		{
			"each key's change, the one that waited longest first",
			nil,
			func(s things) { set(s, "ns/b u@1"); set(s, "ns/a u@2"); set(s, "ns/c u@3"); set(s, "ns/b u@4") },
			[]string{"add ns/b u@4", "add ns/a u@2", "add ns/c u@3"},
		},
		{
			"updates become one, from what the handler knows",
			[]string{"ns/a u@1"},
			func(s things) { set(s, "ns/a u@2"); set(s, "ns/a u@3"); set(s, "ns/a u@4") },
			[]string{"update ns/a u@1 -> ns/a u@4"},
		},
		{
			"an object that came and went is no news",
			nil,
			func(s things) { set(s, "ns/a u@1"); set(s, "ns/a u@2"); remove(s, "ns/a u@3") },
			nil,
		},
		{
			"nor is one that came and went twice; a third is",
			nil,
			func(s things) {
				set(s, "ns/a u@1")
				remove(s, "ns/a u@2")
				set(s, "ns/a v@3")
				remove(s, "ns/a v@4")
				set(s, "ns/a w@5")
			},
			[]string{"add ns/a w@5"},
		},
		{
			"a deletion carries the final state",
			[]string{"ns/a u@1"},
			func(s things) { set(s, "ns/a u@2"); remove(s, "ns/a u@3") },
			[]string{"delete ns/a u@3"},
		},
		{
			"a deletion that did not decode carries the last cached state", // behaviour 239
			[]string{"ns/a u@1"},
			func(s things) { set(s, "ns/a u@2"); s.Delete(id("ns/a u@3"), nil) },
			[]string{"delete ns/a u@2"},
		},
		{
			"a deletion of another uid carries the last cached state: one cycle, one uid",
			[]string{"ns/a u@1"},
			func(s things) { remove(s, "ns/a v@3") },
			[]string{"delete ns/a u@1"},
		},
		{
			"a deletion of an unknown key is nothing", // behaviour 215
			nil,
			func(s things) { remove(s, "ns/a u@1") },
			nil,
		},
		{
			"deleted and created again is two calls",
			[]string{"ns/a u@1"},
			func(s things) { remove(s, "ns/a u@2"); set(s, "ns/a v@3"); set(s, "ns/a v@4") },
			[]string{"delete ns/a u@2", "add ns/a v@4"},
		},
		{
			"also where the deletion was not seen",
			[]string{"ns/a u@1"},
			func(s things) { set(s, "ns/a u@2"); set(s, "ns/a v@3") },
			[]string{"delete ns/a u@2", "add ns/a v@3"},
		},
		{
			"objects in between are not seen",
			[]string{"ns/a u@1"},
			func(s things) { remove(s, "ns/a u@2"); set(s, "ns/a v@3"); remove(s, "ns/a v@4"); set(s, "ns/a w@5") },
			[]string{"delete ns/a u@2", "add ns/a w@5"},
		},
		{
			"and the last may be none",
			[]string{"ns/a u@1"},
			func(s things) { remove(s, "ns/a u@2"); set(s, "ns/a v@3"); remove(s, "ns/a v@4") },
			[]string{"delete ns/a u@2"},
		},
		{
			"an object that is back is an update",
			[]string{"ns/a u@1"},
			func(s things) { remove(s, "ns/a u@2"); set(s, "ns/a v@3"); set(s, "ns/a u@4") },
			[]string{"update ns/a u@1 -> ns/a u@4"},
		},
		{
			"and its final state is the later one",
			[]string{"ns/a u@1"},
			func(s things) {
				remove(s, "ns/a u@2")
				set(s, "ns/a u@3")
				set(s, "ns/a v@4")
				set(s, "ns/a u@5")
				remove(s, "ns/a u@6")
				set(s, "ns/a v@7")
			},
			[]string{"delete ns/a u@6", "add ns/a v@7"},
		},
		{
			"an object that is back as it was is no news",
			[]string{"ns/a u@1"},
			func(s things) { remove(s, "ns/a u@2"); set(s, "ns/a u@1") },
			nil,
		},
		{
			"the same state again is no news",
			[]string{"ns/a u@1"},
			func(s things) { set(s, "ns/a u@1"); relist(s, "1", "ns/a u@1") },
			nil,
		},
		{
			"a bookmark is no news",
			[]string{"ns/a u@1"},
			func(s things) { s.Bookmark("9") },
			nil,
		},
		{
			"states without a version are all news",
			[]string{"ns/a u@"},
			func(s things) { set(s, "ns/a u@"); set(s, "ns/a u@") },
			[]string{"update ns/a u@ -> ns/a u@"},
		},
		{
			"a relist merges like events do",
			[]string{"ns/a u@1", "ns/b u@2", "ns/c u@3"},
			func(s things) {
				set(s, "ns/a u@4")
				set(s, "ns/d u@5")
				relist(s, "9", "ns/a u@6", "ns/b v@7", "ns/e u@8")
			},
			[]string{
				"update ns/a u@1 -> ns/a u@6", "delete ns/b u@2", "add ns/b v@7", "add ns/e u@8", "delete ns/c u@3",
			},
		},
	} {
		bubble(t, test.name, func(t *testing.T) {
			s := storetest.New[*thing]()
			calls := &record{}
			sub := s.Reader().Subscribe(calls)
			relist(s, "0", test.known...)
			drain(t, s)
			calls.Take()
			test.write(s)
			if pending(sub) > len(test.want) {
				t.Errorf("%d pending, want at most %d", pending(sub), len(test.want))
			}
			drain(t, s)
			expect(t, "calls", calls.Take(), test.want...)
			if pending(sub) != 0 {
				t.Errorf("%d pending after delivery", pending(sub))
			}
		})
	}
}

// behaviour 225: each handler has its own pace. And what comes during a call is delivered after it, from the state that
// the call is about.
func TestASlowHandlerDoesNotDelayOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.New[*thing]()
		a, b := newSlow(), &record{}
		sub := s.Reader().Subscribe(a)
		s.Reader().Subscribe(b)
		stop := deliver(t, s)
		set(s, "ns/a u@1")
		<-a.Started
		synctest.Wait()
		set(s, "ns/a u@2")
		synctest.Wait()
		set(s, "ns/a u@3")
		synctest.Wait()
		expect(t, "the fast one", b.Take(),
			"add ns/a u@1", "update ns/a u@1 -> ns/a u@2", "update ns/a u@2 -> ns/a u@3")
		pass(3 * time.Second)
		if depth, age := sub.Backlog(); depth != 2 || age != 3*time.Second {
			t.Errorf("backlog %d, %v, want the call and one more change, 3s", depth, age)
		}
		a.Next <- struct{}{}
		<-a.Started
		pass(time.Second)
		if depth, age := sub.Backlog(); depth != 1 || age != 4*time.Second {
			t.Errorf("backlog %d, %v, want the call, 4s", depth, age)
		}
		remove(s, "ns/a u@4")
		a.Next <- struct{}{}
		<-a.Started
		a.Next <- struct{}{}
		synctest.Wait()
		expect(t, "the slow one", a.Take(), "add ns/a u@1", "update ns/a u@1 -> ns/a u@3", "delete ns/a u@4")
		if depth, age := sub.Backlog(); depth != 0 || age != 0 {
			t.Errorf("backlog %d, %v at rest", depth, age)
		}
		stop()
	})
}

// behaviour 237
func TestDeliveryGoesOnAfterAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.New[*thing]()
		cause := errors.New("cause")
		calls := &record{}
		told := &record{}
		panicking := s.Reader().Subscribe(cache.HandlerFuncs[*thing]{
			Add:    func(o *thing) { calls.OnAdd(o); panic("on add") },
			Update: func(old, now *thing) { calls.OnUpdate(old, now); panic(cause) },
			Delete: func(o *thing) { calls.OnDelete(o); panic("on delete") },
		})
		s.Reader().Subscribe(told)
		var reported []*cache.PanicError
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.Deliver(ctx, func(err *cache.PanicError) { reported = append(reported, err) }) }()
		relist(s, "1", "ns/a u@1")
		synctest.Wait()
		set(s, "ns/a u@2")
		synctest.Wait()
		set(s, "ns/a v@3")
		synctest.Wait()
		select {
		case <-panicking.Synced():
		default:
			t.Error("a handler that panicked is not synced")
		}
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Deliver: %v", err)
		}
		want := []string{"add ns/a u@1", "update ns/a u@1 -> ns/a u@2", "delete ns/a u@2", "add ns/a v@3"}
		expect(t, "calls of the panicking handler", calls.Take(), want...)
		expect(t, "calls of the other", told.Take(), want...)
		var texts []string
		for _, err := range reported {
			texts = append(texts, err.Error())
			if err.Key != key("ns/a") || !strings.Contains(string(err.Stack), "TestDeliveryGoesOnAfterAPanic") {
				t.Errorf("key %v, stack %s", err.Key, err.Stack)
			}
		}
		expect(t, "reported", texts,
			`deliver OnAdd of "ns/a": handler panicked: on add`,
			`deliver OnUpdate of "ns/a": handler panicked: cause`,
			`deliver OnDelete of "ns/a": handler panicked: on delete`,
			`deliver OnAdd of "ns/a": handler panicked: on add`,
		)
		if !errors.Is(reported[1], cause) || errors.Unwrap(reported[0]) != nil {
			t.Error("Unwrap does not give the error that the handler panicked with, and only that")
		}
	})
}

// behaviour 244
func TestDeliverEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.New[*thing]()
		h := newSlow()
		sub := s.Reader().Subscribe(h)
		idle := s.Reader().Subscribe(nil)
		relist(s, "3", "ns/a u@1", "ns/b u@2", "ns/c u@3")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Deliver(ctx, nil) }()
		<-h.Started
		if err := s.Deliver(t.Context(), nil); err == nil {
			t.Error("a second Deliver did not fail")
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		select {
		case <-done:
			t.Fatal("Deliver returned during a call")
		default:
		}
		h.Next <- struct{}{}
		if err := <-done; err != nil {
			t.Errorf("Deliver = %v", err)
		}
		if n := len(h.Take()); n != 1 || pending(sub) != 2 {
			t.Errorf("%d calls and %d pending, want the one in progress, and 2", n, pending(sub))
		}
		if pending(idle) != 0 {
			t.Errorf("%d pending for a handler that does nothing", pending(idle))
		}
		// Nothing is lost, and nothing told again, when delivery goes on.
		set(s, "ns/a u@4")
		stop := deliver(t, s)
		for range 3 {
			<-h.Started
			h.Next <- struct{}{}
		}
		synctest.Wait()
		stop()
		expect(t, "calls", h.Take(), "add ns/b u@2", "add ns/c u@3", "update ns/a u@1 -> ns/a u@4")
		cancelled, cancelNow := context.WithCancel(t.Context())
		cancelNow()
		set(s, "ns/a u@5")
		if err := s.Deliver(cancelled, nil); err != nil || pending(sub) != 1 {
			t.Errorf("Deliver with an ended context: %v, %d pending, want nil, 1", err, pending(sub))
		}
	})
}

// A handler that ends its goroutine, as t.FailNow does, does not hang Deliver or Done.
func TestDeliverSurvivesGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.New[*thing]()
		inner := make(chan struct{})
		sub := s.Reader().Subscribe(cache.HandlerFuncs[*thing]{Add: func(*thing) {
			defer close(inner)
			runtime.Goexit()
		}})
		set(s, "ns/a u@1")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- s.Deliver(ctx, nil) }()
		<-inner
		synctest.Wait()
		if pending(sub) != 0 {
			t.Errorf("%d pending", pending(sub))
		}
		sub.Close()
		<-sub.Done()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// A backlog is bounded by the keys, not by the changes, and gives its memory back.
func TestBacklogIsBoundedByKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.New[*thing]()
		h := newSlow()
		sub := s.Reader().Subscribe(h)
		stop := deliver(t, s)
		set(s, "ns/stuck u@1")
		<-h.Started
		const keys, rounds = 100, 50
		version := 1
		for range rounds {
			for k := range keys {
				version++
				set(s, fmt.Sprintf("ns/%d u@%d", k, version))
				version++
				set(s, fmt.Sprintf("ns/short-lived-%d u@%d", version, version))
				remove(s, fmt.Sprintf("ns/short-lived-%d u@%d", version, version))
			}
		}
		if got := pending(sub); got != keys+1 {
			t.Errorf("%d pending, want %d", got, keys+1)
		}
		h.Next <- struct{}{}
		for range keys {
			<-h.Started
			h.Next <- struct{}{}
		}
		synctest.Wait()
		if got := len(h.Take()); got != keys+1 {
			t.Errorf("%d calls, want one per key: %d", got, keys+1)
		}
		stop()
	})
}

// A subscription took 100 KB after a thousand objects had passed through it.
func TestAnIdleSubscriptionIsSmall(t *testing.T) {
	const subscriptions, objects, most = 100, 1000, 4096
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	for name, match := range map[string]func(*thing) bool{
		"all": nil, "few": func(o *thing) bool { return len(o.ID.UID) == 1 }, "none": func(*thing) bool { return false },
	} {
		bubble(t, name, func(t *testing.T) {
			s := storetest.New[*thing]()
			fill := func(version int) {
				for i := range objects {
					set(s, fmt.Sprintf("ns/%d %d@%d", i, i, version))
				}
			}
			fill(1)
			s.Relist().Commit("1")
			relist(s, "1", "ns/0 0@1")
			fill(2)
			before := heap()
			for range subscriptions {
				s.Reader().Where(match).Subscribe(nil)
			}
			drain(t, s)
			for i := range objects {
				remove(s, fmt.Sprintf("ns/%d %d@3", i, i))
			}
			fill(4)
			drain(t, s)
			if each := (int64(heap()) - int64(before)) / subscriptions; each > most {
				t.Errorf("%d bytes for each subscription, want %d or less", each, most)
			}
			runtime.KeepAlive(s)
		})
	}
}
