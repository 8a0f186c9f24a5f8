package jsonstream_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/jsonstream"
)

// bodies put an object into each kind of body and return the error of reading it.
var bodies = []struct {
	name          string
	before, after string
	read          func(io.Reader, jsonstream.Options) error
}{
	{"an object", "", " ", func(r io.Reader, o jsonstream.Options) error {
		_, err := jsonstream.ReadObject(r, o)
		return err
	}},
	{"an item", `{"metadata":{},"items":[{"a":1},`, `,{"a":1}]}`, func(r io.Reader, o jsonstream.Options) error {
		items, _, _, err := readList(r, o)
		for _, item := range items {
			err = exceeded(item, err)
		}
		return err
	}},
	{"an event's object", `{"type":"ADDED","object":{}}{"type":"ADDED",` +
		`"object":`, "}", func(r io.Reader, o jsonstream.Options) error {
		frames, err := readWatch(r, o)
		for _, frame := range frames {
			err = exceeded(frame.Item, err)
		}
		return err
	}},
	{"an event's object before its type", `{"object":`, `,"type":"ADDED"}`, func(r io.Reader, o jsonstream.Options) error {
		frames, err := readWatch(r, o)
		for _, frame := range frames {
			err = exceeded(frame.Item, err)
		}
		return err
	}},
}

// exceeded returns the limit that an item exceeds, or err.
func exceeded(item jsonstream.Item, err error) error {
	if item.Limit != nil {
		return item.Limit
	}
	return err
}

// White space before a body is not held, however much it is.
func TestWhiteSpaceBeforeABodyDoesNotCount(t *testing.T) {
	for _, body := range bodies {
		if err := body.read(strings.NewReader(strings.Repeat(" \n", 100_000)+body.before+`{"a":1}`+body.after), jsonstream.Options{MaxObject: 100}); err != nil {
			t.Errorf("%s: %v", body.name, err)
		}
	}
}

// The limit counts the object's own bytes, managedFields included, and nothing else (guarantee S10, guarantee S11).
func TestMaxObjectIsExact(t *testing.T) {
	object := `{"metadata":{"name":"a","namespace":"n","managedFields":[{"manager":"m"}],"labels":{"x":"y\"z"}},` +
		`"n":[1, 2,-3.5e7,true],"e":{}}`
	keyKnown := strings.Index(object, `,"managedFields"`)
	for _, body := range bodies {
		for _, r := range readers {
			for limit := 20; limit <= len(object)+1; limit++ {
				err := body.read(r.wrap(strings.NewReader(body.before+object+body.after)), jsonstream.Options{MaxObject: limit})
				if limit >= len(object) {
					if err != nil {
						t.Fatalf("%s, %s: %d bytes with a limit of %d: %v", body.name, r.name, len(object), limit, err)
					}
					continue
				}
				var e *jsonstream.LimitError
				if !errors.As(err, &e) || e.Limit != "MaxObject" || e.Max != limit || e.Offset != int64(len(body.before)) {
					t.Fatalf("%s, %s: %d bytes with a limit of %d: got %v", body.name, r.name, len(object), limit, err)
				}
				if want := (meta.Key{Namespace: "n", Name: "a"}); limit >= keyKnown && e.Key != want {
					t.Fatalf("%s, %s: limit %d: the key is %v, want %v", body.name, r.name, limit, e.Key, want)
				}
			}
		}
	}
}

// flood repeats a text for ever and counts what is taken of it.
type flood struct {
	text string
	at   int
	read int
}

func (f *flood) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = f.text[f.at]
		f.at = (f.at + 1) % len(f.text)
	}
	f.read += len(p)
	return len(p), nil
}

