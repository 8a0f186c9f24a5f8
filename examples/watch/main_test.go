package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/examples/internal/cluster"
)

func TestWatchPrintsWhatHappens(t *testing.T) {
	var out bytes.Buffer
	const want = `0 there at the start
ADDED default/lights map[color:red]
MODIFIED default/lights map[color:green]
DELETED default/lights map[color:green]
`
	work := func(ctx context.Context, c *client.Client) error { return demo(ctx, c, &out) }
	if err := cluster.InProcess(t.Context(), work); err != nil || out.String() != want {
		t.Errorf("got %v and\n%s", err, out.String())
	}
}
