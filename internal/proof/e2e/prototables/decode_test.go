package prototables

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/protobuf"
)

// notJoined are the kinds whose Go types have members that protobuf does not have, or that are one of several forms.
var notJoined = map[string]string{
	"apps/v1, Kind=StatefulSet":                              "spec.volumeClaimTemplates.apiVersion: the protobuf table of PersistentVolumeClaim has no such member",
	"apiextensions.k8s.io/v1, Kind=ConversionReview":         "response.result.apiVersion: the protobuf table of Status has no such member",
	"apiextensions.k8s.io/v1, Kind=CustomResourceDefinition": "spec.versions.schema.openAPIV3Schema.items: v1.JSONSchemaPropsOrArray cannot be filled with one of several forms of protobuf",
	"policy/v1, Kind=Eviction":                               "deleteOptions.apiVersion: the protobuf table of DeleteOptions has no such member",
}

// Each kind, with random content, is decoded from the protobuf that its own type writes: into that type, and into a struct with
// the same members whose fields are all pointers. The results are those of encoding/json.
func TestDecodeEveryKind(t *testing.T) {
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	schema := schemaOf(t)
	kinds, pointered := 0, 0
	for gvk, typ := range scheme.AllKnownTypes() {
		m := schema.Kind(gvk.Group, gvk.Version, gvk.Kind)
		if m == nil || strings.HasSuffix(gvk.Kind, "List") {
			continue
		}
		if _, ok := reflect.New(typ).Interface().(marshaler); !ok {
			continue
		}
		kinds++
		t.Run(gvk.String(), func(t *testing.T) {
			if why := notJoined[gvk.String()]; why != "" {
				if _, err := codec.Join(reflect.PointerTo(typ), m); err == nil || err.Error() != why {
					t.Errorf("joined with the error %v, want %s", err, why)
				}
				return
			}
			same := join(t, reflect.PointerTo(typ), m)
			var pointers *codec.Joint
			p := pointersOf(typ, nil)
			if p != nil {
				pointered++
				pointers = join(t, reflect.PointerTo(p), m)
			}
			for seed := range int64(40) {
				obj := reflect.New(typ).Interface()
				filler(seed).NumElements(1, 3).Fill(obj) // an empty slice that is not nil does not survive
				text, err := json.Marshal(obj)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				message, err := obj.(marshaler).Marshal()
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				compareDecoded(t, seed, same, typ, text, message)
				if p != nil {
					compareDecoded(t, seed, pointers, p, text, message)
				}
			}
		})
	}
	if kinds < 60 || pointered < 55 {
		t.Errorf("only %d kinds were decoded, %d with pointers", kinds, pointered)
	}
}

type marshaler interface{ Marshal() ([]byte, error) }

func join(t *testing.T, typ reflect.Type, m *protobuf.Message) *codec.Joint {
	t.Helper()
	j, err := codec.Join(typ, m)
	if err != nil {
		t.Fatalf("join %v: %v", typ, err)
	}
	return j
}

func compareDecoded(t *testing.T, seed int64, j *codec.Joint, typ reflect.Type, text, message []byte) {
	t.Helper()
	want := reflect.New(typ)
	if err := json.Unmarshal(text, want.Interface()); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	var meta struct{ APIVersion, Kind string }
	if err := json.Unmarshal(text, &meta); err != nil {
		t.Fatal(err)
	}
	o := codec.Options{APIVersion: meta.APIVersion, Kind: meta.Kind}
	var kept []reflect.Value
	for i := range 7 { // first without parts, and then with them; the last objects share most of them
		if i == 1 {
			o.Parts = new(codec.Parts)
		}
		got := reflect.New(reflect.PointerTo(typ))
		kept = append(kept, got)
		if err := j.Decode(got.Interface(), jsonstream.Item{Raw: message}, o); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if !reflect.DeepEqual(got.Elem().Interface(), want.Interface()) {
			g, _ := json.MarshalIndent(got.Elem().Interface(), "", " ")
			w, _ := json.MarshalIndent(want.Interface(), "", " ")
			t.Fatalf("seed %d, %v, time %d: from protobuf\n%s\nfrom JSON\n%s",
				seed, typ, i, firstDifference(string(g), string(w)), firstDifference(string(w), string(g)))
		}
	}
	runtime.KeepAlive(kept) // parts live as long as objects that have them
}

// firstDifference returns the lines of a around the first one that differs from b.
func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	i := 0
	for i < len(x) && i < len(y) && x[i] == y[i] {
		i++
	}
	return strings.Join(x[max(0, i-6):min(len(x), i+4)], "\n")
}

// pointersOf returns a struct type with the members of t whose fields are all pointers; nil if t contains itself.
func pointersOf(t reflect.Type, within []reflect.Type) reflect.Type {
	switch {
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return t
	case t.Kind() == reflect.Pointer:
		if e := pointersOf(t.Elem(), within); e != nil {
			return reflect.PointerTo(e)
		}
		return nil
	case t.Kind() == reflect.Slice:
		if e := pointersOf(t.Elem(), within); e != nil && e != t.Elem() {
			return reflect.SliceOf(e)
		} else if e == nil {
			return nil
		}
		return t
	case t.Kind() == reflect.Map:
		if e := pointersOf(t.Elem(), within); e != nil && e != t.Elem() {
			return reflect.MapOf(t.Key(), e)
		} else if e == nil {
			return nil
		}
		return t
	case t.Kind() != reflect.Struct:
		return t
	}
	for _, w := range within {
		if w == t {
			return nil
		}
	}
	fields, ok := pointerFields(t, append(within, t))
	if !ok {
		return nil
	}
	return reflect.StructOf(fields)
}

func pointerFields(t reflect.Type, within []reflect.Type) (fields []reflect.StructField, ok bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" && f.Anonymous {
			inner, ok := pointerFields(f.Type, within)
			if !ok {
				return nil, false
			}
			fields = append(fields, inner...)
			continue
		}
		p := pointersOf(f.Type, within)
		if p == nil {
			return nil, false
		}
		switch p.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
		default:
			p = reflect.PointerTo(p)
		}
		fields = append(fields, reflect.StructField{
			Name: fmt.Sprintf("F%d_%s", len(within), f.Name), Type: p, Tag: reflect.StructTag(`json:"` + name + `"`),
		})
	}
	return fields, true
}
