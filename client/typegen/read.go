package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/kubeconfig"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/typegen/internal/schema"
	"github.com/bowline-go/bowline/internal/apiversion"
)

// read reads the kinds that the settings name, sorted.
func read(ctx context.Context, s settings, stdin io.Reader, stderr io.Writer) ([]schema.Kind, error) {
	if len(s.files) == 0 {
		return ask(ctx, s, stderr)
	}
	var all []schema.Kind
	for _, file := range s.files {
		data, err := contents(file, stdin)
		if err != nil {
			return nil, err
		}
		kinds, err := schema.Read(file, data)
		if err != nil {
			return nil, err
		}
		all = append(all, kinds...)
	}
	return choose(all, s)
}

// contents reads a file, or the standard input if it is called "-".
func contents(file string, stdin io.Reader) ([]byte, error) {
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		stdin = f
	}
	data, err := io.ReadAll(io.LimitReader(stdin, schema.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return data, nil
}

// ask reads the kinds of a server.
func ask(ctx context.Context, s settings, stderr io.Writer) ([]schema.Kind, error) {
	loaded, err := kubeconfig.Load(kubeconfig.Options{Path: s.kubeconfig, Context: s.context})
	if err != nil {
		return nil, err
	}
	for _, w := range loaded.Warnings {
		fmt.Fprintln(stderr, "typegen:", w)
	}
	c, err := client.New(loaded.Config)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return askServer(ctx, c, s)
}

// askServer finds the kinds as kubectl does, and reads their documents.
func askServer(ctx context.Context, c *client.Client, s settings) ([]schema.Kind, error) {
	catalog := discovery.New(c, discovery.Options{})
	documents := make(map[string][]schema.Kind)
	var wanted []meta.GVK
	for _, name := range s.kinds {
		found, _, err := catalog.Find(ctx, name)
		if err != nil {
			return nil, err
		}
		gvk := found.Type().GVK()
		versions := []string{gvk.Version}
		if len(s.versions) > 0 {
			if versions, err = served(ctx, catalog, gvk, s.versions); err != nil {
				return nil, err
			}
		}
		for _, version := range versions {
			wanted = append(wanted, meta.GVK{Group: gvk.Group, Version: version, Kind: gvk.Kind})
		}
	}
	for _, name := range s.groups {
		members, err := membersOf(ctx, catalog, name, s.versions)
		if err != nil {
			return nil, err
		}
		wanted = append(wanted, members...)
	}
	var kinds []schema.Kind
	for _, gvk := range wanted {
		k, err := kindOf(ctx, catalog, documents, gvk)
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, k)
	}
	return sorted(kinds), nil
}

// membersOf returns the kinds of a group, or of a group version. If versions is empty, each kind comes in its most
// stable version.
func membersOf(ctx context.Context, catalog *discovery.Catalog, name string, versions []string) ([]meta.GVK, error) {
	group, version, hasVersion := strings.Cut(name, "/")
	if group == "core" {
		group = ""
	}
	resources, err := catalog.Resources(ctx, group)
	if err != nil {
		return nil, err
	}
	best := make(map[string]meta.GVK)
	var all []meta.GVK
	for _, r := range resources {
		gvk := r.Type().GVK()
		switch had, has := best[gvk.Kind]; {
		case gvk.Group != group || hasVersion && gvk.Version != version:
		case len(versions) > 0:
			if slices.Contains(versions, gvk.Version) || slices.Contains(versions, "all") {
				all = append(all, gvk)
			}
		case !has || apiversion.Compare(gvk.Version, had.Version) < 0:
			best[gvk.Kind] = gvk
		}
	}
	all = append(all, slices.Collect(maps.Values(best))...) // the caller sorts them
	if len(all) == 0 {
		return nil, fmt.Errorf("-groups: the server has no kinds of %q", name)
	}
	return all, nil
}

// served returns those of the wanted versions of a kind that the server has.
func served(ctx context.Context, catalog *discovery.Catalog, gvk meta.GVK, wanted []string) ([]string, error) {
	resources, err := catalog.Resources(ctx, gvk.Group)
	if err != nil {
		return nil, err
	}
	var versions []string
	for _, r := range resources {
		t := r.Type().GVK()
		if t.Group == gvk.Group && t.Kind == gvk.Kind && (slices.Contains(wanted, t.Version) || slices.Contains(wanted, "all")) {
			versions = append(versions, t.Version)
		}
	}
	if len(versions) == 0 {
		return nil, fmt.Errorf("-versions: the server has none of %q of the kind %v", wanted, gvk)
	}
	return slices.Compact(slices.Sorted(slices.Values(versions))), nil
}

