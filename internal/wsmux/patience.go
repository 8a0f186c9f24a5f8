package wsmux

import (
	"sync"
	"time"
)

// patience bounds how long reads wait for the other side. Only time in which a read waits counts: while this side does
// something else, such as writing to a slow output, the other side may already have sent everything.
type patience struct {
	mu     sync.Mutex // guards the fields below
	limit  time.Duration
	renews bool          // received bytes renew the limit
	expire func()        // nil if there is no limit
	left   time.Duration // the rest of the limit when the waiting read began
	since  time.Time     // when the waiting read began; zero if no read waits
	timer  *time.Timer   // runs while a read waits and there is a limit
}

// set replaces the limit, even for a read that is waiting.
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

// check is called by the timer. The read may have just ended.
func (p *patience) check() {
	p.mu.Lock()
	over := !p.since.IsZero() && time.Since(p.since) >= p.left
	expire := p.expire
	p.mu.Unlock()
	if over {
		expire()
	}
}

// begin records that a read waits.
func (p *patience) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since = time.Now()
	if p.expire != nil {
		p.start()
	}
}

// end records that the read has ended, and whether it received bytes.
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
