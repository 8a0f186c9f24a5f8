package informer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/handle"
	"github.com/bowline-go/bowline/internal/retry"
	"github.com/bowline-go/bowline/internal/store"
)

const (
	// firstBackoff bounds the first wait after a failure, and every wait after a watch that had worked.
	firstBackoff = 800 * time.Millisecond
	maxBackoff   = 30 * time.Second
	healthy      = 2 * time.Minute
	// slowBackoff and maxSlowBackoff apply to faults that last until a person fixes them.
	slowBackoff    = 5 * time.Second
	maxSlowBackoff = 30 * time.Second
	// The interval between two polls doubles from firstPoll to four fifths of maxPoll, or to pollShare times the
	// duration of the last list if that is longer. A server then spends at most a twentieth of its time on the polls of
	// an informer. Up to a quarter of the interval is added at random.
	firstPoll = time.Second
	maxPoll   = 30 * time.Second
	pollShare = 20
	// answerTime is how long the server may take to answer the question for its version.
	answerTime = 10 * time.Second
	// stalled is how long a paged list may go without an object. An API server allows a minute for a whole page.
	stalled = 2 * time.Minute
)

var (
	errStalled  = &silence{fmt.Sprintf("server sent nothing for %v", stalled)}
	errNoAnswer = &silence{fmt.Sprintf("server did not report its resource version within %v", answerTime)}
)

// reflector keeps the store's content of a scope equal to the source. It is the loop around the machine: it performs
// effects and reports the results. One goroutine uses it. This file has the loop and the paged list; stream.go has the
// watch and the streaming list.
type reflector[T meta.Object] struct {
	informer  *engine[T]
	source    Source[T]
	o         Options
	namespace string // replaces that of o
	writer    *store.Writer[T]
	record    *record
	portion   *portion   // nil if every range is followed
	kept      Kept       // nil without Options.Warm
	warm      *warmth[T] // kept objects that are not in the cache yet; nil if there are none
	synced    func()     // called after each complete list, and when the cache of an earlier Run is confirmed

	backoff   *retry.Backoff
	slow      *retry.Backoff
	dog       watchdog
	streaming *handle.Feature // whether the server has streaming lists
	poll      time.Duration   // the last interval between two polls
	took      time.Duration   // duration of the last complete list
	worked    time.Time       // when a list or a watch last worked, or the Run began

	s state // of the machine; after the Run has begun, only advance changes it
}

// run follows the source from state r.s until ctx ends, or returns an error if no request to the source is possible.
func (r *reflector[T]) run(ctx context.Context) error {
	defer r.record.update(func(st *Status) { st.State = Idle }) // also if an index function panics
	from := r.load(ctx, r.s)
	if r.kept != nil && ctx.Err() != nil {
		return nil // the next Run loads the kept objects again
	}
	r.s = from
	todo := r.begin()
	for ctx.Err() == nil && todo.action != stop {
		todo = r.advance(r.perform(ctx, todo))
	}
	if todo.action == stop {
		return r.record.err()
	}
	if r.warm != nil {
		r.s = state{} // the next Run loads the kept objects again
	}
	return nil
}

// begin returns the first effect of a Run.
func (r *reflector[T]) begin() effect {
	r.backoff = retry.New(retry.Policy{Base: firstBackoff, Max: maxBackoff, Reset: healthy})
	r.slow = retry.New(retry.Policy{Base: 2 * slowBackoff, Max: maxSlowBackoff, Reset: healthy})
	r.worked = time.Now()
	s, todo := start(r.s, r.o.Mode, r.o.AllowStale, r.streams())
	r.s, todo = r.portion.after(state{}, input{}, s, todo)
	r.enter(todo)
	return todo
}

// perform carries out an effect, and returns the result. For a streaming list, it also reports the end of the list to
// the machine, and goes on with the watch: see stream.
func (r *reflector[T]) perform(ctx context.Context, todo effect) input {
	switch todo.action {
	case list:
		return r.list(ctx)
	case stream:
		return r.stream(ctx)
	case watch:
		return r.watch(ctx)
	case ask:
		return r.question(ctx)
	case wait:
		_ = retry.Sleep(ctx, r.pause(todo))
	case follow, stop: // the reader of a stream performs follow, and run performs stop
	}
	return input{}
}

// advance passes the input to the machine, notes what the result shows about the server, and returns the next effect.
func (r *reflector[T]) advance(in input) effect {
	in.streams, in.away = r.streams(), time.Since(r.worked)
	was := r.s
	s, todo := next(r.s, in)
	r.s, todo = r.portion.after(was, in, s, todo)
	if todo.learned != unknown {
		r.streaming.Set(todo.learned == has)
	}
	r.reports(was, in, todo)
	if was.unproven && was.version == r.s.version && !r.s.unproven {
		// The server has stored nothing since the earlier Run.
		r.proven()
	}
	r.relists(in)
	r.enter(todo)
	return todo
}

// proven notes that the cache of an earlier Run is current in this one.
func (r *reflector[T]) proven() {
	if r.warm != nil {
		r.confirmed()
	} else {
		r.writer.Confirm()
	}
	r.record.proven()
	r.synced()
}

// streams returns whether the server is known to serve streaming lists.
func (r *reflector[T]) streams() answer {
	switch yes, known := r.streaming.Known(); {
	case !known:
		return unknown
	case yes:
		return has
	}
	return lacks
}

