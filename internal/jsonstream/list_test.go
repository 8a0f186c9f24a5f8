package jsonstream_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/jsonstream"
)

// readList reads everything and returns what there was before the error, which is nil for a complete list.
func readList(r io.Reader, o jsonstream.Options) (items []jsonstream.Item, h jsonstream.Header, known bool, err error) {
	return drain(jsonstream.NewList(r, o))
}

func drain(l *jsonstream.List) (items []jsonstream.Item, h jsonstream.Header, known bool, err error) {
	for {
		item, err := l.Next()
		if err != nil {
			if _, again := l.Next(); again != err {
				return nil, h, known, fmt.Errorf("the error changes from %v to %v", err, again)
			}
			h, known = l.Header()
			if err == io.EOF {
				err = nil
			}
			return items, h, known, err
		}
		item.Raw = bytes.Clone(item.Raw)
		items = append(items, item)
	}
}

func raws(items []jsonstream.Item) []string {
	var all []string
	for _, item := range items {
		all = append(all, string(item.Raw))
	}
	return all
}

func TestList(t *testing.T) {
	seven := int64(7)
	a, b := `{"metadata":{"name":"a","namespace":"n"}}`, `{"metadata":{"name":"b"},"x":[[[]]]}`
	for _, test := range []struct {
		name, body string
		header     jsonstream.Header
		known      bool
		items      []string
	}{
		{
			"as the API server writes it",
			`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5","continue":"abc",` +
				`"remainingItemCount":7},"items":[` + a + `,` + b + `]}` + "\n",
			jsonstream.Header{
				APIVersion: "v1", Kind: "PodList",
				ListMeta: meta.ListMeta{ResourceVersion: "5", Continue: "abc", RemainingItemCount: &seven},
			},
			true,
			[]string{a, b},
		},
		{
			"of a part of the objects",
			`{"metadata":{"resourceVersion":"5","shardInfo":{"other":{"selector":"no"},"selector":"a \u007c\u007c b"},"continue":"c"},"items":[` + a + `]}`,
			jsonstream.Header{ListMeta: meta.ListMeta{ResourceVersion: "5", Continue: "c", ShardInfo: meta.ShardInfo{Selector: "a || b"}}},
			true,
			[]string{a},
		},
		{
			"with white space in its shardInfo",
			"{\"metadata\":{\"shardInfo\" : {\n\"selector\" : \"a\" , \"x\" : 1 } , \"resourceVersion\":\"5\"},\"items\":[]}",
			jsonstream.Header{ListMeta: meta.ListMeta{ResourceVersion: "5", ShardInfo: meta.ShardInfo{Selector: "a"}}},
			true, nil,
		},
		{
			"with a shardInfo of a wrong type", `{"metadata":{"shardInfo":{"selector":"a"},"shardInfo":["a"],"resourceVersion":"5"},"items":[]}`,
			jsonstream.Header{ListMeta: meta.ListMeta{ResourceVersion: "5"}},
			true, nil,
		},
		{
			"with a shard selector of a wrong type", `{"metadata":{"shardInfo":{"selector":{"a":"b"}}},"items":[]}`,
			jsonstream.Header{},
			true, nil,
		},
		{"with an empty shardInfo", `{"metadata":{"shardInfo":{}},"items":[]}`, jsonstream.Header{}, true, nil},
		{
			"with white space everywhere",
			" { \"metadata\" : { \"resourceVersion\" : \"5\" , \"selfLink\" : \"\" } ,\r\n\t\"items\" : [ " +
				a + " ,\n" + b + " ] , \"kind\" : \"L\" } ",
			jsonstream.Header{Kind: "L", ListMeta: meta.ListMeta{ResourceVersion: "5"}},
			true,
			[]string{a, b},
		},
		{
			"with metadata behind the items",
			`{"items":[` + a + `],"metadata":{"resourceVersion":"5"},"apiVersion":"v1","kind":"L"}`,
			jsonstream.Header{APIVersion: "v1", Kind: "L", ListMeta: meta.ListMeta{ResourceVersion: "5"}},
			true,
			[]string{a},
		},
		{
			"with no items in it", `{"metadata":{"resourceVersion":"5"},"items":[]}`,
			jsonstream.Header{ListMeta: meta.ListMeta{ResourceVersion: "5"}},
			true, nil,
		},
		{"with white space for items", `{"metadata":{},"items":[ ]}`, jsonstream.Header{}, true, nil},
		{
			"with null for items", `{"kind":"L","items":null,"metadata":{"resourceVersion":"5"}}`,
			jsonstream.Header{Kind: "L", ListMeta: meta.ListMeta{ResourceVersion: "5"}},
			true, nil,
		},
		{
			"without items", `{"kind":"L","metadata":{"resourceVersion":"5"}}`,
			jsonstream.Header{Kind: "L", ListMeta: meta.ListMeta{ResourceVersion: "5"}},
			true, nil,
		},
		{"that is empty", `{}`, jsonstream.Header{}, false, nil},
		{"without metadata", `{"items":[` + b + `]}`, jsonstream.Header{}, false, []string{b}},
		{"with metadata of a wrong type", `{"metadata":[1],"items":[]}`, jsonstream.Header{}, true, nil},
		{
			"with members of metadata of a wrong type",
			`{"metadata":{"resourceVersion":5,"continue":{},"remainingItemCount":"7"},"items":[]}`,
			jsonstream.Header{},
			true, nil,
		},
		{
			"with a count that is no whole number", `{"metadata":{"remainingItemCount":1.5},"items":[]}`,
			jsonstream.Header{},
			true, nil,
		},
		{
			"with a count beyond int64", `{"metadata":{"remainingItemCount":9223372036854775808},"items":[]}`,
			jsonstream.Header{},
			true, nil,
		},
		{
			"with duplicates, of which the last counts (fault F39)",
			`{"kind":"A","metadata":{"resourceVersion":"1","continue":"c"},"kind":"L","items":[],` +
				`"metadata":{"resourceVersion":"2"}}`,
			jsonstream.Header{Kind: "L", ListMeta: meta.ListMeta{ResourceVersion: "2"}},
			true, nil,
		},
		{"with null and then items", `{"items":null,"items":[{}]}`, jsonstream.Header{}, false, []string{"{}"}},
		{
			"with members that nobody knows", `{"a":{"items":[1]},"items":[{}],"b":[{"metadata":1}],"Items":5}`,
			jsonstream.Header{},
			false,
			[]string{"{}"},
		},
		{
			"with escaped names and values", `{"\u006bind":"\u004c","\u0069tems":[{}]}`,
			jsonstream.Header{Kind: "L"},
			false,
			[]string{"{}"},
		},
		{
			"of statuses, whoever keeps those", `{"kind":"Status","items":[{}]}`,
			jsonstream.Header{Kind: "Status"},
			false,
			[]string{"{}"},
		},
		{
			"that is a Table, which has no items (behaviour 190)",
			`{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"5"},` +
				`"columnDefinitions":[{"name":"Name"}],"rows":[{"cells":["a"],"object":{}}]}`,
			jsonstream.Header{Kind: "Table", APIVersion: "meta.k8s.io/v1", ListMeta: meta.ListMeta{ResourceVersion: "5"}},
			true, nil,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, r := range readers {
				items, h, known, err := readList(r.wrap(strings.NewReader(test.body)), jsonstream.Options{})
				if err != nil {
					t.Fatalf("%s: %v", r.name, err)
				}
				if got := raws(items); !slices.Equal(got, test.items) {
					t.Errorf("%s: items are %q, want %q", r.name, got, test.items)
				}
				if !sameHeader(h, test.header) || known != test.known {
					t.Errorf("%s: header is %+v, %v; want %+v, %v", r.name, h, known, test.header, test.known)
				}
			}
		})
	}
}

