package memnet_test

import (
	"fmt"
	"io"
	"net/http"

	"github.com/bowline-go/bowline/internal/memnet"
)

func Example() {
	l := memnet.Listen()
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "hello from the listener: ", r.Host == l.Addr().String())
	})}
	done := make(chan error)
	go func() { done <- srv.Serve(l) }()

	client := &http.Client{Transport: &http.Transport{DialContext: l.DialContext}}
	resp, err := client.Get("http://" + l.Addr().String())
	if err != nil {
		fmt.Println(err)
		return
	}
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	fmt.Println(string(body))

	srv.Close()
	fmt.Println(<-done)
	// Output:
	// hello from the listener: true
	// http: Server closed
}
