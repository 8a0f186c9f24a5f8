package codec_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
)

//lint:file-ignore SA5008 that encoding/json accepts such tags is what some of these types are for

// The zoo has a struct of every shape that encoding/json knows and that the API's types, or anybody's own, may have.

type (
	scalars struct {
		String  string  `json:"string"`
		Bool    bool    `json:"bool"`
		Int     int     `json:"int"`
		Int8    int8    `json:"int8"`
		Int16   int16   `json:"int16"`
		Int32   int32   `json:"int32"`
		Int64   int64   `json:"int64"`
		Uint    uint    `json:"uint"`
		Uint8   uint8   `json:"uint8"`
		Uint32  uint32  `json:"uint32"`
		Uint64  uint64  `json:"uint64"`
		Float32 float32 `json:"float32"`
		Float64 float64 `json:"float64"`
	}
	pointers struct {
		String *string   `json:"string"`
		Bool   *bool     `json:"bool"`
		Int    *int      `json:"int"`
		Int32  **int32   `json:"int32"`
		Float  *float64  `json:"float64"`
		Struct *scalars  `json:"struct"`
		Slice  *[]string `json:"slice"`
	}
	optional struct {
		String string         `json:"string,omitempty"`
		Int    int            `json:"int,omitempty"`
		Zero   int            `json:"zero,omitzero"`
		Bool   bool           `json:"bool,omitempty"`
		Slice  []int          `json:"slice,omitempty"`
		Map    map[string]int `json:"map,omitempty"`
		Struct scalars        `json:"struct,omitzero"`
		Never  string         `json:"-"`
		Dash   string         `json:"-,"`
		NoName string         `json:",omitempty"`
		NoTag  string
		hidden string
	}
	numbers struct {
		Number  json.Number            `json:"number"`
		Pointer *json.Number           `json:"pointer"`
		Slice   []json.Number          `json:"slice"`
		Map     map[string]json.Number `json:"map"`
		Keys    map[json.Number]bool   `json:"keys"`
		Any     any                    `json:"any"`
	}
	quoted struct {
		String  string   `json:"string,string"`
		Text    *string  `json:"text,string"`
		Bool    bool     `json:"bool,string"`
		Uint8   uint8    `json:"uint8,string"`
		Float32 *float32 `json:"float32,string"`
		Deep    **int    `json:"deep,string"`
		Int     int      `json:"int,string"`
		Uint64  uint64   `json:"uint64,string"`
		Float   float64  `json:"float64,string"`
		Pointer *int64   `json:"pointer,string"`
		Slice   []int    `json:"slice,string"`
		Any     any      `json:"any,string"`
		Struct  struct { // not quoted inside
			Int int `json:"int"`
		} `json:"struct,string"`
	}
	namedByte  byte
	namedBytes []byte
	bytesAll   struct {
		Bytes   []byte            `json:"bytes"`
		Named   namedBytes        `json:"named"`
		Elems   []namedByte       `json:"elems"`
		Array   [4]byte           `json:"array"`
		Pointer *[]byte           `json:"pointer"`
		Raw     json.RawMessage   `json:"raw"`
		Map     map[string][]byte `json:"map"`
	}
	composites struct {
		Slice   []string            `json:"slice"`
		Slices  [][]int             `json:"slices"`
		Structs []scalars           `json:"structs"`
		Ptrs    []*scalars          `json:"ptrs"`
		Array   [3]int              `json:"array"`
		Arrays  [2][2]string        `json:"arrays"`
		Map     map[string]string   `json:"map"`
		Maps    map[string]*scalars `json:"maps"`
		IntKeys map[int64]string    `json:"intKeys"`
		Uints   map[uint8]bool      `json:"uintKeys"`
		Any     any                 `json:"any"`
		AnyMap  map[string]any      `json:"anyMap"`
		Anys    []any               `json:"anys"`
	}
	times struct {
		Time      time.Time      `json:"time"`
		Pointer   *time.Time     `json:"pointer"`
		Duration  time.Duration  `json:"duration"`
		Durations *time.Duration `json:"durations"`
		Meta      meta.Time      `json:"meta"`
		MetaPtr   *meta.Time     `json:"metaPtr"`
		Micro     meta.MicroTime `json:"micro"`
	}

	inner struct {
		Name  string `json:"name"`
		Depth int    `json:"depth"`
	}
	Outer struct {
		Name  string `json:"name"`
		Other string `json:"other"`
	}
	MoreOuter struct {
		Other string `json:"other"` // conflicts with Outer's: neither counts
		More  string `json:"more"`
	}
	embedded struct {
		meta.TypeMeta   `json:",inline"`
		meta.ObjectMeta `json:"metadata,omitempty"`
		inner           // unexported, but its fields are not
		*Outer
		MoreOuter `json:",inline"`
		Depth     string `json:"depth"` // hides inner's
	}
	recursive struct {
		Name  string                `json:"name"`
		Next  *recursive            `json:"next"`
		Nodes []recursive           `json:"nodes"`
		Map   map[string]*recursive `json:"map"`
		Tags  []string              `json:"tags"`
	}

	// jsonValue and textValue have the methods that types such as IntOrString and Quantity have.
	jsonValue struct{ raw string }
	textValue struct{ text string }
	textKey   string
	jsonKey   string
	methods   struct {
		JSON    jsonValue             `json:"json"`
		Pointer *jsonValue            `json:"pointer"`
		Slice   []jsonValue           `json:"slice"`
		Map     map[string]jsonValue  `json:"map"`
		Text    textValue             `json:"text"`
		TextPtr *textValue            `json:"textPtr"`
		Keys    map[textKey]textValue `json:"keys"`
		JSONs   map[jsonKey]string    `json:"jsonKeys"`
		Inline  jsonValue             `json:"inline,omitempty"`
	}

	// sloppy has tags that are malformed, as far as go vet lets them pass.
	sloppy struct {
		Odd    string  `json:"odd,omitEmpty"`
		Trail  string  `json:"trail,"`
		Nested sloppy2 `json:"nested"`
		Outer  `json:",omitempty"`
		Any    any `json:"any,omitempty,"`
	}
	sloppy2 struct {
		C int   `json:"c,,string"`
		D []int `json:"d,omitempty,omitempty"`
	}
	unicodeNames struct {
		A string `json:"größe"`
		B string `json:"a.b/c-d"`
		C string `json:"$ref"`
		D string `json:"日本"`
	}
)

