package apiserver

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// definitionOf returns the CustomResourceDefinition of a resource that a test describes without one. It checks what a
// real server asks for and clienttest does not; the server checks the rest.
func definitionOf(r clienttest.Resource) (*meta.Unstructured, error) {
	var errs []error
	for _, field := range [][2]string{{"Group", r.Group}, {"Version", r.Version}, {"Kind", r.Kind}, {"Resource", r.Resource}} {
		if field[1] == "" {
			errs = append(errs, fmt.Errorf("%s must be set: a kube-apiserver serves no custom resource without it", field[0]))
		}
	}
	if len(r.SelectableFields) > 0 && len(r.Schema) == 0 {
		errs = append(errs, errors.New("SelectableFields need a Schema with these fields: a kube-apiserver must know their types"))
	}
	version, err := versionOf(r)
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, fmt.Errorf("clienttest.Resource %q: %w", r.Resource, err)
	}
	scope := "Namespaced"
	if r.Scope == meta.Cluster {
		scope = "Cluster"
	}
	metadata := map[string]any{"name": r.Resource + "." + r.Group}
	if r.Group == "k8s.io" || strings.HasSuffix(r.Group, ".k8s.io") || r.Group == "kubernetes.io" || strings.HasSuffix(r.Group, ".kubernetes.io") {
		metadata["annotations"] = map[string]any{"api-approved.kubernetes.io": "unapproved, it is for a test"}
	}
	return &meta.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": metadata,
		"spec": map[string]any{
			"group": r.Group, "scope": scope, "versions": []any{version},
			"names": map[string]any{
				"plural": r.Resource, "singular": cmp.Or(r.Singular, strings.ToLower(r.Kind)), "kind": r.Kind,
				"shortNames": r.ShortNames, "categories": r.Categories,
			},
		},
	}}, nil
}

// versionOf returns the only version in the definition of a resource.
func versionOf(r clienttest.Resource) (map[string]any, error) {
	var schema any = map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	if len(r.Schema) > 0 {
		var members map[string]any
		if err := json.Unmarshal(r.Schema, &members); err != nil {
			return nil, fmt.Errorf("read the Schema: %w", err)
		}
		schema = r.Schema // keeps its numbers as they are written
	}
	version := map[string]any{
		"name": r.Version, "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": schema},
	}
	if r.Status {
		version["subresources"] = map[string]any{"status": map[string]any{}}
	}
	var selectable []any
	for _, path := range r.SelectableFields {
		selectable = append(selectable, map[string]any{"jsonPath": "." + path})
	}
	if selectable != nil {
		version["selectableFields"] = selectable
	}
	return version, nil
}
