package debug_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/debug"
)

// The page shows what runs with its context. A program serves it on an address of its own, or below a path of its mux; here a test
// asks for it as JSON.
func Example() {
	server := clienttest.New(clienttest.Options{})
	c, err := client.New(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	page, err := debug.Handler(debug.Options{Title: "packer", Clients: []*client.Client{c}})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/debug/bowline/", page)

	inf := informer.New(client.For(c, configMaps), informer.Options{})
	errDone := errors.New("done")
	look := func(ctx context.Context) error {
		if err := inf.WaitSynced(ctx); err != nil {
			return err
		}
		r := httptest.NewRequest(http.MethodGet, "/debug/bowline/", nil)
		r.Header.Set("Accept", "application/json")
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		var shown struct {
			Caches []struct {
				Resource string
				Synced   bool
				Objects  int
			}
			Problems []any
		}
		if err := json.Unmarshal(w.Body.Bytes(), &shown); err != nil {
			return err
		}
		fmt.Printf("%+v\n", shown)
		return errDone
	}
	ctx := page.Context(context.Background())
	if err := informer.Run(ctx, informer.RunnerFunc(server.Run), inf, informer.RunnerFunc(look)); err != errDone {
		fmt.Println(err)
	}
	// Output:
	// {Caches:[{Resource:configmaps.v1 Synced:true Objects:0}] Problems:[]}
}
