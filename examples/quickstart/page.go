package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/informer/debug"
)

// page serves the page of -debug, which shows what the program does.
type page struct {
	*debug.Page
	listener net.Listener
}

// newPage listens at the address. The page also shows the objects of the caches, because these are no secrets.
func newPage(address string, c *client.Client) (*page, error) {
	shown, err := debug.Handler(debug.Options{Title: "quickstart", Objects: true, Clients: []*client.Client{c}})
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return &page{shown, listener}, nil
}

// Run serves the page until ctx ends.
func (p *page) Run(ctx context.Context) error {
	server := &http.Server{
		Handler: p, ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx }, // so that streams of events end
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(p.listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	err := server.Shutdown(patience)
	if errors.Is(err, context.DeadlineExceeded) { // somebody does not read the answer
		err = server.Close()
	}
	<-failed
	return err
}
