package recorder_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/recorder"
)

// Hooks of the options, of the context and of an outer context are all called.
func TestHooksSeeRunsRecordsAndDrops(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	see := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, fmt.Sprintf(format, args...))
	}
	hooks := func(name string) recorder.Hooks {
		return recorder.Hooks{
			Run: func(_ context.Context, r recorder.RunInfo) func() {
				see("%s: %s begins, %t", name, r.Controller, r.Status().Running)
				return func() { see("%s: ends, %v", name, r.Status()) }
			},
			Sent: func(_ context.Context, i recorder.SentInfo) {
				see("%s: sent %s of %s, new %t, %d", name, i.Record.Reason, i.Controller, i.New, i.Count)
			},
			Dropped: func(_ context.Context, i *recorder.DropError) {
				see("%s: dropped %d of %s, %s", name, i.Count, i.Controller, i.Cause)
			},
		}
	}
	bubble(t, recorder.Options{Hooks: hooks("options")}, func(r *rig) {
		ctx := recorder.WithHooks(r.Context(), recorder.Hooks{Run: func(context.Context, recorder.RunInfo) func() { return nil }})
		ctx = recorder.WithHooks(recorder.WithHooks(ctx, hooks("outer")), recorder.Hooks{})
		ctx, cancel := context.WithCancel(ctx)
		done := make(chan error, 1)
		go func() { done <- r.recorder.Run(ctx) }()
		after(time.Second)
		r.pages.Normal(page("a"), "A", "")
		after(time.Second)
		r.pages.Normal(page("a"), "", "")
		after(time.Second)
		cancel()
		if err := <-done; err != nil {
			r.Error(err)
		}
	})
	want := []string{
		`options: example.com/pages begins, true`,
		`outer: example.com/pages begins, true`,
		"options: sent A of example.com/pages, new true, 1",
		"outer: sent A of example.com/pages, new true, 1",
		"options: dropped 1 of example.com/pages, Invalid",
		"outer: dropped 1 of example.com/pages, Invalid",
		"outer: ends, recorded 2, sent 1, waiting 0, dropped 1 (Invalid)",
		"options: ends, recorded 2, sent 1, waiting 0, dropped 1 (Invalid)",
	}
	if got := strings.Join(seen, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("the hooks saw\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}
