package informer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/internal/report"
	"github.com/bowline-go/bowline/internal/runners"
)

// Group runs the parts of a program in phases:
//
//  1. the caches: the informers that are named or that controllers need;
//  2. Services;
//  3. with a Leader, the election, once the caches that the Runners need are complete. It does not wait for every
//     missing namespace: see package controller;
//  4. Runners.
//
// They end in the reverse order: the context of a phase ends when all parts of the later phases have returned. So
// Runners finish with current caches and with all services, and the lease is released after the last write. The end
// begins when the context of [Group.Run] ends, or when a part returns an error.
//
// The zero Group runs nothing. After Run has been called, do not change the fields and do not copy the Group. The
// methods are safe for use by several goroutines at once.
type Group struct {
	// Services run from the beginning to the end, whether or not this process leads: a server for probes, a recorder.
	Services []Runner
	// Leader, if set, decides when the Runners run. Package client/leader has one. Nil means that they run at once. It
	// must be nil if a controller among the Runners has Options.Shards: the controller returns an error, and that ends
	// Run.
	Leader Elector
	// Runners are the controllers. Informers among them, and the informers that they need, belong to the first phase.
	// With a Leader, a controller fills its queue while it waits for leadership, so that its workers can start at once
	// then.
	//
	// So the queue of a follower collects the keys of all changes that the leader handles, and a follower that becomes
	// the leader reconciles them again. A reconcile that compares the actual with the desired state finds nothing to
	// do. Work that is done once for a change, such as a Job for each new version, would be done twice. To prevent
	// that, record on an object at the server what has been done, or derive the name of the new object from the change,
	// so that a second Create fails with AlreadyExists. With controller.Options.StartAtTerm a follower collects
	// nothing, and begins its term with what exists then; a crash between the work and its record still repeats work.
	Runners []Runner

	// MustBeFresh are the caches that [Group.Ready] requires to be fresh; see Options.StaleAfter of informers. A
	// controller stands for the caches that it needs, including those of its clusters. Nil means the caches that the
	// controllers of the group need. Empty but not nil means none: for a process that also answers requests, such as
	// webhooks, and can do so while its server is away.
	MustBeFresh []Runner

	// StopTimeout is how long the end may take. After that, Run returns a *StopError although parts of the program
	// still run, and the program should exit. 0 means no limit: Run waits for all parts.
	StopTimeout time.Duration
	// Logger receives the names of the parts that Run waits for at the end, at growing intervals from 5 s on. If it is
	// the zero Logger, which logr.Discard() returns too, the Group uses the logger of Run's context (logr.NewContext),
	// or else slog.Default().
	Logger logr.Logger

	mu       sync.Mutex // guards the fields below
	state    groupState
	parts    []*part
	stopping time.Time // when the end began
}

// Elector decides when this process leads. *leader.Elector is one.
type Elector interface {
	// Run waits until this process leads, and then calls lead once. The context of lead ends when ctx ends or when the
	// process no longer leads. Run returns after lead has returned: nil if ctx has ended, and otherwise why it no
	// longer leads, or the error of lead.
	Run(ctx context.Context, lead func(ctx context.Context) error) error
}

// warm is a Runner that prepares itself before this process leads.
type warm interface {
	Runner
	// RunLed is like Run, but calls lead when it is prepared. lead calls work when this process leads. The Runner works
	// only during that call, with the context that lead passes to work. RunLed returns the error of lead. A controller
	// with Options.Shards returns an error at once.
	RunLed(ctx context.Context, lead func(ctx context.Context, work func(ctx context.Context) error) error) error
}

// StopError says that parts of a program still ran when Group.StopTimeout had passed.
type StopError struct {
	// After is Group.StopTimeout.
	After time.Duration
	// Running are the names of the parts that had been told to end and had not returned.
	Running []string
	// Err is the error that ended the Group, or nil if its context ended.
	Err error
}

// Error names the parts, and the error that ended the Group.
func (e *StopError) Error() string {
	s := fmt.Sprintf("stop informer.Group: still running after %v: %s", e.After, strings.Join(e.Running, ", "))
	if e.Err != nil {
		s += fmt.Sprintf("; stopped because of: %v", e.Err)
	}
	return s
}

// Unwrap returns the error that ended the Group.
func (e *StopError) Unwrap() error { return e.Err }

type groupState int

const (
	groupIdle groupState = iota
	groupRunning
	groupStopping
	groupStopped
)

// part is a Runner or an Elector that a Group runs.
type part struct {
	name string
	what any // the Runner or the Elector
	// ended and running are guarded by Group.mu. ended is the Err method of the part's context; nil before the part
	// runs.
	ended   func() error
	running bool
	fresh   bool // Ready requires it to be fresh
}

