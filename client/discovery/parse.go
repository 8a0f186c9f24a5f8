package discovery

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
)

// listing is the content of /api or /apis. It does not change.
type listing struct {
	groups []group
	at     map[string]int // index in groups, by name
	// resources are those of the group versions that are not stale. It is nil if the server answered in the old form,
	// which lists only the groups.
	resources map[meta.GVK][]Resource
	// invalid are groups and versions whose names cannot be part of a path.
	invalid []served
}

// group returns the group called name.
func (l *listing) group(name string) (group, bool) {
	i, ok := l.at[name]
	if !ok {
		return group{}, false
	}
	return l.groups[i], true
}

// stale reports whether any version of a group is stale.
func (l *listing) stale() bool {
	return slices.ContainsFunc(l.groups, func(g group) bool {
		return slices.ContainsFunc(g.versions, func(v version) bool { return v.stale })
	})
}

// add adds the group unless it is present already or has an invalid name. preferred is the version that the server
// named, if any.
func (l *listing) add(name string, versions []version, preferred string) {
	if _, ok := l.group(name); ok {
		return
	}
	g := group{name: name}
	has := make(map[string]bool, len(versions))
	for _, v := range versions {
		err := meta.ValidSegment("version", v.name)
		if name != "" && err == nil {
			err = meta.ValidSegment("group", name)
		}
		if err != nil {
			l.invalid = append(l.invalid, served{gv: meta.GVK{Group: name, Version: v.name}, err: err})
			continue
		}
		if !has[v.name] {
			has[v.name], g.versions = true, append(g.versions, v)
		}
	}
	if v, ok := g.version(preferred); ok && !v.stale {
		g.preferred = preferred
	} else if i := slices.IndexFunc(g.versions, func(v version) bool { return !v.stale }); i >= 0 {
		g.preferred = g.versions[i].name
	}
	if len(g.versions) == 0 {
		return
	}
	if l.at == nil {
		l.at = map[string]int{}
	}
	l.at[name], l.groups = len(l.groups), append(l.groups, g)
}

// The aggregated form: APIGroupDiscoveryList of apidiscovery.k8s.io, in v2 and, with the same members, v2beta1 (KEP
// 3352).
type (
	aggregatedList struct {
		meta.TypeMeta
		Items []struct {
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
			Versions []struct {
				Version   string               `json:"version"`
				Freshness string               `json:"freshness"`
				Resources []aggregatedResource `json:"resources"`
			} `json:"versions"`
		} `json:"items"`
	}
	aggregatedResource struct {
		Resource         string    `json:"resource"`
		ResponseKind     *meta.GVK `json:"responseKind"`
		Scope            string    `json:"scope"`
		SingularResource string    `json:"singularResource"`
		Verbs            []string  `json:"verbs"`
		ShortNames       []string  `json:"shortNames"`
		Categories       []string  `json:"categories"`
		Subresources     []struct {
			Subresource  string    `json:"subresource"`
			ResponseKind *meta.GVK `json:"responseKind"`
			Verbs        []string  `json:"verbs"`
		} `json:"subresources"`
	}
)

const (
	aggregatedGroup = "apidiscovery.k8s.io"
	aggregatedKind  = "APIGroupDiscoveryList"
)

// parseListing parses the answer of /api or /apis in either form.
func parseListing(contentType string, body []byte) (any, error) {
	var is meta.TypeMeta
	if err := decode(body, &is); err != nil {
		return nil, err
	}
	// The media type has the same information as the body, in parameters of any order; it counts if the body has no
	// kind.
	if _, p, err := mime.ParseMediaType(contentType); is.Kind == "" && err == nil && p["as"] != "" {
		is = meta.TypeMeta{Kind: p["as"], APIVersion: p["g"] + "/" + p["v"]}
	}
	switch {
	case is.Kind == aggregatedKind && (is.APIVersion == aggregatedGroup+"/v2" || is.APIVersion == aggregatedGroup+"/v2beta1"):
		return parseAggregated(body)
	case is.Kind == "APIVersions":
		return parseVersions(body)
	case is.Kind == "APIGroupList":
		return parseGroups(body)
	}
	return nil, fmt.Errorf("it must be an %s, APIGroupList or APIVersions, got %q of %q",
		aggregatedKind, clip(is.Kind), clip(is.APIVersion))
}

// maxElements is how many elements a document may have. It bounds the memory of a decoded document, because every
// element takes memory, however short its text is. A cluster with 10,000 CustomResourceDefinitions needs about a
// quarter of it.
const maxElements = 1 << 20

