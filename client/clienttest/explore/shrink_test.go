package explore

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// boxPlan is the plan of a planted controller.
func boxPlan(do reconcile) *Plan {
	return &Plan{Server: clienttest.Options{CRDs: []string{"testdata/boxes.yaml"}}, Program: do.run, History: livesOfBoxes}
}

// begun returns a search whose reference was played.
func begun(t *testing.T, do reconcile) *search {
	t.Helper()
	s := &search{t: t, plan: boxPlan(do), limit: time.Minute, seed: 1}
	if !s.reference() {
		t.Fatalf("it breaks without a disturbance: %q", s.failed.wrong)
	}
	return s
}

// parsed returns a schedule.
func parsed(t *testing.T, text string) schedule {
	t.Helper()
	which, err := parseSchedule(text)
	if err != nil {
		t.Fatal(err)
	}
	return which
}

func TestAScheduleShrinksToTheDisturbanceThatBreaksTheProgram(t *testing.T) {
	s := begun(t, generatesNames)
	o := s.try(parsed(t, "slow@create:configmaps:2,timeout@create:configmaps:1,throttled@list:boxes:1,failure@update:boxes/status:2"))
	if len(o.wrong) == 0 {
		t.Fatal("the large schedule does not break the program")
	}
	smallest := s.shrink(o)
	if len(smallest.schedule) != 1 || len(smallest.wrong) == 0 {
		t.Errorf("the smallest schedule is %s, %q; want one disturbance", smallest.schedule, smallest.wrong)
	}
	for _, which := range simpler(smallest.schedule) {
		if o := s.try(which); len(o.wrong) > 0 {
			t.Errorf("%s is simpler than %s, and breaks the program: %q", which, smallest.schedule, o.wrong)
		}
	}
}

func TestAScheduleOfTwoThatBreaksTheProgramOnlyTogetherStays(t *testing.T) {
	s := begun(t, breaksAtTheSecondFailure)
	for _, one := range []string{"failure@create:configmaps:1", "failure@create:configmaps:2"} {
		if o := s.try(parsed(t, one)); len(o.wrong) > 0 {
			t.Fatalf("%s alone breaks it: %q", one, o.wrong)
		}
	}
	o := s.try(parsed(t, "failure@create:configmaps:1,throttled@list:boxes:1,failure@create:configmaps:2"))
	if got := s.shrink(o).schedule; len(o.wrong) == 0 || len(got) != 2 {
		t.Errorf("the smallest schedule is %s, %q; want two failures", got, o.wrong)
	}
}

// breaksAtTheSecondFailure makes the child of a Box, unless that has failed twice.
func breaksAtTheSecondFailure(ctx context.Context, p *program, key meta.Key, box *Box) error {
	if p.memory[key] == 2 {
		return nil
	}
	err := right(ctx, p, key, box)
	if err != nil {
		p.memory[key]++
	}
	return err
}

func TestAReportSaysHowOftenTheScheduleBreaksTheProgram(t *testing.T) {
	s := begun(t, generatesNames)
	which := parsed(t, "crash-after@create:configmaps:1")
	if failures, played := s.replay(which); failures != replays || played != replays {
		t.Errorf("%d of %d replays fail, want all of %d", failures, played, replays)
	}
	one := func(h *History) {
		Create(h, boxType(), &Box{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}})
	}
	s = &search{t: t, plan: boxPlan(right), limit: time.Minute}
	s.plan.History = one
	if !s.reference() {
		t.Fatal(s.failed.wrong)
	}
	var calls atomic.Int64
	s.plan.AtRest = func(State) error {
		if calls.Add(1)%3 == 0 {
			return errors.New("it is a third call")
		}
		return nil
	}
	s.paces = nil // one rest, which is sure
	if failures, played := s.replay(nil); played != replays || failures != replays/3 {
		t.Errorf("%d of %d replays fail, want a third", failures, played)
	}
}

func TestAReportTellsAStory(t *testing.T) {
	s := begun(t, generatesNames)
	which := parsed(t, "crash-after@create:configmaps:1")
	report := s.report(s.try(which), 9, 10)
	for _, want := range []string{
		"the program breaks under crash-after@create:configmaps:1, in 9 of 10 replays",
		"configmaps default/a-* (2) is there, and should not be: the program made it 2 times:\n",
		`+ data.text: "one"`,
		"   1     0.000s  user: create boxes default/a\n",
		"replica A: POST configmaps default/a-", "(version 7), and dies before the answer\n",
		"   10.000s  replica A starts\n",
		"go test -run '^TestAReportTellsAStory$' -explore.schedule='crash-after@create:configmaps:1'",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("the report lacks %q:\n%s", want, report)
		}
	}
}

func TestAReportNamesARequestThatTheDisturbancePrevents(t *testing.T) {
	s := begun(t, cleansLate)
	report := s.report(s.try(parsed(t, "crash-after@update:boxes:3")), 10, 10)
	if want := "    without the disturbance there was DELETE configmaps default/b\n"; !strings.Contains(report, want) {
		t.Errorf("the report lacks %q:\n%s", want, report)
	}
}

func TestARunKnowsWhichDisturbancesHappened(t *testing.T) {
	s := begun(t, right)
	o := s.try(parsed(t, "failure@create:configmaps:1,failure@create:configmaps:99,unseen@step:2,unseen@step:9"))
	if got, want := o.happened.String(), "failure@create:configmaps:1,unseen@step:2"; got != want {
		t.Errorf("%s happened, want %s", got, want)
	}
	if got := o.classes(); !strings.HasPrefix(got, "create:configmaps:") || !strings.Contains(got, ", update:boxes/status:") {
		t.Errorf("the classes are %s", got)
	}
}

func TestARunThatEndsDifferentlyEachTimeIsReportedWithHowOften(t *testing.T) {
	var runs atomic.Int64
	s := &search{t: t, plan: boxPlan(right), limit: time.Minute}
	s.plan.History = func(h *History) {
		box := &Box{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}
		box.Spec.Text = "first"
		if runs.Add(1) > 1 {
			box.Spec.Text = "other"
		}
		Create(h, boxType(), box)
	}
	if s.reference() || !strings.HasPrefix(s.failed.wrong[0], "a second run without a disturbance ends differently: boxes default/a differs") {
		t.Fatalf("got %v", s.failed)
	}
	if failures, played := s.replay(nil); failures != replays || played != replays {
		t.Errorf("%d of %d replays fail, want all", failures, played)
	}
}
