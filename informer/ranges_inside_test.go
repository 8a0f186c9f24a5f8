package informer

import (
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

// growing returns the ranges of an informer that watches from version 5, and to which ranges are added.
func growing() (*portion, state) {
	p := &portion{by: meta.ShardByUID, want: meta.AllRanges(), has: meta.AllRanges().Without(7)}
	return p, p.next(state{phase: Watching, version: "5", seen: "5"})
}

func TestAddedRangesAreListedAndTheWatchResumes(t *testing.T) {
	long := 2 * settled
	var none state
	for _, test := range []struct {
		name   string
		floors []floor // of earlier lists
		was    state   // none for the list of the added ranges
		in     input
		grows  bool // the next list is one of the added ranges
		want   state
		todo   effect
	}{
		{
			"a list is followed by a watch from where it was",
			nil, none,
			input{outcome: done, version: "9"},
			false,
			state{phase: Watching, version: "5", seen: "9"},
			effect{action: watch},
		},
		{
			"one that fails is tried again, and the watch not forgotten",
			nil, none,
			input{outcome: expired},
			true,
			state{phase: Waiting, then: Listing, seen: "5", cause: Grown},
			effect{action: wait, pace: backoff},
		},
		{
			"one whose resource is gone leads to a list of everything",
			nil, none,
			input{outcome: absent},
			false,
			state{phase: Waiting, then: Listing, seen: "5", cause: Absent},
			effect{action: wait, pace: slow},
		},
		{
			"one that is older than the cache shows that the server was rolled back",
			nil, none,
			input{outcome: older},
			false,
			state{phase: Waiting, then: Listing, cause: Reset, afresh: true},
			effect{action: wait, pace: gentle},
		},
		{
			"until the watch comes to that list, the cache is ahead of it",
			[]floor{{version: "8"}, {version: "9"}},
			state{phase: Watching, version: "5", seen: "9"},
			input{outcome: transient, delivered: true, version: "7", lived: long},
			false,
			state{phase: Waiting, then: Watching, version: "7", seen: "9", ask: true},
			effect{action: wait, pace: gentle},
		},
		{
			"and the server is asked for its version before the next watch",
			[]floor{{version: "9"}},
			state{phase: Watching, version: "5", seen: "9"},
			input{outcome: done, delivered: true, version: "7", lived: long},
			false,
			state{phase: Watching, version: "7", seen: "9", asking: true},
			effect{action: ask},
		},
		{
			"once",
			[]floor{{version: "9"}},
			state{phase: Watching, version: "7", seen: "9", asking: true},
			input{outcome: done, version: "7"},
			false,
			state{phase: Watching, version: "7", seen: "9"},
			effect{action: watch},
		},
		{
			"after a wait too",
			[]floor{{version: "9"}},
			state{phase: Waiting, then: Watching, version: "7", seen: "9"},
			input{},
			false,
			state{phase: Watching, then: Watching, version: "7", seen: "9", asking: true},
			effect{action: ask},
		},
		{
			"when the watch has come to that list, it is not",
			nil,
			state{phase: Watching, version: "5", seen: "9"},
			input{outcome: transient, delivered: true, version: "9", lived: long},
			false,
			state{phase: Waiting, then: Watching, version: "9", seen: "9", ask: true},
			effect{action: wait, pace: gentle},
		},
		{
			"a rollback before that leads to a list of everything, of whatever version",
			[]floor{{version: "9"}},
			state{phase: Watching, version: "5", seen: "9"},
			input{outcome: older, delivered: true, version: "7", lived: long},
			false,
			state{phase: Waiting, then: Listing, cause: Reset, afresh: true},
			effect{action: wait, pace: gentle},
		},
		{
			"a relist before that must not be older than the list of the added ranges",
			[]floor{{version: "9"}},
			state{phase: Watching, version: "5", seen: "9"},
			input{outcome: expired, lived: long},
			false,
			state{phase: Waiting, then: Listing, seen: "9", cause: Expired},
			effect{action: wait, pace: gentle},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, was := growing()
			if test.was == none {
				was, _ = start(was, Auto, true, lacks)
			} else {
				was, p.resume = test.was, ""
			}
			p.floors = test.floors
			s, todo := next(was, test.in)
			s, todo = p.after(was, test.in, s, todo)
			s.lacking, todo.why = "", ""
			if s != test.want || todo != test.todo || p.grows(s) != test.grows {
				t.Errorf("%+v, %+v, only the added ranges: %v; want %+v, %+v, %v", s, todo, p.grows(s), test.want, test.todo, test.grows)
			}
		})
	}
}

// A streaming list is not followed up, because its watch is of the added ranges only, and at another version.
func TestAStreamingListOfAddedRangesEnds(t *testing.T) {
	p, s := growing()
	s.relist = true
	s, todo := start(s, Streaming, true, has)
	if todo.action != stream || !p.grows(s) {
		t.Fatalf("%+v, %+v", s, todo)
	}
	in := input{outcome: done, version: "9"}
	was := s
	s, todo = next(s, in)
	if s, todo = p.after(was, in, s, todo); todo.action != watch || todo.learned != has || s.version != "5" || s.seen != "9" || !s.relist || p.grows(s) {
		t.Errorf("%+v, %+v", s, todo)
	}
}

func TestNextRanges(t *testing.T) {
	watching := state{phase: Watching, version: "5", seen: "5"}
	all := meta.AllRanges()
	for _, test := range []struct {
		name      string
		s         state
		want, has meta.Ranges
		resume    string // before
		after     state
		grows     bool
	}{
		{"more ranges", watching, all, all.Without(1), "", state{phase: Watching, seen: "5", cause: Grown}, true},
		{"fewer ranges", watching, all.Without(1), all.Without(1), "", watching, false},
		{"the first ranges", watching, all, meta.Ranges{}, "", state{seen: "5", cause: Grown}, false},
		{
			"more ranges while some are listed",
			state{phase: Listing, seen: "5", cause: Grown},
			all, all.Without(1), "5",
			state{phase: Listing, seen: "5", cause: Grown},
			true,
		},
		{
			"the added ranges are taken away while they are listed",
			state{phase: Listing, seen: "5", cause: Grown},
			all.Without(1), all.Without(1), "5",
			state{phase: Listing, version: "5", seen: "5", cause: Grown},
			false,
		},
		{
			"all are to be listed anyway",
			state{phase: Waiting, then: Listing, seen: "5", cause: Expired},
			all, all.Without(1), "5",
			state{phase: Waiting, then: Listing, seen: "5", cause: Expired},
			false,
		},
		{"versions without an order", state{phase: Watching, version: "x", seen: "x"}, all, all.Without(1), "", state{seen: "x", cause: Grown}, false},
	} {
		p := &portion{want: test.want, has: test.has, resume: test.resume}
		if s := p.next(test.s); s != test.after || p.grows(s) != test.grows {
			t.Errorf("%s: %+v, only the added ranges: %v; want %+v, %v", test.name, s, p.grows(s), test.after, test.grows)
		}
	}
}

// A list of a version without an order does not tell whether it is later than the watch.
func TestAllRangesAreListedIfTheListOfTheAddedOnesHasNoOrder(t *testing.T) {
	p, s := growing()
	if err := p.follows("9"); err != nil || !p.grows(s) {
		t.Fatal(err)
	}
	if err := p.follows("x"); err == nil || p.grows(s) {
		t.Errorf("%v, only the added ranges: %v", err, p.grows(s))
	}
}
