package client

import "github.com/bowline-go/bowline/internal/undertest"

// UnderTest returns the configuration of a client whose informers tell a test of the mistakes that they see: clienttest.Start
// does that to the configuration of its server. Only packages of this module can call it.
func (c Config) UnderTest(t *undertest.Test) Config {
	c.test = t
	return c
}

// UnderTest returns the test that the resource is used in, nil in all other programs. It is for informers.
func (r Resource[T]) UnderTest() *undertest.Test {
	if r.c == nil {
		return nil
	}
	return r.c.test
}
