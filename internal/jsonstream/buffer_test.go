package jsonstream

import (
	"io"
	"strings"
	"testing"
)

// One huge object must not pin its buffer for as long as the watch lasts, nor for the rest of the list.
func TestBufferShrinksAfterAHugeObject(t *testing.T) {
	huge := `{"x":"` + strings.Repeat("x", 20<<20) + `"}`
	small := `{"x":"` + strings.Repeat("x", 7000) + `"}`

	event := func(object string) string { return `{"type":"ADDED","object":` + object + "}\n" }
	w := NewWatch(io.MultiReader(
		strings.NewReader(event(small)), strings.NewReader(event(huge)), strings.NewReader(event(small)),
	), Options{})
	for i, want := range []struct{ least, most int }{{0, 64 << 10}, {20 << 20, 34 << 20}, {0, 64 << 10}} {
		if _, err := w.Next(); err != nil {
			t.Fatal(err)
		}
		if got := len(w.s.buf); got < want.least || got > want.most {
			t.Errorf("after event %d the buffer has %d bytes, want %d to %d", i, got, want.least, want.most)
		}
	}

	body := `{"items":[` + huge + strings.Repeat(","+small, 6000) + "]}"
	l := NewList(strings.NewReader(body), Options{})
	for range 6001 {
		if _, err := l.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(l.s.buf); got > l.s.keepBuffer() {
		t.Errorf("6000 small objects after a huge one the buffer still has %d bytes", got)
	}
	if _, err := l.Next(); err != io.EOF {
		t.Fatal(err)
	}
}

// Large objects in a row share one buffer.
func TestBufferStaysForLargeObjectsInARow(t *testing.T) {
	large := `{"x":"` + strings.Repeat("x", 3<<20) + `"}`
	body := `{"items":[` + large + strings.Repeat(","+large, 20) + "]}"
	l := NewList(&limitedReads{strings.NewReader(body), 16 << 10}, Options{})
	seen := map[*byte]bool{}
	for range 21 {
		if _, err := l.Next(); err != nil {
			t.Fatal(err)
		}
		seen[&l.s.buf[0]] = true
	}
	if len(seen) > 2 {
		t.Errorf("%d buffers for 21 objects of one size", len(seen))
	}
}

// limitedReads returns at most size bytes at once, as a TLS connection does.
type limitedReads struct {
	r    io.Reader
	size int
}

func (l *limitedReads) Read(p []byte) (int, error) { return l.r.Read(p[:min(len(p), l.size)]) }

// Each byte is moved a bounded number of times: the bytes in hand slide to the front once per half a buffer that has been
// consumed, not once per read.
func TestBufferMovesEachByteSeldom(t *testing.T) {
	object := `{"x":"` + strings.Repeat("x", 1000) + `"}`
	body := `{"items":[` + object + strings.Repeat(","+object, 3999) + "]}"
	l := NewList(&limitedReads{strings.NewReader(body), 300}, Options{})
	slides, base := 0, int64(0)
	for range 4000 {
		if _, err := l.Next(); err != nil {
			t.Fatal(err)
		}
		if l.s.base != base {
			base = l.s.base
			slides++
		}
	}
	if most := 2 * len(body) / len(l.s.buf); slides == 0 || slides > most {
		t.Errorf("the bytes in hand moved %d times, want at most %d", slides, most)
	}
}
