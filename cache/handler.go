package cache

import (
	"fmt"

	"github.com/bowline-go/bowline/client/meta"
)

// Handler is told how the objects of a cache change; the package's documentation says what it may rely on. One
// subscription calls it from one goroutine at a time. Objects are shared: clone one before changing it.
type Handler[T any] interface {
	// OnAdd says that an object is there which was not, as far as this handler knows.
	OnAdd(obj T)
	// OnUpdate says that an object has changed. old is what this handler was given for it last.
	OnUpdate(old, new T)
	// OnDelete says that an object has gone. obj is its final state, or the last that is known.
	OnDelete(obj T)
}

// HandlerFuncs is a [Handler] made of functions. One that is nil is not called; the zero value handles nothing.
type HandlerFuncs[T any] struct {
	Add    func(obj T)
	Update func(old, new T)
	Delete func(obj T)
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

// PanicError is a recovered panic: of a handler, or of the function of a filtered view, recovered by [Store.Deliver], which also
// reports so that runtime.Goexit has ended the goroutine; or of a reconcile or a source, recovered by package controller.
type PanicError struct {
	// Value is what the handler panicked with, or an error that says that it has ended its goroutine.
	Value any
	// Stack is the stack of the goroutine that panicked.
	Stack []byte
	// Key names the object that the handler was told of. Package controller leaves it and Op empty.
	Key meta.Key
	// Op is the method that panicked: "OnAdd", "OnUpdate" or "OnDelete"; "match" for the function of [Reader.Where].
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
	if e.Value == errExited {
		return fmt.Sprintf("deliver %s of %q: %s: %v", e.Op, e.Key, who, e.Value)
	}
	return fmt.Sprintf("deliver %s of %q: %s panicked: %v", e.Op, e.Key, who, e.Value)
}

// Unwrap returns Value if it is an error, as it is for run-time errors.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
