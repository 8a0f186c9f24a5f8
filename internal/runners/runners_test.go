package runners_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/bowline-go/bowline/internal/runners"
)

type runner interface {
	Run(ctx context.Context) error
}

// part is a runner that needs others.
type part struct {
	name string
	of   []runner
}

func (p *part) Run(context.Context) error { return nil }
func (p *part) Runners() []runner         { return p.of }
func (p *part) String() string            { return p.name }

// free is a runner that cannot be compared.
type free func()

func (free) Run(context.Context) error { return nil }

func TestNeedsAreTransitiveAndUnique(t *testing.T) {
	d := &part{name: "d"}
	c := &part{name: "c", of: []runner{d, nil}}
	d.of = []runner{c} // a circle ends
	a := &part{name: "a", of: []runner{c, d, free(nil), c}}
	var names []string
	for _, r := range runners.Needs([]runner(nil), a) {
		names = append(names, runners.Name(r))
	}
	if len(names) != 3 || !slices.Equal(names[:2], []string{"c", "d"}) {
		t.Errorf("needs %q", names)
	}
	if runners.Has([]runner{free(nil), nil}, runner(free(nil))) || runners.Has([]runner{nil}, nil) || !runners.Has([]runner{nil, c}, runner(c)) {
		t.Error("Has finds what cannot be compared, or does not find what can")
	}
}

func TestJoinWaitsForTheOtherRun(t *testing.T) {
	failed, ended := errors.New("failed"), make(chan struct{})
	calls := 0
	run := func(context.Context) error {
		if calls++; calls == 1 {
			close(ended)
			return fmt.Errorf("run it: %w", &runners.RunningError{What: "it", Ended: ended})
		}
		return failed
	}
	if err := runners.Join(t.Context(), run); !errors.Is(err, failed) || calls != 2 {
		t.Errorf("%d calls, and %v", calls, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := runners.Join(ctx, func(context.Context) error { return &runners.RunningError{Ended: make(chan struct{})} }); err != nil {
		t.Error(err)
	}
}

func TestIsNil(t *testing.T) {
	for _, nothing := range []any{nil, (*part)(nil), free(nil)} {
		if !runners.IsNil(nothing) {
			t.Errorf("%T is not nil", nothing)
		}
	}
	if runners.IsNil(&part{}) || runners.IsNil(7) {
		t.Error("what can be called is nil")
	}
}
