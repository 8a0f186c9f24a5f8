package follow

import (
	"context"
	"errors"
	"slices"
	"testing"
)

func TestAnInnerFunctionDoesNotReplaceTheOuterOne(t *testing.T) {
	if OnWrite(t.Context()) != nil || OpenGate(t.Context()) != nil {
		t.Error("a context without functions has one")
	}
	var told []string
	ctx := Writes(t.Context(), func(w Write) { told = append(told, "outer "+w.Verb) })
	ctx = Writes(ctx, func(w Write) { told = append(told, "inner "+w.Verb) })
	OnWrite(context.WithoutCancel(ctx))(Write{Verb: "create"})
	if want := []string{"outer create", "inner create"}; !slices.Equal(told, want) {
		t.Errorf("got %q, want %q", told, want)
	}

	var outer, inner error
	ctx = Gate(Gate(t.Context(), func() error { return outer }), func() error { return inner })
	open := OpenGate(ctx)
	if err := open(); err != nil {
		t.Error(err)
	}
	inner = errors.New("inner")
	if err := open(); err != inner {
		t.Errorf("got %v", err)
	}
	outer = errors.New("outer")
	if err := open(); err != outer {
		t.Errorf("got %v", err)
	}
}

// asked notes the keys by which it is asked.
type asked struct {
	context.Context
	keys []any
}

func (a *asked) Value(key any) any {
	a.keys = append(a.keys, key)
	return nil
}

func TestIsWritesRecognizesTheKeyOfWrites(t *testing.T) {
	ctx := &asked{Context: t.Context()}
	OnWrite(ctx)
	OpenGate(ctx)
	if len(ctx.keys) != 2 || !IsWrites(ctx.keys[0]) || IsWrites(ctx.keys[1]) || IsWrites(nil) {
		t.Errorf("asked by %#v", ctx.keys)
	}
}