// decode is json.Unmarshal for documents in which every element takes memory, however short it is.
func decode(body []byte, into any) error {
	if bytes.Count(body, []byte(",")) > maxElements {
		return fmt.Errorf("it has more than %d elements", maxElements)
	}
	err := json.Unmarshal(body, into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok { // the text of this error names the Go type
		return fmt.Errorf("%s must not be a JSON %s", cmp.Or(wrong.Field, "it"), wrong.Value)
	}
	return err
}

// clip bounds how much of a foreign text an error shows.
func clip(s string) string {
	if len(s) > 100 {
		return s[:100] + "…"
	}
	return s
}

func parseAggregated(body []byte) (*listing, error) {
	var list aggregatedList
	if err := decode(body, &list); err != nil {
		return nil, err
	}
	l := &listing{resources: map[meta.GVK][]Resource{}}
	for _, g := range list.Items {
		versions := make([]version, 0, len(g.Versions))
		for _, v := range g.Versions {
			stale := v.Freshness == "Stale"
			versions = append(versions, version{name: v.Version, stale: stale})
			gv := meta.GVK{Group: g.Metadata.Name, Version: v.Version}
			if _, twice := l.resources[gv]; twice || stale {
				continue
			}
			resources := make([]Resource, 0, len(v.Resources))
			for _, r := range v.Resources {
				if addressable(r.Resource) {
					resources = append(resources, r.resource(gv))
				}
			}
			l.resources[gv] = resources
		}
		l.add(g.Metadata.Name, versions, "")
	}
	return l, nil
}

func (a aggregatedResource) resource(gv meta.GVK) Resource {
	r := Resource{
		Group: gv.Group, Version: gv.Version, Name: a.Resource, Singular: a.SingularResource,
		ShortNames: a.ShortNames, Categories: a.Categories, Verbs: a.Verbs, Scope: scopeOf(a.Scope == "Namespaced"),
	}
	if a.ResponseKind != nil {
		r.Kind = a.ResponseKind.Kind
	}
	for _, s := range a.Subresources {
		sub := Subresource{Name: s.Subresource, Verbs: s.Verbs}
		if s.ResponseKind != nil {
			sub.GVK = kindIn(gv, *s.ResponseKind)
		}
		r.Subresources = append(r.Subresources, sub)
	}
	return r
}

// addressable reports whether a resource can have this name. Other resources cannot be used.
func addressable(name string) bool { return meta.ValidSegment("name", name) == nil }

// kindIn completes a kind: the server sends its group and version only if they differ from those of the list.
func kindIn(gv meta.GVK, k meta.GVK) meta.GVK {
	switch {
	case k.Kind == "":
		return meta.GVK{}
	case k.Version == "":
		k.Group, k.Version = gv.Group, gv.Version
	}
	return k
}

func scopeOf(namespaced bool) meta.Scope {
	if namespaced {
		return meta.Namespaced
	}
	return meta.Cluster
}

// parseVersions parses the old form of /api.
func parseVersions(body []byte) (*listing, error) {
	var list struct {
		Versions []string `json:"versions"`
	}
	if err := decode(body, &list); err != nil {
		return nil, err
	}
	versions := make([]version, 0, len(list.Versions))
	for _, v := range list.Versions {
		versions = append(versions, version{name: v})
	}
	l := &listing{}
	l.add("", versions, "")
	return l, nil
}

// parseGroups parses the old form of /apis.
func parseGroups(body []byte) (*listing, error) {
	type named struct {
		Version string `json:"version"`
	}
	var list struct {
		Groups []struct {
			Name      string  `json:"name"`
			Versions  []named `json:"versions"`
			Preferred named   `json:"preferredVersion"`
		} `json:"groups"`
	}
	if err := decode(body, &list); err != nil {
		return nil, err
	}
	l := &listing{}
	for _, g := range list.Groups {
		versions := make([]version, 0, len(g.Versions))
		for _, v := range g.Versions {
			versions = append(versions, version{name: v.Version})
		}
		l.add(g.Name, versions, g.Preferred.Version)
	}
	return l, nil
}

// parseResources returns a function that parses the old form of one group version's resources.
func parseResources(gv meta.GVK) func(string, []byte) (any, error) {
	return func(_ string, body []byte) (any, error) {
		var list struct {
			meta.TypeMeta
			Resources []struct {
				Name       string   `json:"name"`
				Singular   string   `json:"singularName"`
				Namespaced bool     `json:"namespaced"`
				Group      string   `json:"group"`
				Version    string   `json:"version"`
				Kind       string   `json:"kind"`
				Verbs      []string `json:"verbs"`
				ShortNames []string `json:"shortNames"`
				Categories []string `json:"categories"`
			} `json:"resources"`
		}
		if err := decode(body, &list); err != nil {
			return nil, err
		}
		if list.Kind != "APIResourceList" {
			return nil, fmt.Errorf("it must be an APIResourceList, got %q", clip(list.Kind))
		}
		var resources []Resource
		at := map[string]int{}
		parent := func(name string, namespaced bool) *Resource {
			i, ok := at[name]
			if !ok {
				i = len(resources)
				at[name] = i
				resources = append(resources, Resource{
					Group: gv.Group, Version: gv.Version, Name: name, Scope: scopeOf(namespaced),
				})
			}
			return &resources[i]
		}
		for _, a := range list.Resources {
			name, sub, isSub := strings.Cut(a.Name, "/")
			if !addressable(name) {
				continue
			}
			r := parent(name, a.Namespaced) // a subresource may come before its resource, or without it
			if isSub {
				s := Subresource{Name: sub, Verbs: a.Verbs}
				s.GVK = kindIn(gv, meta.GVK{Group: a.Group, Version: a.Version, Kind: a.Kind})
				r.Subresources = append(r.Subresources, s)
				continue
			}
			r.Kind, r.Singular, r.Scope = a.Kind, a.Singular, scopeOf(a.Namespaced)
			r.Verbs, r.ShortNames, r.Categories = a.Verbs, a.ShortNames, a.Categories
		}
		return resources, nil
	}
}

// index is the content of /openapi/v3: for a path such as "apis/apps/v1", the hash of its document, empty if there is
// none.
type index map[string]string

func parseIndex(_ string, body []byte) (any, error) {
	var list struct {
		Paths map[string]struct {
			URL string `json:"serverRelativeURL"`
		} `json:"paths"`
	}
	if err := decode(body, &list); err != nil {
		return nil, err
	}
	if list.Paths == nil {
		return nil, errors.New(`it has no "paths"`)
	}
	x := index{}
	for path, at := range list.Paths {
		x[path] = hashIn(at.URL)
	}
	return x, nil
}
