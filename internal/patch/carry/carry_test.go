package carry_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/internal/patch/carry"
	"github.com/bowline-go/bowline/internal/proof/histories"
)

func TestCarry(t *testing.T) {
	for _, test := range []struct{ name, live, before, after, want string }{
		{"no change", `{"a":1,"x":2}`, `{"a":1}`, `{"a":1}`, `{"a":1,"x":2}`},
		{"a changed member", `{"a":1,"x":2}`, `{"a":1}`, `{"a":3}`, `{"a":3,"x":2}`},
		{"a new member", `{"x":2}`, `{}`, `{"a":3}`, `{"x":2,"a":3}`},
		{"a removed member", `{"a":1,"x":2}`, `{"a":1}`, `{}`, `{"x":2}`},
		{"a removed object with what is in it", `{"a":{"b":1,"x":2}}`, `{"a":{"b":1}}`, `{}`, `{}`},
		{
			"a member deep inside", `{"a":{"b":{"c":1,"x":2},"y":3}}`, `{"a":{"b":{"c":1}}}`, `{"a":{"b":{"c":2}}}`,
			`{"a":{"b":{"c":2,"x":2},"y":3}}`,
		},
		{"a removed member deep inside", `{"a":{"b":1,"x":2}}`, `{"a":{"b":1}}`, `{"a":{}}`, `{"a":{"x":2}}`},
		{"an object that becomes something else", `{"a":{"b":1,"x":2}}`, `{"a":{"b":1}}`, `{"a":7}`, `{"a":7}`},
		{"something else that becomes an object", `{"a":7}`, `{"a":7}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		{"a member that becomes null", `{"a":1}`, `{"a":1}`, `{"a":null}`, `{"a":null}`},
		{"a new member that is null", `{"a":1}`, `{}`, `{"a":null}`, `{"a":null}`},
		{"a null that goes", `{"a":null}`, `{"a":null}`, `{}`, `{}`},
		{"names are case-sensitive", `{"a":1,"A":2}`, `{"a":1}`, `{"a":3}`, `{"a":3,"A":2}`},
		{
			"2^53+1, untouched and written", `{"x":9007199254740993,"a":1}`, `{"a":1}`, `{"a":9007199254740995}`,
			`{"x":9007199254740993,"a":9007199254740995}`,
		},
		{
			"a number that the program spells otherwise", `{"a":1.50,"b":1}`, `{"a":1.5,"b":1}`, `{"a":1.5,"b":2}`,
			`{"a":1.50,"b":2}`,
		},

		// Objects with the same members in the order of their names are not opened.
		{"one member of two that have one name", `{"a":1}`, `{"a":1,"a":2}`, `{"a":5,"a":2}`, `{"a":1}`},
		{"the same members, all changed", `{"b":2,"x":3,"a":1}`, `{"a":1,"b":2}`, `{"a":3,"b":4}`, `{"b":4,"x":3,"a":3}`},
		{"the same members, one spelt otherwise", `{"a":1,"b":2}`, `{"\u0061":1,"b":2}`, `{"\u0061":3,"b":4}`, `{"a":3,"b":4}`},
		{"a last member that goes, and one that comes", `{"a":1,"b":2,"x":3}`, `{"a":1,"b":2}`, `{"a":2}`, `{"a":2,"x":3}`},
		{"a name that is no ASCII", `{"ä":1,"x":3}`, `{"ä":1,"ö":1}`, `{"ä":2,"ö":2}`, `{"ä":2,"x":3,"ö":2}`},

		// A program often writes the zero value of what was not there.
		{"an empty object that was not there", `{"a":1}`, `{"a":1,"status":{}}`, `{"a":2,"status":{}}`, `{"a":2}`},
		{"null where nothing was", `{"a":1}`, `{"a":1,"t":null}`, `{"a":2,"t":null}`, `{"a":2}`},
		{"one that is filled", `{"a":1}`, `{"a":1,"status":{}}`, `{"a":1,"status":{"b":1}}`, `{"a":1,"status":{"b":1}}`},
		{"a list that was not there", `{"a":1}`, `{"a":1,"l":null}`, `{"a":1,"l":[{"b":1}]}`, `{"a":1,"l":[{"b":1}]}`},

		{"a list of scalars", `{"l":[1,2,3]}`, `{"l":[1,2,3]}`, `{"l":[3,4]}`, `{"l":[3,4]}`},
		{"a list that is emptied", `{"l":[{"a":1,"x":1}]}`, `{"l":[{"a":1}]}`, `{"l":[]}`, `{"l":[]}`},
		{
			"a list that the program saw shorter", `{"l":[{"a":1,"x":1},{"x":2}]}`, `{"l":[{"a":1}]}`,
			`{"l":[{"a":2}]}`, `{"l":[{"a":2}]}`,
		},
		{
			"lists of lists", `{"l":[[{"a":1,"x":1}],[2]]}`, `{"l":[[{"a":1}],[2]]}`, `{"l":[[{"a":3}],[2]]}`,
			`{"l":[[{"a":3,"x":1}],[2]]}`,
		},

		{
			"a changed element, by name",
			`{"l":[{"name":"a","x":1},{"name":"b","v":1,"x":2}]}`, `{"l":[{"name":"a"},{"name":"b","v":1}]}`,
			`{"l":[{"name":"a"},{"name":"b","v":2}]}`, `{"l":[{"name":"a","x":1},{"name":"b","v":2,"x":2}]}`,
		},
		{
			"a new first element",
			`{"l":[{"name":"a","x":1}]}`, `{"l":[{"name":"a"}]}`,
			`{"l":[{"name":"n"},{"name":"a"}]}`, `{"l":[{"name":"n"},{"name":"a","x":1}]}`,
		},
		{
			"a removed first element, and a changed second",
			`{"l":[{"name":"a","x":1},{"name":"b","v":1,"x":2}]}`, `{"l":[{"name":"a"},{"name":"b","v":1}]}`,
			`{"l":[{"name":"b","v":2}]}`, `{"l":[{"name":"b","v":2,"x":2}]}`,
		},
		{
			"elements in another order, one of them changed",
			`{"l":[{"name":"a","x":1},{"name":"b","x":2},{"name":"c","v":1,"x":3}]}`, `{"l":[{"name":"a"},{"name":"b"},{"name":"c","v":1}]}`,
			`{"l":[{"name":"c","v":2},{"name":"b"},{"name":"a"}]}`, `{"l":[{"name":"c","v":2,"x":3},{"name":"b","x":2},{"name":"a","x":1}]}`,
		},
		{
			"another name is another element",
			`{"l":[{"name":"a","x":1}]}`, `{"l":[{"name":"a"}]}`, `{"l":[{"name":"b"}]}`, `{"l":[{"name":"b"}]}`,
		},
		{
			"conditions, which have a type: one changed, one new",
			`{"l":[{"type":"Ready","status":"False","since":"1"}]}`, `{"l":[{"type":"Ready","status":"False"}]}`,
			`{"l":[{"type":"New","status":"True"},{"type":"Ready","status":"True"}]}`,
			`{"l":[{"type":"New","status":"True"},{"type":"Ready","status":"True","since":"1"}]}`,
		},
		{
			"tolerations, which have a key",
			`{"l":[{"key":"a","effect":"e","x":1},{"key":"b","effect":"e","x":2}]}`, `{"l":[{"key":"a","effect":"e"},{"key":"b","effect":"e"}]}`,
			`{"l":[{"key":"b","effect":"f"}]}`, `{"l":[{"key":"b","effect":"f","x":2}]}`,
		},
		{
			// By the first of the same name it would get the path within another mount.
			"mounts of one volume: one goes and the other changes",
			`{"l":[{"name":"v","path":"/a","sub":"a"},{"name":"v","path":"/b","sub":"b"}]}`, `{"l":[{"name":"v","path":"/a"},{"name":"v","path":"/b"}]}`,
			`{"l":[{"name":"v","path":"/b","ro":true}]}`, `{"l":[{"name":"v","path":"/b","sub":"b","ro":true}]}`,
		},
		{
			"mounts of one volume: both change where they are",
			`{"l":[{"name":"v","path":"/a","sub":"a"},{"name":"v","path":"/b","sub":"b"}]}`, `{"l":[{"name":"v","path":"/a"},{"name":"v","path":"/b"}]}`,
			`{"l":[{"name":"v","path":"/b2"},{"name":"v","path":"/a2"}]}`, `{"l":[{"name":"v","path":"/b2","sub":"a"},{"name":"v","path":"/a2","sub":"b"}]}`,
		},
		{
			"several of one name in a list that kept its length stay in their places",
			`{"l":[{"name":"v","p":1,"q":1,"x":1},{"name":"v","p":2,"q":2,"x":2}]}`, `{"l":[{"name":"v","p":1,"q":1},{"name":"v","p":2,"q":2}]}`,
			`{"l":[{"name":"v","p":3,"q":2},{"name":"v","p":4,"q":1}]}`, `{"l":[{"name":"v","p":3,"q":2,"x":1},{"name":"v","p":4,"q":1,"x":2}]}`,
		},
		{
			"nameless elements stay in their places",
			`{"l":[{"port":80,"x":1},{"port":443,"x":2}]}`, `{"l":[{"port":80},{"port":443}]}`,
			`{"l":[{"port":80},{"port":8443}]}`, `{"l":[{"port":80,"x":1},{"port":8443,"x":2}]}`,
		},
		{
			"a nameless element at the front moves the others",
			`{"l":[{"port":80,"x":1},{"port":443,"x":2}]}`, `{"l":[{"port":80},{"port":443}]}`,
			`{"l":[{"port":22},{"port":80},{"port":443}]}`, `{"l":[{"port":22},{"port":80,"x":1},{"port":443,"x":2}]}`,
		},
		{
			"nameless elements that moved",
			`{"l":[{"p":1,"x":1},{"p":2,"x":2},{"p":3,"x":3}]}`, `{"l":[{"p":1},{"p":2},{"p":3}]}`,
			`{"l":[{"p":3},{"p":2},{"p":1}]}`, `{"l":[{"p":3,"x":3},{"p":2,"x":2},{"p":1,"x":1}]}`,
		},
		{
			"nameless elements that moved, and a new one",
			`{"l":[{"p":1,"x":1},{"p":2,"x":2},{"p":3,"x":3}]}`, `{"l":[{"p":1},{"p":2},{"p":3}]}`,
			`{"l":[{"p":2},{"p":1},{"p":9},{"p":3}]}`, `{"l":[{"p":2,"x":2},{"p":1,"x":1},{"p":9},{"p":3,"x":3}]}`,
		},
		{
			"of elements that look alike the one in its place is the same",
			`{"l":[{"p":1,"x":1},{"p":5},{"p":1,"x":2},{"p":6,"x":3}]}`, `{"l":[{"p":1},{"p":5},{"p":1},{"p":6}]}`,
			`{"l":[{"p":2},{"p":5},{"p":1},{"p":7}]}`, `{"l":[{"p":2,"x":1},{"p":5},{"p":1,"x":2},{"p":7,"x":3}]}`,
		},
		{
			"a number in a list that the program spells otherwise", `{"l":[1.50,2]}`, `{"l":[1.5,2]}`,
			`{"l":[1.5,3]}`, `{"l":[1.50,3]}`,
		},
		{
			"elements that look alike keep their order",
			`{"l":[{"p":1,"x":1},{"p":1,"x":2}]}`, `{"l":[{"p":1},{"p":1}]}`,
			`{"l":[{"p":9},{"p":1},{"p":1}]}`, `{"l":[{"p":9},{"p":1,"x":1},{"p":1,"x":2}]}`,
		},
		{
			"of elements that look alike the first changes",
			`{"l":[{"p":1,"x":1},{"p":1,"x":2}]}`, `{"l":[{"p":1},{"p":1}]}`,
			`{"l":[{"p":2},{"p":1}]}`, `{"l":[{"p":2,"x":1},{"p":1,"x":2}]}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			docs := [3][]byte{[]byte(test.live), []byte(test.before), []byte(test.after)}
			got, err := carry.Change(docs[0], docs[1], docs[2])
			if err != nil || string(got) != test.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, test.want)
			}
			if string(docs[0]) != test.live || string(docs[1]) != test.before || string(docs[2]) != test.after {
				t.Error("what was passed has changed")
			}
		})
	}
}

