package jsonstream_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/jsonstream"
)

// readers are the ways in which a network hands out the same bytes.
var readers = []struct {
	name string
	wrap func(io.Reader) io.Reader
}{
	{"all at once", func(r io.Reader) io.Reader { return r }},
	{"byte by byte", iotest.OneByteReader},
	{"in halves", iotest.HalfReader},
	{"end with the last bytes", iotest.DataErrReader},
	{
		"byte by byte, end with the last one",
		func(r io.Reader) io.Reader { return iotest.DataErrReader(iotest.OneByteReader(r)) },
	},
	{"with empty reads between", func(r io.Reader) io.Reader { return &emptyReads{r: iotest.OneByteReader(r)} }},
}

// emptyReads returns nothing and no error before every byte.
type emptyReads struct {
	r     io.Reader
	empty bool
}

func (e *emptyReads) Read(p []byte) (int, error) {
	if e.empty = !e.empty; e.empty {
		return 0, nil
	}
	return e.r.Read(p)
}

func TestReadObjectIdentity(t *testing.T) {
	full := meta.Identity{Namespace: "shop", Name: "web", UID: "u1", ResourceVersion: "7"}
	for _, test := range []struct {
		name string
		body string
		want jsonstream.Item // without Raw
	}{
		{
			"a plain object has all of it",
			`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"shop","uid":"u1","resourceVersion":"7"}}`,
			jsonstream.Item{Identity: full, APIVersion: "v1", Kind: "Pod"},
		},
		{
			"members come in any order, with white space anywhere",
			" \r\n\t{ \"spec\" : {\"a\" : [ ] , \"b\" : { } } ,\n \"metadata\" : { \"uid\" : \"u1\" ," +
				" \"resourceVersion\":\"7\" ,\"name\":\"web\",\"namespace\" : \"shop\" } ," +
				" \"apiVersion\" : \"v1\" , \"kind\" : \"Pod\" } \n",
			jsonstream.Item{Identity: full, APIVersion: "v1", Kind: "Pod"},
		},
		{"an empty object has none", `{}`, jsonstream.Item{}},
		{"metadata that is null counts as empty", `{"metadata":null}`, jsonstream.Item{}},
		{"metadata that is a string counts as empty", `{"metadata":"name"}`, jsonstream.Item{}},
		{"metadata that is an array counts as empty", `{"metadata":[{"name":"web"}]}`, jsonstream.Item{}},
		{
			"values that are no strings count as empty",
			`{"kind":1,"apiVersion":{},"metadata":{"name":5,"namespace":["shop"],"uid":{"uid":"u"},"resourceVersion":null}}`,
			jsonstream.Item{},
		},
		{
			"only the top-level metadata counts",
			`{"spec":{"template":{"metadata":{"name":"no","uid":"no"}}},"metadata":{"labels":{"name":"no"},"ownerReferences":` +
				`[{"name":"no","uid":"no"}]},"status":{"kind":"no","metadata":{"name":"no"}}}`,
			jsonstream.Item{},
		},
		{
			"names are case-sensitive (behaviour 30)",
			`{"Kind":"no","APIVersion":"no","Metadata":{"name":"no"},"metadata":{"Name":"no","nameSpace":"no","UID":"no",` +
				`"resourceversion":"no"}}`,
			jsonstream.Item{},
		},
		{
			"names may be spelt with escapes",
			`{"\u006bind":"Pod","api\u0056ersion":"v1","\u006detadata":{"n\u0061me":"web","namespac\u0065":"shop",` +
				`"u\u0069d":"u1",` +
				`"resource\u0056ersion":"7"}}`,
			jsonstream.Item{Identity: full, APIVersion: "v1", Kind: "Pod"},
		},
		{
			"escapes in values are resolved, surrogate pairs too",
			`{"kind":"P\u006Fd","metadata":{"name":"\u0077eb\/\"\\\b\f\n\r\t","namespace":"\ud83d\ude80\u00e9é"}}`,
			jsonstream.Item{Kind: "Pod", Identity: meta.Identity{Name: "web/\"\\\b\f\n\r\t", Namespace: "🚀éé"}},
		},
		{
			"lone surrogates and invalid UTF-8 become the replacement character (fault F38)",
			"{\"metadata\":{\"name\":\"a\\ud83d\",\"namespace\":\"\\ude80b\",\"uid\":\"c\xff\xfed\"," +
				"\"resourceVersion\":\"\\ud83d\\ud83d\\ude80\"}}",
			jsonstream.Item{Identity: meta.Identity{
				Name: "a\ufffd", Namespace: "\ufffdb", UID: "c\ufffd\ufffdd", ResourceVersion: "\ufffd🚀",
			}},
		},
		{
			"a string that no decoder accepts counts as empty",
			"{\"metadata\":{\"name\":\"a\\q\",\"namespace\":\"a\nb\",\"uid\":\"\\u12\",\"resourceVersion\":\"\\ud83d\\u\"}}",
			jsonstream.Item{},
		},
		{
			"of members with the same name the last counts (fault F39)",
			`{"kind":"A","kind":"Pod","apiVersion":"v1","apiVersion":5,"metadata":{"name":"a","uid":"u","name":"b","uid":null}}`,
			jsonstream.Item{Kind: "Pod", Identity: meta.Identity{Name: "b"}},
		},
		{
			"plain and escaped parts come together, and each may come again as the other (fault F39)",
			`{"metadata":{"name":"a","uid":"\u0062","resourceVersion":"3","name":"\u0063","uid":"d"}}`,
			jsonstream.Item{Identity: meta.Identity{Name: "c", UID: "d", ResourceVersion: "3"}},
		},
		{
			"the last metadata counts as a whole (fault F39)",
			`{"metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"1"},"metadata":{"name":"b"}}`,
			jsonstream.Item{Identity: meta.Identity{Name: "b"}},
		},
		{"the last metadata counts, also if null (fault F39)", `{"metadata":{"name":"a"},"metadata":null}`, jsonstream.Item{}},
		{
			"an annotation ends initial events only in a watch",
			`{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"},"resourceVersion":"7"}}`,
			jsonstream.Item{Identity: meta.Identity{ResourceVersion: "7"}},
		},
		{
			"backslashes before the closing quote are counted",
			`{"a":"\\","b":"\\\"","c":"\"","d":"\\\\","metadata":{"name":"x\\"}}`,
			jsonstream.Item{Identity: meta.Identity{Name: `x\`}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, r := range readers {
				item, err := jsonstream.ReadObject(r.wrap(strings.NewReader(test.body)), jsonstream.Options{})
				if err != nil {
					t.Fatalf("%s: %v", r.name, err)
				}
				if got, want := string(item.Raw), strings.Trim(test.body, " \r\n\t"); got != want {
					t.Errorf("%s: raw is\n%s, want\n%s", r.name, got, want)
				}
				item.Raw = nil
				if !sameItem(item, test.want) {
					t.Errorf("%s: got\n%+v, want\n%+v", r.name, item, test.want)
				}
			}
		})
	}
}

func sameItem(a, b jsonstream.Item) bool {
	return a.Identity == b.Identity && a.APIVersion == b.APIVersion && a.Kind == b.Kind &&
		a.InitialEventsEnd == b.InitialEventsEnd && bytes.Equal(a.Raw, b.Raw)
}

func TestReadObjectCutsManagedFields(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"first", `{"metadata":{"managedFields":[{"a":[{}]}],"name":"x"},"spec":1}`, `{"metadata":{"name":"x"},"spec":1}`},
		{"in the middle", `{"metadata":{"name":"x","managedFields":[],"uid":"u"}}`, `{"metadata":{"name":"x","uid":"u"}}`},
		{
			"last", `{"a":[1,2],"metadata":{"name":"x","managedFields":null},"b":"c"}`,
			`{"a":[1,2],"metadata":{"name":"x"},"b":"c"}`,
		},
		{"alone", `{"metadata":{"managedFields":[{"x":"]}"}]}}`, `{"metadata":{}}`},
		{"of a wrong type", `{"metadata":{"name":"x","managedFields":12.5e3}}`, `{"metadata":{"name":"x"}}`},
		{"spelt with escapes", `{"metadata":{"name":"x","managed\u0046ields":[]}}`, `{"metadata":{"name":"x"}}`},
		{"twice, nothing else", `{"metadata":{"managedFields":[],"managedFields":[1]}}`, `{"metadata":{}}`},
		{"twice at the end", `{"metadata":{"a":1,"managedFields":[],"managedFields":[]}}`, `{"metadata":{"a":1}}`},
		{"twice at the beginning", `{"metadata":{"managedFields":[],"managedFields":[],"a":1}}`, `{"metadata":{"a":1}}`},
		{"at both ends", `{"metadata":{"managedFields":[],"a":1,"managedFields":[]}}`, `{"metadata":{"a":1}}`},
		{
			"thrice between others", `{"metadata":{"managedFields":0,"a":1,"managedFields":[],"b":2,"managedFields":{},"c":3}}`,
			`{"metadata":{"a":1,"b":2,"c":3}}`,
		},
		{
			"in each of two metadata", `{"metadata":{"a":1,"managedFields":[]},"x":2,"metadata":{"managedFields":[],"b":1}}`,
			`{"metadata":{"a":1},"x":2,"metadata":{"b":1}}`,
		},
		{
			"with white space, of which the rest stays", "{ \"metadata\" : {\n \"a\" : 1 ,\n \"managedFields\" : [ ]\n } }",
			"{ \"metadata\" : {\n \"a\" : 1 \n } }",
		},
		{
			"white space before the first member stays", "{\"metadata\":{ \"managedFields\" : [ ] , \"a\":1}}",
			"{\"metadata\":{  \"a\":1}}",
		},
		{
			"not elsewhere",
			`{"managedFields":[],"spec":{"managedFields":[],"metadata":{"managedFields":[]}},` +
				`"metadata":{"labels":{"managedFields":"x"},"ManagedFields":1}}`,
			`{"managedFields":[],"spec":{"managedFields":[],"metadata":{"managedFields":[]}},` +
				`"metadata":{"labels":{"managedFields":"x"},"ManagedFields":1}}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, r := range readers {
				item, err := jsonstream.ReadObject(r.wrap(strings.NewReader(test.body)), jsonstream.Options{})
				if err != nil || string(item.Raw) != test.want {
					t.Errorf("%s: got\n%s, %v; want\n%s", r.name, item.Raw, err, test.want)
				}
				item, err = jsonstream.ReadObject(r.wrap(strings.NewReader(test.body)), jsonstream.Options{KeepManagedFields: true})
				if err != nil || string(item.Raw) != test.body {
					t.Errorf("%s: kept: got\n%s, %v; want\n%s", r.name, item.Raw, err, test.body)
				}
			}
		})
	}
}

func TestReadObjectRefuses(t *testing.T) {
	for _, test := range []struct {
		name, body string
		offset     int64 // of the *SyntaxError; -1 for a cut body, -2 for a *BodyError
		want       string
	}{
		{"an empty body (behaviour 29)", "", -1, "the body is empty: unexpected EOF"},
		{"white space alone", " \n ", -1, "the body is cut at byte 3: unexpected EOF"},
		{
			"an HTML page (fault F25)", "<html>\n<body>Login\x00</body></html>", -2,
			`the body is not an object but begins with: "<html>\n<body>Login\x00</body></html>"`,
		},
		{"an array", "[{}]", -2, `the body is not an object but begins with: "[{}]"`},
		{"null", "null", -2, `the body is not an object but begins with: "null"`},
		{"text behind the object (fault F24)", `{} {}`, 3, "body at byte 3: found '{' where the end of the body should be"},
		{
			"a NUL behind the object (fault F24)", "{}\x00", 2,
			`body at byte 2: found '\x00' where the end of the body should be`,
		},
		{"a NUL inside", "{\x00}", 1, `body at byte 1: found '\x00' where the name of a member should be`},
		{"a NUL at the place of a value", "{\"a\":\x00}", 5, `body at byte 5: found '\x00' where a value should be`},
		{"a comma before the brace", `{"a":1,}`, 7, "body at byte 7: found '}' where a value after the comma should be"},
		{
			"a comma before a brace inside", `{"a":{"b":1,}}`, 12,
			"body at byte 12: found '}' where the name of a member should be",
		},
		{"a comma before a bracket", `{"a":[1,]}`, 8, "body at byte 8: found ']' where a value should be"},
		{"a comma without anything", `{,}`, 1, "body at byte 1: found ',' where the name of a member should be"},
		{"no comma", `{"a":1 "b":2}`, 7, `body at byte 7: found '"' where a comma or '}' should be`},
		{"no comma inside", `{"a":[1 2]}`, 8, "body at byte 8: found '2' where a comma or ']' should be"},
		{"no colon", `{"a" 1}`, 5, "body at byte 5: found '1' where a colon should be"},
		{"no colon inside", `{"a":{"b"}}`, 9, "body at byte 9: found '}' where a colon should be"},
		{"no value", `{"a":}`, 5, "body at byte 5: found '}' where a value should be"},
		{"a name that is no string", `{"a":{1:2}}`, 6, "body at byte 6: found '1' where the name of a member should be"},
		{"a bracket where a brace should be", `{"a":{"b":1]}`, 11, "body at byte 11: found ']' where a comma or '}' should be"},
		{"a brace where a bracket should be", `{"a":["b"}}`, 9, "body at byte 9: found '}' where a comma or ']' should be"},
		{"a string in single quotes", `{"a":'b'}`, 5, `body at byte 5: found '\'' where a value should be`},
		{
			"a broken metadata", `{"metadata":{"name":"x","labels":{"a";"b"}}}`, 37,
			"body at byte 37: found ';' where a colon should be",
		},
		{"a string without an end", `{"a":"b}`, -1, "the body is cut at byte 8: unexpected EOF"},
		{"a string that ends in a backslash", `{"a":"b\"}`, -1, "the body is cut at byte 10: unexpected EOF"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, r := range readers {
				if test.offset == -2 && r.name != "all at once" {
					continue // the excerpt is what has arrived
				}
				_, err := jsonstream.ReadObject(r.wrap(strings.NewReader(test.body)), jsonstream.Options{})
				if err == nil || err.Error() != test.want {
					t.Fatalf("%s: got %v, want %s", r.name, err, test.want)
				}
				var syntax *jsonstream.SyntaxError
				var body *jsonstream.BodyError
				switch test.offset {
				case -1:
					if !errors.Is(err, io.ErrUnexpectedEOF) {
						t.Errorf("%s: %v is not io.ErrUnexpectedEOF", r.name, err)
					}
				case -2:
					if !errors.As(err, &body) || body.Excerpt != test.body {
						t.Errorf("%s: %v is not a BodyError with the body", r.name, err)
					}
				default:
					if !errors.As(err, &syntax) || syntax.Offset != test.offset {
						t.Errorf("%s: %v is not a SyntaxError at byte %d", r.name, err, test.offset)
					}
				}
			}
		})
	}
}

