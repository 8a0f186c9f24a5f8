package conn

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/bowline-go/bowline/internal/guard"
	"github.com/bowline-go/bowline/internal/shown"
)

const (
	fetchTimeout = 15 * time.Minute // limits one fetch, during which a person may sign in
	renewalPause = 5 * time.Second  // the shortest time between two fetches because of refusals
	// The pause after a failed refresh; it doubles with each failure.
	refreshPause    = 10 * time.Second
	maxRefreshPause = 2 * time.Minute
	// The same two pauses if no credential is in force. In that case, no pause follows the first failure.
	fetchPause    = 500 * time.Millisecond
	maxFetchPause = 10 * time.Second
)

// Credentials gets credentials from a function, and keeps the one in force: the lease. At most one fetch is under way.
//
// The goroutine of a fetch ends when fetch returns. The context of fetch ends after fetchTimeout, and when no request
// waits and no client wants the result for later; Transport.Close then waits for the goroutine.
type Credentials struct {
	fetch func(context.Context) (Credential, error)
	fail  func(err error) error // makes the error for a missing credential
	name  string                // set by Name; does not change after that

	mu       sync.Mutex // guards the rest; not held while fetch or a hook runs
	now      *lease     // nil before the first fetch has succeeded
	refused  bool       // the server has refused the lease now: requests wait for another
	renewed  time.Time  // when the last fetch because of a refusal began
	flight   *flight    // nil if no fetch is under way
	failures int        // how many fetches failed in a row, or brought a credential that had already expired
	failed   time.Time  // the time of the last such failure
	err      error      // the cause of the last failure
}

// NewCredentials returns Credentials that call fetch on a separate goroutine. fail makes a request's error from the
// reason why there is no credential.
func NewCredentials(fetch func(context.Context) (Credential, error), fail func(error) error) *Credentials {
	return &Credentials{fetch: fetch, fail: fail}
}

// Name gives c a name for the error of a request whose context ends while fetch runs. It must be called before c is
// used.
func (c *Credentials) Name(name string) { c.name = name }

// IsUsable reports whether there is a function to call.
func (c *Credentials) IsUsable() bool { return c != nil && c.fetch != nil }

// flight is one call of fetch.
type flight struct {
	cancel  context.CancelFunc // tells fetch to return
	timeout context.Context    // ends after fetchTimeout, not when the flight is cancelled
	done    chan struct{}      // closed when fetch has returned and the clients have been told

	// Guarded by Credentials.mu.
	waiting int                         // how many requests wait
	holders map[*holder]bool            // clients that want it whether a request waits or not
	tell    map[*holder]context.Context // clients to tell of a failure, each with a request's context
	left    bool                        // cancelled, because no request and no client wants the result

	lease *lease // the result, or err; set before done is closed
	err   error
}

// get implements source.
func (c *Credentials) get(ctx context.Context, h *holder) (issued, error) {
	l, err := c.lease(ctx, h)
	if err != nil {
		return issued{}, err
	}
	return issued{header: l.header(), lease: l}, nil
}

// renew implements source. If there is no other credential, it returns the refused one. If that one has expired, the
// error says why there is no other.
func (c *Credentials) renew(ctx context.Context, h *holder, refused issued) (issued, error) {
	c.mu.Lock()
	if now := time.Now(); c.now == refused.lease && !c.refused && !fresh(c.renewed, now, renewalPause) {
		c.refused, c.renewed = true, now
	}
	c.mu.Unlock()
	next, err := c.get(ctx, h)
	if err == nil && next.lease.same(refused.lease) {
		return refused, c.gone(refused.lease)
	}
	return next, err
}

// gone returns the reason why no other credential replaces l, which the server refuses and which has expired. It
// returns nil if the source works, or if l has not expired: the server's refusal is then the better explanation.
func (c *Credentials) gone(l *lease) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil || errors.As(c.err, new(*endedError)) || !l.expired(time.Now()) {
		return nil
	}
	return c.fail(fmt.Errorf("%w; the last credential expired at %s, and the server refuses it", c.err, stamp(l.Expires)))
}

// lease returns the lease in force, and fetches one if there is none. Requests wait for a fetch if the lease has
// expired since the last fetch, or if the server has refused it. They do not wait if the last fetch failed, or brought
// a lease that had already expired (so the clocks differ): another fetch might bring no better one.
func (c *Credentials) lease(ctx context.Context, h *holder) (*lease, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		now := time.Now()
		switch {
		case c.now != nil && !c.refused && (c.failures > 0 || c.young(now) || !c.now.expired(now)):
			if c.now.ending(now) && !c.young(now) && !fresh(c.failed, now, c.pause(refreshPause, maxRefreshPause)) {
				c.hold(ctx, h)
			}
			return c.now, nil
		case c.flight != nil:
		case c.now == nil && c.failures > 1 && fresh(c.failed, now, c.pause(fetchPause, maxFetchPause)):
			return nil, c.fail(c.err)
		default:
			c.start()
		}
		f := c.flight
		cancelled := f.left // the next fetch may begin when this one has returned
		f.waiting++
		f.notify(ctx, h)
		c.mu.Unlock()
		err := f.wait(ctx)
		c.mu.Lock()
		f.waiting--
		f.leave()
		switch {
		case ctx.Err() != nil && err != nil && c.name != "":
			return nil, c.fail(fmt.Errorf("wait for %s: %w", c.name, err))
		case ctx.Err() != nil && err != nil:
			return nil, err
		case err == nil && cancelled:
			continue
		case err == nil && f.err == nil:
			return f.lease, nil
		case c.now != nil: // the server has refused it or it has expired, and there is no other
			return c.now, nil
		case err == nil:
			err = f.err
		}
		return nil, c.fail(err)
	}
}