// kindOf reads a kind out of the document of its group version.
func kindOf(ctx context.Context, catalog *discovery.Catalog, documents map[string][]schema.Kind, gvk meta.GVK) (schema.Kind, error) {
	at := gvk.APIVersion()
	if documents[at] == nil {
		text, err := catalog.OpenAPI(ctx, gvk)
		if err != nil {
			return schema.Kind{}, err
		}
		if documents[at], err = schema.Read("the OpenAPI v3 document of "+at, text); err != nil {
			return schema.Kind{}, err
		}
	}
	for _, k := range documents[at] {
		if k.GVK == gvk {
			return k, nil
		}
	}
	return schema.Kind{}, fmt.Errorf("the OpenAPI v3 document of %s has no kind %q with a path", at, gvk.Kind)
}

// choose returns the kinds of the files that -kinds and -versions name.
func choose(all []schema.Kind, s settings) ([]schema.Kind, error) {
	var kinds []schema.Kind
	for _, name := range s.kinds {
		found := slices.DeleteFunc(slices.Clone(all), func(k schema.Kind) bool { return !isCalled(k, name) })
		if len(found) == 0 {
			return nil, fmt.Errorf("-kinds: the files have no kind %q; they have %s", name, list(all))
		}
		kinds = append(kinds, found...)
	}
	if len(s.kinds) == 0 {
		kinds = all
	}
	kinds = sorted(kinds)
	if s.definitions {
		return kinds, nil
	}
	if len(s.versions) == 0 {
		kinds = best(kinds)
	} else if !slices.Contains(s.versions, "all") {
		kinds = slices.DeleteFunc(kinds, func(k schema.Kind) bool { return !slices.Contains(s.versions, k.GVK.Version) })
	}
	switch {
	case len(kinds) == 0 && len(s.versions) > 0:
		return nil, fmt.Errorf("-versions: the files have none of %q; they have %s", s.versions, list(all))
	case len(kinds) == 0:
		return nil, errors.New("the files have no kind of which a version is served; -versions names others")
	case len(s.fields) > 0 && len(kinds) > 1:
		return nil, fmt.Errorf("-fields needs one kind; -kinds and -versions choose %s", list(kinds))
	}
	return kinds, nil
}

// isCalled reports whether a name means the kind.
func isCalled(k schema.Kind, name string) bool {
	short, group, hasGroup := strings.Cut(name, ".")
	return (strings.EqualFold(short, k.GVK.Kind) || strings.EqualFold(short, k.Resource)) && (!hasGroup || group == k.GVK.Group)
}

// sorted sorts kinds by group and kind, and the most stable version first. It leaves out duplicates.
func sorted(kinds []schema.Kind) []schema.Kind {
	kinds = slices.Clone(kinds)
	slices.SortStableFunc(kinds, func(a, b schema.Kind) int {
		return cmp.Or(cmp.Compare(a.GVK.Group, b.GVK.Group), cmp.Compare(a.GVK.Kind, b.GVK.Kind), apiversion.Compare(a.GVK.Version, b.GVK.Version),
			cmp.Compare(a.Resource, b.Resource))
	})
	return slices.CompactFunc(kinds, func(a, b schema.Kind) bool { return a.GVK == b.GVK && a.Resource == b.Resource })
}

// best returns the first served version of each kind.
func best(kinds []schema.Kind) []schema.Kind {
	var out []schema.Kind
	for _, k := range kinds {
		if n := len(out); k.Served && (n == 0 || out[n-1].GVK.Group != k.GVK.Group || out[n-1].GVK.Kind != k.GVK.Kind) {
			out = append(out, k)
		}
	}
	return out
}

// list names kinds for an error.
func list(kinds []schema.Kind) string {
	const most = 20
	var names []string
	for _, k := range kinds {
		if len(names) == most {
			names = append(names, "...")
			break
		}
		names = append(names, k.GVK.String())
	}
	return strings.Join(names, ", ")
}
