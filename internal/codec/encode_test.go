package codec_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
)

func TestMarshalPutsTheTypeFirst(t *testing.T) {
	type loose struct {
		Name       string  `json:"name"`
		APIVersion string  `json:"apiVersion"`
		Kind       *string `json:"kind"`
	}
	pod := "Pod"
	for _, test := range []struct {
		name string
		v    any
		want string
	}{
		{
			"an object without its type", &noType{meta.Identity{Name: "a"}},
			`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}`,
		},
		{"an object without anything", struct{}{}, `{"kind":"Pod","apiVersion":"v1"}`},
		{
			"an object that has its type", &foreign{Kind: "Pod", APIVersion: "v1"},
			`{"kind":"Pod","apiVersion":"v1","metadata":{}}`,
		},
		{"an object without kind", &foreign{APIVersion: "v1"}, `{"kind":"Pod","apiVersion":"v1","metadata":{}}`},
		{"an object without apiVersion", &foreign{Kind: "Pod"}, `{"apiVersion":"v1","kind":"Pod","metadata":{}}`},
		{"members that are empty", loose{Name: "a"}, `{"kind":"Pod","apiVersion":"v1","name":"a"}`},
		{"a member that is empty, between others", loose{Name: "a", Kind: &pod}, `{"apiVersion":"v1","name":"a","kind":"Pod"}`},
		{
			"members that are right, elsewhere",
			loose{Name: "a", APIVersion: "v1", Kind: &pod},
			`{"name":"a","apiVersion":"v1","kind":"Pod"}`,
		},
		{
			"a map",
			map[string]any{"metadata": map[string]any{"name": "a"}, "apiVersion": "v1"},
			`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}`,
		},
		{"a map with null", map[string]any{"kind": nil, "apiVersion": ""}, `{"kind":"Pod","apiVersion":"v1"}`},
		{
			"raw JSON", json.RawMessage(` { "k\u0069nd" : "P\u006fd" , "x" : [ "kind" , { "kind" : "no" } ] } `),
			`{"apiVersion":"v1","k\u0069nd":"P\u006fd","x":["kind",{"kind":"no"}]}`,
		},
		{
			"names of another case",
			map[string]any{"Kind": "no", "APIVersion": "no"},
			`{"kind":"Pod","apiVersion":"v1","APIVersion":"no","Kind":"no"}`,
		},
		{
			"duplicates, one of them empty", json.RawMessage(`{"kind":"","a":1,"kind":"Pod","apiVersion":"v1"}`),
			`{"a":1,"kind":"Pod","apiVersion":"v1"}`,
		},
		{
			"text that encoding/json escapes",
			map[string]any{"a": "<&>\u2028"},
			`{"kind":"Pod","apiVersion":"v1","a":"\u003c\u0026\u003e\u2028"}`,
		},
		{"names that are not Unicode", json.RawMessage("{\"\xff\":1}"), "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"\xff\":1}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := codec.Marshal(test.v, "v1", "Pod")
			if err != nil || string(got) != test.want {
				t.Errorf("got\n%s, %v; want\n%s", got, err, test.want)
			}
		})
	}
}

func TestMarshalAddsOnlyTheTypeThatIsGiven(t *testing.T) {
	for _, test := range []struct{ apiVersion, kind, want string }{
		{"", "", `{"kind":"Other"}`},
		{"v1", "", `{"apiVersion":"v1","kind":"Other"}`},
		{"", "Other", `{"kind":"Other"}`},
	} {
		got, err := codec.Marshal(map[string]any{"kind": "Other"}, test.apiVersion, test.kind)
		if err != nil || string(got) != test.want {
			t.Errorf("got %s, %v; want %s", got, err, test.want)
		}
	}
	if got, err := codec.Marshal(struct{}{}, "", ""); err != nil || string(got) != "{}" {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestMarshalRefuses(t *testing.T) {
	for _, test := range []struct {
		name string
		v    any
		want string
	}{
		{
			"another kind", &foreign{Kind: "Service", APIVersion: "v1"},
			`encode *codec_test.foreign: its kind must be "Pod" or empty, got "Service"`,
		},
		{
			"another apiVersion", &foreign{Kind: "Pod", APIVersion: "v2"},
			`encode *codec_test.foreign: its apiVersion must be "v1" or empty, got "v2"`,
		},
		{"a kind that is no string", odd{Kind: 5}, `encode codec_test.odd: its kind must be a string, got a JSON number`},
		{
			"two kinds", json.RawMessage(`{"kind":"Pod","kind":"Service"}`),
			fmt.Sprintf(`encode %T: its kind must be "Pod" or empty, got "Service"`, json.RawMessage{}), // an alias from Go 1.27 on
		},
		{"nil", nil, `encode <nil>: it must be a JSON object, got a JSON null`},
		{"a nil pointer", (*foreign)(nil), `encode *codec_test.foreign: it must be a JSON object, got a JSON null`},
		{"a nil map", map[string]any(nil), `encode map[string]interface {}: it must be a JSON object, got a JSON null`},
		{"a slice", []string{"a"}, `encode []string: it must be a JSON object, got a JSON array`},
		{"a string", "a", `encode string: it must be a JSON object, got a JSON string`},
		{"bytes, which would be base64", []byte("{}"), `encode []uint8: it must be a JSON object, got a JSON string`},
		{
			"what JSON does not have",
			map[string]any{"a": math.NaN()},
			`encode map[string]interface {}: json: unsupported value: NaN`,
		},
		{"what Go cannot encode", struct{ F func() }{}, `encode struct { F func() }: json: unsupported type: func()`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, err := codec.Marshal(test.v, "v1", "Pod"); got != nil || err == nil || err.Error() != test.want {
				t.Errorf("got %s, %v; want %s", got, err, test.want)
			}
		})
	}
	_, err := codec.Marshal(make(chan int), "v1", "Pod")
	if e := new(json.UnsupportedTypeError); !errors.As(err, &e) {
		t.Errorf("%v does not wrap encoding/json's error", err)
	}
}

func TestMarshalAndDecodeRoundTrip(t *testing.T) {
	raw := readPod(t)
	v, err := codec.Unmarshal[*pod](raw)
	if err != nil {
		t.Fatal(err)
	}
	if v.Name == "" || v.Spec.Containers[0].LivenessProbe.HTTPGet.Port != "http" ||
		len(v.Status.Conditions) != 5 || v.Status.StartTime.IsZero() {
		t.Errorf("not everything was decoded: %+v", v)
	}
	first, err := codec.Marshal(v, "v1", "Pod")
	if err != nil {
		t.Fatal(err)
	}
	again, err := codec.Unmarshal[*pod](first)
	if err != nil {
		t.Fatal(err)
	}
	second, err := codec.Marshal(again, "v1", "Pod")
	if err != nil || string(second) != string(first) {
		t.Errorf("got\n%s, %v; want\n%s", second, err, first)
	}
}
