package codec_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
)

// Decoding is compared with encoding/json over the zoo, over the types below, and over types that are made at random.

type (
	many struct {
		wide
		Last string `json:"last"`
	}
	wide struct { // more than 64 fields
		A wide16 `json:"a"`
		wide16
		wideB
		wideC
		wideD
		wideE
	}
	wide16 struct{ A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, AA, AB, AC, AD, AE, AF int8 }
	wideB  struct{ B0, B1, B2, B3, B4, B5, B6, B7, B8, B9, BA, BB, BC, BD, BE, BF string }
	wideC  struct{ C0, C1, C2, C3, C4, C5, C6, C7, C8, C9, CA, CB, CC, CD, CE, CF *bool }
	wideD  struct{ D0, D1, D2, D3, D4, D5, D6, D7, D8, D9, DA, DB, DC, DD, DE, DF []string }
	wideE  struct{ E0, E1, E2, E3, E4, E5, E6, E7, E8, E9, EA, EB, EC, ED, EE, EF float32 }

	stringer interface{ String() string }
	odds     struct {
		Number    json.Number                `json:"number"`
		Numbers   map[string]json.Number     `json:"numbers"`
		Stringer  stringer                   `json:"stringer"`
		Uintptr   uintptr                    `json:"uintptr"`
		Func      func()                     `json:"func"`
		Chan      chan int                   `json:"chan"`
		Complex   complex128                 `json:"complex"`
		Array     [3]*string                 `json:"array"`
		Raw       *json.RawMessage           `json:"raw"`
		Raws      map[string]json.RawMessage `json:"raws"`
		Moment    moment                     `json:"moment"`
		Moments   []*moment                  `json:"moments"`
		NamedAny  namedAny                   `json:"namedAny"`
		NamedMap  namedMap                   `json:"namedMap"`
		NamedKeys map[named]named            `json:"namedKeys"`
		Labels    labels                     `json:"labels"`
		Deep      []map[string][]*[]string   `json:"deep"`
		Empty     struct{}                   `json:"empty"`
		Empties   []struct{}                 `json:"empties"`
		Hidden    hidden                     `json:"hidden"`
		Fallback  fallback                   `json:"fallback"`
		Twice     twice                      `json:"twice"`
		Values    methodValue                `json:"values"`
		Bytes     map[string]namedBytes      `json:"bytes"`
		Time      map[string]time.Time       `json:"time"`
	}
	namedAny any
	namedMap map[string]any
	named    string
	labels   map[string]string
	hidden   struct{ _ int }
	moment   struct{ at time.Time }
	inlined  map[string]int
	fallback struct {
		A    string  `json:"a"`
		Rest inlined `json:",inline"`
	}
	twice struct {
		Left left `json:",inline"`
		left
		right
	}
	promoted struct { // whose fields hide each other
		meta.TypeMeta `json:",inline"`
		inner
		Depth string `json:"depth"` // hides inner's
		tagged
		untagged
		Own string `json:"own"`
	}
	tagged struct {
		Best string `json:"Best"`
		Both string
		Own  int `json:"own"`
	}
	untagged struct {
		Best int    // tagged's has a tag
		Both string // tagged has it too: neither counts
		deep
	}
	deep struct {
		Name int `json:"name"`
		More bool
	}
	left        struct{ base }
	right       struct{ base }
	base        struct{ Base string }
	methodValue map[string]int
)

func (m *moment) UnmarshalJSON(b []byte) error { return m.at.UnmarshalJSON(b) }

// UnmarshalJSON has a receiver that is a value.
func (m methodValue) UnmarshalJSON(b []byte) error {
	if m != nil {
		m["called"]++
	}
	return nil
}

