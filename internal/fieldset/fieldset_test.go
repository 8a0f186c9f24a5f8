package fieldset_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/internal/fieldset"
)

// deployment is what a server noted for kubectl's apply of a deployment.
const deployment = `{"f:metadata":{"f:annotations":{".":{},"f:a/b":{}},"f:labels":{"f:app":{}}},"f:spec":{"f:replicas":{},` +
	`"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:args":{},"f:image":{},"f:name":{},` +
	`"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}},` +
	`"k:{\"containerPort\":443,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}}}}}}}}`

func parse(t *testing.T, text string) *fieldset.Set {
	t.Helper()
	s, err := fieldset.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestASetIsWrittenAsTheServerWroteIt(t *testing.T) {
	for _, text := range []string{
		`{}`,
		deployment,
		`{"f:a":{},"f:b":{"f:c":{}},"f:d":{".":{},"f:e":{}}}`,
		`{"f:metadata":{"f:finalizers":{".":{},"v:\"a/b\"":{},"v:\"a\u003cb\"":{}}}}`,
		`{"f:":{},"f:a\"b\\c\n":{}}`,
		`{"f:é":{}}`,
		`{"f:l":{"i:2":{},"i:10":{}}}`,
		`{"f:l":{"v:1":{},"v:2.5":{},"v:10":{},"v:\"1\"":{},"v:false":{},"v:true":{},"v:[1]":{},"v:{\"a\":1}":{},"v:null":{}}}`,
	} {
		// A control character has two spellings, and a server chooses the short one for some.
		want := strings.NewReplacer(`\n`, `\u000a`, `\u003c`, `\\u003c`).Replace(text)
		if got := string(parse(t, strings.ReplaceAll(text, `a\u003cb`, `a<b`)).Append(nil)); got != want {
			t.Errorf("the set is %s\n   want %s", got, want)
		}
	}
}

func TestEquivalentKeysAreEqual(t *testing.T) {
	for text, want := range map[string]string{
		`{"k:{ \"b\": 1, \"a\": \"x\" }":{}}`:                       `{"k:{\"a\":\"x\",\"b\":1}":{}}`,
		`{"k:{\"a\":1.0}":{},"k:{\"a\":1}":{"f:x":{}}}`:             `{"k:{\"a\":1}":{".":{},"f:x":{}}}`,
		`{"v:1e2":{},"v:100":{},"v:1.50":{}}`:                       `{"v:1.5":{},"v:100":{}}`,
		`{"v:-0":{},"v:0.0":{}}`:                                    `{"v:0":{}}`,
		`{"v:9007199254740993":{}}`:                                 `{"v:9007199254740993":{}}`,
		`{"v:1e999":{}}`:                                            `{"v:1e999":{}}`,
		`{"v:\"\\u0061\"":{},"v:[ 1.0 ]":{}}`:                       `{"v:\"a\"":{},"v:[1]":{}}`,
		`{"i:007":{}}`:                                              `{"i:7":{}}`,
		`{"k:{\"a\":\"\\u0062\"}":{},"k:{\"a\":\"b\"}":{"f:x":{}}}`: `{"k:{\"a\":\"b\"}":{".":{},"f:x":{}}}`,
		`{"k:{\"a\":\"b\",\"a\":\"c\"}":{}}`:                        `{"k:{\"a\":\"c\"}":{}}`,
		`{"f:a":{".":{}}}`:                                          `{"f:a":{}}`,
		` {".":{} , "f:a" : { "f:b":{},"f:b":{"f:c":{}} } } `:       `{"f:a":{"f:b":{".":{},"f:c":{}}}}`,
	} {
		if got := string(parse(t, text).Append(nil)); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

func TestMalformedSetsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		``:                              "the set ends too early",
		`{`:                             "the set ends too early",
		`{"f:a`:                         "the set ends too early",
		`{"f:a\`:                        "the set ends too early",
		`null`:                          `unexpected 'n' at byte 0`,
		`[]`:                            `unexpected '[' at byte 0`,
		`{}{}`:                          `unexpected '{' at byte 2`,
		"{}\x00":                        `unexpected '\x00' at byte 2`,
		`{"f:a":1}`:                     `unexpected '1' at byte 7`,
		`{"f:a":{},}`:                   `unexpected '}' at byte 10`,
		`{"f:a" {}}`:                    `unexpected '{' at byte 7`,
		"{\"f:\n\":{}}":                 `unexpected '\n' at byte 4`,
		`{"f:\x":{}}`:                   `string at byte 1 has an escape that JSON does not have`,
		`{".":{"f:a":{}}}`:              `key "." must have an empty object`,
		`{"a":{}}`:                      `key "a" must start with i:, k:, v: or f: and a name`,
		`{"":{}}`:                       `key "" must start with i:, k:, v: or f: and a name`,
		`{"x:a":{}}`:                    `key "x:a" must start with i:, k:, v: or f: and a name`,
		`{"i:a":{}}`:                    `key "i:a" must be i: and the index of an element`,
		`{"i:-1":{}}`:                   `key "i:-1" must be i: and the index of an element`,
		`{"v:":{}}`:                     `key "v:" must be v: and JSON: EOF`,
		`{"v:1 2":{}}`:                  `key "v:1 2" must be v: and JSON: found more than one value`,
		`{"k:[]":{}}`:                   `key "k:[]" must be k: and a JSON object`,
		`{"k:null":{}}`:                 `key "k:null" must be k: and a JSON object`,
		`{"k:{}":{}}`:                   `key "k:{}" must be k: and a JSON object of scalars`,
		`{"k:{\"a\":[]}":{}}`:           `key "k:{\"a\":[]}" must be k: and a JSON object of scalars`,
		strings.Repeat(`{"f:a":`, 1002): "the set nests deeper than 1000 levels",
		`{"f:` + strings.Repeat("a", 16<<20) + `":{}}`: "the set has 16777225 bytes, and 16777216 are allowed",
		`{"x:` + strings.Repeat("a", 200) + `":{}}`:    `key "x:` + strings.Repeat("a", 58) + "..." + strings.Repeat("a", 60) + `" must start with i:, k:, v: or f: and a name`,
	} {
		if s, err := fieldset.Parse([]byte(text)); err == nil || err.Error() != "fieldset: "+want {
			t.Errorf("%.300s is %v, %v\n want %s", text, s, err, want)
		}
	}
}

func TestSetsAreCombinedFieldByField(t *testing.T) {
	for _, test := range []struct{ a, b, union, difference, intersection string }{
		{`{}`, `{}`, `{}`, `{}`, `{}`},
		{`{"f:a":{}}`, `{}`, `{"f:a":{}}`, `{"f:a":{}}`, `{}`},
		{`{"f:a":{}}`, `{"f:a":{}}`, `{"f:a":{}}`, `{}`, `{"f:a":{}}`},
		{`{"f:a":{}}`, `{"f:a":{"f:b":{}}}`, `{"f:a":{".":{},"f:b":{}}}`, `{"f:a":{}}`, `{}`},
		{`{"f:a":{".":{},"f:b":{},"f:c":{}}}`, `{"f:a":{"f:b":{}}}`, `{"f:a":{".":{},"f:b":{},"f:c":{}}}`, `{"f:a":{".":{},"f:c":{}}}`, `{"f:a":{"f:b":{}}}`},
		{`{"f:a":{"f:b":{"f:c":{}}}}`, `{"f:a":{"f:b":{"f:c":{}}},"f:d":{}}`, `{"f:a":{"f:b":{"f:c":{}}},"f:d":{}}`, `{}`, `{"f:a":{"f:b":{"f:c":{}}}}`},
	} {
		a, b := parse(t, test.a), parse(t, test.b)
		for what, got := range map[string]*fieldset.Set{
			test.union: a.Union(b), test.difference: a.Difference(b), test.intersection: a.Intersection(b),
		} {
			if string(got.Append(nil)) != what || !got.Equal(parse(t, what)) {
				t.Errorf("%s and %s give %s, want %s", test.a, test.b, got.Append(nil), what)
			}
		}
		if string(a.Append(nil)) != test.a || string(b.Append(nil)) != test.b {
			t.Errorf("the arguments have become %s and %s", a.Append(nil), b.Append(nil))
		}
		if (test.a == test.b) != a.Equal(b) || a.Equal(b) != b.Equal(a) {
			t.Errorf("%s equals %s: %t, %t", test.a, test.b, a.Equal(b), b.Equal(a))
		}
	}
}

func TestANilSetIsEmpty(t *testing.T) {
	var none *fieldset.Set
	some := parse(t, `{"f:a":{}}`)
	hollow := &fieldset.Set{Children: map[string]*fieldset.Set{"f:a": {Children: map[string]*fieldset.Set{"f:b": nil}}}}
	for _, s := range []*fieldset.Set{none, {}, hollow} {
		if !s.IsEmpty() || length(s) != 0 || !s.Equal(none) || !none.Equal(s) || s.Equal(some) || some.Equal(s) || s.Has("f:a", "f:b") || s.Child("f:b") != nil {
			t.Errorf("%v is not empty", s)
		}
		if got := string(s.Append(nil)); got != "{}" {
			t.Errorf("an empty set is %s", got)
		}
		if !s.Union(some).Equal(some) || !some.Union(s).Equal(some) || !s.Difference(some).IsEmpty() || !some.Difference(s).Equal(some) ||
			!s.Intersection(some).IsEmpty() || !some.Intersection(s).IsEmpty() {
			t.Errorf("%v is combined as if it had fields", s)
		}
		for path := range s.Paths() {
			t.Errorf("%v has %q", s, path)
		}
	}
}

func TestFieldsAreNamedAsInConflicts(t *testing.T) {
	s := parse(t, deployment)
	var got []string
	for keys := range s.Paths() {
		got = append(got, fieldset.Path(keys))
		if !s.Has(keys...) {
			t.Errorf("%q is not in the set", keys)
		}
	}
	const web = `.spec.template.spec.containers[name="web"]`
	want := []string{
		".metadata.annotations", ".metadata.annotations.a/b", ".metadata.labels.app", ".spec.replicas", web, web + ".args", web + ".image", web + ".name",
		web + `.ports[containerPort=80,protocol="TCP"]`, web + `.ports[containerPort=80,protocol="TCP"].containerPort`,
		web + `.ports[containerPort=443,protocol="TCP"]`, web + `.ports[containerPort=443,protocol="TCP"].containerPort`,
	}
	if !slices.Equal(got, want) || length(s) != len(want) {
		t.Errorf("the %d fields are %q", length(s), got)
	}
	for range s.Paths() {
		break
	}
	for key, want := range map[string]string{
		`v:"a\"b"`: `[="a\"b"]`, `v:1`: `[=1]`, `v:true`: `[=true]`, `v:null`: `[=null]`, `v:[1,"a"]`: `[=[1,"a"]]`,
		`v:{"a":1,"b":"c"}`: `[={a=1;b="c"}]`, "i:3": "[3]", `v:x`: `[="x"]`,
	} {
		if got := fieldset.Path([]string{"f:a", key}); got != ".a"+want {
			t.Errorf("%s is %s, want .a%s", key, got, want)
		}
	}
}

func TestKeysAreMadeOfValues(t *testing.T) {
	key, err := fieldset.Key(map[string]any{"protocol": "TCP", "containerPort": json.Number("80.0")})
	if want := `k:{"containerPort":80,"protocol":"TCP"}`; err != nil || key != want {
		t.Errorf("the key is %s, %v", key, err)
	}
	if members, ok := fieldset.Members(key); !ok || fmt.Sprint(members) != "map[containerPort:80 protocol:TCP]" {
		t.Errorf("its members are %v, %t", members, ok)
	}
	for _, members := range []map[string]any{nil, {"a": []any{}}, {"a": struct{}{}}} {
		if key, err := fieldset.Key(members); err == nil {
			t.Errorf("%v is %s", members, key)
		}
	}
	for want, v := range map[string]any{
		`v:"a"`: "a", `v:80`: 80.0, `v:81`: int64(81), `v:82`: 82, `v:[1,{"a":null}]`: []any{1, map[string]any{"a": nil}},
	} {
		key, err := fieldset.Value(v)
		if err != nil || key != want {
			t.Errorf("the key of %v is %s, %v", v, key, err)
		}
		element, ok := fieldset.Element(key)
		if again, err := fieldset.Value(element); !ok || err != nil || again != want {
			t.Errorf("the element of %s is %v, %t", key, element, ok)
		}
	}
	for _, v := range []any{struct{}{}, []any{struct{}{}}, map[string]any{"a": struct{}{}}} {
		if key, err := fieldset.Value(v); err == nil {
			t.Errorf("%v is %s", v, key)
		}
	}
	if _, ok := fieldset.Members("f:a"); ok {
		t.Error("a field has members")
	}
	if _, ok := fieldset.Element("f:a"); ok {
		t.Error("a field is an element")
	}
	var s fieldset.Set
	s.Insert(fieldset.Field("a"), fieldset.Index(1))
	s.Insert(fieldset.Field("a"))
	if got := string(s.Append(nil)); got != `{"f:a":{".":{},"i:1":{}}}` {
		t.Errorf("the set is %s", got)
	}
}

func TestOwnedWholeKnowsTheMembersOfBuiltInKinds(t *testing.T) {
	for of, want := range map[[2]string]bool{
		{"apps/v1", "selector"}: true, {"v1", "secretKeyRef"}: true, {"networking.k8s.io/v1", "podSelector"}: true,
		{"apps/v1", "template"}: false, {"example.com/v1", "selector"}: false, {"apps.example.com/v1", "selector"}: false, {"", "selector"}: true,
	} {
		if got := fieldset.OwnedWhole(of[0], of[1]); got != want {
			t.Errorf("%q is owned whole: %t", of, got)
		}
	}
}

// length returns how many fields are in a set.
func length(s *fieldset.Set) (n int) {
	for range s.Paths() {
		n++
	}
	return n
}

// What a server may send takes a time in proportion to its size: a name that is there again and again took its square, and so did
// fields that lie deep.
func TestLargeSetsAreReadInTime(t *testing.T) {
	var twice, deep bytes.Buffer
	for i := range 60_000 {
		fmt.Fprintf(&twice, `,"f:a":{"f:%d":{}}`, i)
	}
	for i := range 100 {
		fmt.Fprintf(&deep, `,"f:%d":%s{}%s`, i, strings.Repeat(`{"f:":`, 998), strings.Repeat("}", 998))
	}
	for what, text := range map[string]string{"the same name": twice.String(), "deep fields": deep.String()} {
		began := time.Now()
		s := parse(t, "{"+text[1:]+"}")
		all := &fieldset.Set{}
		all.Add(s)
		if !all.Equal(s) || string(all.Append(nil)) != string(s.Append(nil)) || !s.Union(all).Equal(s) {
			t.Errorf("%s: a set is not what it was made of", what)
		}
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("%s: it took %v", what, took)
		}
	}
}

// What is read is written so that it is read again as the same, and the sets of it combine as sets do.
func FuzzParse(f *testing.F) {
	f.Add([]byte(deployment), []byte(`{"f:spec":{"f:replicas":{}}}`))
	f.Add([]byte(`{"f:l":{"v:1.0":{},"v:[{\"a\":1}]":{},"i:3":{".":{}}}}`), []byte(`{"k:{\"a\":null}":{}}`))
	f.Add([]byte(`{".":{}}`), []byte(`{"f:a":{".":{},"f:\u00e9":{}},"f:a":{"f:b":{}}}`))
	f.Fuzz(func(t *testing.T, one, two []byte) {
		a, err := fieldset.Parse(one)
		if err != nil {
			return
		}
		if !json.Valid(one) {
			t.Fatalf("%q is read, and no JSON", one)
		}
		text := a.Append(nil)
		again, err := fieldset.Parse(text)
		if err != nil || !again.Equal(a) || !bytes.Equal(again.Append(nil), text) {
			t.Fatalf("%s is read as %v, %v", text, again, err)
		}
		n := 0
		for keys := range a.Paths() {
			n++
			if !a.Has(keys...) || fieldset.Path(keys) == "" {
				t.Fatalf("%q is no path of %s", keys, text)
			}
		}
		if n != length(a) || a.IsEmpty() != (n == 0) {
			t.Fatalf("%s has %d fields, not %d", text, n, length(a))
		}
		b, err := fieldset.Parse(two)
		if err != nil {
			return
		}
		union, both := a.Union(b), a.Intersection(b)
		onlyA, onlyB := a.Difference(b), b.Difference(a)
		switch {
		case length(union) != length(a)+length(b)-length(both), !union.Equal(b.Union(a)), !both.Equal(b.Intersection(a)),
			!onlyA.Union(both).Union(onlyB).Equal(union), !onlyA.Intersection(onlyB).IsEmpty(),
			!bytes.Equal(a.Append(nil), text), a.Equal(b) != (onlyA.IsEmpty() && onlyB.IsEmpty()):
			t.Fatalf("%s and %s give %s, %s, %s, %s", text, b.Append(nil), union.Append(nil), both.Append(nil), onlyA.Append(nil), onlyB.Append(nil))
		}
	})
}
