package clusters_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/informer/clusters"
	"github.com/bowline-go/bowline/informer/controller"
)

// All requests to one cluster with many keys hang. The keys of the others wait no longer than one reconcile may take, and almost
// always not at all; without groups they wait for all keys that came before them.
func TestAClusterWhoseRequestsHangDoesNotHaveAllWorkers(t *testing.T) {
	const timeout = 10 * time.Second
	measure := func(t *testing.T, fair bool) (longest time.Duration, waited int) {
		synctest.Test(t, func(t *testing.T) {
			slow, b, c := newSite(t, "a"), newSite(t, "b"), newSite(t, "c")
			for i := range 100 {
				slow.create(t, fmt.Sprint("x-", i))
			}
			slow.server.Intercept(func(r *http.Request) http.HandlerFunc {
				if clienttest.RequestOf(r).Verb == "get" {
					return clienttest.Hang()
				}
				return nil
			})
			var mu sync.Mutex
			created := make(map[clusters.Key]time.Time)
			ctl := clusters.New("c", controller.Options{Workers: 4, Timeout: timeout, OnError: func(error) {}},
				func(ctx context.Context, s *site, k clusters.Key) (controller.Result, error) {
					if _, err := s.maps.Get(ctx, k.Key); err != nil {
						return controller.Result{}, err
					}
					mu.Lock()
					defer mu.Unlock()
					took := time.Since(created[k])
					longest = max(longest, took)
					if took > 0 {
						waited++
					}
					delete(created, k)
					return controller.Result{}, nil
				})
			if !fair {
				if err := ctl.GroupBy(nil, nil); err != nil {
					t.Fatal(err)
				}
			}
			for _, s := range []*site{slow, b, c} {
				mustAdd(t, ctl, s)
			}
			stop := start(t, ctl)
			time.Sleep(time.Second)
			for i := range 100 {
				s := []*site{b, c}[i%2]
				k := in(s.name, fmt.Sprint("y-", i))
				mu.Lock()
				created[k] = time.Now()
				mu.Unlock()
				s.create(t, k.Name)
				time.Sleep(time.Duration(i%7) * 700 * time.Millisecond)
			}
			time.Sleep(time.Hour)
			stop()
			mu.Lock()
			defer mu.Unlock()
			if len(created) > 0 {
				t.Errorf("%d keys have not been reconciled", len(created))
			}
		})
		return longest, waited
	}
	longest, waited := measure(t, true)
	t.Logf("with groups a key waits for %v at most, and %d of 100 wait", longest, waited)
	if longest > timeout {
		t.Errorf("a key has waited for %v, want %v at most", longest, timeout)
	}
	longest, _ = measure(t, false)
	t.Logf("without groups a key waits for %v at most", longest)
	if longest <= timeout {
		t.Errorf("without groups a key has waited for %v at most, so this test shows nothing", longest)
	}
}
