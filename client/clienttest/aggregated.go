package clienttest

import (
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
)

// Aggregated discovery (apidiscovery.k8s.io/v2) has everything in two answers.
const aggregatedMedia = mediaJSON + ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

func (c *call) wantsAggregated() bool {
	if c.old.Load() {
		return false
	}
	for part := range strings.SplitSeq(c.r.Header.Get("Accept"), ",") {
		media, params, err := mime.ParseMediaType(part)
		switch {
		case err != nil || media != mediaJSON:
		case params["as"] == "":
			return false
		case params["g"] == "apidiscovery.k8s.io" && params["v"] == "v2" && params["as"] == "APIGroupDiscoveryList":
			return true
		}
	}
	return false
}

type (
	groupDiscovery struct {
		Metadata struct {
			Name string `json:"name,omitempty"`
		} `json:"metadata"`
		Versions []versionDiscovery `json:"versions"`
	}
	versionDiscovery struct {
		Version   string              `json:"version"`
		Resources []resourceDiscovery `json:"resources"`
		Freshness string              `json:"freshness"`
	}
	resourceDiscovery struct {
		Resource     string                 `json:"resource"`
		ResponseKind kindDiscovery          `json:"responseKind"`
		Scope        string                 `json:"scope"`
		Singular     string                 `json:"singularResource"`
		Verbs        []string               `json:"verbs"`
		ShortNames   []string               `json:"shortNames,omitempty"`
		Categories   []string               `json:"categories,omitempty"`
		Subresources []subresourceDiscovery `json:"subresources,omitempty"`
	}
	subresourceDiscovery struct {
		Subresource  string        `json:"subresource"`
		ResponseKind kindDiscovery `json:"responseKind"`
		Verbs        []string      `json:"verbs"`
	}
	kindDiscovery struct {
		Group   string `json:"group"`
		Version string `json:"version"`
		Kind    string `json:"kind"`
	}
)

// serveAggregated answers with the core group, or with the others.
func (c *call) serveAggregated(core bool) error {
	groups := []groupDiscovery{}
	all := c.registry.inventory()
	for _, v := range all.versions {
		if (v.Group == "") != core {
			continue
		}
		version := versionDiscovery{Version: v.Version, Freshness: "Current"}
		if _, stale := c.stale.Load(v); stale {
			version.Freshness = "Stale"
		}
		for _, r := range all.of[v] {
			version.Resources = append(version.Resources, r.discovery())
		}
		if n := len(groups); n > 0 && groups[n-1].Metadata.Name == v.Group {
			groups[n-1].Versions = append(groups[n-1].Versions, version)
			continue
		}
		group := groupDiscovery{Versions: []versionDiscovery{version}}
		group.Metadata.Name = v.Group
		groups = append(groups, group)
	}
	h := c.w.Header()
	h.Set("Vary", "Accept")
	h.Set("Cache-Control", "public")
	if notModified(c.w, c.r, hashOf(groups)) {
		return nil
	}
	writeBody(c.w, http.StatusOK, aggregatedMedia, append(encoded(struct {
		meta.TypeMeta
		Metadata struct{}         `json:"metadata"`
		Items    []groupDiscovery `json:"items"`
	}{TypeMeta: meta.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2"}, Items: groups}), '\n'))
	return nil
}

// discovery returns a resource as aggregated discovery describes it.
func (r *resource) discovery() resourceDiscovery {
	kind := kindDiscovery{Kind: r.Kind} // a built-in kind leaves out the group and version if they are the list's
	if !r.Builtin {
		kind.Group, kind.Version = r.Group, r.Version
	}
	d := resourceDiscovery{
		Resource: r.Resource.Resource, ResponseKind: kind, Scope: r.Scope.String(), Singular: r.Singular,
		Verbs: r.verbs, ShortNames: r.ShortNames, Categories: r.Categories,
	}
	for _, name := range slices.Sorted(maps.Keys(r.subresources)) {
		sub := r.subresources[name]
		of := kind
		if sub.kind != (meta.GVK{}) {
			of = kindDiscovery(sub.kind)
		}
		d.Subresources = append(d.Subresources, subresourceDiscovery{name, of, sub.verbs})
	}
	return d
}
