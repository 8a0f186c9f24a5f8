package controller_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer/controller"
)

// change returns a pod before and after a change of its metadata.
func change(change func(before, after *pod)) (before, after *pod) {
	before, after = newPod("ns", "a", "1"), newPod("ns", "a", "2")
	change(before, after)
	return before, after
}

func TestEachPredicateSelectsItsChanges(t *testing.T) {
	deleting := meta.Time{Time: time.Unix(1, 0)}
	predicates := map[string]func(old, new *pod) bool{
		"generation": controller.GenerationChanged[*pod], "labels": controller.LabelsChanged[*pod],
		"annotations": controller.AnnotationsChanged[*pod], "finalizers": controller.FinalizersChanged[*pod],
		"deletion": controller.DeletionBegan[*pod], "version": controller.VersionChanged[*pod],
	}
	for _, test := range []struct {
		name   string
		change func(before, after *pod)
		want   string // the predicates that are true
	}{
		{"nothing but the version", func(before, after *pod) { before.Generation, after.Generation = 1, 1 }, "version"},
		{"another generation", func(before, after *pod) { before.Generation, after.Generation = 1, 2 }, "generation version"},
		{"a kind without generations", func(_, _ *pod) {}, "generation version"},
		{"nothing at all", func(_, after *pod) { after.ResourceVersion, after.Generation = "1", 0 }, "generation"},
		{"no versions", func(before, after *pod) { before.ResourceVersion, after.ResourceVersion = "", "" }, "generation version"},
		{"a label", func(before, after *pod) {
			before.Labels = map[string]string{"app": "web"}
			after.Labels = map[string]string{"app": "shop"}
		}, "generation labels version"},
		{"no labels instead of none", func(_, after *pod) { after.Labels = map[string]string{} }, "generation version"},
		{"an annotation", func(_, after *pod) { after.Annotations = map[string]string{"a": ""} }, "annotations generation version"},
		{"a finalizer more", func(_, after *pod) { after.Finalizers = []string{"x/y"} }, "finalizers generation version"},
		{"the order of finalizers", func(before, after *pod) {
			before.Finalizers, after.Finalizers = []string{"x/y", "x/z"}, []string{"x/z", "x/y"}
		}, "finalizers generation version"},
		{"deletion begins", func(before, after *pod) {
			before.Generation, after.Generation = 1, 2
			after.DeletionTimestamp = &deleting
		}, "deletion generation version"},
		{"deletion goes on", func(before, after *pod) {
			before.Generation, after.Generation = 2, 2
			before.DeletionTimestamp, after.DeletionTimestamp = &deleting, &deleting
		}, "version"},
	} {
		before, after := change(test.change)
		got := ""
		for _, name := range []string{"annotations", "deletion", "finalizers", "generation", "labels", "version"} {
			if predicates[name](before, after) {
				got += " " + name
			}
		}
		if got != " "+test.want {
			t.Errorf("%s: true are%s, want %s", test.name, got, test.want)
		}
	}
}

func TestPredicatesAreCombined(t *testing.T) {
	yes := func(_, _ *pod) bool { return true }
	no := func(_, _ *pod) bool { return false }
	never := func(_, _ *pod) bool { panic("called although the answer is known") }
	for _, test := range []struct {
		name string
		got  func(old, new *pod) bool
		want bool
	}{
		{"or of nothing", controller.Or[*pod](), false},
		{"or", controller.Or(no, yes, never), true},
		{"or of false ones", controller.Or(no, no), false},
		{"or with nil", controller.Or(nil, yes), true},
		{"and of nothing", controller.And[*pod](), true},
		{"and", controller.And(yes, yes), true},
		{"and of a false one", controller.And(yes, no, never), false},
		{"and with nil", controller.And(nil, yes), true},
		{"not", controller.Not(no), true},
		{"not of a true one", controller.Not(yes), false},
		{"not of nothing", controller.Not[*pod](nil), true},
		{"some of each", controller.And(controller.Or(no, yes), controller.Not(controller.And(yes, no))), true},
	} {
		if got := test.got(nil, nil); got != test.want {
			t.Errorf("%s is %v, want %v", test.name, got, test.want)
		}
	}
}

// An update passes Changed if one of its predicates is true. The type of the objects is inferred.
func TestChangedTakesSeveralPredicates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPods(t)
		take, stop := reconciled(t, controller.Watch(controller.Changed(s.Reader(), controller.GenerationChanged, nil, controller.DeletionBegan,
			controller.And(controller.LabelsChanged[*pod], controller.Not(controller.AnnotationsChanged[*pod])))))
		version := 1
		p := generation(newPod("ns", "a", "1"), 1)
		s.list(p)
		want(t, "the initial object", take, "ns/a")
		set := func(what, wanted string, change func(p *pod)) {
			t.Helper()
			p = meta.Clone(p)
			version++
			p.ResourceVersion = fmt.Sprint(version)
			change(p)
			s.set(p)
			want(t, what, take, wanted)
		}
		set("only the version", "", func(*pod) {})
		set("a generation", "ns/a", func(p *pod) { p.Generation++ })
		set("a label", "ns/a", func(p *pod) { p.Labels = map[string]string{"a": "b"} })
		set("a label and an annotation", "", func(p *pod) {
			p.Labels, p.Annotations = map[string]string{}, map[string]string{"c": "d"}
		})
		set("deletion", "ns/a", func(p *pod) { p.DeletionTimestamp = &meta.Time{Time: time.Now()} })
		set("a finalizer goes", "", func(p *pod) { p.Finalizers = nil })
		mustStop(t, stop)
	})
}
