// Controller is a first controller, for a custom resource, against the cluster that kubectl uses.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/crd"
	"github.com/bowline-go/bowline/client/kubeconfig"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// Site names the fields that this program uses; the decoder skips the others, and a Modify keeps them.
type Site struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Domain string `json:"domain"`
	} `json:"spec"`
	Status struct {
		URL string `json:"url"`
	} `json:"status"`
}

// Sites is the resource on the server.
var Sites = client.Type[*Site]{Group: "example.com", Version: "v1", Kind: "Site", Resource: "sites"}

func run(ctx context.Context, cfg client.Config) error {
	c, err := client.New(cfg)
	if err == nil {
		err = crd.Install(ctx, c, crd.MustOf(Sites, crd.Options{})) // the server serves sites now, with the fields of Site
	}
	if err != nil {
		return err
	}
	sites := client.For(c, Sites)
	inf := informer.New(sites, informer.Options{})
	ctl := controller.New("sites", controller.Options{Workers: 4},
		func(ctx context.Context, key meta.Key) (controller.Result, error) {
			site, found := inf.Reader().Get(key) // shared with everybody: meta.Clone it before a change
			if !found || meta.IsDeleting(site) {
				return controller.Result{}, nil
			}
			_, err := sites.Status().Modify(ctx, key, func(s *Site) error {
				s.Status.URL = "https://" + s.Spec.Domain + "/"
				return nil
			})
			return controller.Result{}, apierrors.Ignore(err, apierrors.NotFound) // the site has been deleted
		}, controller.Watch(inf))
	return informer.Run(ctx, ctl)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	loaded, err := kubeconfig.Load(kubeconfig.Options{})
	if err == nil {
		err = run(ctx, loaded.Config)
	}
	if err != nil {
		log.Fatal(err)
	}
}
