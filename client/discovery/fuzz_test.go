package discovery

import (
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

// Whatever the bytes are, reading them does not panic, and what comes out keeps the promises that the rest relies on.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `null`, `[]`, `{"kind":"APIGroupList","groups":[{"name":"g","versions":[{"version":"v1"}],"preferredVersion":{"version":"v2"}}]}`,
		`{"kind":"APIVersions","versions":["v1","v1",""]}`,
		`{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{"metadata":{"name":"g"},"versions":[` +
			`{"version":"v1","freshness":"Stale","resources":null},{"version":"v2","resources":[{"resource":"a","responseKind":null,` +
			`"subresources":[{"subresource":"s"}]}]}]},{"metadata":{"name":"g"}}]}`,
		`{"kind":"APIResourceList","resources":[{"name":"a/b/c"},{"name":"/"},{"name":""},{"name":"a","kind":"A"}]}`,
		`{"paths":{"apis/g/v1":{"serverRelativeURL":"/openapi/v3/apis/g/v1?hash=A"},"":{"serverRelativeURL":"%"}}}`,
	} {
		f.Add([]byte(seed), "application/json")
		f.Add([]byte(seed), "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io")
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		if value, err := parseListing(contentType, body); err == nil {
			l := value.(*listing)
			for _, g := range l.groups {
				if len(g.versions) == 0 || len(g.byPreference()) != len(g.versions) {
					t.Errorf("group %+v", g)
				}
				if p, ok := g.version(g.preferred); g.preferred != "" && (!ok || p.stale) {
					t.Errorf("group %+v prefers what it must not", g)
				}
				for _, v := range g.versions {
					if meta.ValidSegment("", v.name) != nil || g.name != "" && meta.ValidSegment("", g.name) != nil {
						t.Errorf("%+v cannot be asked for", g)
					}
					if _, known := l.resources[meta.GVK{Group: g.name, Version: v.name}]; known && v.stale {
						t.Errorf("%+v is stale and has resources", v)
					}
				}
			}
		}
		if value, err := parseResources(meta.GVK{Group: "g", Version: "v1"})(contentType, body); err == nil {
			names := map[string]bool{}
			for _, r := range value.([]Resource) {
				if names[r.Name] || r.Group != "g" || r.Version != "v1" {
					t.Errorf("%+v comes twice, or from elsewhere", r)
				}
				names[r.Name] = true
				r.clone()
			}
		}
		_, _ = parseIndex(contentType, body)
		_, _ = parseJSON(contentType, body)
	})
}
