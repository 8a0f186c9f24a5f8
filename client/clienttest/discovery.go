package clienttest

import (
	"cmp"
	"maps"
	"net/http"
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// version is the release that the server reports: the one that it was compared with.
const (
	versionMajor, versionMinor = "1", "37"
	versionGit                 = "v1.37.1"
)

// sendDocument answers a GET with a document.
func (c *call) sendDocument(v any) error {
	if c.r.Method != http.MethodGet {
		return status.MethodNotAllowed()
	}
	writeJSON(c.w, http.StatusOK, v)
	return nil
}

// servePaths lists the paths that the server has.
func servePaths(c *call) error {
	paths := []string{"/api", "/api/v1", "/apis", "/apis/", "/healthz", "/livez", "/openapi/v3", "/readyz", "/version"}
	for _, g := range c.registry.groups() {
		paths = append(paths, "/apis/"+g.Name)
		for _, v := range g.Versions {
			paths = append(paths, "/apis/"+v.GroupVersion)
		}
	}
	slices.Sort(paths)
	writeJSON(c.w, http.StatusOK, map[string][]string{"paths": paths})
	return nil
}

// serveHealth answers that the server is healthy.
func serveHealth(c *call) error {
	writeBody(c.w, http.StatusOK, mediaText, []byte("ok"))
	return nil
}

// serveRelease says which release of Kubernetes this is.
func serveRelease(c *call) error {
	return c.sendDocument(map[string]string{
		"major": versionMajor, "minor": versionMinor, "gitVersion": versionGit, "gitCommit": "", "gitTreeState": "clean",
		"buildDate": "1970-01-01T00:00:00Z", "goVersion": "", "compiler": "gc", "platform": "bowline/clienttest",
	})
}

// serveCore answers /api, with the core group.
func serveCore(c *call) error {
	if c.wantsAggregated() {
		return c.serveAggregated(true)
	}
	return c.sendDocument(struct {
		Kind     string   `json:"kind"`
		Versions []string `json:"versions"`
		Servers  []any    `json:"serverAddressByClientCIDRs"`
	}{
		Kind: "APIVersions", Versions: []string{"v1"},
		Servers: []any{map[string]string{"clientCIDR": "0.0.0.0/0", "serverAddress": c.address}},
	})
}

// serveGroups answers /apis, with the other groups.
func serveGroups(c *call) error {
	if c.wantsAggregated() {
		return c.serveAggregated(false)
	}
	return c.sendDocument(struct {
		meta.TypeMeta
		Groups []apiGroup `json:"groups"`
	}{meta.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, c.registry.groups()})
}

// serveGroup answers with one group.
func serveGroup(c *call) error {
	name := pathParts(c.r)[1]
	for _, g := range c.registry.groups() {
		if g.Name == name {
			g.Kind, g.APIVersion = "APIGroup", "v1"
			return c.sendDocument(g)
		}
	}
	return errNoPath
}

// serveVersion answers with the resources of a version of a group.
func serveVersion(c *call) error {
	parts := pathParts(c.r)
	version := meta.GVR{Version: parts[len(parts)-1]}
	if len(parts) == 3 {
		version.Group = parts[1]
	}
	if _, stale := c.stale.Load(version); stale {
		http.Error(c.w, "service unavailable", http.StatusServiceUnavailable)
		return nil
	}
	if rs := c.registry.inventory().of[version]; len(rs) > 0 {
		return c.sendDocument(resourceList(rs))
	}
	if c.registry.compiledIn(version.Group) {
		return status.NoSuchResource()
	}
	return errNoPath
}

// apiGroup is the APIGroup of the API.
type apiGroup struct {
	Kind       string       `json:"kind,omitempty"`
	APIVersion string       `json:"apiVersion,omitempty"`
	Name       string       `json:"name"`
	Versions   []apiVersion `json:"versions"`
	Preferred  apiVersion   `json:"preferredVersion"`
}

type apiVersion struct {
	GroupVersion string `json:"groupVersion"`
	Version      string `json:"version"`
}

// groups returns every group but the core one.
func (g *registry) groups() []apiGroup {
	groups := []apiGroup{}
	for _, v := range g.inventory().versions {
		if v.Group == "" {
			continue
		}
		av := apiVersion{v.APIVersion(), v.Version}
		if n := len(groups); n > 0 && groups[n-1].Name == v.Group {
			groups[n-1].Versions = append(groups[n-1].Versions, av)
			continue
		}
		groups = append(groups, apiGroup{Name: v.Group, Versions: []apiVersion{av}, Preferred: av})
	}
	return groups
}

// apiResource is the APIResource of the API.
type apiResource struct {
	Name       string   `json:"name"`
	Singular   string   `json:"singularName"`
	Namespaced bool     `json:"namespaced"`
	Group      string   `json:"group,omitempty"`
	Version    string   `json:"version,omitempty"`
	Kind       string   `json:"kind"`
	Verbs      []string `json:"verbs"`
	ShortNames []string `json:"shortNames,omitempty"`
	Categories []string `json:"categories,omitempty"`
}

func resourceList(rs []*resource) any {
	list := []apiResource{}
	for _, r := range rs {
		namespaced := r.Scope == meta.Namespaced
		list = append(list, apiResource{
			Name: r.Resource.Resource, Singular: r.Singular, Namespaced: namespaced, Kind: r.Kind, Verbs: r.verbs,
			ShortNames: r.ShortNames, Categories: r.Categories,
		})
		for _, name := range slices.Sorted(maps.Keys(r.subresources)) {
			sub := r.subresources[name]
			list = append(list, apiResource{
				Name: r.Resource.Resource + "/" + name, Namespaced: namespaced,
				Group: sub.kind.Group, Version: sub.kind.Version, Kind: cmp.Or(sub.kind.Kind, r.Kind), Verbs: sub.verbs,
			})
		}
	}
	is := meta.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}
	if rs[0].Group == "" {
		is.APIVersion = "" // the core group, which is older than the field, leaves it out
	}
	return struct {
		meta.TypeMeta
		GroupVersion string        `json:"groupVersion"`
		Resources    []apiResource `json:"resources"`
	}{is, rs[0].GVR().APIVersion(), list}
}
