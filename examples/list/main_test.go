package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/examples/internal/cluster"
)

func TestListCountsObjectsAndReportsProgress(t *testing.T) {
	var out, progress bytes.Buffer
	err := cluster.InProcess(t.Context(), func(ctx context.Context, c *client.Client) error {
		if err := fill(ctx, c); err != nil {
			return err
		}
		return count(ctx, c, 300, &out, &progress)
	})
	if want := "   667 default\n   333 kube-system\n  1000 in all\n"; err != nil || out.String() != want {
		t.Errorf("got %v and\n%s", err, out.String())
	}
	lines := strings.Split(strings.TrimSpace(progress.String()), "\r")
	if len(lines) != 4 || !strings.Contains(lines[0], "700 after the page") || !strings.Contains(lines[2], "100 after the page") || !strings.Contains(lines[3], "the last page") {
		t.Errorf("the progress is %q", lines)
	}
}
