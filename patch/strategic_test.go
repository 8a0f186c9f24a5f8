package patch_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/patch"
)

// workload is a kind with every sort of member that a strategic merge patch tells apart.
type workload struct {
	named `json:",inline"`

	Replicas  int               `json:"replicas"`
	Labels    map[string]string `json:"labels"`
	Items     []*item           `json:"items" patchStrategy:"merge" patchMergeKey:"name"`
	Ports     []port            `json:"ports" patchStrategy:"merge" patchMergeKey:"port"`
	Marks     []string          `json:"marks" patchStrategy:"merge"`
	Args      []string          `json:"args"`
	Rules     []item            `json:"rules"`
	Volumes   []item            `json:"volumes" patchStrategy:"merge,retainKeys" patchMergeKey:"name"`
	Plan      *plan             `json:"plan" patchStrategy:"retainKeys"`
	Whole     plan              `json:"whole" patchStrategy:"replace"`
	ByName    map[string]item   `json:"byName"`
	Keyless   []item            `json:"keyless" patchStrategy:"merge"`
	Anything  any               `json:"anything"`
	Inner     *workload         `json:"inner"`
	One       *item             `json:"one" patchStrategy:"merge" patchMergeKey:"name"`
	Forgotten []item            `json:"-" patchStrategy:"merge" patchMergeKey:"name"`
}

type named struct {
	Owners []item `json:"owners" patchStrategy:"merge" patchMergeKey:"name"`
}

type item struct {
	Name  string   `json:"name"`
	Value string   `json:"value"`
	Kind  string   `json:"kind"`
	Marks []string `json:"marks" patchStrategy:"merge"`
	Items []item   `json:"items" patchStrategy:"merge" patchMergeKey:"name"`
}

type port struct {
	Port     int64  `json:"port"`
	Protocol string `json:"protocol"`
}

type plan struct {
	Type  string `json:"type"`
	Surge int    `json:"surge"`
	Pause int    `json:"pause"`
}

var ofWorkload = patch.SchemaOf[*workload]()

