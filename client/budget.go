package client

import (
	"sync"
	"time"
)

// budget bounds how much is sent again: what there is to take grows by a tenth with each call, and by one with each period,
// up to its size. Its mutex guards the fields below it. The zero budget has no bound.
type budget struct {
	size float64 // 0 = no bound

	mu   sync.Mutex
	left float64
	last time.Time // up to when the periods have been counted
}

const (
	budgetShare  = 0.1
	budgetPeriod = 10 * time.Second
)

// newBudget returns a budget that is full.
func newBudget(burst int) *budget {
	size := float64(max(burst, 0))
	return &budget{size: size, left: size, last: time.Now()}
}

// earn counts a call.
func (b *budget) earn() {
	if b.size == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left = min(b.left+budgetShare, b.size)
}

// take takes one, if it is there.
func (b *budget) take() bool {
	if b.size == 0 {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	b.left = min(b.left+float64(now.Sub(b.last))/float64(budgetPeriod), b.size)
	b.last = now
	const rounding = 1e-9 // ten tenths are one
	if b.left+rounding < 1 {
		return false
	}
	b.left--
	return true
}
