package informer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
	"weak"

	"github.com/bowline-go/bowline/internal/runners"
)

// Factory lets parts of a program share one watch and one cache for each resource and scope. Ask for informers with
// [Share], and run it with [Factory.Run]. The zero value is ready for use. After the first Share, do not change Grace
// and do not copy the Factory. Its methods are safe for use by several goroutines at once.
type Factory struct {
	// Grace is how long a watch goes on after the Run of the last informer that uses it has ended. An informer that
	// runs again within that time finds the cache unchanged. 0 means that the watch stops at once.
	Grace time.Duration

	// mu guards the fields below, and the users and lives of all informers. Nothing else is locked or called under it.
	mu       sync.Mutex
	running  bool
	ended    chan struct{}                // closed when the current Run ends
	commons  map[any]weak.Pointer[common] // by sharing; the garbage collector frees a common that nothing references
	starting []*common                    // Run must start a goroutine for these

	// wake holds a token when starting has grown. It is nil before the first Run, which begins with what starting has.
	wake chan struct{}
}

// Run runs the watches of the informers that run, until ctx ends; then it returns nil, after all its goroutines have
// returned. It returns an error at once if it is running already. If Run stops a watch, the Run of each informer that
// uses it returns an error, unless the context of that informer has ended too, as it does under [Run]. If an informer
// panics, Run panics, after everything has returned.
func (s *Factory) Run(ctx context.Context) error {
	if s.Grace < 0 {
		return fmt.Errorf("run informer.Factory: Grace must be 0 or more, got %v", s.Grace)
	}
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// Each goroutine ends with ctx or when its users have left; Run waits for all of them here.
	var (
		running  sync.WaitGroup
		first    sync.Once
		panicked any
	)
	for {
		for _, c := range s.due() {
			running.Go(func() {
				defer func() {
					if value := recover(); value != nil {
						first.Do(func() { panicked = value })
						cancel()
						c.rise(ctx) // ctx has ended, so its users now wait for the next Run
					}
				}()
				c.serve(ctx)
			})
		}
		select {
		case <-ctx.Done():
			running.Wait()
			if panicked != nil {
				panic(panicked)
			}
			return nil
		case <-s.wake:
		}
	}
}

func (s *Factory) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running {
		return &runners.RunningError{What: "informer.Factory", Ended: s.ended}
	}
	s.running, s.ended = true, make(chan struct{})
	if s.wake == nil {
		s.wake = make(chan struct{}, 1)
	}
	return nil
}

func (s *Factory) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = false
	close(s.ended)
}

func (s *Factory) isRunning() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}

// find returns the informer of a key. If there is none, it stores made under the key and returns it, unless made is
// nil.
func (s *Factory) find(key any, made *common) *common {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.commons[key].Value(); c != nil {
		return c
	}
	if made != nil {
		maps.DeleteFunc(s.commons, func(_ any, w weak.Pointer[common]) bool { return w.Value() == nil })
		if s.commons == nil {
			s.commons = make(map[any]weak.Pointer[common])
		}
		s.commons[key] = weak.Make(made)
	}
	return made
}

func (s *Factory) due() []*common {
	s.mu.Lock()
	defer s.mu.Unlock()
	due := s.starting
	s.starting = nil
	return due
}

// common is an informer with its users.
type common struct {
	s        *Factory
	informer any // an *engine[T]
	run      func(context.Context) error
	renew    func() // resets an informer that is not running to its initial state

	// Guarded by Factory.mu.
	life    *life // the life that new users join
	serving bool  // a goroutine runs it, or is about to
}

// life is one period in which an informer runs, from its first user to the end after its last one.
//
// A user that comes after the life has been told to end joins the next life, which begins with an empty cache when this
// one has ended.
type life struct {
	begun chan struct{} // closed when the informer is about to run
	ended chan struct{} // closed when it has run
	err   error         // the reason; written before ended is closed, read after

	// Guarded by Factory.mu.
	users  map[user]bool
	cancel context.CancelFunc // nil until it has begun
	grace  *time.Timer        // runs while there are no users; may be nil
}

// user is a use without its type parameter.
type user interface{ report(error) bool }

func newLife() *life {
	return &life{begun: make(chan struct{}), ended: make(chan struct{}), users: make(map[user]bool)}
}

// join makes u a user of the current life, and requests a start of the informer if it is not running.
func (c *common) join(u user) *life {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	l := c.life
	l.users[u] = true
	if l.grace != nil {
		l.grace.Stop()
	}
	if !c.serving {
		c.serving = true
		c.s.starting = append(c.s.starting, c)
		select {
		case c.s.wake <- struct{}{}:
		default: // a token is there already
		}
	}
	return l
}

// leave removes a user. When the last one leaves, the life ends, after the grace period.
func (c *common) leave(u user, l *life) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	delete(l.users, u)
	switch {
	case len(l.users) > 0 || l != c.life:
	case c.s.Grace <= 0:
		c.finish(l)
	default:
		l.grace = time.AfterFunc(c.s.Grace, func() {
			c.s.mu.Lock()
			defer c.s.mu.Unlock()
			c.finish(l)
		})
	}
}

// finish ends a life that has no users; later users join the next life. A life that has not begun needs no end, because
// rise begins none without users. The caller holds Factory.mu.
func (c *common) finish(l *life) {
	if c.life == l && len(l.users) == 0 && l.cancel != nil {
		c.life = newLife()
		l.cancel()
	}
}

// serve runs the informer while it has users, one life after the other.
func (c *common) serve(ctx context.Context) {
	for {
		running, l := c.rise(ctx)
		if l == nil {
			return
		}
		c.live(ctx, running, l)
	}
}

// live runs the informer for one life. The life ends even if the informer panics.
func (c *common) live(ctx, running context.Context, l *life) {
	l.err = errPanicked
	defer func() {
		c.fall(l)
		c.renew()
		close(l.ended)
	}()
	err := c.run(running)
	if ctx.Err() != nil {
		err = errFactoryStopped
	}
	l.err = err
}

var (
	errFactoryStopped = errors.New("the Factory has been stopped")
	errPanicked       = errors.New("the informer has panicked")
)

// rise begins the current life if it has users. Otherwise, or if ctx has ended, it returns nil.
func (c *common) rise(ctx context.Context) (context.Context, *life) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	l := c.life
	if ctx.Err() != nil || len(l.users) == 0 {
		if c.serving = false; len(l.users) > 0 { // they wait for the next Run
			c.serving = true
			c.s.starting = append(c.s.starting, c)
		}
		return nil, nil
	}
	ctx, l.cancel = context.WithCancel(ctx)
	close(l.begun)
	return ctx, l
}

// fall ends a life whose informer has ended.
func (c *common) fall(l *life) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.life == l {
		c.life = newLife()
	}
	if l.grace != nil {
		l.grace.Stop()
	}
	l.cancel()
}

// report passes an error to all users. It returns true if all of them have a hook: otherwise the error must be logged.
func (c *common) report(err error) bool {
	c.s.mu.Lock()
	users := slices.Collect(maps.Keys(c.life.users))
	c.s.mu.Unlock()
	taken := len(users) > 0
	for _, u := range users {
		taken = u.report(err) && taken
	}
	return taken
}
