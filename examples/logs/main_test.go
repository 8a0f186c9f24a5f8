package main

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/examples/internal/cluster"
)

func TestTheLinesOfTwoPodsComeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		logs := new(containers.Logs)
		err := cluster.Serve(t.Context(), func(ctx context.Context, c *client.Client) error {
			return demo(ctx, c, logs, &out)
		}, clienttest.Options{Containers: &containers.Server{Logs: logs.Serve}})
		const want = `2026-05-01T12:00:00Z web-0/app: request 0
2026-05-01T12:00:01Z web-1/app: request 1
2026-05-01T12:00:02Z web-0/app: request 2
2026-05-01T12:00:03Z web-1/app: request 3
2026-05-01T12:00:04Z web-0/app: request 4
2026-05-01T12:00:05Z web-1/app: request 5
`
		if err != nil || out.String() != want {
			t.Errorf("got %v and\n%s", err, out.String())
		}
	})
}
