// Command cluster is package clienttest's API server as a process: it prints its URL in one line and serves until its
// input ends. Unlike the canned server, it stores what it is sent.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
)

func main() {
	lag := flag.Duration("lag", 0, "how far its watches are behind its writes")
	flag.Parse()
	if err := serve(*lag); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func serve(lag time.Duration) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := clienttest.New(clienttest.Options{Listener: listener})
	s.Replica(0).SetLag(0, lag)
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		_, err := io.Copy(io.Discard, os.Stdin)
		cancel(err)
	}()
	fmt.Println("http://" + listener.Addr().String())
	if err := s.Run(ctx); err != nil {
		return err
	}
	if err := context.Cause(ctx); err != context.Canceled {
		return err
	}
	return nil
}
