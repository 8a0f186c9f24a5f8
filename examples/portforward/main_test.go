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

func TestAPageOfAServiceIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		err := cluster.Serve(t.Context(), func(ctx context.Context, c *client.Client) error {
			return demo(ctx, c, &out)
		}, clienttest.Options{Containers: &containers.Server{Dial: serve}})
		const want = "200 OK\n/hello of pod default/web, port 8080\n"
		if err != nil || out.String() != want {
			t.Errorf("got %v and\n%s", err, out.String())
		}
	})
}
