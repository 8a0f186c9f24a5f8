// Conversion of the hooks of a controller, which do not know the type of keys, to hooks of its queue.

package controller

import (
	"github.com/bowline-go/bowline/internal/hooks"
	"github.com/bowline-go/bowline/workqueue"
)

// queueHooks returns h for a queue of keys of type K.
func queueHooks[K comparable](h workqueue.Hooks[any]) workqueue.Hooks[K] {
	return workqueue.Hooks[K]{Add: boxed[K](h.Add), Start: boxed[K](h.Start), Done: boxed[K](h.Done), Retry: boxed[K](h.Retry)}
}

// boxed returns a hook that calls f; nil if f is nil.
func boxed[K comparable](f func(workqueue.HookInfo[any])) func(workqueue.HookInfo[K]) {
	if f == nil {
		return nil
	}
	return func(i workqueue.HookInfo[K]) {
		f(workqueue.HookInfo[any]{Key: i.Key, Priority: i.Priority, Failures: i.Failures, Duration: i.Duration, Err: i.Err})
	}
}

// bothQueues returns hooks that call the functions of a and then those of b.
func bothQueues(a, b workqueue.Hooks[any]) workqueue.Hooks[any] {
	return workqueue.Hooks[any]{
		Add:   hooks.InTurn(a.Add, b.Add),
		Start: hooks.InTurn(a.Start, b.Start),
		Done:  hooks.InTurn(a.Done, b.Done),
		Retry: hooks.InTurn(a.Retry, b.Retry),
	}
}
