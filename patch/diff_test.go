package patch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/internal/proof/histories"
	"github.com/bowline-go/bowline/patch"
)

// behaviour 317
func TestDiffMakesAMergePatch(t *testing.T) {
	for _, test := range []struct{ name, old, changed, want string }{
		{"no difference", `{"a":1,"b":[{"c":null}]}`, `{"a":1,"b":[{"c":null}]}`, `{}`},
		{"no difference but in writing", `{"a":{"b":1,"c":"\u0061"},"d":[1]}`, ` {"d": [1.0], "a": {"c": "a", "b": 1e0}} `, `{}`},
		{"added", `{"a":1}`, `{"a":1,"b":{"c":2}}`, `{"b":{"c":2}}`},
		{"changed", `{"a":1,"b":2}`, `{"a":3,"b":2}`, `{"a":3}`},
		{"removed", `{"a":1,"b":2}`, `{"b":2}`, `{"a":null}`},
		{"in an object", `{"a":{"b":1,"c":2,"d":3},"e":4}`, `{"a":{"c":5,"d":3,"f":6},"e":4}`, `{"a":{"b":null,"c":5,"f":6}}`},
		{"an object becomes empty", `{"a":{"b":1}}`, `{"a":{}}`, `{"a":{"b":null}}`},
		{"an empty object comes", `{}`, `{"a":{}}`, `{"a":{}}`},
		{"lists are whole", `{"a":[1,2,3]}`, `{"a":[1,3]}`, `{"a":[1,3]}`},
		{"objects in lists, too", `{"a":[{"name":"x","v":1}]}`, `{"a":[{"name":"x","v":2}]}`, `{"a":[{"name":"x","v":2}]}`},
		{"nulls in lists", `{"a":[1]}`, `{"a":[null,{"b":null}]}`, `{"a":[null,{"b":null}]}`},
		{"an object becomes a list", `{"a":{"b":1}}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{"a list becomes an object", `{"a":["b"]}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		{"a text becomes an object", `{"a":"b"}`, `{"a":{}}`, `{"a":{}}`},
		{"a number becomes a text", `{"a":1}`, `{"a":"1"}`, `{"a":"1"}`},
		{"null becomes something", `{"a":null}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		{"2^53 becomes 2^53+1", `{"a":9007199254740992}`, `{"a":9007199254740993}`, `{"a":9007199254740993}`},
		{"null is as good as nothing", `{"a":1}`, `{"a":null,"b":null}`, `{"a":null}`},
		{"composed and decomposed letters are two", `{"é":1}`, "{\"e\u0301\":1}", "{\"é\":null,\"e\u0301\":1}"}, // behaviour 330
		{"of duplicate members the last counts", `{"a":1,"a":2,"b":{"c":1,"c":2}}`, `{"a":2,"b":{"c":1}}`, `{"b":{"c":1}}`},
		{"a name to be escaped", `{}`, `{"\"\\\n":1}`, `{"\"\\\n":1}`},
		{"there is no resource version by itself", `{"metadata":{"resourceVersion":"7"}}`, `{"metadata":{"resourceVersion":"7"},"a":1}`, `{"a":1}`}, // behaviour 319
	} {
		t.Run(test.name, func(t *testing.T) {
			p := patch.Diff(raw(test.old), raw(test.changed))
			body, err := p.Body()
			if err != nil || string(body) != test.want {
				t.Errorf("got %s, %v; want %s", body, err, test.want)
			}
			if p.IsEmpty() != (test.want == "{}") {
				t.Errorf("it is empty: %v", p.IsEmpty()) // behaviour 327
			}
			if p.MediaType() != patch.MergeType {
				t.Errorf("media type is %q", p.MediaType())
			}
			got, err := patch.ApplyMerge([]byte(test.old), body)
			if err != nil || !strings.Contains(test.name, "as good as") && !isSame(t, got, []byte(test.changed)) {
				t.Errorf("applied it makes %s, %v", got, err)
			}
		})
	}
}

func TestDiffJSONMakesAJSONPatch(t *testing.T) {
	op := func(op, path, value string) string {
		if value != "" {
			value = `,"value":` + value
		}
		return fmt.Sprintf(`{"op":%q,"path":%q%s}`, op, path, value)
	}
	for _, test := range []struct {
		name, old, changed string
		want               []string
		guarded            []string // nil: as want
	}{
		{"no difference", `{"a":[1,{"b":null}]}`, `{"a":[1.0,{"b":null}]}`, nil, nil},
		{"added", `{"a":1}`, `{"a":1,"b":null}`, []string{op("add", "/b", "null")}, nil},
		{
			"changed", `{"a":1,"b":{"c/~":2}}`, `{"a":1,"b":{"c/~":null}}`,
			[]string{op("replace", "/b/c~1~0", "null")},
			[]string{op("test", "/b/c~1~0", "2"), op("replace", "/b/c~1~0", "null")},
		},
		{
			"removed", `{"a":[1],"b":2}`, `{"b":2}`,
			[]string{op("remove", "/a", "")},
			[]string{op("test", "/a", "[1]"), op("remove", "/a", "")},
		},
		{
			"an object becomes a list", `{"a":{"b":1}}`, `{"a":[]}`,
			[]string{op("replace", "/a", "[]")},
			[]string{op("test", "/a", `{"b":1}`), op("replace", "/a", "[]")},
		},
		{
			"an element is added", `{"a":["one long element","another long element"]}`, `{"a":["one long element","new","another long element"]}`,
			[]string{op("add", "/a/1", `"new"`)},
			[]string{op("test", "/a", `["one long element","another long element"]`), op("add", "/a/1", `"new"`)},
		},
		{
			"an element goes", `{"a":["one long element, longer than an operation","another long element",3]}`, `{"a":["one long element, longer than an operation",3]}`,
			[]string{op("remove", "/a/1", "")},
			[]string{op("test", "/a", `["one long element, longer than an operation","another long element",3]`), op("remove", "/a/1", "")},
		},
		{
			"a short list is replaced", `{"a":[1,2,3,4]}`, `{"a":[3,2,1]}`,
			[]string{op("replace", "/a", "[3,2,1]")},
			[]string{op("test", "/a", "[1,2,3,4]"), op("replace", "/a", "[3,2,1]")},
		},
		{
			"a container is known by its name", `{"a":[{"name":"log","image":"log:1"},{"name":"web","image":"web:1","ports":[80,443],"env":["a","b","c","d"]}]}`,
			`{"a":[{"name":"web","image":"web:2","ports":[80,443],"env":["a","b","c","d"]}]}`,
			[]string{op("remove", "/a/0", ""), op("replace", "/a/0/image", `"web:2"`)},
			[]string{
				op("test", "/a", `[{"name":"log","image":"log:1"},{"name":"web","image":"web:1","ports":[80,443],"env":["a","b","c","d"]}]`),
				op("remove", "/a/0", ""), op("replace", "/a/0/image", `"web:2"`),
			},
		},
		{
			"an element changes in its place", `{"a":[{"v":"one long element"},{"v":"another long element"}]}`, `{"a":[{"v":"one long element"},{"v":"another"}]}`,
			[]string{op("replace", "/a/1/v", `"another"`)},
			[]string{op("test", "/a/1/v", `"another long element"`), op("replace", "/a/1/v", `"another"`)},
		},
		{
			"one with another name is another", `{"a":[{"name":"x","v":[1,2,3,4,5,6,7,8,9]},{"name":"z"}]}`, `{"a":[{"name":"y"},{"name":"z"}]}`,
			[]string{op("replace", "/a/0", `{"name":"y"}`)},
			[]string{op("test", "/a/0", `{"name":"x","v":[1,2,3,4,5,6,7,8,9]}`), op("replace", "/a/0", `{"name":"y"}`)},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, diff := range []func(old, changed any) patch.Patch{patch.DiffJSON, patch.DiffGuarded} {
				p := diff(raw(test.old), raw(test.changed))
				body, err := p.Body()
				if err != nil {
					t.Fatal(err)
				}
				if got, err := patch.ApplyJSON([]byte(test.old), body); err != nil || !isSame(t, got, []byte(test.changed)) {
					t.Errorf("applied %s makes %s, %v", body, got, err)
				}
				if p.IsEmpty() != (test.want == nil) || p.MediaType() != patch.JSONType {
					t.Errorf("%s is empty: %v; media type is %q", body, p.IsEmpty(), p.MediaType())
				}
			}
			if body, _ := patch.DiffJSON(raw(test.old), raw(test.changed)).Body(); string(body) != "["+strings.Join(test.want, ",")+"]" {
				t.Errorf("got %s, want %s", body, test.want)
			}
			if test.guarded == nil {
				test.guarded = test.want
			}
			body, _ := patch.DiffGuarded(raw(test.old), raw(test.changed)).Body()
			if string(body) != "["+strings.Join(test.guarded, ",")+"]" {
				t.Errorf("guarded it is %s, want %s", body, test.guarded)
			}
		})
	}
}

func TestAGuardedDiffFailsIfItsFieldsHaveChanged(t *testing.T) {
	old := `{"spec":{"replicas":2,"args":["a long first argument","b"],"paused":true},"status":{}}`
	changed := `{"spec":{"replicas":3,"args":["a long first argument","b","c"]},"status":{}}`
	body, err := patch.DiffGuarded(raw(old), raw(changed)).Body()
	if err != nil {
		t.Fatal(err)
	}
	for live, ok := range map[string]bool{
		old: true,
		`{"spec":{"replicas":2.0,"paused":true,"args":["a long first argument","b"],"new":1},"status":{"a":1}}`: true,
		strings.Replace(old, "2", "4", 1):       false,
		strings.Replace(old, "true", "null", 1): false,
		strings.Replace(old, "b", "d", 1):       false,
		`{"spec":{"replicas":2,"args":["x","a long first argument","b"],"paused":true},"status":{}}`: false,
	} {
		if got, err := patch.ApplyJSON([]byte(live), body); (err == nil) != ok || !ok && !errors.Is(err, patch.ErrTestFailed) {
			t.Errorf("%s becomes %s, %v", live, got, err)
		}
	}
}

func TestDiffsCompareTheEncodedJSON(t *testing.T) {
	type spec struct {
		Replicas int      `json:"replicas,omitempty"`
		Args     []string `json:"args"`
		Secret   string   `json:"-"`
	}
	type object struct {
		Metadata map[string]string `json:"metadata"`
		Spec     spec              `json:"spec"`
	}
	old := object{map[string]string{"name": "web"}, spec{2, []string{"a"}, "x"}}
	changed := object{map[string]string{"name": "web"}, spec{0, nil, "y"}}
	for want, p := range map[string]patch.Patch{
		`{"spec":{"replicas":null,"args":null}}`:                                                      patch.Diff(old, &changed),
		`[{"op":"remove","path":"/spec/replicas"},{"op":"replace","path":"/spec/args","value":null}]`: patch.DiffJSON(&old, changed),
	} {
		if body, err := p.Body(); err != nil || string(body) != want {
			t.Errorf("got %s, %v; want %s", body, err, want)
		}
	}
}

func TestDiffRefusesInvalidArguments(t *testing.T) {
	object := raw(`{"metadata":{"name":"a","namespace":"b","uid":"c"}}`)
	for _, test := range []struct {
		name         string
		old, changed any
		want         string
	}{
		{"nothing", nil, object, "old is <nil>, which does not encode to a JSON object"},
		{"a nil pointer", object, (*struct{})(nil), "new is *struct {}, which does not encode to a JSON object"},
		{"bytes", []byte(`{}`), object, "old is []byte, which does not encode to a JSON object; use json.RawMessage"},
		{"a list", object, []int{1}, "new is []int, which does not encode to a JSON object"},
		{"a list of JSON", raw(`[]`), object, "old is json.RawMessage, which does not encode to a JSON object"},
		{"no JSON", object, raw(`{`), "new is not JSON: it ends too early"},
		{"empty JSON", json.RawMessage(nil), object, "old is not JSON: it ends too early"},
		{"a value that cannot be encoded", func() {}, object, "encode old: json: unsupported type: func()"},
		{"too deep", object, raw(nested(10_001)), "new is too large: it nests deeper than 10000"},
		{"another name", object, raw(`{"metadata":{"name":"s3cr3t","namespace":"b","uid":"c"}}`), "metadata.name differs between old and new, but no patch can change it"},
		{"no namespace", object, raw(`{"metadata":{"name":"a","uid":"c"}}`), "metadata.namespace differs between old and new, but no patch can change it"},
		{"another uid", object, raw(`{"metadata":{"name":"a","namespace":"b","uid":null}}`), "metadata.uid differs between old and new, but no patch can change it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, diff := range map[string]func(old, changed any) patch.Patch{"Diff": patch.Diff, "DiffJSON": patch.DiffJSON, "DiffGuarded": patch.DiffGuarded} {
				p := diff(test.old, test.changed)
				body, err := p.Body()
				if body != nil || err == nil || err.Error() != "patch."+name+": "+test.want || p.IsEmpty() || p.MediaType() == "" {
					t.Errorf("%s: got %s, %v; want %s", name, body, err, test.want)
				}
			}
		})
	}
	for _, old := range []string{`{}`, `{"metadata":null}`, `{"metadata":{}}`, `{"metadata":{"name":"a","namespace":"","uid":null}}`} {
		if _, err := patch.Diff(raw(old), object).Body(); err != nil {
			t.Errorf("from %s: %v", old, err)
		}
	}
}

// No diff has more operations than a JSON patch may have.
func TestAHugeDiffIsStillAPatch(t *testing.T) {
	object := func(n int, value string) string {
		members := make([]string, n)
		for i := range members {
			members[i] = fmt.Sprintf(`"m%d":%s`, i, value)
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	list := func(n int, value string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(value+",", n), ",") + "]"
	}
	for name, docs := range map[string][2]string{
		"a large member":             {`{"data":` + object(20_000, "1") + `}`, `{"data":` + object(20_000, "2") + `}`},
		"a large root":               {object(20_000, "1"), object(20_000, "2")},
		"a member of some thousands": {`{"data":` + object(3000, "1") + `}`, `{"data":` + object(3000, "2") + `}`},
		"a large list":               {`{"a":` + list(20_000, "1") + `}`, `{"a":` + list(20_000, "2") + `}`},
		"a large list of large elements": {
			`{"a":` + list(6000, `{"v":"`+strings.Repeat("x", 100)+`","w":1}`) + `}`,
			`{"a":` + list(6001, `{"v":"`+strings.Repeat("x", 100)+`","w":2}`) + `}`,
		},
	} {
		for _, diff := range []func(old, changed any) patch.Patch{patch.DiffJSON, patch.DiffGuarded} {
			body, err := diff(raw(docs[0]), raw(docs[1])).Body()
			if err != nil {
				t.Fatal(err)
			}
			if got, err := patch.ApplyJSON([]byte(docs[0]), body); err != nil || !isSame(t, got, []byte(docs[1])) {
				t.Errorf("%s: got %d bytes, %v", name, len(got), err)
			}
			ops, err := patch.ParseOps(body)
			if err != nil {
				t.Fatal(err)
			}
			if len(ops) > 2 { // the value is replaced whole, after a test of it
				t.Errorf("%s: %d operations", name, len(ops))
			}
		}
	}
}

// A null inside of a new map was dropped without a word.
func TestDiffsRefuseNullsInNewMaps(t *testing.T) {
	type options struct {
		List    []string       `json:"list"`
		Pointer *int           `json:"pointer"`
		Map     map[string]any `json:"map,omitempty"`
	}
	type object struct {
		Options *options `json:"options,omitempty"`
	}
	for _, test := range []struct {
		name     string
		old, new any
		refused  string // the place
	}{
		{"in a new map", raw(`{"a":{}}`), raw(`{"a":{"b":{"c":1,"d":null}}}`), "/a/b/d"},
		{"deep in a new map", raw(`{}`), raw(`{"a":{"b":{"c/~":null}}}`), "/a/b/c~1~0"},
		{"in a map where there was a text", raw(`{"a":"x"}`), raw(`{"a":{"b":null}}`), "/a/b"},
		{"in a map where there was null", raw(`{"a":null}`), raw(`{"a":{"b":null}}`), "/a/b"},
		{"in a new Go map", object{}, object{&options{Map: map[string]any{"k": nil}}}, "/options/map/k"},
		{"in a map that is not new, as always", raw(`{"a":{}}`), raw(`{"a":{"b":null}}`), ""},
		{"the nil fields of a new struct", object{}, object{&options{}}, ""},
		{"the zero time of new metadata", raw(`{}`), raw(`{"metadata":{"creationTimestamp":null}}`), ""},
		{"in a new list", raw(`{}`), raw(`{"a":[null,{"b":null}]}`), ""},
	} {
		_, err := patch.Diff(test.old, test.new).Body()
		if refused := errors.Is(err, patch.ErrNull); refused != (test.refused != "") || refused && !strings.Contains(err.Error(), `"`+test.refused+`"`) || !refused && err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	for _, test := range []struct {
		name, old, new string
		schema         patch.Schema
		refused        string
	}{
		{"in a new map", `{}`, `{"options":{"map":{"k":null}}}`, patch.SchemaOf[object](), "/options/map/k"},
		{"in a new object that is unknown", `{}`, `{"other":{"k":null}}`, patch.SchemaOf[object](), "/other/k"},
		{"of a known field", `{}`, `{"options":{"list":null,"pointer":null}}`, patch.SchemaOf[object](), ""},
		{"without a schema", `{}`, `{"options":{"list":null}}`, patch.Schema{}, "/options/list"},
		{"in a map that is not new", `{"options":{"map":{}}}`, `{"options":{"map":{"k":null}}}`, patch.SchemaOf[object](), ""},
		{"the zero time of new metadata", `{}`, `{"metadata":{"creationTimestamp":null}}`, patch.Schema{}, ""},
	} {
		_, err := patch.DiffStrategic([]byte(test.old), []byte(test.new), test.schema)
		var wrong *patch.StrategicError
		if refused := errors.Is(err, patch.ErrNull); refused != (test.refused != "") || refused && (!errors.As(err, &wrong) || wrong.Path != test.refused) || !refused && err != nil {
			t.Errorf("strategic, %s: %v", test.name, err)
		}
	}
}

// withoutNulls removes members that are null, but not what is in lists.
func withoutNulls(v any) any {
	object, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := make(map[string]any)
	for name, value := range object {
		if value != nil {
			out[name] = withoutNulls(value)
		}
	}
	return out
}

func TestApplyingADiffGivesTheOther(t *testing.T) {
	for seed := range histories.Seeds(800) {
		r := newChance(seed)
		r.NoNulls = seed%2 == 1
		old := r.Object(4)
		changed := r.ChangeObject(old, 4)
		checkDiffs(t, marshal(t, old), marshal(t, changed))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// checkDiffs checks all diffs of two objects.
func checkDiffs(t *testing.T, old, changed []byte) {
	t.Helper()
	for name, diff := range map[string]func(old, changed any) patch.Patch{"DiffJSON": patch.DiffJSON, "DiffGuarded": patch.DiffGuarded} {
		p := diff(json.RawMessage(old), json.RawMessage(changed))
		body, err := p.Body()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := patch.ApplyJSON(old, body); err != nil || !isSame(t, got, changed) {
			t.Errorf("%s of %s and %s is %s, which makes %s, %v", name, old, changed, body, got, err)
		}
		if p.IsEmpty() != isSame(t, old, changed) || p.IsEmpty() != (string(body) == "[]") {
			t.Errorf("%s of %s and %s is %s, empty %v", name, old, changed, body, p.IsEmpty())
		}
	}
	p := patch.Diff(json.RawMessage(old), json.RawMessage(changed))
	body, err := p.Body()
	if errors.Is(err, patch.ErrNull) && strings.Contains(string(changed), "null") {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	got, err := patch.ApplyMerge(old, body)
	if err != nil {
		t.Fatal(err)
	}
	if !isSame(t, marshal(t, withoutNulls(decode(t, got))), marshal(t, withoutNulls(decode(t, changed)))) {
		t.Errorf("Diff of %s and %s is %s, which makes %s", old, changed, body, got)
	}
	if !strings.Contains(string(changed), "null") && !isSame(t, got, changed) {
		t.Errorf("Diff of %s and %s is %s, which makes %s", old, changed, body, got)
	}
	if p.IsEmpty() != (string(body) == "{}") || isSame(t, old, changed) && !p.IsEmpty() {
		t.Errorf("Diff of %s and %s is %s, empty %v", old, changed, body, p.IsEmpty())
	}
}

func FuzzDiff(f *testing.F) {
	f.Add(`{"a":[1,2,{"name":"x"}]}`, `{"a":[{"name":"x","v":1},2]}`)
	f.Add(`{"a":1,"a":{"b":null}}`, ` { "a" : { "b" : 1 } } `)
	f.Add(`{"l":[[1],[2],[3]]}`, `{"l":[[3],[1,2]]}`)
	f.Add("{\"\xff\":\"\\ud800\"}", `{"\ufffd":"�"}`)
	f.Fuzz(func(t *testing.T, old, changed string) {
		isObject := func(s string) bool {
			return json.Valid([]byte(s)) && strings.HasPrefix(strings.TrimLeft(s, " \t\r\n"), "{")
		}
		if _, err := patch.DiffJSON(raw(old), raw(changed)).Body(); err != nil {
			if isObject(old) && isObject(changed) && !errors.Is(err, patch.ErrMalformed) {
				t.Errorf("error is %v", err)
			}
			return
		}
		if !isObject(old) || !isObject(changed) {
			t.Fatalf("%s and %s have a diff", old, changed)
		}
		checkDiffs(t, []byte(old), []byte(changed))
	})
}
