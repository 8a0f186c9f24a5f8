package strategic_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/openapi/openapitest"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/patch/strategic"
)

// fromServer reads a schema by read from a document that a server has of the group and version.
func fromServer[S any](t *testing.T, path string, kind meta.GVK, read func(doc []byte, kind meta.GVK) (S, error)) S {
	t.Helper()
	paths, err := openapitest.NewEmbeddedFileClient().Paths()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := paths[path].Schema("application/json")
	if err != nil {
		t.Fatal(err)
	}
	s, err := read(doc, kind)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// members calls f with the path of every member of a Go type that a strategy can be for, which is no scalar, as deep as it goes without a type inside itself.
func members(t reflect.Type, path []string, inside []reflect.Type, f func(path []string)) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || slices.Contains(inside, t) {
		return
	}
	inside = append(slices.Clone(inside), t)
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "-" || !t.Field(i).IsExported() {
			continue
		}
		if name == "" {
			members(t.Field(i).Type, path, inside, f)
			continue
		}
		at := append(slices.Clone(path), name)
		switch t.Field(i).Type.Kind() {
		case reflect.Struct, reflect.Pointer, reflect.Map, reflect.Slice:
			f(at)
		}
		members(t.Field(i).Type, at, inside, f)
	}
}

// The document is older than the types, and a type may have got members since; none has changed its strategy.
func TestSchemasOfTypesAndOfAServerAgree(t *testing.T) { // behaviour 322
	for _, test := range []struct {
		path   string
		kind   meta.GVK
		object any
		known  int // members that both know, at least
		merged int // of these are merged lists, at least
	}{
		{"api/v1", meta.GVK{Version: "v1", Kind: "Pod"}, corev1.Pod{}, 500, 25},
		{"api/v1", meta.GVK{Version: "v1", Kind: "Service"}, corev1.Service{}, 25, 3},
		{"api/v1", meta.GVK{Version: "v1", Kind: "Node"}, corev1.Node{}, 25, 3},
		{"api/v1", meta.GVK{Version: "v1", Kind: "ServiceAccount"}, corev1.ServiceAccount{}, 8, 2},
		{"apis/apps/v1", meta.GVK{Group: "apps", Version: "v1", Kind: "Deployment"}, appsv1.Deployment{}, 500, 25},
		{"apis/apps/v1", meta.GVK{Group: "apps", Version: "v1", Kind: "StatefulSet"}, appsv1.StatefulSet{}, 500, 25},
		{"apis/apps/v1", meta.GVK{Group: "apps", Version: "v1", Kind: "DaemonSet"}, appsv1.DaemonSet{}, 500, 25},
		{"apis/batch/v1", meta.GVK{Group: "batch", Version: "v1", Kind: "CronJob"}, batchv1.CronJob{}, 500, 25},
	} {
		t.Run(test.kind.Kind, func(t *testing.T) {
			served := fromServer(t, test.path, test.kind, strategic.ShapeFromOpenAPI)
			ofType, err := strategic.ShapeOf(reflect.TypeOf(test.object))
			if err != nil {
				t.Fatal(err)
			}
			known, merged := 0, 0
			members(reflect.TypeOf(test.object), nil, nil, func(path []string) {
				of, ok := ofType.At(path)
				if !ok {
					t.Errorf("the type's schema does not know %q", path)
				}
				by, ok := served.At(path)
				if !ok {
					return
				}
				known++
				if of.Merge {
					merged++
				}
				if of.Shape, by.Shape = nil, nil; of != by {
					t.Errorf("%q is %+v by the type, %+v by the server", path, of, by)
				}
			})
			if known < test.known || merged < test.merged {
				t.Errorf("%d members, %d of them merged", known, merged)
			}
		})
	}
}
