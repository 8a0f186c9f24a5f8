package codec_test

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/internal/codec"
)

// The corners in which the encoding/json of Go 1.26 and that of Go 1.27 differ, and what is refused, as the package doc has them.

type (
	bothWays    string // UnmarshalJSON and UnmarshalText
	textNumber  int    // UnmarshalText
	jsonNumber  int    // UnmarshalJSON
	namedPtr    *jsonValue
	endless     *endless
	hiddenInner struct {
		Name string `json:"name"`
	}
	hiddenJSON struct{ Name string }
	plainInner struct{ A int }

	oneWay   struct{ shared }
	otherWay struct{ shared }
	shared   struct {
		Deep string `json:"deep"`
	}
)

func (b *bothWays) UnmarshalJSON(raw []byte) error { *b = bothWays("json " + string(raw)); return nil }

func (b *bothWays) UnmarshalText(text []byte) error {
	*b = bothWays("text " + string(text))
	return nil
}
func (n *textNumber) UnmarshalText(b []byte) error { *n = textNumber(len(b)); return nil }
func (n *jsonNumber) UnmarshalJSON(b []byte) error { *n = jsonNumber(len(b)); return nil }
func (h *hiddenJSON) UnmarshalJSON([]byte) error   { h.Name = "called"; return nil }

func TestDecodingIsTheSameWithEachVersionOfEncodingJSON(t *testing.T) {
	type quotedMethods struct {
		Text textNumber `json:"text,string"`
		JSON jsonNumber `json:"json,string"`
	}
	type quotedNumber struct {
		Number json.Number `json:"number,string"`
		Int    int         `json:"int,string"`
		Float  float64     `json:"float,string"`
	}
	type names struct {
		//lint:ignore SA5008 what is made of such a tag is the point
		A int `json:"a\\b"`
		B int `json:"'b'"`
		C int `json:"c d"`
	}
	one := jsonValue{"1"}
	for _, test := range []struct {
		name, raw string
		want      any // the pointer to it; an error if it is a string
	}{
		{"a key with both methods", `{"a":1}`, &map[bothWays]int{"text a": 1}},
		{"keys that are floats", `{}`, failure[map[float64]int]("does not fit (byte 0)")},
		{"keys that are interfaces", `{"a":1}`, failure[map[any]int]("does not fit (byte 0)")},
		{"keys that are pointers", `{"a":1}`, failure[map[*textNumber]int]("does not fit (byte 0)")},
		{"keys that are booleans, and null", `null`, failure[map[bool]int]("the document is null")},
		{"a field of a named pointer", `{"X":1}`, &struct{ X namedPtr }{&one}},
		{"an unnamed struct with methods", `{"X":{"raw":1}}`, &struct{ X struct{ jsonValue } }{struct{ jsonValue }{jsonValue{`{"raw":1}`}}}},
		{"the option string and UnmarshalText", `{"text":"abc"}`, &quotedMethods{Text: 3}},
		{"the option string and UnmarshalJSON", `{"json":[1,2]}`, &quotedMethods{JSON: 5}},
		{"a quoted number with a zero before it", `{"number":"01"}`, failure[quotedNumber]("invalid syntax at number (byte 10)")},
		{"a quoted number that is null", `{"number":"null"}`, failure[quotedNumber]("invalid syntax at number (byte 10)")},
		{"a quoted number", `{"number":"1e5"}`, &quotedNumber{Number: "1e5"}},
		{"a quoted integer with a zero before it", `{"int":"-01"}`, &quotedNumber{Int: -1}},
		{"a quoted integer with a plus", `{"int":"+1"}`, failure[quotedNumber]("invalid syntax at int (byte 7)")},
		{"a quoted float that is no number", `{"float":"NaN"}`, failure[quotedNumber]("invalid syntax at float (byte 9)")},
		{"a quoted float out of range", `{"float":"1e400"}`, failure[quotedNumber]("value out of range at float (byte 9)")},
		{"a time with escapes", `"2026\u002d09-14T08:21:30Z"`, ptr(time.Date(2026, 9, 14, 8, 21, 30, 0, time.UTC))},
		{"names that a tag cannot have", `{"A":1,"a\\b":5,"B":2,"'b'":5,"c d":3}`, &names{1, 2, 3}},
		{"an embedded struct with methods that is not exported", `{"in":{"Name":"a"}}`, &struct {
			hiddenJSON `json:"in"`
			jsonNumber // has the method, too, so that neither is that of the struct
		}{hiddenJSON: hiddenJSON{"a"}}},
		{"the option case", `{"NAME":1}`, &struct {
			Name int `json:"name,case:ignore"`
		}{}},
		{"the option inline on a field", `{"A":1,"L":{"A":2}}`, &struct {
			L plainInner `json:",inline"`
		}{plainInner{2}}},
		{"the option embed on a field", `{"A":1}`, failure[struct {
			L plainInner `json:",embed"`
		}]("a JSON object does not fit: the tag option embed of the field struct")},
		{"the option embed on a field with a name", `{"l":{"A":1}}`, &struct {
			L plainInner `json:"l,embed"`
		}{plainInner{1}}},
		{
			"a field of an embedded pointer that cannot be set", `{"name":"a"}`,
			failure[struct{ *hiddenInner }]("it embeds a pointer to a struct that is not exported, which cannot be set at name (byte 8)"),
		},
		{"the option format", `{"t":1}`, failure[struct {
			T time.Time `json:"t,format:unix"`
		}]("the tag option format:unix of the field struct")},
		{"null for what has the option format", `{"x":null}`, &struct {
			X struct {
				T time.Time `json:"t,format:unix"`
			} `json:"x"`
		}{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if fails, ok := test.want.(fails); ok {
				if got, err := codec.UnmarshalType(fails.typ, []byte(test.raw)); err == nil || !strings.Contains(err.Error(), fails.with) {
					t.Errorf("got %+v, %v; want an error with %q", got, err, fails.with)
				}
				return
			}
			got, err := codec.UnmarshalType(reflect.TypeOf(test.want).Elem(), []byte(test.raw))
			if err != nil || !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v, %v; want %+v", got, err, test.want)
			}
		})
	}
}

