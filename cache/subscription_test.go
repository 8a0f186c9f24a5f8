package cache_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

// behaviours 226, 227
func TestSynced(t *testing.T) {
	for _, test := range []struct {
		name   string
		before func(things) // the subscription
		after  func(things)
		steps  int // calls until synced; -1: never
		calls  string
	}{
		{"not before the first list", nil, func(s things) { set(s, "ns/a u@1") }, -1, "add ns/a u@1"},
		{"at once if the first list is empty", nil, func(s things) { relist(s, "1") }, 0, ""},
		{"at once if the cache is empty", func(s things) { relist(s, "1") }, nil, 0, ""},
		{
			"after the objects of the first list",
			nil,
			func(s things) { relist(s, "2", "ns/a u@1", "ns/b u@2"); set(s, "ns/c u@3") },
			2, "add ns/a u@1; add ns/b u@2; add ns/c u@3",
		},
		{
			"after the objects that were set before the first list",
			nil,
			func(s things) { set(s, "ns/a u@1"); relist(s, "2", "ns/a u@1"); set(s, "ns/c u@3") },
			1, "add ns/a u@1; add ns/c u@3",
		},
		{
			"after the objects that are there when a late subscription is made",
			func(s things) { relist(s, "2", "ns/a u@1") },
			func(s things) { set(s, "ns/b u@3"); set(s, "ns/a u@4") },
			1, "add ns/a u@4; add ns/b u@3",
		},
		{
			"a subscription between objects and first list waits for the first list",
			func(s things) { set(s, "ns/a u@1") },
			func(s things) { set(s, "ns/b u@2"); relist(s, "2", "ns/a u@1", "ns/b u@2"); set(s, "ns/c u@3") },
			2, "add ns/a u@1; add ns/b u@2; add ns/c u@3",
		},
		{
			"objects that have gone are not waited for",
			func(s things) { relist(s, "2", "ns/a u@1") },
			func(s things) { remove(s, "ns/a u@3") },
			0, "",
		},
		{
			"nor are those that come back, which come later",
			func(s things) { relist(s, "2", "ns/a u@1") },
			func(s things) { remove(s, "ns/a u@3"); set(s, "ns/a v@4") },
			0, "add ns/a v@4",
		},
		{
			"a second list is not waited for",
			func(s things) { relist(s, "2", "ns/a u@1") },
			func(s things) { relist(s, "3", "ns/a u@1", "ns/b u@2") },
			1, "add ns/a u@1; add ns/b u@2",
		},
	} {
		bubble(t, test.name, func(t *testing.T) {
			s := storetest.New[*thing]()
			if test.before != nil {
				test.before(s)
			}
			h := newSlow()
			sub := s.Reader().Subscribe(h)
			initial, later := 0, 0
			s.Reader().Subscribe(cache.HandlerFuncs[*thing]{Initial: func(*thing) { initial++ }, Add: func(*thing) { later++ }})
			if test.after != nil {
				test.after(s)
			}
			stop := deliver(t, s)
			steps := -1
			for done := 0; ; done++ {
				synctest.Wait()
				if isClosed(sub.Synced()) && steps < 0 {
					steps = done
				}
				if pending(sub) == 0 {
					break
				}
				<-h.Started
				h.Next <- struct{}{}
			}
			stop()
			if steps != test.steps {
				t.Errorf("synced after %d calls, want %d", steps, test.steps)
			}
			got := strings.Join(h.Take(), "; ")
			if got != test.calls {
				t.Errorf("calls %q, want %q", got, test.calls)
			}
			all, want := strings.Count(got, "add"), test.steps
			if want < 0 {
				want = all
			}
			if initial != want || later != all-want {
				t.Errorf("%d objects are initial, and %d are not; want %d of %d to be", initial, later, want, all)
			}
		})
	}
}

// A handler is synced when the call for the last initial object has returned, whatever happens while it runs.
func TestAHandlerIsSyncedWhenItsLastInitialCallReturns(t *testing.T) {
	for _, test := range []struct {
		name        string
		first, then func(s things)
	}{
		{
			"a change during the call",
			func(s things) { relist(s, "2", "ns/a u@1") },
			func(s things) { set(s, "ns/b u@3") },
		},
		{
			"the first list is complete during the call",
			func(s things) { set(s, "ns/a u@1") },
			func(s things) { relist(s, "2", "ns/a u@1") },
		},
	} {
		bubble(t, test.name, func(t *testing.T) {
			s := storetest.New[*thing]()
			h := newSlow()
			sub := s.Reader().Subscribe(h)
			stop := deliver(t, s)
			test.first(s)
			<-h.Started
			test.then(s)
			synctest.Wait()
			if isClosed(sub.Synced()) {
				t.Error("synced during the call")
			}
			h.Next <- struct{}{}
			synctest.Wait()
			if !isClosed(sub.Synced()) {
				t.Error("not synced after the call")
			}
			for pending(sub) > 0 {
				<-h.Started
				h.Next <- struct{}{}
				synctest.Wait()
			}
			stop()
		})
	}
}