// young reports whether the lease is too new to fetch another. If the clocks differ by nearly all of its lifetime,
// every lease is about to end when it arrives. The caller holds mu.
func (c *Credentials) young(now time.Time) bool { return fresh(c.now.taken, now, renewalPause) }

// pause returns how long to wait, given the present number of failures in a row.
func (c *Credentials) pause(first, most time.Duration) time.Duration {
	if c.failures == 0 {
		return 0
	}
	return min(most, first<<min(c.failures-1, 10))
}

// wait waits for a flight to end, until the caller's context ends or the flight's time is up.
func (f *flight) wait(ctx context.Context) error {
	select {
	case <-f.done:
		return nil
	case <-ctx.Done():
		return ContextError(ctx)
	case <-f.timeout.Done():
		select {
		case <-f.done:
			return nil
		default:
			return errTimeout
		}
	}
}

var errTimeout = fmt.Errorf("the fetch did not end within %v", fetchTimeout)

// hold begins a fetch for a client, or keeps the present one going, whether a request waits for it or not. The caller
// holds mu.
func (c *Credentials) hold(ctx context.Context, h *holder) {
	if c.flight == nil {
		c.start()
	}
	c.flight.holders[h] = true
	c.flight.notify(ctx, h)
}

// notify adds a client to those that are told of a failure. The caller holds Credentials.mu.
func (f *flight) notify(ctx context.Context, h *holder) {
	if f.tell[h] == nil {
		f.tell[h] = context.WithoutCancel(ctx)
	}
}

// leave cancels a flight whose result no request and no client wants. The caller holds Credentials.mu.
func (f *flight) leave() {
	if f.waiting == 0 && len(f.holders) == 0 {
		f.left = true
		f.cancel()
	}
}

// leave is called when a client is closed. When it returns, the fetch that runs only for this client has ended.
func (c *Credentials) leave(h *holder) {
	c.mu.Lock()
	f := c.flight
	if f != nil {
		delete(f.holders, h)
		f.leave()
	}
	wait := f != nil && f.left
	c.mu.Unlock()
	if wait {
		<-f.done
	}
}

// start begins a fetch. The caller holds mu, and no fetch is under way.
func (c *Credentials) start() {
	timeout, end := context.WithTimeout(Call{Fetch: true}.With(context.Background()), fetchTimeout)
	ctx, cancel := context.WithCancel(timeout)
	f := &flight{
		cancel: cancel, timeout: timeout, done: make(chan struct{}),
		holders: make(map[*holder]bool), tell: make(map[*holder]context.Context),
	}
	c.flight = f
	go func() {
		var (
			got Credential
			err error
		)
		defer func() { // a defer also runs if fetch calls runtime.Goexit
			cancel()
			c.land(f, got, err)
			close(f.done)
			end()
		}()
		guard.Call(func() { got, err = c.call(ctx) }, func(value any) { got, err = Credential{}, shown.Panic("fetch", value) })
	}()
}

// call calls fetch. It makes sure that a context error from fetch is not taken for that of the caller's context.
func (c *Credentials) call(ctx context.Context) (got Credential, err error) {
	got, err = c.fetch(ctx)
	switch {
	case err == nil:
	case context.Cause(ctx) == context.DeadlineExceeded:
		err = errTimeout
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		err = errors.New(err.Error())
	}
	return got, err
}

// land stores the result of a flight. It tells the clients if the old credential stays in use because there is no new
// one, and if the new one has expired by the clock of this machine.
func (c *Credentials) land(f *flight, got Credential, err error) {
	now := time.Now()
	var next *lease
	if err == nil {
		next, err = newLease(got, now)
	}
	var tell map[*holder]context.Context
	c.mu.Lock()
	if next == nil {
		f.err = err
	} else {
		if next.expired(now) {
			err = c.ended(next, now)
		}
		if err == nil || c.now == nil || c.refused || c.now.expired(now) { // otherwise the present lease is still good
			c.now = next
		}
		f.lease, c.refused = c.now, false
	}
	switch {
	case err == nil:
		c.failures, c.failed, c.err = 0, time.Time{}, nil
	case next != nil || !f.left: // the error of a cancelled flight is not a failure
		if c.now != nil {
			tell = maps.Clone(f.tell)
		}
		c.refused = false
		c.failures++
		c.failed, c.err = now, err
	}
	c.mu.Unlock()
	for h, ctx := range tell {
		h.tell(ctx, c.fail(err))
	}
	c.mu.Lock()
	c.flight = nil
	c.mu.Unlock()
}

// ended returns the error for a lease that had already expired when it arrived.
func (c *Credentials) ended(l *lease, now time.Time) error {
	what := "the credential"
	if c.name != "" {
		what += " from " + c.name
	}
	return &endedError{what, l.Expires, now}
}
