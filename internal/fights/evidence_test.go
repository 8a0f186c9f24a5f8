package fights

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/internal/follow"
)

// object returns an object whose fields have owners: pairs of a manager and the fields of its entry.
func object(body string, owners ...string) []byte {
	var entries []string
	for i := 0; i+1 < len(owners); i += 2 {
		entries = append(entries, fmt.Sprintf(`{"manager":%q,"operation":"Update","apiVersion":"v1","time":"2000-01-01T00:00:0%dZ","fieldsType":"FieldsV1","fieldsV1":%s}`,
			owners[i], i, owners[i+1]))
	}
	return fmt.Appendf(nil, `{"kind":"Thing","metadata":{"uid":"same","resourceVersion":"7","managedFields":[%s]},%s}`, strings.Join(entries, ","), body)
}

func read(t *testing.T, text []byte) evidence {
	t.Helper()
	e, ok := evidenceOf(text)
	if !ok {
		t.Fatalf("%s is no evidence", text)
	}
	return e
}

func TestUndoneFieldsAreEvidence(t *testing.T) {
	const (
		replicas = `{"f:spec":{"f:replicas":{}}}`
		web      = `{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:image":{},"f:name":{}}}}}`
	)
	for _, test := range []struct {
		name          string
		before, after []byte
		want          string
	}{
		{"nothing", object(`"spec":{"replicas":3}`, "me", replicas), object(`"spec":{"replicas":3}`, "me", replicas), ""},
		{
			"a number", object(`"spec":{"replicas":5}`, "x", replicas), object(`"spec":{"replicas":3}`, "me", replicas),
			`"me" and "x" both write .spec.replicas`,
		},
		{
			"a field that nobody owned", object(`"spec":{"replicas":5}`), object(`"spec":{"replicas":3}`, "me", replicas),
			`"me" and another writer both write .spec.replicas`,
		},
		{
			"another field", object(`"spec":{"replicas":3,"paused":true}`, "x", `{"f:spec":{"f:paused":{}}}`, "me", replicas),
			object(`"spec":{"replicas":3,"paused":false}`, "me", replicas), "",
		},
		{
			"a field of another list element", object(`"spec":{"containers":[{"name":"side","image":"1"},{"name":"web","image":"a"}]}`, "me", web),
			object(`"spec":{"containers":[{"name":"web","image":"a"},{"name":"side","image":"2"}]}`, "me", web), "",
		},
		{
			"a field of ours in a list element", object(`"spec":{"containers":[{"name":"side"},{"name":"web","image":"b"}]}`, "x", web),
			object(`"spec":{"containers":[{"name":"web","image":"a"}]}`, "me", web), `"me" and "x" both write .spec.containers[name="web"].image`,
		},
		{
			"a whole list element", object(`"spec":{"containers":[{"name":"side"}]}`), object(`"spec":{"containers":[{"name":"web","image":"a"}]}`, "me", web),
			`"me" sets .spec.containers[name="web"] and another writer removes it`,
		},
		{
			"all labels", object(`"spec":{}`), object(`"labels":{"a":"1","b":"2"}`, "me", `{"f:labels":{".":{},"f:a":{},"f:b":{}}}`),
			`"me" sets .labels.a and another writer removes it; "me" sets .labels.b and another writer removes it`,
		},
		{
			"an element of a set", object(`"set":["b"]`), object(`"set":["b","a",1]`, "me", `{"f:set":{"v:\"a\"":{},"v:1":{}}}`),
			`"me" sets .set[="a"] and another writer removes it; "me" sets .set[=1] and another writer removes it`,
		},
		{
			"an element by its index", object(`"l":["a","b"]`, "x", `{"f:l":{"i:1":{}}}`), object(`"l":["a","c"]`, "me", `{"f:l":{"i:1":{}}}`),
			`"me" and "x" both write .l[1]`,
		},
		{
			"an atomic value", object(`"s":{"a":1}`, "x", `{"f:s":{}}`), object(`"s":{"a":2}`, "me", `{"f:s":{}}`), `"me" and "x" both write .s`,
		},
		{
			"an object in which others write", object(`"s":{"a":1}`, "x", `{"f:s":{"f:a":{}}}`, "me", `{"f:s":{}}`), object(`"s":{"a":2}`, "x", `{"f:s":{"f:a":{}}}`, "me", `{"f:s":{}}`), "",
		},
		{
			"a time", object(`"at":"2026-01-02T03:04:05Z","id":"2026-01-02-03-04-05-06"`, "x", `{"f:at":{},"f:id":{}}`),
			object(`"at":"2026-01-02T03:05:05.25Z","id":"2026-01-02-03-04-05-07"`, "me", `{"f:at":{},"f:id":{}}`), `"me" and "x" both write .id`,
		},
		{
			"a field that this form of the object does not have", object(`"spec":{"replicas":5}`, "x", replicas), object(`"other":1`, "me", replicas), "",
		},
		{
			"a writer of our name", object(`"spec":{"replicas":5}`, "me", replicas), object(`"spec":{"replicas":3}`, "me", replicas),
			`"me" and another writer of that name both write .spec.replicas`,
		},
		{
			"entries that cannot be read", object(`"spec":{"replicas":5}`, "x", `{"bad":{}}`), object(`"spec":{"replicas":3}`, "y", `{"bad":{}}`, "me", replicas),
			`"me" and another writer both write .spec.replicas`,
		},
	} {
		var got []string
		for _, f := range undone(read(t, test.before), read(t, test.after), []string{"other", "me"}, acts{alone: true}) {
			got = append(got, f.text([]string{f.Path}))
		}
		if text := strings.Join(got, "; "); text != test.want {
			t.Errorf("%s: got %s\nwant %s", test.name, text, test.want)
		}
	}
}

