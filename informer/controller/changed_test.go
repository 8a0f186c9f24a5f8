package controller_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

func generation(p *pod, generation int64) *pod {
	p.Generation = generation
	return p
}

// A controller that writes a status was told of each of its own writes, and could not leave them out.
func TestChangedLeavesOutUpdatesThatDoNotMatter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPods(t)
		take, stop := reconciled(t, controller.Watch(controller.Changed(s.Reader(), controller.GenerationChanged)))
		s.list(generation(newPod("ns", "a", "1"), 1), newPod("ns", "none", "1"))
		want(t, "the initial objects", take, "ns/a ns/none")
		s.set(generation(newPod("ns", "a", "2"), 1))
		want(t, "an update of the status", take, "")
		s.set(generation(newPod("ns", "a", "3"), 2))
		want(t, "an update of the spec", take, "ns/a")
		s.set(newPod("ns", "none", "4"))
		want(t, "an update of a kind without generations", take, "ns/none")
		another := generation(newPod("ns", "a", "5"), 2)
		another.UID = "uid-another"
		s.set(another)
		want(t, "deleted and created again, with the same generation", take, "ns/a")
		s.delete(another)
		want(t, "deleted", take, "ns/a")
		s.set(generation(newPod("ns", "new", "6"), 1))
		want(t, "added", take, "ns/new")
		mustStop(t, stop)
	})
}

func TestChangedSeesTheStateThatWasDeliveredBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPods(t)
		var seen []string
		take, stop := reconciled(t, controller.Map(controller.Changed(s.Reader(), func(old, now *pod) bool {
			seen = append(seen, old.ResourceVersion+">"+now.ResourceVersion)
			return len(now.Nodes) > 1
		}), func(p *pod) []string { return p.Nodes }))
		s.list(newPod("ns", "a", "1", "n1"))
		s.set(newPod("ns", "a", "2", "n2"))
		want(t, "an update that does not matter", take, "n1")
		s.set(newPod("ns", "a", "3", "n3", "n4"))
		want(t, "one that does", take, "n2 n3 n4")
		if got := strings.Join(seen, " "); got != "1>2 2>3" {
			t.Errorf("asked about %s", got)
		}
		mustStop(t, stop)
	})
}

// The cache reports a panic; the key of the object must not be lost with it.
func TestAnUpdateIsNotLostWhereItsPredicatePanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.New[*pod]()
		var reported []error
		go func() { _ = s.Deliver(t.Context(), func(p *cache.PanicError) { reported = append(reported, p) }) }()
		take, stop := reconciled(t, controller.Watch(controller.Changed(s.Reader(), func(_, _ *pod) bool { panic("oh") })))
		p := newPod("ns", "a", "1")
		r := s.Relist()
		r.Set(identity(p), p)
		r.Commit("1")
		want(t, "the initial object", take, "ns/a")
		p = newPod("ns", "a", "2")
		s.Set(identity(p), p)
		want(t, "the update", take, "ns/a")
		if len(reported) != 1 || !strings.Contains(reported[0].Error(), "oh") {
			t.Errorf("reported %v", reported)
		}
		mustStop(t, stop)
	})
}

func TestChangedHasTheNameAndTheRunnersOfItsSource(t *testing.T) {
	s := storetest.New[*pod]()
	filler := fillerFunc(func(context.Context) error { return nil })
	source := controller.Watch(controller.Changed(s.ReaderOf(filler), controller.GenerationChanged))
	if got, want := fmt.Sprint(source), fmt.Sprint(controller.Watch(s.ReaderOf(filler))); got != want {
		t.Errorf("it is called %q, want %q", got, want)
	}
	if got := source.(interface {
		Runners() []cache.Runner
	}).Runners(); len(got) != 1 {
		t.Errorf("%d runners, want the one that fills the store", len(got))
	}
	var none controller.Subscriber[*pod]
	err := controller.Watch(controller.Changed(none, controller.GenerationChanged)).Run(t.Context(), func(meta.Key) {}, func() {})
	if err == nil || !strings.Contains(err.Error(), "s must not be nil") {
		t.Errorf("of nothing: %v", err)
	}
	if r := s.Reader(); controller.Changed(r, nil) != controller.Subscriber[*pod](r) {
		t.Error("without a function it is not what it follows")
	}
}

type fillerFunc func(ctx context.Context) error

func (f fillerFunc) Run(ctx context.Context) error { return f(ctx) }

// Objects of a cache could be looked at again only by a list of keys that was fixed at the start, or all at once.
func TestEveryObjectSpreadsTheObjectsOverItsPeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPods(t)
		take, stop := adds(t, controller.EveryObject(s.Reader(), time.Hour))
		time.Sleep(3 * time.Hour)
		if got := take(); len(got) != 0 {
			t.Errorf("named %v before the first list", got)
		}
		var list []*pod
		for i := range 500 {
			list = append(list, newPod("ns", fmt.Sprint("p", i), "1"))
		}
		s.list(list...)
		most := 0
		counts := make(map[meta.Key]int)
		for range 200 { // two hours
			time.Sleep(36 * time.Second)
			got := take()
			most = max(most, len(got))
			for _, k := range got {
				counts[k]++
			}
		}
		if len(counts) != 500 || most > 50 {
			t.Errorf("named %d keys, up to %d at once, want 500 and at most 50", len(counts), most)
		}
		for k, n := range counts {
			if n != 2 {
				t.Errorf("named %v %d times in two periods", k, n)
			}
		}
		s.set(newPod("ns", "late", "2"))
		s.delete(newPod("ns", "p0", "3"))
		time.Sleep(time.Hour)
		named := make(map[string]bool)
		for _, k := range take() {
			named[k.Name] = true
		}
		if !named["late"] || named["p0"] || len(named) != 500 {
			t.Errorf("named late: %v, p0: %v, and %d in all", named["late"], named["p0"], len(named))
		}
		stop()
	})
}

func TestEveryObjectRefusesInvalidArguments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPods(t)
		s.list(newPod("ns", "", "1"))
		var none cache.Reader[*pod]
		for _, test := range []struct {
			source controller.Source[meta.Key]
			want   string
		}{
			{controller.EveryObject(s.Reader(), 0), "the period must be above 0, got 0s"},
			{controller.EveryObject(s.Reader(), time.Minute), "object of type *controller_test.pod has no name"},
			{controller.EveryObject(none, time.Minute), "r must not be the zero Reader"},
		} {
			err := test.source.Run(t.Context(), func(meta.Key) {}, func() {})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want %s", err, test.want)
			}
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("over"))
		if err := controller.EveryObject(newPods(t).Reader(), time.Minute).Run(ctx, func(meta.Key) {}, func() {}); err != nil {
			t.Errorf("after the end of its context: %v", err)
		}
	})
}
