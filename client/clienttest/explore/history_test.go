package explore

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// lived returns a run of a program through a history and a schedule, in which nothing may be wrong.
func lived(t *testing.T, do reconcile, history func(*History), text string) *outcome {
	t.Helper()
	plan := boxPlan(do)
	plan.History = history
	s := &search{t: t, plan: plan, limit: time.Minute, seed: 1}
	if !s.reference() {
		t.Fatal(s.failed.wrong)
	}
	o := s.try(parsed(t, text))
	if len(o.wrong) > 0 || len(o.happened) != 1 {
		t.Errorf("%q happened, and there is a false alarm: %q\n%s", o.happened, o.wrong, o.tale())
	}
	return o
}

// madeAgainAtOnce is a history in which a Box is made again right after its deletion.
func madeAgainAtOnce(h *History) {
	a := &Box{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}
	Create(h, boxType(), a)
	h.Rest()
	Delete(h, boxType(), a.Key())
	Create(h, boxType(), a)
	h.Rest()
}

// The finalizer of another program holds the first Box of the name, so the history makes the second one later.
func TestACreateWaitsForAnObjectThatIsHeld(t *testing.T) {
	o := lived(t, sweepsByServer, madeAgainAtOnce, "finalized-boxes/default/a@step:2")
	if !strings.Contains(o.tale(), "and waits until the other one has gone") {
		t.Errorf("the create does not wait:\n%s", o.tale())
	}
}

// The program removes its finalizer only when it sees the deletion.
func TestACreateWaitsForADeletionThatTheProgramDoesNotSee(t *testing.T) {
	history := func(h *History) {
		a := &Box{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}
		Create(h, boxType(), a)
		h.Rest()
		Delete(h, boxType(), a.Key())
		h.Rest()
		Create(h, boxType(), a)
		h.Rest()
	}
	o := lived(t, right, history, "lag-boxes@step:2")
	if !strings.Contains(o.tale(), "and waits until the other one has gone") {
		t.Errorf("the create does not wait:\n%s", o.tale())
	}
}

// A person would otherwise fail to write a note into a child that the program has not made yet, and the state would
// lack the note.
func TestAStepWaitsForTheObjectThatTheProgramMakes(t *testing.T) {
	o := lived(t, keepsBoxes, childrenWithNotes, "lag-boxes@step:1")
	if !strings.Contains(o.tale(), "and waits until the program has made it") {
		t.Errorf("the step does not wait:\n%s", o.tale())
	}
}

func TestAStepDoesNotWaitForAnObjectOfPeopleThatHasGone(t *testing.T) {
	o := lived(t, owns, livesOfBoxes, "deleted-owner@create:configmaps:1")
	if text := o.tale(); !strings.Contains(text, "modify boxes default/a, which fails") || strings.Contains(text, "and waits") {
		t.Errorf("the step does not fail at once:\n%s", text)
	}
}

// The child has no phase yet when a person edits it, so its text is edited. At rest its phase would be the first field.
func TestTheFieldThatIsEditedIsTheSameAtRest(t *testing.T) {
	o := lived(t, twoFencedPhases, oneBox, "edited-object@get:configmaps:1")
	if !strings.Contains(o.tale(), "configmaps default/a is edited") {
		t.Errorf("nothing is edited:\n%s", o.tale())
	}
}

// keepsBoxes keeps the child of each Box, and what others write into it.
func keepsBoxes(ctx context.Context, p *program, _ meta.Key, box *Box) error {
	if box == nil {
		return nil
	}
	return keepsAndSays(ctx, p, box)
}
