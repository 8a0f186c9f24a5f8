package explore

import (
	"testing"

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