func TestRemovedFieldsAreEvidence(t *testing.T) {
	const label, set = `{"f:labels":{"f:a":{}}}`, `{"f:labels":{".":{},"f:a":{}},"f:l":{"k:{\"n\":1}":{".":{},"f:n":{},"f:v":{}}}}`
	none := object(`"labels":{}`)
	for _, test := range []struct {
		name          string
		before, after []byte
		w             follow.Write
		want          string
	}{
		{"an update", object(`"labels":{"a":"1"}`, "x", label), none, follow.Write{Verb: "update"}, `"x" sets .labels.a and "me" removes it`},
		{
			"more than one level", object(`"labels":{"a":"1"},"l":[{"n":1,"v":2}]`, "x", set), none,
			follow.Write{Verb: "update"},
			`"x" sets .l[n=1] and "me" removes it; "x" sets .labels.a and "me" removes it`,
		},
		{"a field of ours", object(`"labels":{"a":"1"}`, "me", label), none, follow.Write{Verb: "update"}, ""},
		{"a field that is still there", object(`"labels":{"a":"1"}`, "x", label), object(`"labels":{"a":"2"}`), follow.Write{Verb: "update"}, ""},
		{"an apply", object(`"labels":{"a":"1"}`, "x", label), none, follow.Write{Verb: "apply"}, ""},
		{
			"an update of that version", object(`"labels":{"a":"1"}`, "x", label), none,
			follow.Write{Verb: "update", ResourceVersion: "8", Sent: []byte(`{"metadata":{"resourceVersion":"7"}}`)},
			`"x" sets .labels.a and "me" removes it`,
		},
		{
			"an update of another version", object(`"labels":{"a":"1"}`, "x", label), none,
			follow.Write{Verb: "update", ResourceVersion: "9", Sent: []byte(`{"metadata":{"resourceVersion":"8"}}`)},
			"",
		},
		{
			"an update without an effect", object(`"labels":{"a":"1"}`, "x", label), none,
			follow.Write{Verb: "update", ResourceVersion: "7", Sent: []byte(`{"metadata":{"resourceVersion":"7"}}`)},
			"",
		},
		{
			"a patch of it", object(`"labels":{"a":"1"}`, "x", label), none,
			follow.Write{Verb: "patch", Sent: []byte(`{"labels":{"a":null}}`)},
			`"x" sets .labels.a and "me" removes it`,
		},
		{"a patch of something else", object(`"labels":{"a":"1"}`, "x", label), none, follow.Write{Verb: "patch", Sent: []byte(`{"aa":1,"p":"/aa"}`)}, ""},
		{
			"a JSON patch of a list", object(`"set":["b"]`, "x", `{"f:set":{"v:\"b\"":{}}}`), object(`"set":[]`),
			follow.Write{Verb: "patch", Sent: []byte(`[{"op":"remove","path":"/set/0"}]`)},
			`"x" sets .set[="b"] and "me" removes it`,
		},
		{
			"a JSON patch", object(`"labels":{"x.y/a~":"1"}`, "x", `{"f:labels":{"f:x.y/a~":{}}}`), none,
			follow.Write{Verb: "patch", Sent: []byte(`[{"op":"remove","path":"/labels/x.y~1a~0"}]`)},
			`"x" sets .labels.x.y/a~ and "me" removes it`,
		},
	} {
		var got []string
		test.w.Manager = "me"
		before := read(t, test.before)
		for _, f := range removed(before, read(t, test.after), []string{"me"}, actsOf([]follow.Write{test.w}, before.version)) {
			got = append(got, f.text([]string{f.Path}))
		}
		if text := strings.Join(got, "; "); text != test.want {
			t.Errorf("%s: got %s\nwant %s", test.name, text, test.want)
		}
	}
}

