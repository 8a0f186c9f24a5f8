package prototables

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/protobuf/all"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"

	table "github.com/bowline-go/bowline/internal/protobuf"
)

// object is a kind with generated code for protobuf.
type object interface {
	Marshal() ([]byte, error)
	Unmarshal(b []byte) error
}

// The message that generated code writes for an object has the JSON that encoding/json writes for it, and the other way round.
func TestEveryKindIsTheSameInBothForms(t *testing.T) {
	schema := schemaOf(t)
	s, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	kinds := 0
	for _, gv := range versions {
		types := s.KnownTypes(gv)
		for _, kind := range slices.Sorted(maps.Keys(types)) {
			m := schema.Kind(gv.Group, gv.Version, kind)
			if m == nil {
				if strings.HasPrefix(types[kind].PkgPath(), "k8s.io/api/") && strings.HasSuffix(types[kind].PkgPath(), "/"+gv.Version) {
					t.Errorf("no table has the kind %s of %s", kind, gv)
				}
				continue
			}
			kinds++
			compareForms(t, gv.String()+" "+kind, m, types[kind])
		}
	}
	for _, typ := range ofMeta {
		if m := schema.Message("meta/v1", typ.Name()); typ.Name() != "WatchEvent" { // its object is an envelope
			compareForms(t, typ.Name(), m, typ)
		}
	}
	if kinds < 150 {
		t.Errorf("compared %d kinds only", kinds)
	}
}

func schemaOf(t *testing.T) *table.Schema {
	t.Helper()
	var tables []*table.Table
	for _, w := range all.Tables() {
		tables = append(tables, w.Inside())
	}
	schema, err := table.NewSchema(tables...)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func compareForms(t *testing.T, name string, m *table.Message, typ reflect.Type) {
	t.Helper()
	for seed := range int64(40) {
		if err := compareOne(m, typ, seed); err != nil {
			t.Errorf("%s, seed %d: %v", name, seed, err)
			return
		}
	}
}

func compareOne(m *table.Message, typ reflect.Type, seed int64) error {
	filled := reflect.New(typ).Interface().(object)
	filler(seed).Fill(filled)
	obj, raw, err := again(typ, filled) // without what protobuf does not tell apart, such as nil and empty
	if err != nil {
		return err
	}
	want, err := json.Marshal(obj)
	if err != nil {
		return err
	}
	got, err := m.AppendJSON(nil, raw)
	if err != nil {
		return fmt.Errorf("to JSON: %w", err)
	}
	if err := difference("", tree(got), tree(want)); err != nil {
		return fmt.Errorf("to JSON: %w", err)
	}

	fromJSON := reflect.New(typ).Interface().(object)
	if err := json.Unmarshal(want, fromJSON); err != nil {
		return err
	}
	wantObj, _, err := again(typ, fromJSON)
	if err != nil {
		return err
	}
	message, err := m.AppendProto(nil, want, nil)
	if err != nil {
		return fmt.Errorf("from JSON: %w", err)
	}
	gotObj := reflect.New(typ).Interface().(object)
	if err := gotObj.Unmarshal(message); err != nil {
		return fmt.Errorf("from JSON: %w", err)
	}
	if !equality.Semantic.DeepEqual(gotObj, wantObj) {
		return fmt.Errorf("from JSON: %w", difference("", tree(marshalled(gotObj)), tree(marshalled(wantObj))))
	}
	return nil
}

// again returns an object after it was a message, and the message.
func again(typ reflect.Type, obj object) (object, []byte, error) {
	raw, err := obj.Marshal()
	if err != nil {
		return nil, nil, err
	}
	o := reflect.New(typ).Interface().(object)
	return o, raw, o.Unmarshal(raw)
}

// tree returns JSON as a tree, without members that are null and without what the envelope says.
func tree(text []byte) any {
	var v any
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return err
	}
	return withoutNull(v)
}

func withoutNull(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if e == nil {
				delete(v, k)
			} else {
				v[k] = withoutNull(e)
			}
		}
	case []any:
		for i, e := range v {
			v[i] = withoutNull(e)
		}
	}
	return v
}

