// Cel creates an object that a CEL rule of its definition refuses, on a server in the process.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/cel"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
)

const pages = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pages.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Page, plural: pages}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {title: {type: string}}
        x-kubernetes-validations: [{rule: "self.title != ''", message: "a page needs a title"}]
`

func main() {
	folder, err := os.MkdirTemp("", "crds")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	if err := os.WriteFile(filepath.Join(folder, "pages.yaml"), []byte(pages), 0o600); err != nil {
		log.Fatal(err)
	}
	server := clienttest.New(clienttest.Options{CRDs: []string{folder}, Rules: cel.Rules()})
	c, err := client.New(server.Config())
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	err = informer.Run(ctx, informer.RunnerFunc(server.Run), informer.RunnerFunc(func(ctx context.Context) error {
		defer stop()
		of := client.Type[*meta.Unstructured]{Group: "example.com", Version: "v1", Kind: "Page", Resource: "pages"}
		page := &meta.Unstructured{Object: map[string]any{"metadata": map[string]any{"namespace": "default", "name": "a"}, "title": ""}}
		if _, err := client.For(c, of).Create(ctx, page); !errors.Is(err, apierrors.Invalid) {
			return fmt.Errorf("the server answers %w, want it to be Invalid", err)
		}
		return nil
	}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("ok")
}