func TestBodyErrorCollectsAnExcerpt(t *testing.T) {
	page := "<!DOCTYPE html>" + strings.Repeat("é", 1000)
	_, err := jsonstream.ReadObject(iotest.OneByteReader(strings.NewReader(page)), jsonstream.Options{})
	var body *jsonstream.BodyError
	if !errors.As(err, &body) || body.Excerpt != page[:256] {
		t.Fatalf("got %v, want a BodyError with 256 bytes of the page", err)
	}
	if strings.Contains(err.Error(), `\x`) {
		t.Errorf("the message splits a character: %v", err)
	}
}

func TestReadObjectReturnsTheReadersError(t *testing.T) {
	broken := errors.New("connection reset")
	body := `{"metadata":{"name":"x"}}`
	for n := range len(body) + 1 {
		r := io.MultiReader(strings.NewReader(body[:n]), iotest.ErrReader(broken))
		if _, err := jsonstream.ReadObject(r, jsonstream.Options{}); !errors.Is(err, broken) {
			t.Errorf("after %d bytes: got %v, want %v", n, err, broken)
		}
	}
	_, err := jsonstream.ReadObject(stuck{}, jsonstream.Options{})
	if !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("got %v, want %v", err, io.ErrNoProgress)
	}
	for _, n := range []int{-1, 1 << 30} {
		if _, err := jsonstream.ReadObject(miscount(n), jsonstream.Options{}); err == nil {
			t.Errorf("a reader that returns the count %d gives no error", n)
		}
	}
}

