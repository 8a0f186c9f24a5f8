package cache_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

func tagged(o *thing) bool { return slices.Contains(o.Tags, "in") }

// behaviour 241: entering the filter is OnAdd, and leaving it OnDelete, however much is merged.
func TestWhere(t *testing.T) {
	in := func(s things, state string) { set(s, state, "in") }
	for _, test := range []struct {
		name  string
		known func(things)
		write func(things)
		want  []string
	}{
		{"what does not match is not seen", nil, func(s things) { set(s, "ns/a u@1"); set(s, "ns/a u@2"); remove(s, "ns/a u@3") }, nil},
		{"what matches is", nil, func(s things) { in(s, "ns/a u@1") }, []string{"add ns/a u@1"}},
		{"nor is it when it goes", func(s things) { set(s, "ns/a u@1") }, func(s things) { remove(s, "ns/a u@2") }, nil},
		{
			"an update enters",
			func(s things) { set(s, "ns/a u@1") },
			func(s things) { in(s, "ns/a u@2") },
			[]string{"add ns/a u@2"},
		},
		{
			"an update within",
			func(s things) { in(s, "ns/a u@1") },
			func(s things) { in(s, "ns/a u@2") },
			[]string{"update ns/a u@1 -> ns/a u@2"},
		},
		{
			"an update leaves, and OnDelete is given the newest state",
			func(s things) { in(s, "ns/a u@1") },
			func(s things) { set(s, "ns/a u@2") },
			[]string{"delete ns/a u@2"},
		},
		{
			"a deletion is given the final state",
			func(s things) { in(s, "ns/a u@1") },
			func(s things) { remove(s, "ns/a u@2") },
			[]string{"delete ns/a u@2"},
		},
		{
			"the old object is the one that was given last",
			func(s things) { in(s, "ns/a u@1") },
			func(s things) { set(s, "ns/a u@2"); in(s, "ns/a u@3") },
			[]string{"update ns/a u@1 -> ns/a u@3"},
		},
		{
			"left and gone is one deletion",
			func(s things) { in(s, "ns/a u@1") },
			func(s things) { set(s, "ns/a u@2"); remove(s, "ns/a u@3") },
			[]string{"delete ns/a u@3"},
		},
		{
			"another object under its name that matches",
			func(s things) { in(s, "ns/a u@1") },
			func(s things) { in(s, "ns/a v@2") },
			[]string{"delete ns/a u@1", "add ns/a v@2"},
		},
		{
			"another object under its name that does not",
			func(s things) { in(s, "ns/a u@1") },
			func(s things) { remove(s, "ns/a u@2"); set(s, "ns/a v@3") },
			[]string{"delete ns/a u@2"},
		},
		{
			"one that matches in place of one that did not",
			func(s things) { set(s, "ns/a u@1") },
			func(s things) { in(s, "ns/a v@2") },
			[]string{"add ns/a v@2"},
		},
		{
			"entered and left again before delivery is no news",
			func(s things) { set(s, "ns/a u@1") },
			func(s things) { in(s, "ns/a u@2"); set(s, "ns/a u@3") },
			nil,
		},
		{
			"a relist enters and leaves like events do",
			func(s things) { in(s, "ns/a u@1"); set(s, "ns/b u@2"); in(s, "ns/c u@3") },
			func(s things) {
				r := s.Relist()
				r.Set(id("ns/a u@4"), object("ns/a u@4"))
				r.Set(id("ns/b u@5"), object("ns/b u@5", "in"))
				r.Keep(id("ns/c u@3"))
				r.Commit("6")
			},
			[]string{"delete ns/a u@4", "add ns/b u@5"},
		},
	} {
		bubble(t, test.name, func(t *testing.T) {
			s := storetest.New[*thing]()
			calls := &record{}
			sub := s.Reader().Where(tagged).Subscribe(calls)
			relist(s, "0")
			if test.known != nil {
				test.known(s)
			}
			drain(t, s)
			calls.Take()
			test.write(s)
			drain(t, s)
			expect(t, "calls", calls.Take(), test.want...)
			if pending(sub) != 0 || !isClosed(sub.Synced()) {
				t.Errorf("%d pending, synced %v", pending(sub), isClosed(sub.Synced()))
			}
		})
	}
}

// A late subscriber is given what matches, and is synced when everything that is there has been looked at.
func TestALateSubscriberOfAViewGetsWhatMatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.New[*thing]()
		relist(s, "0")
		set(s, "ns/a u@1", "in")
		set(s, "ns/b u@2")
		calls, all := &record{}, &record{}
		sub := s.Reader().Where(tagged).Subscribe(calls)
		s.Reader().Where(nil).Subscribe(all)
		drain(t, s)
		expect(t, "calls", calls.Take(), "add ns/a u@1")
		expect(t, "calls without a condition", sorted(all.Take()), "add ns/a u@1", "add ns/b u@2")
		if !isClosed(sub.Synced()) {
			t.Error("not synced")
		}
		sub.Close()
		set(s, "ns/a u@3")
		drain(t, s)
		expect(t, "calls when closed", calls.Take())
		var none cache.Reader[*thing]
		<-none.Subscribe(calls).Done()
		<-cache.Reader[*thing]{}.Where(tagged).Subscribe(calls).Done()
	})
}

