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
	http2 := flag.Bool("http2", false, "serve HTTP/2 by TLS, as an API server does, with a certificate that no client knows")
	flag.Parse()
	if err := serve(*lag, *http2); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func serve(lag time.Duration, http2 bool) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := clienttest.New(clienttest.Options{Listener: listener, HTTP2: http2})
	s.Replica(0).SetLag(0, lag)
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		_, err := io.Copy(io.Discard, os.Stdin)
		cancel(err)
	}()
	scheme := "http://"
	if http2 {
		scheme = "https://"
	}
	fmt.Println(scheme + listener.Addr().String())
	if err := s.Run(ctx); err != nil {
		return err
	}
	if err := context.Cause(ctx); err != context.Canceled {
		return err
	}
	return nil
}
