package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/controllers"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

func TestTheConfigMapOfADeletedPageIsCollected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{CRDs: []string{"pages.yaml"}})
		controllers.Start(t, server.Config(), controllers.GarbageCollector())
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

		pages, configMaps, key := client.For(c, Pages), client.For(c, ConfigMaps), meta.Key{Namespace: "default", Name: "home"}
		if _, err := pages.Create(t.Context(), &Page{ObjectMeta: key.ObjectMeta()}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if _, err := configMaps.Get(t.Context(), key); err != nil {
			t.Error(err)
		}
		if err := pages.Delete(t.Context(), key, client.DeleteOptions{Propagation: client.Foreground}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if _, err := configMaps.Get(t.Context(), key); !errors.Is(err, apierrors.NotFound) {
			t.Errorf("the ConfigMap is still there: %v", err)
		}
		if _, err := pages.Get(t.Context(), key); !errors.Is(err, apierrors.NotFound) {
			t.Errorf("the page is still there: %v", err)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
