package patch_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/patch"
)

// behaviour 315: the cases of RFC 7386, appendix A, in its order.
func TestTheExamplesOfRFC7386(t *testing.T) {
	for _, test := range []struct{ doc, patch, want string }{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`["a","b"]`, `["c","d"]`, `["c","d"]`},
		{`{"a":"b"}`, `["c"]`, `["c"]`},
		{`{"a":"foo"}`, `null`, `null`},
		{`{"a":"foo"}`, `"bar"`, `"bar"`},
		{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	} {
		t.Run(test.doc+" "+test.patch, func(t *testing.T) {
			doc, change := []byte(test.doc), []byte(test.patch)
			got, err := patch.ApplyMerge(doc, change)
			if err != nil || string(got) != test.want {
				t.Errorf("got %s, %v; want %s", got, err, test.want)
			}
			if string(doc) != test.doc || string(change) != test.patch {
				t.Error("what was passed has changed")
			}
		})
	}
}

// behaviour 315: the examples of RFC 7386, sections 1 and 3.
func TestTheExamplesInTheTextOfRFC7386(t *testing.T) {
	for _, test := range []struct{ name, doc, patch, want string }{
		{"section 1", `{"a":"b","c":{"d":"e","f":"g"}}`, `{"a":"z","c":{"f":null}}`, `{"a":"z","c":{"d":"e"}}`},
		{
			"section 3", `{"title":"Goodbye!","author":{"givenName":"John","familyName":"Doe"},"tags":["example","sample"],"content":"This will be unchanged"}`,
			`{"title":"Hello!","phoneNumber":"+01-123-456-7890","author":{"familyName":null},"tags":["example"]}`,
			`{"title":"Hello!","author":{"givenName":"John"},"tags":["example"],"content":"This will be unchanged","phoneNumber":"+01-123-456-7890"}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := patch.ApplyMerge([]byte(test.doc), []byte(test.patch))
			if err != nil || string(got) != test.want {
				t.Errorf("got %s, %v; want %s", got, err, test.want)
			}
		})
	}
}

func TestMergingLosesNoDigit(t *testing.T) {
	for _, test := range []struct{ name, doc, patch, want string }{
		{"2^53+1", `{"a":9007199254740993}`, `{"b":9007199254740993}`, `{"a":9007199254740993,"b":9007199254740993}`},
		{"2^64", `{"a":18446744073709551616}`, `{}`, `{"a":18446744073709551616}`},
		{
			"fractions and exponents as they are written", `{"a":1.0,"b":1e2}`, `{"c":-0.10E+05}`,
			`{"a":1.0,"b":1e2,"c":-0.10E+05}`,
		},
		{"text is not made safe for HTML", `{"a":"<&>"}`, `{}`, `{"a":"<&>"}`},
		// behaviour 330
		{
			"composed and decomposed letters are two", "{\"\u00e9\":1,\"e\u0301\":2}", "{\"\u00e9\":null}",
			"{\"e\u0301\":2}",
		},
		{"names are case-sensitive", `{"a":1}`, `{"A":null}`, `{"a":1}`},
		{"of duplicate names the last counts", `{"a":1,"a":2}`, `{"b":1,"b":null}`, `{"a":2}`},
		{"white space around", " {\n} \n", "\t{}", `{}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := patch.ApplyMerge([]byte(test.doc), []byte(test.patch))
			if err != nil || string(got) != test.want {
				t.Errorf("got %s, %v; want %s", got, err, test.want)
			}
		})
	}
}

func TestApplyMergeRefusesMalformedJSON(t *testing.T) {
	for _, test := range []struct{ name, doc, patch, want string }{
		{"nothing", ``, `{}`, "patch: the document is not JSON: "},
		{"an empty patch", `{}`, ``, "patch: the merge patch is not JSON: "},
		{"half a document", `{"a":`, `{}`, "patch: the document is not JSON: "},
		{"two documents", `{}{}`, `{}`, "patch: the document has more than one JSON value"},
		{"something after the patch", `{}`, `{} x`, "patch: the merge patch has more than one JSON value"},
		{"a bracket after the patch", `{}`, `{}]`, "patch: the merge patch has more than one JSON value"},
		{"a document that nests for ever", strings.Repeat("[", 100_000), `{}`, "patch: the document is too large: it nests deeper than 10000"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := patch.ApplyMerge([]byte(test.doc), []byte(test.patch))
			if err == nil || !strings.HasPrefix(err.Error(), test.want) || got != nil {
				t.Errorf("got %s, %v; want %q", got, err, test.want)
			}
		})
	}
}

func TestDeepAndWideDocumentsMerge(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000)
	other := strings.Replace(deep, "1", "2", 1)
	if got, err := patch.ApplyMerge([]byte(deep), []byte(other)); err != nil || string(got) != other {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	wide := "{" + strings.Repeat(`"a":1,`, 100_000) + `"b":2}`
	if got, err := patch.ApplyMerge([]byte(wide), []byte(wide)); err != nil || string(got) != `{"a":1,"b":2}` {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}

func FuzzApplyMerge(f *testing.F) {
	for _, s := range []string{`{"a":{"b":null}}`, `[1,{"a":2}]`, `null`, `"x"`, `{"a":[{}]}`, `{`, "\xff", `{"":1e400}`, `{"a":9007199254740993}`} {
		f.Add(s, `{"a":{"b":1}}`)
		f.Add(`{"a":{"b":1},"c":null}`, s)
	}
	f.Fuzz(func(t *testing.T, doc, change string) {
		got, err := patch.ApplyMerge([]byte(doc), []byte(change))
		if (err == nil) != (json.Valid([]byte(doc)) && json.Valid([]byte(change))) {
			t.Fatalf("error is %v", err)
		}
		if err != nil {
			return
		}
		if want := mergeDecoded(decode(t, []byte(doc)), decode(t, []byte(change))); !sameDecoded(decode(t, got), want) {
			t.Errorf("got %s, want %s", got, marshal(t, want))
		}
		again, err := patch.ApplyMerge(got, []byte(change))
		if err != nil || string(again) != string(got) {
			t.Errorf("applied again it gives %s, %v, and not %s", again, err, got)
		}
		if strings.HasPrefix(strings.TrimLeft(change, " \t\r\n"), "{") {
			return
		}
		if want, err := patch.ApplyMerge([]byte(`{}`), []byte(change)); err != nil || string(want) != string(got) {
			t.Errorf("a patch that is no object gives %s, want %s", got, want)
		}
	})
}

// mergeDecoded is what ApplyMerge does, for decoded documents (RFC 7386, section 2).
func mergeDecoded(target, change any) any {
	members, ok := change.(map[string]any)
	if !ok {
		return change
	}
	object, ok := target.(map[string]any)
	if !ok || object == nil {
		object = make(map[string]any, len(members))
	}
	for name, value := range members {
		if value == nil {
			delete(object, name)
		} else {
			object[name] = mergeDecoded(object[name], value)
		}
	}
	return object
}
