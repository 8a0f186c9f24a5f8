package patch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/patch"
)

// behaviour 307: the cases of RFC 6902, appendix A, in its order; A.13 is an error here, as it may be.
func TestTheExamplesOfRFC6902(t *testing.T) {
	for _, test := range []struct {
		name, doc, patch, want string // without want it is an error
		kind                   error
	}{
		{
			"A.1 adding an object member", `{"foo":"bar"}`,
			`[{"op":"add","path":"/baz","value":"qux"}]`, `{"foo":"bar","baz":"qux"}`, nil,
		},
		{
			"A.2 adding an array element", `{"foo":["bar","baz"]}`,
			`[{"op":"add","path":"/foo/1","value":"qux"}]`, `{"foo":["bar","qux","baz"]}`, nil,
		},
		{
			"A.3 removing an object member", `{"baz":"qux","foo":"bar"}`,
			`[{"op":"remove","path":"/baz"}]`, `{"foo":"bar"}`, nil,
		},
		{
			"A.4 removing an array element", `{"foo":["bar","qux","baz"]}`,
			`[{"op":"remove","path":"/foo/1"}]`, `{"foo":["bar","baz"]}`, nil,
		},
		{
			"A.5 replacing a value", `{"baz":"qux","foo":"bar"}`,
			`[{"op":"replace","path":"/baz","value":"boo"}]`, `{"baz":"boo","foo":"bar"}`, nil,
		},
		{
			"A.6 moving a value", `{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}`,
			`[{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]`,
			`{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}`, nil,
		},
		{
			"A.7 moving an array element", `{"foo":["all","grass","cows","eat"]}`,
			`[{"op":"move","from":"/foo/1","path":"/foo/3"}]`, `{"foo":["all","cows","eat","grass"]}`, nil,
		},
		{
			"A.8 testing a value: success", `{"baz":"qux","foo":["a",2,"c"]}`,
			`[{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}]`,
			`{"baz":"qux","foo":["a",2,"c"]}`, nil,
		},
		{
			"A.9 testing a value: error", `{"baz":"qux"}`,
			`[{"op":"test","path":"/baz","value":"bar"}]`, "", patch.ErrTestFailed,
		},
		{
			"A.10 adding a nested member object", `{"foo":"bar"}`,
			`[{"op":"add","path":"/child","value":{"grandchild":{}}}]`, `{"foo":"bar","child":{"grandchild":{}}}`, nil,
		},
		{
			"A.11 ignoring unrecognized elements", `{"foo":"bar"}`,
			`[{"op":"add","path":"/baz","value":"qux","xyz":123}]`, `{"foo":"bar","baz":"qux"}`, nil,
		},
		{
			"A.12 adding to a nonexistent target", `{"foo":"bar"}`,
			`[{"op":"add","path":"/baz/bat","value":"qux"}]`, "", patch.ErrNotFound,
		},
		{
			"A.13 invalid JSON Patch document", `{"foo":"bar"}`,
			`[{"op":"add","path":"/baz","value":"qux","op":"remove"}]`, "", patch.ErrMalformed,
		},
		{
			"A.14 escape ordering", `{"/":9,"~1":10}`,
			`[{"op":"test","path":"/~01","value":10}]`, `{"/":9,"~1":10}`, nil,
		},
		{
			"A.15 comparing strings and numbers", `{"/":9,"~1":10}`,
			`[{"op":"test","path":"/~01","value":"10"}]`, "", patch.ErrTestFailed,
		},
		{
			"A.16 adding an array value", `{"foo":["bar"]}`,
			`[{"op":"add","path":"/foo/-","value":["abc","def"]}]`, `{"foo":["bar",["abc","def"]]}`, nil,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := patch.ApplyJSON([]byte(test.doc), []byte(test.patch))
			if string(got) != test.want || !errors.Is(err, test.kind) {
				t.Errorf("got %s, %v; want %s, %v", got, err, test.want, test.kind)
			}
		})
	}
}

