package clienttest_test

import (
	"encoding/json"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/patch/strategic"
)

func TestTheDocumentsHaveTheSchemas(t *testing.T) {
	withSchema := widgets()
	withSchema.Schema = json.RawMessage(`{"type":"object","properties":{"spec":{"type":"object","properties":{"color":{"type":"string"}}}}}`)
	loose := clienttest.Resource{Group: "loose.dev", Version: "v1", Kind: "Loose", Resource: "looses"}
	h := newHarness(t, clienttest.Options{Resources: []clienttest.Resource{withSchema, loose}})
	named := strategic.Field{Merge: true, MergeKey: "name"}
	for _, test := range []struct {
		doc   string
		kind  meta.GVK
		path  []string
		want  strategic.Field
		known bool
	}{
		{"api/v1", meta.GVK{Version: "v1", Kind: "Pod"}, []string{"spec", "containers"}, named, true},
		{"api/v1", meta.GVK{Group: "policy", Version: "v1", Kind: "Eviction"}, []string{"deleteOptions", "dryRun"}, strategic.Field{}, true},
		{"apis/apps/v1", meta.GVK{Group: "apps", Version: "v1", Kind: "Deployment"}, []string{"spec", "template", "spec", "containers"}, named, true},
		{"apis/apps/v1", meta.GVK{Group: "autoscaling", Version: "v1", Kind: "Scale"}, []string{"spec", "replicas"}, strategic.Field{}, true},
		{"apis/example.dev/v1", meta.GVK{Group: "example.dev", Version: "v1", Kind: "Widget"}, []string{"spec", "color"}, strategic.Field{}, true},
		{"apis/example.dev/v1", meta.GVK{Group: "example.dev", Version: "v1", Kind: "Widget"}, []string{"spec", "size"}, strategic.Field{}, false},
		{
			"apis/example.dev/v1",
			meta.GVK{Group: "example.dev", Version: "v1", Kind: "Widget"},
			[]string{"metadata", "ownerReferences"},
			strategic.Field{Merge: true, MergeKey: "uid"},
			true,
		},
		{"apis/loose.dev/v1", meta.GVK{Group: "loose.dev", Version: "v1", Kind: "Loose"}, []string{"metadata", "labels"}, strategic.Field{}, true},
	} {
		s, err := strategic.ShapeFromOpenAPI([]byte(h.must(t, "GET", "/openapi/v3/"+test.doc, "")), test.kind)
		if err != nil {
			t.Errorf("%s: %v", test.doc, err)
			continue
		}
		got, known := s.At(test.path)
		if got.Shape = nil; got != test.want || known != test.known {
			t.Errorf("%v %v is %+v, %t; want %+v, %t", test.kind, test.path, got, known, test.want, test.known)
		}
	}
}