func TestChangeRefusesDocumentsThatAreNotObjects(t *testing.T) {
	for i, what := range []string{"the live object", "the object before the change", "the object after the change"} {
		for _, bad := range []string{"", "[]", "null", "{", "{}{}"} {
			docs := [3][]byte{[]byte("{}"), []byte("{}"), []byte("{}")}
			docs[i] = []byte(bad)
			got, err := carry.Change(docs[0], docs[1], docs[2])
			if err == nil || got != nil || !strings.HasPrefix(err.Error(), "patch: "+what+" ") {
				t.Errorf("%s as %s gives %s, %v", bad, what, got, err)
			}
		}
	}
}

// random makes documents in which elements often have the same name, or none.
type random struct{ *rand.Rand }

func (r random) value(depth int) any {
	switch n := r.IntN(10); {
	case n < 3 && depth > 0:
		return r.object(depth - 1)
	case n < 6 && depth > 0:
		list := make([]any, r.IntN(5))
		for i := range list {
			list[i] = r.value(depth - 1)
		}
		return list
	case n == 6:
		return nil
	case n == 7:
		return json.Number(fmt.Sprint(r.IntN(3)))
	}
	return string(rune('a' + r.IntN(3)))
}

func (r random) object(depth int) map[string]any {
	object := make(map[string]any)
	for _, name := range []string{"name", "key", "type", "a", "b", "c"} {
		if r.IntN(3) == 0 {
			object[name] = r.value(depth)
		}
	}
	return object
}

