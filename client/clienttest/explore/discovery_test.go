package explore

import (
	"context"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
)

// A RESTMapper of controller-runtime holds its mutex while it discovers, and other goroutines wait for the mutex. The
// explorer waited for ever.
func TestDiscoveryUnderAMutexIsAnswered(t *testing.T) {
	var mu sync.Mutex
	discover := func(ctx context.Context, cfg client.Config) error {
		c, err := client.New(cfg)
		if err != nil {
			return err
		}
		defer c.Close()
		var both sync.WaitGroup
		errs := make([]error, 2)
		for i := range errs {
			both.Go(func() {
				mu.Lock()
				defer mu.Unlock()
				answer, err := c.Raw(ctx, client.RawRequest{Method: http.MethodGet, Path: "/apis"})
				if errs[i] = err; err == nil {
					_, errs[i] = io.Copy(io.Discard, answer.Body)
					_ = answer.Body.Close()
				}
			})
		}
		both.Wait()
		for _, err := range errs {
			if err != nil {
				t.Error(err)
			}
		}
		<-ctx.Done()
		return nil
	}
	synctest.Test(t, func(t *testing.T) {
		r := play(&Plan{Program: discover, History: func(h *History) { h.Rest() }}, nil, nil, nil)
		r.end()
		if len(r.findings) > 0 || len(r.points) > 0 || time.Now().Year() != 2000 {
			t.Errorf("the run found %q and has %d points, want none", r.findings, len(r.points))
		}
	})
}
