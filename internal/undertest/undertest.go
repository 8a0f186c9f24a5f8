// Package undertest tells a test of the mistakes that an informer sees its program make.
//
// clienttest puts a [Test] into the configuration of the clients of a server that it starts for a test. The client
// hands it on through its handles to informers (package internal/handle). No program outside of this module can make
// one, so production code never has one.
package undertest

import "sync"

// Mark is embedded in a configuration, and says which test it is for. The zero Mark is for none.
type Mark struct{ test *Test }

// BelongTo makes the configuration one for a test.
func (m *Mark) BelongTo(t *Test) { m.test = t }

// Test returns the test that the configuration is for, or nil.
func (m Mark) Test() *Test { return m.test }

// Test is the test that a client is used in. It is safe for use by several goroutines at once; a nil Test does nothing.
type Test struct {
	// mu guards fail, and is held while it is called, so that End waits for it.
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

// End ends the test: testing panics where a test fails that is over.
func (t *Test) End() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fail = nil
}
