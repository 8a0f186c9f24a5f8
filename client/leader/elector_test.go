package leader_test

import (
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
)

func TestOneOfThreeLeadsAndAReleasePassesTheLeaseAtOnce(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		a := w.contend("a", nil, nil).run()
		w.until(time.Second)
		b, c := w.contend("b", nil, nil).run(), w.contend("c", nil, nil).run()
		w.until(time.Minute)
		if a.ctx() == nil || b.ctx() != nil || c.ctx() != nil {
			t.Fatalf("lead was called: a %v, b %v, c %v", a.ctx() != nil, b.ctx() != nil, c.ctx() != nil)
		}
		if err := a.stop(); err != nil {
			t.Error(err)
		}
		w.until(time.Minute + time.Millisecond)
		if (b.ctx() == nil) == (c.ctx() == nil) {
			t.Fatalf("after the release, lead was called: b %v, c %v", b.ctx() != nil, c.ctx() != nil)
		}
		if n := field[int](w, w.lease(), "leaseTransitions"); n != 1 {
			t.Errorf("the lease has passed on %d times, want once", n)
		}
		for _, p := range []*contender{a, b, c} {
			if errs := p.errors(); len(errs) > 0 {
				t.Errorf("errors: %v", errs)
			}
		}
	})
}
