package clienttest

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
)

// version is the release that the server says to be: the one that it was compared with.
const (
	versionMajor, versionMinor = "1", "36"
	versionGit                 = "v1.36.3"
)

// discover answers the paths that are not a resource's: what there is, and whether the server is well.
func (s *Server) discover(w http.ResponseWriter, r *http.Request) error {
	parts := strings.FieldsFunc(r.URL.Path, func(c rune) bool { return c == '/' })
	at := func(i int) string {
		if i < len(parts) {
			return parts[i]
		}
		return ""
	}
	answer := func(v any) error {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			return methodNotAllowed()
		}
		writeJSON(w, http.StatusOK, v)
		return nil
	}
	root := at(0)
	switch {
	case len(parts) == 1 && (root == "healthz" || root == "readyz" || root == "livez"):
		writeBody(w, http.StatusOK, "text/plain; charset=utf-8", []byte("ok"))
		return nil
	case len(parts) == 1 && root == "version":
		return answer(map[string]string{
			"major": versionMajor, "minor": versionMinor, "gitVersion": versionGit, "gitCommit": "", "gitTreeState": "clean",
			"buildDate": "1970-01-01T00:00:00Z", "goVersion": "", "compiler": "gc", "platform": "bowline/clienttest",
		})
	case len(parts) == 1 && (root == "api" || root == "apis") && wantsAggregated(r):
		s.aggregated(w, root)
		return nil
	case len(parts) == 1 && root == "api":
		return answer(struct {
			Kind     string   `json:"kind"`
			Versions []string `json:"versions"`
			Servers  []any    `json:"serverAddressByClientCIDRs"`
		}{
			Kind: "APIVersions", Versions: []string{"v1"},
			Servers: []any{map[string]string{"clientCIDR": "0.0.0.0/0", "serverAddress": s.door.listener.Addr().String()}},
		})
	case len(parts) == 1 && root == "apis":
		return answer(struct {
			meta.TypeMeta
			Groups []apiGroup `json:"groups"`
		}{meta.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, s.groups()})
	case len(parts) == 2 && root == "apis":
		for _, g := range s.groups() {
			if g.Name == parts[1] {
				g.Kind, g.APIVersion = "APIGroup", "v1"
				return answer(g)
			}
		}
	case len(parts) == 2 && root == "api", len(parts) == 3 && root == "apis":
		group, version := "", at(1)
		if root == "apis" {
			group, version = at(1), at(2)
		}
		if rs := s.served(group, version); len(rs) > 0 {
			return answer(resourceList(rs))
		}
		if s.knows(group) {
			return noSuchResource()
		}
	case root == "openapi" && at(1) == "v3":
		if doc := s.openapi(parts[2:]); doc != nil {
			return answer(doc)
		}
	}
	http.NotFound(w, r)
	return nil
}

// served returns the resources of a group and version; an empty version means every one.
func (s *Server) served(group, version string) []*resource {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	var rs []*resource
	for _, r := range s.store.all() {
		if r.Group == group && (version == "" || r.Version == version) {
			rs = append(rs, r)
		}
	}
	return rs
}

func (s *Server) knows(group string) bool { return len(s.served(group, "")) > 0 }

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
func (s *Server) groups() []apiGroup {
	groups := []apiGroup{}
	for _, v := range s.versions() {
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

// versions returns every group and version that has a resource, as GVRs without one.
func (s *Server) versions() []meta.GVR {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	var vs []meta.GVR
	for _, r := range s.store.all() {
		v := meta.GVR{Group: r.Group, Version: r.Version}
		if n := len(vs); n == 0 || vs[n-1] != v {
			vs = append(vs, v)
		}
	}
	return vs
}

// apiResource is the APIResource of the API.
type apiResource struct {
	Name       string   `json:"name"`
	Singular   string   `json:"singularName"`
	Namespaced bool     `json:"namespaced"`
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
			Name: r.Resource.Resource, Singular: r.Singular, Namespaced: namespaced, Kind: r.Kind, Verbs: r.verbs(),
			ShortNames: r.ShortNames, Categories: r.Categories,
		})
		if r.Status {
			list = append(list, apiResource{
				Name: r.Resource.Resource + "/status", Namespaced: namespaced, Kind: r.Kind, Verbs: statusVerbs(),
			})
		}
	}
	return struct {
		meta.TypeMeta
		GroupVersion string        `json:"groupVersion"`
		Resources    []apiResource `json:"resources"`
	}{meta.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, rs[0].GVR().APIVersion(), list}
}

