package explore

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestIgnoredFieldsMayDiffer(t *testing.T) {
	s := begun(t, countsInMemory)
	crash := parsed(t, "crash-after@update:boxes/status:1")
	if o := s.try(crash); len(o.wrong) == 0 {
		t.Fatal("the crash does not break the program")
	}
	p := boxPlan(countsInMemory)
	p.IgnoreFields = []string{"boxes.status.count"}
	s = &search{t: t, plan: p, limit: time.Minute}
	if !s.reference() {
		t.Fatal(s.failed.wrong)
	}
	if o := s.try(crash); len(o.wrong) > 0 {
		t.Errorf("without the count: %q", o.wrong)
	}
	p.IgnoreFields = []string{"boxes.status.count", "boxen.status.count"}
	s = &search{t: t, plan: p, limit: time.Minute}
	if s.reference() || !strings.Contains(s.failed.wrong[0], `Plan.IgnoreFields[1] is "boxen.status.count", but nobody has written to boxen`) {
		t.Errorf("an unknown resource: %v", s.failed)
	}
}

func TestAPathMayHaveDotsInItsNames(t *testing.T) {
	object := func() map[string]any {
		return map[string]any{
			"metadata": map[string]any{"annotations": map[string]any{"example.com/at": "x", "other": "y"}},
			"status":   map[string]any{"conditions": []any{map[string]any{"type": "A", "at": 1}, map[string]any{"type": "B", "at": 2}}, "only": map[string]any{"one": 1}},
		}
	}
	got, want := object(), object()
	leaveOut(got, "metadata.annotations.example.com/at")
	leaveOut(got, "status.conditions.at")
	leaveOut(got, "status.only.one")
	leaveOut(got, "status.absent.field")
	want["metadata"] = map[string]any{"annotations": map[string]any{"other": "y"}}
	want["status"] = map[string]any{"conditions": []any{map[string]any{"type": "A"}, map[string]any{"type": "B"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
