package discovery

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
)

// Folders on a mount whose server was gone held every call, past its context, and for as long as the mount did not answer.
func TestAFolderThatDoesNotAnswerHoldsNoCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		c, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		var (
			mu     sync.Mutex
			told   []error
			called int
			gate   = make(chan struct{})
		)
		catalog := New(c, Options{Dir: t.TempDir(), OnError: func(err error) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, err)
		}})
		catalog.disk.enter = func(work func()) {
			mu.Lock()
			called++
			wait := gate
			mu.Unlock()
			<-wait
			work()
		}

		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if _, err := catalog.Version(short); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("with a context of 1 s: %v after %v", err, time.Since(began))
		}
		if len(told) > 0 {
			t.Errorf("the end of a context is told as %v", told)
		}
		if _, err := catalog.Resources(t.Context()); err != nil || time.Since(began) != time.Second || called != 1 {
			t.Errorf("while it is held: %v after %v, with %d calls of the system", err, time.Since(began), called)
		}
		if len(told) == 0 || !strings.HasPrefix(told[0].Error(), "discovery.Options.Dir: the system does not answer") {
			t.Errorf("told of %v", told)
		}

		close(gate) // the mount is back
		synctest.Wait()
		gate = make(chan struct{})
		told, called, began = nil, 0, time.Now()
		catalog.Invalidate()
		if _, err := catalog.Version(t.Context()); err != nil || time.Since(began) != diskPatience || called != 1 || len(told) == 0 {
			t.Errorf("when it is back, and gone again: %v after %v, with %d calls of the system, told of %v", err, time.Since(began), called, told)
		}
		close(gate)
		synctest.Wait()
		if n := catalog.disk.held.Load(); n != 0 {
			t.Errorf("%d calls are held", n)
		}
	})
}