// stuck is a reader that returns nothing, without an error, for ever.
type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

// miscount is a reader that breaks io.Reader's contract.
type miscount int

func (m miscount) Read([]byte) (int, error) { return int(m), nil }

// A namespace that is written as another one stands for is not taken for it.
func TestNamespacesThatLookAlikeStayApart(t *testing.T) {
	item := func(namespace string) string { return `{"metadata":{"namespace":"` + namespace + `"}}` }
	body := `{"items":[`
	want := []string{`a\u0062`, "ab", "ab", `a\u0062`, "", "ab", "\ufffd", "\ufffd", "", `"`}
	for i, text := range []string{`a\\u0062`, `a\u0062`, `ab`, `a\\u0062`, "\x01", "ab", "\xff", "\ufffd", "", `\"`} {
		if i > 0 {
			body += ","
		}
		body += item(text)
	}
	items, _, _, err := readList(strings.NewReader(body+"]}"), jsonstream.Options{})
	if err != nil || len(items) != len(want) {
		t.Fatal(len(items), err)
	}
	for i, item := range items {
		if item.Namespace != want[i] {
			t.Errorf("namespace %d is %q, want %q", i, item.Namespace, want[i])
		}
	}
}

func TestTheBytesOfAnObjectStayTheCallers(t *testing.T) {
	body := func(c string) string { return `{"kind":"` + strings.Repeat(c, 20_000) + `"} ` }
	first, err := jsonstream.ReadObject(strings.NewReader(body("a")), jsonstream.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := jsonstream.ReadObject(strings.NewReader("{"), jsonstream.Options{}); err == nil {
		t.Error("half an object was read")
	}
	second, err := jsonstream.ReadObject(strings.NewReader(body("b")), jsonstream.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if string(first.Raw)+" " != body("a") || string(second.Raw)+" " != body("b") {
		t.Error("another call has changed the bytes of an object")
	}
	if cap(first.Raw) > 2*len(first.Raw) {
		t.Errorf("%d bytes are kept for an object of %d", cap(first.Raw), len(first.Raw))
	}
}
