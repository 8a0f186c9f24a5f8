package informer_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// A program with probes. A real one serves group.Handler() by an http.Server that is another of the Services.
func ExampleGroup() {
	server := clienttest.New(clienttest.Options{})
	c, err := client.New(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	ctx, stop := context.WithCancel(context.Background())
	group := &informer.Group{Services: []informer.Runner{server}}
	reconcile := func(_ context.Context, key meta.Key) (controller.Result, error) {
		w := httptest.NewRecorder()
		group.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
		fmt.Printf("%s is reconciled while /readyz says %s", key, w.Body)
		stop()
		return controller.Result{}, nil
	}
	pods := client.For(c, Pods)
	inf := informer.New(pods, informer.Options{Namespace: "default"})
	group.Runners = []informer.Runner{
		controller.New("pods", controller.Options{}, reconcile, controller.Watch(inf)),
		informer.RunnerFunc(func(ctx context.Context) error {
			_, err := pods.Create(context.WithoutCancel(ctx), pod("a", "one")) // stop may come before the answer
			return err
		}),
	}
	fmt.Println(group.Run(ctx))
	// Output:
	// default/a is reconciled while /readyz says ok
	// <nil>
}