// fails is a type that a document does not fit, and part of what the error says.
type fails struct {
	typ  reflect.Type
	with string
}

func failure[T any](with string) fails { return fails{reflect.TypeFor[T](), with} }

func ptr[T any](v T) *T { return &v }

// Corners that are the same in every version, and that random types do not have.
func TestUnusualTypesAreLikeEncodingJSON(t *testing.T) {
	type unexportedPointer struct{ *hiddenInner }
	for _, test := range []struct {
		typ reflect.Type
		raw string
	}{
		{reflect.TypeFor[unexportedPointer](), `{"x":1}`},
		{reflect.TypeFor[unexportedPointer](), `{"name":"a"}`},
		{reflect.TypeFor[unexportedPointer](), `{"name":null}`},
		{reflect.TypeFor[struct{ *Outer }](), `{"name":null}`},
		{reflect.TypeFor[struct{ *Outer }](), `{"x":null}`},
		{reflect.TypeFor[struct{ *Outer }](), `{"name":5}`},
		{reflect.TypeFor[struct {
			Before string
			*Outer
			*MoreOuter
			After string
		}](), `{"Before":"a","other":"b","name":"c","more":"d","After":"e"}`},
		{reflect.TypeFor[struct {
			hiddenInner `json:"in"`
		}](), `{"in":{"name":"a"},"name":"b"}`},
		{reflect.TypeFor[struct {
			X struct {
				hiddenJSON
				jsonValue
			}
		}](), `{"X":{"Name":"a"}}`}, // both have the method, so that neither is that of the struct
		{reflect.TypeFor[struct {
			oneWay
			otherWay
		}](), `{"deep":"x"}`}, // there are two, of the same type
		{reflect.TypeFor[struct{ textKey }](), `{"textKey":"a"}`},
		{reflect.TypeFor[struct{ fmt.Stringer }](), `{"Stringer":null}`},
		{reflect.TypeFor[struct{ fmt.Stringer }](), `{"Stringer":"a"}`},
		{reflect.TypeFor[struct{ X encoding.TextUnmarshaler }](), `{"X":"a"}`},
		{reflect.TypeFor[struct{ X json.Unmarshaler }](), `{"X":1}`},
		{reflect.TypeFor[struct{ time.Time }](), `"2026-09-14T08:21:30Z"`},
		{reflect.TypeFor[map[bothWays]int](), `{}`},
		{reflect.TypeFor[[]jsonNumber](), `[1,null,"x"]`},
		{reflect.TypeFor[[2]byte](), `"AQID"`},
		{reflect.TypeFor[[2]byte](), `[1,2,"x"]`},
		{reflect.TypeFor[[0]int](), `[1]`},
		{reflect.TypeFor[[]byte](), `"AQ=\r="`},
		{reflect.TypeFor[[]byte](), `"AQ==AQ=="`},
	} {
		sameAsStandard(t, test.typ, []byte(test.raw))
	}
}

