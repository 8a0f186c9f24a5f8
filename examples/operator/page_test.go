package main

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

func TestAPageIsPublished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{CRDs: []string{"pages.yaml"}})
		c, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- run(ctx, server.Config(), "default", false, nil, nil, func(*Page) error { return nil })
		}()

		page := &Page{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "home"}}
		page.Spec.Text = "hello"
		if _, err := client.For(c, Pages).Create(t.Context(), page); err != nil {
			t.Fatal(err)
		}
		server.DropWatches()    // a fault
		time.Sleep(time.Minute) // passes at once
		made, err := client.For(c, ConfigMaps).Get(t.Context(), page.Key())
		if err != nil || made.Data["text"] != "hello" {
			t.Errorf("the ConfigMap is %+v, %v", made, err)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
