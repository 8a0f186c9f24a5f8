package hooks

import (
	"context"
	"slices"
	"testing"
)

// diary has what hooks of each shape were called with.
type diary struct{ lines []string }

func (d *diary) add(line string) { d.lines = append(d.lines, line) }

func (d *diary) want(t *testing.T, lines ...string) {
	t.Helper()
	if !slices.Equal(d.lines, lines) {
		t.Errorf("got %q, want %q", d.lines, lines)
	}
	d.lines = nil
}

type named struct{ names []string }

func (n named) and(other named) named { return named{slices.Concat(n.names, other.names)} }

func TestAContextCarriesTheHooksOfOuterContextsFirst(t *testing.T) {
	if h, ok := In[named](t.Context()); ok || h.names != nil {
		t.Errorf("a context without hooks has %v", h)
	}
	outer := With(t.Context(), named{[]string{"a"}}, named.and)
	inner := With(outer, named{[]string{"b"}}, named.and)
	for _, test := range []struct {
		ctx  context.Context
		want []string
	}{{outer, []string{"a"}}, {inner, []string{"a", "b"}}} {
		if h, ok := In[named](test.ctx); !ok || !slices.Equal(h.names, test.want) {
			t.Errorf("got %v, want %v", h.names, test.want)
		}
	}
	type others named
	if _, ok := In[others](inner); ok {
		t.Error("hooks of one type are found as those of another")
	}
}

func TestHooksAreCalledInOrderAndEndInReverse(t *testing.T) {
	type value struct{}
	d := &diary{}
	plain := func(name string) func(context.Context, string) {
		return func(_ context.Context, i string) { d.add(name + " " + i) }
	}
	turn := func(name string) func(string) { return func(i string) { d.add(name + " " + i) } }
	run := func(name string) func(context.Context, string) func() {
		return func(_ context.Context, i string) func() {
			d.add(name + " " + i)
			return func() { d.add(name + " ends") }
		}
	}
	begin := func(name string) func(context.Context, string) (context.Context, func(string)) {
		return func(ctx context.Context, i string) (context.Context, func(string)) {
			seen, _ := ctx.Value(value{}).(string)
			d.add(name + " " + i + " after " + seen)
			return context.WithValue(ctx, value{}, name), func(e string) { d.add(name + " " + e) }
		}
	}

	Both(plain("a"), plain("b"))(t.Context(), "x")
	d.want(t, "a x", "b x")
	InTurn(turn("a"), turn("b"))("x")
	d.want(t, "a x", "b x")
	BothRuns(run("a"), run("b"))(t.Context(), "x")()
	d.want(t, "a x", "b x", "b ends", "a ends")
	ctx, end := BothBegin(begin("a"), begin("b"))(t.Context(), "x")
	end("ends")
	d.want(t, "a x after ", "b x after a", "b ends", "a ends")
	if ctx.Value(value{}) != "b" {
		t.Error("the context of the last hook is lost")
	}

	for _, one := range []func(context.Context, string){Both(plain("a"), nil), Both(nil, plain("a"))} {
		one(t.Context(), "x")
		d.want(t, "a x")
	}
	for _, one := range []func(string){InTurn(turn("a"), nil), InTurn(nil, turn("a"))} {
		one("x")
		d.want(t, "a x")
	}
	for _, one := range []func(context.Context, string) func(){BothRuns(run("a"), nil), BothRuns(nil, run("a"))} {
		one(t.Context(), "x")()
		d.want(t, "a x", "a ends")
	}
	for _, one := range []func(context.Context, string) (context.Context, func(string)){BothBegin(begin("a"), nil), BothBegin(nil, begin("a"))} {
		_, end := one(t.Context(), "x")
		end("ends")
		d.want(t, "a x after ", "a ends")
	}
	if Both[string](nil, nil) != nil || InTurn[string](nil, nil) != nil || BothRuns[string](nil, nil) != nil ||
		BothBegin[string, string](nil, nil) != nil {
		t.Error("no hooks make one")
	}
}

// A hook may have nothing to say at the end, and no context of its own.
func TestAHookMayReturnNothing(t *testing.T) {
	runs := func(context.Context, string) func() { return nil }
	begins := func(context.Context, string) (context.Context, func(string)) { return nil, nil } //nolint:staticcheck // as a user may
	BothRuns(runs, runs)(t.Context(), "x")()
	Run(t.Context(), runs, "x")()
	Run[string](t.Context(), nil, "x")()
	for _, hook := range []func(context.Context, string) (context.Context, func(string)){begins, BothBegin(begins, begins), nil} {
		ctx, end := Begin(t.Context(), hook, "x")
		end("ends")
		if ctx != t.Context() {
			t.Error("the context is not that which went in")
		}
	}
}
