package codec_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
)

// The two ways to decode are compared over the zoo, and over the types below, which have what the fast way leaves alone.

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

	fromDecoder struct{ text string }
	stringer    interface{ String() string }
	odds        struct {
		Number    json.Number                `json:"number"`
		Numbers   map[string]json.Number     `json:"numbers"`
		From      fromDecoder                `json:"from"`
		Froms     []*fromDecoder             `json:"froms"`
		Stringer  stringer                   `json:"stringer"`
		Uintptr   uintptr                    `json:"uintptr"`
		Func      func()                     `json:"func"`
		Chan      chan int                   `json:"chan"`
		Complex   complex128                 `json:"complex"`
		Array     [3]*string                 `json:"array"`
		Value     jsontext.Value             `json:"value"`
		Raw       *json.RawMessage           `json:"raw"`
		Raws      map[string]json.RawMessage `json:"raws"`
		Moment    moment                     `json:"moment"`
		Moments   []*moment                  `json:"moments"`
		NamedAny  namedAny                   `json:"namedAny"`
		NamedMap  namedMap                   `json:"namedMap"`
		NamedKeys map[named]named            `json:"namedKeys"`
		Labels    labels                     `json:"labels"`
		Bools     map[bool]string            `json:"bools"`
		Deep      []map[string][]*[]string   `json:"deep"`
		Empty     struct{}                   `json:"empty"`
		Empties   []struct{}                 `json:"empties"`
		Hidden    hidden                     `json:"hidden"`
		Fallback  fallback                   `json:"fallback"`
		Unknown   unknown                    `json:"unknown"`
		Format    formatted                  `json:"format"`
		Folded    folded                     `json:"folded"`
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
	unknown struct {
		A    string         `json:"a"`
		Rest jsontext.Value `json:",unknown"`
	}
	formatted struct {
		Time  time.Time `json:"time,format:unix"`
		Bytes []byte    `json:"bytes,format:hex"`
	}
	folded struct {
		Name string `json:"name,case:ignore"`
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

func (f *fromDecoder) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	f.text = string(v)
	return err
}

func (m *moment) UnmarshalJSON(b []byte) error { return m.at.UnmarshalJSON(b) }

// UnmarshalJSON has a receiver that is a value.
func (m methodValue) UnmarshalJSON(b []byte) error {
	if m != nil {
		m["called"]++
	}
	return nil
}

// A subject is one of the types, with a way to compare the two ways.
type subject struct {
	name  string
	typ   reflect.Type
	check func(t *testing.T, raw []byte) (fast bool)
}

func subjectOf[T any]() subject {
	return subject{
		name: reflect.TypeFor[T]().String(), typ: reflect.TypeFor[T](),
		check: func(t *testing.T, raw []byte) bool {
			t.Helper()
			fast := checkSame[T](t, raw, "", "")
			checkSame[T](t, raw, "apps/v1", "Kind")
			return fast
		},
	}
}

var subjects = []subject{
	subjectOf[*everything](), subjectOf[*scalars](), subjectOf[*pointers](), subjectOf[*optional](), subjectOf[*quoted](),
	subjectOf[*bytesAll](), subjectOf[*composites](), subjectOf[*times](), subjectOf[*embedded](),
	subjectOf[*recursive](), subjectOf[*promoted](),
	subjectOf[*methods](), subjectOf[*sloppy](), subjectOf[*unicodeNames](), subjectOf[*meta.ObjectMeta](),
	subjectOf[*meta.Status](), subjectOf[*pod](), subjectOf[*podView](), subjectOf[*document](), subjectOf[*foreign](),
	subjectOf[*odd](), subjectOf[*self](), subjectOf[*many](), subjectOf[*odds](), subjectOf[any](), subjectOf[*any](),
	subjectOf[map[string]any](), subjectOf[namedMap](), subjectOf[map[string]string](), subjectOf[labels](),
	subjectOf[map[string]map[string]int](), subjectOf[map[string]*pod](), subjectOf[[]string](), subjectOf[[]*scalars](),
	subjectOf[**scalars](), subjectOf[*map[string]any](), subjectOf[json.RawMessage](), subjectOf[*meta.Unstructured](),
	subjectOf[string](), subjectOf[*float32](), subjectOf[moment](), subjectOf[twice](), subjectOf[hidden](),
}

// checkSame compares the two ways, each of which may change nothing of the document.
func checkSame[T any](t *testing.T, raw []byte, apiVersion, kind string) (fast bool) {
	t.Helper()
	original := bytes.Clone(raw)
	got, fast := codec.DecodeFast[T](raw, apiVersion, kind)
	if !fast {
		return false
	}
	want, err := codec.DecodeByLibrary[T](raw, apiVersion, kind)
	switch {
	case err != nil:
		t.Fatalf("%T from %q: got %+v; the library says %v", got, raw, got, err)
	case !bytes.Equal(raw, original):
		t.Fatalf("%T from %q: the document was changed to %q", got, original, raw)
	case !reflect.DeepEqual(got, want) || spelt(got) != spelt(want):
		t.Fatalf("%T from %q: got\n%s\nthe library has\n%s", got, raw, spelt(got), spelt(want))
	}
	return true
}

// spelt shows a value, with the sign of zero.
func spelt(v any) string {
	raw, err := json.Marshal(v)
	return fmt.Sprintf("%s %v", raw, err != nil)
}

func TestFastIsLikeTheLibraryForEachValue(t *testing.T) {
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			names := append(memberNames(s.typ, map[reflect.Type]bool{}), "a", "kind")
			if len(names) > 60 {
				names = names[:60] // of those with more, the parts are here too
			}
			for _, value := range values {
				s.check(t, []byte(value))
				for _, name := range names {
					s.check(t, fmt.Appendf(nil, `{%q:%s}`, name, value))
					const spaced = ` { "x" : %s , %q : [ %s, {"a":%s} ] , %q : 1 } `
					s.check(t, fmt.Appendf(nil, spaced, value, name, value, value, name))
				}
			}
		})
	}
}

