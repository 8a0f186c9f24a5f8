package define

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/crd"
	"github.com/bowline-go/bowline/client/meta"
)

// Decode reads the tree of a CustomResourceDefinition.
func Decode(tree map[string]any) (*crd.Definition, error) {
	text, err := json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	d := new(crd.Definition)
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf("read the definition: %w", err)
	}
	return d, nil
}

// Version returns the options with which package crd makes a version from a type, and the differences that remain. tree
// is the version in the manifest, with the members that a [crd.Version] does not have.
func Version(t reflect.Type, want crd.Version, tree any) (crd.Options, []string, error) {
	root := want.Schema.OpenAPIV3Schema
	o := crd.Options{PreserveUnknown: root.PreserveUnknownFields}
	plain, err := crd.VersionOf(t, want.Name, o)
	if err != nil {
		return o, nil, err
	}
	_, hasStatus := root.Properties["status"]
	o.WholeStatus = hasStatus && want.Subresources.Status == nil
	o.Unserved = !want.Served
	o.Descriptions = make(map[string]string)
	describe(plain.Schema.OpenAPIV3Schema, root, "", o.Descriptions)
	if len(o.Descriptions) == 0 {
		o.Descriptions = nil
	}
	var refused []string
	for _, set := range settings(want) {
		with := o
		set(&with)
		if _, err := crd.VersionOf(t, want.Name, with); err != nil {
			refused = append(refused, err.Error())
		} else {
			o = with
		}
	}
	got, err := crd.VersionOf(t, want.Name, o)
	if err != nil {
		return o, nil, err
	}
	got.Storage = want.Storage
	wanted := withoutHead(tree)
	left, err := differences(got, wanted)
	return o, append(left, refused...), err
}

// settings returns functions, each of which sets one option that package crd may refuse.
func settings(want crd.Version) (all []func(o *crd.Options)) {
	for _, r := range want.Schema.OpenAPIV3Schema.Rules {
		all = append(all, func(o *crd.Options) { o.Rules = append(slices.Clone(o.Rules), r) })
	}
	for _, c := range want.Columns {
		all = append(all, func(o *crd.Options) { o.Columns = append(slices.Clone(o.Columns), c) })
	}
	for _, f := range want.SelectableFields {
		all = append(all, func(o *crd.Options) { o.SelectableFields = append(slices.Clone(o.SelectableFields), f.JSONPath) })
	}
	if want.Subresources.Scale != nil {
		all = append(all, func(o *crd.Options) { o.Scale = want.Subresources.Scale })
	}
	if want.Deprecated {
		all = append(all, func(o *crd.Options) { o.Deprecated = true })
	}
	if want.DeprecationWarning != nil {
		all = append(all, func(o *crd.Options) { o.DeprecationWarning = *want.DeprecationWarning })
	}
	return all
}

// describe collects the descriptions of a schema, by path, as far as the type has the members.
func describe(is, want *crd.Schema, at string, into map[string]string) {
	if is == nil || want == nil {
		return
	}
	if want.Description != "" {
		into[at] = want.Description
	}
	for name, p := range want.Properties {
		describe(is.Properties[name], p, strings.TrimPrefix(at+"."+name, "."), into)
	}
	describe(is.Items, want.Items, at+"[]", into)
	describe(values(is), values(want), at+"[]", into)
}

// Head returns the options about all versions, and the differences that remain.
func Head(want *crd.Definition, tree map[string]any) (crd.Options, []string, error) {
	kind := want.Spec.Names.Kind
	o := crd.Options{
		ShortNames: want.Spec.Names.ShortNames, Categories: want.Spec.Names.Categories, Labels: want.Labels,
		Annotations: maps.Clone(want.Annotations),
	}
	delete(o.Annotations, "kubectl.kubernetes.io/last-applied-configuration") // it describes the manifest
	if s := want.Spec.Names.Singular; s != strings.ToLower(kind) {
		o.Singular = s
	}
	if c := want.Spec.Conversion; c != nil && c.Webhook != nil {
		o.Conversion = &c.Webhook.Client
	}
	type object struct {
		meta.ObjectMeta `json:"metadata"`
	}
	storage := ""
	for _, v := range want.Spec.Versions {
		if v.Storage {
			storage = v.Name
		}
	}
	got, err := crd.Of(client.Type[*object]{
		Group: want.Spec.Group, Version: storage, Kind: kind, ListKind: want.Spec.Names.ListKind, Resource: want.Spec.Names.Plural, Scope: scope(want),
	}, o)
	if err != nil {
		return o, nil, err
	}
	if len(want.Spec.Versions) > 0 && storage != want.Spec.Versions[0].Name {
		o.Storage = storage
	}
	spec, _ := tree["spec"].(map[string]any)
	spec = maps.Clone(spec)
	delete(spec, "versions")
	complete(spec, kind)
	is, err := treeOf(got.Spec)
	if err != nil {
		return o, nil, err
	}
	delete(is, "versions")
	var left []string
	differ(&left, "spec", is, spec, false)
	if want.Name != got.Name {
		left = append(left, fmt.Sprintf("metadata.name is %q, and was %q", got.Name, want.Name))
	}
	return o, left, nil
}

func scope(d *crd.Definition) meta.Scope {
	if d.Spec.Scope == "Cluster" {
		return meta.Cluster
	}
	return meta.Namespaced
}

// complete adds the names that the server adds, and removes the default conversion.
func complete(spec map[string]any, kind string) {
	names, _ := spec["names"].(map[string]any)
	names = maps.Clone(names)
	for name, v := range map[string]string{"listKind": kind + "List", "singular": strings.ToLower(kind)} {
		if names[name] == nil || names[name] == "" {
			names[name] = v
		}
	}
	spec["names"] = names
	if c, _ := spec["conversion"].(map[string]any); c["strategy"] == "None" {
		delete(spec, "conversion")
	}
}

func treeOf(v any) (map[string]any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var tree map[string]any
	err = d.Decode(&tree)
	return tree, err
}
