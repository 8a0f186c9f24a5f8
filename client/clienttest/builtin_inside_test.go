package clienttest

import (
	"cmp"
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
				t.Errorf("%s/%s: nothing is known of %v", r.Resource.Resource, name, kind)
			}
		}
	}
}