func TestStrategicEncodesWhatItIsGiven(t *testing.T) {
	for _, test := range []struct {
		name string
		v    any
		want string
		err  string
	}{
		{"a map", map[string]any{"$patch": "replace", "a": nil}, `{"$patch":"replace","a":null}`, ""},
		{"a struct", port{Port: 1}, `{"port":1,"protocol":""}`, ""},
		{"JSON", json.RawMessage(` {"a": 9007199254740993}`), `{"a":9007199254740993}`, ""},

		{"nothing", nil, "", "patch.Strategic: <nil> does not encode to a JSON object"},
		{"text, which the error does not show", "s3cr3t", "", "patch.Strategic: string does not encode to a JSON object"},
		{"a list", []int{1}, "", "does not encode to a JSON object"},
		{"a function", func() {}, "", "patch.Strategic: json: unsupported type"},

		// behaviour 323: what no kind gives a meaning is not sent
		{"an unknown directive", json.RawMessage(`{"a":{"$patch":"s3cr3t"}}`), "", `patch: the patch at /a/$patch: it must be "replace" or "delete"`},
		{"an order of no list", map[string]any{"$setElementOrder": []string{"a"}}, "", `patch: the patch at /$setElementOrder: $setElementOrder must be followed by a slash and the name of a list`},
		{"members to retain that are no list", map[string]any{"a": map[string]any{"$retainKeys": "b"}}, "", `patch: the patch at /a/$retainKeys: it must be a list, not a string`},
		{"too deep", json.RawMessage(strings.Repeat(`{"a":`, 1000) + "{}" + strings.Repeat("}", 1000)), "", "patch: the patch: it is nested more than 1000 deep"},
		{"a member with a dollar", map[string]any{"$ref": map[string]any{"$type": 1}}, `{"$ref":{"$type":1}}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := patch.Strategic(test.v)
			body, err := p.Body()
			if string(body) != test.want || (err == nil) != (test.err == "") {
				t.Errorf("got %s, %v; want %s", body, err, test.want)
			}
			if err != nil && (!strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), "s3cr3t")) {
				t.Errorf("error is %v, want %q", err, test.err)
			}
			if got := p.MediaType(); got != "application/strategic-merge-patch+json" { // behaviour 327
				t.Errorf("media type is %q", got)
			}
		})
	}
}

func TestApplyStrategicDoesWhatAServerDoes(t *testing.T) { // behaviours 321 and 324
	for _, test := range []struct{ name, doc, patch, want string }{
		{"members are set, added and removed", `{"replicas":1,"labels":{"a":"1","b":"2"}}`, `{"replicas":2,"labels":{"a":null,"c":"3"}}`, `{"replicas":2,"labels":{"b":"2","c":"3"}}`},
		{"nothing", `{"replicas":1}`, `{}`, `{"replicas":1}`},
		{"null for what is not there", `{}`, `{"replicas":null,"plan":{"type":null}}`, `{"plan":{}}`},
		{"numbers keep their digits", `{"replicas":9007199254740993}`, `{"anything":1.10}`, `{"replicas":9007199254740993,"anything":1.10}`},
		{"another type replaces", `{"anything":[1],"plan":7}`, `{"anything":{"a":1,"b":null},"plan":{"type":"x"}}`, `{"anything":{"a":1},"plan":{"type":"x"}}`},

		{"an item is merged by its key", `{"items":[{"name":"a","value":"1","kind":"k"},{"name":"b"}]}`, `{"items":[{"name":"a","value":"2"}]}`, `{"items":[{"name":"a","value":"2","kind":"k"},{"name":"b"}]}`},
		{"a new item goes first", `{"items":[{"name":"a"}]}`, `{"items":[{"name":"b"}]}`, `{"items":[{"name":"b"},{"name":"a"}]}`},
		{"items that the patch names twice", `{"items":[]}`, `{"items":[{"name":"b","value":"1"},{"name":"b","kind":"k"}]}`, `{"items":[{"name":"b","value":"1","kind":"k"}]}`},
		{"an item is deleted", `{"items":[{"name":"a"},{"name":"b"}]}`, `{"items":[{"name":"a","$patch":"delete"}]}`, `{"items":[{"name":"b"}]}`},
		{"all of one key are deleted", `{"ports":[{"port":53,"protocol":"UDP"},{"port":53},{"port":80}]}`, `{"ports":[{"port":53,"$patch":"delete"}]}`, `{"ports":[{"port":80}]}`},
		{"an item that is not there is deleted", `{"items":[{"name":"a"}]}`, `{"items":[{"name":"c","$patch":"delete"}]}`, `{"items":[{"name":"a"}]}`},
		{"a list that is not there", `{}`, `{"items":[{"name":"c","$patch":"delete"},{"name":"d","value":null}]}`, `{"items":[{"name":"d"}]}`},
		{"an item is replaced", `{"items":[{"name":"a","value":"1"},{"name":"b"}]}`, `{"items":[{"name":"c"},{"$patch":"replace"}]}`, `{"items":[{"name":"c"}]}`},
		{"lists in lists", `{"items":[{"name":"a","items":[{"name":"x"},{"name":"y"}]}]}`, `{"items":[{"name":"a","items":[{"name":"x","value":"1"},{"name":"y","$patch":"delete"}]}]}`, `{"items":[{"name":"a","items":[{"name":"x","value":"1"}]}]}`},
		{"a key that is a number", `{"ports":[{"port":80},{"port":9007199254740993}]}`, `{"ports":[{"port":9007199254740993,"protocol":"UDP"},{"port":9007199254740992}]}`, `{"ports":[{"port":80},{"port":9007199254740993,"protocol":"UDP"},{"port":9007199254740992}]}`},
		{"an embedded struct", `{"owners":[{"name":"a"}]}`, `{"owners":[{"name":"b"}]}`, `{"owners":[{"name":"b"},{"name":"a"}]}`},
		{"a type inside itself", `{"inner":{"inner":{"items":[{"name":"a"}]}}}`, `{"inner":{"inner":{"items":[{"name":"b"}]}}}`, `{"inner":{"inner":{"items":[{"name":"b"},{"name":"a"}]}}}`},
		{"a list of a member that is no list by its type", `{"inner":[{"items":[{"name":"a"}]}],"one":[{"name":"a","items":[{"name":"x"}]}]}`, `{"inner":[],"one":[{"name":"a","items":[{"name":"y"}]}]}`, `{"inner":[],"one":[{"name":"a","items":[{"name":"y"},{"name":"x"}]}]}`},
		{"a map of structs", `{"byName":{"x":{"marks":["a"]}}}`, `{"byName":{"x":{"marks":["b"]}}}`, `{"byName":{"x":{"marks":["b","a"]}}}`},

		{"scalars are a set", `{"marks":["a","b"]}`, `{"marks":["c","b"]}`, `{"marks":["c","a","b"]}`},
		{"scalars are deleted", `{"marks":["a","b","a"]}`, `{"$deleteFromPrimitiveList/marks":["a","x"]}`, `{"marks":["b"]}`},
		{"scalars are added before others are deleted", `{"marks":["a"]}`, `{"marks":["b"],"$deleteFromPrimitiveList/marks":["a","b"]}`, `{"marks":[]}`},
		{"scalars of a list that is not there are deleted", `{}`, `{"$deleteFromPrimitiveList/marks":["a"]}`, `{}`},
		{"scalars of a list that is replaced are deleted", `{"args":["a","b"]}`, `{"$deleteFromPrimitiveList/args":["a"]}`, `{"args":["b"]}`},
		{"a list without a strategy is replaced", `{"args":["a"],"rules":[{"name":"a"}]}`, `{"args":["b"],"rules":[{"value":"x"}]}`, `{"args":["b"],"rules":[{"value":"x"}]}`},

		{"items in the order that is given", `{"items":[{"name":"a"},{"name":"b"},{"name":"c"}]}`, `{"$setElementOrder/items":[{"name":"c"},{"name":"a"},{"name":"b"}]}`, `{"items":[{"name":"c"},{"name":"a"},{"name":"b"}]}`},
		{"items that the order does not name", `{"items":[{"name":"a"},{"name":"x"},{"name":"b"}]}`, `{"$setElementOrder/items":[{"name":"b"},{"name":"a"}]}`, `{"items":[{"name":"x"},{"name":"b"},{"name":"a"}]}`},
		{"items are merged and ordered", `{"items":[{"name":"a"},{"name":"b"}]}`, `{"$setElementOrder/items":[{"name":"c"},{"name":"b"}],"items":[{"name":"c"},{"name":"b","value":"1"},{"name":"a","$patch":"delete"}]}`, `{"items":[{"name":"c"},{"name":"b","value":"1"}]}`},
		{"items of a new list", `{}`, `{"$setElementOrder/items":[{"name":"a"},{"name":"b"}],"items":[{"name":"a"},{"name":"b"}]}`, `{"items":[{"name":"a"},{"name":"b"}]}`},
		{"an order for no list", `{}`, `{"$setElementOrder/items":[{"name":"a"}]}`, `{}`},
		{"an order for a list that is not there", `{}`, `{"$setElementOrder/items":[{"name":"a"}]}`, `{}`},
		{"scalars in the order that is given", `{"marks":["a","b"]}`, `{"$setElementOrder/marks":["c","b","a"],"marks":["c"]}`, `{"marks":["c","b","a"]}`},
		{"scalars of a list that is replaced, ordered", `{"args":["a"]}`, `{"$setElementOrder/args":["c","b"],"args":["c","b"]}`, `{"args":["c","b"]}`},
		{"a new item takes the place of a deleted one", `{"items":[{"name":"a"},{"name":"b"}]}`, `{"$setElementOrder/items":[{"name":"c"}],"items":[{"name":"c"},{"name":"a","$patch":"delete"}]}`, `{"items":[{"name":"b"},{"name":"c"}]}`},

		{"members are retained", `{"plan":{"type":"a","surge":1,"pause":2}}`, `{"plan":{"$retainKeys":["type"],"type":"b"}}`, `{"plan":{"type":"b"}}`},
		{"members of an item are retained", `{"volumes":[{"name":"a","value":"1"}]}`, `{"volumes":[{"$retainKeys":["name","kind"],"name":"a","kind":"k"}]}`, `{"volumes":[{"name":"a","kind":"k"}]}`},
		{"members that are null or lists are not looked for", `{"items":[{"name":"a"}],"replicas":1}`, `{"$retainKeys":["items"],"replicas":null,"$setElementOrder/items":[]}`, `{"items":[{"name":"a"}]}`},
		{"retained members of a new object", `{}`, `{"plan":{"$retainKeys":["type"],"type":"b"}}`, `{"plan":{"type":"b"}}`},

		{"an object is replaced", `{"plan":{"type":"a","surge":1}}`, `{"plan":{"$patch":"replace","type":"b"}}`, `{"plan":{"type":"b"}}`},
		{"an object is emptied", `{"plan":{"type":"a"}}`, `{"plan":{"$patch":"delete","type":"b"}}`, `{"plan":{}}`},
		{"the whole object is replaced", `{"replicas":1}`, `{"$patch":"replace","labels":{}}`, `{"labels":{}}`},
		{"the whole object is emptied", `{"replicas":1}`, `{"$patch":"delete"}`, `{}`},
		{"an object that is not there is replaced, which does nothing", `{}`, `{"plan":{"$patch":"replace","type":"b"}}`, `{}`},
		{"an object with the strategy replace and the directive", `{"whole":{"type":"a","surge":1}}`, `{"whole":{"$patch":"replace","type":"b"}}`, `{"whole":{"type":"b"}}`},
		{"an object with the strategy replace", `{"whole":{"type":"a","surge":1}}`, `{"whole":{"type":"b"}}`, `{"whole":{"type":"b"}}`},

		{"what is not known is plain JSON", `{"other":{"a":[1],"b":{"c":1,"d":2}}}`, `{"other":{"a":[2],"b":{"c":null}}}`, `{"other":{"a":[2],"b":{"d":2}}}`},
		{"what is in an interface is plain JSON", `{"anything":{"items":[{"name":"a"}]}}`, `{"anything":{"items":[{"name":"b"}]}}`, `{"anything":{"items":[{"name":"b"}]}}`},
		{"a field that JSON does not have", `{"Forgotten":[{"name":"a"}]}`, `{"Forgotten":[{"name":"b"}]}`, `{"Forgotten":[{"name":"b"}]}`},
		{"names with a dollar that are no directives", `{"$ref":1}`, `{"$ref":2,"$schema":"x"}`, `{"$ref":2,"$schema":"x"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			doc, change := []byte(test.doc), []byte(test.patch)
			got, err := patch.ApplyStrategic(doc, change, ofWorkload)
			if err != nil || !sameJSON(t, string(got), test.want) {
				t.Errorf("got %s, %v; want %s", got, err, test.want)
			}
			if string(doc) != test.doc || string(change) != test.patch {
				t.Error("the documents were changed")
			}
		})
	}
}

