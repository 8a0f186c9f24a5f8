// Operator is a controller with an owned object, a finalizer and a status condition, against the cluster that kubectl uses.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"os/signal"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/kubeconfig"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// Page is a custom resource. Its CustomResourceDefinition has a status subresource.
type Page struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Text string `json:"text"`
	} `json:"spec"`
	Status struct {
		Conditions []meta.Condition `json:"conditions,omitempty"`
	} `json:"status"`
}

// ConfigMap has the fields of a ConfigMap that this program uses.
type ConfigMap struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

// Where the server has them.
var (
	Pages      = client.Type[*Page]{Group: "example.com", Version: "v1", Kind: "Page", Resource: "pages"}
	ConfigMaps = client.Type[*ConfigMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
)

type operator struct {
	pages      client.Resource[*Page]
	configMaps client.Resource[*ConfigMap]
	pageCache  *informer.Informer[*Page]
	mapCache   *informer.Informer[*ConfigMap]
	unpublish  func(*Page) error // the cleanup
}

func run(ctx context.Context, cfg client.Config, unpublish func(*Page) error) error {
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	o := &operator{pages: client.For(c, Pages), configMaps: client.For(c, ConfigMaps), unpublish: unpublish}
	o.pageCache = informer.New(o.pages, informer.Options{})
	o.mapCache = informer.New(o.configMaps, informer.Options{})
	ctl := controller.New("pages", controller.Options{Workers: 4},
		controller.Finalize(o.pages, o.pageCache.Reader(), "example.com/unpublish", o.reconcile, o.delete),
		controller.Watch(o.pageCache), controller.Owns(o.mapCache, Pages))
	return informer.Run(ctx, ctl)
}

// reconcile is called for pages that have the finalizer.
func (o *operator) reconcile(ctx context.Context, page *Page) (controller.Result, error) {
	failed := o.publish(ctx, page)
	ready := meta.Condition{Type: "Ready", Status: meta.ConditionTrue, Reason: "Published"}
	if failed != nil {
		ready.Status, ready.Reason, ready.Message = meta.ConditionFalse, "Failed", failed.Error()
	}
	_, err := o.pages.Status().Modify(ctx, page.Key(), func(live *Page) error {
		return meta.SetCondition(&live.Status.Conditions, page.Generation, ready)
	}, client.ModifyOptions{Known: page}) // sends nothing if the cached page has the condition
	return controller.Result{}, errors.Join(failed, apierrors.Ignore(err, apierrors.NotFound))
}

// publish makes the server have the page's ConfigMap.
func (o *operator) publish(ctx context.Context, page *Page) error {
	want := &ConfigMap{ObjectMeta: page.Key().ObjectMeta(), Data: map[string]string{"text": page.Spec.Text}}
	if err := client.SetController(want, client.OwnerOf(Pages, page)); err != nil {
		return err
	}
	known, _ := o.mapCache.Reader().Get(page.Key()) // nil if there is none
	_, _, err := o.configMaps.Ensure(ctx, want, client.EnsureOptions{Known: known})
	return err
}

// delete is called before a page goes. The server's garbage collector deletes the ConfigMap.
func (o *operator) delete(_ context.Context, page *Page) (controller.Result, error) {
	return controller.Result{}, o.unpublish(page)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	loaded, err := kubeconfig.Load(kubeconfig.Options{})
	if err == nil {
		err = run(ctx, loaded.Config, func(p *Page) error {
			log.Printf("%s is not published any more", p.Key())
			return nil
		})
	}
	if err != nil {
		log.Fatal(err)
	}
}
