package clienttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/client/meta"
)

// install creates the CustomResourceDefinitions of a file or folder, as Options.CRDs says.
func (a *api) install(path string) error {
	files := []string{path}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		files, err = manifestsIn(path)
	}
	if err != nil {
		return fmt.Errorf("clienttest.Options: CRDs: %w", err)
	}
	n := 0
	var errs []error
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, doc := range documents(text) {
			found, err := a.installText(doc)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", file, err))
			}
			if found {
				n++
			}
		}
	}
	if n == 0 && len(errs) == 0 {
		errs = append(errs, fmt.Errorf("%s has no CustomResourceDefinition of apiextensions.k8s.io/v1", path))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("clienttest.Options: CRDs: %w", err)
	}
	return nil
}

// manifestsIn returns the files of a folder that may have manifests.
func manifestsIn(folder string) (files []string, _ error) {
	all, err := os.ReadDir(folder)
	for _, f := range all {
		if !f.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(f.Name())) {
			files = append(files, filepath.Join(folder, f.Name()))
		}
	}
	return files, err
}

// documents splits a stream of YAML documents, which also may be one of JSON.
func documents(text []byte) (docs [][]byte) {
	var doc []byte
	for line := range bytes.Lines(text) {
		if rest, found := bytes.CutPrefix(line, []byte("---")); found && (len(rest) == 0 || bytes.ContainsAny(rest[:1], " \t\r\n")) {
			docs, doc, line = append(docs, doc), nil, rest
		}
		doc = append(doc, line...)
	}
	return append(docs, doc)
}

// installText creates the object of a document, and reports whether it is a CustomResourceDefinition.
func (a *api) installText(doc []byte) (found bool, _ error) {
	v, _, err := jsontree.ParseYAML(doc)
	if err != nil {
		return false, err
	}
	whole, _ := v.(jsontree.Object)
	if whole["kind"] != a.crds.Kind {
		return false, nil
	}
	metadata, _ := whole["metadata"].(jsontree.Object)
	if err := a.create(whole); err != nil {
		return true, fmt.Errorf("%s %v: %w", a.crds.Kind, metadata["name"], err)
	}
	return true, nil
}

// create creates a CustomResourceDefinition as a request would, without asking who may.
func (a *api) create(whole jsontree.Object) error {
	if is := whole["apiVersion"]; is != a.crds.GVK().APIVersion() {
		return fmt.Errorf("the apiVersion must be %s, got %v", a.crds.GVK().APIVersion(), is)
	}
	text := jsontree.Append(nil, whole)
	d, err := object.Parse(text)
	if err == nil {
		err = d.Normalize(&a.crds.Type)
	}
	if wrong := schema.FieldErrors(text, a.crds.Shape()); err == nil && len(wrong) > 0 {
		err = errors.New(strings.Join(wrong, ", "))
	}
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "/", nil)
	if err != nil {
		return err
	}
	c := &call{
		Request: Request{Verb: "create", Resource: a.crds.GVR(), Key: meta.Key{}}, api: a, res: a.crds, w: unread{}, r: r,
	}
	d.Meta.ResourceVersion = ""
	tx := a.store.Begin()
	defer tx.End()
	_, err = c.insert(tx, d, writeOptions{manager: "clienttest"})
	return err
}

// unread takes an answer that nobody reads.
type unread struct{}

func (unread) Header() http.Header         { return http.Header{} }
func (unread) Write(b []byte) (int, error) { return len(b), nil }
func (unread) WriteHeader(int)             {}
