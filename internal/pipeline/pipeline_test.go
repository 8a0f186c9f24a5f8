package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/jsonstream"
)

// numbered is what the pipeline of the test carries: decoding fills got from the bytes.
type numbered struct {
	n   int
	got string
}

// Whatever the sizes, however long decoding and handing on take, and whether others leave it a decoder or not: all is handed
// on once, in order, with its own bytes, and within the bounds. After stop nothing runs.
func TestAPipelineKeepsTheOrder(t *testing.T) {
	for seed := range uint64(100) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { drivePipeline(t, rand.New(rand.NewPCG(seed, 0))) })
		})
	}
}

func drivePipeline(t *testing.T, rnd *rand.Rand) {
	var shared Decoders
	shared.busy.Store(int32(rnd.IntN(2) * maxDecoders)) // others may have them all
	others := shared.busy.Load()
	errMine := errors.New("mine")
	count := 1 + rnd.IntN(200)
	failAt := -1
	if rnd.IntN(2) == 0 {
		failAt = rnd.IntN(count)
	}
	decoding := make([]time.Duration, count) // how long each takes
	handing := make([]time.Duration, count)
	slow := 1 + rnd.Int64N(1000)
	for i := range count {
		decoding[i] = time.Duration(rnd.Int64N(slow))
		handing[i] = time.Duration(rnd.Int64N(slow) * rnd.Int64N(2))
	}
	var handed []int
	ended := false
	p := &Pipeline[numbered]{decoders: &shared}
	p.decode = func(e *numbered, item jsonstream.Item) {
		time.Sleep(decoding[e.n])
		if ended {
			t.Errorf("%d is decoded after the end", e.n)
		}
		if item.Name != fmt.Sprint(e.n) {
			t.Errorf("%d has the identity of %s", e.n, item.Name)
		}
		e.got = string(item.Raw)
	}
	p.hand = func(e numbered) error {
		time.Sleep(handing[e.n])
		if e.n != len(handed) {
			t.Errorf("%d is handed on after %v", e.n, handed)
		}
		if want := fmt.Sprint(e.n, "."); e.got != "passed" && !strings.HasPrefix(e.got, want) {
			t.Errorf("%d has the bytes %.10s", e.n, e.got)
		}
		if e.n == failAt {
			return errMine
		}
		handed = append(handed, e.n)
		return nil
	}
	err := feedPipeline(t, rnd, p, count)
	p.Stop()
	ended = true
	if failAt < 0 && (err != nil || len(handed) != count) {
		t.Errorf("%d of %d were handed on, and the error is %v", len(handed), count, err)
	}
	if failAt >= 0 && (err != errMine || p.err != errMine || len(handed) != failAt) {
		t.Errorf("%d were handed on, and the error is %v, want it after %d", len(handed), err, failAt)
	}
	if got := shared.busy.Load(); got != others {
		t.Errorf("%d decoders are counted, want %d", got, others)
	}
	if failAt < 0 && (p.size != 0 || !p.idle()) {
		t.Errorf("%d bytes are in flight at the end", p.size)
	}
}

// feedPipeline adds events as a list and a watch do, in a random mixture.
func feedPipeline(t *testing.T, rnd *rand.Rand, p *Pipeline[numbered], count int) error {
	largest := 1 << rnd.IntN(17)
	huge := rnd.IntN(count)
	for n := range count {
		var err error
		size := rnd.IntN(largest)
		if n == huge {
			size = rnd.IntN(maxFlight)
		}
		switch raw := fmt.Sprint(n, ".") + strings.Repeat("x", size); {
		case rnd.IntN(4) == 0:
			err = p.pass(numbered{n, "passed"})
		case rnd.IntN(4) == 0 && p.idle():
			err = p.now(numbered{n: n}, jsonstream.Item{Identity: meta.Identity{Name: fmt.Sprint(n)}, Raw: []byte(raw)})
		default:
			b := []byte(raw)
			err = p.later(numbered{n: n}, jsonstream.Item{Identity: meta.Identity{Name: fmt.Sprint(n)}, Raw: b})
			clear(b) // the framing uses its buffer again
		}
		if p.size > maxFlight || len(p.flight) > maxBatches {
			t.Errorf("%d bytes in %d batches are in flight", p.size, len(p.flight))
		}
		if err != nil {
			return err
		}
		switch rnd.IntN(20) {
		case 0: // the body has to be waited for
			ready := make(chan struct{})
			timer := time.AfterFunc(time.Duration(rnd.IntN(2000)), func() { close(ready) })
			err = p.Until(ready)
			timer.Stop()
		case 1: // the buffer is empty
			err = p.drain()
		}
		if err != nil {
			return err
		}
	}
	return p.drain()
}

