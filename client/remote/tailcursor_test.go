package remote

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// written is a line of a log.
type written struct {
	time time.Time
	text string
}

// FuzzCursor reads a log in answers that are cut anywhere, each from the whole second of the last line on. Its lines share times and
// texts. The lines that are new must be the log.
func FuzzCursor(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 1, 2, 3, 4, 0, 0}, []byte{1, 3, 2, 5, 0, 9})
	f.Add([]byte{8, 8, 8, 8, 8, 8}, []byte{1, 2, 3, 4, 5, 6})
	f.Add([]byte{0, 16, 32, 7, 7, 7, 0, 0}, []byte{2, 4, 6, 8})
	f.Add(make([]byte, 3000), []byte{200, 255, 255, 255, 255, 255, 255, 255, 255, 255})
	steps := []time.Duration{0, 0, 0, 1, 1, 300 * time.Millisecond, time.Second, 90 * time.Second}
	f.Fuzz(func(t *testing.T, spec, cuts []byte) {
		now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
		var log []written
		for _, b := range spec {
			now = now.Add(steps[b%8])
			log = append(log, written{now, fmt.Sprint("text ", b>>3%3)})
		}
		var got []written
		var at cursor
		read := func(n int) (anchored bool) {
			skip, since := at.skip(), at.time.Truncate(time.Second)
			for _, l := range log {
				if l.time.Before(since) {
					continue
				}
				if n == 0 {
					break
				}
				n--
				if !skip.seen(l.time, l.text) {
					at.add(l.time, l.text)
					got = append(got, l)
				}
			}
			return skip.anchored
		}
		for _, n := range cuts {
			read(10 * int(n))
		}
		begun := len(got) > 0
		if anchored := read(-1); anchored != begun {
			t.Errorf("the last line was found: %v, want %v", anchored, begun)
		}
		if !slices.Equal(got, log) {
			t.Errorf("got %v, want %v", got, log)
		}
		if len(at.same) > maxSame {
			t.Errorf("%d digests are held", len(at.same))
		}
	})
}

func TestCursorAfterARotation(t *testing.T) {
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	at := func(n int) time.Time { return noon.Add(time.Duration(n)) }
	for name, tc := range map[string]struct {
		before, answer []written
		want           []string
		anchored       bool
	}{
		"nothing before":        {nil, []written{{at(1), "a"}}, []string{"a"}, false},
		"nothing new":           {[]written{{at(1), "a"}}, []written{{at(1), "a"}}, nil, true},
		"the last line is gone": {[]written{{at(1), "a"}}, []written{{at(2), "b"}}, []string{"b"}, false},
		"a part of a nanosecond is gone": {
			[]written{{at(1), "a"}, {at(1), "b"}, {at(1), "c"}}, []written{{at(1), "c"}, {at(1), "d"}}, []string{"d"}, true,
		},
		"all of a nanosecond but what is new": {[]written{{at(1), "a"}, {at(1), "b"}}, []written{{at(1), "c"}, {at(2), "d"}}, []string{"c", "d"}, false},
		"an equal line that is new":           {[]written{{at(1), "a"}}, []written{{at(1), "a"}, {at(1), "a"}}, []string{"a"}, true},
		"the clock was set back": {
			[]written{{at(5), "a"}, {at(6), "b"}, {at(2), "c"}},
			[]written{{at(5), "a"}, {at(6), "b"}, {at(2), "c"}, {at(3), "d"}, {at(7), "e"}},
			[]string{"d", "e"},
			true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var c cursor
			for _, l := range tc.before {
				c.add(l.time, l.text)
			}
			skip := c.skip()
			var got []string
			for _, l := range tc.answer {
				if !skip.seen(l.time, l.text) {
					got = append(got, l.text)
				}
			}
			if !slices.Equal(got, tc.want) || skip.anchored != tc.anchored {
				t.Errorf("got %q, anchored: %v, want %q, %v", got, skip.anchored, tc.want, tc.anchored)
			}
		})
	}
}

func TestGaps(t *testing.T) {
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	at := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Second) }
	var none, from cursor
	from.add(at(10), "seen")
	var g gaps
	g.add(none, at(5))
	g.add(from, at(20))
	s := &gapSkipper{gaps: g, skips: map[*gap]*skipper{}}
	var got []int
	for _, n := range []int{1, 4, 5, 7, 10, 11, 19, 20, 30} {
		text := "new"
		if n == 10 {
			text = "seen"
		}
		if !s.seen(at(n), text) {
			got = append(got, n)
		}
	}
	if want := []int{1, 4, 11, 19}; !slices.Equal(got, want) {
		t.Errorf("the gaps let through %v, want %v", got, want)
	}
	again := &gapSkipper{gaps: g, skips: map[*gap]*skipper{}}
	for _, n := range []int{1, 4, 11, 19} {
		if !again.seen(at(n), "new") {
			t.Errorf("line %d is let through twice", n)
		}
	}
	for i := range 20 {
		g.add(from, at(100+i))
	}
	if len(g) != maxGaps || g.of(at(118)) == nil {
		t.Errorf("%d gaps, of which one has second 118: %v", len(g), g.of(at(118)) != nil)
	}
}
