package explore

import (
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// A program that answers each event with another request would otherwise keep a list waiting that would end that.
func TestARequestIsNotPassedByOthersForEver(t *testing.T) {
	w := &world{server: clienttest.Start(t, clienttest.Options{}), counts: map[string]int{}, digest: newDigest(), kinds: map[meta.GVR]bool{}}
	one := &life{replica: &replica{world: w, name: "A"}}
	list := &point{life: one, path: "/b"}
	w.waiting = []*point{list}
	for range 100 {
		w.waiting = append(w.waiting, &point{life: one, path: "/a"})
		if w.next() == list {
			return
		}
	}
	t.Error("100 others were let through before it")
}

// When each request takes a while, a list that 50 others pass waits for so long that its client gives up.
func TestTheOldestRequestIsLetThroughFirst(t *testing.T) {
	w := &world{server: clienttest.Start(t, clienttest.Options{}), counts: map[string]int{}, digest: newDigest(), kinds: map[meta.GVR]bool{}}
	one := &life{replica: &replica{world: w, name: "A"}}
	list := &point{life: one, path: "/b", sent: time.Now()}
	w.waiting = []*point{{life: one, path: "/a", sent: list.sent.Add(time.Second)}, list}
	if w.next() != list {
		t.Error("a request that was sent a second later is let through first")
	}
}
