package discovery_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// serve runs a server for an example, until the returned function is called.
func serve(resources ...clienttest.Resource) (context.Context, *client.Client, func()) {
	server := clienttest.New(clienttest.Options{Resources: resources})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- server.Run(ctx) }()
	c, err := client.New(server.Config())
	if err != nil {
		panic(err)
	}
	return ctx, c, func() { cancel(); <-done; c.Close() }
}

// A manifest's kind leads to its resource, and a client creates the object.
func ExampleCatalog_Resource() {
	ctx, c, stop := serve()
	defer stop()
	catalog := discovery.New(c, discovery.Options{})

	for _, manifest := range []string{
		`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "colours", "namespace": "default"}}`,
		`{"apiVersion": "example.dev/v1", "kind": "Widget", "metadata": {"name": "w"}}`,
	} {
		var obj meta.Unstructured
		if err := json.Unmarshal([]byte(manifest), &obj); err != nil {
			fmt.Println(err)
			continue
		}
		r, err := catalog.Resource(ctx, obj.GVK())
		if errors.Is(err, apierrors.NotFound) {
			fmt.Println("not here:", err)
			continue
		} else if err != nil {
			fmt.Println(err)
			continue
		}
		created, err := client.For(c, r.Type()).Create(ctx, &obj)
		fmt.Println(r.GVR(), r.Scope, meta.KeyOf(created), err)
	}
	// Output:
	// configmaps.v1 Namespaced default/colours <nil>
	// not here: the server has no resource "Widget.example.dev/v1": searched group version example.dev/v1
}

// Find accepts the names that a person types.
func ExampleCatalog_Find() {
	ctx, c, stop := serve(clienttest.Resource{
		Group: "metrics.example.dev", Version: "v1", Kind: "PodMetrics", Resource: "pods", Singular: "pod",
	})
	defer stop()
	catalog := discovery.New(c, discovery.Options{})
	for _, name := range []string{"deploy", "deployments.apps", "Pod", "pods.metrics"} {
		best, others, err := catalog.Find(ctx, name)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Print(best.GVR(), " ", best.Kind)
		for _, other := range others {
			fmt.Print(", could be ", other.GVR())
		}
		fmt.Println()
	}
	// Output:
	// deployments.apps/v1 Deployment
	// deployments.apps/v1 Deployment
	// pods.v1 Pod, could be pods.metrics.example.dev/v1
	// pods.metrics.example.dev/v1 PodMetrics
}

// Category finds the resources of a category; the program lists their objects.
func ExampleCatalog_Category() {
	ctx, c, stop := serve(clienttest.Resource{
		Version: "v1", Group: "example.dev", Kind: "Widget", Resource: "widgets", Categories: []string{"toys"},
	})
	defer stop()
	widget := &meta.Unstructured{Object: map[string]any{
		"apiVersion": "example.dev/v1", "kind": "Widget", "metadata": map[string]any{"name": "w", "namespace": "default"},
	}}
	resources, err := discovery.New(c, discovery.Options{}).Category(ctx, "toys")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range resources {
		toys := client.For(c, r.Type())
		if _, err := toys.Create(ctx, widget); err != nil {
			fmt.Println(err)
		}
		for toy, err := range toys.All(ctx, client.ListOptions{}) {
			if err != nil {
				fmt.Println(err)
				break
			}
			fmt.Println(r.Singular, meta.KeyOf(toy))
		}
	}
	// Output:
	// widget default/w
}

// Preferred returns each resource in one version.
func ExampleCatalog_Preferred() {
	ctx, c, stop := serve()
	defer stop()
	resources, err := discovery.New(c, discovery.Options{}).Preferred(ctx)
	if down := (*discovery.DownError)(nil); errors.As(err, &down) {
		fmt.Println("not everything:", down) // the rest can be used
	} else if err != nil {
		fmt.Println(err)
	}
	for _, r := range resources {
		if r.Group == "apps" && r.Can("watch") {
			fmt.Println(r.Name, r.ShortNames)
		}
	}
	// Output:
	// controllerrevisions []
	// daemonsets [ds]
	// deployments [deploy]
	// replicasets [rs]
	// statefulsets [sts]
}

// A program can use a kind only if the server has it.
func ExampleCatalog_Has() {
	ctx, c, stop := serve()
	defer stop()
	catalog := discovery.New(c, discovery.Options{})
	fmt.Println(catalog.Has(ctx, meta.GVK{Group: "apps", Version: "v1"}))
	fmt.Println(catalog.Has(ctx, meta.GVK{Group: "gateway.networking.k8s.io"}))
	// Output:
	// true <nil>
	// false <nil>
}

// OpenAPI returns a document as the server wrote it.
func ExampleCatalog_OpenAPI() {
	ctx, c, stop := serve()
	defer stop()
	catalog := discovery.New(c, discovery.Options{})
	document, err := catalog.OpenAPI(ctx, meta.GVK{Group: "apps", Version: "v1"})
	fmt.Println(len(document) > 0, err)
	_, err = catalog.OpenAPI(ctx, meta.GVK{Group: "example.dev", Version: "v1"})
	fmt.Println(err)
	// Output:
	// true <nil>
	// the server has no OpenAPI v3 document of "example.dev/v1"
}
