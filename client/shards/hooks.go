package shards

import (
	"context"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/hooks"
)

// Hooks are functions that a Group calls on events; see also [WithHooks]. All are optional. They should return soon,
// because the group waits for them; if they do not, ranges move late.
type Hooks struct {
	// Run is called when the Run of a Group begins. ended, unless it is nil, is called before that Run returns.
	Run func(ctx context.Context, r RunInfo) (ended func())
	// Changed is called when this replica has gained or lost ranges.
	Changed func(ctx context.Context, i ChangedInfo)
}

// RunInfo describes a running Group.
type RunInfo struct {
	// Group is the name of the group.
	Group meta.Key
	// Status is the method of the Group.
	Status func() Status
}

// ChangedInfo describes a change of the ranges that a replica works on.
type ChangedInfo struct {
	// Group is the name of the group.
	Group meta.Key
	// Gained are the ranges that the replica has gained, and Lost those that it has given up or lost. Work under way on
	// a range that was given up may continue for Options.Drain.
	Gained, Lost meta.Ranges
	// Ranges are the ranges that the replica has now.
	Ranges meta.Ranges
	// Err says why all ranges were lost at once; nil otherwise.
	Err error
}

// WithHooks returns a context in which the Groups that run with it call the functions of h, as well as those of
// Options.Hooks and of outer contexts.
func WithHooks(ctx context.Context, h Hooks) context.Context {
	return hooks.With(ctx, h, Hooks.and)
}

// and returns hooks that call the functions of h and then those of other.
func (h Hooks) and(other Hooks) Hooks {
	return Hooks{Run: hooks.BothRuns(h.Run, other.Run), Changed: hooks.Both(h.Changed, other.Changed)}
}

// tell calls the hooks for the beginning of a Run, and returns the function to call at its end.
func (g *Group) tell(ctx context.Context) (ended func()) {
	carried, _ := hooks.In[Hooks](ctx)
	key := meta.Key{Namespace: g.config.Namespace, Name: g.config.Name}
	return hooks.Run(ctx, g.config.Hooks.and(carried).Run, RunInfo{Group: key, Status: g.Status})
}
