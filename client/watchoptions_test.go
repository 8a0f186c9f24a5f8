package client_test

import (
	"context"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// behaviour 15
func TestInvalidWatchOptionsAreRefused(t *testing.T) {
	srv := says(event("ADDED", object("a", "1")))
	r := client.For(connect(t, srv), slims)
	const want = "watch configmaps: client.WatchOptions: Timeout must be a whole, not negative number of seconds, got "
	for _, timeout := range []time.Duration{500 * time.Millisecond, -time.Second, time.Hour + 1} {
		err := watch(t.Context(), r, client.WatchOptions{Timeout: timeout})
		if err == nil || err.Error() != want+timeout.String() {
			t.Errorf("error is %v\n         want %s%v", err, want, timeout)
		}
		is[*client.UsageError](t, err)
	}
	if calls := srv.all(); len(calls) != 0 {
		t.Errorf("the server got %v", calls)
	}
	// A peer refuses 295 s and more, because its own clock ends a watch then. Here the server decides how long it keeps one.
	if err := watch(t.Context(), r, client.WatchOptions{Timeout: 24 * time.Hour}); err != nil {
		t.Error(err)
	}
}

func watch[T meta.Object](ctx context.Context, r client.Resource[T], o client.WatchOptions) error {
	for _, err := range r.Watch(ctx, o) {
		if err != nil {
			return err
		}
	}
	return nil
}