// A body without end is given up at the limit, before more is buffered, wherever the flood starts (guarantee S10). An object
// of a list or a watch is given up later, because most of those have an end.
func TestMaxObjectBoundsWhatIsRead(t *testing.T) {
	const limit = 1 << 20
	list := func(r io.Reader, o jsonstream.Options) error { _, _, _, err := readList(r, o); return err }
	watch := func(r io.Reader, o jsonstream.Options) error { _, err := readWatch(r, o); return err }
	object := bodies[0].read
	for _, test := range []struct {
		name, before, flood string
		read                func(io.Reader, jsonstream.Options) error
	}{
		{"a string in an object", `{"metadata":{"name":"a"},"x":"`, `xyz\"`, object},
		{"backslashes in an object", `{"metadata":{"name":"a"},"x":"`, `\`, object},
		{"a number in an object", `{"metadata":{"name":"a"},"x":1`, `0`, object},
		{"white space in an object", `{"metadata":{"name":"a"},"x":`, " \n", object},
		{"members of an object", `{"metadata":{"name":"a"}`, `,"x":{"y":[1,"z"]}`, object},
		{"managedFields", `{"metadata":{"name":"a","managedFields":[1`, `,{}`, object},
		{"a name", `{"metadata":{"name":"a"},"`, `x`, object},
		{"a name in a list", `{"`, `x`, list},
		{"a member of a list", `{"rows":[1`, `,{"a":[]}`, list},
		{"a list's kind", `{"kind":"`, `x`, list},
		{"a list's metadata", `{"metadata":{"continue":"`, `x`, list},
		{"an item", `{"items":[{"metadata":{"name":"a"},"x":[1`, `,1`, list},
		{"an item that is a string without end", `{"items":[{"metadata":{"name":"a"},"x":"`, `x`, list},
		{"an event's type", `{"type":"`, `x`, watch},
		{"an event's object", `{"type":"ADDED","object":{"metadata":{"name":"a"},"x":[1`, `,1`, watch},
		{"what follows an event's object", `{"type":"ADDED","object":{"metadata":{"name":"a"}},"x":[1`, `,1`, watch},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &flood{text: test.flood}
			err := test.read(io.MultiReader(strings.NewReader(test.before), f), jsonstream.Options{MaxObject: limit})
			var e *jsonstream.LimitError
			if !errors.As(err, &e) || e.Limit != "MaxObject" {
				t.Fatalf("got %v, want a LimitError", err)
			}
			if strings.Contains(test.before, `"name":"a"`) != (e.Key == meta.Key{Name: "a"}) {
				t.Errorf("the key is %v", e.Key)
			}
			most := limit + 128<<10
			if strings.HasPrefix(test.name, "an item") || strings.HasPrefix(test.name, "an event's object") {
				most += 32 << 20
			}
			if f.read > most {
				t.Errorf("took %d bytes, want at most %d", f.read, most)
			}
		})
	}
}

func TestWhiteSpaceBetweenEventsIsNotBounded(t *testing.T) {
	r := io.MultiReader(io.LimitReader(&flood{text: "\n"}, 8<<20), strings.NewReader(`{"type":"ADDED","object":{}}`))
	if frames, err := readWatch(r, jsonstream.Options{MaxObject: 1 << 10}); err != nil || len(frames) != 1 {
		t.Errorf("got %v, %v", frames, err)
	}
}

// A bomb of brackets ends at the limit, and costs no stack (behaviour 35, guarantee S12).
func TestMaxDepthIsExact(t *testing.T) {
	nested := func(depth int, open, inner, shut string) string {
		return strings.Repeat(open, depth) + inner + strings.Repeat(shut, depth)
	}
	for _, body := range bodies {
		for _, max := range []int{1, 2, 3, 5, 64, 65, 1000} {
			for _, shape := range []struct {
				name   string
				object func(depth int) string // with that many levels
			}{
				{"objects", func(n int) string { return nested(n, `{"a":`, "1", "}") }},
				{"arrays", func(n int) string { return `{"a":` + nested(n-1, "[", "", "]") + `}` }},
				{"both", func(n int) string {
					return `{"a":` + nested((n-1)/2, `[{"a":`, strings.Repeat("[]", (n-1)%2)+strings.Repeat("1", 1-(n-1)%2), "}]") + `}`
				}},
				{"metadata", func(n int) string { return nested(n, `{"metadata":`, "1", "}") }},
				{"annotations", func(n int) string {
					return `{"metadata":{"annotations":` + nested(n-2, `{"k8s.io/initial-events-end":`, "1", "}") + `}}`
				}},
			} {
				for depth := max - 1; depth <= max+2; depth++ {
					if depth < 1 || shape.name == "arrays" && depth < 2 || shape.name == "annotations" && depth < 3 {
						continue
					}
					err := body.read(strings.NewReader(body.before+shape.object(depth)+body.after), jsonstream.Options{MaxDepth: max})
					var e *jsonstream.LimitError
					if depth <= max && err != nil {
						t.Errorf("%s: %d levels of %s with a limit of %d: %v", body.name, depth, shape.name, max, err)
					}
					if depth > max && (!errors.As(err, &e) || e.Limit != "MaxDepth" || e.Max != max) {
						t.Errorf("%s: %d levels of %s with a limit of %d: got %v", body.name, depth, shape.name, max, err)
					}
				}
			}
		}
	}
}

func TestDepthBombsAreRefused(t *testing.T) {
	for _, bomb := range []string{"[", `{"a":`, `[{"a":`} {
		for _, body := range bodies {
			f := &flood{text: bomb}
			err := body.read(io.MultiReader(strings.NewReader(body.before+`{"metadata":{"name":"a"},`+
				`"x":`), f), jsonstream.Options{})
			var e *jsonstream.LimitError
			if !errors.As(err, &e) || e.Limit != "MaxDepth" || e.Max != 1000 || e.Key.Name != "a" {
				t.Errorf("%s of %q: got %v", body.name, bomb, err)
			}
		}
	}
	// A level costs nothing but its bracket, so a caller may allow many.
	deep := `{"x":` + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + "}"
	if _, err := jsonstream.ReadObject(strings.NewReader(deep), jsonstream.Options{MaxDepth: math.MaxInt}); err != nil {
		t.Error(err)
	}
}

func TestLimitErrorsSayWhatAndWhere(t *testing.T) {
	object := `{"metadata":{"name":"a","namespace":"n"},"x":[[[]]]}`
	for _, test := range []struct {
		options jsonstream.Options
		body    string
		want    string
	}{
		{jsonstream.Options{MaxObject: 45}, object, `object "n/a", at byte 0 of the body, is larger than MaxObject, 45 bytes`},
		{jsonstream.Options{MaxObject: 10}, object, `an object, at byte 0 of the body, is larger than MaxObject, 10 bytes`},
		{jsonstream.Options{MaxDepth: 3}, object, `object "n/a" nests deeper than MaxDepth, 3 levels, at byte 47 of the body`},
		{jsonstream.Options{MaxDepth: 1}, object, `an object nests deeper than MaxDepth, 1 levels, at byte 12 of the body`},
	} {
		// Byte by byte, so that no more than the limit allows has arrived.
		_, err := jsonstream.ReadObject(iotest.OneByteReader(strings.NewReader(test.body)), test.options)
		if err == nil || err.Error() != test.want {
			t.Errorf("%+v: got %v, want %s", test.options, err, test.want)
		}
	}
}

// The largest limits must not overflow where int has 32 bits.
func TestLargestLimits(t *testing.T) {
	o := jsonstream.Options{MaxObject: math.MaxInt, MaxDepth: math.MaxInt}
	object := fmt.Sprintf(`{"metadata":{"name":"a"},"x":%q}`, strings.Repeat("x", 3<<20))
	items, _, _, err := readList(strings.NewReader(`{"items":[`+object+`,{},`+object+`]}`), o)
	if err != nil || !slices.Equal(raws(items), []string{object, "{}", object}) {
		t.Errorf("got %d items, %v", len(items), err)
	}
	o = jsonstream.Options{MaxObject: -1, MaxDepth: -1}
	if _, err := jsonstream.ReadObject(strings.NewReader(object), o); err != nil {
		t.Errorf("negative limits are not the defaults: %v", err)
	}
}
