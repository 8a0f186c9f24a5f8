package jsonstream_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/jsonstream"
)

// An object that exceeds a limit used to end the list or the watch, each time that it came. It is skipped, known by its
// identity, and its neighbours are as they are.
func TestAnObjectBeyondALimitCostsNoOther(t *testing.T) {
	const limit = 100
	long := strings.Repeat("x", 10*limit)
	identity := `"namespace":"n","name":"a","uid":"u","resourceVersion":"7"`
	whole := meta.Identity{Namespace: "n", Name: "a", UID: "u", ResourceVersion: "7"}
	for _, test := range []struct {
		name, object string
		want         meta.Identity
	}{
		{"metadata first", `{"metadata":{` + identity + `},"data":"` + long + `"}`, whole},
		{"metadata last", `{"data":"` + long + `","metadata":{` + identity + `}}`, whole},
		{"metadata in the middle", `{"a":["` + long + `"],"metadata":{` + identity + `},"z":{"y":"` + long + `"}}`, whole},
		{"metadata that is too large itself", `{"metadata":{"annotations":{"a":"` + long + `"},` + identity + `}}`, whole},
		{"managedFields", `{"metadata":{"managedFields":[{"f":"` + long + `"}],` + identity + `}}`, whole},
		{"a name that is too long", `{"metadata":{"name":"` + long + `","namespace":"n"}}`, meta.Identity{Namespace: "n"}},
		{"the name of a member", `{"` + long + `":1,"metadata":{` + identity + `}}`, whole},
		{"many small ones", `{"metadata":{` + identity + `},"a":[` + strings.Repeat(`{"b":[1,"\"]}"]},`, limit) + `[]]}`, whole},
		{"a long number", `{"metadata":{` + identity + `},"n":` + strings.Repeat("9", 10*limit) + `}`, whole},
		{"white space", `{"metadata":{` + identity + `}` + strings.Repeat(" ", 10*limit) + `}`, whole},
		{"escapes", `{"metadata":{` + identity + `},"s":"` + strings.Repeat(`\\\"`, limit) + `"}`, whole},
		{
			"metadata twice, of which the last counts",
			`{"metadata":{"name":"b","uid":"v"},"x":"` + long + `","metadata":{"name":"a"}}`,
			meta.Identity{Name: "a"},
		},
		{"a name twice", `{"x":"` + long + `","metadata":{"name":"b","name":"a"}}`, meta.Identity{Name: "a"}},
		{"metadata that is none", `{"x":"` + long + `","metadata":["name","a"]}`, meta.Identity{}},
		{"a name that is none", `{"x":"` + long + `","metadata":{"name":["a"],"uid":"u"}}`, meta.Identity{UID: "u"}},
		{"what is deeper is no identity", `{"x":"` + long + `","spec":{"metadata":{"name":"a"}}}`, meta.Identity{}},
		{"what is deeper in metadata is none", `{"x":"` + long + `","metadata":{"labels":{"name":"a"},"uid":"u"}}`, meta.Identity{UID: "u"}},
		{"what follows metadata is none", `{"metadata":{"uid":"u"},"x":"` + long + `","spec":{"name":"a"}}`, meta.Identity{UID: "u"}},
		{"escaped names", `{"x":"` + long + `","\u006detadata":{"n\u0061me":"\u0061"}}`, meta.Identity{Name: "a"}},
		{"brackets", `{"metadata":{` + identity + `},"x":` + strings.Repeat("[", 1200) + strings.Repeat("]", 1200) + `}`, whole},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, r := range readers {
				before, after := `{"metadata":{"name":"before"}}`, `{"metadata":{"name":"after"}}`
				check := func(what string, items []jsonstream.Item, err error) {
					t.Helper()
					if err != nil || len(items) != 3 {
						t.Fatalf("%s, %s: %d items, %v", what, r.name, len(items), err)
					}
					if string(items[0].Raw) != before || string(items[2].Raw) != after {
						t.Errorf("%s, %s: its neighbours are %s and %s", what, r.name, items[0].Raw, items[2].Raw)
					}
					bad := items[1]
					if bad.Identity != test.want || bad.Limit == nil || len(bad.Raw) > 0 {
						t.Fatalf("%s, %s: got %+v, want %+v", what, r.name, bad, test.want)
					}
					if bad.Limit.Max != limit && bad.Limit.Limit == "MaxObject" || test.want.Name != "" && bad.Limit.Key != test.want.Key() {
						t.Errorf("%s, %s: the limit is %v", what, r.name, bad.Limit)
					}
				}
				o := jsonstream.Options{MaxObject: limit}
				items, _, _, err := readList(r.wrap(strings.NewReader(`{"items":[`+before+","+test.object+" , "+after+`]}`)), o)
				check("list", items, err)
				var body strings.Builder
				for _, object := range []string{before, test.object, after} {
					fmt.Fprintf(&body, `{"type":"ADDED","object":%s}`, object)
				}
				frames, err := readWatch(r.wrap(strings.NewReader(body.String())), o)
				items = nil
				for _, frame := range frames {
					if frame.Type != "ADDED" {
						t.Errorf("type %q", frame.Type)
					}
					items = append(items, frame.Item)
				}
				check("watch", items, err)
			}
		})
	}
}

