package controller_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// An informer and a controller run again an hour after their first Run has ended. Meanwhile an object was deleted and another one
// created. The second Run reconciles what is there now, whatever runs the two.
func TestASecondRunReconcilesTheCurrentObjects(t *testing.T) {
	type run = func(ctx context.Context, c *client.Client, inf *informer.Informer[*page], ctl *controller.Controller[meta.Key]) error
	for name, twice := range map[string]run{
		"informer.Run": func(ctx context.Context, _ *client.Client, inf *informer.Informer[*page], ctl *controller.Controller[meta.Key]) error {
			return informer.Run(ctx, inf, ctl)
		},
		"Group": func(ctx context.Context, _ *client.Client, _ *informer.Informer[*page], ctl *controller.Controller[meta.Key]) error {
			return (&informer.Group{Runners: []informer.Runner{ctl}}).Run(ctx)
		},
		"leader.Run": func(ctx context.Context, c *client.Client, inf *informer.Informer[*page], ctl *controller.Controller[meta.Key]) error {
			return leader.Run(ctx, c, leader.Options{Namespace: "default", Name: "pages"}, func(ctx context.Context) error { return informer.Run(ctx, inf, ctl) })
		},
		"AddSource": func(ctx context.Context, _ *client.Client, inf *informer.Informer[*page], ctl *controller.Controller[meta.Key]) error {
			ctx, stop := context.WithCancel(ctx)
			defer stop()
			ended := make(chan error, 1)
			go func() { ended <- ctl.Run(ctx) }()
			added, err := ctl.AddSource(controller.Watch(inf))
			if err != nil {
				return err
			}
			if err := added.WaitSynced(ctx); err != nil {
				return err
			}
			err = <-ended
			added.Remove()
			return err
		},
	} {
		for _, reads := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := clienttest.Start(t, clienttest.Options{})
					c, err := client.New(server.Config())
					if err != nil {
						t.Fatal(err)
					}
					maps := client.For(c, pageType)
					make := func(name string) {
						if _, err := maps.Create(t.Context(), &page{ObjectMeta: meta.Key{Namespace: "default", Name: name}.ObjectMeta()}); err != nil {
							t.Fatal(err)
						}
					}
					make("old")
					inf := informer.New(maps, informer.Options{OnError: func(error) {}})
					term, seen := 1, map[int][]string{}
					sources := []controller.Source[meta.Key]{controller.Every(time.Hour, meta.Key{Namespace: "default", Name: "old"})}
					switch {
					case name == "AddSource":
					case reads:
						sources = append(sources, controller.Reads[meta.Key](inf))
					default:
						sources = append(sources, controller.Watch(inf))
					}
					ctl := controller.New("x", controller.Options{}, func(_ context.Context, k meta.Key) (controller.Result, error) {
						if name == "AddSource" && inf.Unsynced() != nil {
							return controller.Result{RequeueAfter: time.Second}, nil // the source is added later, and the workers go on
						}
						for obj := range inf.Reader().All() {
							seen[term] = append(seen[term], obj.Name)
						}
						return controller.Result{}, nil
					}, sources...)
					run := func() {
						ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
						defer cancel()
						if err := twice(ctx, c, inf, ctl); err != nil && !errors.Is(err, context.DeadlineExceeded) {
							t.Error(err)
						}
					}
					run()
					if err := maps.Delete(t.Context(), meta.Key{Namespace: "default", Name: "old"}, client.DeleteOptions{}); err != nil {
						t.Fatal(err)
					}
					make("new")
					time.Sleep(time.Hour)
					term++
					run()
					for term, name := range map[int]string{1: "old", 2: "new"} {
						if len(seen[term]) == 0 {
							t.Errorf("in Run %d nothing was seen", term)
						}
						for _, got := range seen[term] {
							if got != name {
								t.Errorf("in Run %d a reconcile has seen %q", term, got)
							}
						}
					}
				})
			})
		}
	}
}

type page struct {
	meta.ObjectMeta `json:"metadata"`
}

var pageType = client.Type[*page]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
