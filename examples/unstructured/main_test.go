package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/examples/internal/cluster"
)

func TestUnstructuredShowsAndSetsAField(t *testing.T) {
	deployments := client.Type[*meta.Unstructured]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}
	var out bytes.Buffer
	err := cluster.InProcess(t.Context(), func(ctx context.Context, c *client.Client) error {
		if err := fill(ctx, c); err != nil {
			return err
		}
		for _, step := range []struct {
			path  []string
			value string
		}{
			{[]string{"spec", "replicas"}, ""},
			{[]string{"spec", "replicas"}, "3"},
			{[]string{"metadata", "annotations", "note"}, ""},
			{[]string{"metadata", "annotations", "note"}, "by hand"},
		} {
			if err := show(ctx, client.For(c, deployments), step.path, step.value, &out); err != nil {
				return err
			}
		}
		return nil
	})
	const want = `default/api: 1
default/web: 2
default/api: 3
default/web: 3
default/api: has none
default/web: has none
default/api: by hand
default/web: by hand
`
	if err != nil || out.String() != want {
		t.Errorf("got %v and\n%s", err, out.String())
	}
}
