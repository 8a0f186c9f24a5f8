package debug_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/bowline-go/bowline/informer/debug"
)

func decode(t testing.TB, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestYAMLIsWhatPeopleExpect(t *testing.T) {
	for _, test := range []struct{ json, want string }{
		{`{"kind":"Pod","apiVersion":"v1","spec":{"containers":[{"name":"a","args":["-v","x y"]},{"name":"b"}],"empty":{},"none":[]}}`, `apiVersion: v1
kind: Pod
spec:
  containers:
  - args:
    - "-v"
    - x y
    name: a
  - name: b
  empty: {}
  none: []
`},
		{
			`{"a":"1","b":1,"c":true,"d":"true","e":null,"f":"null","g":"","h":"no","i":"~","j":"1:30","k":"2026-01-01","l":"0x1f"}`,
			"a: \"1\"\nb: 1\nc: true\nd: \"true\"\ne: null\nf: \"null\"\ng: \"\"\nh: \"no\"\ni: \"~\"\nj: \"1:30\"\nk: \"2026-01-01\"\nl: \"0x1f\"\n",
		},
		{
			`{"a":"x: y","b":"x #y","c":"x:","d":"- x","e":"x ","f":"{x}","g":"a:b#c/d","h":"*x","i":"'"}`,
			"a: \"x: y\"\nb: \"x #y\"\nc: \"x:\"\nd: \"- x\"\ne: \"x \"\nf: \"{x}\"\ng: a:b#c/d\nh: \"*x\"\ni: \"'\"\n",
		},
		{
			`{"a":"x\ny\n","b":"x\ny","c":"x\n\n","d":" x\ny","e":"x \ny","f":"\n","g":["x\n y\n"]}`,
			"a: |\n  x\n  y\nb: |-\n  x\n  y\nc: |+\n  x\n\nd: \" x\\ny\"\ne: \"x \\ny\"\nf: \"\\n\"\ng:\n- |\n  x\n   y\n",
		},
		{`{"a":"\u0000\u001b\u0085\u2028\u202e\ufeff","b":"é 漢 🎉"}`, "a: \"\\x00\\x1b\\x85\\u2028\\u202e\\ufeff\"\nb: é 漢 🎉\n"},
		{`[[1,[2,{"a":[3]}]],[],{}]`, "- - 1\n  - - 2\n    - a:\n      - 3\n- []\n- {}\n"},
		{`{"a":1e3,"b":1.5E-7,"c":-0,"d":123456789012345678901234567890}`, "a: 1.0e+3\nb: 1.5e-7\nc: -0\nd: 123456789012345678901234567890\n"},
		{`"text"`, "text\n"},
		{`"a\nb"`, "|-\n  a\n  b\n"},
	} {
		if got := debug.YAML(decode(t, test.json)); got != test.want {
			t.Errorf("%s is\n%s\nwant\n%s", test.json, got, test.want)
		}
	}
}

// same reports whether a value that was read from YAML is the one of the JSON.
func same(yaml, asJSON any) bool {
	switch j := asJSON.(type) {
	case json.Number:
		want, err := j.Float64()
		if err != nil { // too large for a float: this reader makes a string of it
			_, isText := yaml.(string)
			return isText
		}
		got := reflect.ValueOf(yaml)
		if yaml == nil || !got.Type().ConvertibleTo(reflect.TypeFor[float64]()) || got.Kind() == reflect.String {
			return false
		}
		return got.Convert(reflect.TypeFor[float64]()).Float() == want
	case []any:
		y, ok := yaml.([]any)
		if !ok || len(y) != len(j) {
			return false
		}
		for i := range j {
			if !same(y[i], j[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		y, ok := yaml.(map[string]any)
		if !ok || len(y) != len(j) {
			return false
		}
		for name, value := range j {
			if got, ok := y[name]; !ok || !same(got, value) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(yaml, asJSON)
}

// FuzzYAML checks that a reader of YAML gets what the JSON says, and that the text has no control characters.
func FuzzYAML(f *testing.F) {
	for _, text := range append([]string{
		`{"a":[{"b":"c\nd\n","e":[["f"],{}]}],"g":{"h":[]},"":"","<<":"x","=":"=","? x":"y","- ":1}`,
		`{"a":"x\n\n\n","b":"\n\nx","c":"x\n\ty","d":"---\n...","e":"|\n>","f":"%YAML","g":"x\r\ny","h":"a\n\n b\n"}`,
		`["y","n","Yes","OFF","1_000","1e3",".inf","-.INF",".nan","0o7","0b1","190:20:30","2001-12-14t21:59:43.10-05:00","!x","&x","*x","@x","` + "`" + `x"]`,
		`{"` + strings.Repeat("long", 400) + `":{"a":["b"]}}`, `[1e400,1e-400,0.1,-1.5e+10]`, `"x\n"`, `[["a\nb\n\n"],"c"]`, `"\ud800"`,
	}, quotedAll(hostile)...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var v any
		if d.Decode(&v) != nil || len(text) > 1<<14 || strings.Count(text, "[")+strings.Count(text, "{") > 1000 {
			return
		}
		got := debug.YAML(v)
		if i := strings.IndexFunc(got, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0xfeff }); i >= 0 {
			t.Fatalf("%q has a control character at %d", got, i)
		}
		var read any
		if err := yaml.NewDecoder(bytes.NewReader([]byte(got))).Decode(&read); err != nil {
			t.Fatalf("%v in\n%s", err, got)
		}
		if !same(read, v) {
			t.Fatalf("%s\nis read as %#v, want %#v", got, read, v)
		}
	})
}

func quotedAll(texts []string) (all []string) {
	for _, text := range texts {
		b, _ := json.Marshal(map[string]string{text: text})
		all = append(all, string(b))
	}
	return all
}
