package apiserver_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest/apiserver"
	"github.com/bowline-go/bowline/client/meta"
)

// The minor releases that the package builds.
func ExampleMinors() {
	fmt.Println(apiserver.Minors())
	// Output: [1.37 1.36 1.35]
}

// A server outside of a test, with its controllers. Run owns the processes. This example only compiles, because the first
// build of the servers takes minutes.
func Example() {
	server := apiserver.New(apiserver.Options{ControllerManager: true, Progress: os.Stderr})
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	if err := server.WaitReady(ctx); err != nil {
		log.Fatal(err)
	}
	c, err := client.New(server.Config())
	if err != nil {
		log.Fatal(err)
	}
	namespaces := client.For(c, client.Type[*meta.Partial]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster})
	list, err := namespaces.List(ctx, client.ListOptions{})
	fmt.Println(len(list.Items), err, server.Kubeconfig())
	c.Close()
	stop()
	fmt.Println(<-done)
}

// An option that cannot be used is an error of Run.
func ExampleServer_Run() {
	err := apiserver.New(apiserver.Options{Minor: "1.2"}).Run(context.Background())
	fmt.Println(err)
	// Output: apiserver.Options: Minor: minor release of Kubernetes "1.2": must be one of ["1.37" "1.36" "1.35"], or empty for the newest
}
