package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/examples/internal/cluster"
)

func TestASiteComesAndGoes(t *testing.T) {
	var out bytes.Buffer
	err := cluster.InProcess(t.Context(), func(ctx context.Context, c *client.Client) error {
		if err := work(ctx, c, &out); err != nil {
			return err
		}
		list, err := client.For(c, Sites).List(ctx, client.ListOptions{})
		if err == nil && len(list.Items) != 0 {
			t.Errorf("%d sites are left", len(list.Items))
		}
		return err
	})
	const want = `made default/bowline-example {example.com 0}
changed to {example.com 3}
published at https://example.com/
listed bowline-example 3 https://example.com/
`
	if err != nil || out.String() != want {
		t.Errorf("got %v and\n%s", err, out.String())
	}
}
