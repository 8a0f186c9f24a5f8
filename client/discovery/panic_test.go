package discovery_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/discovery"
)

// A panic in a user's RoundTripper is the caller's to recover, also where several requests are made at once, and those that
// wait for that request make one of their own.
func TestAPanicReachesItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := clienttest.Start(t, clienttest.Options{Resources: []clienttest.Resource{widgets("v1")}})
		var calm atomic.Bool
		proceed := make(chan struct{})
		cfg := s.Config()
		cfg.Wrap = func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(q *http.Request) (*http.Response, error) {
				<-proceed
				if !calm.Swap(true) {
					panic("of a middleware")
				}
				return next.RoundTrip(q)
			})
		}
		c, err := client.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		catalog := discovery.New(c, discovery.Options{})
		recovered := make(chan any)
		ask := func() {
			defer func() { recovered <- recover() }()
			if _, _, err := catalog.Find(t.Context(), "wd"); err != nil {
				t.Error(err)
			}
		}
		go ask()
		synctest.Wait()
		go ask()
		synctest.Wait()
		close(proceed)
		if a, b := <-recovered, <-recovered; (a == nil) == (b == nil) {
			t.Errorf("recovered %v and %v, want one panic", a, b)
		}
	})
}