// zoo are the types that are compared.
var zoo = []reflect.Type{
	reflect.TypeFor[everything](), reflect.TypeFor[scalars](), reflect.TypeFor[pointers](), reflect.TypeFor[optional](),
	reflect.TypeFor[quoted](), reflect.TypeFor[numbers](), reflect.TypeFor[bytesAll](), reflect.TypeFor[composites](),
	reflect.TypeFor[times](), reflect.TypeFor[embedded](), reflect.TypeFor[recursive](), reflect.TypeFor[promoted](),
	reflect.TypeFor[methods](), reflect.TypeFor[sloppy](), reflect.TypeFor[unicodeNames](), reflect.TypeFor[meta.ObjectMeta](),
	reflect.TypeFor[meta.Status](), reflect.TypeFor[pod](), reflect.TypeFor[podView](), reflect.TypeFor[document](),
	reflect.TypeFor[foreign](), reflect.TypeFor[odd](), reflect.TypeFor[many](), reflect.TypeFor[odds](),
	reflect.TypeFor[any](), reflect.TypeFor[map[string]any](), reflect.TypeFor[namedMap](), reflect.TypeFor[map[string]string](),
	reflect.TypeFor[labels](), reflect.TypeFor[map[string]map[string]int](), reflect.TypeFor[map[string]*pod](),
	reflect.TypeFor[[]string](), reflect.TypeFor[[]*scalars](), reflect.TypeFor[*scalars](), reflect.TypeFor[*map[string]any](),
	reflect.TypeFor[json.RawMessage](), reflect.TypeFor[string](), reflect.TypeFor[float32](), reflect.TypeFor[moment](),
	reflect.TypeFor[twice](), reflect.TypeFor[hidden](), reflect.TypeFor[[4]int8](), reflect.TypeFor[namedAny](),
	reflect.TypeFor[stringer](), reflect.TypeFor[textValue](), reflect.TypeFor[map[textKey]*jsonValue](),
}

// sameAsStandard compares what a document becomes with what encoding/json makes of it.
//
// A document in which the name of a member has other letters than that of a field is left out, because they are another name
// here. encoding/json gets a document without duplicates, because it merges them.
func sameAsStandard(t *testing.T, typ reflect.Type, raw []byte) (decoded bool) {
	t.Helper()
	original := bytes.Clone(raw)
	got, err := codec.UnmarshalType(typ, raw)
	if !bytes.Equal(raw, original) {
		t.Fatalf("%v from %q: the document was changed to %q", typ, original, raw)
	}
	if e := new(codec.Error); err != nil && (!errors.As(err, &e) || e.Offset < 0 || e.Offset > len(raw) || e.Type == nil) {
		t.Fatalf("%v from %q: got %#v", typ, raw, err)
	}
	var value any
	if !json.Valid(raw) || string(bytes.TrimSpace(raw)) == "null" {
		if err == nil {
			t.Fatalf("%v from %q: got %+v", typ, raw, got)
		}
		return false
	}
	if err := decodeNumbers(raw, &value); err != nil {
		t.Fatal(err)
	}
	if caseVariant(value, allNames(typ, map[reflect.Type]bool{})) {
		return false
	}
	once, repeats := withoutDuplicates(raw)
	want := reflect.New(typ)
	wantErr := json.Unmarshal(once, want.Interface())
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%v from %s: got %v; encoding/json has %v", typ, raw, err, wantErr)
	}
	if err != nil {
		return false
	}
	a, b := spelt(got), spelt(want.Interface())
	if repeats { // text that is kept as it is has its order
		a, b = fmt.Sprint(anyOf([]byte(a))), fmt.Sprint(anyOf([]byte(b)))
	}
	if a != b || !repeats && !reflect.DeepEqual(got, want.Interface()) {
		t.Fatalf("%v from %s: got\n%s\n%+v\nencoding/json has\n%s\n%+v", typ, raw, a, got, b, want.Interface())
	}
	return true
}

