package shards_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/shards"
)

// Hooks of the Options and of the context are told of a Run, of each change of its ranges, and of why they were lost.
func TestHooksAreToldOfARunAndItsRanges(t *testing.T) {
	play(t, func(w *world) {
		var said []string
		var loss error
		tells := func(name string) shards.Hooks {
			return shards.Hooks{
				Run: func(_ context.Context, r shards.RunInfo) func() {
					said = append(said, fmt.Sprintf("%s: %v of %v begins, %v", name, r.Status().Identity, r.Group, r.Status().Running))
					return func() { said = append(said, fmt.Sprintf("%s: ends with %d", name, r.Status().Ranges.Len())) }
				},
				Changed: func(_ context.Context, i shards.ChangedInfo) {
					said = append(said, fmt.Sprintf("%s: +%d -%d = %d, %v", name, i.Gained.Len(), i.Lost.Len(), i.Ranges.Len(), i.Err != nil))
					if i.Err != nil {
						loss = i.Err
					}
				},
			}
		}
		group := shards.New(w.client(nil), shards.Options{
			Namespace: "default", Name: "web", Identity: "a", Hooks: tells("config"), OnError: func(error) {},
		})
		ctx, cancel := context.WithCancel(shards.WithHooks(logr.NewContext(w.Context(), logr.Discard()), tells("context")))
		ended := make(chan error)
		go func() { ended <- group.Run(ctx, func(ctx context.Context) error { <-ctx.Done(); return nil }) }()
		is := func(when string, want ...string) {
			t.Helper()
			if !slices.Equal(said, want) {
				t.Errorf("%s: the hooks have said %q, want %q", when, said, want)
			}
			said = nil
		}
		w.pass(time.Second)
		is("at the begin", "config: a of default/web begins, true", "context: a of default/web begins, true",
			"config: +256 -0 = 256, false", "context: +256 -0 = 256, false")
		if s := group.Status(); !s.Lost.IsZero() || s.LostErr != nil {
			t.Errorf("nothing has been lost, and the status says %v, %v", s.Lost, s.LostErr)
		}
		w.server.Intercept(func(*http.Request) http.HandlerFunc { return clienttest.Reset() })
		w.pass(time.Minute)
		is("with no server", "config: +0 -256 = 0, true", "context: +0 -256 = 0, true")
		s := group.Status()
		if lost := (*leader.LostError)(nil); !errors.As(s.LostErr, &lost) || !errors.Is(loss, s.LostErr) || s.Lost != s.Since {
			t.Errorf("the status says that all was lost at %v, by %v; the hook was told %v", s.Lost, s.LostErr, loss)
		}
		w.server.Intercept(nil)
		w.pass(time.Minute)
		is("when it is back", "config: +256 -0 = 256, false", "context: +256 -0 = 256, false")
		if again := group.Status(); again.Lost != s.Lost || again.LostErr == nil || again.Since == s.Since || again.Ranges != meta.AllRanges() {
			t.Errorf("after the loss the status is %v", again)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		is("at the end", "config: +0 -256 = 0, false", "context: +0 -256 = 0, false", "context: ends with 0", "config: ends with 0")
		if again := group.Status(); again.Lost != s.Lost {
			t.Errorf("to give ranges back is no loss: %v", again.Lost)
		}
	})
}
