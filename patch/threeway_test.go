package patch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/internal/proof/histories"
	"github.com/bowline-go/bowline/patch"
)

func strategicBody(t *testing.T, p patch.Patch, err error, mediaType string) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	body, err := p.Body()
	if err != nil || p.MediaType() != mediaType {
		t.Fatalf("media type %q, %v", p.MediaType(), err)
	}
	return string(body)
}

func TestDiffStrategicLeadsFromOldToNew(t *testing.T) { // behaviour 321
	for _, test := range []struct{ name, old, new, want string }{
		{"nothing", `{"items":[{"name":"a"}],"marks":["b","a"],"args":["x"],"whole":{"type":"a"}}`, `{"items":[{"name":"a"}],"marks":["b","a"],"args":["x"],"whole":{"type":"a"}}`, `{}`},
		{"members", `{"replicas":1,"labels":{"a":"1","b":"2","c":"3"}}`, `{"replicas":9007199254740993,"labels":{"a":"1","b":"3","d":"4"}}`, `{"replicas":9007199254740993,"labels":{"b":"3","c":null,"d":"4"}}`},
		{"a member that goes and one that comes", `{"plan":{"type":"a"}}`, `{"labels":{}}`, `{"plan":null,"labels":{}}`},
		{"another type", `{"anything":[1]}`, `{"anything":{"a":1}}`, `{"anything":{"a":1}}`},
		{
			"items", `{"items":[{"name":"a","value":"1"},{"name":"b"}]}`, `{"items":[{"name":"c"},{"name":"a","value":"2"}]}`,
			`{"items":[{"name":"c"},{"name":"a","value":"2"},{"name":"b","$patch":"delete"}],"$setElementOrder/items":[{"name":"c"},{"name":"a"}]}`,
		},
		{"items in another order", `{"items":[{"name":"a"},{"name":"b"}]}`, `{"items":[{"name":"b"},{"name":"a"}]}`, `{"$setElementOrder/items":[{"name":"b"},{"name":"a"}]}`},
		{"all items", `{"items":[{"name":"a"}]}`, `{"items":[]}`, `{"items":[{"name":"a","$patch":"delete"}]}`},
		{"the first items", `{"items":[]}`, `{"items":[{"name":"a"}]}`, `{"items":[{"name":"a"}]}`},
		{
			"items in items", `{"items":[{"name":"a","items":[{"name":"x","value":"1"}]}]}`, `{"items":[{"name":"a","items":[{"name":"x"}]}]}`,
			`{"items":[{"name":"a","items":[{"name":"x","value":null}],"$setElementOrder/items":[{"name":"x"}]}],"$setElementOrder/items":[{"name":"a"}]}`,
		},
		{"scalars", `{"marks":["a","b","c"]}`, `{"marks":["d","c","a"]}`, `{"marks":["d"],"$deleteFromPrimitiveList/marks":["b"],"$setElementOrder/marks":["d","c","a"]}`},
		{"scalars in another order", `{"marks":["b","a"]}`, `{"marks":["a","b"]}`, `{"$setElementOrder/marks":["a","b"]}`},
		{"all scalars", `{"marks":["b","a"]}`, `{"marks":[]}`, `{"$deleteFromPrimitiveList/marks":["a","b"]}`},
		{"a list without a strategy", `{"args":["a"],"rules":[{"name":"a"}]}`, `{"args":["b","a"],"rules":[]}`, `{"args":["b","a"],"rules":[]}`},
		{"an object of which members are retained", `{"plan":{"type":"a","surge":1}}`, `{"plan":{"type":"b"}}`, `{"plan":{"type":"b","surge":null,"$retainKeys":["type"]}}`},
		{
			"an item of which members are retained", `{"volumes":[{"name":"a","value":"1"}]}`, `{"volumes":[{"name":"a","kind":"k"}]}`,
			`{"volumes":[{"name":"a","value":null,"kind":"k","$retainKeys":["kind","name"]}],"$setElementOrder/volumes":[{"name":"a"}]}`,
		},
		{"an object that is replaced", `{"whole":{"type":"a","surge":1}}`, `{"whole":{"type":"b"}}`, `{"whole":{"type":"b"}}`},
		{"items of one key that stay", `{"ports":[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}],"replicas":1}`, `{"ports":[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}],"replicas":2}`, `{"replicas":2}`},
		{
			"items of one key that change places", `{"ports":[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}]}`, `{"ports":[{"port":53,"protocol":"UDP"},{"port":53,"protocol":"TCP"}]}`,
			`{"ports":[{"port":53,"protocol":"UDP"},{"port":53,"protocol":"TCP"},{"$patch":"replace"}]}`,
		},
		{
			"items of one key that come", `{"ports":[{"port":53,"protocol":"TCP"}]}`, `{"ports":[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}]}`,
			`{"ports":[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"},{"$patch":"replace"}]}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := patch.DiffStrategic([]byte(test.old), []byte(test.new), ofWorkload)
			got := strategicBody(t, p, err, patch.StrategicType)
			if !sameJSON(t, got, test.want) {
				t.Errorf("got %s, want %s", got, test.want)
			}
			result, err := patch.ApplyStrategic([]byte(test.old), []byte(got), ofWorkload)
			if err != nil || !sameJSON(t, string(result), test.new) {
				t.Errorf("applying it gave %s, %v; want %s", result, err, test.new)
			}
		})
	}
}

func TestTheDifferenceWithoutASchemaIsAMergePatch(t *testing.T) { // behaviour 320
	old, next := []byte(`{"items":[{"name":"a"}],"a":{"b":1,"c":2}}`), []byte(`{"items":[{"name":"b"}],"a":{"c":3}}`)
	p, err := patch.DiffStrategic(old, next, patch.Schema{})
	if got := strategicBody(t, p, err, patch.MergeType); !sameJSON(t, got, `{"items":[{"name":"b"}],"a":{"b":null,"c":3}}`) {
		t.Errorf("got %s", got)
	}
	p, err = patch.ThreeWay(old, next, []byte(`{"items":[{"name":"a"}],"a":{"c":2,"d":4},"e":5}`), patch.Schema{}, patch.ThreeWayOptions{})
	if got := strategicBody(t, p, err, patch.MergeType); !sameJSON(t, got, `{"items":[{"name":"b"}],"a":{"b":null,"c":3}}`) {
		t.Errorf("got %s", got)
	}
}

func TestThreeWayKeepsWhatOthersHaveSet(t *testing.T) { // behaviours 320 and 324
	for _, test := range []struct{ name, original, modified, current, want, result string }{
		{"nothing", `{"replicas":1}`, `{"replicas":1}`, `{"replicas":1,"plan":{"type":"a"}}`, `{}`, `{"replicas":1,"plan":{"type":"a"}}`},
		{"no configuration was applied before", ``, `{"replicas":1}`, `{"replicas":2,"labels":{}}`, `{"replicas":1}`, `{"replicas":1,"labels":{}}`},
		{"a member is no longer configured", `{"labels":{"a":"1","b":"2"}}`, `{"labels":{"a":"1"}}`, `{"labels":{"a":"1","b":"3","c":"4"}}`, `{"labels":{"b":null}}`, `{"labels":{"a":"1","c":"4"}}`},
		{"a member that someone has changed is set again", `{"replicas":1}`, `{"replicas":1}`, `{"replicas":5}`, `{"replicas":1}`, `{"replicas":1}`},
		{
			"an item that someone has added stays", `{"items":[{"name":"a"},{"name":"b"}]}`, `{"items":[{"name":"a","value":"1"}]}`, `{"items":[{"name":"x"},{"name":"a","kind":"k"},{"name":"b"}]}`,
			`{"items":[{"name":"a","value":"1"},{"name":"b","$patch":"delete"}],"$setElementOrder/items":[{"name":"a"}]}`, `{"items":[{"name":"x"},{"name":"a","value":"1","kind":"k"}]}`,
		},
		{
			"only the order of items that others have added to", `{"items":[{"name":"a"}]}`, `{"items":[{"name":"a"}]}`, `{"items":[{"name":"x"},{"name":"a"}]}`,
			`{"$setElementOrder/items":[{"name":"a"}]}`, `{"items":[{"name":"x"},{"name":"a"}]}`,
		},
		{
			"an item that someone has removed, and that is to lose an item", `{"items":[{"name":"a","items":[{"name":"x"},{"name":"y"}]}]}`, `{"items":[{"name":"a","items":[{"name":"x"}]}]}`, `{"items":[{"name":"b"}]}`,
			`{"items":[{"name":"a","items":[{"name":"x"}]}],"$setElementOrder/items":[{"name":"a"}]}`, `{"items":[{"name":"a","items":[{"name":"x"}]},{"name":"b"}]}`,
		},
		{
			"a list that someone has removed", `{"items":[{"name":"a"},{"name":"b"}]}`, `{"items":[{"name":"a"}]}`, `{}`,
			`{"items":[{"name":"a"}]}`, `{"items":[{"name":"a"}]}`,
		},
		{ // what is new has no directives: a server would take them for members, and refuse them where it validates strictly
			"an item of a list of unions that someone has removed", `{"volumes":[{"name":"a","value":"x","marks":["a","b"]},{"name":"b"}]}`,
			`{"volumes":[{"name":"a","kind":"x","marks":["a"]},{"name":"b"}]}`, `{"volumes":[{"name":"b"}]}`,
			`{"volumes":[{"name":"a","kind":"x","marks":["a"]}],"$setElementOrder/volumes":[{"name":"a"},{"name":"b"}]}`,
			`{"volumes":[{"name":"a","kind":"x","marks":["a"]},{"name":"b"}]}`,
		},
		{
			"a union that someone has removed", `{"plan":{"type":"a","surge":1}}`, `{"plan":{"type":"b"}}`, `{}`,
			`{"plan":{"type":"b"}}`, `{"plan":{"type":"b"}}`,
		},
		{
			"scalars", `{"marks":["a","b"]}`, `{"marks":["a","c"]}`, `{"marks":["a","b","x"]}`,
			`{"marks":["c"],"$deleteFromPrimitiveList/marks":["b"],"$setElementOrder/marks":["a","c"]}`, `{"marks":["a","c","x"]}`,
		},
		{"members that are retained", `{"plan":{"type":"a"}}`, `{"plan":{"type":"b"}}`, `{"plan":{"type":"a","surge":1}}`, `{"plan":{"type":"b","$retainKeys":["type"]}}`, `{"plan":{"type":"b"}}`},
		{
			"items of one key that have what is configured", `{}`, `{"ports":[{"port":53},{"port":53,"protocol":"UDP"}]}`, `{"ports":[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}]}`,
			`{}`, `{"ports":[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}]}`,
		},
		{
			"items of one key where something else was configured", `{"ports":53}`, `{"ports":[{"port":53},{"port":53,"protocol":"UDP"}]}`, `{"ports":[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}]}`,
			`{}`, `{"ports":[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}]}`,
		},
		{
			"items of one key that lack what is configured", `{"ports":[{"port":53}]}`, `{"ports":[{"port":53},{"port":53,"protocol":"UDP"}]}`, `{"ports":[{"port":53,"protocol":"TCP"}]}`,
			`{"ports":[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"},{"$patch":"replace"}]}`, `{"ports":[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}]}`,
		},
		{
			"items of one key of which one has an empty list", `{"items":[{"name":"a"}]}`, `{"items":[{"name":"a","items":[]},{"name":"a"}]}`, `{"items":[{"name":"a","items":[{"name":"x"}]}]}`,
			`{"items":[{"name":"a","items":[{"name":"x"}]},{"name":"a"},{"$patch":"replace"}]}`, `{"items":[{"name":"a","items":[{"name":"x"}]},{"name":"a"}]}`,
		},
		{
			"items of one key that are no longer configured", `{"ports":[{"port":53},{"port":53,"protocol":"UDP"}]}`, `{"ports":[{"port":53}]}`, `{"ports":[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}]}`,
			`{"ports":[{"port":53,"protocol":"TCP"},{"$patch":"replace"}]}`, `{"ports":[{"port":53,"protocol":"TCP"}]}`,
		},
		{
			"items that others have put there beside some of one key", `{"ports":[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}]}`,
			`{"ports":[{"port":53,"protocol":"TCP","name":"t"},{"port":53,"protocol":"UDP"}]}`,
			`{"ports":[{"port":80},{"port":53,"protocol":"TCP","node":7},{"port":53,"protocol":"UDP"}]}`,
			`{"ports":[{"port":80},{"port":53,"protocol":"TCP","node":7,"name":"t"},{"port":53,"protocol":"UDP"},{"$patch":"replace"}]}`,
			`{"ports":[{"port":80},{"port":53,"protocol":"TCP","node":7,"name":"t"},{"port":53,"protocol":"UDP"}]}`,
		},
		{
			"an item of the same key that others have put there", `{"ports":[{"port":53,"protocol":"TCP"}]}`,
			`{"ports":[{"port":53,"protocol":"TCP","name":"t"}]}`, `{"ports":[{"port":53,"protocol":"UDP"},{"port":53,"protocol":"TCP"}]}`,
			`{"ports":[{"port":53,"protocol":"UDP"},{"port":53,"protocol":"TCP","name":"t"},{"$patch":"replace"}]}`,
			`{"ports":[{"port":53,"protocol":"UDP"},{"port":53,"protocol":"TCP","name":"t"}]}`,
		},
		{
			"items of one key in an item", `{}`, `{"items":[{"name":"a","items":[{"name":"x","value":"1"},{"name":"x","value":"2"}]}]}`,
			`{"items":[{"name":"a","items":[{"name":"y"},{"name":"x","value":"1"}]}]}`,
			`{"items":[{"name":"a","items":[{"name":"y"},{"name":"x","value":"1"},{"name":"x","value":"2"},{"$patch":"replace"}]}],"$setElementOrder/items":[{"name":"a"}]}`,
			`{"items":[{"name":"a","items":[{"name":"y"},{"name":"x","value":"1"},{"name":"x","value":"2"}]}]}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := patch.ThreeWay([]byte(test.original), []byte(test.modified), []byte(test.current), ofWorkload, patch.ThreeWayOptions{})
			got := strategicBody(t, p, err, patch.StrategicType)
			if !sameJSON(t, got, test.want) {
				t.Errorf("got %s, want %s", got, test.want)
			}
			result, err := patch.ApplyStrategic([]byte(test.current), []byte(got), ofWorkload)
			if err != nil || !sameJSON(t, string(result), test.result) {
				t.Errorf("applying it gave %s, %v; want %s", result, err, test.result)
			}
		})
	}
}

func TestThreeWayRefusesConflictsOnRequest(t *testing.T) { // behaviour 324
	const original = `{"replicas":1,"items":[{"name":"a","value":"1"},{"name":"b"}],"marks":["a","b"],"args":["x"],"labels":{"l":"1"},"whole":{"type":"a"},"ports":[{"port":53}]}`
	for _, test := range []struct {
		name, modified, current string
		want                    []string
	}{
		{"nothing has changed", `{"replicas":2}`, original, nil},
		{"a member that only others have changed", original, strings.Replace(original, `"l":"1"`, `"l":"1","m":"2"`, 1), nil},
		{"both have set the same", strings.Replace(original, `"replicas":1`, `"replicas":3`, 1), strings.Replace(original, `"replicas":1`, `"replicas":3`, 1), nil},
		{"numbers that are set differently", strings.Replace(original, `"replicas":1`, `"replicas":9007199254740993`, 1), strings.Replace(original, `"replicas":1`, `"replicas":9007199254740992`, 1), []string{"/replicas"}},
		{"a member that is removed and changed", strings.Replace(original, `"l":"1"`, ``, 1), strings.Replace(original, `"l":"1"`, `"l":"2"`, 1), []string{"/labels/l"}},
		{"an item that is deleted and changed", strings.Replace(original, `{"name":"a","value":"1"},`, ``, 1), strings.Replace(original, `"value":"1"`, `"value":"2"`, 1), []string{"/items/0"}},
		{"an item that is changed and deleted", strings.Replace(original, `"value":"1"`, `"value":"2"`, 1), strings.Replace(original, `{"name":"a","value":"1"},`, ``, 1), []string{"/items/0"}},
		{"different items", strings.Replace(original, `"value":"1"`, `"value":"2"`, 1), strings.Replace(original, `{"name":"b"}`, `{"name":"b","value":"3"}`, 1), nil},
		{"sets of scalars", strings.Replace(original, `["a","b"]`, `["a","c"]`, 1), strings.Replace(original, `["a","b"]`, `["d"]`, 1), nil},
		{"a list that is replaced", strings.Replace(original, `["x"]`, `["y"]`, 1), strings.Replace(original, `["x"]`, `["z"]`, 1), []string{"/args"}},
		{"another type", strings.Replace(original, `["x"]`, `["y"]`, 1), strings.Replace(original, `["x"]`, `{}`, 1), []string{"/args"}},
		{"items of one key", strings.Replace(original, `{"port":53}`, `{"port":53},{"port":53}`, 1), strings.Replace(original, `{"port":53}`, `{"port":53,"protocol":"UDP"},{"port":54}`, 1), []string{"/ports"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := patch.ThreeWay([]byte(original), []byte(test.modified), []byte(test.current), ofWorkload, patch.ThreeWayOptions{RefuseConflicts: true})
			var conflict *patch.MergeConflictError
			if errors.As(err, &conflict); err != nil && conflict == nil {
				t.Fatal(err)
			}
			if conflict == nil && test.want == nil {
				return
			}
			if conflict == nil || !reflect.DeepEqual(conflict.Paths, test.want) {
				t.Fatalf("error is %v, want %q", err, test.want)
			}
			if want := "patch: the live object has changed at " + test.want[0] + " since it was configured"; err.Error() != want {
				t.Errorf("error is %q, want %q", err, want)
			}
			if _, err := patch.ThreeWay([]byte(original), []byte(test.modified), []byte(test.current), ofWorkload, patch.ThreeWayOptions{}); err != nil {
				t.Errorf("without the option: %v", err)
			}
		})
	}
	many := &patch.MergeConflictError{Paths: []string{"/a", "/b", "/c", "/d", "/e", "/f", "/g"}}
	if got, want := many.Error(), "patch: the live object has changed at /a, /b, /c, /d, /e and 2 more since it was configured"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDifferencesSayWhatIsWrongAndWhere(t *testing.T) { // behaviour 323
	for _, test := range []struct {
		name, old, new string
		kind           error
		want           string
	}{
		{"no merge key", `{"items":[{"name":"a"}]}`, `{"items":[{"value":"s3cr3t"}]}`, patch.ErrMergeKey, `patch: the new document at /items/0: the item has no "name", which tells the items of this list apart`},
		{"no merge key in the old one", `{"items":[{}]}`, `{"items":[]}`, patch.ErrMergeKey, `patch: the old document at /items/0: the item has no "name", which tells the items of this list apart`},
		{"no merge key in the schema", `{"keyless":[{"name":"a"}]}`, `{"keyless":[]}`, patch.ErrMergedList, `patch: the new document at /keyless: the schema has no merge key for this list of objects`},
		{"a list of two types", `{"marks":["a"]}`, `{"marks":["a",1]}`, patch.ErrMergedList, `patch: the new document at /marks/1: the items of a merged list must all be of one type`},
		{"a list of another type", `{"marks":["a"]}`, `{"marks":[1]}`, patch.ErrMergedList, `patch: the new document at /marks: its items have another type than in the old document`},
		{"a directive", `{"plan":{"$patch":"delete"}}`, `{}`, patch.ErrDirective, `patch: the old document at /plan/$patch: no directive may stand here: this is a document, not a patch`},
		{"a directive in the new one", `{}`, `{"$setElementOrder/items":[]}`, patch.ErrDirective, `patch: the new document at /$setElementOrder~1items: no directive may stand here: this is a document, not a patch`},
		{"no object", `[]`, `{}`, nil, `patch: the old document is not a JSON object`},
		{"no JSON", `{}`, ``, nil, `patch: the new document is not JSON: it ends too early`},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := patch.DiffStrategic([]byte(test.old), []byte(test.new), ofWorkload)
			if err == nil || err.Error() != test.want || !reflect.DeepEqual(p, patch.Patch{}) || test.kind != nil && !errors.Is(err, test.kind) {
				t.Errorf("got %v, error\n%v, want\n%s", p, err, test.want)
			}
		})
	}
	_, err := patch.ThreeWay(nil, []byte(`{"items":[{}]}`), []byte(`{"items":[{"name":"a"}]}`), ofWorkload, patch.ThreeWayOptions{})
	if want := `patch: the modified configuration at /items/0: the item has no "name", which tells the items of this list apart`; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

// randomWorkload has any member of workload, with values from few.
func randomWorkload(r *rand.Rand, depth int) map[string]any {
	doc := make(map[string]any)
	put := func(name string, make func() any) {
		if r.IntN(2) == 0 {
			doc[name] = make()
		}
	}
	word := func() any { return string(rune('a' + r.IntN(4))) }
	names := func(n int) []int { return r.Perm(n)[:r.IntN(n+1)] }
	plan := func() any {
		return map[string]any{"type": word(), fmt.Sprint("p", r.IntN(3)): r.IntN(3), "surge": r.IntN(2)}
	}
	var items func(depth int) any
	items = func(depth int) any {
		list := []any{}
		for _, i := range names(4) {
			v := map[string]any{"name": fmt.Sprint(i), fmt.Sprint("v", r.IntN(3)): word()}
			if depth > 0 && r.IntN(2) == 0 {
				v["items"] = items(depth - 1)
			}
			if r.IntN(3) == 0 {
				v["marks"] = []any{word()}
			}
			list = append(list, v)
		}
		return list
	}
	put("replicas", func() any { return 1<<53 + r.Int64N(3) })
	put("labels", func() any { return map[string]any{"a/" + fmt.Sprint(r.IntN(3)): word(), "b": word()} })
	for _, name := range []string{"items", "rules", "volumes", "owners"} {
		put(name, func() any { return items(depth) })
	}
	put("marks", func() any {
		list := []any{}
		for _, i := range names(5) {
			list = append(list, fmt.Sprint("m", i))
		}
		return list
	})
	put("ports", func() any {
		list := []any{}
		for _, i := range names(5) {
			for range 1 + r.IntN(5)/4 { // items of one key stand together
				list = append(list, map[string]any{"port": 8 + i, "protocol": word()})
			}
		}
		return list
	})
	put("args", func() any { return []any{word(), word()}[:r.IntN(3)] })
	put("plan", plan)
	put("whole", plan)
	put("byName", func() any { return map[string]any{"x": map[string]any{"items": items(0)}} })
	put("anything", func() any { return [...]any{true, 1.5, "x", []any{1, nil}, map[string]any{"y": r.IntN(3)}}[r.IntN(5)] })
	if depth > 0 {
		put("inner", func() any { return randomWorkload(r, depth-1) })
	}
	return doc
}

// Applying what DiffStrategic computes gives the new document, the order of every list included, and nothing differs then.
func TestApplyingADifferenceGivesTheNewDocument(t *testing.T) { // behaviours 321 and 322
	served, err := patch.SchemaFromOpenAPI([]byte(workloadDocument), workloadKind)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range histories.Seeds(250) {
		r := rand.New(rand.NewPCG(seed, 7))
		var docs [3][]byte
		for i := range docs {
			if docs[i], err = json.Marshal(randomWorkload(r, 2)); err != nil {
				t.Fatal(err)
			}
		}
		p, err := patch.DiffStrategic(docs[0], docs[1], ofWorkload)
		body := strategicBody(t, p, err, patch.StrategicType)
		got, err := patch.ApplyStrategic(docs[0], []byte(body), ofWorkload)
		if err != nil || !sameJSON(t, string(got), string(docs[1])) {
			t.Fatalf("seed %d: of %s\nand %s\ngot  %s, %v\nwant %s", seed, docs[0], body, got, err, docs[1])
		}
		p, err = patch.DiffStrategic(got, docs[1], ofWorkload)
		if again := strategicBody(t, p, err, patch.StrategicType); again != "{}" {
			t.Fatalf("seed %d: still differs: %s", seed, again)
		}
		p, err = patch.DiffStrategic(docs[0], docs[1], served)
		if other := strategicBody(t, p, err, patch.StrategicType); other != body {
			t.Fatalf("seed %d: by the type %s\nby the document %s", seed, body, other)
		}
		// A three-way merge whose result is merged again finds nothing to set or to remove.
		p, err = patch.ThreeWay(docs[0], docs[1], docs[2], ofWorkload, patch.ThreeWayOptions{})
		body = strategicBody(t, p, err, patch.StrategicType)
		if got, err = patch.ApplyStrategic(docs[2], []byte(body), ofWorkload); err != nil {
			t.Fatalf("seed %d: of %s\nand %s: %v", seed, docs[2], body, err)
		}
		p, err = patch.ThreeWay(docs[1], docs[1], got, ofWorkload, patch.ThreeWayOptions{RefuseConflicts: true})
		again, err := patch.ApplyStrategic(got, []byte(strategicBody(t, p, err, patch.StrategicType)), ofWorkload)
		if err != nil || !sameJSON(t, string(again), string(got)) {
			t.Fatalf("seed %d: %s\nand then %s, %v", seed, got, again, err)
		}
	}
}

func FuzzStrategic(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"items":[{"name":"a","items":[{"name":"x"}]}],"marks":["a"],"plan":{"type":"a"}}`, `{"items":[{"name":"b"},{"name":"a","$patch":"delete"}],"$setElementOrder/items":[{"name":"b"}],"$deleteFromPrimitiveList/marks":["a"],"plan":{"$retainKeys":["surge"],"surge":1}}`},
		{`{"ports":[{"port":53,"protocol":"TCP"},{"port":53}],"args":[null]}`, `{"ports":[{"port":53.0},{"$patch":"replace"}],"args":[[],1],"volumes":[{"name":"a"}]}`},
		{`{"whole":{"a":null},"inner":{"marks":[1,1]}}`, `{"whole":{"$patch":"delete"},"inner":{"$patch":"replace","marks":[true]}}`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]), []byte(seed[0]))
	}
	f.Fuzz(func(t *testing.T, a, b, c []byte) {
		before := [3]string{string(a), string(b), string(c)}
		// As a patch b is obeyed or refused, and what comes of it is a document.
		if out, err := patch.ApplyStrategic(a, b, ofWorkload); err == nil && !json.Valid(out) {
			t.Fatalf("%s is no JSON", out)
		}
		if p, err := patch.ThreeWay(a, b, c, ofWorkload, patch.ThreeWayOptions{RefuseConflicts: true}); err == nil {
			if body, err := p.Body(); err != nil || !json.Valid(body) {
				t.Fatalf("%s, %v", body, err)
			}
		}
		checkMerged(t, a, b, c)
		if string(a) != before[0] || string(b) != before[1] || string(c) != before[2] {
			t.Fatal("a document has changed")
		}
		p, err := patch.DiffStrategic(a, b, ofWorkload)
		if err != nil {
			return
		}
		body, err := p.Body()
		if err != nil {
			t.Fatal(err)
		}
		got, err := patch.ApplyStrategic(a, body, ofWorkload)
		if err != nil {
			t.Fatalf("of %s and %s: %v", a, body, err)
		}
		// Up to nulls and scalars that stand twice in a set, it is b.
		p, err = patch.DiffStrategic(got, b, ofWorkload)
		if errors.Is(err, patch.ErrMergeKey) || errors.Is(err, patch.ErrMergedList) {
			return // b has a list that a has not, and that can be added but not be changed
		}
		if err != nil {
			t.Fatal(err)
		}
		if left, err := p.Body(); err != nil || !onlyNullsAndSets(left) {
			t.Fatalf("of %s and %s came %s, not %s: %s is left, %v", a, body, got, b, left, err)
		}
	})
}

