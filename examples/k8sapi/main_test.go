package main

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// Example is the program, run without flags.
func Example() {
	if err := run(context.Background(), "", os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// node-a [default/web-0 (Running) default/web-2 (Running)]
	// node-b [default/web-1 (Running)]
}

// connect returns a client of a server of the test's own, and the server.
func connect(t *testing.T) (*client.Client, *clienttest.Server) {
	t.Helper()
	server := clienttest.Start(t, clienttest.Options{})
	c, err := client.New(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, server
}

// must returns v, or fails the test.
func must[V any](t *testing.T) func(v V, err error) V {
	return func(v V, err error) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func key(name string) meta.Key { return meta.Key{Namespace: "default", Name: name} }
