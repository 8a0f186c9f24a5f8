package clienttest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/proof/conformance"
)

// A server outside of a test. Run owns its goroutines.
func Example() {
	server := clienttest.New(clienttest.Options{})
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- server.Run(ctx) }()

	config := server.Config() // client.New takes it; here a plain HTTP client does
	c := &http.Client{Transport: &http.Transport{DialContext: config.Dial}}
	show := func(resp *http.Response, err error) {
		if err != nil {
			fmt.Println(err)
			return
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		fmt.Println(strings.TrimSpace(fmt.Sprint(resp.StatusCode, " ", at(string(body), "kind"), " ", at(string(body), "reason"))))
	}
	configMaps := config.Server + "/api/v1/namespaces/default/configmaps"
	show(c.Post(configMaps, "application/json", strings.NewReader(`{"metadata":{"name":"greeting"},"data":{"text":"hello"}}`)))
	show(c.Get(configMaps + "/greeting"))
	show(c.Get(configMaps + "/farewell"))

	stop()
	fmt.Println(<-done)
	// Output:
	// 201 ConfigMap
	// 200 ConfigMap
	// 404 Status NotFound
	// <nil>
}

// Half of the updates fail with a conflict, as if another client were faster.
func ExampleServer_Intercept() {
	server := clienttest.New(clienttest.Options{})
	fail := true
	server.Intercept(func(r *http.Request) http.HandlerFunc {
		if clienttest.RequestOf(r).Verb != "update" {
			return nil // answer as usual
		}
		if fail = !fail; fail {
			return nil
		}
		return clienttest.Conflict()
	})
}

// Faults of the server and of its connections, and how a test observes their effects.
func Example_faults() {
	server := clienttest.New(clienttest.Options{HTTP2: true, Replicas: 2})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	done := make(chan error)
	go func() { done <- server.Run(ctx) }()
	c, err := client.New(server.Config()) // with the CA of the server
	if err != nil {
		fmt.Println(err)
		return
	}
	configMaps := client.For(c, conformance.ConfigMaps)
	create := func(name string) {
		if _, err := configMaps.Create(ctx, &conformance.ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name}}); err != nil {
			fmt.Println(err)
		}
	}

	create("kept")
	backup := server.ResourceVersion()
	create("lost")
	if err := server.Rollback(backup); err != nil {
		fmt.Println(err)
	}
	list, err := configMaps.List(ctx, client.ListOptions{})
	fmt.Println("after a restored backup:", len(list.Items), err)

	server.GoAway() // the next request is on another connection
	list, err = configMaps.List(ctx, client.ListOptions{})
	fmt.Println("after GOAWAY:", len(list.Items), err)

	server.Intercept(func(r *http.Request) http.HandlerFunc {
		if clienttest.RequestOf(r).Verb == "watch" {
			return clienttest.Frames(false, `{"type":"ERROR","object":{"kind":"Status","status":"Failure","code":410,"reason":"Expired"}}`)
		}
		return nil
	})
	for _, err := range configMaps.Watch(ctx, client.WatchOptions{}) {
		fmt.Println("a watch:", errors.Is(err, apierrors.Expired))
	}
	fmt.Println("lists:", server.Requests()[clienttest.Call{Verb: "list", Resource: "configmaps"}])

	c.Close()
	stop()
	fmt.Println(<-done)
	// Output:
	// after a restored backup: 1 <nil>
	// after GOAWAY: 1 <nil>
	// a watch: true
	// lists: 2
	// <nil>
}

// TestVirtualTime is the example for a test in a bubble.
func TestVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{})
		before := h.version(t)
		h.create(t, "a")
		<-time.After(time.Hour)
		if e := h.watch(t, configMaps+"?resourceVersion="+before).next(t); at(string(e.Object), "reason") != "Expired" {
			t.Errorf("got %s %s", e.Type, e.Object)
		}
	})
}

// With the schema of its definition, a custom resource is as strict as on a real server: a misspelled field is an error, or is
// dropped with a warning.
func ExampleResource() {
	server := clienttest.New(clienttest.Options{Resources: []clienttest.Resource{{
		Group: "example.dev", Version: "v1", Kind: "Widget", Resource: "widgets",
		Schema: []byte(`{"type":"object","properties":{"spec":{"type":"object","properties":{"color":{"type":"string"}}}}}`),
	}}})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	done := make(chan error)
	go func() { done <- server.Run(ctx) }()
	c, err := client.New(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}

	widget := &meta.Unstructured{Object: map[string]any{"spec": map[string]any{"colour": "red"}}}
	widget.SetNamespace("default")
	widget.SetName("a")
	widgets := client.For(c, client.Type[*meta.Unstructured]{Group: "example.dev", Version: "v1", Kind: "Widget", Resource: "widgets"})
	_, err = widgets.With(client.WriteOptions{FieldValidation: client.ValidateStrict}).Create(ctx, widget)
	fmt.Println(errors.Is(err, apierrors.BadRequest))
	made, err := widgets.Create(ctx, widget)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(made.Object["spec"])

	c.Close()
	stop()
	fmt.Println(<-done)
	// Output:
	// true
	// map[]
	// <nil>
}
