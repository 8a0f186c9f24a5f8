// Package hooks combines the functions that observe a program: those in a package's options, and those that a context
// carries. Each package has its own type of hooks, H, whose functions have the signatures that this package supports.
package hooks

import (
	"context"
	"slices"
)

type key[H any] struct{}

// With returns a context that carries h, after the hooks of type H that ctx carries. and joins two values of H.
func With[H any](ctx context.Context, h H, and func(first, second H) H) context.Context {
	if outer, ok := In[H](ctx); ok {
		h = and(outer, h)
	}
	return context.WithValue(ctx, key[H]{}, h)
}

// In returns the hooks of type H that ctx carries, and whether there are any.
func In[H any](ctx context.Context) (H, bool) {
	h, ok := ctx.Value(key[H]{}).(H)
	return h, ok
}

type besideKey[H any] struct{}

// Beside returns a context that carries h beside the hooks of With. Hooks of With may take the place of a log; h does
// not: an event that h gets is logged as well.
func Beside[H any](ctx context.Context, h H) context.Context {
	return context.WithValue(ctx, besideKey[H]{}, append(slices.Clip(AllBeside[H](ctx)), h))
}

// AllBeside returns what Beside has put into ctx, the outermost first.
func AllBeside[H any](ctx context.Context) []H {
	all, _ := ctx.Value(besideKey[H]{}).([]H)
	return all
}

// Both returns a hook that calls first and then second. It is nil if both are.
func Both[I any](first, second func(context.Context, I)) func(context.Context, I) {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return func(ctx context.Context, info I) {
		first(ctx, info)
		second(ctx, info)
	}
}

// InTurn is Both for hooks without a context.
func InTurn[I any](first, second func(I)) func(I) {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return func(info I) {
		first(info)
		second(info)
	}
}

// BothRuns is Both for hooks that return a function to call at the end. At the end, the function that second returned
// is called first.
func BothRuns[I any](first, second func(context.Context, I) func()) func(context.Context, I) func() {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return func(ctx context.Context, info I) func() {
		a, b := first(ctx, info), second(ctx, info)
		return func() {
			call(b)
			call(a)
		}
	}
}

// BothBegin is Both for hooks that return the context to continue with and a function to call at the end. second gets
// the context that first returned. At the end, the function that second returned is called first.
func BothBegin[I, E any](first, second func(context.Context, I) (context.Context, func(E))) func(context.Context, I) (context.Context, func(E)) {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return func(ctx context.Context, info I) (context.Context, func(E)) {
		ctx, a := Begin(ctx, first, info)
		ctx, b := Begin(ctx, second, info)
		return ctx, func(e E) {
			b(e)
			a(e)
		}
	}
}

// Begin calls a hook that returns the context to continue with and a function to call at the end. The hook may be nil,
// and so may its results: in their place, Begin returns ctx and a function that does nothing.
func Begin[I, E any](ctx context.Context, hook func(context.Context, I) (context.Context, func(E)), info I) (context.Context, func(E)) {
	end := func(E) {}
	if hook == nil {
		return ctx, end
	}
	inner, ended := hook(ctx, info)
	if inner == nil {
		inner = ctx
	}
	if ended == nil {
		ended = end
	}
	return inner, ended
}

// Run calls a hook, and returns the function to call at the end, which is never nil.
func Run[I any](ctx context.Context, hook func(context.Context, I) func(), info I) func() {
	if hook == nil {
		return func() {}
	}
	ended := hook(ctx, info)
	return func() { call(ended) }
}

func call(f func()) {
	if f != nil {
		f()
	}
}
