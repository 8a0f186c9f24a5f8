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
	server := &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })() // streams of events end too
	if err := server.Serve(p.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
