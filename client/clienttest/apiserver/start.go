package apiserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/internal/undertest"
)

// TB is the part of testing.TB that Start needs. It is an interface so that programs do not link package testing.
//
// If it has the method Output of testing.T, that takes the progress of a build. If it has the method Deadline, Start
// gives up before the test's time limit.
type TB interface {
	clienttest.TB
	Failed() bool
	Logf(format string, args ...any)
}

// margin is how long before its time limit a test still needs to end the servers and say why.
const margin = 5 * time.Second

// Start returns a server that is ready and runs until the end of the test. The test fails if the server cannot start or
// ends by itself.
//
// As with clienttest.Start, the test also fails if it changes an object in the cache of an informer whose client has
// the server's Config, or reads such a cache before it is complete.
func Start(tb TB, o Options) *Server {
	tb.Helper()
	if out, ok := tb.(interface{ Output() io.Writer }); ok && o.Progress == nil {
		o.Progress = out.Output()
	}
	s := New(o)
	if _, measures := tb.(interface{ Loop() bool }); !measures { // testing.B has the method Loop
		s.test = undertest.New(tb.Errorf)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err := s.Run(ctx)
		if err != nil && s.ready() != nil {
			tb.Errorf("run the API server: %v", err)
		}
	}()
	tb.Cleanup(func() {
		s.test.End()
		if plane := s.ready(); plane != nil && tb.Failed() {
			tb.Logf("the last lines of the API server's log:\n%s", plane.Log())
		}
		cancel(errors.New("the test is over"))
		<-ended
	})
	waiting, stop := limit(tb)
	defer stop()
	if err := s.WaitReady(waiting); err != nil {
		cancel(context.Cause(waiting))
		<-ended // s.failure, which says what Run was doing, is set then
		tb.Fatalf("start the API server: %v", s.failure)
	}
	return s
}

// limit returns a context that ends before the time limit of the test does.
func limit(tb TB) (context.Context, context.CancelFunc) {
	if t, ok := tb.(interface {
		Deadline() (time.Time, bool)
	}); ok {
		if deadline, ok := t.Deadline(); ok {
			return context.WithDeadlineCause(context.Background(), deadline.Add(-margin),
				fmt.Errorf("the time limit of the test (-timeout) ends in %s", margin))
		}
	}
	return context.WithCancel(context.Background())
}
