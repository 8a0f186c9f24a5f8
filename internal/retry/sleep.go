// This file waits until a time has passed or a context has ended.

package retry

import (
	"context"
	"time"
)

// Sleep waits for d and returns nil, or returns ctx's error as soon as ctx ends. With d of 0 or less it does not wait.
// If ctx has already ended, it returns ctx's error for every d.
func Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
