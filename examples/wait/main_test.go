package main

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/examples/internal/cluster"
)

func TestWaitReturnsWhenThePodIsReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		const want = `not ready in time: it does not exist
default/web is ready, and its phase is Running
`
		work := func(ctx context.Context, c *client.Client) error { return demo(ctx, c, &out) }
		if err := cluster.InProcess(t.Context(), work); err != nil || out.String() != want {
			t.Errorf("got %v and\n%s", err, out.String())
		}
	})
}
