package client

import (
	"context"
	"fmt"
	"time"

	"github.com/bowline-go/bowline/internal/retry"
)

// attempts counts and paces those of one call that writes what it has read, and lost against another write.
type attempts struct {
	done    int
	backoff *retry.Backoff
}

func newAttempts() *attempts {
	return &attempts{backoff: retry.New(retry.Policy{Base: 10 * time.Millisecond, Max: time.Second})}
}

// again waits before the next attempt. It returns why there is none: ctx has ended, or the last failed with err.
func (a *attempts) again(ctx context.Context, err error) error {
	if a.done++; a.done == conflictAttempts {
		return fmt.Errorf("gave up after attempt %d: %w", a.done, err)
	}
	if retry.Sleep(ctx, a.backoff.Next(0)) != nil {
		return fmt.Errorf("gave up after attempt %d: %w; before that: %w", a.done, contextError(ctx), err)
	}
	return nil
}
