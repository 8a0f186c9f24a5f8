package apiserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/manifests"
	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

const (
	extensions     = "apiextensions.k8s.io"
	definitionKind = "CustomResourceDefinition"
)

// installer creates the objects that the options name in a new server.
type installer struct {
	client  *client.Client
	catalog *discovery.Catalog
	// awaited are the kinds of the definitions.
	awaited []meta.GVK
}

// read has the objects in the files of the options.
type read struct{ definitions, objects []*meta.Unstructured }

// readFiles reads the files of the options, before a server starts, and returns every error.
func (o Options) readFiles() (read, error) {
	var r read
	var errs []error
	for i, path := range o.CRDs {
		found, err := objectsIn(path, func(kind string) bool { return kind == definitionKind })
		if err == nil && len(found) == 0 {
			err = fmt.Errorf("%s has no CustomResourceDefinition of apiextensions.k8s.io/v1", path)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("apiserver.Options: CRDs[%d]: %w", i, err))
		}
		r.definitions = append(r.definitions, found...)
	}
	for i, path := range o.Objects {
		found, err := objectsIn(path, func(kind string) bool { return kind != definitionKind && kind != "" })
		if err == nil && len(found) == 0 {
			err = fmt.Errorf("%s has no object", path)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("apiserver.Options: Objects[%d]: %w", i, err))
		}
		r.objects = append(r.objects, found...)
	}
	for _, resource := range o.Resources {
		d, err := definitionOf(resource)
		if err == nil { // validate returns the other errors
			r.definitions = append(r.definitions, d)
		}
	}
	return r, errors.Join(errs...)
}

// objectsIn returns the objects of some kinds in a file or folder.
func objectsIn(path string, wanted func(kind string) bool) (found []*meta.Unstructured, _ error) {
	err := manifests.Each(path, func(whole jsontree.Object) error {
		if kind, _ := whole["kind"].(string); !wanted(kind) {
			return nil
		}
		u := &meta.Unstructured{}
		err := json.Unmarshal(jsontree.Append(nil, whole), u)
		found = append(found, u)
		return err
	})
	return found, err
}

// install creates everything, and returns when the resources of the definitions are served and listed by discovery.
func (r read) install(ctx context.Context, config client.Config) error {
	if len(r.definitions)+len(r.objects) == 0 {
		return nil
	}
	c, err := client.New(config)
	if err != nil {
		return err
	}
	defer c.Close()
	i := &installer{client: c, catalog: discovery.New(c, discovery.Options{})}
	for _, d := range r.definitions {
		if err := i.define(ctx, d); err != nil {
			return fmt.Errorf("install the definition %q: %w", d.GetName(), err)
		}
	}
	if err := i.awaitDiscovery(ctx); err != nil {
		return err
	}
	for _, o := range r.objects {
		if err := i.create(ctx, o); err != nil {
			return fmt.Errorf("install %s %q: %w", o.GVK().Kind, o.GetName(), err)
		}
	}
	return nil
}

// strict makes the server refuse fields that a kind does not have, as kubectl does.
func strict() client.WriteOptions {
	return client.WriteOptions{FieldManager: "apiserver", FieldValidation: client.ValidateStrict}
}

// define creates a definition, and waits until it is established.
func (i *installer) define(ctx context.Context, d *meta.Unstructured) error {
	definitions := client.For(i.client, client.Type[*meta.Unstructured]{
		Group: extensions, Version: "v1", Kind: definitionKind, Resource: "customresourcedefinitions", Scope: meta.Cluster,
	})
	if version := d.GVK().APIVersion(); version != extensions+"/v1" {
		return fmt.Errorf("apiVersion must be %s/v1, got %q", extensions, version)
	}
	made, err := definitions.With(strict()).Create(ctx, d)
	if err != nil {
		return err
	}
	if _, err := client.WaitFor(ctx, definitions, meta.KeyOf(made), client.UntilReady()); err != nil {
		return err
	}
	group, _, _ := meta.Nested[string](made, "spec", "group")
	kind, _, _ := meta.Nested[string](made, "spec", "names", "kind")
	versions, _, _ := meta.Nested[[]any](made, "spec", "versions")
	for _, v := range versions {
		version, _ := v.(map[string]any)
		name, _ := version["name"].(string)
		if served, _ := version["served"].(bool); served {
			i.awaited = append(i.awaited, meta.GVK{Group: group, Version: name, Kind: kind})
		}
	}
	return nil
}

// awaitDiscovery returns when the resources of all definitions are listed by discovery and can be read. The server
// serves a resource, and lists it, a moment after the definition is established.
func (i *installer) awaitDiscovery(ctx context.Context) error {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for _, kind := range i.awaited {
		for {
			err := i.serves(ctx, kind)
			if err == nil {
				break
			}
			if !errors.Is(err, apierrors.NotFound) {
				return fmt.Errorf("wait for %s: %w", kind, err)
			}
			i.catalog.Invalidate()
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return fmt.Errorf("wait for %s to be served: %w; last answer: %w", kind, context.Cause(ctx), err)
			}
		}
	}
	return nil
}

// serves returns nil if a kind can be found and read, and an error that is NotFound if it is not yet served.
func (i *installer) serves(ctx context.Context, kind meta.GVK) error {
	found, err := i.catalog.Resource(ctx, kind)
	if err != nil {
		return err
	}
	_, err = client.For(i.client, found.Type()).List(ctx, client.ListOptions{})
	return err
}

// create creates an object, and the namespace that it is in if that does not exist.
func (i *installer) create(ctx context.Context, o *meta.Unstructured) error {
	found, err := i.catalog.Resource(ctx, o.GVK())
	if err != nil {
		return err
	}
	if found.Scope == meta.Namespaced {
		o.SetNamespace(cmp.Or(o.GetNamespace(), "default"))
		if err := i.createNamespace(ctx, o.GetNamespace()); err != nil {
			return err
		}
	}
	meta.RemoveNested(o, "metadata", "resourceVersion")
	_, err = client.For(i.client, found.Type()).With(strict()).Create(ctx, o)
	return err
}

// createNamespace creates a namespace if it does not exist.
func (i *installer) createNamespace(ctx context.Context, name string) error {
	namespaces := client.For(i.client, client.Type[*meta.Unstructured]{
		Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster,
	})
	if _, err := namespaces.Get(ctx, meta.Key{Name: name}); !errors.Is(err, apierrors.NotFound) {
		return err
	}
	n := &meta.Unstructured{}
	n.SetTypeMeta("v1", "Namespace")
	n.SetName(name)
	_, err := namespaces.With(strict()).Create(ctx, n)
	return err
}
