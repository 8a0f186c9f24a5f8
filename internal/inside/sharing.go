package inside

import (
	"context"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/hooks"
)

// Sharings is told of the groups of replicas that a program works in with a context, by a package that does not link package shards.
type Sharings struct {
	// Run is called when the Run of a Group begins; ended is called before it returns.
	Run func(ctx context.Context, s Sharing) (ended func())
	// Changed is called when the replica has got or lost ranges.
	Changed func(ctx context.Context, c ShareChange)
}

// Sharing is a replica's part in a group, which runs.
type Sharing struct {
	// Name is the Group's String.
	Name string
	// Status is what the Group knows at the moment of the call.
	Status func() Shares
}

// Shares has the fields of shards.Status.
type Shares struct {
	Group    meta.Key
	Lease    meta.Key
	Identity string
	Running  bool
	Joined   bool
	Left     time.Duration
	Leaving  bool
	Ranges   meta.Ranges
	Since    time.Time
	Lost     time.Time
	LostErr  error
	Waits    meta.Ranges
	Prepares meta.Ranges
	Unready  []string
	Blocked  error
	Unowned  meta.Ranges
	Members  []Sharer
	Err      error
	LeaseErr error
}

// Sharer has the fields of shards.Member.
type Sharer struct {
	Identity            string
	Lease               string
	Weight              int
	Ranges              meta.Ranges
	Due                 float64
	Self, Leaving, Lost bool
}

// ShareChange is a change of the ranges of a replica. Err says why all were lost at once; nil otherwise.
type ShareChange struct {
	Name                 string
	Gained, Lost, Ranges meta.Ranges
	Err                  error
}

// WithSharings returns a context for Groups of which s learns, as do the Sharings of outer contexts.
func WithSharings(ctx context.Context, s Sharings) context.Context {
	return hooks.With(ctx, s, func(first, second Sharings) Sharings {
		return Sharings{Run: hooks.BothRuns(first.Run, second.Run), Changed: hooks.Both(first.Changed, second.Changed)}
	})
}

// SharingBegins tells the Sharings of ctx of a Group that runs, and returns what to call at its end.
func SharingBegins(ctx context.Context, s Sharing) (ended func()) {
	all, _ := hooks.In[Sharings](ctx)
	return hooks.Run(ctx, all.Run, s)
}

// SharesChange tells the Sharings of ctx that a replica has got or lost ranges.
func SharesChange(ctx context.Context, c ShareChange) {
	if all, _ := hooks.In[Sharings](ctx); all.Changed != nil {
		all.Changed(ctx, c)
	}
}
