package cache

import (
	"fmt"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/guard"
)

// Handler receives the changes of the objects of a cache; the package's documentation states the guarantees. One
// subscription calls it from one goroutine at a time. Objects are shared: clone one before changing it.
type Handler[T any] interface {
	// OnAdd reports an object that is new to this handler.
	OnAdd(obj T)
	// OnUpdate reports a changed object. old is the state that this handler received last.
	OnUpdate(old, new T)
	// OnDelete reports a deleted object. obj is its final state, or the last known one.
	OnDelete(obj T)
}

// InitialHandler is a [Handler] that tells the initial objects from those that come later. The initial objects are
// those that [Subscription.Synced] waits for.
type InitialHandler[T any] interface {
	Handler[T]
	// OnInitial is called instead of OnAdd for an initial object.
	OnInitial(obj T)
}

// HandlerFuncs is an [InitialHandler] made of functions. Nil functions are not called; the zero value handles nothing.
type HandlerFuncs[T any] struct {
	// Initial is called for the initial objects. If it is nil, Add is called for them too.
	Initial func(obj T)
	Add     func(obj T)
	Update  func(old, new T)
	Delete  func(obj T)
}

// OnInitial calls Initial, or else Add.
func (h HandlerFuncs[T]) OnInitial(obj T) {
	if h.Initial != nil {
		h.Initial(obj)
		return
	}
	h.OnAdd(obj)
}

// OnAdd calls Add.
func (h HandlerFuncs[T]) OnAdd(obj T) {
	if h.Add != nil {
		h.Add(obj)
	}
}

// OnUpdate calls Update.
func (h HandlerFuncs[T]) OnUpdate(old, new T) {
	if h.Update != nil {
		h.Update(old, new)
	}
}

// OnDelete calls Delete.
func (h HandlerFuncs[T]) OnDelete(obj T) {
	if h.Delete != nil {
		h.Delete(obj)
	}
}

// PanicError is a recovered panic. Informers recover panics of handlers and of the functions of filtered views, and
// also report that runtime.Goexit has ended the goroutine. Package controller recovers panics of reconciles and
// sources.
type PanicError struct {
	// Value is the value of the panic, or an error that says that the call has ended its goroutine.
	Value any
	// Stack is the stack of the goroutine that panicked.
	Stack []byte
	// Key names the object of the call. Package controller leaves it and Op empty.
	Key meta.Key
	// Op is the method that panicked: "OnAdd" (also for OnInitial), "OnUpdate" or "OnDelete"; "match" for the function of
	// [Reader.Where].
	Op string
}

// Error names the method, the object and the value, not the stack.
func (e *PanicError) Error() string {
	if e.Op == "" {
		return fmt.Sprintf("panic: %v", e.Value)
	}
	who := "handler"
	if e.Op == "match" {
		who = "function"
	}
	if e.Value == guard.ErrExited {
		return fmt.Sprintf("deliver %s of %q: %s %v", e.Op, e.Key, who, e.Value)
	}
	return fmt.Sprintf("deliver %s of %q: %s panicked: %v", e.Op, e.Key, who, e.Value)
}

// Unwrap returns Value if it is an error, as it is for run-time errors.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
