// The number of a reconcile among those of a key in a row.

package controller

import "context"

// Attempt returns the number of the attempt that the reconcile of ctx is: 1, and one more after each failure of its key
// in a row. It returns 0 for a context that belongs to no reconcile.
//
//	if controller.Attempt(ctx) == 10 {
//		about.Warningf(page, "StillFails", "the page was tried ten times")
//	}
func Attempt(ctx context.Context) int {
	n, _ := ctx.Value(attemptKey{}).(int)
	return n
}

type attemptKey struct{}

func (v *visit[K]) attempt() int { return v.epoch.queue.Failures(v.key) + 1 }
