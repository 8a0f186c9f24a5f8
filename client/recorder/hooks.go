package recorder

import (
	"context"
	"time"

	"github.com/bowline-go/bowline/internal/hooks"
)

// Hooks are functions that a recorder calls on events, for metrics and traces. All are optional, and cost nothing if
// they are not set. Only Run calls them, so they do not delay [Recorder.Record]. Each must be safe for use by several
// goroutines at once and should return soon, because the next records wait for it.
type Hooks struct {
	// Run is called when Run begins. ended, unless it is nil, is called before Run returns.
	Run func(ctx context.Context, r RunInfo) (ended func())
	// Sent is called after each request with which the server has accepted a record.
	Sent func(ctx context.Context, i SentInfo)
	// Dropped is called when records have been dropped: at once for the first, and then at most once a second with
	// their number.
	Dropped func(ctx context.Context, e *DropError)
}

// RunInfo describes a running recorder.
type RunInfo struct {
	// Controller is Options.Controller.
	Controller string
	// Status is [Recorder.Status].
	Status func() Status
}

// SentInfo describes a request with which the server has accepted a record.
type SentInfo struct {
	// Controller is Options.Controller.
	Controller string
	// Record is the record as it was sent.
	Record Record
	// New says that the request has created the record. Otherwise the request has updated the count.
	New bool
	// Count is the number of occurrences that the server now has for the record.
	Count int
	// Waited is how long the oldest unsent occurrence had waited.
	Waited time.Duration
}

// WithHooks returns a context in which the recorders that run with it call the functions of h, as well as those of
// Options.Hooks and of outer contexts.
func WithHooks(ctx context.Context, h Hooks) context.Context {
	return hooks.With(ctx, h, Hooks.and)
}

// and returns hooks that call the functions of h and then those of other. The functions that Run returned are called in
// the opposite order.
func (h Hooks) and(other Hooks) Hooks {
	return Hooks{
		Run:     hooks.BothRuns(h.Run, other.Run),
		Sent:    hooks.Both(h.Sent, other.Sent),
		Dropped: hooks.Both(h.Dropped, other.Dropped),
	}
}
