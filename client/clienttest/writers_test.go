package clienttest_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/proof/conformance"
	"github.com/bowline-go/bowline/internal/proof/histories"
)

func tallies(t *testing.T) *clienttest.Server {
	t.Helper()
	of := conformance.Tallies
	return clienttest.Start(t, clienttest.Options{Resources: []clienttest.Resource{{
		Group: of.Group, Version: of.Version, Kind: of.Kind, Resource: of.Resource, Status: true,
	}}})
}

// Whatever goes wrong, no change is lost and none is made twice. internal/proof/e2e has the same with a real kube-apiserver.
func TestManyWritersLoseNoChange(t *testing.T) {
	for seed := range histories.Seeds(2) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { conformance.RunWriters(t, tallies(t).Config(), conformance.Faults(seed)) })
		})
	}
}

// The same with faults that the server makes, on its connections.
func TestManyWritersLoseNoChangeOnAServerWithFaults(t *testing.T) {
	for seed := range histories.Seeds(2) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := tallies(t)
				var mu sync.Mutex // guards random
				random := rand.New(rand.NewPCG(seed, 2))
				server.Intercept(func(r *http.Request) http.HandlerFunc {
					if r.UserAgent() != conformance.WritersAgent {
						return nil
					}
					mu.Lock()
					defer mu.Unlock()
					switch n := random.IntN(300); random.IntN(60) {
					case 0, 1:
						return clienttest.Reset()
					case 2, 3:
						return server.ResetBody(n)
					case 4, 5:
						return server.CutBody(n)
					case 6:
						return server.Stall(n)
					case 7:
						return server.Drip(n+1, time.Millisecond)
					case 8:
						return server.Rewrite(func(head http.Header, body []byte) []byte {
							head.Set("Content-Length", strconv.Itoa(len(body)+n%3-1))
							return body[:min(len(body), len(body)+n%3-1)]
						})
					case 9, 10:
						return clienttest.TooManyRequests(time.Second)
					case 11:
						return clienttest.Answer(meta.Status{Code: 500, Reason: "InternalError", Message: "etcdserver: request timed out"})
					case 12, 13, 14:
						if r.Method == http.MethodPut {
							return clienttest.Conflict()
						}
					case 15:
						return clienttest.Hang()
					}
					return nil
				})
				conformance.RunWriters(t, server.Config(), nil)
			})
		})
	}
}
