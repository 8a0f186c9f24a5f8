package recorder

import "testing"

func TestTheEntryThatWasUsedLeastRecentlyMakesRoom(t *testing.T) {
	l := newLRU[string, int](3)
	for i, k := range []string{"a", "b", "c"} {
		*l.get(k) = i + 1
	}
	l.get("a") // so that b is the oldest
	*l.get("d") = 4
	if len(l.entries) != 3 || l.order.Len() != 3 {
		t.Errorf("there are %d entries, %d in order", len(l.entries), l.order.Len())
	}
	for k, want := range map[string]int{"a": 1, "c": 3, "d": 4} {
		if got := *l.get(k); got != want {
			t.Errorf("%s is %d, want %d", k, got, want)
		}
	}
	if got := *l.get("b"); got != 0 {
		t.Errorf("b is still %d", got)
	}
}
