package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
)

func TestListCountsAndSaysHowFarItIs(t *testing.T) {
	var out, progress bytes.Buffer
	err := play(t.Context(), "", "", func(ctx context.Context, c *client.Client) error {
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

func TestAKubeconfigThatIsNotThere(t *testing.T) {
	if err := play(t.Context(), t.TempDir()+"/none", "", nil); err == nil {
		t.Error("it worked")
	}
}
