// Package undertest reports to a test the mistakes of its program that an informer detects.
//
// clienttest puts a [Test] into the configuration of the clients of a server that it starts for a test. The client
// passes it through its handles to informers (package internal/handle). No program outside of this module can make
// one, so production code never has one.
package undertest

import "sync"

// Mark is embedded in a configuration, and says which test it belongs to. The zero Mark belongs to none.
type Mark struct{ test *Test }

// BelongTo marks the configuration as one of a test.
func (m *Mark) BelongTo(t *Test) { m.test = t }

// Test returns the test that the configuration belongs to, or nil.
func (m Mark) Test() *Test { return m.test }

// Test is the test that a client is used in. It is safe for use by several goroutines at once; a nil Test does
// nothing.
type Test struct {
	// mu guards fail, and is held while fail is called, so that End waits for the call.
	mu   sync.Mutex
	fail func(format string, args ...any) // nil after End
}

// New returns a Test that fails by calling fail, as with testing.T.Errorf.
func New(fail func(format string, args ...any)) *Test { return &Test{fail: fail} }

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

// End detaches the test, because testing panics if a finished test fails.
func (t *Test) End() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fail = nil
}
