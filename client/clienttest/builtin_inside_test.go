package clienttest

import (
	"cmp"
	"runtime"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/client/meta"
)

// A JSON patch of a deep document took minutes, with the store locked, because each level was read once for each level above.
func TestDeepDocumentIsReadOnce(t *testing.T) {
	const depth = 9_000
	doc := []byte(strings.Repeat(`{"a":[`, depth/2) + `1.50` + strings.Repeat(`]}`, depth/2))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n := parseNode(doc)
	runtime.ReadMemStats(&after)
	if got := string(n.append(nil)); got != string(doc) {
		t.Errorf("it became %.100s", got)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 16<<20 {
		t.Errorf("it took %d bytes to read %d", got, len(doc))
	}
}

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
