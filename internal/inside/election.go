package inside

import (
	"context"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/hooks"
)

// Elections is told of the leader elections that run with a context, by a package that does not link package leader.
type Elections struct {
	// Run is called when the Run of an Elector begins; ended is called before it returns.
	Run func(ctx context.Context, e Election) (ended func())
}

// Election is a leader election that runs.
type Election struct {
	// Name is the Elector's String.
	Name string
	// Status is what the Elector knows at the moment of the call.
	Status func() Leadership
}

// Leadership has the fields of leader.Status.
type Leadership struct {
	Lease            meta.Key
	Identity         string
	Running, Leading bool
	Leader           string
	Since            time.Time
	Term             int64
	Observed         time.Time
	Left             time.Duration
	Err              error
}

// WithElections returns a context for Electors of which e learns, as do the Elections of outer contexts.
func WithElections(ctx context.Context, e Elections) context.Context {
	return hooks.With(ctx, e, func(first, second Elections) Elections {
		return Elections{Run: hooks.BothRuns(first.Run, second.Run)}
	})
}

// ElectionBegins tells the Elections of ctx of an Elector that runs, and returns what to call at its end.
func ElectionBegins(ctx context.Context, e Election) (ended func()) {
	all, _ := hooks.In[Elections](ctx)
	return hooks.Run(ctx, all.Run, e)
}
