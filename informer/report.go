package informer

import (
	"errors"
	"fmt"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/internal/report"
)

// This file routes errors: to Options.OnError, or to the users of a shared informer, and otherwise to a logger, which
// is also told when the operation works again. No lock is held when its functions are called.

// hand passes err to the hooks. It returns false if none took it.
func (i *engine[T]) hand(err error) bool {
	switch {
	case i.hook != nil:
		return i.hook(err)
	case i.o.OnError != nil:
		i.o.OnError(err)
		return true
	}
	return false
}

// report reports an error that is not about the server.
func (i *engine[T]) report(err error) {
	if i.hand(err) {
		return
	}
	panicked, ok := errors.AsType[*cache.PanicError](err)
	switch {
	case ok:
		t := report.Topic{Key: "handler", Fails: i.name() + ": handler fails"}
		i.log.Failed(t, err, []string{panicked.Key.String()}, "stack", string(panicked.Stack))
	case errors.As(err, new(*cache.MutationError)):
		t := report.Topic{Key: "mutation", Fails: i.name() + ": the program has changed an object in the cache"}
		i.log.Failed(t, err, nil)
	case errors.As(err, new(*EarlyReadError)):
		i.log.Failed(report.Topic{Key: "early", Fails: i.name() + ": the cache has been read too early"}, err, nil)
	default:
		t := report.Topic{Key: "informer", Fails: i.name() + ": Options.Shards does not work as configured"}
		i.log.Failed(t, err, nil)
	}
}

// where names a scope to people.
func (i *engine[T]) where(namespace string) string {
	if namespace == "" {
		return i.name()
	}
	return fmt.Sprintf("%s in %s", i.name(), namespace)
}

// Keys of topics. Each namespace has its own.
const (
	aboutServer  = "server/"
	aboutPolling = "polling/"
	aboutObjects = "objects/"
)

// verbs are left out when the log compares errors: to the server, a streaming list is a watch; if the server refuses
// it, a paged list follows.
var verbs = []string{"list ", "watch "}

// reports reports the error of a list, a watch or a question. was is the state of the machine before the error, and
// todo the step that the machine has chosen after it.
func (r *reflector[T]) reports(was state, in input, todo effect) {
	switch {
	case in.err == nil && r.s.polling && !was.polling:
		r.record.update(func(st *Status) { st.Err, st.Since = errDeaf, time.Now() })
		r.pollsBecause(errDeaf)
		return
	case in.err == nil, in.outcome == unproven, in.outcome == due: // the last two are not failures
		return
	case in.outcome == unusable: // Run returns it
		r.record.update(func(st *Status) { st.Err, st.Since = in.err, time.Now() })
		r.informer.hand(in.err)
		return
	case was.asking && in.outcome == forbidden && todo.action == watch: // the program may watch but not list
		return
	case todo.action == list: // the informer lists in another way at once; Status.Why says so
		r.informer.log.Logger().V(1).Info(r.informer.where(r.namespace)+": no streaming list, so it lists page by page", "why", in.err)
		return
	}
	r.record.update(func(st *Status) {
		st.Err, st.Since = in.err, time.Now()
		if in.outcome == older {
			st.Resets++
		}
	})
	if r.s.polling && (was.phase == Watching && !was.asking || in.outcome == unversioned) {
		r.pollsBecause(in.err)
		return
	}
	verb := "watch"
	if was.phase == Listing || was.asking {
		verb = "list"
	}
	r.failedTo(verb, in.err)
}

var errDeaf = errors.New("a list found changes that no watch had delivered")

// pollsBecause reports that the collection is polled, because a watch has failed.
func (r *reflector[T]) pollsBecause(err error) {
	if !r.record.polls(err) {
		r.informer.log.GivenUp(aboutServer + r.namespace) // a list that works is no sign that the watch does
	}
	if r.informer.hand(err) {
		return
	}
	where := r.informer.where(r.namespace)
	r.informer.log.Failed(report.Topic{
		Key: aboutPolling + r.namespace, Fails: where + ": watch fails, so the informer polls",
		Works: where + ": watch works again, polling ends",
	}, err, verbs)
}

// pollsNoMore notes that the informer no longer polls the collection. Any goroutine may call it.
func (r *reflector[T]) pollsNoMore() {
	if r.record.polls(nil) {
		r.informer.log.Works(aboutPolling + r.namespace)
	}
}

// failedTo reports that a list or a watch of a scope has failed.
func (r *reflector[T]) failedTo(verb string, err error) {
	r.informer.fails()
	if r.informer.hand(err) {
		return
	}
	what := r.informer.where(r.namespace) + ": " + verb
	r.informer.log.Failed(report.Topic{Key: aboutServer + r.namespace, Fails: what + " fails", Works: what + " works again"}, err, verbs)
}

// badObject reports an object that does not decode.
func (r *reflector[T]) badObject(name string, err error) {
	if r.informer.hand(err) {
		return
	}
	where := r.informer.where(r.namespace)
	r.informer.log.Failed(report.Topic{
		Key: aboutObjects + r.namespace, Fails: where + ": object does not decode", Works: where + ": all objects decode again",
	}, err, []string{name})
}

// decodes logs, if all is true, that every object decodes again.
func (r *reflector[T]) decodes(all bool) {
	if all {
		r.informer.log.Works(aboutObjects + r.namespace)
	}
}