// enter publishes the reflector's state, and the reason for its next step.
func (r *reflector[T]) enter(todo effect) {
	if !r.s.polling {
		r.pollsNoMore()
	}
	r.record.update(func(st *Status) {
		st.State = r.s.phase
		if r.s.asking { // no watch is open
			st.State = Waiting
		}
		if todo.why != "" {
			st.Why = todo.why
		}
	})
	r.informer.log.Logger().V(4).Info("the informer enters a state", "name", r.o.called(), "resource", r.source.GVR().String(), "namespace", r.namespace,
		"state", r.s.phase.String(), "version", r.s.version)
}

// pause returns the length of a wait.
func (r *reflector[T]) pause(e effect) time.Duration {
	switch e.pace {
	case gentle:
		return e.floor + rand.N(firstBackoff)
	case slow:
		return max(slowBackoff, r.slow.Next(e.floor))
	case polls:
		return max(e.floor, r.nextPoll())
	case backoff:
	}
	return r.backoff.Next(e.floor)
}

// nextPoll returns the time until the next poll.
func (r *reflector[T]) nextPoll() time.Duration {
	r.poll = min(max(2*r.poll, firstPoll, r.took), max(maxPoll/5*4, pollShare*r.took))
	return r.poll + rand.N(r.poll/4+1)
}

// question asks the server for its present version, and compares it with the version that the cache is current to.
func (r *reflector[T]) question(ctx context.Context) input {
	limited, cancel := context.WithTimeoutCause(ctx, answerTime, errNoAnswer)
	defer cancel()
	version, err := r.present(limited)
	switch {
	case err == nil && r.s.outdates(version):
		err = r.fail("watch", &rollbackError{was: r.s.seen, is: version})
	case err != nil && limited.Err() != nil && ctx.Err() == nil:
		in := r.failed(ctx, r.fail("list", context.Cause(limited)))
		in.outcome = silent // a connection to a server that is gone would have been refused
		return in
	}
	if err != nil {
		return r.failed(ctx, err)
	}
	return input{outcome: done, version: version}
}

// list reads the whole collection page by page, or in one page.
func (r *reflector[T]) list(ctx context.Context) input {
	s := r.s
	r.record.listing(Paged)
	o := client.ListOptions{
		Namespace: r.namespace, LabelSelector: r.o.LabelSelector, FieldSelector: r.o.FieldSelector,
		PageSize: r.o.PageSize, KeepManagedFields: r.o.KeepManagedFields,
	}
	if s.way == whole {
		o.PageSize = -1
	}
	if s.stale {
		o.ResourceVersion = "0"
	}
	o.OnPage = func(m meta.ListMeta) { r.record.page(m.RemainingItemCount) }
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stall := time.AfterFunc(stalled, func() { cancel(errStalled) })
	defer stall.Stop()
	g := r.stage(s)
	source, excerpt := r.selected(s)
	m, err := source.ListEach(limited, o, g.reuse(), func(item client.Item[T]) error {
		stall.Reset(stalled)
		r.record.item()
		switch {
		case item.Err != nil:
			g.retain(item.Identity, item.Err)
		case !item.Reused:
			g.set(item.Identity, item.Object, item.Packed())
		}
		return nil
	})
	stall.Stop()
	switch {
	case err == nil && m.ResourceVersion == "":
		return r.unversioned(ctx, g)
	case err == nil:
		excerpt.judge(r)
		err = r.fail("list", g.commit(m.ResourceVersion))
	case limited.Err() != nil && ctx.Err() == nil && errors.Is(err, context.Canceled):
		err = r.fail("list", context.Cause(limited)) // the caller's context has not ended
	}
	if err != nil {
		return g.failed(ctx, err)
	}
	return input{outcome: done, version: m.ResourceVersion, changed: g.changed}
}

// unversioned ends a complete list that has no version, such as one of the metrics API. No watch can follow it, so the
// list counts only if the server serves no watch.
func (r *reflector[T]) unversioned(ctx context.Context, g *staging[T]) input {
	w, o := r.open(ctx)
	defer w.cancel(nil)
	opened := false
	o.OnOpen = func() {
		opened = true
		w.cancel(errNoVersion)
	}
	err := w.source.WatchEach(w.ctx, o, nil, func(client.Event[T]) error { return errNoVersion })
	if opened || err == nil || errors.Is(err, errNoVersion) {
		return g.failed(ctx, r.fail("list", errNoVersion))
	}
	in := r.failed(ctx, err)
	if in.err == nil || in.outcome == unusable || in.unreached { // a failure to connect says nothing about watches
		g.ended(err)
		return in
	}
	g.put("")
	in.outcome = unversioned
	return in
}

// fail wraps an error of this package in a *client.OpError with the verb of the operation that failed.
func (r *reflector[T]) fail(verb string, err error) error {
	if err == nil {
		return nil
	}
	return &client.OpError{Verb: verb, Resource: r.source.GVR(), Key: meta.Key{Namespace: r.namespace}, Err: err}
}

// failed returns the input for an error. The outcome is stopped if ctx has ended.
func (r *reflector[T]) failed(ctx context.Context, err error) input {
	if ctx.Err() != nil {
		return input{outcome: stopped}
	}
	in := input{outcome: classify(err), said: err.Error(), err: err}
	in.answered = errors.As(err, new(*apierrors.StatusError)) || errors.As(err, new(*client.AnswerError))
	switch apierrors.NetworkOf(err) {
	case apierrors.NetworkLookup, apierrors.NetworkRefused, apierrors.NetworkUnreachable:
		in.unreached = true
	default:
	}
	in.floor, _ = apierrors.RetryAfter(err)
	return in
}

func (r *reflector[T]) undecodable(id meta.Identity, err error) {
	if r.record.undecodable(id, err) {
		r.badObject(id.Key().String(), err)
	}
}

func (r *reflector[T]) healthy() {
	r.worked = time.Now()
	r.backoff.Healthy()
	r.slow.Healthy()
}
