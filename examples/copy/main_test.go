package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/examples/internal/cluster"
)

func TestAFileGoesThereAndAFolderComesBack(t *testing.T) {
	var out bytes.Buffer
	err := inProcess(func(files containers.Files, disk string) error {
		return cluster.Serve(t.Context(), func(ctx context.Context, c *client.Client) error {
			return demo(ctx, c, disk, &out)
		}, clienttest.Options{Containers: &containers.Server{Run: files.Run}})
	})
	const want = "wrote 12 bytes to /app.conf\n0 files, 12 bytes\n1 files, 12 bytes\ncopied 1 files and 0 folders with tar\napp.conf has \"level=debug\\n\"\n"
	if err != nil || out.String() != want {
		t.Errorf("got %v and\n%s", err, out.String())
	}
}