// behaviour 307
func TestOperationsApply(t *testing.T) {
	for _, test := range []struct {
		name, doc, want string
		ops             []patch.Op
	}{
		{"none", ` { "a" : [ 1 , 2 ] } `, `{"a":[1,2]}`, nil},
		{"add replaces a member", `{"a":1,"b":2}`, `{"a":[],"b":2}`, []patch.Op{patch.Add("/a", []int{})}},
		{"add of null", `{}`, `{"a":null}`, []patch.Op{patch.Add("/a", nil)}},
		{"add with the empty name", `{}`, `{"":1}`, []patch.Op{patch.Add("/", 1)}},
		{"add at the start of a list", `[1]`, `[0,1]`, []patch.Op{patch.Add("/0", 0)}},
		{"add at the end of a list, by its length", `[1]`, `[1,2]`, []patch.Op{patch.Add("/1", 2)}},
		{"add to an empty list", `[]`, `[1]`, []patch.Op{patch.Add("/-", 1)}},
		{"add in a list in a list", `[[1],[2]]`, `[[1],[2,3]]`, []patch.Op{patch.Add("/1/-", 3)}},
		{"a member named like an index", `{"0":1}`, `{"0":2,"-":3,"01":4}`, []patch.Op{
			patch.Replace("/0", 2), patch.Add("/-", 3), patch.Add("/01", 4),
		}},
		{"a member named like a number", `{"1e0":1}`, `{"1e0":2}`, []patch.Op{patch.Replace("/1e0", 2)}},
		{"a member becomes an element", `[{"a":1}]`, `[{},1]`, []patch.Op{patch.Move("/0/a", "/1")}},
		{"the whole document by add", `{"a":1}`, `[1]`, []patch.Op{patch.Add("", []int{1})}},
		{"the whole document by replace", `{"a":1}`, `"x"`, []patch.Op{patch.Replace("", "x")}},
		{"the whole document by a move", `{"a":{"b":1}}`, `{"b":1}`, []patch.Op{patch.Move("/a", "")}},
		{"the whole document by a copy, and on", `{"a":{"b":1}}`, `{"b":2}`, []patch.Op{patch.Copy("/a", ""), patch.Replace("/b", 2)}},
		{"a document that is a scalar", `1`, `1`, []patch.Op{patch.Test("", 1)}},
		{"a scalar is replaced", `null`, `{"a":1}`, []patch.Op{patch.Replace("", raw(`{}`)), patch.Add("/a", 1)}},
		{"replace of null", `{"a":null}`, `{"a":1}`, []patch.Op{patch.Replace("/a", 1)}},
		{"replace by null", `{"a":1}`, `{"a":null}`, []patch.Op{patch.Replace("/a", nil)}},
		{"remove of null", `{"a":null,"b":[null,1]}`, `{"b":[1]}`, []patch.Op{patch.Remove("/a"), patch.Remove("/b/0")}},
		{"remove and add again", `{"a":1,"b":2}`, `{"b":2,"a":3}`, []patch.Op{patch.Remove("/a"), patch.Add("/a", 3)}},
		{"remove twice by one index", `[1,2,3]`, `[1]`, []patch.Op{patch.Remove("/1"), patch.Remove("/1")}},
		{"move to where it is", `{"a":1,"b":2}`, `{"a":1,"b":2}`, []patch.Op{patch.Move("/a", "/a")}},
		{"move of the document to itself", `{"a":1}`, `{"a":1}`, []patch.Op{patch.Move("", "")}},
		{"move onto a member", `{"a":1,"b":2}`, `{"b":1}`, []patch.Op{patch.Move("/a", "/b")}},
		{"move upwards, over its parent", `{"a":{"b":{"c":1}}}`, `{"a":{"c":1}}`, []patch.Op{patch.Move("/a/b", "/a")}},
		{"move to the end of its own list", `[1,2,3]`, `[2,3,1]`, []patch.Op{patch.Move("/0", "/-")}},
		{"a name that is a prefix is no parent", `{"a":1}`, `{"ab":1}`, []patch.Op{patch.Move("/a", "/ab")}},
		{"copy of null", `{"a":null}`, `{"a":null,"b":null}`, []patch.Op{patch.Copy("/a", "/b")}},
		{"copy into itself", `{"a":{"b":1}}`, `{"a":{"b":1,"c":{"b":1}}}`, []patch.Op{patch.Copy("/a", "/a/c")}},
		{"copy of the document into it", `{"a":1}`, `{"a":1,"b":{"a":1}}`, []patch.Op{patch.Copy("", "/b")}},
		{"test of null", `{"a":null}`, `{"a":null}`, []patch.Op{patch.Test("/a", nil)}},
		{"test of what was changed", `{"a":[]}`, `{"a":[{"b":1}]}`, []patch.Op{
			patch.Add("/a/-", raw(`{}`)), patch.Add("/a/0/b", 1), patch.Test("", raw(`{"a":[{"b":1.0}]}`)),
		}},
		// behaviour 330
		{"names are compared by code point", "{\"é\":1,\"e\u0301\":2}", "{\"e\u0301\":2}", []patch.Op{patch.Remove("/é")}},
		{"an escaped name is the same name", `{"\u00e9":1,"b":2}`, `{"\u00e9":3,"b":2}`, []patch.Op{patch.Replace("/é", 3)}},
		{"names are case-sensitive", `{"a":1}`, `{"a":1,"A":2}`, []patch.Op{patch.Add("/A", 2)}},
		{"a name to be escaped", `{}`, `{"a/\"~\\\u0001":1}`, []patch.Op{patch.Add(patch.Pointer("a/\"~\\\x01"), 1)}},
		{"of duplicate members the last counts", `{"a":1,"b":2,"a":3}`, `{"b":2,"a":4}`, []patch.Op{
			patch.Test("/a", 3), patch.Replace("/a", 4),
		}},
		{"no duplicate member comes back", `{"a":1,"a":2,"b":3}`, `{"b":3}`, []patch.Op{patch.Remove("/a")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, err := applyOps(t, test.doc, test.ops...); err != nil || got != test.want {
				t.Errorf("got %s, %v; want %s", got, err, test.want)
			}
		})
	}
}