// mutate returns another version of a document: here and there a value is another, is gone, or has moved.
func (r random) mutate(v any, depth int) any {
	if r.IntN(8) == 0 {
		return r.value(depth)
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any)
		for name, value := range v {
			if r.IntN(8) > 0 {
				out[name] = r.mutate(value, depth-1)
			}
		}
		if r.IntN(4) == 0 {
			out["n"] = r.value(depth)
		}
		return out
	case []any:
		var out []any
		for _, value := range v {
			if r.IntN(6) > 0 {
				out = append(out, r.mutate(value, depth-1))
			}
			if r.IntN(8) == 0 {
				out = append(out, r.value(depth))
			}
		}
		if r.IntN(3) == 0 {
			r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		}
		if out == nil {
			out = []any{}
		}
		return out
	}
	return v
}

// hide adds members that a program does not know to every object of a document.
func (r random) hide(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{"hidden": r.value(2)}
		for name, value := range v {
			out[name] = r.hide(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = r.hide(value)
		}
		return out
	}
	return v
}

// seen is what a program sees of a document.
func seen(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any)
		for name, value := range v {
			if name != "hidden" {
				out[name] = seen(value)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = seen(value)
		}
		return out
	}
	return v
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decode(t *testing.T, b []byte) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// For every document: what the program sees of the result is what it made, and where it changed nothing, nothing changes.
func TestCarryHoldsForRandomDocuments(t *testing.T) {
	for seed := range histories.Seeds(1_000) {
		r := random{rand.New(rand.NewPCG(seed, 0))}
		before := r.object(3)
		after, ok := r.mutate(before, 3).(map[string]any)
		if !ok {
			after = r.object(3)
		}
		live := r.hide(before).(map[string]any)
		carry := func(live, before, after any) any {
			out, err := carry.Change(encode(t, live), encode(t, before), encode(t, after))
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			return decode(t, out)
		}
		if got := carry(before, before, after); !reflect.DeepEqual(got, any(after)) {
			t.Fatalf("seed %d: who sees everything gets %s, want %s", seed, encode(t, got), encode(t, after))
		}
		if got := carry(live, before, before); !reflect.DeepEqual(got, any(live)) {
			t.Fatalf("seed %d: without a change it gets %s, want %s", seed, encode(t, got), encode(t, live))
		}
		got := carry(live, before, after)
		if !reflect.DeepEqual(seen(got), seen(after)) {
			t.Fatalf("seed %d: it sees %s, want %s", seed, encode(t, seen(got)), encode(t, after))
		}
		if !reflect.DeepEqual(got.(map[string]any)["hidden"], live["hidden"]) {
			t.Fatalf("seed %d: the hidden member became %s", seed, encode(t, got))
		}
	}
}