// A body that is cut off within an object that is skipped, or whose skipped object is broken, is an error as ever.
func TestSkippedObjectsAreChecked(t *testing.T) {
	long := strings.Repeat("x", 200)
	for _, test := range []struct{ object, want string }{
		{`{"x":"` + long + `",}`, "a value after the comma"},
		{`{"x":"` + long + `"]`, "a comma or '}'"},
		{`{"x":["` + long + `"}`, "a comma or ']'"},
		{`{"x":["` + long + `",]`, "a value"},
		{`{"x":"` + long + `","y":}`, "a value"},
		{`{"x":"` + long + `",1:2}`, "the name of a member"},
		{`{"x":"` + long + `","y" 2}`, "a colon"},
		{`{"x":{"` + long + `" 2}}`, "a colon"},
	} {
		var syntax *jsonstream.SyntaxError
		_, _, _, err := readList(strings.NewReader(`{"items":[`+test.object+`]}`), jsonstream.Options{MaxObject: 100})
		if !errors.As(err, &syntax) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.object, err, test.want)
		}
	}
	object := `{"metadata":{"name":"a"},"x":["` + long + `",{"y":1}]}`
	for at := 1; at < len(object); at++ {
		_, _, _, err := readList(strings.NewReader(`{"items":[`+object[:at]), jsonstream.Options{MaxObject: 20})
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut at %d: %v", at, err)
		}
	}
	broken := errors.New("broken")
	body := io.MultiReader(strings.NewReader(`{"items":[`+object[:100]), iotest.ErrReader(broken))
	if _, _, _, err := readList(body, jsonstream.Options{MaxObject: 20}); !errors.Is(err, broken) {
		t.Errorf("got %v, want the reader's error", err)
	}
}

// Brackets without end are given up, which costs no more memory than that.
func TestSkippingDoesNotCollectBrackets(t *testing.T) {
	f := &flood{text: `{"a":[`}
	body := io.MultiReader(strings.NewReader(`{"items":[`), f)
	var limit *jsonstream.LimitError
	if _, _, _, err := readList(body, jsonstream.Options{}); !errors.As(err, &limit) || f.read > 1<<20 {
		t.Errorf("got %v after %d bytes", err, f.read)
	}
}

// A skipped object costs no memory.
func TestSkippingHoldsNothing(t *testing.T) {
	const limit, size = 64 << 10, 24 << 20
	for _, what := range []string{`"`, `[`} {
		body := io.MultiReader(
			strings.NewReader(`{"items":[{"metadata":{"name":"a"},"x":`+what), io.LimitReader(&flood{text: "1,"}, size),
			strings.NewReader(`1`+map[string]string{`"`: `"`, `[`: `]`}[what]+`},{}]}`),
		)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		items, _, _, err := readList(body, jsonstream.Options{MaxObject: limit})
		runtime.ReadMemStats(&after)
		if err != nil || len(items) != 2 || items[0].Limit == nil || items[0].Name != "a" {
			t.Fatalf("got %+v, %v", items, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 8*limit {
			t.Errorf("allocated %d B to skip %d", n, size)
		}
	}
}

// Skipping accepts what reading accepts, and finds the same identity.
func FuzzSkim(f *testing.F) {
	for _, seed := range []string{
		`{"metadata":{"managedFields":[],"name":"a"}}`, `{"metadata":{"name":"b"},"metadata":{"\u006eame":"x\\","uid":1}}`,
		`{"kind":null,"apiVersion":["\""],"x":[1,-2.5e+3,true,false,null,{},[],{"a":[{}]}]}`, `{"a":[1,]}`, `{"a":{"b":1,}}`,
		`{"a":[}`, "{\"a\x00\":[1]}", `{"a":["\`, `{"kind":"A","apiVersion":"v1","metadata":[]}`, `{"metadata":{"a":{"name":1}},"name":"x"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) == 0 || body[0] != '{' {
			return
		}
		text := slices.Concat([]byte(`{"items":[`), body, []byte(`,{"kind":"last"}]}`))
		want, _, _, err := readList(bytes.NewReader(text), noLimits)
		shallow := noLimits
		shallow.MaxDepth = 1
		for _, r := range readers {
			got, _, _, err2 := readList(r.wrap(bytes.NewReader(text)), shallow)
			if (err == nil) != (err2 == nil) || len(got) != len(want) {
				t.Fatalf("%s: %d items, %v; want %d, %v", r.name, len(got), err2, len(want), err)
			}
			for i := range got {
				if got[i].Limit != nil {
					want[i].Raw, got[i].Limit = nil, nil
				}
				want[i].InitialEventsEnd = got[i].InitialEventsEnd
				if !sameItem(got[i], want[i]) {
					t.Fatalf("%s: item %d is %+v, want %+v", r.name, i, got[i], want[i])
				}
			}
		}
	})
}
