package store_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

// told has a text, and leaves its metadata to the store.
type told struct {
	meta.ObjectMeta
	text string
}

// toldEvery is a handler that takes every state.
type toldEvery struct{ cache.Handler[*told] }

func (toldEvery) TakeEveryState() {}

// A handler that ended its goroutine, as t.FailNow of a test does, was never called again.
func TestAHandlerThatEndsItsGoroutineHearsOfTheRest(t *testing.T) {
	for _, test := range []struct {
		name     string
		filtered bool
		at       string // the calls that end the goroutine
		want     []string
	}{
		{"in OnAdd", false, "add a1", []string{"add a1", "add b1", "update a1 a2", "delete a2", "add a3", "delete b1"}},
		{"in OnUpdate", false, "update a1 a2", []string{"add a1", "add b1", "update a1 a2", "delete a2", "add a3", "delete b1"}},
		{"in the OnDelete of an object that was made again", false, "delete a2", []string{"add a1", "add b1", "update a1 a2", "delete a2", "add a3", "delete b1"}},
		{"in the OnDelete of a filtered one", true, "delete a2", []string{"add a1", "add b1", "update a1 a2", "delete a2", "add a3", "delete b1"}},
		{"in the last call", false, "delete b1", []string{"add a1", "add b1", "update a1 a2", "delete a2", "add a3", "delete b1"}},
		{"in both calls of one change", false, "delete a2, add a3", []string{"add a1", "add b1", "update a1 a2", "delete a2", "add a3", "delete b1"}},
		{"in the filter", true, "match a2", []string{"add a1", "add b1", "delete a2", "add a3", "delete b1"}},
	} {
		for _, every := range []bool{false, true} {
			bubble(t, fmt.Sprintf("%s, every state: %v", test.name, every), func(t *testing.T) {
				exits := strings.Split(test.at, ", ")
				most := len(exits)
				s := storetest.New[*told]()
				var calls []string
				say := func(format string, args ...any) {
					call := fmt.Sprintf(format, args...)
					if call[:5] != "match" {
						calls = append(calls, call)
					}
					if slices.Contains(exits, call) {
						exits = slices.DeleteFunc(exits, func(at string) bool { return at == call })
						runtime.Goexit()
					}
				}
				var h cache.Handler[*told] = cache.HandlerFuncs[*told]{
					Add:    func(o *told) { say("add %s", o.text) },
					Update: func(old, o *told) { say("update %s %s", old.text, o.text) },
					Delete: func(o *told) { say("delete %s", o.text) },
				}
				if every {
					h = toldEvery{h}
				}
				var sub *cache.Subscription
				if test.filtered {
					sub = s.Reader().Where(func(o *told) bool { say("match %s", o.text); return true }).Subscribe(h)
				} else {
					sub = s.Reader().Subscribe(h)
				}
				var mu sync.Mutex
				var reported []error
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error)
				go func() {
					ended <- s.Deliver(ctx, func(p *cache.PanicError) {
						mu.Lock()
						defer mu.Unlock()
						reported = append(reported, p)
					})
				}()
				put := func(name, uid, version string) {
					s.Set(meta.Identity{Name: name, UID: uid, ResourceVersion: version}, &told{text: name + version})
					synctest.Wait()
				}
				s.Relist().Commit("0")
				put("a", "1", "1")
				put("b", "2", "1")
				put("a", "1", "2")
				put("a", "3", "3")
				s.Delete(meta.Identity{Name: "b", UID: "2", ResourceVersion: "4"}, nil)
				synctest.Wait()
				if pending(sub) != 0 {
					t.Errorf("%d changes are pending", pending(sub))
				}
				sub.Close()
				<-sub.Done()
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
				}
				if !slices.Equal(calls, test.want) {
					t.Errorf("calls are %q, want %q", calls, test.want)
				}
				var p *cache.PanicError
				if len(reported) != most || !errors.As(reported[0], &p) || !slices.Contains([]string{"OnAdd", "OnUpdate", "OnDelete", "match"}, p.Op) {
					t.Errorf("reported %v, want each of the %d calls once", reported, most)
				}
			})
		}
	}
}
