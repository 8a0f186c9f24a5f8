// Tracing traces a request to a server in the process.
package main

import (
	"context"
	"fmt"
	"log"

	"go.opentelemetry.io/otel/trace/noop"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/tracing"
)

func main() {
	server := clienttest.New(clienttest.Options{})
	c, err := client.New(server.Config())
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(tracing.Context(context.Background(), noop.NewTracerProvider()))
	err = informer.Run(ctx, informer.RunnerFunc(server.Run), informer.RunnerFunc(func(ctx context.Context) error {
		defer stop()
		_, err := client.WhoAmI(ctx, c)
		return err
	}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("ok")
}
