package explore

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
)

func TestARunIsComparedWithTheReferenceThatItNames(t *testing.T) {
	names := true
	p := Plan{
		Server: clienttest.Options{CRDs: []string{"testdata/boxes.yaml"}}, Program: reconcile(right).run,
		History: func(h *History) {
			livesOfBoxes(h)
			if names {
				h.world.compareWith(edited, "boxes/default/a")
			}
		},
	}
	s := &search{t: t, plan: &p, limit: time.Minute}
	if !s.reference() {
		t.Fatal(s.failed.wrong)
	}
	s.paces = nil // each rest is sure
	var asked []string
	names = false
	if o := s.play(nil, s.referenceOf); len(o.wrong) > 0 {
		t.Errorf("compared with the run without disturbances: %q", o.wrong)
	}
	names = true
	other := &outcome{result: &result{states: make([]state, 4)}}
	for i := range other.states {
		other.states[i] = state{"boxes default/z": map[string]any{}}
	}
	o := s.play(nil, func(compared schedule) *outcome {
		asked = append(asked, compared.String())
		if len(asked) < 4 { // the rests before the edit
			return s.want
		}
		return other
	})
	if !slices.ContainsFunc(o.wrong, func(line string) bool { return strings.Contains(line, "boxes default/z") }) {
		t.Errorf("got %q, want the missing boxes default/z among it", o.wrong)
	}
	for _, want := range []string{"", "edited-boxes/default/a@rest:3", "edited-boxes/default/a@rest:4"} {
		if !slices.Contains(asked, want) { // the fourth rest is the one after the history
			t.Errorf("the run is compared with %q, want %q among it", asked, want)
		}
	}
}

func TestAReferenceIsPlayedOnce(t *testing.T) {
	played := 0
	r := references{play: func(which schedule) *outcome {
		played++
		return &outcome{result: &result{schedule: which}}
	}}
	first, second := schedule{{edited, "a", place{atRest, 1}}}, schedule{{edited, "b", place{atRest, 1}}}
	if a, again := r.of(first), r.of(first); a != again || a.schedule.String() != first.String() {
		t.Errorf("got %v and %v, want the same run of %v", a, again, first)
	}
	if r.of(second); played != 2 {
		t.Errorf("%d runs, want one for each of two references", played)
	}
}