func statusVerbs() []string { return []string{"get", "patch", "update"} }

// Aggregated discovery: everything in two answers, as apidiscovery.k8s.io/v2 has it.
const aggregatedMedia = mediaJSON + ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

func wantsAggregated(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
		media, params, err := mime.ParseMediaType(part)
		if err == nil && media == mediaJSON && params["g"] == "apidiscovery.k8s.io" && params["v"] == "v2" {
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

// aggregated answers /api with the core group, and /apis with the others.
func (s *Server) aggregated(w http.ResponseWriter, root string) {
	items := []groupDiscovery{}
	for _, v := range s.versions() {
		if (v.Group == "") != (root == "api") {
			continue
		}
		version := versionDiscovery{Version: v.Version, Freshness: "Current"}
		for _, r := range s.served(v.Group, v.Version) {
			kind := kindDiscovery{r.Group, r.Version, r.Kind}
			d := resourceDiscovery{
				Resource: r.Resource.Resource, ResponseKind: kind, Scope: r.Scope.String(), Singular: r.Singular,
				Verbs: r.verbs(), ShortNames: r.ShortNames, Categories: r.Categories,
			}
			if r.Status {
				d.Subresources = []subresourceDiscovery{{"status", kind, statusVerbs()}}
			}
			version.Resources = append(version.Resources, d)
		}
		if n := len(items); n > 0 && items[n-1].Metadata.Name == v.Group {
			items[n-1].Versions = append(items[n-1].Versions, version)
			continue
		}
		group := groupDiscovery{Versions: []versionDiscovery{version}}
		group.Metadata.Name = v.Group
		items = append(items, group)
	}
	body, err := json.Marshal(struct {
		meta.TypeMeta
		Metadata struct{}         `json:"metadata"`
		Items    []groupDiscovery `json:"items"`
	}{TypeMeta: meta.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2"}, Items: items})
	if err != nil {
		panic(fmt.Sprintf("clienttest: encode discovery: %v", err))
	}
	writeBody(w, http.StatusOK, aggregatedMedia, append(body, '\n'))
}

// openapi answers /openapi/v3 with the paths of objects, and of each only that a patch knows fieldValidation: that is
// what kubectl looks for before it sends an object. It has no schemas. It returns nil for what is not there.
func (s *Server) openapi(parts []string) any {
	root := func(v meta.GVR) string {
		if v.Group == "" {
			return "api/" + v.Version
		}
		return "apis/" + v.APIVersion()
	}
	if len(parts) == 0 {
		paths := map[string]any{}
		for _, v := range s.versions() {
			paths[root(v)] = map[string]string{"serverRelativeURL": "/openapi/v3/" + root(v)}
		}
		return map[string]any{"paths": paths}
	}
	for _, v := range s.versions() {
		if root(v) != strings.Join(parts, "/") {
			continue
		}
		paths := map[string]any{}
		for _, r := range s.served(v.Group, v.Version) {
			path := "/" + root(v) + "/"
			if r.Scope == meta.Namespaced {
				path += "namespaces/{namespace}/"
			}
			paths[path+r.Resource.Resource+"/{name}"] = map[string]any{"patch": map[string]any{
				"parameters": []any{map[string]any{
					"name": "fieldValidation", "in": "query", "schema": map[string]any{"type": "string", "uniqueItems": true},
				}},
				"responses":                       map[string]any{"200": map[string]string{"description": "OK"}},
				"x-kubernetes-action":             "patch",
				"x-kubernetes-group-version-kind": map[string]string{"group": r.Group, "version": r.Version, "kind": r.Kind},
			}}
		}
		return map[string]any{
			"openapi": "3.0.0", "info": map[string]string{"title": "clienttest", "version": versionGit}, "paths": paths,
			"components": map[string]any{},
		}
	}
	return nil
}
