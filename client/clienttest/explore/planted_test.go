package explore

import (
	"context"
	"errors"
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer/controller"
)

// planted is a controller with a bug.
type planted struct {
	name string
	by   []kind // the disturbances that can show it; none if it shows without one
	do   reconcile
	run  func(ctx context.Context, cfg client.Config) error // instead of do

	// mended is the corrected version of do, and mendedRun that of run. If both are nil, that is right.
	mended    reconcile
	mendedRun func(ctx context.Context, cfg client.Config) error

	history  func(h *History) // nil is livesOfBoxes
	replicas int
	long     bool // it takes seconds to find; see usual
}

// usual returns the bugs that are looked for in each run of the tests. -whole looks for all.
func usual(bugs []planted) []planted {
	return slices.DeleteFunc(bugs, func(b planted) bool { return b.long && !*whole })
}

// plantedBugs are controllers that do the same as their corrected versions while nothing goes wrong.
func plantedBugs() []planted {
	return slices.Concat(plantedOldest(), plantedStale(), plantedUnseen(), plantedLeaders())
}

func plantedOldest() []planted {
	return []planted{
		{name: "a child with a generated name is made again", by: []kind{crashAfter, lostAnswer, timeout}, do: generatesNames},
		{name: "the status says that it is done before the child is made", by: []kind{crashBefore, crashAfter, failure}, do: reportsFirst},
		{name: "an error of a write is taken for success", by: []kind{failure, lostAnswer}, do: ignoresErrors},
		{name: "a child is deleted only by the process that made it", by: []kind{crashBefore, crashAfter}, do: cleansOwn},
		{name: "the finalizer goes before the cleanup", by: []kind{crashAfter}, do: cleansLate},
		{name: "what is done is kept in memory", by: []kind{crashAfter}, do: countsInMemory, mended: countsGenerations},
		{name: "a child that exists is an error for ever", by: []kind{lostAnswer, timeout, crashAfter}, do: givesUp},
		{name: "an answer of 500 is final", by: []kind{failure}, do: neverRetries},
		{name: "a write from a copy of the cache removes what others wrote", by: []kind{touched}, do: overwrites},
		{name: "the cache is read after a write", by: []kind{lag}, do: readsItsWrites},
		{name: "a request that takes long is sent again", by: []kind{late}, do: isImpatient},
		{name: "a count of states misses one that nobody saw", by: []kind{unseen}, do: countsStates, mended: countsGenerations},
		{name: "a goroutine waits for an answer without a context", by: []kind{slow}, do: leaks},
		{name: "the program goes on without its context", run: neverEnds},
		{name: "the program asks again at once", run: asksAgain},
	}
}

func TestPlantedBugsAreFound(t *testing.T) {
	for _, b := range usual(plantedBugs()) {
		t.Run(b.name, func(t *testing.T) {
			s := b.search(t, b.do, b.run, b.by, time.Minute)
			if s.failed == nil {
				t.Fatalf("nothing was found in %d schedules", s.counts.runs)
			}
			t.Logf("%v, in schedule %d: %q", s.failed.schedule, s.counts.runs, s.failed.wrong)
			if len(s.failed.schedule) != min(1, len(b.by)) {
				t.Errorf("the schedule is %q: want one disturbance of %q\n%s", s.failed.schedule, b.by, s.failed.tale())
			}
		})
	}
}

func TestNothingIsFoundInCorrectedVersions(t *testing.T) {
	versions := []planted{{name: "a controller without a bug", mended: right}}
	for _, b := range plantedBugs() {
		if b.mended != nil || b.mendedRun != nil {
			versions = append(versions, b)
		}
	}
	for _, b := range versions {
		t.Run(b.name, func(t *testing.T) {
			if s := b.search(t, b.mended, b.mendedRun, nil, *each); s.failed != nil {
				t.Errorf("a false alarm under %v: %q\n%s", s.failed.schedule, s.failed.wrong, s.failed.tale())
			}
		})
	}
}

var (
	whole = flag.Bool("whole", false, "look for planted bugs with all disturbances")
	each  = flag.Duration("each", 50*time.Millisecond, "how long each corrected version is explored")
)

// search explores a version of the controller with one disturbance at a time, of some kinds.
func (b planted) search(
	t *testing.T, do reconcile, run func(context.Context, client.Config) error, by []kind, limit time.Duration,
) *search {
	s := &search{t: t, plan: b.plan(do, run), limit: limit, kinds: by, seed: 1}
	if *whole {
		s.limit, s.kinds = max(limit, time.Minute), nil
	}
	if s.reference() {
		s.singles()
	}
	return s
}

// plan returns the plan of a version of the controller.
func (b planted) plan(do reconcile, run func(context.Context, client.Config) error) *Plan {
	p := boxPlan(do)
	p.Replicas = b.replicas
	if run != nil {
		p.Program = run
	}
	if b.history != nil {
		p.History = b.history
	}
	return p
}

// livesOfBoxes is the history that the planted controllers live through.
func livesOfBoxes(h *History) {
	a, b := &Box{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}, &Box{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "b"}}
	a.Spec.Text, b.Spec.Text = "one", "one"
	Create(h, boxType(), a)
	h.Rest()
	Create(h, boxType(), b)
	Modify(h, boxType(), a.Key(), func(b *Box) error { b.Spec.Text = "two"; return nil })
	h.Rest()
	Delete(h, boxType(), b.Key())
	h.Rest()
}

