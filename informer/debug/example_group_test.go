package debug_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/debug"
)

// operate runs a Group, and serves the page at an address that only its own machine reaches.
func operate(ctx context.Context, c *client.Client, group *informer.Group) error {
	page, err := debug.Handler(debug.Options{Group: group, Clients: []*client.Client{c}})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:8080") // in a pod, kubectl port-forward reaches it
	if err != nil {
		return err
	}
	group.Services = append(group.Services, serve(l, page))
	ctx = page.Context(ctx)
	return group.Run(ctx)
}

// serve answers HTTP requests until its context ends.
func serve(l net.Listener, h http.Handler) informer.RunnerFunc {
	return func(ctx context.Context) error {
		s := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
		defer context.AfterFunc(ctx, func() { _ = s.Close() })()
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	}
}

// A program with a Group runs it with the context of the page.
func ExamplePage_Context() {
	c, err := client.New(client.Config{Server: "https://cluster.example.com"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	inf := informer.New(client.For(c, configMaps), informer.Options{})
	if err := operate(context.Background(), c, &informer.Group{Runners: []informer.Runner{inf}}); err != nil {
		fmt.Println(err)
	}
}
