package leader_test

import (
	"context"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/leader"
)

// Each hook of the options is called, and then that of the context, which has the values of Run's and does not end with it.
func TestTheHooksOfTheContextAreCalledAfterThoseOfTheConfig(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		type program struct{}
		var mu sync.Mutex
		seen := map[string][]string{} // by hook
		tells := func(who string) leader.Hooks {
			add := func(ctx context.Context, hook string) {
				mu.Lock()
				defer mu.Unlock()
				if name, _ := ctx.Value(program{}).(string); name != "pages" || ctx.Err() != nil {
					t.Errorf("the context of %s has %q, and its error is %v", hook, name, ctx.Err())
				}
				if n := len(seen[hook]); n < 2 {
					seen[hook] = append(seen[hook], who)
				}
			}
			return leader.Hooks{
				Leader:   func(ctx context.Context, _ leader.LeaderInfo) { add(ctx, "Leader") },
				Renewed:  func(ctx context.Context, _ leader.RenewalInfo) { add(ctx, "Renewed") },
				Lost:     func(ctx context.Context, _ *leader.LostError) { add(ctx, "Lost") },
				Released: func(ctx context.Context, _ leader.ReleaseInfo) { add(ctx, "Released") },
			}
		}
		elector := leader.New(w.client(func(c *client.Config) { c.Retry.Attempts = 1 }), leader.Options{
			Namespace: leaseKey.Namespace, Name: leaseKey.Name, Identity: "a", Hooks: tells("config"),
		})
		ctx, stop := context.WithCancel(leader.WithHooks(context.WithValue(quiet(t), program{}, "pages"), tells("context")))
		run := func() error {
			return elector.Run(ctx, func(ctx context.Context) error { <-ctx.Done(); return nil })
		}
		lost := make(chan error, 1)
		go func() { lost <- run() }()
		w.until(5 * time.Second)
		w.server.Freeze()
		w.server.Refuse(syscall.ECONNREFUSED)
		if err := <-lost; err == nil {
			t.Error("the lease was not lost")
		}
		w.server.Refuse(nil)
		ended := make(chan error, 1)
		go func() { ended <- run() }()
		w.until(2 * time.Minute)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, hook := range []string{"Leader", "Renewed", "Lost", "Released"} {
			if want := []string{"config", "context"}; !slices.Equal(seen[hook], want) {
				t.Errorf("%s was called for %q, want %q", hook, seen[hook], want)
			}
		}
	})
}
