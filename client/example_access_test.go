package client_test

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// The server answers whether an access is allowed. The answer no is not an error.
func ExampleCanI() {
	readOnly := clienttest.Options{Authorize: func(a clienttest.Access) (bool, string) {
		return a.Verb == "get" || a.Verb == "list" || a.Verb == "create" && a.Request.Resource.Group == "authorization.k8s.io", "read-only"
	}}
	withServerOf(readOnly, func(ctx context.Context, c *client.Client, _ *clienttest.Server) error {
		for _, verb := range []string{"list", "delete"} {
			answer, err := client.CanI(ctx, c, client.Access{
				Verb: verb, Resource: AllSettings.GVR(), Key: meta.Key{Namespace: "default"},
			})
			if err != nil {
				return err
			}
			fmt.Println(verb, answer.Allowed)
		}
		return nil
	})
	// Output:
	// list true
	// delete false
}

// WhoAmI returns the user that the server takes the client for, also when the client impersonates one.
func ExampleWhoAmI() {
	withServerOf(clienttest.Options{}, func(ctx context.Context, _ *client.Client, srv *clienttest.Server) error {
		cfg := srv.Config()
		cfg.Impersonate = &client.Subject{User: "jane", Groups: []string{"dev"}}
		janes, err := client.New(cfg)
		if err != nil {
			return err
		}
		defer janes.Close()
		who, err := client.WhoAmI(ctx, janes)
		fmt.Println(who.User, who.Groups)
		return err
	})
	// Output:
	// jane [dev system:authenticated]
}

// An http.Client reaches a service of the cluster through the API server.
func ExampleClient_Proxy() {
	withServerOf(clienttest.Options{}, func(ctx context.Context, c *client.Client, srv *clienttest.Server) error {
		srv.Intercept(func(r *http.Request) http.HandlerFunc { // the service
			return func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "asked for ", r.URL.RequestURI()) }
		})
		grafana := &http.Client{Transport: c.Proxy(client.ProxyTarget{
			Resource: "services", Key: meta.Key{Namespace: "monitoring", Name: "grafana"}, Port: "http",
		})}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://grafana/api/health?full", nil)
		if err != nil {
			return err
		}
		resp, err := grafana.Do(req)
		if err != nil {
			return err
		}
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(resp.Body)
		fmt.Println(resp.StatusCode, string(body))
		return err
	})
	// Output:
	// 200 asked for /api/v1/namespaces/monitoring/services/grafana:http/proxy/api/health?full
}