func (j jsonValue) MarshalJSON() ([]byte, error) {
	if j.raw == "" {
		return []byte("null"), nil
	}
	return []byte(j.raw), nil
}

func (j *jsonValue) UnmarshalJSON(b []byte) error {
	if bytes.Contains(b, []byte("refuse")) {
		return fmt.Errorf("cannot have %s", b)
	}
	j.raw = string(b)
	return nil
}

// UnmarshalJSON of a key is not called.
func (k *jsonKey) UnmarshalJSON([]byte) error {
	*k = "called"
	return nil
}

func (t textValue) MarshalText() ([]byte, error) { return []byte(t.text), nil }

func (t *textValue) UnmarshalText(b []byte) error {
	if strings.Contains(string(b), "refuse") {
		return fmt.Errorf("cannot have %s", b)
	}
	t.text = "<" + string(b) + ">"
	return nil
}

func (k textKey) MarshalText() ([]byte, error) { return []byte(strings.ToUpper(string(k))), nil }

func (k *textKey) UnmarshalText(b []byte) error {
	*k = textKey(strings.ToLower(string(b)))
	return nil
}

// values are what may stand in a member: right, wrong and at the edge.
var values = []string{
	`null`, `true`, `false`, `0`, `-0`, `1`, `-1`, `1.0`, `1.5`, `1e3`, `1e400`, `-129`, `128`, `255`, `256`,
	`2147483647`, `2147483648`,
	`-2147483649`, `4294967296`, `9007199254740993`, `9223372036854775807`, `9223372036854775808`, `18446744073709551615`,
	`18446744073709551616`, `0.1`, `3.4e39`, `1E-400`,
	`""`, `"x"`, `"null"`, `"true"`, `"1"`, `"-1"`, `"1.5"`, `" 1"`, `"0x1"`, `"1e3"`, `"01"`, `"0x1p4"`, `"1_0"`, `"300"`, `"\"x\""`, `"\"\\u0041\""`, `"\"x"`, `"refuse"`,
	`"\u0041\ud83d\ude80"`, `"<&>\u2028"`,
	`"AQID"`, `"AQID/+8="`, `"AQ\r\nID"`, `"AQI"`, `"AQID="`, `"_-8="`, `"!"`,
	`"2026-09-14T08:21:30Z"`, `"2026-09-14T08:21:30.123456789+02:00"`, `"2026-09-14T08:21:30,5Z"`,
	`"2026-09-14T8:21:30Z"`, `"2026-09-14 08:21:30Z"`,
	`"2026-09-14T08:21:30+24:00"`, `"2026-02-30T08:21:30Z"`, `"2026-09-14T08:21:60Z"`,
	`[]`, `[1]`, `[1,2,3,4,5]`, `[255,256]`, `["a"]`, `["a","b"]`, `[["a"],["b","c","d"]]`, `[[1,2],[],null]`,
	`[null]`, `[{}]`, `[true,1,"x",null,[],{}]`,
	`{}`, `{"name":"n"}`, `{"string":"s","int":1}`, `{"int":"s"}`, `{"a":"b","c":"d"}`, `{"a":1}`,
	`{"1":"x","-1":"y"}`, `{"1":true}`, `{"x":true}`, `{"300":true}`,
	`{"a":null}`, `{"A":{"x":[]},"B":"b"}`, `{"a":{"string":"s"},"b":null}`, `{"a":[{"b":{"c":[1,2.5,"x"]}}]}`,
	`{"a":"AQID"}`, `{"refuse":"x"}`,
	`{"same":"x","c":1,"d":[1]}`, `{"c":"1"}`,
	`{"name":"n","next":{"name":"m","next":null},"nodes":[{"nodes":[]}],"map":{"k":{"name":"k"}}}`,
}