// A hundred lists of one client do not decode on four hundred goroutines.
func TestAClientHasAFewDecoders(t *testing.T) {
	most := int32(min(runtime.GOMAXPROCS(0), maxDecoders))
	var d Decoders
	for range most {
		if !d.acquire() {
			t.Fatal("there are fewer")
		}
	}
	if d.acquire() {
		t.Errorf("there are more than %d", most)
	}
	d.release()
	if !d.acquire() || d.busy.Load() != most {
		t.Error("one that has ended does not come back")
	}
}

// A batch that has been handed on is filled again, and keeps nothing of what it held.
func TestBatchesAreUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shared Decoders
		p := &Pipeline[*numbered]{
			decoders: &shared,
			decode:   func(**numbered, jsonstream.Item) {},
			hand:     func(*numbered) error { return nil },
		}
		seen := make(map[*batch[*numbered]]bool)
		raw := make([]byte, 5000)
		for n := range 1000 {
			if err := p.later(&numbered{n: n}, jsonstream.Item{Raw: raw}); err != nil {
				t.Fatal(err)
			}
			seen[p.current] = true
			if n%10 == 0 {
				synctest.Wait()
			}
		}
		if err := p.drain(); err != nil {
			t.Fatal(err)
		}
		p.Stop()
		if len(seen) > maxBatches+1 || len(p.free) != len(seen) {
			t.Errorf("%d batches for 1000 objects, %d to be used again", len(seen), len(p.free))
		}
		for _, b := range p.free {
			if slices.ContainsFunc(b.units[:cap(b.units)], func(u unit[*numbered]) bool { return u.event != nil }) {
				t.Error("a batch keeps an object")
			}
		}
	})
}

// A watch that waits holds no buffers for the next burst, nor a decoder.
func TestAnIdleWatchHoldsLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shared Decoders
		n := 0
		p := &Pipeline[numbered]{
			decoders: &shared,
			decode:   func(*numbered, jsonstream.Item) {},
			hand:     func(numbered) error { n++; return nil },
		}
		var body bytes.Buffer
		for i := range 200 {
			fmt.Fprintf(&body, `{"type":"ADDED","object":{"metadata":{"name":"%d"},"x":"%s"}}`, i, strings.Repeat("x", 5000))
		}
		reads := &atRead{r: &body}
		reads.do = func() {
			if reads.room < batchSize && len(p.free) > 0 || !p.idle() {
				t.Errorf("with room for %d bytes and %d events handed on, %d batches are kept", reads.room, n, len(p.free))
			}
			synctest.Wait()
			if busy := shared.busy.Load(); busy != 0 {
				t.Errorf("%d decoders wait", busy)
			}
		}
		err := p.Watch(reads, jsonstream.NewWatch(nil, jsonstream.Options{}), func(jsonstream.Frame) (numbered, bool, error) {
			return numbered{}, true, nil
		}, func(err error) error { return err })
		if err != nil {
			t.Fatal(err)
		}
		if n != 200 || len(p.free) > 0 || reads.largest < batchSize {
			t.Errorf("%d events, %d batches kept at the end, reads of up to %d bytes", n, len(p.free), reads.largest)
		}
	})
}

// atRead does something before each read.
type atRead struct {
	r             io.Reader
	do            func()
	room, largest int // how much was asked for
}

func (a *atRead) Read(p []byte) (int, error) {
	a.room, a.largest = len(p), max(a.largest, len(p))
	a.do()
	return a.r.Read(p)
}

// runtime.Goexit in the decoding of an object ends a decoder, and costs that object and no other. (A test does that which
// fails in its UnmarshalJSON.)
func TestADecoderThatEndsIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shared Decoders
		p := &Pipeline[numbered]{decoders: &shared}
		p.decode = func(e *numbered, item jsonstream.Item) {
			if e.n%3 == 0 {
				e.got = "left"
				runtime.Goexit()
			}
			e.got = string(item.Raw)
		}
		n := 0
		p.hand = func(e numbered) error {
			if bad := e.got == "left"; e.n != n || bad != (n%3 == 0) {
				t.Errorf("number %d is %+v", n, e)
			}
			n++
			return nil
		}
		for i := range 10 {
			if err := p.later(numbered{n: i}, jsonstream.Item{Raw: []byte("x")}); err != nil {
				t.Fatal(err)
			}
		}
		p.submit()
		synctest.Wait()
		if err := p.drain(); err != nil || n != 10 {
			t.Errorf("%d objects, %v", n, err)
		}
		p.Stop()
		if busy := shared.busy.Load(); busy != 0 {
			t.Errorf("%d decoders are counted", busy)
		}
	})
}
