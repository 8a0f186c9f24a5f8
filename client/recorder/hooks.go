package recorder

import (
	"context"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// Hooks are functions that a recorder calls on events, for metrics and traces. All are optional, and cost nothing if they are not
// set. Only Run calls them, so they delay nobody who records. Each must be safe for use by several goroutines at once and should
// return soon, because the next records wait for it.
type Hooks struct {
	// Run is called when Run begins. ended, unless it is nil, is called before Run returns.
	Run func(ctx context.Context, r RunInfo) (ended func())
	// Sent is called after each request by which the server has taken a record.
	Sent func(ctx context.Context, i SentInfo)
	// Dropped is called when records have been dropped: at once, and then at most once a second, with how many there were.
	Dropped func(ctx context.Context, i DropInfo)
}

// RunInfo describes a recorder that runs.
type RunInfo struct {
	// Name is the recorder's String.
	Name string
	// Controller is Options.Controller.
	Controller string
	// Status is the method of the recorder.
	Status func() Status
}

// SentInfo describes a request by which the server has taken a record.
type SentInfo struct {
	// Controller is Options.Controller.
	Controller string
	// Record is the record as it was sent.
	Record Record
	// Key is the record's own key at the server.
	Key meta.Key
	// New says that the request has created the record. Otherwise it has updated the count.
	New bool
	// Count is how often the record has been made, as the server has it now.
	Count int
	// Attempts is how many requests it took.
	Attempts int
	// Waited is how long the oldest occurrence that the server did not know had waited.
	Waited time.Duration
}

// DropInfo describes records that have been dropped. A repetition of a record counts as a record.
type DropInfo struct {
	// Controller is Options.Controller.
	Controller string
	// Cause is the reason.
	Cause Cause
	// Count is how many records have been dropped since the last DropInfo of this cause.
	Count int
	// Record is the latest of them.
	Record Record
	// Err is the server's error, or what is wrong with the record. It is nil if the cause says it all.
	Err error
}

type hooksKey struct{}

// WithHooks returns a context in which the recorders that run with it call the functions of h, as well as those of Options.Hooks and
// of outer contexts.
func WithHooks(ctx context.Context, h Hooks) context.Context {
	return context.WithValue(ctx, hooksKey{}, hooksOf(ctx).and(h))
}

func hooksOf(ctx context.Context) Hooks {
	h, _ := ctx.Value(hooksKey{}).(Hooks)
	return h
}

// and returns hooks that call the functions of h and then those of other.
func (h Hooks) and(other Hooks) Hooks {
	all := Hooks{Run: h.Run, Sent: both(h.Sent, other.Sent), Dropped: both(h.Dropped, other.Dropped)}
	switch {
	case h.Run == nil:
		all.Run = other.Run
	case other.Run != nil:
		all.Run = func(ctx context.Context, r RunInfo) func() {
			first, second := h.Run(ctx, r), other.Run(ctx, r)
			return func() {
				for _, ended := range []func(){second, first} {
					if ended != nil {
						ended()
					}
				}
			}
		}
	}
	return all
}

func both[I any](first, second func(context.Context, I)) func(context.Context, I) {
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