// Elements that are told apart by name keep what is hidden in them through any order, addition and removal.
func TestNamedElementsKeepWhatIsHidden(t *testing.T) {
	for seed := range histories.Seeds(1_000) {
		r := random{rand.New(rand.NewPCG(seed, 1))}
		var live, before, after []any
		for i := range r.IntN(8) {
			name, value := fmt.Sprint("n", i), r.IntN(3)
			live = append(live, map[string]any{"name": name, "v": value, "hidden": name})
			before = append(before, map[string]any{"name": name, "v": value})
			if r.IntN(4) > 0 {
				after = append(after, map[string]any{"name": name, "v": r.IntN(3)})
			}
			if r.IntN(4) == 0 {
				after = append(after, map[string]any{"name": fmt.Sprint("new", i), "v": 0})
			}
		}
		r.Shuffle(len(after), func(i, j int) { after[i], after[j] = after[j], after[i] })
		wrap := func(l []any) []byte { return encode(t, map[string]any{"l": append([]any{}, l...)}) }
		out, err := carry.Change(wrap(live), wrap(before), wrap(after))
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range decode(t, out).(map[string]any)["l"].([]any) {
			element := v.(map[string]any)
			if name := element["name"].(string); !strings.HasPrefix(name, "new") && element["hidden"] != name {
				t.Fatalf("seed %d: got %s\nlive %s\nafter %s", seed, out, wrap(live), wrap(after))
			}
		}
	}
}