// withoutDuplicates returns a document with the last of the members that have the same name, and whether there were others.
func withoutDuplicates(raw []byte) (once []byte, repeats bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var write func()
	write = func() {
		token, err := d.Token()
		if err != nil {
			panic(err)
		}
		switch token {
		case json.Delim('['):
			once = append(once, '[')
			for d.More() {
				write()
				once = append(once, ',')
			}
			_, _ = d.Token()
			once = append(bytes.TrimSuffix(once, []byte(",")), ']')
		case json.Delim('{'):
			var names []string
			values := map[string][]byte{}
			before := once
			for d.More() {
				token, _ := d.Token()
				name := token.(string)
				if _, ok := values[name]; ok {
					repeats = true
					names = slices.DeleteFunc(names, func(other string) bool { return other == name })
				}
				once = nil
				write()
				names = append(names, name)
				values[name] = once
			}
			_, _ = d.Token()
			once = append(before, '{')
			for i, name := range names {
				if i > 0 {
					once = append(once, ',')
				}
				quoted, _ := json.Marshal(name)
				once = append(append(append(once, quoted...), ':'), values[name]...)
			}
			once = append(once, '}')
		default:
			scalar, _ := json.Marshal(token)
			once = append(once, scalar...)
		}
	}
	write()
	if !repeats {
		return raw, false
	}
	return once, true
}

// allNames lists the names of all members in a type.
func allNames(t reflect.Type, seen map[reflect.Type]bool) (names []string) {
	if seen[t] {
		return nil
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return allNames(t.Elem(), seen)
	case reflect.Struct:
		names = memberNames(t, map[reflect.Type]bool{})
		for i := range t.NumField() {
			names = append(names, allNames(t.Field(i).Type, seen)...)
		}
	}
	return names
}

// spelt shows a value, with the sign of zero.
func spelt(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return "true" // as for a function
	}
	return string(raw)
}

func TestEachValueIsLikeEncodingJSON(t *testing.T) {
	for _, typ := range zoo {
		t.Run(typ.String(), func(t *testing.T) {
			names := append(memberNames(typ, map[reflect.Type]bool{}), "a", "kind")
			if len(names) > 25 {
				names = names[:25] // of those with more, the parts are here too
			}
			for _, value := range values {
				sameAsStandard(t, typ, []byte(value))
				for _, name := range names {
					sameAsStandard(t, typ, fmt.Appendf(nil, `{%q:%s}`, name, value))
					const spaced = ` { "x" : %s , %q : [ %s, {"a":%s} ] , %q : 1 } `
					sameAsStandard(t, typ, fmt.Appendf(nil, spaced, value, name, value, value, name))
				}
			}
		})
	}
}

func TestRandomDocumentsAreLikeEncodingJSON(t *testing.T) {
	for _, typ := range zoo {
		t.Run(typ.String(), func(t *testing.T) {
			decoded := 0
			for seed := range uint64(200) {
				if sameAsStandard(t, typ, randomDocument(rand.New(rand.NewPCG(seed, 0)), typ)) {
					decoded++
				}
			}
			if decoded == 0 && typ != reflect.TypeFor[stringer]() && typ != reflect.TypeFor[everything]() {
				t.Error("no document was decoded")
			}
		})
	}
}

func TestRandomTypesAreLikeEncodingJSON(t *testing.T) {
	decoded := 0
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 1))
		typ := randomType(r, 0)
		for range 5 {
			if sameAsStandard(t, typ, randomDocument(r, typ)) {
				decoded++
			}
		}
	}
	if decoded < 2500 {
		t.Errorf("only %d documents were decoded", decoded)
	}
}

// FuzzLikeEncodingJSON gives a document to all types, and random documents to one of the zoo and one made at random
// (guarantee S25).
func FuzzLikeEncodingJSON(f *testing.F) {
	f.Add(uint64(0), []byte(`{"kind":"a","kind":"b","spec":{"x":[1,{"y":"\ud83d\ude80"}]},"any":[-0.0,1e5]}`))
	for _, value := range values {
		f.Add(uint64(len(value)), []byte(value))
	}
	f.Fuzz(func(t *testing.T, seed uint64, raw []byte) {
		for _, typ := range zoo {
			sameAsStandard(t, typ, raw)
		}
		r := rand.New(rand.NewPCG(seed, 0))
		typ := zoo[seed%uint64(len(zoo))]
		sameAsStandard(t, typ, randomDocument(r, typ))
		typ = randomType(r, 0)
		sameAsStandard(t, typ, raw)
		sameAsStandard(t, typ, randomDocument(r, typ))
	})
}

