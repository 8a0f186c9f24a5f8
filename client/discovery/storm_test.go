package discovery_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// behaviour 149: thousands that ask at once while resources come, go and change their scope get what was so within TTL, and the
// server is asked no more often than one caller would ask it.
func TestAStorm(t *testing.T) {
	forms(t, func(t *testing.T, aggregated bool) {
		const names = 8
		r := newRig(t, discovery.Options{})
		r.server.SetAggregated(aggregated)
		r.server.Intercept(func(*http.Request) http.HandlerFunc { time.Sleep(5 * time.Millisecond); return nil })
		type change struct {
			at    time.Time
			scope meta.Scope
			there bool
		}
		var mu sync.Mutex
		history := make([][]change, names) // what each was, oldest first
		resource := func(i int, scope meta.Scope) discovery.Resource {
			return discovery.Resource{Group: fmt.Sprintf("g%d.dev", i), Version: "v1", Kind: "Widget", Name: "widgets", Scope: scope}
		}
		was := func(i int, since time.Time, res discovery.Resource, err error) bool {
			mu.Lock()
			defer mu.Unlock()
			for n := len(history[i]) - 1; n >= 0; n-- {
				c := history[i][n]
				if c.there == (err == nil) && (err != nil || c.scope == res.Scope) {
					return true
				}
				if c.at.Before(since) {
					return false
				}
			}
			return err != nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		var answers atomic.Int32
		wg.Go(func() {
			random := rand.New(rand.NewPCG(1, 2))
			for ctx.Err() == nil {
				i := random.IntN(names)
				mu.Lock()
				last := change{}
				if h := history[i]; len(h) > 0 {
					last = h[len(h)-1]
				}
				next := change{time.Now(), meta.Scope(random.IntN(2)), !last.there}
				var err error
				if d := resource(i, next.scope); next.there {
					w := widgets("v1")
					w.Group, w.Scope = d.Group, d.Scope
					err = r.server.Register(w)
				} else {
					err = r.server.Unregister(d.GVR())
				}
				if err != nil {
					t.Error(err)
				}
				history[i] = append(history[i], next)
				mu.Unlock()
				time.Sleep(7 * time.Second)
			}
		})
		for g := range 2000 {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(3, uint64(g)))
				for range 10 {
					time.Sleep(time.Duration(random.IntN(60)) * time.Second)
					i := random.IntN(names)
					call, leave := context.WithTimeout(ctx, time.Duration(random.IntN(20))*time.Millisecond)
					began := time.Now()
					d := resource(i, 0)
					res, err := r.catalog.Resource(call, d.GVK())
					leave()
					switch {
					case err == nil, errors.Is(err, apierrors.NotFound):
						answers.Add(1)
						if !was(i, began.Add(-time.Minute), res, err) {
							t.Errorf("at %v %s is %v, %v", began, d.Group, res.Scope, err)
						}
					case !errors.Is(err, context.DeadlineExceeded):
						t.Error(err)
					}
				}
			})
		}
		time.Sleep(10 * time.Minute)
		cancel()
		wg.Wait()
		if answers.Load() < 10_000 {
			t.Errorf("only %d answers", answers.Load())
		}
		each := map[string]int{}
		for path := range strings.SplitSeq(r.requests(), ", ") {
			each[strings.TrimSuffix(path, " 304")]++
		}
		for path, n := range each {
			if n > 2*60 { // one in 10 s, for 10 minutes, and those that were left
				t.Errorf("%s was asked for %d times", path, n)
			}
		}
	})
}
