package clienttest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/manifests"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/client/meta"
)

// install creates the CustomResourceDefinitions of a file or folder, as Options.CRDs says.
func (a *api) install(path string) error {
	n, err := a.installFiles(path, func(whole jsontree.Object) bool { return whole["kind"] == a.crds.Kind })
	if n == 0 && err == nil {
		err = fmt.Errorf("%s has no CustomResourceDefinition of apiextensions.k8s.io/v1", path)
	}
	if err != nil {
		return fmt.Errorf("clienttest.Options: CRDs: %w", err)
	}
	return nil
}

// installAll creates the objects of a file or folder, as Options.Objects says.
func (a *api) installAll(path string) error {
	n, err := a.installFiles(path, func(whole jsontree.Object) bool { return whole["kind"] != a.crds.Kind && whole["kind"] != nil })
	if n == 0 && err == nil {
		err = fmt.Errorf("%s has no object", path)
	}
	if err != nil {
		return fmt.Errorf("clienttest.Options: Objects: %w", err)
	}
	return nil
}

// installFiles creates the wanted objects of a file or folder, and returns how many of them there are.
func (a *api) installFiles(path string, wanted func(jsontree.Object) bool) (n int, _ error) {
	err := manifests.Each(path, func(whole jsontree.Object) error {
		if !wanted(whole) {
			return nil
		}
		n++
		return a.installObject(whole)
	})
	return n, err
}

// installObject creates the object of a manifest.
func (a *api) installObject(whole jsontree.Object) error {
	kind, _ := whole["kind"].(string)
	apiVersion, _ := whole["apiVersion"].(string)
	metadata, _ := whole["metadata"].(jsontree.Object)
	res, err := a.registry.ofKind(apiVersion, kind)
	if err == nil {
		err = a.create(res, whole)
	}
	if err != nil {
		return fmt.Errorf("%s %v: %w", kind, metadata["name"], err)
	}
	return nil
}

// create creates an object as a request would, without a check of permissions. It also creates the object's namespace
// if that does not exist.
func (a *api) create(res *resource, whole jsontree.Object) error {
	text := jsontree.Append(nil, whole)
	d, err := object.Parse(text)
	if err == nil {
		err = d.Normalize(&res.Type)
	}
	if wrong := schema.FieldErrors(text, res.fields()); err == nil && len(wrong) > 0 {
		err = errors.New(strings.Join(wrong, ", "))
	}
	if err != nil {
		return err
	}
	d.Meta.ResourceVersion = ""
	switch {
	case res.Scope == meta.Cluster:
		d.Meta.Namespace = ""
	case d.Meta.Namespace == "":
		d.Meta.Namespace = "default"
	}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "/", nil)
	if err != nil {
		return err
	}
	c := &call{
		Request: Request{Verb: "create", Resource: res.GVR(), Key: meta.Key{Namespace: d.Meta.Namespace}}, api: a, res: res, w: unread{}, r: r,
		user: administrator(), internal: true,
	}
	tx := a.store.Begin()
	defer tx.End()
	if ns := d.Meta.Namespace; ns != "" && tx.Get(a.namespaces.objects, meta.Key{Name: ns}) == nil {
		home := *c
		home.res, home.Request = a.namespaces, Request{Verb: "create", Resource: a.namespaces.GVR()}
		kind := a.namespaces.GVK()
		made := &object.Draft{APIVersion: kind.APIVersion(), Kind: kind.Kind, Meta: meta.ObjectMeta{Name: ns}, Content: jsontree.Object{}}
		if _, err := home.insert(tx, made, writeOptions{manager: "clienttest"}); err != nil {
			return err
		}
	}
	_, err = c.insert(tx, d, writeOptions{manager: "clienttest"})
	return err
}

// unread takes an answer that nobody reads.
type unread struct{}

func (unread) Header() http.Header         { return http.Header{} }
func (unread) Write(b []byte) (int, error) { return len(b), nil }
func (unread) WriteHeader(int)             {}