// randomType makes a type of types that are made at random, and of the zoo.
func randomType(r *rand.Rand, depth int) reflect.Type {
	if depth > 3 || r.IntN(3) > 0 && depth > 0 {
		return scalarTypes[r.IntN(len(scalarTypes))]
	}
	switch r.IntN(8) {
	case 0:
		return reflect.PointerTo(randomType(r, depth+1))
	case 1:
		return reflect.SliceOf(randomType(r, depth+1))
	case 2:
		return reflect.ArrayOf(r.IntN(4), randomType(r, depth+1))
	case 3:
		return reflect.MapOf(keyTypes[r.IntN(len(keyTypes))], randomType(r, depth+1))
	case 4:
		return zoo[r.IntN(len(zoo))]
	}
	fields := make([]reflect.StructField, r.IntN(8))
	if r.IntN(20) == 0 {
		fields = make([]reflect.StructField, 100+r.IntN(200))
	}
	for i := range fields {
		name := fmt.Sprintf("F%d", i)
		fields[i] = reflect.StructField{Name: name, Type: randomType(r, depth+1)}
		if tag := tags[r.IntN(len(tags))]; tag != "" {
			fields[i].Tag = reflect.StructTag(`json:"` + strings.ReplaceAll(tag, "$", strconv.Itoa(i)) + `"`)
		}
	}
	return reflect.StructOf(fields)
}

var (
	scalarTypes = []reflect.Type{
		reflect.TypeFor[bool](), reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[int8](),
		reflect.TypeFor[int16](), reflect.TypeFor[int32](), reflect.TypeFor[int64](), reflect.TypeFor[uint](),
		reflect.TypeFor[uint8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint32](), reflect.TypeFor[uint64](),
		reflect.TypeFor[uintptr](), reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[any](),
		reflect.TypeFor[json.Number](), reflect.TypeFor[json.RawMessage](), reflect.TypeFor[[]byte](),
		reflect.TypeFor[[3]byte](), reflect.TypeFor[namedBytes](), reflect.TypeFor[[]namedByte](), reflect.TypeFor[time.Time](),
		reflect.TypeFor[time.Duration](), reflect.TypeFor[meta.Time](), reflect.TypeFor[jsonValue](),
		reflect.TypeFor[textValue](), reflect.TypeFor[methodValue](), reflect.TypeFor[named](), reflect.TypeFor[stringer](),
		reflect.TypeFor[struct{}](), reflect.TypeFor[[]string](), reflect.TypeFor[map[string]string](),
		reflect.TypeFor[map[string]any](), reflect.TypeFor[*int](), reflect.TypeFor[**string](),
	}
	keyTypes = []reflect.Type{
		stringKey, stringKey, reflect.TypeFor[named](), reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[uint16](),
		reflect.TypeFor[textKey](), reflect.TypeFor[jsonKey](), reflect.TypeFor[json.Number](), reflect.TypeFor[textValue](),
	}
	stringKey = reflect.TypeFor[string]()
	tags      = []string{
		"", "", "", "a$", "b$,omitempty", ",omitempty", "same", "-", "-,", "c$,omitzero", "d$,inline", "x.y/$", "größe$", ",", "e$,unknown",
	}
)

// randomDocument makes a document for a type: sometimes right, mostly with something wrong or unusual.
func randomDocument(r *rand.Rand, t reflect.Type) []byte {
	g := &generator{r: r, wrong: []int{0, 0, 1, 5, 30}[r.IntN(5)], spaced: r.IntN(4) == 0}
	g.value(t, 0)
	raw := g.out
	for range []int{0, 0, 0, 1, 3}[r.IntN(5)] {
		raw = mutate(r, raw)
	}
	return raw
}

