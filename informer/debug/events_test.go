package debug

import (
	"fmt"
	"slices"
	"testing"
)

func seqs(all []event) (numbers []int) {
	for _, e := range all {
		numbers = append(numbers, int(e.Seq))
	}
	return numbers
}

func TestEventsOfOneKindDoNotDisplaceOthers(t *testing.T) {
	e := newEvents(3)
	e.add(event{Kind: ofRun})
	for range 10 {
		e.add(event{Kind: ofWatch})
	}
	e.add(event{Kind: ofList})
	all, last := e.since(0, kinds(), 100)
	if got := seqs(all); !slices.Equal(got, []int{1, 9, 10, 11, 12}) || last != 12 {
		t.Errorf("the events are %v, the last is %d", got, last)
	}
	some, _ := e.since(9, []kind{ofWatch, ofRun}, 100)
	if got := seqs(some); !slices.Equal(got, []int{10, 11}) {
		t.Errorf("after 9 there are %v", got)
	}
	latest, _ := e.since(0, kinds(), 2)
	if got := seqs(latest); !slices.Equal(got, []int{11, 12}) {
		t.Errorf("the latest two are %v", got)
	}
	if n := e.counts()[ofWatch]; n != 10 {
		t.Errorf("%d events of watches are counted", n)
	}
}

func TestACursorSeesEachEventOnceOrHowManyItMissed(t *testing.T) {
	e := newEvents(5)
	for range 3 {
		e.add(event{Kind: ofWatch})
	}
	c, later := e.from(1, []kind{ofWatch, ofList})
	if later {
		t.Error("all events after 1 are kept")
	}
	found, missed, _ := c.next(1)
	if got := seqs(found); !slices.Equal(got, []int{2}) || missed != 0 {
		t.Errorf("first %v, missed %d", got, missed)
	}
	found, _, _ = c.next(10)
	if got := seqs(found); !slices.Equal(got, []int{3}) {
		t.Errorf("then %v", got)
	}
	found, missed, more := c.next(10)
	if len(found)+missed != 0 || more == nil {
		t.Fatalf("then %v, missed %d", found, missed)
	}
	e.add(event{Kind: ofRun}) // of another kind
	<-more
	if found, missed, _ := c.next(10); len(found)+missed != 0 {
		t.Errorf("an event of another kind gives %v, missed %d", found, missed)
	}
	for range 12 {
		e.add(event{Kind: ofWatch})
	}
	e.add(event{Kind: ofList})
	found, missed, _ = c.next(4)
	if got := seqs(found); !slices.Equal(got, []int{12, 13, 14, 15}) || missed != 7 {
		t.Errorf("after a flood: %v, missed %d", got, missed)
	}
	found, missed, _ = c.next(4)
	if got := seqs(found); !slices.Equal(got, []int{16, 17}) || missed != 0 {
		t.Errorf("the rest: %v, missed %d", got, missed)
	}
}

func TestACursorReportsThatEventsAreMissing(t *testing.T) {
	e := newEvents(2)
	for range 5 {
		e.add(event{Kind: ofWatch})
	}
	for after, want := range map[uint64]bool{0: true, 2: true, 3: false, 5: false, 99: true} {
		c, later := e.from(after, kinds())
		if later != want {
			t.Errorf("after %d: events are missing: %t, want %t", after, later, want)
		}
		if found, missed, _ := c.next(10); missed != 0 || fmt.Sprint(seqs(found)) != fmt.Sprint(map[bool][]int{true: {4, 5}}[after < 4 || after > 5]) {
			t.Errorf("after %d: %v, missed %d", after, seqs(found), missed)
		}
	}
}
