package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// Hooks.Retry is called for each retry, with the reason. Here the server is busy at first, and asks the client to come back at once.
func ExampleRetry() {
	ctx, stop := context.WithCancel(context.Background())
	srv := clienttest.New(clienttest.Options{})
	served := make(chan error)
	go func() { served <- srv.Run(ctx) }()

	requests := 0
	srv.Intercept(func(r *http.Request) http.HandlerFunc {
		if requests++; requests == 1 {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(http.StatusTooManyRequests)
			}
		}
		return nil
	})
	cfg := srv.Config()
	cfg.Retry = client.Retry{Attempts: 3, Wait: 10 * time.Millisecond}
	cfg.Hooks.Retry = func(_ context.Context, r client.RequestInfo) {
		fmt.Printf("attempt %d of %s was answered with %d\n", r.Attempt, r.Verb, r.Code)
	}
	c, err := client.New(cfg)
	if err != nil {
		fmt.Println(err)
	}
	list, err := client.For(c, AllSettings).List(ctx, client.ListOptions{Namespace: "default"})
	fmt.Println(len(list.Items), "objects,", err)
	stop()
	<-served
	// Output:
	// attempt 1 of list was answered with 429
	// 0 objects, <nil>
}

// The error of a call that was sent more than once says so; its cause is the error of the last attempt.
func ExampleOpError() {
	var err error = &client.OpError{
		Verb: "update", Resource: AllSettings.GVR(), Key: meta.Key{Namespace: "default", Name: "web"},
		Before: []error{errors.New("connection reset by peer")},
		Err:    errors.New("server said Conflict (409): the object has been modified"),
	}
	fmt.Println(err)
	if e := (*client.OpError)(nil); errors.As(err, &e) {
		fmt.Println(len(e.Before)+1, "attempts")
	}
	// Output:
	// update configmaps "default/web": server said Conflict (409): the object has been modified (attempt 2; attempt 1: connection reset by peer)
	// 2 attempts
}
