package main

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/examples/internal/cluster"
)

func TestEnsureKeepsTheDeploymentAsWanted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		const want = `one of two created it: true
somebody scales it to 5
Updated: 2 replicas with labels map[seen-by:somebody shop:bowline-example-shop], owned by ConfigMap
Unchanged: 2 replicas with labels map[seen-by:somebody shop:bowline-example-shop], owned by ConfigMap
`
		work := func(ctx context.Context, c *client.Client) error { return work(ctx, c, "default", &out) }
		if err := cluster.InProcess(t.Context(), work); err != nil || out.String() != want {
			t.Errorf("got %v and\n%s", err, out.String())
		}
	})
}