// sameJSON compares documents whose numbers must be spelt alike.
func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var out [2]string
	for i, doc := range [...]string{a, b} {
		d := json.NewDecoder(strings.NewReader(doc))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%s: %v", doc, err)
		}
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = string(text)
	}
	return out[0] == out[1]
}

func TestApplyStrategicSaysWhatIsWrongAndWhere(t *testing.T) { // behaviour 323
	for _, test := range []struct {
		name, doc, patch string
		kind             error
		want             string
	}{
		{"no merge key", `{"items":[{"name":"a"}]}`, `{"items":[{"name":"a"},{"value":"s3cr3t"}]}`, patch.ErrMergeKey, `patch: the patch at /items/1: the item has no "name", which tells the items of this list apart`},
		{"a merge key that is null", `{"items":[{"name":"a"}]}`, `{"items":[{"name":null}]}`, patch.ErrMergeKey, `patch: the patch at /items/0: the item has no "name", which tells the items of this list apart`},
		{"a merge key that is no scalar", `{"items":[{"name":"a"}]}`, `{"items":[{"name":{}}]}`, patch.ErrMergeKey, `patch: the patch at /items/0/name: a merge key must be a scalar, not an object`},
		{"no merge key in the document", `{"inner":{"items":[{}]}}`, `{"inner":{"items":[{"name":"a"}]}}`, patch.ErrMergeKey, `patch: the document at /inner/items/0: the item has no "name", which tells the items of this list apart`},
		{"no merge key in what is to be deleted", `{"items":[{"name":"a"}]}`, `{"items":[{"$patch":"delete"}]}`, patch.ErrMergeKey, `patch: the patch at /items/0: the item has no "name", which tells the items of this list apart`},
		{"no merge key in an order", `{"items":[{"name":"a"}]}`, `{"$setElementOrder/items":[{"value":"a"}]}`, patch.ErrMergeKey, `patch: the patch at /$setElementOrder~1items/0: the item has no "name", which tells the items of this list apart`},
		{"no merge key in the schema", `{"keyless":[{"name":"a"}]}`, `{"keyless":[{"name":"b"}]}`, patch.ErrMergedList, `patch: the patch at /keyless: the schema has no merge key for this list of objects`},

		{"an unknown directive", `{}`, `{"a/b~":{"$patch":"s3cr3t"}}`, patch.ErrDirective, `patch: the patch at /a~1b~0/$patch: it must be "replace" or "delete"`},
		{"a directive that is no string", `{}`, `{"plan":{"$patch":true}}`, patch.ErrDirective, `patch: the patch at /plan/$patch: it must be "replace" or "delete"`},
		{"the directive merge", `{"items":[]}`, `{"items":[{"name":"a","$patch":"merge"}]}`, patch.ErrDirective, `patch: the patch at /items/0/$patch: merge is what happens without a directive; a server refuses it, so leave it out`},
		{"members to retain that are no list", `{}`, `{"$retainKeys":"type"}`, patch.ErrDirective, `patch: the patch at /$retainKeys: it must be a list, not a string`},
		{"members to retain that are no names", `{}`, `{"$retainKeys":["type",1]}`, patch.ErrDirective, `patch: the patch at /$retainKeys/1: it must be the name of a member, not a number`},
		{"a member that is not retained", `{"plan":{}}`, `{"plan":{"$retainKeys":["type"],"surge":1}}`, patch.ErrRetainKeys, `patch: the patch at /plan/surge: the patch sets it, and $retainKeys beside it does not list it`},
		{"an order of no list", `{}`, `{"$setElementOrder":[]}`, patch.ErrDirective, `patch: the patch at /$setElementOrder: $setElementOrder must be followed by a slash and the name of a list`},
		{"an order without a slash", `{}`, `{"$setElementOrder.items":[]}`, patch.ErrDirective, `patch: the patch at /$setElementOrder.items: $setElementOrder must be followed by a slash and the name of a list`},
		{"an order that is no list", `{}`, `{"$setElementOrder/items":{}}`, patch.ErrDirective, `patch: the patch at /$setElementOrder~1items: it must be a list, not an object`},
		{"an order of lists", `{}`, `{"$setElementOrder/items":[[]]}`, patch.ErrDirective, `patch: the patch at /$setElementOrder~1items/0: it must be a scalar, not a list`},
		{"a directive in an order", `{}`, `{"$setElementOrder/items":[{"name":"a","$patch":"delete"}]}`, patch.ErrDirective, `patch: the patch at /$setElementOrder~1items/0/$patch: no directive may stand in $setElementOrder`},
		{"an order beside null", `{"items":[]}`, `{"items":null,"$setElementOrder/items":[{"name":"a"}]}`, patch.ErrDirective, `patch: the patch at /items: it must be a list, as $setElementOrder/items is beside it, not null`},
		{"an order beside an object", `{}`, `{"items":{},"$setElementOrder/items":[{"name":"a"}]}`, patch.ErrDirective, `patch: the patch at /items: it must be a list, as the patch has $setElementOrder for it, not an object`},
		{"an order for an object", `{"items":{}}`, `{"$setElementOrder/items":[{"name":"a"}]}`, patch.ErrDirective, `patch: the document at /items: it must be a list, as the patch has $setElementOrder for it, not an object`},
		{"an order that lacks an item", `{"items":[]}`, `{"items":[{"name":"a"},{"name":"b"}],"$setElementOrder/items":[{"name":"a"}]}`, patch.ErrElementOrder, `patch: the patch at /$setElementOrder~1items: it must have the items that the patch has for that list, in the same order; item 1 of the patch's list is out of order`},
		{"an order of a list without items", `{"items":[]}`, `{"$setElementOrder/items":[{"name":"a"}]}`, patch.ErrElementOrder, `patch: the patch at /$setElementOrder~1items: a server refuses it if neither the document nor the patch has items in the list`},
		{"an order of a new list without items", `{}`, `{"marks":[],"$setElementOrder/marks":["a"]}`, patch.ErrElementOrder, `patch: the patch at /$setElementOrder~1marks: a server refuses it if neither the document nor the patch has items in the list`},
		{"an order that is another", `{"marks":[]}`, `{"marks":["a","b"],"$setElementOrder/marks":["b","a"]}`, patch.ErrElementOrder, `patch: the patch at /$setElementOrder~1marks: it must have the items that the patch has for that list, in the same order; item 1 of the patch's list is out of order`},
		{"an order for objects that are replaced", `{"rules":[{"name":"a"}]}`, `{"rules":[{"name":"b"}],"$setElementOrder/rules":["b"]}`, patch.ErrMergedList, `patch: the patch at /rules/0: it must be a scalar, not an object`},
		{"an order of scalars for objects", `{"items":[{"name":"a"}]}`, `{"$setElementOrder/items":["a"]}`, patch.ErrMergedList, `patch: the patch at /$setElementOrder~1items/0: it must be an object with "name", not a string`},
		{"scalars to delete that are no list", `{}`, `{"$deleteFromPrimitiveList/marks":null}`, patch.ErrDirective, `patch: the patch at /$deleteFromPrimitiveList~1marks: it must be a list, not null`},
		{"scalars to delete that are objects", `{}`, `{"$deleteFromPrimitiveList/marks":[{}]}`, patch.ErrDirective, `patch: the patch at /$deleteFromPrimitiveList~1marks/0: it must be a scalar, not an object`},
		{"scalars to delete from objects", `{"items":[{"name":"a"}]}`, `{"$deleteFromPrimitiveList/items":["a"]}`, patch.ErrDirective, `patch: the patch at /$deleteFromPrimitiveList~1items: it must have the type of the items of the list "items", which are scalars`},
		{"scalars to delete of no list", `{}`, `{"$deleteFromPrimitiveList/":[1],"$deleteFromPrimitiveListmarks":[1]}`, patch.ErrDirective, `patch: the patch at /$deleteFromPrimitiveList~1: $deleteFromPrimitiveList must be followed by a slash and the name of a list`},

		{"a directive in a list that is replaced", `{"rules":[]}`, `{"rules":[{"name":"a","$patch":"delete"}]}`, patch.ErrDirective, `patch: the patch at /rules/0/$patch: no directive may stand here: the list is replaced whole`},
		{"a directive in a merged list that is replaced", `{"items":[]}`, `{"items":[{"$patch":"replace"},{"name":"a","items":[{"$patch":"delete"}]}]}`, patch.ErrDirective, `patch: the patch at /items/1/items/0/$patch: no directive may stand here: the enclosing list is replaced whole`},
		{"a directive in an object that is replaced", `{"plan":{}}`, `{"plan":{"$patch":"replace","x":{"$retainKeys":[]}}}`, patch.ErrDirective, `patch: the patch at /plan/x/$retainKeys: no directive may stand here: the enclosing object is replaced whole`},
		{"a directive in an object with the strategy replace", `{"whole":{}}`, `{"whole":{"x":{"$patch":"delete"}}}`, patch.ErrDirective, `patch: the patch at /whole/x/$patch: no directive may stand here: the object is replaced whole`},
		{"the deletion of an object with the strategy replace", `{"whole":{}}`, `{"whole":{"$patch":"delete"}}`, patch.ErrDirective, `patch: the patch at /whole/$patch: no directive may stand here: the object is replaced whole`},
		{"a directive in an item that is new", `{"items":[]}`, `{"items":[{"name":"a","items":[{"name":"b","$patch":"delete"}]}]}`, patch.ErrDirective, `patch: the patch at /items/0/items/0/$patch: no directive may stand here: the enclosing item is not in the document's list`},

		{"a list of two types", `{"marks":["a",1]}`, `{"marks":["b"]}`, patch.ErrMergedList, `patch: the document at /marks/1: the items of a merged list must all be of one type`},
		{"a list of another type", `{"marks":["a"]}`, `{"marks":[1]}`, patch.ErrMergedList, `patch: the patch at /marks: its items have another type than those in the document`},
		{"a list with null", `{"marks":["a"]}`, `{"marks":[null]}`, patch.ErrMergedList, `patch: the patch at /marks/0: null cannot be merged with other items`},
		{"a list of lists", `{"marks":[]}`, `{"marks":[["s3cr3t"]]}`, patch.ErrMergedList, `patch: the patch at /marks/0: a list cannot be merged with other items`},
		{"scalars with a merge key", `{"items":["a"]}`, `{"items":["b"]}`, patch.ErrMergedList, `patch: the document at /items/0: it must be an object with "name", not a string`},

		{"a patch that is no object", `{}`, `[]`, nil, `patch: the patch is not a JSON object`},
		{"a document that is no object", `null`, `{}`, nil, `patch: the document is not a JSON object`},
		{"a document that is no JSON", `{`, `{}`, nil, `patch: the document is not JSON: it ends too early`},
		{"a patch that is too deep", `{}`, strings.Repeat(`{"a":`, 1001) + "1" + strings.Repeat("}", 1001), patch.ErrTooLarge, `patch: the patch: it is nested more than 1000 deep`},
		{"a document that is too large", `{"a":"` + strings.Repeat("x", 64<<20) + `"}`, `{}`, nil, `patch: the document is too large: it has 67108872 bytes, and 67108864 are allowed`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := patch.ApplyStrategic([]byte(test.doc), []byte(test.patch), ofWorkload)
			if err == nil || err.Error() != test.want || got != nil {
				t.Fatalf("got %s and error\n%v, want\n%s", got, err, test.want)
			}
			var strategic *patch.StrategicError
			if test.kind != nil && (!errors.Is(err, test.kind) || !errors.As(err, &strategic)) {
				t.Errorf("the error is no %v", test.kind)
			}
		})
	}
}
