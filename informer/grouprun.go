package informer

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/bowline-go/bowline/internal/election"
	"github.com/bowline-go/bowline/internal/guard"
	"github.com/bowline-go/bowline/internal/runners"
	"github.com/bowline-go/bowline/internal/store"
)

// groupRun is one Run of a Group.
type groupRun struct {
	group  *Group
	phases phases
	// ended is the Err method of Run's context. cancel ends the context of the Runners and of the election, with the
	// error of a part as its cause.
	ended  func() error
	cancel context.CancelCauseFunc

	mu  sync.Mutex // guards err
	err error      // the first one
}

// all runs all phases, and returns when everything has returned. ctx is the context of the Runners and of the election.
func (r *groupRun) all(ctx context.Context) {
	caches, endCaches := context.WithCancelCause(context.WithoutCancel(ctx))
	defer endCaches(nil)
	services, endServices := context.WithCancelCause(context.WithoutCancel(ctx))
	defer endServices(nil)

	var needed, named, serving, working sync.WaitGroup
	r.start(&needed, r.phases.needed, func(p *part) error { return runners.Join(r.begins(p, caches), p.what.(Runner).Run) })
	r.start(&named, r.phases.named, func(p *part) error { return runners.Join(r.begins(p, caches), p.what.(Runner).Run) })
	r.start(&serving, r.phases.services, func(p *part) error { return p.what.(Runner).Run(r.begins(p, services)) })
	if r.phases.elector == nil {
		r.start(&working, r.phases.runners, func(p *part) error { return p.what.(Runner).Run(r.begins(p, ctx)) })
	} else {
		r.startLed(ctx, &working)
	}

	working.Wait()
	waitOrEnd(ctx, &serving) // services and named informers run until ctx ends or until each has ended by itself
	endServices(context.Cause(ctx))
	serving.Wait()
	waitOrEnd(ctx, &named)
	endCaches(context.Cause(ctx))
	named.Wait()
	needed.Wait()
}

// start runs the parts, each in a goroutine that running counts.
func (r *groupRun) start(running *sync.WaitGroup, parts []*part, run func(*part) error) {
	for _, p := range parts {
		running.Go(func() { r.after(p, func() error { return run(p) }) })
	}
}

// waitOrEnd waits until all have returned or ctx has ended.
func waitOrEnd(ctx context.Context, running *sync.WaitGroup) {
	ended := make(chan struct{})
	go func() {
		running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

// begins notes that p runs with ctx.
func (r *groupRun) begins(p *part, ctx context.Context) context.Context {
	r.group.mu.Lock()
	defer r.group.mu.Unlock()
	p.ended, p.running = ctx.Err, true
	return ctx
}

// after calls run, which runs p, and notes how it ended. The first error ends the other parts.
func (r *groupRun) after(p *part, run func() error) {
	// The error remains if run calls Goexit. If run panics, nothing reads it.
	err := fmt.Errorf("run %s: %w", p.name, guard.ErrExited)
	defer func() {
		r.group.mu.Lock()
		p.running = false
		r.group.mu.Unlock()
		if err == nil || errors.Is(err, errFactoryStopped) && r.ended() != nil {
			return // a Factory that runs elsewhere has ended with the context that it shares with this Group
		}
		r.fail(err)
	}()
	err = run()
}

// fail ends the run with err, if it is the first error. If a source fails because its cache has closed the
// subscription, the cause is the error of the cache's runner, which may come later; that one is kept.
func (r *groupRun) fail(err error) {
	r.mu.Lock()
	first := r.err == nil
	if first || errors.Is(r.err, store.ErrClosed) && !errors.Is(err, store.ErrClosed) {
		r.err = err
	}
	r.mu.Unlock()
	if first {
		r.cancel(err)
	}
}

// failure returns the error that has ended the run, or nil.
func (r *groupRun) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// startLed prepares the Runners, and runs the election when all of them are prepared. The Runners work while the
// Elector runs the function that startLed passes to it.
func (r *groupRun) startLed(ctx context.Context, working *sync.WaitGroup) {
	// leads is the context in which this process leads; it is set before began is closed.
	var leads context.Context
	began := make(chan struct{})
	var prepared, works sync.WaitGroup
	for _, p := range r.phases.runners {
		w, ok := p.what.(warm)
		if !ok {
			continue
		}
		prepared.Add(1)
		works.Add(1)
		working.Go(func() {
			isPrepared, hasWorked := sync.OnceFunc(prepared.Done), sync.OnceFunc(works.Done)
			defer hasWorked() // also if the Runner fails before it works
			defer isPrepared()
			r.after(p, func() error {
				return w.RunLed(r.begins(p, ctx), func(sources context.Context, work func(context.Context) error) error {
					isPrepared()
					defer hasWorked()
					select {
					case <-began:
						return work(leads)
					case <-sources.Done():
						return nil
					}
				})
			})
		})
	}
	elector := r.phases.elector
	working.Go(func() {
		r.after(elector, func() error {
			if !waitUntil(ctx, &prepared) {
				return nil
			}
			outer := election.Lead(r.begins(elector, ctx), "a Runner of the Group")
			return elector.what.(Elector).Run(outer, func(leading context.Context) error {
				if leads != nil {
					return errors.New("informer.Group: Leader called lead twice")
				}
				leads = leading
				close(began)
				var cold sync.WaitGroup
				for _, p := range r.phases.runners {
					if _, ok := p.what.(warm); !ok {
						cold.Go(func() { r.after(p, func() error { return p.what.(Runner).Run(r.begins(p, leading)) }) })
					}
				}
				cold.Wait()
				works.Wait()
				return nil
			})
		})
	})
}

// waitUntil waits until all are done; it returns false if ctx ends first.
func waitUntil(ctx context.Context, all *sync.WaitGroup) bool {
	done := make(chan struct{})
	go func() {
		all.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		<-done // each of them ends with ctx
	}
	return ctx.Err() == nil
}
