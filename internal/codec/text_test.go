package codec

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"
)

// decodeText takes the strings of one object.
func decodeText(t *text, strings ...string) []string {
	t.begin(1<<20, new(hint))
	out := make([]string, len(strings))
	for i, s := range strings {
		out[i] = t.string([]byte(s))
	}
	t.end(new(hint))
	return out
}

func TestStringsThatRepeatAreShared(t *testing.T) {
	var table text
	for i := range 3 {
		got := decodeText(&table, "TCP", fmt.Sprintf("uid-%d", i), strings.Repeat("x", longestEntry+1))
		again := decodeText(&table, "TCP", fmt.Sprintf("uid-%d", i+10), strings.Repeat("x", longestEntry+1))
		if got[0] != "TCP" || again[0] != "TCP" || got[1] != fmt.Sprintf("uid-%d", i) {
			t.Fatalf("got %q, %q", got, again)
		}
		if shared := unsafe.StringData(got[0]) == unsafe.StringData(again[0]); shared != (i > 0) { // from the second time on
			t.Errorf("round %d: shared is %v", i, shared)
		}
		if unsafe.StringData(got[2]) == unsafe.StringData(again[2]) {
			t.Error("a string that is too long is shared")
		}
	}
}

// What does not repeat must not drive out what does, however much it is.
func TestUniqueStringsLeaveTheTableAlone(t *testing.T) {
	var table text
	common := make([]string, 50)
	for i := range common {
		common[i] = fmt.Sprintf("common-%d", i)
	}
	for range 4 {
		decodeText(&table, common...)
	}
	before := decodeText(&table, common...)
	for i := range 100_000 {
		decodeText(&table, fmt.Sprintf("unique-%d", i))
	}
	lost := 0
	for i, s := range decodeText(&table, common...) {
		if unsafe.StringData(s) != unsafe.StringData(before[i]) {
			lost++
		}
	}
	if lost > 0 {
		t.Errorf("%d of %d are gone", lost, len(common))
	}
}

// A string that has become rare gives its place to one that repeats.
func TestTheTableFollowsWhatRepeats(t *testing.T) {
	var table text
	for generation := range 3 {
		names := make([]string, 4*len(table.table))
		for i := range names {
			names[i] = fmt.Sprintf("%d-%d", generation, i)
		}
		for _, name := range names {
			decodeText(&table, name, name, name, name)
		}
		present := 0
		for i := range table.table {
			if strings.HasPrefix(table.table[i].s, fmt.Sprint(generation, "-")) {
				present++
			}
		}
		if present < len(table.table)/2 {
			t.Errorf("generation %d has %d of %d places", generation, present, len(table.table))
		}
	}
}

// The strings of one object that are new are in one piece of memory, apart from those of other objects.
func TestStringsOfAnObjectAreInOnePiece(t *testing.T) {
	var table text
	first := decodeText(&table, "one", "two", "three")
	second := decodeText(&table, "four", strings.Repeat("large", longestPiece), "five")
	at := func(s string) uintptr { return uintptr(unsafe.Pointer(unsafe.StringData(s))) }
	if at(first[1]) != at(first[0])+3 || at(first[2]) != at(first[1])+3 || at(second[2]) != at(second[0])+4 {
		t.Error("they are not in one piece")
	}
	if d := at(second[0]) - at(first[2]); d < leastPiece/2 {
		t.Errorf("two objects are %d bytes apart", d)
	}
}

// What one large object had must not make room in small ones.
func TestHintFollowsTheSmallerGuess(t *testing.T) {
	for _, test := range []struct {
		name        string
		used, size  []int // in turns
		least, most int   // for the first of them
	}{
		{"objects that are alike", []int{500, 503, 498}, []int{5000, 5010, 4990}, 450, 550},
		{"a small object after a large one", []int{100, 40000}, []int{1000, 400000}, 80, 130},
		{"a small part of documents of any size", []int{100, 101}, []int{1000, 400000}, 0, 110},
		{"nothing", []int{0}, []int{100}, 0, 0},
	} {
		var h hint
		for i := range 300 {
			h.learn(test.used[i%len(test.used)], test.size[i%len(test.size)])
		}
		if got := h.of(test.size[0]); got < test.least || got > test.most {
			t.Errorf("%s: got %d, want from %d to %d", test.name, got, test.least, test.most)
		}
	}
}

func TestHashesDiffer(t *testing.T) {
	seen := map[uint64]string{}
	for _, base := range []string{"", "a", "ab", "abc", "abcd", "abcdefg", "abcdefgh", "abcdefghi", strings.Repeat("k", 40)} {
		for i := range len(base) + 1 {
			for _, c := range []byte{0, 'x', 'y', 0xff} {
				s := base[:i] + string([]byte{c}) + base[i:]
				h := hash([]byte(s))
				if other, ok := seen[h]; ok && other != s {
					t.Errorf("%q and %q have the same", s, other)
				}
				seen[h] = s
			}
		}
	}
}
