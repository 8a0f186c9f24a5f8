// How often a key has been tried in a row.

package controller

import "context"

// Attempt returns which attempt the reconcile of ctx is: 1, plus the number of failures of its key in a row before it.
// It returns 0 for a context that belongs to no reconcile.
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
