package shards_test

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// traffic counts what replicas and the server send to each other. Each direction takes five milliseconds.
type traffic struct {
	mu       sync.Mutex // guards the rest
	requests map[string]int
	bytes    int // of answers and events
}

const oneWay = 5 * time.Millisecond

func (c *traffic) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(q *http.Request) (*http.Response, error) {
		time.Sleep(oneWay)
		c.mu.Lock()
		c.requests[clienttest.RequestOf(q).Verb]++
		c.mu.Unlock()
		resp, err := next.RoundTrip(q)
		if err != nil {
			return nil, err
		}
		time.Sleep(oneWay)
		resp.Body = &counted{resp.Body, c}
		return resp, nil
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(q *http.Request) (*http.Response, error) { return f(q) }

type counted struct {
	io.ReadCloser
	c *traffic
}

func (b *counted) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.c.mu.Lock()
	defer b.c.mu.Unlock()
	b.c.bytes += n
	return n, err
}

// reset returns what has been counted since the last time.
func (c *traffic) reset() (requests map[string]int, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	requests, bytes = c.requests, c.bytes
	c.requests, c.bytes = make(map[string]int), 0
	return requests, bytes
}

// untilShared waits until some replicas have all ranges, and one of them has some.
func (w *world) untilShared(one *replica, rs ...*replica) time.Duration {
	w.Helper()
	began := time.Now()
	for {
		if _, all := w.ranges(rs...); all == meta.AllRanges() && (one == nil || one.Status().Ranges.Len() > 0) {
			return time.Since(began)
		}
		if time.Since(began) > time.Minute {
			w.Fatalf("after a minute not all ranges have an owner")
		}
		w.pass(10 * time.Millisecond)
	}
}

var largest = flag.Int("replicas", 4, "how many replicas the largest group of TestTheCostsOfAGroup has")

// The costs of a group are those that the documentation of the package names: a renewal for each replica in RetryPeriod,
// which each of them gets as an event; one write of each of two replicas and a list for a range that passes; and the
// ranges of a crashed replica pass after LeaseDuration.
//
//	go test ./client/shards -run Costs -replicas 64 -v    also a larger group, with all figures
func TestTheCostsOfAGroup(t *testing.T) {
	for size := 1; size <= *largest; size *= 4 {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			play(t, func(w *world) {
				c := &traffic{requests: make(map[string]int)}
				w.wrap = c.wrap
				var said strings.Builder
				note := func(what string, took time.Duration) (map[string]int, int) {
					requests, bytes := c.reset()
					fmt.Fprintf(&said, "\n%-22s %9v %v %d bytes", what, took, requests, bytes)
					return requests, bytes
				}
				var rs []*replica
				for i := range size {
					rs = append(rs, w.replica(fmt.Sprintf("r%02d", i), nil).run())
				}
				took := w.untilShared(nil, rs...)
				note("all begin", took)
				if took > 2*time.Second {
					t.Errorf("a new group works after %v", took)
				}

				w.pass(10 * time.Second)
				c.reset()
				w.pass(time.Minute)
				requests, bytes := note("a minute", time.Minute)
				want := 30 * size
				if requests["update"] < want-size || requests["update"] > want+size || len(requests) > 1 {
					t.Errorf("in a minute: %v, want %d writes and nothing else", requests, want)
				}
				if most := 2000 * (want + size*want); bytes > most {
					t.Errorf("the answers and events of a minute have %d bytes, want at most %d", bytes, most)
				}

				one := w.replica("joins", nil).run()
				rs = append(rs, one)
				took = w.untilShared(one, rs...)
				requests, _ = note("one joins", took)
				if took > time.Second || requests["list"] > 3 {
					t.Errorf("one that joins has ranges after %v, with %v", took, requests)
				}
				w.pass(10 * time.Second)

				c.reset()
				one.cancel()
				began := time.Now()
				<-one.ended
				took = time.Since(began) + w.untilShared(nil, rs[:size]...)
				requests, _ = note("one leaves", took)
				if took > time.Second {
					t.Errorf("one that leaves has left after %v, with %v", took, requests)
				}
				w.pass(10 * time.Second)

				if size > 1 {
					c.reset()
					rs[0].m.Freeze()
					took = w.untilShared(nil, rs[1:size]...)
					note("one crashes", took)
					if took > 18*time.Second {
						t.Errorf("the ranges of a crashed replica pass after %v", took)
					}
					rs[0].m.Thaw(false)
				}
				t.Log(said.String())
			})
		})
	}
}
