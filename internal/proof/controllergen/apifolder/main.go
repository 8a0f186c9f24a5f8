// Apifolder is a controller of Bowline whose types stay in an api/ folder with the markers of controller-gen, which
// writes their definition:
//
//	controller-gen crd:maxDescLen=0 paths=./api/... output:crd:dir=config/crd/bases
//
// It sets the condition Ready of each Site in the cluster of the kubeconfig.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/kubeconfig"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	webv1 "github.com/bowline-go/bowline/internal/proof/controllergen/apifolder/api/v1"
)

// siteType is the resource on the server.
var siteType = client.Type[*webv1.Site]{Group: "web.example.com", Version: "v1", Kind: "Site", Resource: "sites"}

// run works until ctx ends.
func run(ctx context.Context, cfg client.Config) error {
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	sites := client.For(c, siteType)
	inf := informer.New(sites, informer.Options{})
	ctl := controller.New("sites", controller.Options{}, func(ctx context.Context, key meta.Key) (controller.Result, error) {
		site, found := inf.Reader().Get(key)
		if !found || meta.IsDeleting(site) {
			return controller.Result{}, nil
		}
		_, err := sites.Status().ModifyWith(ctx, key, func(live *webv1.Site) error {
			apimeta.SetStatusCondition(&live.Status.Conditions, metav1.Condition{
				Type: "Ready", Status: metav1.ConditionTrue, Reason: "Served", ObservedGeneration: site.Generation,
			})
			return nil
		}, client.ModifyOptions{Known: site})
		return controller.Result{}, apierrors.Ignore(err, apierrors.NotFound)
	}, controller.Watch(inf))
	return informer.Run(ctx, ctl)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	loaded, err := kubeconfig.Load(kubeconfig.Options{})
	if err == nil {
		err = run(ctx, loaded.Config)
	}
	if err != nil {
		log.Fatal(err)
	}
}
