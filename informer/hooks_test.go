package informer_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

func TestHooksSeeWhatAnInformerDoes(t *testing.T) {
	bubble(t, func(r *rig) {
		var mu sync.Mutex
		var lines []string
		var run informer.RunInfo
		say := func(line string) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, line)
		}
		// heard returns what has been said since it was last called.
		heard := func() (said []string) {
			mu.Lock()
			defer mu.Unlock()
			said, lines = lines, nil
			return said
		}
		hooks := func(name string) informer.Hooks {
			return informer.Hooks{
				Run: func(_ context.Context, i informer.RunInfo) func() {
					run = i
					say(name + " runs " + i.Name)
					return func() { say(name + " has run") }
				},
				List: func(_ context.Context, l informer.ListInfo) {
					failed := ""
					if l.Err != nil {
						failed = " failed"
					}
					say(fmt.Sprintf("%s lists %d %s in %q, %v %v in %v%s", name, l.Objects, l.Resource.Resource, l.Namespace, l.Cause, l.Mode, l.Duration, failed))
				},
				Event: func(_ context.Context, e informer.EventInfo) {
					say(fmt.Sprintf("%s event %s %s", name, e.Type, e.Identity.Name))
				},
			}
		}
		var refuse atomic.Bool
		refuse.Store(true)
		r.server.Intercept(func(*http.Request) http.HandlerFunc {
			if refuse.Load() {
				return clienttest.TooManyRequests(time.Second)
			}
			return nil
		})
		release := make(chan struct{})
		inf := informer.New(r.things, informer.Options{Namespace: "default", Mode: informer.Paged, Hooks: hooks("options"), OnError: func(error) {}})
		inf.Subscribe(cache.HandlerFuncs[*Thing]{Add: func(*Thing) { <-release }})
		ctx, stop := context.WithCancel(informer.WithHooks(informer.WithHooks(r.Context(), informer.Hooks{}), hooks("context")))
		ended := make(chan error)
		go func() { ended <- inf.Run(ctx) }()
		r.pass(10 * time.Second)
		want := []string{
			"options runs informer of configmaps.v1", "context runs informer of configmaps.v1",
			`options lists 0 configmaps in "default", Initial Paged in `, `context lists 0 configmaps in "default", Initial Paged in `,
		}
		said := heard()
		for i, w := range want {
			if !strings.HasPrefix(said[i], w) || i > 1 && !strings.HasSuffix(said[i], " failed") {
				r.Errorf("said %q, want %q and more", said[i], w)
			}
		}
		for id := range run.Objects() { // which is no early read
			r.Errorf("before the first list there is %v", id)
		}
		refuse.Store(false)
		heard()
		r.pass(time.Minute)
		r.put("a")
		r.pass(time.Minute)
		said = heard()
		for i, w := range []string{`options lists 0 configmaps in "default", Initial Paged in 0s`, "", "options event ADDED a", "context event ADDED a"} {
			if w != "" && (i >= len(said) || !strings.HasPrefix(said[i], w)) {
				r.Fatalf("said %q, want %q at %d", said, w, i)
			}
		}
		if s := run.Status(); s.Objects != 1 || run.Resource != things.GVR() {
			r.Errorf("the status is %v", s)
		}
		if n, age := run.Backlog(); n != 1 || age != time.Minute {
			r.Errorf("the backlog is %d, %v", n, age)
		}
		n := 0
		for id, obj := range run.Objects() {
			if n++; id.Name != "a" || id.UID == "" || obj.(*Thing).Name != "a" {
				r.Errorf("the objects have %v, %v", id, obj)
			}
		}
		if n != 1 {
			r.Errorf("there are %d objects", n)
		}
		close(release)
		r.server.Compact()
		r.server.FailWatches(meta.Status{Code: http.StatusGone, Reason: "Expired"})
		r.pass(time.Minute)
		said = heard()
		if !slices.Contains(said, `options lists 1 configmaps in "default", Expired Paged in 0s`) {
			r.Errorf("said %q", said)
		}
		if n, age := run.Backlog(); n != 0 || age != 0 {
			r.Errorf("the backlog is %d, %v", n, age)
		}
		heard()
		stop()
		if err := <-ended; err != nil {
			r.Error(err)
		}
		said = heard()
		if want := []string{"context has run", "options has run"}; !slices.Equal(said, want) {
			r.Errorf("said %q, want %q", said, want)
		}
	})
}