func TestATypeOfEndlessPointersIsAnError(t *testing.T) {
	if _, err := codec.Unmarshal[endless]([]byte(`{}`)); err == nil || !strings.Contains(err.Error(), "does not fit") {
		t.Errorf("a pointer to itself: %v", err)
	}
}

// A member that does not fit is an error unless a later one of its name takes its place.
func TestALaterMemberReplacesAWrongOne(t *testing.T) {
	type object struct {
		A   int                       `json:"a"`
		B   *object                   `json:"b"`
		M   map[string]int            `json:"m"`
		S   map[string]string         `json:"s"`
		Any map[string]any            `json:"any"`
		K   map[int]int               `json:"k"`
		L   []map[string]map[int]bool `json:"l"`
	}
	for _, test := range []struct{ raw, same, fails string }{
		{`{"a":"x","a":1}`, `{"a":1}`, ``},
		{`{"a":1,"a":"x"}`, ``, `at a (byte 11)`},
		{`{"a":"x","b":{"a":[1]},"b":{"a":2},"a":3}`, `{"a":3,"b":{"a":2}}`, ``},
		{`{"b":{"a":[1],"b":{"a":2,"a":{}}},"b":null}`, `{}`, ``},
		{`{"b":{"b":{"a":true}},"a":"x","a":1}`, ``, `at b.b.a (byte 15)`},
		{`{"m":{"x":"1","y":"2","x":1},"m":{"x":"1","y":2,"x":3}}`, `{"m":{"x":3,"y":2}}`, ``},
		{`{"m":{"x":"1","y":"2","x":1}}`, ``, `int: a JSON string does not fit at m["y"] (byte 18)`},
		{`{"s":{"x":1,"x":"1"}}`, `{"s":{"x":"1"}}`, ``},
		{`{"s":{"w":"1","x":1}}`, ``, `string: a JSON number does not fit at s["x"] (byte 18)`},
		{`{"any":{"x":[1e999],"x":1}}`, `{"any":{"x":1}}`, ``},
		{`{"any":{"x":{"y":[0,1e999]}}}`, ``, `float64: a JSON number does not fit: value out of range at any["x"]["y"][1] (byte 20)`},
		{`{"k":{"x":1}}`, ``, `int: a JSON string does not fit: invalid syntax at k["x"] (byte 6)`},
		{`{"l":[{},{"a.b":{"1":true,"2":0}}]}`, ``, `bool: a JSON number does not fit at l[1]["a.b"]["2"] (byte 30)`},
		{`{"a":"x","b":{]}`, ``, `text that is not JSON at b (byte 14)`},
		{`{"a":[],"m":{"x":{},"y":`, ``, `text that is not JSON at m (byte 24)`},
		{`{"a":"x"}}`, ``, `text that is not JSON (byte 9)`},
	} {
		got, err := codec.Unmarshal[*object]([]byte(test.raw))
		if test.fails != "" {
			if got != nil || err == nil || !strings.HasSuffix(err.Error(), test.fails) {
				t.Errorf("%s: got %v, want %s", test.raw, err, test.fails)
			}
			continue
		}
		want, _ := codec.Unmarshal[*object]([]byte(test.same))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v; want %+v", test.raw, got, err, want)
		}
	}
}

// An array of which no element fits took 0.35 s of CPU for each MiB, because there was an error for each element, and the
// document was decoded three times.
func TestWrongElementsCostLittle(t *testing.T) {
	type object struct {
		Ints    []int          `json:"ints"`
		Fixed   [3]int         `json:"fixed"`
		Strings []string       `json:"strings"`
		Map     map[string]int `json:"map"`
	}
	members := func(n int, member string) string { return strings.Repeat(member+",", n) + member }
	for _, test := range []struct {
		name, raw string
		most      float64
	}{
		{"wrong elements", `{"ints":[` + members(1<<18, `"x"`) + `]}`, 40},
		{"wrong elements of an array", `{"fixed":[` + members(1<<18, `"x"`) + `]}`, 40},
		{"wrong strings", `{"strings":[` + members(1<<19, `1`) + `]}`, 40},
		{"the same member", `{"map":{` + members(1<<16, `"x":"x"`) + `}}`, 400},
	} {
		raw := []byte(test.raw)
		n := testing.AllocsPerRun(3, func() {
			if _, err := codec.Unmarshal[*object](raw); err == nil {
				t.Fatal("it fits")
			}
		})
		if n > test.most {
			t.Errorf("%s: %v allocations for %d bytes", test.name, n, len(raw))
		}
	}
}
