// Package bowline is an operator with Bowline: it keeps a copy of each ConfigMap with a label, while it leads.
package bowline

import (
	"context"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

type ConfigMap struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

var ConfigMaps = client.Type[*ConfigMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

// Run keeps the copies until ctx ends. One replica of the program works at a time.
func Run(ctx context.Context, c *client.Client, namespace string) error {
	maps := client.For(c, ConfigMaps)
	originals := informer.New(maps, informer.Options{Namespace: namespace, LabelSelector: "copy=yes"})
	copied := informer.New(maps, informer.Options{Namespace: namespace, LabelSelector: "copy-of"})

	reconcile := func(ctx context.Context, key meta.Key) (controller.Result, error) {
		original, found := originals.Reader().Get(key)
		if !found || meta.IsDeleting(original) {
			return controller.Result{}, nil // the garbage collector deletes the copy
		}
		want := &ConfigMap{Data: original.Data}
		want.Namespace, want.Name, want.Labels = key.Namespace, key.Name+"-copy", map[string]string{"copy-of": key.Name}
		if err := client.SetController(want, client.OwnerOf(ConfigMaps, original)); err != nil {
			return controller.Result{}, err
		}
		known, _ := copied.Reader().Get(meta.KeyOf(want))
		_, _, err := maps.Ensure(ctx, want, client.EnsureOptions{Known: known})
		return controller.Result{}, err
	}

	group := &informer.Group{
		Leader: leader.New(c, leader.Options{Namespace: namespace, Name: "copies"}),
		Runners: []informer.Runner{controller.New("copies", controller.Options{Workers: 4}, reconcile,
			controller.Watch(originals), controller.Owns(copied, ConfigMaps))},
	}
	return group.Run(ctx)
}
