package clienttest

import (
	"context"
	"math"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
)

// Replicas are servers that share one store, each with its own watch cache, behind one address. Writes, and reads that must be
// current, go to the store. A read that may be older is answered from the cache of the replica that the client has reached.

// Lag is how far the watch cache of a replica is behind the store; the zero value means not at all. If both fields are set, both
// hold.
type Lag struct {
	// Versions is the number of resource versions that the cache is behind. A number that is never reached, such as math.MaxInt,
	// stops the cache at its present version.
	Versions int
	// Time is the age of the cache's state.
	Time time.Duration
}

// Replica is one of several servers that share a store. Its methods may be called by several goroutines at once.
//
// If its cache lags, a Replica behaves like a kube-apiserver whose cache lags behind etcd:
//
//   - It answers gets and lists without a resource version, at an exact version, and with a continue token from the store.
//   - It answers those at version 0 from its cache.
//   - Those at another version wait until the cache has it, 3 seconds at most, and then end with 504 "Too large resource
//     version".
//   - Its watches send events late.
//
// A cache never goes back, and never knows less than the history that the server keeps.
type Replica struct {
	s       *Server
	lagging atomic.Bool // lag is set

	// The store's lock guards the rest.
	lag    Lag
	seen   uint64 // the newest version that it has had
	due    uint64 // the newest version whose time has come
	behind []mark // versions with the times at which they come; oldest first
}

// Replica returns replica i, from 0 on. It panics if Options.Replicas has fewer.
func (s *Server) Replica(i int) *Replica { return s.replicas[i] }

// ServeHTTP answers r as the replica does, whatever connection r came in by. A function for [Server.Intercept] can use it to
// spread requests over replicas, at random for instance.
func (p *Replica) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.s.answer(w, r, p) }

// SetLag sets how far the replica's cache is behind from now on. The cache keeps the versions that it already has.
func (p *Replica) SetLag(l Lag) {
	st := p.s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	now := time.Now()
	p.due, _ = p.view(now)
	p.lag, p.behind = l, nil
	p.lagging.Store(l != Lag{})
	p.note(now, st.version)
	st.wake()
}

// note records that the store has reached a version.
func (p *Replica) note(now time.Time, version uint64) {
	if p.lag.Time > 0 && version > p.due {
		p.behind = append(p.behind, mark{now.Add(p.lag.Time), version})
		p.view(now) // forgets the versions whose time has come
	}
}

// view returns the version of the replica's cache, and when that changes by time alone; the zero time means never. The store is
// locked.
func (p *Replica) view(now time.Time) (version uint64, next time.Time) {
	reach := p.s.store.version
	if p.lag.Time > 0 {
		for len(p.behind) > 0 && !p.behind[0].since.After(now) {
			p.due, p.behind = p.behind[0].version, p.behind[1:]
		}
		if len(p.behind) > 0 {
			reach, next = p.due, p.behind[0].since
		}
	}
	if n := uint64(max(0, p.lag.Versions)); n > 0 {
		reach = min(reach, p.s.store.version-min(n, p.s.store.version))
	}
	p.seen = max(p.seen, reach)
	return p.seen, next
}

// restart puts the replica's cache into the state of one that has just read the store.
func (p *Replica) restart(version uint64) { p.seen, p.due, p.behind = version, version, nil }

// cached returns a collection in the state of the replica's cache, and the version of that state. The store is locked.
func (p *Replica) cached(c *collection) (*object.Tree, uint64) {
	version, _ := p.view(time.Now())
	if version >= p.s.store.version {
		return c.tree, p.s.store.version
	}
	version = max(version, p.s.store.oldest(c))
	return c.snapshot(version), version
}

// horizon returns the version up to which the replica's watches see events. If that is not the newest, it also returns what to
// wait for until it changes: a change of the store, or a time.
func (p *Replica) horizon(c *collection) (limit uint64, moved <-chan struct{}, next time.Time) {
	if !p.lagging.Load() {
		return math.MaxUint64, nil, time.Time{}
	}
	st := p.s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	limit, next = p.view(time.Now())
	return max(limit, st.oldest(c)), st.next(), next
}

// await waits until the replica's cache has reached a version: a client may have got the version from another replica.
func (p *Replica) await(ctx context.Context, version uint64) error {
	return p.s.wait(ctx, version, func() (uint64, time.Time) { return p.view(time.Now()) })
}

// await waits until the store has reached a version.
func (s *Server) await(ctx context.Context, version uint64) error {
	return s.wait(ctx, version, func() (uint64, time.Time) { return s.store.version, time.Time{} })
}

// versionWait is how long a request waits for a version that is not reached yet.
const versionWait = 3 * time.Second

// wait waits until now returns at least a version. now is called with the store locked, and also returns the time when its answer
// changes even if the store does not.
func (s *Server) wait(ctx context.Context, version uint64, now func() (uint64, time.Time)) error {
	var timeout <-chan time.Time
	for {
		s.store.mu.Lock()
		reached, next := now()
		moved := s.store.next()
		s.store.mu.Unlock()
		if reached >= version {
			return nil
		}
		if timeout == nil {
			t := time.NewTimer(versionWait)
			defer t.Stop()
			timeout = t.C
		}
		due, stop := alarm(next)
		select {
		case <-moved:
		case <-due:
		case <-timeout:
			stop()
			return status.TooLargeVersion(version, reached)
		case <-ctx.Done():
			stop()
			return status.Failure(http.StatusGatewayTimeout, "Timeout", "Timeout: request did not complete within the allotted timeout")
		}
		stop()
	}
}

// alarm returns a channel that delivers at a time, and a function that stops it; the zero time never comes.
func alarm(at time.Time) (<-chan time.Time, func()) {
	if at.IsZero() {
		return nil, func() {}
	}
	t := time.NewTimer(max(time.Until(at), time.Nanosecond))
	return t.C, func() { t.Stop() }
}
