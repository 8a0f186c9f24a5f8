// Package guard watches calls of a program's functions, which may panic or end their goroutine.
package guard

import "errors"

// ErrExited reports a call that ended its goroutine by runtime.Goexit, as t.FailNow of a test does.
var ErrExited = errors.New("called runtime.Goexit instead of returning")

// Call calls f. If f panics, Call passes the value to left and returns. If f calls runtime.Goexit, Call passes nil to
// left, and the goroutine ends after that, because nothing can stop it.
func Call(f func(), left func(value any)) {
	returned := false
	defer func() {
		if !returned {
			left(recover())
		}
	}()
	f()
	returned = true
}
