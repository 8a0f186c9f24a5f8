// The guard around functions of the program. It has a file of its own, not reconcile.go, because informers recognise
// reconciles by that file.

package controller

import (
	"runtime/debug"

	"github.com/bowline-go/bowline/cache"
)

// guarded calls a function of the program, and converts its panic into an error.
func (c *Controller[K]) guarded(call func() error) (err error) {
	if !c.options.CrashOnPanic {
		defer func() {
			if value := recover(); value != nil {
				err = &cache.PanicError{Value: value, Stack: debug.Stack()}
			}
		}()
	}
	return call()
}
