package explore

import (
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
)

// A watch that is resumed would bring each state that an unseen stretch hides.
func TestEachCacheIsFilledAgainAfterAnUnseenStretch(t *testing.T) {
	plan := Plan{Server: clienttest.Options{CRDs: []string{"testdata/boxes.yaml"}}, Program: reconcile(right).run, History: livesOfBoxes}
	s := &search{t: t, plan: &plan, limit: time.Minute}
	if !s.reference() {
		t.Fatal(s.failed.wrong)
	}
	fills := func(o *outcome) (n int) {
		for _, p := range o.points {
			if p.request.Resource.Resource == "boxes" && (p.request.Verb == "list" || p.query.Get("sendInitialEvents") == "true") {
				n++
			}
		}
		return n
	}
	o := s.try(schedule{{kind: unseen, place: place{step, 2}}})
	if before, got := fills(s.want), fills(o); before == 0 || got <= before {
		t.Errorf("the cache of boxes was filled %d times, and %d times without the stretch; want more", got, before)
	}
}
