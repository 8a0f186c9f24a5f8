package shards

import (
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// A write whose answer is lost may have taken from the lease what it left out: from the moment before it is sent, nobody knows.
func TestAcceptedIsOnlyWhatEveryWriteHasHad(t *testing.T) {
	c, err := client.New(client.Config{Server: "http://127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	g := New(c, Config{Namespace: "default", Name: "web", Identity: "a"})
	g.table.bids = of(1, 2)
	stored := g.annotations()
	if g.table.accepted != (meta.Ranges{}) {
		t.Errorf("a write that is on its way is said to be accepted: %v", g.table.accepted)
	}
	g.stored(stored)
	if g.table.accepted != of(1, 2) {
		t.Errorf("%v has been accepted, want 1 and 2", g.table.accepted)
	}
	g.table.bids = of(1)
	_ = g.annotations() // which is lost
	g.table.bids = of(1, 2)
	if g.table.accepted != of(1) || g.lapsed != of(2) {
		t.Errorf("after a write without it %v is accepted, and %v has lapsed", g.table.accepted, g.lapsed)
	}
	g.stored(stored)
	if g.table.accepted != of(1, 2) || g.lapsed != of(2) {
		t.Errorf("after a read %v is accepted, and %v has lapsed", g.table.accepted, g.lapsed)
	}
	g.stored(map[string]string{shareAnnotation: "somebody's"})
	if g.table.accepted != (meta.Ranges{}) || !g.edited {
		t.Errorf("of a lease that somebody has edited %v is accepted", g.table.accepted)
	}
}
