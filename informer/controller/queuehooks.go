// The hooks of the queue of a controller, whose type of keys the hooks of the controller do not know.

package controller

import (
	"github.com/bowline-go/bowline/internal/hooks"
	"github.com/bowline-go/bowline/workqueue"
)

// queueHooks returns h for a queue of keys of type K.
func queueHooks[K comparable](h workqueue.Hooks[any]) workqueue.Hooks[K] {
	return workqueue.Hooks[K]{
		Add: boxed(h.Add, func(i workqueue.AddInfo[K]) workqueue.AddInfo[any] {
			return workqueue.AddInfo[any]{Key: i.Key, Priority: i.Priority}
		}),
		Start: boxed(h.Start, func(i workqueue.StartInfo[K]) workqueue.StartInfo[any] {
			return workqueue.StartInfo[any]{Key: i.Key, Priority: i.Priority, Waited: i.Waited, Failures: i.Failures}
		}),
		Done: boxed(h.Done, func(i workqueue.DoneInfo[K]) workqueue.DoneInfo[any] {
			return workqueue.DoneInfo[any]{Key: i.Key, Priority: i.Priority, Worked: i.Worked, Err: i.Err, Failures: i.Failures}
		}),
		Retry: boxed(h.Retry, func(i workqueue.RetryInfo[K]) workqueue.RetryInfo[any] {
			return workqueue.RetryInfo[any]{Key: i.Key, Priority: i.Priority, After: i.After, Failures: i.Failures, Err: i.Err}
		}),
	}
}

// boxed returns a hook that calls f with the result of box; nil if f is nil.
func boxed[I, A any](f func(A), box func(I) A) func(I) {
	if f == nil {
		return nil
	}
	return func(info I) { f(box(info)) }
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
