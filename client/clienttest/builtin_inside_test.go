package clienttest

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/client/meta"
)

func TestTheKindsOfSubresourcesAreKnown(t *testing.T) {
	for _, r := range builtinKinds() {
		for name, sub := range r.subresources {
			kind := meta.GVK{Group: sub.kind.Group, Version: cmp.Or(sub.kind.Version, r.Version), Kind: cmp.Or(sub.kind.Kind, r.Kind)}
			if sub.kind.Kind == "" {
				kind.Group = r.Group
			}
			if schema.Builtin().Of(kind) == nil {
				t.Errorf("%s/%s: schemas.json does not have %v; DESIGN.md says how to write it", r.Resource.Resource, name, kind)
			}
		}
	}
}

func TestEveryRouteOfAResourceCanBeReached(t *testing.T) {
	containers := []string{"/NAME/attach", "/NAME/exec", "/NAME/log", "/NAME/portforward"} // discovery does not list them
	for row := range routes {
		verb, path, found := strings.Cut(row, " ")
		if !found {
			continue
		}
		name, rest := path, ""
		if i := strings.IndexByte(path, '/'); i >= 0 {
			name, rest = path[:i], path[i:]
		}
		if !slices.ContainsFunc(builtinKinds(), func(r resource) bool {
			if name != "*" && name != r.groupResource() {
				return false
			}
			if sub, isSub := strings.CutPrefix(rest, "/NAME/"); isSub {
				return slices.Contains(containers, rest) || r.subresources[sub] != nil && slices.Contains(r.subresources[sub].verbs, verb)
			}
			return slices.Contains(r.verbs, verb)
		}) {
			t.Errorf("routes has %q, and kinds.json has no such resource or subresource", row)
		}
	}
}

func TestEverySubresourceHasAVerb(t *testing.T) {
	for _, r := range builtinKinds() {
		for name, sub := range r.subresources {
			if len(sub.verbs) == 0 {
				t.Errorf("kinds.json has %s/%s, and routes has no row for it", r.groupResource(), name)
			}
		}
	}
}

func TestTheKindsOfResourcesAreKnown(t *testing.T) {
	for _, r := range builtinKinds() {
		if schema.Builtin().Of(r.GVK()) == nil {
			t.Errorf("%s: schemas.json does not have %v; DESIGN.md says how to write it", r.groupResource(), r.GVK())
		}
	}
}
