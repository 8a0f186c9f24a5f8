package informer

import (
	"errors"
	"fmt"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/internal/report"
)

// This file routes errors: to Options.OnError, or to the users of a shared informer, and otherwise to a logger, which is
// also told when the operation works again. No lock is held when its functions are called.

// hand passes err to the hooks. It returns false if nobody has taken it.
func (i *Informer[T]) hand(err error) bool {
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
func (i *Informer[T]) report(err error) {
	if i.hand(err) {
		return
	}
	var (
		panicked *cache.PanicError
		mutation *cache.MutationError
		early    *EarlyReadError
	)
	switch {
	case errors.As(err, &panicked):
		t := report.Topic{Key: "handler", Fails: i.name() + ": handler fails"}
		i.log.Failed(t, err, []string{panicked.Key.String()}, "stack", string(panicked.Stack))
	case errors.As(err, &mutation):
		t := report.Topic{Key: "mutation", Fails: i.name() + ": an object in the cache has been changed"}
		i.log.Failed(t, err, nil)
	case errors.As(err, &early):
		i.log.Failed(report.Topic{Key: "early", Fails: i.name() + ": the cache has been read too early"}, err, nil)
	default:
		i.log.Failed(report.Topic{Key: "informer", Fails: i.name() + ": error"}, err, nil)
	}
}

// where names a scope to people.
func (i *Informer[T]) where(namespace string) string {
	if namespace == "" {
		return i.name()
	}
	return fmt.Sprintf("%s in %s", i.name(), namespace)
}

// Keys of topics. Each namespace has its own.
const (
	aboutServer  = "server/"
	aboutObjects = "objects/"
)

// verbs do not distinguish errors: a streaming list is a watch to the server, and a paged one follows if it is refused.
var verbs = []string{"list ", "watch "}

// failedTo reports that a list or a watch of a scope has failed.
func (r *reflector[T]) failedTo(verb string, err error) {
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
