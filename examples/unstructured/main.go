// Unstructured prints one field of the objects of any resource, and sets it, without a struct for them.
//
//	go run ./examples/unstructured               # with nothing but Go: the API server is in the process
//	go run ./examples/unstructured -kubeconfig FILE -group apps -kind Deployment -resource deployments \
//		-path spec.replicas
//
// It writes only with -set. Numbers keep their form: an integer is an int64, and is written as it was read. If the
// fields are known when a program is written, a struct with these fields is smaller, faster and safer: see
// examples/crd.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/examples/internal/cluster"
)

// show prints the field at path of every object. If value is not empty, show first sets the field to it.
func show(ctx context.Context, objects client.Resource[*meta.Unstructured], path []string, value string, out io.Writer) error {
	for obj, err := range objects.All(ctx, client.ListOptions{}) {
		if err != nil {
			return err
		}
		if value != "" {
			if obj, err = set(ctx, objects, meta.KeyOf(obj), path, value); err != nil {
				return err
			}
		}
		field, found, err := meta.Nested[any](obj.Object, path...)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", meta.KeyOf(obj), err)
		case !found:
			field = "has none"
		}
		fmt.Fprintf(out, "%s: %v\n", meta.KeyOf(obj), field)
	}
	return nil
}

// set sets a field to the value of a text in JSON, or to the text itself if that is not JSON.
func set(ctx context.Context, objects client.Resource[*meta.Unstructured], key meta.Key, path []string, text string) (*meta.Unstructured, error) {
	var value any = json.RawMessage(text)
	if !json.Valid([]byte(text)) {
		value = text
	}
	return objects.Modify(ctx, key, func(obj *meta.Unstructured) error {
		return meta.SetNested(obj.Object, value, path...)
	})
}

// fill makes something to show.
func fill(ctx context.Context, c *client.Client) error {
	deployments := client.For(c, client.Type[*meta.Unstructured]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"})
	for i, name := range []string{"api", "web"} {
		labels := map[string]any{"app": name}
		_, err := deployments.Create(ctx, &meta.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"namespace": "default", "name": name},
			"spec": map[string]any{
				"replicas": i + 1,
				"selector": map[string]any{"matchLabels": labels},
				"template": map[string]any{
					"metadata": map[string]any{"labels": labels},
					"spec":     map[string]any{"containers": []any{map[string]any{"name": name, "image": "example.com/" + name}}},
				},
			},
		}})
		if err != nil {
			return err
		}
	}
	return nil
}

func main() {
	var t client.Type[*meta.Unstructured]
	flag.StringVar(&t.Group, "group", "apps", "the resource's group; empty is the core group")
	flag.StringVar(&t.Version, "version", "v1", "the group's version")
	flag.StringVar(&t.Kind, "kind", "Deployment", "the kind of the objects")
	flag.StringVar(&t.Resource, "resource", "deployments", "the resource's name")
	path := flag.String("path", "spec.replicas", "the field")
	value := flag.String("set", "", "what to set the field to, in every object")
	cluster.Example{Fill: fill, Work: func(ctx context.Context, c *client.Client) error {
		return show(ctx, client.For(c, t), strings.Split(*path, "."), *value, os.Stdout)
	}}.Main()
}
