package clienttest

import (
	"cmp"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// version is the release that the server reports: the one that it was compared with.
const (
	versionMajor, versionMinor = "1", "37"
	versionGit                 = "v1.37.1"
)

// discover answers the paths that are not a resource's: discovery and health.
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
			return status.MethodNotAllowed()
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
	case len(parts) == 1 && (root == "api" || root == "apis") && s.wantsAggregated(r):
		s.aggregated(w, r, root)
		return nil
	case len(parts) == 1 && root == "api":
		return answer(struct {
			Kind     string   `json:"kind"`
			Versions []string `json:"versions"`
			Servers  []any    `json:"serverAddressByClientCIDRs"`
		}{
			Kind: "APIVersions", Versions: []string{"v1"},
			Servers: []any{map[string]string{"clientCIDR": "0.0.0.0/0", "serverAddress": s.door.Listener.Addr().String()}},
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
		if s.isStale(group, version) {
			http.Error(w, "service unavailable", http.StatusServiceUnavailable)
			return nil
		}
		if rs := s.served(group, version); len(rs) > 0 {
			return answer(resourceList(rs))
		}
		if s.compilesIn(group) {
			return status.NoSuchResource()
		}
	case root == "openapi" && at(1) == "v3" && s.openapi(w, r, parts[2:]):
		return nil
	case len(parts) == 2 && root == "openapi" && at(1) == "v2":
		s.openapi2(w, r)
		return nil
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

func (s *Server) compilesIn(group string) bool {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	return s.store.compiledIn(group)
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

// versions returns every group and version that has a resource, as GVRs without one: the core group first, then the groups
// that are built in, in the order of a real server, then the others by name; within a group, the version that a real server
// prefers first.
func (s *Server) versions() []meta.GVR {
	vs, _ := s.inventory()
	return vs
}

// inventory returns the versions, and the resources of each.
func (s *Server) inventory() ([]meta.GVR, map[meta.GVR][]*resource) {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	var vs []meta.GVR
	of := map[meta.GVR][]*resource{}
	builtin := map[string]int{"": -1 << 30}
	for _, r := range s.store.all() {
		v := meta.GVR{Group: r.Group, Version: r.Version}
		if of[v] == nil {
			vs = append(vs, v)
		}
		of[v] = append(of[v], r)
		if r.Builtin {
			builtin[r.Group] = min(builtin[r.Group], r.order-1<<20)
		}
	}
	slices.SortFunc(vs, func(a, b meta.GVR) int {
		return cmp.Or(
			cmp.Compare(builtin[a.Group], builtin[b.Group]), cmp.Compare(a.Group, b.Group), compareVersions(a.Version, b.Version),
		)
	})
	return vs, of
}

var versionForm = regexp.MustCompile(`^v([1-9][0-9]{0,8})(?:(alpha|beta)([1-9][0-9]{0,8}))?$`)

// compareVersions orders versions as Kubernetes does: v2, v1, v1beta1, v1alpha2, and then all other forms, by name.
func compareVersions(a, b string) int {
	rank := func(s string) (stage, major, minor int) {
		m := versionForm.FindStringSubmatch(s)
		if m == nil {
			return 0, 0, 0
		}
		major, _ = strconv.Atoi(m[1])
		minor, _ = strconv.Atoi(m[3])
		return map[string]int{"alpha": 1, "beta": 2, "": 3}[m[2]], major, minor
	}
	as, am, an := rank(a)
	bs, bm, bn := rank(b)
	return cmp.Or(cmp.Compare(bs, as), cmp.Compare(bm, am), cmp.Compare(bn, an), cmp.Compare(a, b))
}

// catalog is the state of discovery. Its lock protects it.
type catalog struct {
	mu    sync.Mutex
	old   bool              // the old form only
	stale map[meta.GVR]bool // group versions, without a resource
}

// SetStale makes a group version stale in discovery, or current again. A server reports a version as stale while it cannot reach
// the server behind it (an APIService). In the old form of discovery the version is then answered with 503. The resources
// themselves are still served.
func (s *Server) SetStale(group, version string, stale bool) {
	s.catalog.mu.Lock()
	defer s.catalog.mu.Unlock()
	if s.catalog.stale == nil {
		s.catalog.stale = map[meta.GVR]bool{}
	}
	s.catalog.stale[meta.GVR{Group: group, Version: version}] = stale
}

// SetAggregated says whether the server supports aggregated discovery, which it does at first. Without it, the server behaves
// like one before Kubernetes 1.27, whose group versions are requested one by one.
func (s *Server) SetAggregated(known bool) {
	s.catalog.mu.Lock()
	defer s.catalog.mu.Unlock()
	s.catalog.old = !known
}

func (s *Server) isStale(group, version string) bool {
	s.catalog.mu.Lock()
	defer s.catalog.mu.Unlock()
	return s.catalog.stale[meta.GVR{Group: group, Version: version}]
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
			Name: r.Resource.Resource, Singular: r.Singular, Namespaced: namespaced, Kind: r.Kind, Verbs: r.verbs(),
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
		is.APIVersion = "" // the core group, older than the field, still leaves it out
	}
	return struct {
		meta.TypeMeta
		GroupVersion string        `json:"groupVersion"`
		Resources    []apiResource `json:"resources"`
	}{is, rs[0].GVR().APIVersion(), list}
}

// Aggregated discovery (apidiscovery.k8s.io/v2) has everything in two answers.
const aggregatedMedia = mediaJSON + ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

func (s *Server) wantsAggregated(r *http.Request) bool {
	s.catalog.mu.Lock()
	old := s.catalog.old
	s.catalog.mu.Unlock()
	if old {
		return false
	}
	for part := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
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

// aggregated answers /api with the core group, and /apis with the others.
func (s *Server) aggregated(w http.ResponseWriter, r *http.Request, root string) {
	items := []groupDiscovery{}
	versions, resources := s.inventory()
	for _, v := range versions {
		if (v.Group == "") != (root == "api") {
			continue
		}
		version := versionDiscovery{Version: v.Version, Freshness: "Current"}
		if s.isStale(v.Group, v.Version) {
			version.Freshness = "Stale"
		}
		for _, r := range resources[v] {
			kind := kindDiscovery{Kind: r.Kind} // a built-in kind leaves out the group and version if they are the list's
			if !r.Builtin {
				kind.Group, kind.Version = r.Group, r.Version
			}
			d := resourceDiscovery{
				Resource: r.Resource.Resource, ResponseKind: kind, Scope: r.Scope.String(), Singular: r.Singular,
				Verbs: r.verbs(), ShortNames: r.ShortNames, Categories: r.Categories,
			}
			for _, name := range slices.Sorted(maps.Keys(r.subresources)) {
				sub := r.subresources[name]
				of := kind
				if sub.kind != (meta.GVK{}) {
					of = kindDiscovery(sub.kind)
				}
				d.Subresources = append(d.Subresources, subresourceDiscovery{name, of, sub.verbs})
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
	h := w.Header()
	h.Set("Vary", "Accept")
	h.Set("Cache-Control", "public")
	if notModified(w, r, hashOf(items)) {
		return
	}
	writeBody(w, http.StatusOK, aggregatedMedia, append(body, '\n'))
}

// hashOf returns the hash of a document, which, as on a real server, does not depend on the form in which it is sent.
func hashOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("clienttest: encode discovery: %v", err))
	}
	return fmt.Sprintf("%X", sha512.Sum512(b))
}

// notModified sets the ETag, and answers 304 if the client already has that document.
func notModified(w http.ResponseWriter, r *http.Request, hash string) bool {
	tag := strconv.Quote(hash)
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") != tag {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}
