package certificates_test

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/webhook"
	"github.com/bowline-go/bowline/client/webhook/certificates"
	"github.com/bowline-go/bowline/informer"
)

func ExampleNew() {
	ctx, stop := context.WithCancel(logr.NewContext(context.Background(), logr.Discard()))
	defer stop()
	cluster := clienttest.New(clienttest.Options{Objects: []string{"testdata/namespace.yaml", "testdata/plain.yaml"}})
	go func() { _ = cluster.Run(ctx) }()
	c, err := client.New(cluster.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	service := meta.Key{Namespace: "web", Name: "hooks"}
	mux := http.NewServeMux()
	mux.Handle("/validate", webhook.Validate(secrets, func(_ context.Context, r *webhook.Request[*Secret]) error {
		return webhook.Invalid("data", "must have a key")
	}))
	server := &webhook.Server{
		Handler:  mux,
		Listener: cluster.ListenService(service), // in a cluster: net.Listen("tcp", ":9443")
		Certificates: certificates.New(c, certificates.Options{
			Secret: meta.Key{Namespace: "web", Name: "hooks-certificate"}, Service: service, Validating: []string{"plain"},
		}),
	}
	group := &informer.Group{Services: []informer.Runner{server}}
	ended := make(chan error, 1)
	go func() { ended <- group.Run(ctx) }()
	for tick := time.Tick(10 * time.Millisecond); group.Ready() != nil; <-tick { // a readiness probe asks this
	}

	_, err = client.For(c, secrets).Create(ctx, &Secret{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "empty"}})
	fmt.Println(err)
	stop()
	fmt.Println(<-ended)
	// Output:
	// create secrets "default/empty": server said Invalid (422): admission webhook "plain.example.com" denied the request: Secret "empty" is invalid: data: must have a key
	// <nil>
}