func TestWaitSynced(t *testing.T) {
	cause := errors.New("the test is over")
	for _, test := range []struct {
		name string
		act  func(s things, sub *cache.Subscription, cancel context.CancelCauseFunc)
		want string
	}{
		{
			"returns when synced",
			func(s things, _ *cache.Subscription, _ context.CancelCauseFunc) { relist(s, "1") },
			"",
		},
		{
			"names the cause when the context ends",
			func(_ things, _ *cache.Subscription, cancel context.CancelCauseFunc) { cancel(cause) },
			"wait for a subscription to sync: the test is over",
		},
		{
			"fails when the subscription is closed",
			func(_ things, sub *cache.Subscription, _ context.CancelCauseFunc) { sub.Close() },
			"wait for a subscription to sync: the subscription is closed",
		},
		{
			"prefers synced to all else",
			func(s things, sub *cache.Subscription, cancel context.CancelCauseFunc) {
				relist(s, "1")
				sub.Close()
				cancel(cause)
			},
			"",
		},
	} {
		bubble(t, test.name, func(t *testing.T) {
			s := storetest.New[*thing]()
			sub := s.Reader().Subscribe(nil)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			result := make(chan error)
			go func() { result <- sub.WaitSynced(ctx) }()
			synctest.Wait()
			test.act(s, sub, cancel)
			for _, err := range []error{<-result, sub.WaitSynced(ctx)} {
				got := ""
				if err != nil {
					got = err.Error()
				}
				if got != test.want {
					t.Errorf("WaitSynced = %q, want %q", got, test.want)
				}
			}
			if ctx.Err() != nil && test.want != "" && !errors.Is(sub.WaitSynced(ctx), cause) {
				t.Error("the error does not wrap the cause")
			}
		})
	}
}

// behaviours 229, 231, fault F36
func TestClose(t *testing.T) {
	t.Run("from outside, during a call", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := storetest.New[*thing]()
			h, other := newSlow(), &record{}
			sub := s.Reader().Subscribe(h)
			s.Reader().Subscribe(other)
			stop := deliver(t, s)
			relist(s, "2", "ns/a u@1", "ns/b u@2")
			<-h.Started
			sub.Close()
			sub.Close()
			if isClosed(sub.Done()) {
				t.Error("done during a call")
			}
			if pending(sub) != 1 {
				t.Errorf("%d pending, want the call in progress", pending(sub))
			}
			h.Next <- struct{}{}
			<-sub.Done()
			synctest.Wait()
			set(s, "ns/a u@3")
			synctest.Wait()
			if pending(sub) != 0 || isClosed(sub.Synced()) {
				t.Errorf("%d pending, synced: %v; want 0 and not", pending(sub), isClosed(sub.Synced()))
			}
			expect(t, "calls", h.Take(), "add ns/a u@1")
			expect(t, "calls of the other", other.Take(), "add ns/a u@1", "add ns/b u@2", "update ns/a u@1 -> ns/a u@3")
			stop()
		})
	})
	t.Run("from its own handler", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := storetest.New[*thing]()
			calls := &record{}
			var sub *cache.Subscription
			sub = s.Reader().Subscribe(cache.HandlerFuncs[*thing]{
				Add:    calls.OnAdd,
				Delete: func(o *thing) { calls.OnDelete(o); sub.Close() },
			})
			stop := deliver(t, s)
			set(s, "ns/a u@1")
			synctest.Wait()
			set(s, "ns/a v@2") // the second of the two calls does not come any more
			<-sub.Done()
			expect(t, "calls", calls.Take(), "add ns/a u@1", "delete ns/a u@1")
			stop()
		})
	})
	t.Run("of another handler's, and a new one in its place, from a handler", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := storetest.New[*thing]()
			first, second := &record{}, &record{}
			sub := s.Reader().Subscribe(first)
			s.Reader().Subscribe(cache.HandlerFuncs[*thing]{Add: func(*thing) {
				sub.Close()
				s.Reader().Subscribe(second)
			}})
			stop := deliver(t, s)
			set(s, "ns/a u@1")
			<-sub.Done()
			synctest.Wait()
			expect(t, "the new one's calls", second.Take(), "add ns/a u@1")
			first.Take()
			set(s, "ns/a u@2")
			synctest.Wait()
			expect(t, "the new one's calls", second.Take(), "update ns/a u@1 -> ns/a u@2")
			expect(t, "the closed one's calls", first.Take())
			stop()
		})
	})
	t.Run("while nothing delivers", func(t *testing.T) {
		s := storetest.New[*thing]()
		sub := s.Reader().Subscribe(&record{})
		set(s, "ns/a u@1")
		sub.Close()
		<-sub.Done()
		if err := s.Deliver(ended(t), nil); err != nil {
			t.Error(err)
		}
	})
}

