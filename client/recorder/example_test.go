package recorder_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/recorder"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// withServer runs an example against an API server in this process.
func withServer(f func(ctx context.Context, c *client.Client) error) {
	ctx, stop := context.WithCancel(context.Background())
	srv := clienttest.New(clienttest.Options{})
	served := make(chan error)
	go func() { served <- srv.Run(ctx) }()
	c, err := client.New(srv.Config())
	if err == nil {
		err = f(ctx, c)
	}
	stop()
	if err := errors.Join(err, <-served); err != nil {
		fmt.Println(err)
	}
}

// kubectlGetEvents prints some of the columns of kubectl get events.
func kubectlGetEvents(ctx context.Context, c *client.Client) error {
	events := client.For(c, client.Type[*meta.Unstructured]{Version: "v1", Kind: "Event", Resource: "events"})
	table, err := events.Table(ctx, client.ListOptions{Namespace: "default"}, client.TableOptions{})
	if err != nil {
		return err
	}
	for _, row := range table.Rows {
		var cells []string
		for i, column := range table.Columns {
			switch column.Name {
			case "Type", "Reason", "Object", "Message", "Count":
				cells = append(cells, fmt.Sprint(row.Cells[i]))
			}
		}
		fmt.Println(strings.Join(cells, " | "))
	}
	return nil
}

// A controller that says what it does. Repeated records are counted.
func Example() {
	withServer(func(ctx context.Context, c *client.Client) error {
		rec := recorder.New(c, recorder.Options{Controller: "example.com/page-controller"})
		running, stop := context.WithCancel(ctx)
		done := make(chan error)
		go func() { done <- rec.Run(running) }()

		records := recorder.For(rec, Pages)
		page := &Page{meta.Identity{Namespace: "default", Name: "home", UID: "1234"}}
		records.Normalf(page, "Published", "published %d files", 3)
		for range 5 {
			records.Warning(page, "PublishFailed", "publish to example.com: connection refused")
		}

		stop() // Run sends what waits, and returns
		if err := <-done; err != nil {
			return err
		}
		fmt.Println(rec.Status())
		return kubectlGetEvents(ctx, c)
	})
	// Output:
	// recorded 6, sent 6, waiting 0
	// Normal | Published | page/home | published 3 files | 1
	// Warning | PublishFailed | page/home | publish to example.com: connection refused | 5
}

// In a Group the recorder is a service: it outlives the controllers, so that their last records are sent too.
func Example_group() {
	withServer(func(ctx context.Context, c *client.Client) error {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		rec := recorder.New(c, recorder.Options{Controller: "example.com/settings-controller"})
		settings := client.Type[*Page]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
		records := recorder.For(rec, settings)
		inf := informer.New(client.For(c, settings), informer.Options{Namespace: "default"})
		reconcile := func(_ context.Context, key meta.Key) (controller.Result, error) {
			if obj, ok := inf.Reader().Get(key); ok {
				records.Normal(obj, "Applied", "applied the settings")
				stop()
			}
			return controller.Result{}, nil
		}
		group := &informer.Group{
			Services: []informer.Runner{rec},
			Runners:  []informer.Runner{controller.New("settings", controller.Options{}, reconcile, controller.Watch(inf))},
		}
		if _, err := client.For(c, settings).Create(ctx, &Page{meta.Identity{Namespace: "default", Name: "web"}}); err != nil {
			return err
		}
		if err := group.Run(ctx); err != nil {
			return err
		}
		return kubectlGetEvents(context.WithoutCancel(ctx), c)
	})
	// Output:
	// Normal | Applied | configmap/web | applied the settings | 1
}

// A record about an object and a related one.
func ExampleRecorder_Record() {
	withServer(func(ctx context.Context, c *client.Client) error {
		rec := recorder.New(c, recorder.Options{Controller: "example.com/page-controller"})
		page := &Page{meta.Identity{Namespace: "default", Name: "home", UID: "1234"}}
		site := &Page{meta.Identity{Name: "example.com", UID: "5678"}}
		rec.Record(recorder.Record{
			Regarding: recorder.ReferenceTo(Pages, page),
			Related:   recorder.ReferenceTo(Sites, site),
			Action:    "Publish",
			Reason:    "Published",
			Note:      "published 3 files to example.com",
		})
		rec.Record(recorder.Record{Regarding: recorder.ReferenceTo(Pages, page), Note: "without a reason"})
		fmt.Println(rec.Status())

		ended, stop := context.WithCancel(ctx)
		stop()
		if err := rec.Run(ended); err != nil {
			return err
		}
		return kubectlGetEvents(ctx, c)
	})
	// Output:
	// recorded 2, sent 0, waiting 1, dropped 1 (Invalid)
	// Normal | Published | page/home | published 3 files to example.com | 1
}

// A program that counts the records that it loses.
func ExampleHooks() {
	withServer(func(ctx context.Context, c *client.Client) error {
		ctx, stop := context.WithCancel(ctx)
		stop()
		ctx = recorder.WithHooks(ctx, recorder.Hooks{
			Sent:    func(_ context.Context, i recorder.SentInfo) { fmt.Println("sent:", i.Record.Reason, i.Count) },
			Dropped: func(_ context.Context, e *recorder.DropError) { fmt.Println("dropped:", e.Cause, e.Count) },
		})
		silent := func(error) {} // the hook says it all
		rec := recorder.New(c, recorder.Options{Controller: "example.com/page-controller", Burst: 1, OnError: silent})
		records := recorder.For(rec, Pages)
		for i := range 10 {
			records.Normal(&Page{meta.Identity{Namespace: "default", Name: "home", UID: "1234"}}, fmt.Sprint("Reason", i), "")
		}
		return rec.Run(ctx)
	})
	// Output:
	// dropped: Spam 9
	// sent: Reason0 1
}
