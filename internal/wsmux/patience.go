package wsmux

import (
	"sync"
	"time"
)

// patience bounds how long reads wait for the other side. Only time in which a read waits counts: while this side does
// something else, such as to wait for the one that takes what was read, the other side may have sent everything long
// ago.
type patience struct {
	mu     sync.Mutex // guards the rest
	limit  time.Duration
	renews bool          // what comes renews the limit
	expire func()        // nil if there is no limit
	left   time.Duration // of the limit, when the read that waits began
	since  time.Time     // when that was; zero if no read waits
	timer  *time.Timer   // runs while a read waits and there is a limit
}

// set replaces the limit, also for a read that waits.
func (p *patience) set(limit time.Duration, renews bool, expire func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limit, p.left, p.renews, p.expire = limit, limit, renews, expire
	if !p.since.IsZero() {
		p.since = time.Now()
		p.start()
	}
}

// start starts the timer. The caller holds mu.
func (p *patience) start() {
	if p.timer == nil {
		p.timer = time.AfterFunc(p.left, p.check)
		return
	}
	p.timer.Reset(p.left)
}

// check is what the timer calls. The read may just have ended.
func (p *patience) check() {
	p.mu.Lock()
	over := !p.since.IsZero() && time.Since(p.since) >= p.left
	expire := p.expire
	p.mu.Unlock()
	if over {
		expire()
	}
}

// begin says that a read waits.
func (p *patience) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since = time.Now()
	if p.expire != nil {
		p.start()
	}
}

// end says that it does not any more, and whether something has come.
func (p *patience) end(came bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	waited := time.Since(p.since)
	p.since = time.Time{}
	if p.expire == nil {
		return
	}
	p.timer.Stop()
	if p.left -= waited; came && p.renews {
		p.left = p.limit
	}
}