func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// behaviour 229
func TestTheSameHandlerTwiceIsTwoSubscriptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.New[*thing]()
		calls := &record{}
		first := s.Reader().Subscribe(calls)
		s.Reader().Subscribe(calls)
		set(s, "ns/a u@1")
		drain(t, s)
		expect(t, "calls", calls.Take(), "add ns/a u@1", "add ns/a u@1")
		first.Close()
		remove(s, "ns/a u@2")
		drain(t, s)
		expect(t, "calls", calls.Take(), "delete ns/a u@2")
	})
}

// A handler finds in the reader what it is told of.
func TestReadersHaveTheStateThatAHandlerReceives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.New[*thing]()
		r := s.Reader()
		ix := cache.NewIndex(r, byTag)
		r.Subscribe(cache.HandlerFuncs[*thing]{
			Add: func(o *thing) {
				if got, ok := r.Get(o.ID.Key()); !ok || got != o || ix.Len("x") != 1 {
					t.Errorf("told of %v, read %v, index %d", o, got, ix.Len("x"))
				}
			},
			Delete: func(o *thing) {
				if got, ok := r.Get(o.ID.Key()); ok || ix.Len("x") != 0 {
					t.Errorf("told that %v has gone, read %v, index %d", o, got, ix.Len("x"))
				}
			},
		})
		stop := deliver(t, s)
		for range 100 {
			set(s, "ns/a u@1", "x")
			synctest.Wait()
			remove(s, "ns/a u@2")
			synctest.Wait()
		}
		stop()
	})
}

// Handled waits for the changes that there are when it is called: not for later ones, and not for a store without a list.
func TestHandled(t *testing.T) {
	for name, view := range map[string]func(things, cache.Handler[*thing]) *cache.Subscription{
		"all": func(s things, h cache.Handler[*thing]) *cache.Subscription {
			return s.Reader().Subscribe(h)
		},
		"of a view": func(s things, h cache.Handler[*thing]) *cache.Subscription {
			return s.Reader().Where(nil).Subscribe(h)
		},
	} {
		bubble(t, name, func(t *testing.T) {
			s := storetest.New[*thing]()
			h := newSlow()
			sub := view(s, h)
			if !isClosed(sub.Handled()) {
				t.Error("there is nothing to handle, and it waits")
			}
			set(s, "ns/a u@1")
			set(s, "ns/b u@2")
			two := sub.Handled()
			set(s, "ns/a u@3")
			set(s, "ns/c u@4")
			three := sub.Handled()
			stop := deliver(t, s)
			for n, want := range []string{"false false", "false false", "true false", "true true"} {
				synctest.Wait()
				if got := fmt.Sprint(isClosed(two), " ", isClosed(three)); got != want {
					t.Errorf("after %d calls: %s, want %s", n, got, want)
				}
				if n < 3 {
					<-h.Started
					h.Next <- struct{}{}
				}
			}
			if isClosed(sub.Synced()) {
				t.Error("it is synced without a list")
			}
			stop()
			set(s, "ns/d u@5")
			pending := sub.Handled()
			sub.Close()
			sub.Close()
			if isClosed(pending) || isClosed(sub.Handled()) || isClosed((&cache.Subscription{}).Handled()) {
				t.Error("a closed subscription has handled something")
			}
		})
	}
}

// A nil handler is told of nothing, and knows all that the cache knows.
func TestANilHandlerReceivesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.New[*thing]()
		sub := s.Reader().Subscribe(nil)
		relist(s, "1", "ns/a u@1")
		set(s, "ns/a u@2")
		drain(t, s)
		if pending(sub) != 0 || !isClosed(sub.Synced()) {
			t.Errorf("%d pending, synced: %v; want 0 and synced", pending(sub), isClosed(sub.Synced()))
		}
	})
}