func TestFastIsLikeTheLibraryForRandomDocuments(t *testing.T) {
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			fast := 0
			for seed := range uint64(200) {
				if s.check(t, randomDocument(rand.New(rand.NewPCG(seed, 0)), s.typ)) {
					fast++
				}
			}
			if codec.IsFast(s.typ) && fast == 0 {
				t.Error("no document was decoded fast")
			}
		})
	}
}

// FuzzFast gives a document to all types, and random documents to one (guarantee S25).
func FuzzFast(f *testing.F) {
	f.Add(uint64(0), []byte(`{"kind":"a","kind":"b","spec":{"x":[1,{"y":"\ud83d\ude80"}]},"any":[-0.0,1e5]}`))
	for _, value := range values {
		f.Add(uint64(len(value)), []byte(value))
	}
	f.Fuzz(func(t *testing.T, seed uint64, raw []byte) {
		for _, s := range subjects {
			s.check(t, raw)
		}
		s := subjects[seed%uint64(len(subjects))]
		s.check(t, randomDocument(rand.New(rand.NewPCG(seed, 0)), s.typ))
	})
}

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
			default:
				g.name(strconv.Itoa(g.r.IntN(9)))
			}
			g.value(t.Elem(), depth+1)
		}
		g.text("}")
	case reflect.Struct:
		g.object(t, depth)
	default:
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
	names, types := members(t)
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
		g.value(types[i], depth+1)
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
func members(t reflect.Type) (names []string, types []reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct {
			n, t := members(f.Type)
			names, types = append(names, n...), append(types, t...)
			continue
		}
		if name == "" {
			name = f.Name
		}
		names, types = append(names, name), append(types, f.Type)
	}
	return names, types
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