func TestNumbersStayAsTheyAreWritten(t *testing.T) {
	doc := `{"a":9007199254740993,"b":1.0,"c":[-0.10E+05,1e400],"d":{"e":18446744073709551617}}`
	got, err := applyOps(t, doc, patch.Add("/c/-", raw("1.50")), patch.Copy("/d", "/f"), patch.Move("/f/e", "/f/g"))
	want := `{"a":9007199254740993,"b":1.0,"c":[-0.10E+05,1e400,1.50],"d":{"e":18446744073709551617},"f":{"g":18446744073709551617}}`
	if err != nil || got != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

// behaviour 312
func TestValuesAreComparedAsJSON(t *testing.T) {
	for _, test := range []struct {
		a, b string
		same bool
	}{
		{`{"a":1,"b":[true,null]}`, ` { "b" : [ true , null ] , "a" : 1.0 } `, true},
		{`{"a":{"b":{"c":1,"d":2}}}`, `{"a":{"b":{"d":2,"c":1}}}`, true},
		{`{"a":1,"a":2}`, `{"a":2}`, true},
		{`{"a":1}`, `{"a":1,"b":null}`, false},
		{`{"a":1}`, `{"b":1}`, false},
		{`[1,2]`, `[2,1]`, false},
		{`[1,2]`, `[1,2,2]`, false},
		{`[]`, `{}`, false},
		{`null`, `false`, false},
		{`true`, `true`, true},
		{`true`, `false`, false},
		{`0`, `null`, false},
		{`"1"`, `1`, false},
		{`"a\/\u0062"`, `"a/b"`, true},
		{`"\ud83d\ude00"`, `"😀"`, true},
		{`"é"`, "\"e\u0301\"", false}, // behaviour 330

		{`1`, `1.0`, true},
		{`1`, `1e0`, true},
		{`1`, `10E-1`, true},
		{`100`, `1e+2`, true},
		{`100`, `0.1e3`, true},
		{`1200`, `12e2`, true},
		{`0`, `-0`, true},
		{`0`, `0.000e99`, true},
		{`-1`, `1`, false},
		{`1`, `10`, false},
		{`0.1`, `1`, false},
		{`9007199254740993`, `9007199254740992`, false},
		{`9007199254740993`, `9007199254740993.0`, true},
		{`0.1`, `0.1000000000000000055511151231257827`, false},
		{`1e400`, `10e399`, true},
		{`1e400`, `1e401`, false},
		{`1e-400`, `0`, false},
		{`1e99999999999999999999`, `10e99999999999999999998`, true},
		{`1e99999999999999999999`, `1e99999999999999999998`, false},
		{`1e-99999999999999999999`, `1e99999999999999999999`, false},
		{`1e00000000000000000000000000001`, `10`, true},
		{`1e1` + strings.Repeat("0", 2000), `1.0e1` + strings.Repeat("0", 2000), true},
		{`1e1` + strings.Repeat("0", 2000), `10e1` + strings.Repeat("0", 2000), false},
		{`1e1` + strings.Repeat("0", 2000), `10e` + strings.Repeat("9", 2000), false}, // too long to be computed
	} {
		for _, pair := range [][2]string{{test.a, test.b}, {test.b, test.a}} {
			_, err := applyOps(t, pair[0], patch.Test("", raw(pair[1])))
			if (err == nil) != test.same || err != nil && !errors.Is(err, patch.ErrTestFailed) {
				t.Errorf("%.50s and %.50s: got %v, want %v", pair[0], pair[1], err, test.same)
			}
		}
	}
}

func TestLargeObjectsAreComparedAndChangedByName(t *testing.T) {
	var a, b, want []string
	for i := range 200 {
		a = append(a, fmt.Sprintf(`"m%d":%d`, i, i))
		b = append([]string{fmt.Sprintf(`"m%d":%d.0`, i, i)}, b...)
		if i != 100 {
			want = append(want, a[i])
		}
	}
	doc := "{" + strings.Join(append([]string{`"m7":"gone"`}, a...), ",") + "}"
	got, err := applyOps(t, doc,
		patch.Test("", raw("{"+strings.Join(b, ",")+"}")), patch.Remove("/m100"), patch.Add("/new", 1), patch.Replace("/new", 2),
		patch.Remove("/m199"), patch.Add("/m199", 199),
	)
	if want := "{" + strings.Join(append(want[:len(want)-1], `"new":2`, `"m199":199`), ",") + "}"; err != nil || got != want {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestAnObjectThatGrowsLosesNoMember(t *testing.T) {
	ops := []patch.Op{patch.Remove("/b"), patch.Add("/b", 0), patch.Remove("/a")}
	for i := range 30 {
		ops = append(ops, patch.Add(fmt.Sprintf("/m%d", i), i))
	}
	ops = append(ops, patch.Test("/b", 0), patch.Remove("/m3"), patch.Add("/a", 9))
	for i := range 29 {
		ops = append(ops, patch.Remove(fmt.Sprintf("/m%d", (i+4)%30)))
	}
	if got, err := applyOps(t, `{"a":1,"b":2,"a":3}`, ops...); err != nil || got != `{"b":0,"a":9}` {
		t.Errorf("got %s, %v", got, err)
	}
}

// behaviour 307: what does not fit the document. behaviour 311: it is untouched, and there is no result.
func TestOperationsThatDoNotFitAreErrors(t *testing.T) {
	doc := `{"a":{"b":[1,2]},"s":"text","n":null,"t":true,"i":7}`
	for _, test := range []struct {
		op   patch.Op
		kind error
		want string
	}{
		{patch.Remove("/x"), patch.ErrNotFound, `patch: operation 1 (remove "/x"): the object at "" has no member "x"`},
		{patch.Replace("/a/x", 1), patch.ErrNotFound, `patch: operation 1 (replace "/a/x"): the object at "/a" has no member "x"`},
		{patch.Test("/a/x", nil), patch.ErrNotFound, `patch: operation 1 (test "/a/x"): the object at "/a" has no member "x"`},
		{patch.Add("/x/y", 1), patch.ErrNotFound, `patch: operation 1 (add "/x/y"): the object at "" has no member "x"`},
		{patch.Add("/s/y", 1), patch.ErrNotFound, `patch: operation 1 (add "/s/y"): the value at "/s" is a string, not an object or a list`},
		{patch.Add("/n/y", 1), patch.ErrNotFound, `patch: operation 1 (add "/n/y"): the value at "/n" is null, not an object or a list`},
		{patch.Remove("/t/y"), patch.ErrNotFound, `patch: operation 1 (remove "/t/y"): the value at "/t" is a boolean, not an object or a list`},
		{patch.Replace("/i/0/z", 1), patch.ErrNotFound, `patch: operation 1 (replace "/i/0/z"): the value at "/i" is a number, not an object or a list`},
		{patch.Add("/a/b/3", 1), patch.ErrNotFound, `patch: operation 1 (add "/a/b/3"): in the list at "/a/b": index 3 is out of range: the list has length 2`},
		{patch.Remove("/a/b/2"), patch.ErrNotFound, `patch: operation 1 (remove "/a/b/2"): in the list at "/a/b": index 2 is out of range: the list has length 2`},
		{patch.Replace("/a/b/-", 1), patch.ErrNotFound, `patch: operation 1 (replace "/a/b/-"): in the list at "/a/b": "-" is not the index of an element`},
		{patch.Remove("/a/b/-"), patch.ErrNotFound, `"-" is not the index of an element`},
		{patch.Test("/a/b/-", nil), patch.ErrNotFound, `"-" is not the index of an element`},
		{patch.Add("/a/b/01", 1), patch.ErrNotFound, `in the list at "/a/b": index "01" must have no leading zeros`},
		{patch.Test("/a/b/00", 1), patch.ErrNotFound, `index "00" must have no leading zeros`},
		{patch.Add("/a/b/-1", 1), patch.ErrNotFound, `"-1" is not the index of an element`},
		{patch.Add("/a/b/+1", 1), patch.ErrNotFound, `"+1" is not the index of an element`},
		{patch.Test("/a/b/1e0", 2), patch.ErrNotFound, `"1e0" is not the index of an element`},
		{patch.Test("/a/b/0x1", 2), patch.ErrNotFound, `index "0x1" must have no leading zeros`},
		{patch.Test("/a/b/", 1), patch.ErrNotFound, `"" is not the index of an element`},
		{patch.Test("/a/b/١", 2), patch.ErrNotFound, `"١" is not the index of an element`},
		{patch.Test("/a/b/x/y", 2), patch.ErrNotFound, `"x" is not the index of an element`},
		{patch.Add("/a/b/18446744073709551616", 1), patch.ErrNotFound, `index 18446744073709551616 is out of range: the list has length 2`},
		{patch.Remove("/a/b/1e0"), patch.ErrNotFound, `"1e0" is not the index of an element`},
		{patch.Move("/a/b/1e0", "/x"), patch.ErrNotFound, `patch: operation 1 (move "/a/b/1e0"): in the list at "/a/b": "1e0" is not the index of an element`},
		{patch.Copy("/a/b/1e0", "/x"), patch.ErrNotFound, `patch: operation 1 (copy "/a/b/1e0"): in the list at "/a/b": "1e0" is not the index of an element`},
		{patch.Add("/a/b/x", 1), patch.ErrNotFound, `"x" is not the index of an element`},
		{patch.Move("/x", "/y"), patch.ErrNotFound, `patch: operation 1 (move "/x"): the object at "" has no member "x"`},
		{patch.Move("/x", "/x"), patch.ErrNotFound, `patch: operation 1 (move "/x"): the object at "" has no member "x"`},
		{patch.Move("/a/b", "/y/z"), patch.ErrNotFound, `patch: operation 1 (move "/y/z"): the object at "" has no member "y"`},
		{patch.Move("/a/b/0", "/a/b/2"), patch.ErrNotFound, `index 2 is out of range: the list has length 1`},
		{patch.Copy("/x", "/y"), patch.ErrNotFound, `patch: operation 1 (copy "/x"): the object at "" has no member "x"`},
		{patch.Copy("/a", "/y/z"), patch.ErrNotFound, `patch: operation 1 (copy "/y/z"): the object at "" has no member "y"`},
		{patch.Test("/s", "s3cr3t"), patch.ErrTestFailed, `patch: operation 1 (test "/s"): the document has a different value there`},
	} {
		t.Run(test.want, func(t *testing.T) {
			before := []byte(doc)
			body, err := patch.JSON(patch.Replace("/a/b/0", 9), test.op, patch.Remove("/s")).Body()
			if err != nil {
				t.Fatal(err)
			}
			got, err := patch.ApplyJSON(before, body)
			if got != nil || err == nil || !strings.HasSuffix(err.Error(), test.want) || !errors.Is(err, test.kind) {
				t.Errorf("got %s, %v; want %s", got, err, test.want)
			}
			var failed *patch.OpError
			if !errors.As(err, &failed) || failed.Index != 1 || !strings.Contains(test.op.String(), failed.Op+" ") || failed.Path == "" {
				t.Errorf("error is %+v", failed)
			}
			if string(before) != doc {
				t.Errorf("the document has changed to %s", before)
			}
		})
	}
}

// behaviour 307: what is wrong whatever the document is, said before anything is applied.
func TestMalformedPatchesAreErrors(t *testing.T) {
	for _, test := range []struct{ patch, want string }{
		{`{"op":"test","path":"","value":1}`, `patch: the JSON patch must be a list of operations`},
		{`null`, `patch: the JSON patch must be a list of operations`},
		{`[[]]`, `patch: operation 0: it must be an object`},
		{`[null]`, `patch: operation 0: it must be an object`},
		{`[{}]`, `patch: operation 0: it must have a member "op"`},
		{`[{"Op":"test","path":"","value":1}]`, `patch: operation 0: it must have a member "op"`},
		{`[{"op":null,"path":"/a"}]`, `patch: operation 0: its member "op" must be a string`},
		{`[{"op":"spam","path":"/a"}]`, `patch: operation 0: op must be add, remove, replace, move, copy or test, got "spam"`},
		{`[{"op":"Add","path":"/a","value":1}]`, `patch: operation 0: op must be add, remove, replace, move, copy or test, got "Add"`},
		{`[{"op":"","path":"/a"}]`, `patch: operation 0: op must be add, remove, replace, move, copy or test, got ""`},
		{`[{"op":"remove"}]`, `patch: operation 0 (remove ""): it must have a member "path"`},
		{`[{"op":"remove","path":0}]`, `patch: operation 0 (remove ""): its member "path" must be a string`},
		{`[{"op":"remove","path":null}]`, `patch: operation 0 (remove ""): its member "path" must be a string`},
		{`[{"op":"add","path":"/a"}]`, `patch: operation 0 (add "/a"): it must have a member "value"`},
		{`[{"op":"replace","path":"/a","Value":1}]`, `patch: operation 0 (replace "/a"): it must have a member "value"`},
		{`[{"op":"test","path":"/a"}]`, `patch: operation 0 (test "/a"): it must have a member "value"`},
		{`[{"op":"move","path":"/b"}]`, `patch: operation 0 (move "/b"): it must have a member "from" that is a string`},
		{`[{"op":"copy","path":"/b","from":null}]`, `patch: operation 0 (copy "/b"): it must have a member "from" that is a string`},
		{`[{"op":"add","path":"a","value":1}]`, `patch: operation 0 (add "a"): pointer "a" must be empty or start with a slash`},
		{`[{"op":"copy","path":"/b","from":"a"}]`, `patch: operation 0 (copy "a"): pointer "a" must be empty or start with a slash`},
		{`[{"op":"remove","path":"/a~"}]`, `patch: operation 0 (remove "/a~"): pointer "/a~" must have 0 or 1 after each ~`},
		{`[{"op":"remove","path":""}]`, `patch: operation 0 (remove ""): the whole document cannot be removed`},
		// behaviour 313
		{`[{"op":"move","from":"/a","path":"/a/b"}]`, `patch: operation 0 (move "/a/b"): the value at "/a" cannot be moved into itself`},
		{`[{"op":"move","from":"","path":"/a"}]`, `patch: operation 0 (move "/a"): the value at "" cannot be moved into itself`},
		{`[{"op":"add","path":"/a","path":"/b","value":1}]`, `patch: operation 0 (add "/a"): it has two members "path"`},
		{`[{"op":"add","path":"/a","value":1,"value":1}]`, `patch: operation 0 (add "/a"): it has two members "value"`},
		{`[{"op":"copy","from":"/a","from":"/b","path":"/a"}]`, `patch: operation 0 (copy ""): it has two members "from"`},
		{`[{"op":"add","path":"/a","\u006fp":"add","value":1}]`, `patch: operation 0 (add "/a"): it has two members "op"`},
		{`[{"op":"remove","path":"/nowhere"},{"op":"spam"}]`, `patch: operation 1 (spam ""): it must have a member "path"`},
	} {
		t.Run(test.patch, func(t *testing.T) {
			got, err := patch.ApplyJSON([]byte(`{"a":{}}`), []byte(test.patch))
			if got != nil || err == nil || err.Error() != test.want || !errors.Is(err, patch.ErrMalformed) {
				t.Errorf("got %s, %v; want %s", got, err, test.want)
			}
			if ops, again := patch.ParseOps([]byte(test.patch)); ops != nil || again == nil || again.Error() != err.Error() {
				t.Errorf("parsed: %v, %v", ops, again)
			}
		})
	}
}

func TestMembersThatAnOperationDoesNotHaveAreIgnored(t *testing.T) {
	got, err := patch.ApplyJSON([]byte(`{"a":1,"b":2}`), []byte(`[
		{"op":"remove","path":"/a","value":1,"from":0,"x":[],"x":[]},
		{"value":3,"path":"/b","from":"bad pointer","op":"replace"}
	]`))
	if err != nil || string(got) != `{"b":3}` {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestApplyJSONRefusesMalformedJSON(t *testing.T) {
	for _, test := range []struct{ name, doc, patch, want string }{
		{"no document", ``, `[]`, "patch: the document is not JSON: it ends too early"},
		{"no patch", `{}`, ` `, "patch: the JSON patch is not JSON: it ends too early"},
		{"half a document", `{"a":`, `[]`, "patch: the document is not JSON: it ends too early"},
		{"half a string", `"\u12`, `[]`, "patch: the document is not JSON: it ends too early"},
		{"a bad escape", `{"a":"\x"}`, `[]`, `patch: the document is not JSON: unexpected 'x' at byte 7`},
		{"a line break in a string", "\"a\nb\"", `[]`, `patch: the document is not JSON: unexpected '\n' at byte 2`},
		{"a comma too many", `[1,]`, `[]`, `patch: the document is not JSON: unexpected ']' at byte 3`},
		{"a number without digits behind the dot", `1.`, `[]`, `patch: the document is not JSON: it ends too early`},
		{"a number without digits in the exponent", `[1e+]`, `[]`, `patch: the document is not JSON: unexpected ']' at byte 4`},
		{"a word that is none", `[trve]`, `[]`, `patch: the document is not JSON: unexpected 'v' at byte 3`},
		{"half an escape", `"\`, `[]`, `patch: the document is not JSON: it ends too early`},
		{"a bad escape in hexadecimal", `"\u00fx"`, `[]`, `patch: the document is not JSON: unexpected 'x' at byte 6`},
		{"half a name", `{"a`, `[]`, `patch: the document is not JSON: it ends too early`},
		{"a name that is none", `{1:2}`, `[]`, `patch: the document is not JSON: unexpected '1' at byte 1`},
		{"no colon", `{"a" 2}`, `[]`, `patch: the document is not JSON: unexpected '2' at byte 5`},
		{"brackets that do not match", `[1}`, `[]`, `patch: the document is not JSON: unexpected '}' at byte 2`},
		{"a number like no number", `-`, `[]`, `patch: the document is not JSON: it ends too early`},
		{"two documents", `{}{}`, `[]`, "patch: the document has more than one JSON value"},
		{"something behind the patch", `{}`, `[]]`, "patch: the JSON patch has more than one JSON value"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := patch.ApplyJSON([]byte(test.doc), []byte(test.patch))
			if got != nil || err == nil || err.Error() != test.want {
				t.Errorf("got %s, %v; want %s", got, err, test.want)
			}
		})
	}
}

// behaviour 313
func TestACopyIsDeep(t *testing.T) {
	got, err := applyOps(t, `{"a":{"b":[1,{"c":2}]}}`,
		patch.Add("/a/b/-", 3), // so that it is no longer as it was written
		patch.Copy("/a", "/d"),
		patch.Replace("/a/b/1/c", 4), patch.Add("/d/b/1/e", 5), patch.Remove("/a/b/0"),
	)
	if want := `{"a":{"b":[{"c":4},3]},"d":{"b":[1,{"c":2,"e":5},3]}}`; err != nil || got != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

func TestEachAddCopiesTheValueOfThePatch(t *testing.T) {
	change := []byte(`[{"op":"add","path":"/a","value":{"x":[]}},{"op":"copy","from":"/a","path":"/b"},{"op":"add","path":"/a/x/0","value":1}]`)
	for range 2 {
		got, err := patch.ApplyJSON([]byte(`{}`), change)
		if want := `{"a":{"x":[1]},"b":{"x":[]}}`; err != nil || string(got) != want {
			t.Errorf("got %s, %v; want %s", got, err, want)
		}
	}
}

func FuzzApplyJSON(f *testing.F) {
	f.Add(`{"a":{"b":[1,2]}}`, `[{"op":"add","path":"/a/b/1","value":{"c":null}},{"op":"move","from":"/a","path":"/d"}]`)
	f.Add(`{"a":1,"a":2}`, `[{"op":"copy","from":"","path":"/a"},{"op":"test","path":"/a/a","value":2.0}]`)
	f.Add("[\"\xff\",\"\\ud800\"]", `[{"op":"remove","path":"/0"},{"op":"replace","path":"","value":[]}]`)
	f.Add(`1e400`, `[{"op":"test","path":"","value":10e399}]`)
	f.Add(`{`, `[{"op":"remove","path":"/~2"}]`)
	f.Fuzz(func(t *testing.T, doc, change string) {
		before := []byte(doc)
		got, err := patch.ApplyJSON(before, []byte(change))
		if string(before) != doc {
			t.Fatal("the document has changed")
		}
		ops, malformed := patch.ParseOps([]byte(change))
		if malformed == nil && json.Valid(before) {
			checkModel(t, before, ops, got, err)
		}
		if err != nil {
			if got != nil {
				t.Errorf("there is a result beside the error: %s", got)
			}
			return
		}
		if malformed != nil || !json.Valid(got) {
			t.Fatalf("got %s; parsing says %v", got, malformed)
		}
		body, err := patch.JSON(ops...).Body()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := patch.ApplyJSON(before, body); err != nil || !isSame(t, got, again) {
			t.Errorf("parsed and built again, it makes %s, %v, and not %s", again, err, got)
		}
		if len(ops) == 0 && !isSame(t, before, got) {
			t.Errorf("without operations %s became %s", doc, got)
		}
	})
}