// unmarshalLike compares one decode with encoding/json's.
func unmarshalLike[T any](t *testing.T, document string) {
	t.Helper()
	want := new(T)
	wantErr := json.Unmarshal([]byte(document), want)
	raw := []byte(document)
	got, err := codec.Unmarshal[*T](raw)
	switch {
	case string(raw) != document:
		t.Errorf("%T: %s was changed to %s", got, document, raw)
	case (err == nil) != (wantErr == nil):
		t.Errorf("%T from %s: got error %v; encoding/json has %v", got, document, err, wantErr)
	case err != nil:
		if e := new(codec.Error); got != nil || !errors.As(err, &e) || e.Type == nil {
			t.Errorf("%T from %s: got %v and %#v, want nil and an Error with a type", got, document, got, err)
		}
	case !reflect.DeepEqual(got, want):
		t.Errorf("%T from %s: got\n%+v; encoding/json has\n%+v", got, document, got, want)
	}
}

// unmarshalAllLike gives every field of T every value.
func unmarshalAllLike[T any](t *testing.T) {
	t.Helper()
	for _, name := range memberNames(reflect.TypeFor[T](), map[reflect.Type]bool{}) {
		for _, value := range values {
			unmarshalLike[T](t, fmt.Sprintf(`{%q:%s}`, name, value))
			unmarshalLike[T](t, fmt.Sprintf(`{"unknown":%s,%q:%s,"another":[{"x":%s}]}`, value, name, value, value))
		}
	}
	for _, value := range values {
		if value != "null" {
			unmarshalLike[T](t, value)
		}
	}
}

// memberNames lists the names that any field of the struct may have, those in embedded structs too.
func memberNames(t reflect.Type, seen map[reflect.Type]bool) (names []string) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] {
		return nil
	}
	seen[t] = true
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		names = append(names, name)
		if f.Anonymous {
			names = append(names, memberNames(f.Type, seen)...)
		}
	}
	return names
}

func TestUnmarshalIsLikeEncodingJSON(t *testing.T) {
	t.Run("scalars", unmarshalAllLike[scalars])
	t.Run("pointers", unmarshalAllLike[pointers])
	t.Run("optional members", unmarshalAllLike[optional])
	t.Run("the option string", unmarshalAllLike[quoted])
	t.Run("numbers", unmarshalAllLike[numbers])
	t.Run("many fields", unmarshalAllLike[many])
	t.Run("bytes", unmarshalAllLike[bytesAll])
	t.Run("composites", unmarshalAllLike[composites])
	t.Run("times", unmarshalAllLike[times])
	t.Run("embedded structs", unmarshalAllLike[embedded])
	t.Run("fields that hide each other", unmarshalAllLike[promoted])
	t.Run("a recursive struct", unmarshalAllLike[recursive])
	t.Run("methods", unmarshalAllLike[methods])
	t.Run("malformed tags", unmarshalAllLike[sloppy])
	t.Run("names beyond ASCII", unmarshalAllLike[unicodeNames])
	t.Run("metadata", unmarshalAllLike[meta.ObjectMeta])
	t.Run("a status", unmarshalAllLike[meta.Status])
	t.Run("an any", unmarshalAllLike[any])
	t.Run("a map of any", unmarshalAllLike[map[string]any])
	t.Run("a map of strings", unmarshalAllLike[map[string]string])
	t.Run("a slice", unmarshalAllLike[[]int])
}

