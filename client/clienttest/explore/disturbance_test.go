package explore

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
)

func TestASchedulesTextIsReadAsTheSameSchedule(t *testing.T) {
	want := schedule{
		{kind: crashAfter, place: place{"update:pods/status", 3}},
		{kind: lag, argument: "configmaps", place: place{"create:configmaps", 1}},
		{kind: failure, place: place{"get:/version", 1}},
		{kind: unseen, place: place{step, 2}},
	}
	got, err := parseSchedule(want.String())
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%s is read as %v, %v", want, got, err)
	}
	for _, text := range []string{
		"", "crash-after", "crash-after@update:pods", "crash-after@update:pods:0", "crash@update:pods:1", "lag@create:pods:1",
		"lag-@create:pods:1", "unseen@create:pods:1", "crash-after@step:1", "crash-after@:1", "crash-after@update:pods:1,",
	} {
		if s, err := parseSchedule(text); err == nil || !strings.Contains(err.Error(), "crash-after@update:pods/status:3") {
			t.Errorf("%q is read as %v, %v; want an error with an example", text, s, err)
		}
	}
}

func TestTheFunctionsOfThePlanSeeTheState(t *testing.T) {
	wrong := func(s State) error {
		boxes, err := Objects(s, boxType())
		if err != nil {
			return err
		}
		for _, b := range boxes {
			if b.Status.Text == "two" {
				return errors.New("a box says two")
			}
		}
		return nil
	}
	plan := Plan{Server: clienttest.Options{CRDs: []string{"testdata/boxes.yaml"}}, Program: reconcile(right).run, History: livesOfBoxes}
	plan.Always, plan.AtRest = wrong, wrong
	s := &search{t: t, plan: &plan, limit: time.Minute}
	if s.reference() {
		t.Fatal("nothing was found")
	}
	for _, want := range []string{"always: a box says two", "at rest: a box says two"} {
		if !slices.Contains(s.failed.wrong, want) {
			t.Errorf("got %q, want %q among them", s.failed.wrong, want)
		}
	}
}

func TestAPlanThatCannotBePlayedIsRefused(t *testing.T) {
	whole := Plan{Program: reconcile(right).run, History: livesOfBoxes}
	if err := whole.check(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Plan){
		"Program":         func(p *Plan) { p.Program = nil },
		"History":         func(p *Plan) { p.History = nil },
		"Replicas":        func(p *Plan) { p.Replicas = -1 },
		"TLS":             func(p *Plan) { p.Server.TLS = true },
		"Budget":          func(p *Plan) { p.Budget = -1 },
		"IgnoreFields[0]": func(p *Plan) { p.IgnoreFields = []string{"status"} },
	} {
		p := whole
		change(&p)
		if err := p.check(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v, want an error that names it", name, err)
		}
	}
}

// While the watches of Boxes say nothing, the program makes again what the garbage collector deletes, and so on for
// ever. It must be told that the Box has gone.
func TestAProgramNeedNotRestWhileADisturbanceGoesOn(t *testing.T) {
	s := begun(t, owns)
	for _, text := range []string{"lag-boxes@step:4", "unseen@step:4"} {
		if o := s.try(parsed(t, text)); len(o.wrong) > 0 {
			t.Errorf("a false alarm under %s: %q\n%s", text, o.wrong, o.tale())
		}
	}
}
