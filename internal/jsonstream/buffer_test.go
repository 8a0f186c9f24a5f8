package jsonstream

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"
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

// A watch reads more at once while much arrives, and waits in a small buffer when all of it has been read.
func TestBufferOfAWatchGrowsInABurst(t *testing.T) {
	event := `{"type":"ADDED","object":{"x":"` + strings.Repeat("x", 1000) + `"}}` + "\n"
	burst := strings.Repeat(event, 1000)
	r := &alternating{[]io.Reader{strings.NewReader(event), strings.NewReader(burst), strings.NewReader(event), strings.NewReader(burst)}}
	w := NewWatch(r, Options{})
	largest := 0
	for n := range 2002 {
		if _, err := w.Next(); err != nil {
			t.Fatal(err)
		}
		size := len(w.s.buf)
		largest = max(largest, size)
		if n == 0 || n == 1001 { // what came alone
			if size != 16<<10 || w.Buffered() != 0 && w.Buffered() != 1 {
				t.Errorf("after event %d the buffer has %d bytes, %d of them unread", n, size, w.Buffered())
			}
		}
	}
	if largest != 128<<10 {
		t.Errorf("the buffer grew to %d bytes", largest)
	}
	if _, err := w.Next(); err != io.EOF || len(w.s.buf) != RestBuffer {
		t.Errorf("at the end the buffer has %d bytes, and the error is %v", len(w.s.buf), err)
	}
}

// A bookmark has room in the small buffer. A watch borrows a large one only while it reads more than that.
func TestAWatchWaitsInASmallBuffer(t *testing.T) {
	bookmark := `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"12"}}}` + "\n"
	const head = `{"type":"ADDED","object":` // is not kept
	event := head + `{"x":"` + strings.Repeat("x", 3000) + `"}}` + "\n"
	var sizes []int
	r := &measuring{alternating{[]io.Reader{
		strings.NewReader(bookmark), strings.NewReader(event), strings.NewReader(bookmark), strings.NewReader(event + bookmark),
	}}, &sizes}
	w := NewWatch(r, Options{})
	for range 5 {
		if _, err := w.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Next(); err != io.EOF {
		t.Fatal(err)
	}
	const rest = RestBuffer - 1
	const large = WatchBuffer - 1 - (rest - len(head))
	if want := []int{rest, rest, large, rest, rest, large, rest}; !slices.Equal(sizes, want) {
		t.Errorf("the watch reads up to %v bytes, want %v", sizes, want)
	}
}

// measuring notes how many bytes each read may return.
type measuring struct {
	alternating
	sizes *[]int
}

func (m *measuring) Read(p []byte) (int, error) {
	*m.sizes = append(*m.sizes, len(p))
	return m.alternating.Read(p)
}

// One watch after the other reads into the same large buffer. A sync.Pool may drop it, so some attempts may fail.
func TestWatchesShareALargeBuffer(t *testing.T) {
	event := `{"type":"ADDED","object":{"x":"` + strings.Repeat("x", 3000) + `"}}`
	o := Options{Buffers: new(Buffers)}
	read := func() *byte {
		w := NewWatch(strings.NewReader(event), o)
		if _, err := w.Next(); err != nil {
			t.Fatal(err)
		}
		buf := &w.s.buf[0]
		if _, err := w.Next(); err != io.EOF || &w.s.buf[0] == buf {
			t.Fatalf("at rest: got error %v, and the large buffer is kept: %v", err, &w.s.buf[0] == buf)
		}
		return buf
	}
	for range 100 {
		if first, second := read(), read(); first == second {
			return
		}
	}
	t.Error("no buffer was lent twice")
}

// alternating reads one reader after the other, never of two at once.
type alternating struct{ r []io.Reader }

func (a *alternating) Read(p []byte) (int, error) {
	for len(a.r) > 0 {
		n, err := a.r[0].Read(p)
		if err == nil {
			return n, nil
		}
		a.r = a.r[1:]
	}
	return 0, io.EOF
}

// Objects of many namespaces cost no more than those of one: a name that has been seen is not made again.
func TestNamespacesAreMadeOnce(t *testing.T) {
	var body strings.Builder
	const namespaces = 20
	var numbers []string
	for n := range namespaces {
		numbers = append(numbers, strconv.Itoa(n))
	}
	for n := range 2000 {
		fmt.Fprintf(&body, `{"type":"ADDED","object":{"metadata":{"namespace":"namespace-%d","name":""}}}`, n%namespaces)
	}
	allocs := testing.AllocsPerRun(10, func() {
		w := NewWatch(strings.NewReader(body.String()), Options{})
		for n := range 2000 {
			f, err := w.Next()
			if got := strings.TrimPrefix(f.Namespace, "namespace-"); err != nil || got != numbers[n%namespaces] {
				t.Fatal(f.Namespace, err)
			}
		}
	})
	if allocs > 10*namespaces {
		t.Errorf("%v allocations for 2000 objects of %d namespaces", allocs, namespaces)
	}
}

// The identity of an object costs one allocation, and what it is cut from holds nothing else.
func TestIdentityIsOneString(t *testing.T) {
	var body strings.Builder
	body.WriteString(`{"items":[`)
	const objects = 1000
	for n := range objects {
		if n > 0 {
			body.WriteByte(',')
		}
		fmt.Fprintf(&body, `{"metadata":{"name":"name-%d","namespace":"n","uid":"uid-%d","x":[],"resourceVersion":"%d"}}`, n, n, n)
	}
	body.WriteString("]}")
	allocs := testing.AllocsPerRun(10, func() {
		l := NewList(strings.NewReader(body.String()), Options{})
		for range objects {
			if _, err := l.Next(); err != nil {
				t.Fatal(err)
			}
		}
	})
	if allocs < objects || allocs > objects+20 {
		t.Errorf("%v allocations for %d objects", allocs, objects)
	}

	item, err := ReadObject(strings.NewReader(`{"metadata":{"resourceVersion":"3","uid":"u","name":"web"}}`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := unsafe.String(unsafe.StringData(item.Name), len("webu3"))
	if all != "webu3" || unsafe.StringData(all[3:]) != unsafe.StringData(item.UID) {
		t.Errorf("the name is followed by %q", all[3:])
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
