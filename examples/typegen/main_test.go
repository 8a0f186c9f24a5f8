package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/examples/internal/cluster"
)

func TestTheWrittenTypesReadPods(t *testing.T) {
	var out bytes.Buffer
	err := cluster.InProcess(t.Context(), func(ctx context.Context, c *client.Client) error {
		if err := fill(ctx, c); err != nil {
			return err
		}
		return count(ctx, c, &out)
	})
	if want := "   2 Pending   node-0\n   1 Running   node-1\n"; err != nil || out.String() != want {
		t.Errorf("got %v and\n%s", err, out.String())
	}
}