// checkMerged checks that after a three-way merge nothing is left to set, up to nulls and scalars that stand twice in a set.
func checkMerged(t *testing.T, original, modified, live []byte) {
	t.Helper()
	p, err := patch.ThreeWay(original, modified, live, ofWorkload, patch.ThreeWayOptions{})
	if err != nil {
		return
	}
	body, err := p.Body()
	if err != nil {
		t.Fatal(err)
	}
	got, err := patch.ApplyStrategic(live, body, ofWorkload)
	if err != nil {
		t.Fatalf("%s, %s and %s make %s, which cannot be applied: %v", original, modified, live, body, err)
	}
	p, err = patch.ThreeWay(nil, modified, got, ofWorkload, patch.ThreeWayOptions{})
	if errors.Is(err, patch.ErrMergeKey) || errors.Is(err, patch.ErrMergedList) {
		return // modified has a list that live has not, and that can be added but not be changed
	}
	if err != nil {
		t.Fatal(err)
	}
	if left, err := p.Body(); err != nil || !onlyNullsAndSets(left) {
		t.Fatalf("%s, %s and %s make %s, and so %s: %s is left, %v", original, modified, live, body, got, left, err)
	}
}

// onlyNullsAndSets tells whether a patch has nothing in it but null and what is in marks.
func onlyNullsAndSets(doc []byte) bool {
	var v any
	if err := json.Unmarshal(doc, &v); err != nil {
		return false
	}
	var empty func(v any) bool
	empty = func(v any) bool {
		switch v := v.(type) {
		case map[string]any:
			for name, value := range v {
				if !strings.HasSuffix(name, "marks") && !strings.HasPrefix(name, "$setElementOrder/") && name != "name" && name != "port" && name != "$retainKeys" && !empty(value) {
					return false
				}
			}
			return true
		case []any:
			for _, value := range v {
				if !empty(value) {
					return false
				}
			}
			return true
		}
		return v == nil
	}
	return empty(v)
}