func generatesNames(ctx context.Context, p *program, key meta.Key, box *Box) error {
	if box == nil || meta.IsDeleting(box) || box.Status.Child != "" {
		return right(ctx, p, key, nil)
	}
	child := childOf(box)
	child.Name, child.GenerateName = "", box.Name+"-"
	if _, err := p.maps.Create(ctx, child); err != nil {
		return err
	}
	return p.say(ctx, box, func(b *Box) { b.Status.Child = "made" })
}

func reportsFirst(ctx context.Context, p *program, key meta.Key, box *Box) error {
	if box != nil && !meta.IsDeleting(box) && len(box.Finalizers) > 0 {
		if box.Status.Text == box.Spec.Text {
			return nil
		}
		if err := p.say(ctx, box, func(b *Box) { b.Status.Text = box.Spec.Text }); err != nil {
			return err
		}
	}
	return right(ctx, p, key, box)
}

func ignoresErrors(ctx context.Context, p *program, key meta.Key, box *Box) error {
	_ = right(ctx, p, key, box)
	return nil
}

func cleansOwn(ctx context.Context, p *program, key meta.Key, box *Box) error {
	switch {
	case box != nil:
		p.memory[key]++
		return p.ensure(ctx, box)
	case p.memory[key] > 0:
		return p.remove(ctx, key)
	}
	return nil
}

func cleansLate(ctx context.Context, p *program, key meta.Key, box *Box) error {
	if box == nil || !meta.IsDeleting(box) {
		return right(ctx, p, key, box)
	}
	if err := p.release(ctx, box); err != nil {
		return err
	}
	return p.remove(ctx, key)
}

func countsInMemory(ctx context.Context, p *program, key meta.Key, box *Box) error {
	if box == nil || box.Status.Text == box.Spec.Text {
		return nil
	}
	p.memory[key]++
	return p.say(ctx, box, func(b *Box) { b.Status.Text, b.Status.Count = box.Spec.Text, p.memory[key] })
}

func givesUp(ctx context.Context, p *program, _ meta.Key, box *Box) error {
	if box == nil || meta.IsDeleting(box) || box.Status.Child != "" {
		return nil
	}
	_, err := p.maps.Create(ctx, childOf(box))
	if errors.Is(err, apierrors.AlreadyExists) {
		return controller.Terminal(err)
	} else if err != nil {
		return err
	}
	return p.say(ctx, box, func(b *Box) { b.Status.Child = "made" })
}

func neverRetries(ctx context.Context, p *program, key meta.Key, box *Box) error {
	if err := right(ctx, p, key, box); errors.Is(err, apierrors.InternalError) {
		return controller.Terminal(err)
	} else if err != nil {
		return err
	}
	return nil
}

func overwrites(ctx context.Context, p *program, key meta.Key, box *Box) error {
	child, found := p.child.Get(key)
	if box == nil || meta.IsDeleting(box) || !found || child.Data["text"] == box.Spec.Text {
		return right(ctx, p, key, box)
	}
	_, err := p.maps.Update(ctx, childOf(box)) // without a resource version
	return err
}

func readsItsWrites(ctx context.Context, p *program, key meta.Key, box *Box) error {
	if box == nil || meta.IsDeleting(box) {
		return nil
	}
	for child := range p.child.All() {
		if child.Data["box"] == box.Name {
			return nil
		}
	}
	child := childOf(box)
	child.Name, child.GenerateName, child.Data = "", box.Name+"-", map[string]string{"box": box.Name}
	if _, err := p.maps.Create(ctx, child); err != nil {
		return err
	}
	return p.say(ctx, box, func(b *Box) { b.Status.Child = "made" })
}

func isImpatient(ctx context.Context, p *program, _ meta.Key, box *Box) error {
	if box == nil || meta.IsDeleting(box) || box.Status.Child != "" {
		return nil
	}
	child := childOf(box)
	child.Name, child.GenerateName = "", box.Name+"-"
	short, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if _, err := p.maps.Create(short, child); err != nil {
		return err
	}
	return p.say(ctx, box, func(b *Box) { b.Status.Child = "made" })
}

func countsStates(ctx context.Context, p *program, _ meta.Key, box *Box) error {
	if box == nil || box.Status.Text == box.Spec.Text {
		return nil
	}
	return p.say(ctx, box, func(b *Box) {
		if b.Status.Text != box.Spec.Text {
			b.Status.Text = box.Spec.Text
			b.Status.Count++
		}
	})
}

func leaks(ctx context.Context, p *program, key meta.Key, box *Box) error {
	done := make(chan error)
	go func() { done <- right(ctx, p, key, box) }()
	select {
	case err := <-done:
		return err
	case <-time.After(10 * time.Millisecond):
		return errors.New("it takes too long")
	}
}

func neverEnds(ctx context.Context, cfg client.Config) error {
	err := reconcile(right).run(ctx, cfg)
	time.Sleep(time.Hour) // "to let the logs be written"
	return err
}

func asksAgain(ctx context.Context, cfg client.Config) error {
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	for ctx.Err() == nil {
		_, _ = client.For(c, mapType()).Get(ctx, meta.Key{Namespace: "default", Name: "none"})
	}
	return nil
}
