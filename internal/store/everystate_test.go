package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/internal/store/storetest"
)

// everyState is a handler that takes every state.
type everyState struct{ record }

func (*everyState) TakeEveryState() {}

// Nothing delivers while the writes of a case are made, so that the handler is as slow as can be.
func TestAHandlerMayTakeEveryState(t *testing.T) {
	for _, test := range []struct {
		name  string
		known []string
		write func(things)
		want  []string
	}{
		{
			"an object that came and went",
			nil,
			func(s things) { set(s, "ns/a u@1"); set(s, "ns/a u@2"); remove(s, "ns/a u@3") },
			[]string{"add ns/a u@1", "update ns/a u@1 -> ns/a u@2", "delete ns/a u@3"},
		},
		{
			"the order of different keys",
			[]string{"ns/a u@1"},
			func(s things) { set(s, "ns/b u@2"); set(s, "ns/a u@3"); set(s, "ns/b u@4") },
			[]string{"add ns/b u@2", "update ns/a u@1 -> ns/a u@3", "update ns/b u@2 -> ns/b u@4"},
		},
		{
			"an object between two of its name",
			[]string{"ns/a u@1"},
			func(s things) { set(s, "ns/a v@2"); set(s, "ns/a w@3") },
			[]string{"delete ns/a u@1", "add ns/a v@2", "delete ns/a v@2", "add ns/a w@3"},
		},
		{
			"an object that is back as it was",
			[]string{"ns/a u@1"},
			func(s things) { remove(s, "ns/a u@2"); set(s, "ns/a u@1") },
			[]string{"delete ns/a u@2", "add ns/a u@1"},
		},
		{
			"a relist and what follows it",
			[]string{"ns/a u@1"},
			func(s things) { relist(s, "9", "ns/b u@3"); remove(s, "ns/b u@10") },
			[]string{"add ns/b u@3", "delete ns/a u@1", "delete ns/b u@10"},
		},
	} {
		bubble(t, test.name, func(t *testing.T) {
			s := storetest.New[*thing]()
			calls := &everyState{}
			sub := s.Reader().Subscribe(calls)
			relist(s, "0", test.known...)
			drain(t, s)
			calls.Take()
			merged := &record{}
			s.Reader().Subscribe(merged) // beside a handler that takes the latest state
			test.write(s)
			if got := pending(sub); got < len(test.want)-2 || got > len(test.want) { // another uid is one change, and two calls
				t.Errorf("%d pending, want at most %d", got, len(test.want))
			}
			drain(t, s)
			expect(t, "calls", calls.Take(), test.want...)
			if pending(sub) != 0 {
				t.Errorf("%d pending after delivery", pending(sub))
			}
			expect(t, "calls of a late and merging handler", merged.Take(), prefixed("add ", states(s.Reader().All()))...)
		})
	}
}

func prefixed(with string, all []string) (out []string) {
	for _, one := range all {
		out = append(out, with+one)
	}
	return out
}

// A filtered view leaves out the states that do not match, and tells the handler when an object leaves.
func TestAHandlerOfAViewMayTakeEveryState(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		s := storetest.New[*thing]()
		relist(s, "0", "ns/a u@0")
		calls := &everyState{}
		even := func(o *thing) bool { return strings.ContainsAny(o.ID.ResourceVersion, "02468") }
		sub := s.Reader().Where(even).Subscribe(calls)
		for _, state := range []string{"ns/a u@1", "ns/a u@2", "ns/b u@3", "ns/b u@4", "ns/a u@6", "ns/b u@7", "ns/b u@8", "ns/c u@9"} {
			set(s, state)
		}
		remove(s, "ns/b u@10")
		if got := pending(sub); got != 10 {
			t.Errorf("%d pending, want one for each state", got)
		}
		drain(t, s)
		expect(t, "calls", calls.Take(),
			"add ns/a u@0", "delete ns/a u@1", "add ns/a u@2", "add ns/b u@4", "update ns/a u@2 -> ns/a u@6",
			"delete ns/b u@7", "add ns/b u@8", "delete ns/b u@10")
		if pending(sub) != 0 {
			t.Errorf("%d pending after delivery", pending(sub))
		}
	})
}

// A handler that hangs holds no more changes than there are objects, or 16,384. The later ones are merged.
func TestAHandlerThatHangsHoldsABoundedNumberOfStates(t *testing.T) {
	const most = 1 << 14
	for _, objects := range []int{10, 3 * most} {
		bubble(t, fmt.Sprint(objects), func(t *testing.T) {
			s, _ := filled(identities(objects))
			calls := &everyState{}
			sub := s.Reader().Subscribe(calls)
			drain(t, s)
			calls.Take()
			bound := max(most, objects)
			write := func(n int) {
				for i := range n {
					state := fmt.Sprintf("ns/a u%d@%d", i, i+2)
					set(s, state)
					remove(s, state)
				}
			}
			write(bound / 2)
			if got := pending(sub); got != bound {
				t.Errorf("%d changes are pending, want all %d", got, bound)
			}
			write(4 * bound)
			if got := pending(sub); got > 2*bound {
				t.Errorf("%d changes are pending after %d, want about %d at most", got, 9*bound, bound)
			}
			drain(t, s)
			if got := calls.Take(); len(got) > bound || !strings.HasPrefix(got[len(got)-1], "delete ns/a") {
				t.Errorf("%d calls, want %d at most, and the last deletion as the last; it is %q", len(got), bound, got[len(got)-1:])
			}
		})
	}
}