// A writer of our name may have changed a field and changed it back, while our writes were of something else.
func TestWritesByAnotherWriterOfOurNameAreNotEvidence(t *testing.T) {
	const lock = `{"f:lock":{}}`
	for _, test := range []struct {
		name          string
		before, after []byte
		writes        []follow.Write
		want          int
	}{
		{"a patch of something else", object(`"lock":1`, "me", lock), object(`"lock":2`, "me", lock), []follow.Write{{Sent: []byte(`{"x":1}`)}}, 0},
		{"a patch of it", object(`"lock":1`, "me", lock), object(`"lock":2`, "me", lock), []follow.Write{{Sent: []byte(`{"lock":2}`)}}, 1},
		{"a patch of it, and then of something else", object(`"lock":1`, "me", lock), object(`"lock":2`, "me", lock), []follow.Write{{Sent: []byte(`{"lock":2}`)}, {Sent: []byte(`{"x":1}`)}}, 1},
		{"it was not there", object(`"x":1`), object(`"lock":2`, "me", lock), []follow.Write{{Sent: []byte(`{"x":1}`)}}, 0},
		{"a writer of another name", object(`"lock":1`, "x", lock), object(`"lock":2`, "me", lock), []follow.Write{{Sent: []byte(`{"x":1}`)}}, 1},
		{
			"two writes without another in between", object(`"lock":1`, "me", lock), object(`"lock":2`, "me", lock), []follow.Write{
				{Sent: []byte(`{"metadata":{"resourceVersion":"7"}}`), ResourceVersion: "8"}, {Sent: []byte(`{"metadata":{"resourceVersion":"8"}}`), ResourceVersion: "9"},
			}, 1,
		},
		{
			"two writes with another in between", object(`"lock":1`, "me", lock), object(`"lock":2`, "me", lock), []follow.Write{
				{Sent: []byte(`{"metadata":{"resourceVersion":"7"}}`), ResourceVersion: "8"}, {Sent: []byte(`{"metadata":{"resourceVersion":"9"}}`), ResourceVersion: "10"},
			}, 0,
		},
	} {
		before := read(t, test.before)
		if got := undone(before, read(t, test.after), []string{"me"}, actsOf(test.writes, before.version)); len(got) != test.want {
			t.Errorf("%s: got %v", test.name, got)
		}
	}
}

