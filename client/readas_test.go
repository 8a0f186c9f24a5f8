package client_test

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/handle"
)

// anObject is an interface for objects whose Go type is known only at run time.
type anObject interface {
	meta.Object
	GetUID() string
}

// ownDecoder decodes JSON by itself, as k8s.io's Unstructured does: it needs the kind in the text.
type ownDecoder struct {
	meta.Identity
	text string
}

func (s *ownDecoder) GetUID() string { return s.UID }

func (s *ownDecoder) UnmarshalJSON(b []byte) error {
	var o struct {
		Metadata meta.Identity `json:"metadata"`
	}
	s.text = string(b)
	err := json.Unmarshal(b, &o)
	s.Identity = o.Metadata
	return err
}

func listAs(t *testing.T, srv http.Handler, objects reflect.Type, metadata bool) ([]anObject, error) {
	t.Helper()
	r := asValues(connect(t, srv), objects, nil, metadata)
	var all []anObject
	_, err := r.ListEach(t.Context(), client.ListOptions{}, nil, func(item client.Item[anObject]) error {
		all = append(all, item.Object)
		return item.Err
	})
	return all, err
}

// asValues returns a handle on config maps whose objects are values of a Go type.
func asValues(c *client.Client, objects reflect.Type, only *codec.Projection, metadata bool) client.Resource[anObject] {
	r := client.For(c, client.Type[anObject](slims))
	return handle.Of(r).ReadAs(objects, only, metadata).(client.Resource[anObject])
}

func TestTheGoTypeOfObjectsIsAValue(t *testing.T) {
	bare := `{"metadata":{"namespace":"web","name":"a","uid":"u","resourceVersion":"1"}}`
	list := strings.Replace(listOf("5", "", "ITEM"), "ITEM", bare, 1)
	got, err := listAs(t, says(list), reflect.TypeFor[*meta.Unstructured](), false)
	if err != nil || len(got) != 1 {
		t.Fatalf("got %v, %v", got, err)
	}
	u, ok := got[0].(*meta.Unstructured)
	if !ok || u.GVK() != slims.GVK() || u.GetName() != "a" {
		t.Errorf("got %T %v", got[0], got[0])
	}
	got, err = listAs(t, says(list), reflect.TypeFor[*ownDecoder](), false)
	if err != nil || len(got) != 1 {
		t.Fatalf("got %v, %v", got, err)
	}
	if s := got[0].(*ownDecoder); s.GetName() != "a" || !strings.HasPrefix(s.text, `{"kind":"ConfigMap","apiVersion":"v1","metadata":`) {
		t.Errorf("got %v of %s", s, s.text)
	}
	partial := strings.NewReplacer(`"ConfigMapList"`, `"PartialObjectMetadataList"`, `"v1"`, `"meta.k8s.io/v1"`).Replace(list)
	got, err = listAs(t, says(partial), reflect.TypeFor[*meta.Partial](), true)
	if err != nil || len(got) != 1 {
		t.Fatalf("got %v, %v", got, err)
	}
	if p := got[0].(*meta.Partial); p.GVK() != slims.GVK() || p.GetName() != "a" {
		t.Errorf("got %+v", p)
	}
	bad := strings.Replace(list, `"uid":"u"`, `"uid":7`, 1)
	if got, err := listAs(t, says(bad), reflect.TypeFor[*meta.Partial](), false); err == nil {
		t.Errorf("an object that does not fit: got %v", got)
	}
	for _, wrong := range []reflect.Type{reflect.TypeFor[*struct{}](), reflect.TypeFor[meta.Unstructured](), reflect.TypeFor[anObject]()} {
		if _, err := listAs(t, says(list), wrong, false); err == nil || !strings.Contains(err.Error(), "must be a pointer that implements") {
			t.Errorf("%v: %v", wrong, err)
		}
	}
	whole, err := codec.Project(reflect.TypeFor[*meta.Partial](), []string{"metadata.name", "metadata.labels"})
	if err != nil {
		t.Fatal(err)
	}
	for name, wrong := range map[string]struct {
		objects  reflect.Type
		metadata bool
	}{
		"a projection of another type":  {reflect.TypeFor[*ownDecoder](), false},
		"a projection of metadata only": {reflect.TypeFor[*meta.Partial](), true},
	} {
		r := asValues(connect(t, says(list)), wrong.objects, whole, wrong.metadata)
		if _, err := r.ListEach(t.Context(), client.ListOptions{}, nil, nil); err == nil || !strings.Contains(err.Error(), "the projection must be of whole objects") {
			t.Errorf("%s: %v", name, err)
		}
	}
	r := asValues(connect(t, says(list)), reflect.TypeFor[*meta.Partial](), whole, false)
	if _, err := r.ListEach(t.Context(), client.ListOptions{}, nil, func(item client.Item[anObject]) error {
		if p := item.Object.(*meta.Partial); p.Name != "a" || p.Namespace != "" || p.Kind != "ConfigMap" || item.Identity.Namespace != "web" {
			t.Errorf("a projection: got %+v of %v", p, item.Identity)
		}
		return item.Err
	}); err != nil {
		t.Error(err)
	}
	if _, err := asValues(nil, reflect.TypeFor[*ownDecoder](), nil, false).
		ListEach(context.Background(), client.ListOptions{}, nil, nil); err == nil {
		t.Error("no client is a client")
	}
}
