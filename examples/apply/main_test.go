package main

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/examples/internal/cluster"
)

func TestAnApplierGivesWayToTheOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		const want = `.spec.replicas is owned by autoscaler
5 replicas of web:2
unchanged: true
`
		work := func(ctx context.Context, c *client.Client) error { return run(ctx, c, "default", &out) }
		if err := cluster.InProcess(t.Context(), work); err != nil || out.String() != want {
			t.Errorf("got %v and\n%s", err, out.String())
		}
	})
}
