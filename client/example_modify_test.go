package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// Labelled has the fields of a config map that a program needs to label it.
type Labelled struct {
	meta.Identity `json:"metadata"`
	Data          map[string]string `json:"data,omitempty"`
}

// Update refuses to remove fields that its type does not have; Modify keeps them.
func ExampleResource_Update() {
	withServer(func(ctx context.Context, c *client.Client) error {
		whole := &meta.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"namespace": "default", "name": "web", "labels": map[string]any{"app": "web"}},
			"data":     map[string]any{"color": "green"},
		}}
		configMaps := client.Type[*meta.Unstructured]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
		if _, err := client.For(c, configMaps).Create(ctx, whole); err != nil {
			return err
		}

		parts := client.For(c, client.Type[*Labelled](configMaps))
		part, err := parts.Get(ctx, meta.KeyOf(whole))
		if err != nil {
			return err
		}
		part.Data["color"] = "red"
		_, err = parts.Update(ctx, part)
		fmt.Println(err)

		if _, err := parts.Modify(ctx, meta.KeyOf(part), func(l *Labelled) error {
			l.Data["color"] = "red"
			return nil
		}); err != nil {
			return err
		}
		whole, err = client.For(c, configMaps).Get(ctx, meta.KeyOf(part))
		fmt.Println(whole.GetLabels(), whole.Object["data"])
		return err
	})
	// Output:
	// update configmaps "default/web": *client_test.Labelled has no field for /metadata/labels, which the server's object has and this update would remove: use Modify or Patch
	// map[app:web] map[color:red]
}

// If Modify cannot know whether it has written, its error says so.
func ExampleModifyError() {
	withServerOf(clienttest.Options{}, func(ctx context.Context, c *client.Client, srv *clienttest.Server) error {
		settings := client.For(c, AllSettings)
		key := meta.Key{Namespace: "default", Name: "web"}
		if _, err := settings.Create(ctx, &Settings{Identity: meta.Identity{Namespace: key.Namespace, Name: key.Name}}); err != nil {
			return err
		}
		srv.Intercept(func(r *http.Request) http.HandlerFunc {
			if r.Method != http.MethodPut {
				return nil
			}
			return clienttest.Answer(meta.Status{Code: 504, Reason: "Timeout", Message: "request did not complete within the allotted timeout"})
		})
		_, err := settings.Modify(ctx, key, func(s *Settings) error {
			s.Data = map[string]string{"color": "red"}
			return nil
		})
		if lost := (*client.ModifyError)(nil); errors.As(err, &lost) && lost.MayHaveWritten {
			fmt.Println("look before it is done again:", err)
		}
		return nil
	})
	// Output:
	// look before it is done again: modify configmaps "default/web": gave up after attempt 1, which may have been written: update configmaps "default/web": server said Timeout (504): request did not complete within the allotted timeout
}

// Website is a custom resource with a status subresource.
type Website struct {
	meta.ObjectMeta `json:"metadata"`
	Status          struct {
		Phase string `json:"phase,omitempty"`
	} `json:"status,omitzero"`
}

// The server silently ignores a change of status that is not sent to the status subresource. Modify reports it.
func ExampleUsageError() {
	sites := client.Type[*Website]{Group: "example.com", Version: "v1", Kind: "Website", Resource: "websites"}
	o := clienttest.Options{Resources: []clienttest.Resource{{
		Group: sites.Group, Version: sites.Version, Kind: sites.Kind, Resource: sites.Resource, Status: true,
	}}}
	withServerOf(o, func(ctx context.Context, c *client.Client, _ *clienttest.Server) error {
		r := client.For(c, sites)
		site := &Website{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "web"}}
		if _, err := r.Create(ctx, site); err != nil {
			return err
		}
		ready := func(w *Website) error { w.Status.Phase = "Ready"; return nil }
		_, err := r.Modify(ctx, meta.KeyOf(site), ready)
		fmt.Println(err)
		site, err = r.Status().Modify(ctx, meta.KeyOf(site), ready)
		fmt.Println(site.Status.Phase)
		return err
	})
	// Output:
	// modify websites.example.com "default/web": server ignored the change of status, which is written through Resource.Status
	// Ready
}