// mutate changes a few bytes.
func mutate(r *rand.Rand, raw []byte) []byte {
	if len(raw) == 0 {
		return raw
	}
	i := r.IntN(len(raw))
	switch r.IntN(5) {
	case 0: // cut
		return raw[:i]
	case 1: // remove
		return append(bytes.Clone(raw[:i]), raw[min(i+1+r.IntN(3), len(raw)):]...)
	case 2: // repeat
		end := min(i+1+r.IntN(20), len(raw))
		return append(bytes.Clone(raw[:end]), raw[i:]...)
	case 3: // replace
		const bytes = "\"\\{}[]:,0-.eEtfn u\x00\x1f\x80\xc3\xed\xff"
		raw[i] = bytes[r.IntN(len(bytes))]
		return raw
	default: // insert
		parts := []string{
			`\u0041`, `\ud83d`, `\ude80`, `\q`, `é`, "\xed\xa0\x80", `null`, `,`, `0`, `.5`, `e9`, ` `, `{"a":1,"a":2}`,
		}
		return append(append(bytes.Clone(raw[:i]), parts[r.IntN(len(parts))]...), raw[i:]...)
	}
}

// generator writes a document for a type.
type generator struct {
	r      *rand.Rand
	wrong  int // of 100 values
	spaced bool
	out    []byte
}

func (g *generator) text(s string) {
	if g.spaced && g.r.IntN(3) == 0 {
		g.out = append(g.out, []string{" ", "\n", "\t\r", "  "}[g.r.IntN(4)]...)
	}
	g.out = append(g.out, s...)
}

func (g *generator) pick(s ...string) string { return s[g.r.IntN(len(s))] }

// rarely writes the second text.
func (g *generator) rarely(usual, edge string) {
	if g.r.IntN(10) == 0 {
		usual = edge
	}
	g.text(usual)
}

func (g *generator) value(t reflect.Type, depth int) {
	switch {
	case g.r.IntN(100) < g.wrong:
		g.text(values[g.r.IntN(len(values))])
		return
	case depth > 4 || g.r.IntN(15) == 0 && depth > 0:
		g.text("null")
		return
	}
	switch t {
	case reflect.TypeFor[time.Time](), reflect.TypeFor[meta.Time](), reflect.TypeFor[meta.MicroTime](),
		reflect.TypeFor[moment]():
		g.text(`"2026-0` + g.pick("1", "2") + `-14T08:21:3` + g.pick(`0Z"`, `1Z"`, `1.5Z"`, `1+02:00"`))
		return
	}
	if t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		g.value(reflect.TypeFor[any](), depth+1)
		return
	}
	switch t.Kind() {
	case reflect.Bool:
		g.text(g.pick("true", "false"))
	case reflect.String:
		g.string()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		g.rarely(strconv.Itoa(g.r.IntN(256)-128), g.pick("0", "-0", "127", "-128", "32767", "-32769", "2147483647", "-2147483649",
			"9223372036854775807", "-9223372036854775808", "9223372036854775808", "-9223372036854775809"))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		g.rarely(strconv.Itoa(g.r.IntN(256)), g.pick("0", "255", "256", "65535", "4294967295", "4294967296",
			"9999999999999999999", "18446744073709551615", "18446744073709551616"))
	case reflect.Float32, reflect.Float64:
		g.rarely(strconv.FormatFloat(g.r.NormFloat64(), 'g', -1, 64), g.pick("0", "-0", "1", "-1", "0.1", "1e3", "1E-7",
			"3.4028235e38", "3.5e38", "1e308", "1e309", "-1e400", "5e-324", "1e-400", "9007199254740993",
			"123456789012345678901234567890"))
	case reflect.Pointer:
		g.value(t.Elem(), depth)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 && g.r.IntN(5) > 0 {
			g.text(`"` + g.pick("", "AQID", "AQI=", `AQI\u0044`, `AQ\nID`, "_-8=", "AQ") + `"`)
			return
		}
		g.list(t.Elem(), depth)
	case reflect.Map:
		g.text("{")
		for i := range g.r.IntN(5) * g.r.IntN(4) {
			if i > 0 {
				g.text(",")
			}
			switch t.Key().Kind() {
			case reflect.String:
				g.name(g.pick("a", "b", "c", "app", "kind") + strconv.Itoa(g.r.IntN(40)))
			case reflect.Bool:
				g.name(g.pick("true", "false"))
			case reflect.Struct:
				g.name(g.pick("x", "y") + strconv.Itoa(g.r.IntN(40)))
			default:
				g.name(g.pick("", "", "", "", "-", "0") + strconv.Itoa(g.r.IntN(9)))
			}
			g.value(t.Elem(), depth+1)
		}
		g.text("}")
	case reflect.Struct:
		g.object(t, depth)
	case reflect.Func, reflect.Chan, reflect.Complex128:
		g.text("null")
	default:
		if t.NumMethod() > 0 {
			g.text("null")
			return
		}
		g.value([]reflect.Type{
			reflect.TypeFor[string](), reflect.TypeFor[float64](), reflect.TypeFor[bool](), reflect.TypeFor[[]any](),
			reflect.TypeFor[map[string]any](), reflect.TypeFor[map[string]any](),
		}[g.r.IntN(6)], depth+1)
	}
}

