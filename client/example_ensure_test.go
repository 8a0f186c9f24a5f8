package client_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// Ensure reports what it did. It keeps fields that others have set, and sends nothing if there is nothing to change.
func ExampleResource_Ensure() {
	withServer(func(ctx context.Context, c *client.Client) error {
		settings := client.For(c, AllSettings)
		want := &Settings{Identity: meta.Identity{Namespace: "default", Name: "web"}, Data: map[string]string{"color": "green"}}
		for _, color := range []string{"green", "green", "blue"} {
			want.Data["color"] = color
			got, outcome, err := settings.Ensure(ctx, want, client.EnsureOptions{})
			if err != nil {
				return err
			}
			fmt.Println(outcome, got.Data)
		}
		want.UID = "of another object"
		_, _, err := settings.Ensure(ctx, want, client.EnsureOptions{})
		fmt.Println(errors.Is(err, apierrors.Conflict))
		return nil
	})
	// Output:
	// Created map[color:green]
	// Unchanged map[color:green]
	// Updated map[color:blue]
	// true
}

// An object with a finalizer exists until the finalizer's owner has cleaned up and removed it.
func ExampleResource_AddFinalizer() {
	const cleanup = "example.com/cleanup"
	withServer(func(ctx context.Context, c *client.Client) error {
		settings := client.For(c, AllSettings)
		key := meta.Key{Namespace: "default", Name: "web"}
		if _, err := settings.Create(ctx, &Settings{Identity: meta.Identity{Namespace: key.Namespace, Name: key.Name}}); err != nil {
			return err
		}
		if _, err := settings.AddFinalizer(ctx, key, cleanup, meta.FinalizerOptions{}); err != nil {
			return err
		}
		if err := settings.Delete(ctx, key, client.DeleteOptions{}); err != nil {
			return err
		}
		_, err := settings.AddFinalizer(ctx, key, "example.com/late", meta.FinalizerOptions{})
		fmt.Println(err)
		if _, err := settings.RemoveFinalizer(ctx, key, cleanup, meta.FinalizerOptions{}); err != nil { // after the clean-up
			return err
		}
		_, err = settings.Get(ctx, key)
		fmt.Println(errors.Is(err, apierrors.NotFound))
		return nil
	})
	// Output:
	// add finalizer to configmaps "default/web": the object is being deleted, and waits for the finalizers ["example.com/cleanup"]
	// true
}

// Part is an object that another owns.
type Part struct {
	meta.ObjectMeta `json:"metadata"`
}

// The owner's kind comes from its descriptor, so the owner itself need not have it.
func ExampleSetController() {
	owner := &Settings{Identity: meta.Identity{Namespace: "default", Name: "web", UID: "0a1b"}}
	part := &Part{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "part"}}
	if err := client.SetController(part, client.OwnerOf(AllSettings, owner)); err != nil {
		fmt.Println(err)
		return
	}
	controller, _ := meta.ControllerOf(part)
	fmt.Println(controller.Kind, controller.Name, controller.UID)

	other := &Settings{Identity: meta.Identity{Namespace: "default", Name: "other", UID: "2c3d"}}
	fmt.Println(client.SetController(part, client.OwnerOf(AllSettings, other)))
	fmt.Println(client.AddOwner(part, client.OwnerOf(AllSettings, other)), len(part.OwnerReferences)) // one of several
	fmt.Println(client.RemoveOwner(part, client.OwnerOf(AllSettings, other)), len(part.OwnerReferences))
	// Output:
	// ConfigMap web 0a1b
	// client.SetController: "default/part" is controlled by ConfigMap "web" (uid "0a1b"), not by ConfigMap "other" (uid "2c3d")
	// <nil> 2
	// <nil> 1
}