// difference returns an error that names the first place where two trees differ, nil if none does.
func difference(path string, got, want any) error {
	g, gotMap := got.(map[string]any)
	w, wantMap := want.(map[string]any)
	if gotMap && wantMap {
		for _, k := range slices.Sorted(maps.Keys(merged(g, w))) {
			if err := difference(path+"."+k, g[k], w[k]); err != nil {
				return err
			}
		}
		return nil
	}
	gs, gotSlice := got.([]any)
	ws, wantSlice := want.([]any)
	if gotSlice && wantSlice && len(gs) == len(ws) {
		for i := range gs {
			if err := difference(fmt.Sprintf("%s[%d]", path, i), gs[i], ws[i]); err != nil {
				return err
			}
		}
		return nil
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("%s is %s, want %s", path, marshalled(got), marshalled(want))
	}
	return nil
}

func merged(a, b map[string]any) map[string]any {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

func marshalled(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return []byte(err.Error())
	}
	return b
}

// filler fills objects with random values that both forms can express.
func filler(seed int64) *randfill.Filler {
	return randfill.NewWithSeed(seed).NilChance(0.4).NumElements(0, 2).MaxDepth(14).Funcs(
		func(m *metav1.TypeMeta, _ randfill.Continue) {},
		func(v *metav1.Time, c randfill.Continue) {
			if c.Bool() {
				*v = metav1.Unix(c.Int63n(4e9)-1e9, 0)
			}
		},
		func(v *metav1.MicroTime, c randfill.Continue) {
			if c.Bool() {
				*v = metav1.NewMicroTime(time.Unix(c.Int63n(4e9)-1e9, c.Int63n(1e6)*1000))
			}
		},
		func(v *resource.Quantity, c randfill.Continue) {
			*v = resource.MustParse(fmt.Sprintf("%d%s", c.Int63n(1e6)-1000, []string{"", "m", "Mi", "k", "e3"}[c.Intn(5)]))
		},
		func(v *intstr.IntOrString, c randfill.Continue) {
			*v = intstr.FromInt32(c.Int31() - 1<<30)
			if c.Bool() {
				*v = intstr.FromString(c.String(9))
			}
		},
		func(v *string, c randfill.Continue) {
			*v = []string{"", "a", "with \"quotes\"\n", "日本語", c.String(9)}[c.Intn(5)]
		},
		func(v *runtime.RawExtension, c randfill.Continue) { v.Raw = someJSON(c.Rand) },
		func(v *metav1.FieldsV1, c randfill.Continue) { v.SetRawBytes([]byte(`{"f:metadata":{}}`)) },
		func(v *apiextensionsv1.JSON, c randfill.Continue) { v.Raw = someJSON(c.Rand) },
		func(v *apiextensionsv1.JSONSchemaPropsOrBool, c randfill.Continue) {
			if v.Allows = c.Bool(); v.Allows && c.Bool() {
				v.Schema = &apiextensionsv1.JSONSchemaProps{Description: "a", Default: &apiextensionsv1.JSON{Raw: []byte("1")}}
			}
		},
		func(v *apiextensionsv1.JSONSchemaPropsOrArray, c randfill.Continue) {
			if v.Schema = new(apiextensionsv1.JSONSchemaProps); c.Bool() {
				v.Schema, v.JSONSchemas = nil, []apiextensionsv1.JSONSchemaProps{{ID: "x"}, {}}
			}
		},
		func(v *apiextensionsv1.JSONSchemaPropsOrStringArray, c randfill.Continue) {
			if v.Schema = new(apiextensionsv1.JSONSchemaProps); c.Bool() {
				v.Schema, v.Property = nil, []string{"a", ""}
			}
		},
	)
}

func someJSON(r *rand.Rand) []byte {
	return []byte([]string{`{"a":[1,2.5,"x"],"b":null}`, `"text"`, `[]`, `7`, `true`}[r.Intn(5)])
}
