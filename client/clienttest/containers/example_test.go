package containers_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
)

// A test of a program that restarts a server by a signal, and reads the exit code.
func ExampleServer() {
	server := clienttest.New(clienttest.Options{Containers: &containers.Server{
		Run: func(_ context.Context, p *containers.Process) int {
			fmt.Fprintf(p.Stdout, "%s in %s\n", strings.Join(p.Args, " "), p.Container)
			return 3
		},
	}})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	done := make(chan error)
	go func() { done <- server.Run(ctx) }()

	c, err := client.New(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	pods := client.For(c, client.Type[*meta.Unstructured]{Version: "v1", Kind: "Pod", Resource: "pods"})
	web := &meta.Unstructured{}
	err = web.UnmarshalJSON([]byte(`{"metadata": {"namespace": "default", "name": "web"}, "spec": {"containers": [{"name": "nginx", "image": "nginx"}]}}`))
	if err == nil {
		_, err = pods.Create(ctx, web)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := remote.Command(pods, meta.KeyOf(web), "kill", "-HUP", "1").Output(ctx)
	fmt.Print(string(out))
	if exit := (*remote.ExitError)(nil); errors.As(err, &exit) {
		fmt.Println("exit code", exit.Code)
	}

	stop()
	fmt.Println(<-done)
	// Output:
	// kill -HUP 1 in nginx
	// exit code 3
	// <nil>
}