func sameHeader(a, b jsonstream.Header) bool {
	n, m := a.RemainingItemCount, b.RemainingItemCount
	a.RemainingItemCount, b.RemainingItemCount = nil, nil
	return a == b && (n == nil) == (m == nil) && (n == nil || *n == *m)
}

func TestListRefuses(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"an empty body", "", "the body is empty: unexpected EOF"},
		{"an HTML page (fault F25)", "<html>", `the body is not a list but begins with: "<html>"`},
		{"an array", `[{}]`, `the body is not a list but begins with: "[{}]"`},
		{
			"a Status", `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"no \u001b","code":500}`,
			`the body is not a list but a Status: "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},` +
				`\"status\":\"Failure\",\"message\":\"no \\u001b\",\"code\":500}"`,
		},
		{"items that are an object", `{"items":{}}`, "body at byte 9: the list's items are not an array"},
		{"items that are a string", `{"items":"null"}`, "body at byte 9: the list's items are not an array"},
		{"items that are nearly null", `{"items":nul}`, "body at byte 9: the list's items are not an array"},
		{"items twice", `{"items":[],"items":[]}`, "body at byte 20: the list has items twice"},
		{"items and then null", `{"items":[],"items":null}`, "body at byte 20: the list has items twice"},
		{
			"an item that is null", `{"items":[null]}`,
			"body at byte 10: found 'n' where an item, which must be an object, should be",
		},
		{
			"an item that is an array", `{"items":[{},[]]}`,
			"body at byte 13: found '[' where an item, which must be an object, should be",
		},
		{
			"a comma before the first item", `{"items":[,{}]}`,
			"body at byte 10: found ',' where an item, which must be an object, should be",
		},
		{
			"a comma behind the last item", `{"items":[{},]}`,
			"body at byte 13: found ']' where a value after the comma should be",
		},
		{"no comma between items", `{"items":[{}{}]}`, "body at byte 12: found '{' where a comma or ']' should be"},
		{
			"a brace too few in an item", `{"items":[{"a":{},{"b":1}]}`,
			"body at byte 18: found '{' where the name of a member should be",
		},
		{
			"a brace too many in an item", `{"items":[{"a":1}},{"b":1}]}`,
			"body at byte 17: found '}' where a comma or ']' should be",
		},
		{"a brace in the place of the bracket", `{"items":[{}}}`, "body at byte 12: found '}' where a comma or ']' should be"},
		{"a bracket in the place of the brace", `{"items":[{}]]`, "body at byte 13: found ']' where a comma or '}' should be"},
		{"a comma behind items", `{"items":[],}`, "body at byte 12: found '}' where a value after the comma should be"},
		{
			"text behind the list (fault F24)", `{"items":[]} x`,
			"body at byte 13: found 'x' where the end of the body should be",
		},
		{
			"a second list behind the list (fault F24)", `{"items":[]}{"items":[]}`,
			"body at byte 12: found '{' where the end of the body should be",
		},
		{
			"a broken header", `{"metadata":{"continue":"a","x"},"items":[]}`,
			"body at byte 31: found '}' where a colon should be",
		},
		{"a header that is no string", `{"kind":L}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, r := range readers {
				_, _, _, err := readList(r.wrap(strings.NewReader(test.body)), jsonstream.Options{})
				if test.want == "" {
					if err != nil {
						t.Errorf("%s: got %v, but scalars are not examined", r.name, err)
					}
					continue
				}
				if err == nil || err.Error() != test.want {
					t.Errorf("%s: got %v, want %s", r.name, err, test.want)
				}
			}
		})
	}
}

// A list that is cut anywhere gives its complete items and io.ErrUnexpectedEOF: never a short list (fault F1, fault F23).
func TestListCutAtEveryByte(t *testing.T) {
	body := ` {"kind":"L","metadata":{"resourceVersion":"5","remainingItemCount":3},` +
		`"items":[ {"metadata":{"name":"a\"\\","managedFields":[{}]}},` +
		`{"metadata":{"name":"b"},"n":[1,-2.5e3,true,null]} ,{"s":"é\u00e9"}],"extra":{"a":[]}}`
	all, _, _, err := readList(strings.NewReader(body), jsonstream.Options{})
	if err != nil || len(all) != 3 {
		t.Fatalf("the whole list: %d items, %v", len(all), err)
	}
	for n := range len(body) {
		for _, r := range readers {
			items, _, _, err := readList(r.wrap(strings.NewReader(body[:n])), jsonstream.Options{})
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("cut at %d, %s: got %v, want io.ErrUnexpectedEOF", n, r.name, err)
			}
			if len(items) > len(all) || !slices.Equal(raws(items), raws(all[:len(items)])) {
				t.Fatalf("cut at %d, %s: got items %q", n, r.name, raws(items))
			}
		}
	}
}

// A connection that breaks between the last byte and the end of the body leaves the list incomplete too: the chunk that
// says that nothing follows is missing (fault F24).
func TestListBrokenAfterTheLastByte(t *testing.T) {
	broken := errors.New("connection reset")
	r := io.MultiReader(strings.NewReader(`{"items":[]}`), iotest.ErrReader(broken))
	_, _, _, err := readList(r, jsonstream.Options{})
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}

// The offset in an error is that in the body, however much of it has passed through the buffer.
func TestListErrorsAfterManyItems(t *testing.T) {
	body := `{"items":[` + strings.Repeat(`{"metadata":{"name":"a"},"x":[1,2,3]},`, 50000)
	for _, test := range []struct{ name, rest, want string }{
		{"a broken item", `{"a";1}`, fmt.Sprintf("body at byte %d: found ';' where a colon should be", len(body)+4)},
		{"a cut item", `{"a`, fmt.Sprintf("the body is cut at byte %d: unexpected EOF", len(body)+3)},
	} {
		items, _, _, err := readList(strings.NewReader(body+test.rest), jsonstream.Options{MaxObject: 50})
		if len(items) != 50000 || err == nil || err.Error() != test.want {
			t.Errorf("%s: got %d items and %v, want %s", test.name, len(items), err, test.want)
		}
	}
	large := `{"a":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]}]}`
	items, _, _, err := readList(strings.NewReader(body+large), jsonstream.Options{MaxObject: 50})
	want := fmt.Sprintf("an object, at byte %d of the body, is larger than MaxObject, 50 bytes", len(body))
	if err != nil || len(items) != 50001 || items[50000].Limit == nil || items[50000].Limit.Error() != want {
		t.Errorf("a large item: got %d items and %v, want %s", len(items), err, want)
	}
}

func TestListOpenReadsTheHeaderOnly(t *testing.T) {
	// The rest of the body arrives only after Open has returned.
	pr, pw := io.Pipe()
	go func() {
		_, err := io.WriteString(pw, `{"kind":"L","metadata":{"continue":"next"},"items":[`)
		_ = pw.CloseWithError(err)
	}()
	l := jsonstream.NewList(iotest.OneByteReader(pr), jsonstream.Options{})
	if h, known := l.Header(); known || h != (jsonstream.Header{}) {
		t.Errorf("a header before Open: %+v", h)
	}
	for range 2 {
		if err := l.Open(); err != nil {
			t.Fatal(err)
		}
		if h, known := l.Header(); !known || h.Kind != "L" || h.Continue != "next" {
			t.Errorf("got %+v, %v after Open", h, known)
		}
	}
	if _, err := l.Next(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v, want io.ErrUnexpectedEOF", err)
	}
	if err := l.Open(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("Open after a failed Next gives %v", err)
	}
}

func TestListOpenOfAListWithoutItems(t *testing.T) {
	l := jsonstream.NewList(strings.NewReader(`{"kind":"Table","metadata":{}}`), jsonstream.Options{})
	if err := l.Open(); err != nil {
		t.Fatal(err)
	}
	if h, known := l.Header(); !known || h.Kind != "Table" {
		t.Errorf("got %+v, %v", h, known)
	}
	for range 2 {
		if _, err := l.Next(); err != io.EOF {
			t.Errorf("got %v, want io.EOF", err)
		}
	}
}

// The bytes of an item are those of the wire, whatever the size of objects and reads: the buffer slides, grows and
// shrinks under them.
// A List that is used again knows nothing of the body before: neither its items and what the list said, nor how its reader
// ended, nor where in it the List was, nor how it began.
func TestListReset(t *testing.T) {
	item := `{"metadata":{"name":"a","namespace":"n"},"x":[1,2,3]},`
	large := `{"kind":"Old","apiVersion":"v0","metadata":{"continue":"old"},"items":[` + strings.Repeat(item, 5000)
	broken := errors.New("connection reset")
	firsts := []struct {
		name string
		body func() io.Reader
		read int // items
	}{
		{"one that was not read", func() io.Reader { return strings.NewReader(`{"items":[]}`) }, 0},
		{"one that was read in part", func() io.Reader { return strings.NewReader(large) }, 4000},
		{"a complete one", func() io.Reader { return strings.NewReader(large + `{}]}`) }, 5002},
		{"one whose end came with its last bytes", func() io.Reader { return iotest.DataErrReader(strings.NewReader(`{"items":[{}]}`)) }, 2},
		{"one that was cut", func() io.Reader { return strings.NewReader(large) }, 5001},
		{"one whose connection broke", func() io.Reader {
			return io.MultiReader(strings.NewReader(large), iotest.ErrReader(broken))
		}, 5001},
		{"no list", func() io.Reader { return strings.NewReader("404 page not found, and what a proxy has to say about it") }, 1},
		{"none", func() io.Reader { return iotest.ErrReader(broken) }, 1},
	}
	seconds := []struct{ name, body string }{
		{"a list", `{"kind":"L","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"b"}},{}]}`},
		{"a list that says nothing about itself", `{"items":[{"metadata":{"name":"b"}}]}`},
		{"a list with an error in it", `{"items":[{"metadata":{"name":"b"}},;]}`},
		{"a cut list", `{"items":[{"metadata":{"name":"b"}},{"a`},
		{"a Status", `{"kind":"Status","apiVersion":"v1","message":"no"}`},
		{"no list", "<html>not found</html>"},
		{"nothing", ""},
	}
	for _, first := range firsts {
		for _, second := range seconds {
			t.Run(second.name+" after "+first.name, func(t *testing.T) {
				wantItems, wantHeader, wantKnown, want := readList(strings.NewReader(second.body), jsonstream.Options{})
				l := jsonstream.NewList(first.body(), jsonstream.Options{})
				for range first.read {
					_, _ = l.Next()
				}
				l.Reset(strings.NewReader(second.body))
				items, header, known, err := drain(l)
				if fmt.Sprint(err) != fmt.Sprint(want) {
					t.Errorf("got the error %v, want %v", err, want)
				}
				if !slices.EqualFunc(items, wantItems, sameItem) || !sameHeader(header, wantHeader) || known != wantKnown {
					t.Errorf("got %+v, %+v, %v; want %+v, %+v, %v", items, header, known, wantItems, wantHeader, wantKnown)
				}
			})
		}
	}
}

func TestAListMayHaveObjectsOfManySizes(t *testing.T) {
	var body []byte
	var want []string
	body = append(body, `{"items":[`...)
	for i := range 400 {
		size := 1 << (i * 7 % 18)
		object := fmt.Sprintf(`{"metadata":{"name":"n%d"},"data":{"a":"%s",`+
			`"b":["%s"]}}`, i, strings.Repeat("x", size), strings.Repeat(`\"`, i))
		want = append(want, object)
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, object...)
	}
	body = append(body, "]}"...)
	for _, chunk := range []int{1 << 30, 100, 4096, 65536, 1 << 20} {
		l := jsonstream.NewList(&chunks{bytes.NewReader(body), chunk}, jsonstream.Options{})
		for i, w := range want {
			item, err := l.Next()
			if err != nil {
				t.Fatalf("chunks of %d: item %d: %v", chunk, i, err)
			}
			if string(item.Raw) != w || item.Name != fmt.Sprintf("n%d", i) {
				t.Fatalf("chunks of %d: item %d is %.100s", chunk, i, item.Raw)
			}
			// A caller that keeps or changes the bytes, or appends to them, hurts nobody but itself.
			_ = append(item.Raw, "rubbish"...)
			clear(item.Raw)
		}
		if _, err := l.Next(); err != io.EOF {
			t.Fatalf("chunks of %d: %v", chunk, err)
		}
	}
}

// chunks reads at most size bytes at a time.
type chunks struct {
	r    io.Reader
	size int
}

func (c *chunks) Read(p []byte) (int, error) { return c.r.Read(p[:min(len(p), c.size)]) }

func TestListOfPods(t *testing.T) {
	body := podList(t, 50)
	pod := readPod(t)
	from, to := bytes.Index(pod, []byte(`,"managedFields":`)), bytes.Index(pod, []byte(`},"spec":`))
	for _, r := range readers {
		items, h, known, err := readList(r.wrap(bytes.NewReader(body)), jsonstream.Options{})
		if err != nil || len(items) != 50 || !known || h.ResourceVersion != "1000012345" {
			t.Fatalf("%s: %d items, %+v, %v", r.name, len(items), h, err)
		}
		for i, item := range items {
			whole := podOf(pod, i)
			if want := slices.Concat(whole[:from], whole[to:]); !bytes.Equal(item.Raw, want) {
				t.Fatalf("%s: item %d is\n%s, want\n%s", r.name, i, item.Raw, want)
			}
			want := meta.Identity{
				Namespace: "shop-00", Name: fmt.Sprintf("checkout-7c9d8f6b5d-%05d", i),
				UID: fmt.Sprintf("d9f7a3de-2f7c-4a4f-8f55-%012d", i), ResourceVersion: fmt.Sprint(1000000000 + i),
			}
			if item.Identity != want {
				t.Fatalf("%s: item %d is %+v", r.name, i, item.Identity)
			}
		}
	}
}
