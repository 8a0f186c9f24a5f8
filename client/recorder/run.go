package recorder

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bowline-go/bowline/internal/hooks"
	"github.com/bowline-go/bowline/internal/report"
)

// Run sends records until ctx ends, and then the waiting ones for at most Options.Grace. Then it returns nil. Records
// that have not been sent by then are dropped, with the cause Stopped. Run returns an error at once if the recorder
// cannot be used or is already running. When it returns, its goroutines have ended. It may be called again.
func (r *Recorder) Run(ctx context.Context) error {
	instance, err := r.begin()
	if err != nil {
		return fmt.Errorf("run recorder: %w", err)
	}
	defer r.end()
	r.log.Start(ctx)
	defer r.log.Stop()
	carried, _ := hooks.In[Hooks](ctx)
	run := &run{Recorder: r, instance: instance, hooks: r.o.Hooks.and(carried)}
	defer hooks.Run(ctx, run.hooks.Run, RunInfo{Controller: r.o.Controller, Status: r.Status})()
	work, cancel := context.WithCancel(context.WithoutCancel(ctx)) // outlives ctx by the grace period
	defer cancel()
	run.loop(ctx, work)
	cancel() // cancel the requests that are still under way
	run.requests.Wait()
	r.mu.Lock()
	r.book.close()
	r.mu.Unlock()
	run.tell(context.WithoutCancel(ctx))
	return nil
}

// begin checks that the recorder can be run, and marks it as running.
func (r *Recorder) begin() (instance string, err error) {
	if r == nil || r.c == nil {
		return "", errors.New("recorder.New: the client must not be nil")
	}
	if err := r.o.validate(); err != nil {
		return "", err
	}
	if instance, err = r.o.instance(); err != nil {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running {
		return "", errors.New("already running")
	}
	r.running = true
	r.book.open()
	return instance, nil
}

func (r *Recorder) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running = false
}

// run is one Run of a recorder.
type run struct {
	*Recorder
	instance string
	hooks    Hooks
	requests sync.WaitGroup
}

// loop starts requests, and reports drops and cuts, until ctx has ended and no record waits, or the grace period is
// over. work is the context of the requests.
func (r *run) loop(ctx, work context.Context) {
	timer, over := time.NewTimer(0), new(time.Timer)
	defer timer.Stop()
	ended := ctx.Done()
	for {
		r.mu.Lock()
		t, wait, ok := r.book.take(time.Now())
		empty := !ok && r.book.isEmpty()
		r.mu.Unlock()
		again := r.tell(work) // after take, which may drop records
		switch {
		case ok:
			r.requests.Go(func() { r.finish(work, t, r.send(work, t, r.instance)) })
			continue
		case empty && ended == nil:
			return
		case again >= 0 && (wait < 0 || again < wait):
			wait = again
		}
		timer.Stop()
		if wait >= 0 {
			timer.Reset(wait)
		}
		select {
		case <-r.woken:
		case <-timer.C:
		case <-ended:
			if r.book.o.Grace < 0 {
				return
			}
			ended = nil
			r.mu.Lock()
			r.book.end(time.Now())
			r.mu.Unlock()
			over = time.NewTimer(r.book.o.Grace)
			defer over.Stop()
		case <-over.C:
			return
		}
	}
}

// finish records the outcome of a request, and reports it.
func (r *run) finish(ctx context.Context, t task, err error) {
	o := outcomeOf(t.create, err)
	r.mu.Lock()
	now := time.Now()
	taken := r.book.settle(now, t, o, err)
	r.mu.Unlock()
	switch {
	case o == failed, o == denied:
		if ctx.Err() == nil { // otherwise the grace period is over, and the record is dropped
			r.failed(err)
		}
	case taken:
		r.log.Works(sending)
		rec := t.s.record
		r.log.Logger().V(4).Info("recorded", "object", rec.Regarding.String(), "warning", rec.Warning, "reason", rec.Reason, "note", rec.Note, "count", t.count)
		if hook := r.hooks.Sent; hook != nil {
			hook(ctx, SentInfo{Controller: r.o.Controller, Record: rec, New: t.create, Count: t.count, Waited: now.Sub(t.since)})
		}
	}
	r.wake()
}

// tell reports drops, cuts and odd reasons, at most once in tellEvery. It returns the time until the next report, or a
// negative time if there is nothing to report.
func (r *run) tell(ctx context.Context) time.Duration {
	r.mu.Lock()
	news, again := r.book.tell(time.Now())
	r.mu.Unlock()
	for _, d := range news.drops {
		if hook := r.hooks.Dropped; hook != nil {
			hook(ctx, d)
		}
		r.report(string(d.Cause), "records are dropped", d)
	}
	if news.cut != nil {
		r.report("cut", "records are cut", news.cut)
	}
	if news.odd != nil {
		r.report("reason", "a record has a reason that no condition may have", news.odd)
	}
	return again
}

// sending is the topic of the errors of requests.
const sending = "sending"

// failed reports the error of a request that is retried.
func (r *Recorder) failed(err error) {
	if r.o.OnError != nil {
		r.o.OnError(err)
		return
	}
	r.log.Failed(report.Topic{Key: sending, Fails: r.String() + ": sending fails", Works: r.String() + ": sending works again"}, err, nil)
}

// report reports an error that is not about a request.
func (r *Recorder) report(topic, what string, err error) {
	if r.o.OnError != nil {
		r.o.OnError(err)
		return
	}
	r.log.Failed(report.Topic{Key: topic, Fails: r.String() + ": " + what}, err, nil)
}
