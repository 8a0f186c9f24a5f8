// Package machine simulates the clocks and the pauses of a computer, for tests of code that must work whatever these
// do.
package machine

import (
	"net/http"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client"
)

// Machine is what a process runs on: its clocks, and whether the process goes on. A bubble of testing/synctest has one
// time for all, so the clocks are steered by their differences from it. Make one with [New]. Its methods are safe for
// use by several goroutines at once.
type Machine struct {
	start time.Time

	mu     sync.Mutex // guards the rest
	behind time.Duration
	ahead  time.Duration
	thawed chan struct{} // closed at the end of a pause; nil without one
	frozen time.Time
}

// New returns a machine with the right time.
func New() *Machine { return &Machine{start: time.Now()} }

// Connects makes a client with the configuration c part of the process on m: its requests wait while the process is
// stopped.
func (m *Machine) Connects(c *client.Config) {
	c.Wrap = func(next http.RoundTripper) http.RoundTripper { return &paused{m, next} }
}

// paused is a transport of a process that may be stopped before it sends, and before it takes the answer.
type paused struct {
	m    *Machine
	next http.RoundTripper
}

func (p *paused) RoundTrip(r *http.Request) (*http.Response, error) {
	p.m.Pause()
	resp, err := p.next.RoundTrip(r)
	p.m.Pause()
	return resp, err
}

// Mono is the monotonic clock: the time since the machine was made.
func (m *Machine) Mono() time.Duration {
	m.Pause()
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Since(m.start) - m.behind
}

// Wall is the wall clock.
func (m *Machine) Wall() time.Time {
	m.Pause()
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Now().Round(0).Add(m.ahead)
}

// Step sets the wall clock forward, or back.
func (m *Machine) Step(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ahead += d
}

// Pause blocks a process that is stopped.
func (m *Machine) Pause() {
	m.mu.Lock()
	thawed := m.thawed
	m.mu.Unlock()
	if thawed != nil {
		<-thawed
	}
}

// Freeze stops the process, as SIGSTOP does. The process goes on until it looks at a clock, makes a request or gets an
// answer.
func (m *Machine) Freeze() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.thawed == nil {
		m.thawed, m.frozen = make(chan struct{}), time.Now()
	}
}

// Thaw lets the process go on. If slept is true, the whole machine was asleep, so its monotonic clock did not advance.
func (m *Machine) Thaw(slept bool) {
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

// IsFrozen reports whether the process is stopped.
func (m *Machine) IsFrozen() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.thawed != nil
}
