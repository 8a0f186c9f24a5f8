package shards_test

import (
	"testing"
	"time"
)

func TestReplicasShareTheRanges(t *testing.T) {
	play(t, func(w *world) {
		a := w.replica("a", nil).run()
		w.pass(time.Second)
		t.Log(w.whole(a))
		b := w.replica("b", nil).run()
		w.pass(time.Second)
		t.Log(w.whole(a, b))
		c := w.replica("c", nil).run()
		w.pass(time.Second)
		t.Log(w.whole(a, b, c))
		b.cancel()
		<-b.ended
		w.pass(time.Millisecond)
		t.Log(w.whole(a, c), w.since())
		c.m.Freeze()
		w.pass(20 * time.Second)
		t.Log(w.whole(a))
		c.m.Thaw(false)
		w.pass(3 * time.Second)
		t.Log(w.whole(a, c))
		t.Log(a.Status())
	})
}