// The content is that of our fields, wherever they stand; the times are those of our entries.
func TestTheContentIsThatOfOurFields(t *testing.T) {
	const mine = `{"f:spec":{"f:l":{"k:{\"n\":1}":{"f:v":{}}},"f:n":{}}}`
	hash := func(body string, owners ...string) [2]uint64 {
		content, times := read(t, object(body, owners...)).content([]string{"me"})
		return [2]uint64{content, times}
	}
	is := hash(`"spec":{"n":1,"l":[{"n":1,"v":"a"}]}`, "me", mine)
	for _, test := range []struct {
		name           string
		is             [2]uint64
		content, times bool // are the same
	}{
		{"the same", hash(`"spec":{"n":1,"l":[{"n":1,"v":"a"}]}`, "me", mine), true, true},
		{"others", hash(`"spec":{"m":2,"l":[{"n":2},{"v":"a","n":1}],"n":1},"status":{}`, "me", mine, "x", `{"f:status":{}}`), true, true},
		{"a value", hash(`"spec":{"n":2,"l":[{"n":1,"v":"a"}]}`, "me", mine), false, true},
		{"a value in a list", hash(`"spec":{"n":1,"l":[{"n":1,"v":"b"}]}`, "me", mine), false, true},
		{"fewer fields", hash(`"spec":{"n":1,"l":[{"n":1,"v":"a"}]}`, "me", `{"f:spec":{"f:n":{}}}`), false, true},
		{"a time, which another writer has written in the same second", hash(`"spec":{"n":1,"l":[{"n":1,"v":"a"}],"at":"2000-01-01T00:00:00Z"}`,
			"me", `{"f:spec":{"f:at":{},"f:l":{"k:{\"n\":1}":{"f:v":{}}},"f:n":{}}}`), true, true},
		{"later", hash(`"spec":{"n":1,"l":[{"n":1,"v":"a"}]}`, "x", `{}`, "me", mine), true, false},
	} {
		if test.is[0] == is[0] != test.content || test.is[1] == is[1] != test.times {
			t.Errorf("%s: content the same: %v, times: %v", test.name, test.is[0] == is[0], test.is[1] == is[1])
		}
	}
}

func TestEvidenceIsBounded(t *testing.T) {
	var fields, now, then []string
	for i := range 1000 {
		fields = append(fields, fmt.Sprintf(`"f:%d":{}`, i))
		now = append(now, fmt.Sprintf(`"%d":1`, i))
		then = append(then, fmt.Sprintf(`"%d":2`, i))
	}
	set := "{" + strings.Join(fields, ",") + "}"
	before, after := read(t, object(strings.Join(then, ","), "x", set)), read(t, object(strings.Join(now, ","), "me", set))
	if n := len(undone(before, after, []string{"me"}, acts{})); n != maxFields {
		t.Errorf("%d fields", n)
	}
	if n := len(removed(before, read(t, object(`"a":1`)), []string{"me"}, actsOf([]follow.Write{{Verb: "update"}}, ""))); n != maxFields {
		t.Errorf("%d fields are removed", n)
	}
	for _, bad := range []string{"", "{", "[]", `"x"`, `{"metadata":[]}`, `{"a":"` + strings.Repeat("x", maxEvidence) + `"}`} {
		if _, ok := evidenceOf([]byte(bad)); ok && bad != "null" {
			t.Errorf("%.20s is evidence", bad)
		}
	}
}

func TestFieldsOfTheSameWritersAreOneText(t *testing.T) {
	field := func(path, ours, other string) Field { return Field{Path: path, Ours: ours, Other: other} }
	got := Texts([]Field{
		field(".a", "me", "x"), field(".b", "me", "x"), field(".c", "", "y"), field(".d", "me", "x"), field(".e", "me", "x"), field(".f", "me", "x"),
	})
	want := []string{`"me" and "x" both write .a, .b, .d and 2 more`, `the controller and "y" both write .c`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	got = Texts([]Field{{Path: ".a", Ours: "me", Other: "x", OtherRemoves: true}, {Path: ".b", Ours: "me", Other: "x", OtherRemoves: true}})
	if want := []string{`"me" sets .a, .b and "x" removes them`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
