package retry

import (
	"sync"
	"time"
)

// Budget bounds the number of retries. It grows by a tenth with each call, and by one with each period, up to its
// size. Its mutex guards the fields below it. The zero Budget has no bound.
type Budget struct {
	size float64 // 0 = no bound

	mu   sync.Mutex
	left float64
	last time.Time // the time up to which the periods have been counted
}

const (
	budgetShare  = 0.1
	budgetPeriod = 10 * time.Second
)

// NewBudget returns a budget that is full.
func NewBudget(burst int) *Budget {
	size := float64(max(burst, 0))
	return &Budget{size: size, left: size, last: time.Now()}
}

// Earn counts a call.
func (b *Budget) Earn() {
	if b.size == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left = min(b.left+budgetShare, b.size)
}

// Take takes one retry from the budget, and reports whether there was one.
func (b *Budget) Take() bool {
	if b.size == 0 {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	b.left = min(b.left+float64(now.Sub(b.last))/float64(budgetPeriod), b.size)
	b.last = now
	const rounding = 1e-9 // so that ten tenths count as one in spite of rounding
	if b.left+rounding < 1 {
		return false
	}
	b.left--
	return true
}
