// Package undertest tells a test of the mistakes that an informer sees its program make.
//
// clienttest notes which test each server belongs to that it starts for one. An informer asks by the address of the server that it reads
// from. No program outside of this module can note a test, so production code never has one.
package undertest

import "sync"

// tests are those that are not over, by the base URLs of their servers.
var tests sync.Map // string -> *Test

// Test is a test with a server. It is safe for use by several goroutines at once; a nil Test does nothing.
type Test struct {
	server string
	// mu guards fail, and is held while it is called, so that End waits for it.
	mu   sync.Mutex
	fail func(format string, args ...any) // nil after End
}

// Begin notes that the server belongs to a test, which fails by calling fail, as with testing.T.Errorf.
func Begin(server string, fail func(format string, args ...any)) *Test {
	t := &Test{server: server, fail: fail}
	tests.Store(server, t)
	return t
}

// Of returns the test that the server belongs to; nil if it belongs to none.
func Of(server string) *Test {
	t, _ := tests.Load(server)
	test, _ := t.(*Test)
	return test
}

// Misused fails the test with err. After End it does nothing.
func (t *Test) Misused(err error) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fail != nil {
		t.fail("%v", err)
	}
}

// End ends the test: testing panics where a test fails that is over.
func (t *Test) End() {
	if t == nil {
		return
	}
	tests.CompareAndDelete(t.server, t)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fail = nil
}
