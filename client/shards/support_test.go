package shards_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/shards"
	"github.com/bowline-go/bowline/internal/proof/machine"
)

// Leases are read and written by tests as people would, with kubectl.
var Leases = client.Type[*meta.Unstructured]{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Resource: "leases"}

// world is a server in a bubble.
type world struct {
	*testing.T
	server *clienttest.Server
	start  time.Time
	wrap   func(http.RoundTripper) http.RoundTripper // around the transport of each replica that is made from now on
}

// play runs a test in a bubble of virtual time, with a server.
func play(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(&world{T: t, server: clienttest.Start(t, clienttest.Options{}), start: time.Now()})
	})
}

func (w *world) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (w *world) since() time.Duration { return time.Since(w.start) }

func (w *world) client(change func(*client.Config)) *client.Client {
	w.Helper()
	config := w.server.Config()
	if change != nil {
		change(&config)
	}
	c, err := client.New(config)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(c.Close)
	return c
}

// replica is a process with a Group.
type replica struct {
	*shards.Group
	w      *world
	m      *machine.Machine
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // of Run

	mu   sync.Mutex // guards the rest
	errs []error    // that OnError took
	work context.Context
}

func (w *world) replica(identity string, change func(*shards.Options)) *replica {
	w.Helper()
	r := &replica{w: w, m: machine.New(), ended: make(chan struct{})}
	config := shards.Options{Namespace: "default", Name: "web", Identity: identity}
	config.OnError = func(err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.errs = append(r.errs, err)
	}
	if change != nil {
		change(&config)
	}
	r.Group = shards.New(w.client(func(c *client.Config) {
		r.m.Connects(c)
		if process := c.Wrap; w.wrap != nil {
			c.Wrap = func(next http.RoundTripper) http.RoundTripper { return w.wrap(process(next)) }
		}
		c.UserAgent = identity
	}), config)
	shards.RunsOn(r.m, r.Group)
	return r
}

// run starts Run, whose work waits for the end of its context.
func (r *replica) run() *replica {
	ctx, cancel := context.WithCancel(quiet(r.w))
	r.cancel = cancel
	go func() {
		defer close(r.ended)
		r.err = r.Run(ctx, func(ctx context.Context) error {
			r.mu.Lock()
			r.work = ctx
			r.mu.Unlock()
			<-ctx.Done()
			return ctx.Err()
		})
	}()
	r.w.Cleanup(func() {
		r.m.Thaw(false)
		cancel()
		<-r.ended
	})
	return r
}

// quiet returns the context of a test, whose logs nobody reads.
func quiet(w *world) context.Context { return logr.NewContext(w.Context(), logr.Discard()) }

// ranges returns how many ranges each of some replicas has, and fails if one is in two hands.
func (w *world) ranges(rs ...*replica) (counts []int, all meta.Ranges) {
	w.Helper()
	for _, r := range rs {
		has := r.Status().Ranges
		if both := all.Intersect(has); both.Len() > 0 {
			w.Errorf("%v: two replicas have %v", w.since(), both)
		}
		all = all.Union(has)
		counts = append(counts, has.Len())
	}
	return counts, all
}

// whole fails unless some replicas have all ranges.
func (w *world) whole(rs ...*replica) []int {
	w.Helper()
	counts, all := w.ranges(rs...)
	if all != meta.AllRanges() {
		var said string
		for _, r := range rs {
			said += fmt.Sprintf("\n\t%v", r.Status())
		}
		w.Errorf("%v: nobody has %v; %v%s", w.since(), meta.AllRanges().Minus(all), counts, said)
	}
	return counts
}
