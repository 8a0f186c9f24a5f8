package client

import (
	"context"
	"testing"
	"testing/synctest"
)

// A slot that comes at the moment when its owner gives up is given back, to the next who waits if there is one.
func TestASlotOfAnOwnerWhoGivesUpIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewConcurrency(ConcurrencyOptions{Min: 1, Max: 1})
		if _, err := c.acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		acquire := func(ctx context.Context) (got chan error) {
			got = make(chan error, 1)
			go func() {
				_, err := c.acquire(ctx)
				got <- err
			}()
			synctest.Wait()
			return got
		}
		ctx, cancel := context.WithCancel(t.Context())
		first, second := acquire(ctx), acquire(t.Context())

		c.mu.Lock()
		cancel() // wakes the first, who cannot go on before mu is free,
		c.inFlight--
		c.admit() // and here it has got the slot nevertheless
		if c.inFlight != 1 || c.waiting.Len() != 1 {
			t.Errorf("%d under way and %d waiting, want the slot with the first, and the second waiting", c.inFlight, c.waiting.Len())
		}
		c.mu.Unlock()
		synctest.Wait()
		if err := <-first; err == nil {
			t.Error("the first has a slot, although its context has ended")
		}
		select {
		case err := <-second:
			if err != nil {
				t.Error(err)
			}
		default:
			t.Fatal("the second has no slot")
		}
		if got := c.InFlight(); got != 1 {
			t.Errorf("%d under way, want the second", got)
		}
	})
}
