package client_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// canceling ends a context with the first request, and counts.
type canceling struct {
	next   http.RoundTripper
	cancel context.CancelFunc
	sent   int
}

func (c *canceling) RoundTrip(r *http.Request) (*http.Response, error) {
	c.sent++
	c.cancel()
	return c.next.RoundTrip(r)
}

// What has been read by the time that the context ends is not written.
func TestNothingIsWrittenOnceTheContextHasEnded(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(context.Context, client.Resource[*Slim]) error
		want string
	}{
		{"modify", func(ctx context.Context, r client.Resource[*Slim]) error { return drop(r.Modify(ctx, web, setData)) }, `modify configmaps "web/a": gave up before the first attempt: context canceled`},
		{"ensure", func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop3(r.Ensure(ctx, &Slim{Identity: at(web), Data: map[string]string{"k": "k"}}, client.EnsureOptions{}))
		}, `update configmaps "web/a": context canceled`},
		{"add finalizer", func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop(r.AddFinalizer(ctx, web, "e.x/a", meta.FinalizerOptions{}))
		}, `patch configmaps "web/a": context canceled`},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg, net := through(outcome{answer: answer{body: object("a", "1")}})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c := &canceling{next: net, cancel: cancel}
			cfg.Wrap = func(http.RoundTripper) http.RoundTripper { return c }
			err := test.do(ctx, client.For(dial(t, cfg), slims))
			wantErr(t, err, test.want)
			if !errors.Is(err, context.Canceled) || c.sent != 1 {
				t.Errorf("error is %v after %d requests", err, c.sent)
			}
		})
	}
}
