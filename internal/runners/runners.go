// Package runners has the code that informers, controllers and clusters share: which runners need others, and how a Run
// waits for another one.
package runners

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
)

// IsNil reports whether a value is nil, or a nil pointer or function, so that it cannot be called.
func IsNil(what any) bool {
	v := reflect.ValueOf(what)
	return !v.IsValid() || (v.Kind() == reflect.Pointer || v.Kind() == reflect.Func) && v.IsNil()
}

// Name returns a runner's name for people: the result of its String method, the name of a function, or else the name
// of its type.
func Name(what any) string {
	if named, ok := what.(fmt.Stringer); ok {
		return named.String()
	}
	if v := reflect.ValueOf(what); v.Kind() == reflect.Func {
		return runtime.FuncForPC(v.Pointer()).Name()
	}
	return fmt.Sprintf("%T", what)
}

// Has reports whether all contains r. A value that cannot be compared, such as a function, is never found.
func Has[R any](all []R, r R) bool {
	one := any(r)
	return one != nil && reflect.ValueOf(one).Comparable() && slices.ContainsFunc(all, func(other R) bool { return any(other) == one })
}

// Needy is a value that needs runners.
type Needy[R any] interface{ Runners() []R }

// Needs appends to all the runners that a value needs, and those that they need in turn. It adds no runner that all
// already has.
func Needs[R any](all []R, of any) []R {
	n, ok := of.(Needy[R])
	if !ok {
		return all
	}
	for _, r := range n.Runners() {
		if any(r) != nil && !Has(all, r) {
			all = Needs(append(all, r), r)
		}
	}
	return all
}

// RunningError says that a runner cannot be run because it is running already.
type RunningError struct {
	What  string
	Ended <-chan struct{} // closed when the other Run has ended
}

func (e *RunningError) Error() string { return fmt.Sprintf("run %s: already running", e.What) }

// Join calls run. If run returns a [*RunningError], because another Run of the same runner is in progress, Join waits
// for the end of that Run and calls run again. It returns nil if ctx ends first.
func Join(ctx context.Context, run func(ctx context.Context) error) error {
	for {
		err := run(ctx)
		elsewhere, ok := errors.AsType[*RunningError](err)
		if !ok {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-elsewhere.Ended:
		}
		if ctx.Err() != nil {
			return nil
		}
	}
}