// guarantee S12: large and deep documents end soon.
func TestCarryOfLargeDocumentsEndsSoon(t *testing.T) {
	list := func(n int, element func(i int) string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = element(i)
		}
		return `{"l":[` + strings.Join(parts, ",") + `]}`
	}
	const n = 5_000
	long := `"` + strings.Repeat("z", 1<<19) + `"`
	for _, test := range []struct{ name, before, after string }{
		{
			"many elements in reverse order", list(n, func(i int) string { return fmt.Sprintf(`{"p":%d}`, i) }),
			list(n, func(i int) string { return fmt.Sprintf(`{"p":%d}`, n-i) }),
		},
		{
			"many other elements", list(n, func(i int) string { return fmt.Sprintf(`{"p":%d}`, i) }),
			list(n-1, func(i int) string { return fmt.Sprintf(`{"p":%d}`, -1-i) }),
		},
		{
			"many names, all changed", list(n, func(i int) string { return fmt.Sprintf(`{"name":"%d","v":1}`, i) }),
			list(n-1, func(i int) string { return fmt.Sprintf(`{"name":"%d","v":2}`, n-i) }),
		},
		{
			"one name many times, all changed", list(n, func(int) string { return `{"name":"a","v":1}` }),
			list(n, func(int) string { return `{"name":"a","v":2}` }),
		},
		{
			"one name many times, all changed, and one gone",
			list(n, func(int) string { return `{"name":"a","v":1}` }),
			list(n-1, func(int) string { return `{"name":"a","v":2}` }),
		},
		{
			"deep objects", strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000),
			strings.Repeat(`{"a":`, 5000) + "2" + strings.Repeat("}", 5000),
		},
		{
			"deep lists", `{"a":` + strings.Repeat(`[`, 1000) + "1" + strings.Repeat("]", 1000) + "}",
			`{"a":` + strings.Repeat(`[`, 1000) + "2" + strings.Repeat("]", 1000) + "}",
		},
		{ // whose text was compared for each list, and for each list in that
			"deep lists that differ behind a long text", `{"a":` + strings.Repeat(`[`, 2000) + long + ",1" + strings.Repeat("]", 2000) + "}",
			`{"a":` + strings.Repeat(`[`, 2000) + long + ",2" + strings.Repeat("]", 2000) + "}",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := carry.Change([]byte(test.before), []byte(test.before), []byte(test.after))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(decode(t, got), decode(t, []byte(test.after))) {
				t.Error("the result is another document")
			}
		})
	}
}

func FuzzCarry(f *testing.F) {
	f.Add(`{"a":1,"x":2}`, `{"a":1}`, `{"a":2}`)
	f.Add(`{"l":[{"name":"a","x":1}]}`, `{"l":[{"name":"a"}]}`, `{"l":[{"name":"b"},{"name":"a"}]}`)
	f.Add(`{"l":[{"type":"a"},{"type":"a","b":1}]}`, `{"l":[{"type":"a"},{"type":"a"}]}`, `{"l":[{"type":"a","c":1}]}`)
	f.Add(`{"l":[1,[2],null]}`, `{"l":[1,[2],null]}`, `{"l":[null,[3]]}`)
	f.Add(`{"a":{}}`, `{"a":[]}`, `{"a":null}`)
	f.Add(`{`, `[]`, "\xff")
	f.Fuzz(func(t *testing.T, live, before, after string) {
		isObject := func(s string) bool {
			return json.Valid([]byte(s)) && strings.HasPrefix(strings.TrimLeft(s, " \t\r\n"), "{")
		}
		out, err := carry.Change([]byte(live), []byte(before), []byte(after))
		if (err == nil) != (isObject(live) && isObject(before) && isObject(after)) {
			t.Fatalf("error is %v", err)
		}
		if err != nil {
			return
		}
		if !json.Valid(out) {
			t.Fatalf("got %s", out)
		}
		all, err := carry.Change([]byte(before), []byte(before), []byte(after))
		if err != nil || !reflect.DeepEqual(decode(t, all), decode(t, []byte(after))) {
			t.Errorf("who sees everything gets %s, %v, want %s", all, err, after)
		}
		same, err := carry.Change([]byte(live), []byte(before), []byte(before))
		if err != nil || !reflect.DeepEqual(decode(t, same), decode(t, []byte(live))) {
			t.Errorf("without a change it gets %s, %v, want %s", same, err, live)
		}
	})
}