func (g *generator) list(t reflect.Type, depth int) {
	g.text("[")
	for i := range g.r.IntN(4) * g.r.IntN(4) {
		if i > 0 {
			g.text(",")
		}
		g.value(t, depth+1)
	}
	g.text("]")
}

func (g *generator) object(t reflect.Type, depth int) {
	names, types, quotes := members(t)
	order := g.r.Perm(len(names))
	if g.r.IntN(2) == 0 {
		for i := range order {
			order[i] = i
		}
	}
	g.text("{")
	first := true
	next := func(name string) {
		if !first {
			g.text(",")
		}
		first = false
		g.name(name)
	}
	for _, i := range order {
		if g.r.IntN(3) == 0 {
			continue
		}
		next(names[i])
		if quotes[i] && g.r.IntN(20) > 0 {
			inner := &generator{r: g.r, wrong: g.wrong}
			inner.value(types[i], depth+1)
			text, _ := json.Marshal(string(inner.out))
			g.text(string(text))
		} else {
			g.value(types[i], depth+1)
		}
		if g.r.IntN(200) < g.wrong {
			next(names[order[g.r.IntN(len(order))]]) // perhaps again
			g.value(types[i], depth+1)
		}
		if g.r.IntN(10) == 0 {
			next(g.pick("unknown", "another", "Name", "KIND", "größe"))
			g.value(reflect.TypeFor[any](), depth+1)
		}
	}
	g.text("}")
}

// members lists what a struct might have: its own fields, and those of what it embeds.
func members(t reflect.Type) (names []string, types []reflect.Type, quotes []bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct {
			n, t, q := members(f.Type)
			names, types, quotes = append(names, n...), append(types, t...), append(quotes, q...)
			continue
		}
		if name == "" {
			name = f.Name
		}
		names, types = append(names, name), append(types, f.Type)
		quotes = append(quotes, options == "string")
	}
	return names, types, quotes
}

func (g *generator) name(s string) {
	if i := g.r.IntN(len(s)); g.r.IntN(300) < g.wrong && s[i] < unicode.MaxASCII {
		s = fmt.Sprintf(`%s\u%04x%s`, s[:i], s[i], s[i+1:])
	}
	g.text(`"` + s + `"`)
	g.text(":")
}

func (g *generator) string() {
	g.text(`"` + g.pick("", "x", "TCP", "true", "1", "Running", "unique-"+strconv.FormatUint(g.r.Uint64(), 36),
		strings.Repeat("long", g.r.IntN(400)), `a\n\"b\"\\\/\b\f\r\t`, `\u0041\u00e9\u20ac\ud83d\ude80`, "é€🚀",
		"\u007f\ufffd") + `"`)
}
