package controller_test

import (
	"context"
	"fmt"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// Page is an object with all of its metadata.
type Page struct {
	meta.ObjectMeta `json:"metadata"`
}

// Pages are published outside of the cluster, and taken back before they go.
func ExampleFinalize() {
	server := clienttest.New(clienttest.Options{Resources: []clienttest.Resource{
		{Group: "example.com", Version: "v1", Kind: "Page", Resource: "pages"},
	}})
	c, err := client.New(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	pages := client.For(c, client.Type[*Page]{Group: "example.com", Version: "v1", Kind: "Page", Resource: "pages"})
	inf := informer.New(pages, informer.Options{})

	published, over := make(chan struct{}, 10), make(chan struct{})
	publish := func(context.Context, *Page) (controller.Result, error) {
		published <- struct{}{}
		return controller.Result{}, nil
	}
	unpublish := func(_ context.Context, p *Page) (controller.Result, error) {
		fmt.Println("take back", p.Key())
		return controller.Result{}, nil
	}
	ctl := controller.New("pages", controller.Options{},
		controller.Finalize(pages, inf.Reader(), "example.com/unpublish", publish, unpublish, controller.FinalizeOptions{}),
		controller.Watch(inf))

	ctx, stop := context.WithCancel(context.Background())
	user := informer.RunnerFunc(func(ctx context.Context) error {
		defer close(over)
		key := meta.Key{Namespace: "default", Name: "home"}
		if _, err := pages.Create(ctx, &Page{key.ObjectMeta()}); err != nil {
			return err
		}
		<-published
		page, err := pages.Get(ctx, key)
		if err != nil {
			return err
		}
		fmt.Println("published with", page.Finalizers)
		if err := pages.Delete(ctx, key, client.DeleteOptions{}); err != nil {
			return err
		}
		_, err = client.WaitFor(ctx, pages, key, client.UntilDeleted(page.UID))
		return err
	})
	go func() {
		<-over
		stop()
	}()
	fmt.Println(informer.Run(ctx, server, ctl, user))
	// Output:
	// published with [example.com/unpublish]
	// take back default/home
	// <nil>
}
