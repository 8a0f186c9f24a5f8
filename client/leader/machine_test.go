package leader_test

import (
	"net/http"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/leader"
)

// machine is what a contender runs on: its clocks, and whether its process goes on. The bubble has one time for all, so the clocks
// are steered by their differences from it.
type machine struct {
	start time.Time

	mu     sync.Mutex // guards the rest
	behind time.Duration
	ahead  time.Duration
	thawed chan struct{} // closed at the end of a pause; nil without one
	frozen time.Time
}

func newMachine() *machine { return &machine{start: time.Now()} }

// runs gives an Elector the clocks of m, before Run.
func (m *machine) runs(e *leader.Elector) { leader.SetClock(e, m.mono, m.wall) }

// connects makes the requests of a client those of a process on m.
func (m *machine) connects(c *client.Config) {
	c.Wrap = func(next http.RoundTripper) http.RoundTripper { return &paused{m, next} }
}

// paused is a transport of a process that may be stopped before it sends, and before it takes the answer.
type paused struct {
	m    *machine
	next http.RoundTripper
}

func (p *paused) RoundTrip(r *http.Request) (*http.Response, error) {
	p.m.pause()
	resp, err := p.next.RoundTrip(r)
	p.m.pause()
	return resp, err
}

func (m *machine) mono() time.Duration {
	m.pause()
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Since(m.start) - m.behind
}

func (m *machine) wall() time.Time {
	m.pause()
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Now().Round(0).Add(m.ahead)
}

// step sets the wall clock forward, or back.
func (m *machine) step(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ahead += d
}

// pause blocks a process that is stopped.
func (m *machine) pause() {
	m.mu.Lock()
	thawed := m.thawed
	m.mu.Unlock()
	if thawed != nil {
		<-thawed
	}
}

// freeze stops the process, as SIGSTOP does. The process goes on until it looks at a clock, makes a request or gets an answer.
func (m *machine) freeze() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.thawed == nil {
		m.thawed, m.frozen = make(chan struct{}), time.Now()
	}
}

// thaw lets the process go on. If the machine has slept, its monotonic clock has not noticed.
func (m *machine) thaw(slept bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.thawed == nil {
		return
	}
	if slept {
		m.behind += time.Since(m.frozen)
	}
	close(m.thawed)
	m.thawed = nil
}

func (m *machine) isFrozen() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.thawed != nil
}
