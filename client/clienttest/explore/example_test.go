package explore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/explore"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// A Box asks for a ConfigMap with a text.
type Box struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Text string `json:"text"`
	} `json:"spec"`
}

type ConfigMap struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

// The resources on the server.
var (
	Boxes      = client.Type[*Box]{Group: "example.com", Version: "v1", Kind: "Box", Resource: "boxes"}
	ConfigMaps = client.Type[*ConfigMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
)

// run is the program.
func run(ctx context.Context, cfg client.Config) error {
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	boxes, maps := informer.New(client.For(c, Boxes), informer.Options{}), client.For(c, ConfigMaps)
	return informer.Run(ctx, controller.New("boxes", controller.Options{},
		func(ctx context.Context, key meta.Key) (controller.Result, error) {
			box, found := boxes.Reader().Get(key)
			if !found {
				return controller.Result{}, nil // the garbage collector deletes the ConfigMap
			}
			want := &ConfigMap{ObjectMeta: key.ObjectMeta(), Data: map[string]string{"text": box.Spec.Text}}
			if err := client.SetController(want, client.OwnerOf(Boxes, box)); err != nil {
				return controller.Result{}, err
			}
			_, _, err := maps.Ensure(ctx, want, client.EnsureOptions{})
			return controller.Result{}, err
		}, controller.Watch(boxes)))
}

// The test of the program, as a user writes it.
func TestTheBoxesSurvive(t *testing.T) {
	explore.Run(t, explore.Plan{
		Server:  clienttest.Options{CRDs: []string{"testdata/boxes.yaml"}},
		Program: run,
		History: func(h *explore.History) {
			box := &Box{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}
			box.Spec.Text = "one"
			explore.Create(h, Boxes, box)
			h.Rest()
			explore.Modify(h, Boxes, box.Key(), func(b *Box) error { b.Spec.Text = "two"; return nil })
		},
		Always: func(s explore.State) error {
			maps, err := explore.Objects(s, ConfigMaps)
			for _, m := range maps {
				if m.Name == "a" && m.Data["text"] == "" { // others have ConfigMaps too
					return errors.New("the ConfigMap is empty")
				}
			}
			return err
		},
		Budget: time.Second,
	})
}
