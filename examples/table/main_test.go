package main

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/examples/internal/cluster"
)

func TestTablesAreThoseOfTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		secrets := client.Type[*meta.Partial]{Version: "v1", Kind: "Secret", Resource: "secrets"}
		var out bytes.Buffer
		err := cluster.InProcess(t.Context(), func(ctx context.Context, c *client.Client) error {
			if err := fill(ctx, c); err != nil {
				return err
			}
			time.Sleep(90 * time.Second) // virtual
			for _, namespace := range []string{"", "default", "kube-public"} {
				if err := show(ctx, client.For(c, secrets), namespace, true, &out); err != nil {
					return err
				}
			}
			return nil
		})
		const want = `NAMESPACE     NAME    TYPE                       DATA   AGE
default       door    Opaque                     1      90s
default       mail    kubernetes.io/basic-auth   2      90s
kube-system   token   Opaque                     0      90s
NAME   TYPE                       DATA   AGE
door   Opaque                     1      90s
mail   kubernetes.io/basic-auth   2      90s
nothing there
`
		if err != nil || out.String() != want {
			t.Errorf("got %v and\n%s", err, out.String())
		}
	})
}