// A panic of the condition is reported as a handler's is, and the object does not match. So is a change of its mind: the
// calls for each key stay cycles.
func TestWherePanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.New[*thing]()
		cause := errors.New("cause")
		calls := &record{}
		open := true
		s.Reader().Where(func(o *thing) bool {
			if slices.Contains(o.Tags, "bad") {
				panic(cause)
			}
			return open
		}).Subscribe(calls)
		var reported []*cache.PanicError
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.Deliver(ctx, func(err *cache.PanicError) { reported = append(reported, err) }) }()
		for i, tag := range []string{"good", "bad", "bad", "good"} {
			set(s, fmt.Sprintf("ns/a u@%d", i+1), tag)
			synctest.Wait()
		}
		open = false
		remove(s, "ns/a u@8")
		synctest.Wait()
		open = true
		set(s, "ns/a v@9")
		synctest.Wait()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		expect(t, "calls", calls.Take(), "add ns/a u@1", "delete ns/a u@2", "add ns/a u@4", "delete ns/a u@8", "add ns/a v@9")
		if len(reported) != 2 {
			t.Fatalf("%d panics reported, want 2", len(reported))
		}
		for _, err := range reported {
			if err.Op != "match" || err.Key != key("ns/a") || !errors.Is(err, cause) ||
				!strings.Contains(string(err.Stack), "TestWherePanics") ||
				err.Error() != `deliver match of "ns/a": function panicked: cause` {
				t.Errorf("reported %v, of %v", err, err.Key)
			}
		}
	})
}

// A long list for a function that takes its time does not delay the end of Deliver, and the next one goes on with it.
func TestWhereEndsWithDeliver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.New[*thing]()
		relist(s, "1")
		calls, asked := &record{}, 0
		ctx, cancel := context.WithCancel(t.Context())
		sub := s.Reader().Where(func(o *thing) bool {
			asked++
			cancel()
			return tagged(o)
		}).Subscribe(calls)
		var want []string
		for i := range 100 {
			state := fmt.Sprintf("ns/%02d u@%d", i, i+2)
			set(s, state, "in")
			want = append(want, "add "+state)
		}
		if err := s.Deliver(ctx, nil); err != nil {
			t.Error(err)
		}
		if asked != 1 || pending(sub) < 99 {
			t.Errorf("asked %d times after the end, and %d of 100 are pending", asked-1, pending(sub))
		}
		stop := deliver(t, s)
		synctest.Wait()
		stop()
		expect(t, "calls", calls.Take(), want...)
	})
}

// A condition may close its own subscription: the handler is not called any more.
func TestAConditionMayCloseItsSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.New[*thing]()
		calls := &record{}
		var sub *cache.Subscription
		sub = s.Reader().Where(func(*thing) bool { sub.Close(); return true }).Subscribe(calls)
		set(s, "ns/a u@1")
		drain(t, s)
		<-sub.Done()
		expect(t, "calls", calls.Take())
	})
}

var _ interface {
	Subscribe(cache.Handler[meta.Object]) *cache.Subscription
} = cache.Reader[meta.Object]{}

// A function that selects hears of each state at most once, while nothing is locked.
func TestWhereSelectsWithNothingLocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.New[*thing]()
		relist(s, "1")
		calls, seen := &record{}, map[string]int{}
		var sub *cache.Subscription
		sub = s.Reader().Where(func(o *thing) bool {
			seen[o.String()]++
			if pending(sub) == 0 {
				t.Errorf("%v is not pending while it is being selected", o)
			}
			s.Reader().Get(o.ID.Key())
			if o.ID.Name == "a" && len(seen) == 1 {
				set(s, "ns/b u@3", "in")
				set(s, "ns/b u@4", "in")
				if got := pending(sub); got != 2 {
					t.Errorf("%d pending, want a and b", got)
				}
			}
			return tagged(o)
		}).Subscribe(calls)
		stop := deliver(t, s)
		set(s, "ns/a u@2", "in")
		synctest.Wait()
		expect(t, "calls", calls.Take(), "add ns/a u@2", "add ns/b u@4")
		for state, n := range seen {
			if n != 1 {
				t.Errorf("%s is selected %d times", state, n)
			}
		}
		if pending(sub) != 0 {
			t.Errorf("%d pending", pending(sub))
		}
		stop()
	})
}