// Run runs the group until ctx ends or a part returns an error, and then ends it. It returns nil if ctx has ended, and
// otherwise the first error. It returns an error at once if a Runner is nil, if two controllers have the same name, or
// if the Group runs already. When Run has returned, nothing of the group runs, unless the error is a *StopError. Run
// may be called again.
func (g *Group) Run(ctx context.Context) error {
	phases, err := g.begin()
	if err != nil {
		return fmt.Errorf("informer.Group: %w", err)
	}
	log := report.New(g.Logger)
	log.Start(ctx)
	defer log.Stop()
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	run := &groupRun{group: g, phases: phases, ended: ctx.Err, cancel: cancel}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run.all(inner)
	}()
	select {
	case <-ended:
	case <-inner.Done():
		if !g.waitStopped(inner, ended, log) {
			return &StopError{After: g.StopTimeout, Running: g.hanging(), Err: run.failure()}
		}
	}
	g.setState(groupStopped)
	return run.failure()
}

// waitStopped waits until everything has returned. It returns false when StopTimeout has passed.
func (g *Group) waitStopped(ctx context.Context, ended <-chan struct{}, log *report.Log) bool {
	g.mu.Lock()
	g.state, g.stopping = groupStopping, time.Now()
	g.mu.Unlock()
	var late <-chan time.Time // never fires without a limit
	if g.StopTimeout > 0 {
		timer := time.NewTimer(g.StopTimeout)
		defer timer.Stop()
		late = timer.C
	}
	pause := report.Next(0)
	impatient := time.NewTimer(pause)
	defer impatient.Stop()
	for {
		select {
		case <-ended:
			return true
		case <-late:
			return false
		case <-impatient.C:
			log.Logger().Info("stop informer.Group: still running: "+strings.Join(g.hanging(), ", "),
				"since", g.stopping, "cause", fmt.Sprint(context.Cause(ctx)))
			pause = report.Next(pause)
			impatient.Reset(pause)
		}
	}
}

// phases are the parts of a Group by phase.
type phases struct {
	needed, named, services, runners []*part
	elector                          *part // nil without a Leader
}

// begin checks the fields, and notes the parts.
func (g *Group) begin() (p phases, err error) {
	for _, of := range []struct {
		field string
		rs    []Runner
	}{{"Services", g.Services}, {"Runners", g.Runners}} {
		for i, r := range of.rs {
			if runners.IsNil(r) {
				return p, fmt.Errorf("%s[%d] must not be nil", of.field, i)
			}
		}
	}
	if g.StopTimeout < 0 {
		return p, fmt.Errorf("StopTimeout must be 0 or more, got %v", g.StopTimeout)
	}
	caches, needed := order(slices.Concat(g.Services, g.Runners))
	isCache := func(r Runner) bool { return isInformer(r) || runners.Has(caches, r) }
	p.needed, p.named = parts(needed), parts(caches)
	p.services = parts(slices.DeleteFunc(slices.Clone(g.Services), isCache))
	p.runners = parts(slices.DeleteFunc(slices.Clone(g.Runners), isCache))
	if err := distinct(p.services, p.runners); err != nil {
		return p, err
	}
	fresh := g.MustBeFresh
	if fresh == nil {
		fresh = slices.Concat(g.Services, g.Runners)
	}
	if err := p.demand(fresh, g.MustBeFresh); err != nil {
		return p, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state == groupRunning || g.state == groupStopping {
		return p, errors.New("already running")
	}
	if !runners.IsNil(g.Leader) {
		p.elector = &part{name: runners.Name(g.Leader), what: g.Leader}
	}
	g.state = groupRunning
	g.parts = slices.Concat(p.needed, p.named, p.services, p.runners)
	if p.elector != nil {
		g.parts = append(g.parts, p.elector)
	}
	return p, nil
}

// demand marks the parts that must be fresh: the controllers in some, the runners that those in some need, and the
// runners in named.
func (p phases) demand(some, named []Runner) error {
	all := slices.Concat(p.needed, p.named, p.services, p.runners)
	for i, r := range named {
		if !slices.ContainsFunc(all, func(one *part) bool { return runners.Has([]Runner{r}, one.what.(Runner)) }) {
			return fmt.Errorf("MustBeFresh[%d] must be in Services or Runners, or a cache that one of them needs", i)
		}
	}
	needed := needs(some)
	for _, one := range all {
		r := one.what.(Runner)
		_, controls := r.(needy)
		one.fresh = runners.Has(needed, r) || runners.Has(named, r) || controls && runners.Has(some, r)
	}
	return nil
}

func parts(rs []Runner) (all []*part) {
	for _, r := range rs {
		all = append(all, &part{name: runners.Name(r), what: r})
	}
	return all
}

// distinct returns an error if two controllers have the same name, because their logs and metrics would be
// indistinguishable.
func distinct(some ...[]*part) error {
	names := make(map[string]bool)
	for _, p := range slices.Concat(some...) {
		_, controls := p.what.(needy)
		_, named := p.what.(fmt.Stringer)
		switch {
		case !controls || !named:
		case names[p.name]:
			return fmt.Errorf("two runners are named %s; names must be unique", p.name)
		default:
			names[p.name] = true
		}
	}
	return nil
}

func (g *Group) setState(s groupState) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state = s
}

// hanging returns the names of the parts that have been told to end and have not returned.
func (g *Group) hanging() (names []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range g.parts {
		if p.running && p.ended() != nil {
			names = append(names, p.name)
		}
	}
	return names
}