func TestBrokenDocumentsAreRefusedLikeEncodingJSON(t *testing.T) {
	for _, document := range []string{
		``, ` `, `{`, `}`, `{]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{"a":1}}`, `{"a":1} x`, `{'a':1}`, `{"a":01}`,
		`{"a":+1}`, `{"a":.5}`, `{"a":1.}`, `{"a":tru}`, `{"a":nulll}`,
		"{\"a\":\"\x01\"}", `{"a":"\q"}`, `{"a":"\u12"}`, "\ufeff{}", "{\"a\":1}\x00", `{"string":"x`, `{"a":[1,2}`, `[`,
		`nul`, `NaN`,
		`{"string":"a"` + strings.Repeat(`,"x":[`, 20000),
		`{"a":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}",
	} {
		unmarshalLike[scalars](t, document)
		unmarshalLike[any](t, document)
		unmarshalLike[sloppy](t, document)
	}
}

// Text that is not Unicode does not cost an object (fault F38).
func TestUnmarshalReplacesWhatIsNotUnicode(t *testing.T) {
	for _, text := range []string{
		"\xff", "a\xc3", "\xed\xa0\x80", `\ud83d`, `\ude80x`, `\ud83d\ud83d\ude80`, `\ud83d\u0041`, "\u2028\u202eé🚀",
	} {
		for _, document := range []string{`{"string":"` + text + `"}`, `{"` + text + `":"x","string":"y"}`} {
			unmarshalLike[scalars](t, document)
			unmarshalLike[any](t, document)
			unmarshalLike[map[string]string](t, document)
			unmarshalLike[sloppy](t, document)
		}
	}
}

func TestMarshalIsLikeEncodingJSON(t *testing.T) {
	one, text := 1, "t"
	now := time.Date(2026, 9, 14, 8, 21, 30, 123456789, time.FixedZone("", 7200))
	for _, v := range []any{
		scalars{},
		scalars{String: "<&>\u2028\xff\x01", Int64: math.MinInt64, Uint64: math.MaxUint64, Float32: 1e21, Float64: 1e-7},
		pointers{},
		&pointers{String: &text, Int: &one, Struct: &scalars{}, Slice: new([]string)},
		optional{hidden: "x"},
		optional{Slice: []int{}, Map: map[string]int{}, Zero: 1, NoTag: "x"},
		optional{Slice: []int{1}, Map: map[string]int{"b": 1, "a": 2}},
		quoted{},
		bytesAll{},
		bytesAll{Bytes: []byte{}, Named: namedBytes{1, 2}, Elems: []namedByte{3}, Raw: json.RawMessage(` { "a" : [ 1 ] } `)},
		composites{},
		composites{
			Map: map[string]string{"b": "", "a": ""}, IntKeys: map[int64]string{-1: "x", 10: "y", 9: "z"}, Any: []any{1.0, nil},
		},
		times{},
		times{Time: now, Pointer: &now, Duration: time.Hour, Meta: meta.Time{Time: now}, Micro: meta.MicroTime{Time: now}},
		embedded{},
		&embedded{Outer: &Outer{Name: "o"}, Depth: "d"},
		recursive{Next: &recursive{}},
		methods{},
		&methods{JSON: jsonValue{`{"x":[ ]}`}, Keys: map[textKey]textValue{"k": {"v"}}},
		sloppy{},
		unicodeNames{A: "x"},
		map[string]any{},
		map[string]any{"z": nil, "a": map[string]any{"c": 1, "b": []int(nil)}},
		json.RawMessage(" {} "), &meta.ObjectMeta{Name: "x"},
	} {
		want, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		got, err := codec.Marshal(v, "", "")
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%T: got\n%s, %v; encoding/json has\n%s", v, got, err, want)
		}
	}
}
