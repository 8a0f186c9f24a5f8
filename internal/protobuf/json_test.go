package protobuf_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/internal/protobuf"
)

// full is a thing with all its fields.
const full = `{"metadata":{"name":"a","creationTimestamp":"2026-01-02T03:04:05Z","labels":{"x":"y"}},"name":"é\"\\","note":"n",` +
	`"count":-9223372036854775808,"small":-5,"on":true,"ratio":1.5e-9,"data":"AAEC","made":"1960-01-02T03:04:05Z",` +
	`"renewed":"2026-01-02T03:04:05.000600Z","pause":"1m30s","memory":"1Gi","port":"http","config":{"a":[1, null]},"names":["","b"],` +
	`"numbers":[1,-1],"labels":{"":"v","k":""},"parts":[{},{"x":"1","y":2,"z":3}],"byName":{"p":{"x":"1"}},"disk":{"x":"d"},` +
	`"secret":"s","either":["a"],"many":{"l":["1","2"],"none":[]},"ratios":[0.5,-1],"flags":[true,false],"next":{"name":"in"},` +
	`"times":{"t":"2026-01-02T03:04:05Z"},"configs":[1,"x",null],"numbersByName":{"one":1}}`

func TestAMessageIsTheSameInBothForms(t *testing.T) {
	m := thing(t)
	for _, c := range []struct{ name, text, want string }{
		{"nothing", `{}`, `{}`},
		{"all fields", full, full},
		{"white space and another order", " {\n\"note\" : \"n\", \"name\" :\"a\" } ", `{"name":"a","note":"n"}`},
		{"null", `{"name":null,"names":null,"labels":null,"parts":null,"config":null,"either":null,"made":null,"port":null}`, `{}`},
		{
			"null in lists and maps", `{"names":[null],"parts":[null],"labels":{"a":null},"byName":{"b":null},"many":{"l":null},"times":{"t":null},"ratios":[null],"numbers":[null],"flags":[null]}`,
			`{"names":[""],"numbers":[0],"labels":{"a":""},"parts":[{}],"byName":{"b":{}},"many":{"l":[]},"ratios":[0],"flags":[false],"times":{"t":null}}`,
		},
		{"zero values that JSON leaves out", `{"note":"","count":0,"on":false,"data":"","parts":[{"x":"","y":0}]}`, `{"parts":[{}]}`},
		{"zero values that JSON has", `{"name":"","small":0,"ratio":0,"secret":""}`, `{"name":"","small":0,"ratio":0,"secret":""}`},
		{"empty lists and maps", `{"names":[],"labels":{},"parts":[],"many":{}}`, `{}`},
		{"the kind", `{"kind":"Thing","apiVersion":"example.com/v1","name":"a","next":{"kind":"Thing"}}`, `{"name":"a","next":{}}`},
		{"true of a union", `{"either":true}`, `{"either":true}`},
		{"false of a union", `{"either":false}`, `{"either":false}`},
		{"a message of a union", `{"either":{"x":"1"}}`, `{"either":{"x":"1"}}`},
		{"an empty message of a union", `{"either":{}}`, `{"either":{}}`},
		{"the empty list of a union", `{"either":[]}`, `{"either":true}`}, // a list without elements is nothing
		{"a quantity that is a number", `{"memory":12}`, `{"memory":"12"}`},
		{"a number of two", `{"port":80}`, `{"port":80}`},
		{"a time of another zone", `{"made":"2026-01-02T03:04:05.999+01:00","renewed":"2026-01-02T03:04:05+01:00"}`, `{"made":"2026-01-02T02:04:05Z","renewed":"2026-01-02T02:04:05.000000Z"}`},
		{"the beginning of Unix time", `{"made":"1970-01-01T00:00:00Z"}`, `{"made":"1970-01-01T00:00:00Z"}`},
		{"the zero time", `{"made":"0001-01-01T00:00:00Z"}`, `{}`},
		{"fractions", `{"ratios":[1e21,1e20,1e-6,1e-7,1.25e-10,1e-100,1e100,-1e-9,123456789.125]}`, `{"ratios":[1e+21,100000000000000000000,0.000001,1e-7,1.25e-10,1e-100,1e+100,-1e-9,123456789.125]}`},
		{"messages at the length of a byte", `{"parts":[{"x":"` + strings.Repeat("x", 125) + `"},{"x":"` + strings.Repeat("x", 126) + `"}]}`, `{"parts":[{"x":"` + strings.Repeat("x", 125) + `"},{"x":"` + strings.Repeat("x", 126) + `"}]}`},
		{"quantities of every digit", `{"memory":0}`, `{"memory":"0"}`},
		{"a quantity of nine", `{"memory":9}`, `{"memory":"9"}`},
		{"unions of scalars", `{"scalars":[1,0,9,-1,"a",{"a":"b"},[true]]}`, `{"scalars":[1,0,9,-1,"a",{"a":"b"},[true]]}`},
		{"escapes", `{"name":"\u00e9\n\ud83d\ude00","labels":{"\u0061":"\/"}}`, `{"name":"é\u000a😀","labels":{"a":"/"}}`},
		{"a long message", `{"parts":[{"x":"` + strings.Repeat("x", 20_000) + `"}]}`, `{"parts":[{"x":"` + strings.Repeat("x", 20_000) + `"}]}`},
	} {
		raw, err := m.AppendProto([]byte("before"), []byte(c.text), nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		raw = bytes.TrimPrefix(raw, []byte("before"))
		if got, err := m.AppendJSON([]byte("{"), raw); err != nil || string(got) != "{"+c.want {
			t.Errorf("%s: got %s, %v\nwant %s", c.name, got, err, c.want)
		}
		again, err := m.AppendProto(nil, []byte(c.want), nil)
		if err != nil {
			t.Errorf("%s, again: %v", c.name, err)
		}
		if got, err := m.AppendJSON(nil, again); err != nil || string(got) != c.want {
			t.Errorf("%s, again: got %s, %v\nwant %s", c.name, got, err, c.want)
		}
	}
}

func TestJSONThatDoesNotFitTheMessageIsRefused(t *testing.T) {
	m := thing(t)
	for text, want := range map[string]string{
		``:                              `the text is not JSON at byte 0`,
		`{"name":"a"`:                   `the text is not JSON at byte 11`,
		`{} x`:                          `the text is not JSON at byte 3`,
		`{"name" "a"}`:                  `the text is not JSON at byte 8`,
		`{1:2}`:                         `the text is not JSON at byte 1`,
		`[]`:                            `want an object, got "[]"`,
		`{"name":"a","name":"b"}`:       `name: the member occurs twice`,
		`{"disk":{},"disk":{}}`:         `disk: the member occurs twice`,
		`{"nome":1}`:                    `nome: there is no such field`,
		`{"Name":"a"}`:                  `Name: there is no such field`,
		`{"parts":[{},{"w":1}]}`:        `parts.1.w: there is no such field`,
		`{"parts":[{"kind":"Thing"}]}`:  `parts.0.kind: there is no such field`,
		`{"byName":{"a":{"y":"x"}}}`:    `byName.a.y: want an integer of 64 bits, got "\"x\""`,
		`{"name":1}`:                    `name: want a string, got "1"`,
		`{"names":"a"}`:                 `names: want an array, got "\"a\""`,
		`{"labels":[]}`:                 `labels: want an object, got "[]"`,
		`{"count":1.5}`:                 `count: want an integer of 64 bits, got "1.5"`,
		`{"count":9223372036854775808}`: `count: want an integer of 64 bits, got "9223372036854775808"`,
		`{"small":2147483648}`:          `small: want an integer of 32 bits, got "2147483648"`,
		`{"on":"true"}`:                 `on: want true or false, got "\"true\""`,
		`{"ratio":"1"}`:                 `ratio: want a number, got "\"1\""`,
		`{"ratio":1e999}`:               `ratio: strconv.ParseFloat: parsing "1e999": value out of range`,
		`{"data":"?"}`:                  `data: illegal base64 data at input byte 0`,
		`{"made":"yesterday"}`:          `made: want a time of RFC 3339, got "yesterday"`,
		`{"pause":"1"}`:                 `pause: time: missing unit in duration "1"`,
		`{"port":4294967296}`:           `port: want an integer of 32 bits, got "4294967296"`,
		`{"port":{}}`:                   `port: want an integer of 32 bits, got "{}"`,
		`{"memory":[]}`:                 `memory: want a quantity, got "[]"`,
		`{"scalars":[null]}`:            ``,
		`{"scalars":[true]}`:            `scalars.0: want a value of the right kind, got "true"`,
		`{"configs":"x"}`:               `configs: want an array, got "\"x\""`,
		`{"data":1}`:                    `data: want a string, got "1"`,
		`{"made":1}`:                    `made: want a string, got "1"`,
		`{"memory":{}}`:                 `memory: want a quantity, got "{}"`,
		`{"port":true}`:                 `port: want an integer of 32 bits, got "true"`,
		`{"pause":1}`:                   `pause: want a string, got "1"`,
		`{"disk":{"x":"a`:               `the text is not JSON at byte 15`,
		`{"a`:                           `the text is not JSON at byte 3`,
		`{`:                             `the text is not JSON at byte 1`,
		`{"a":`:                         `the text is not JSON at byte 5`,
		`{"a":1,`:                       `the text is not JSON at byte 7`,
		strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001): `the text is not JSON at byte 10000`,
		`{"either":1}`: `either: want a value of the right kind, got "1"`,
		strings.Repeat(`{"next":`, 250) + `{}` + strings.Repeat("}", 250): strings.TrimSuffix(strings.Repeat("next.", 250), ".") + `: messages that nest deeper than 250 levels`,
	} {
		if _, err := m.AppendProto(nil, []byte(text), nil); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%.60s: got %v, want %s", text, err, want)
		}
	}
}

// A message that is written as a part of its parent is a level as well.
func TestInlinedMessagesAreLevels(t *testing.T) {
	m := thing(t)
	nested := func(levels int, inner string) []byte {
		return []byte(strings.Repeat(`{"next":`, levels-1) + inner + strings.Repeat("}", levels-1))
	}
	for _, test := range []struct {
		name, inner string
		levels      int // below the message around it
	}{
		{"nothing inlined", `{}`, 0},
		{"a string of an inlined message", `{"secret":"s"}`, 1},
		{"a message of an inlined message", `{"disk":{}}`, 2},
		{"an inlined message of a message of a list", `{"parts":[{"y":1}]}`, 2},
	} {
		raw, err := m.AppendProto(nil, nested(250-test.levels, test.inner), nil)
		if err != nil {
			t.Errorf("%s at the last level: %v", test.name, err)
		}
		if _, err := m.AppendJSON(nil, raw); err != nil {
			t.Errorf("%s at the last level, in the other form: %v", test.name, err)
		}
		if _, err := m.AppendProto(nil, nested(251-test.levels, test.inner), nil); !errors.Is(err, protobuf.ErrDepth) {
			t.Errorf("%s beyond it: %v", test.name, err)
		}
	}
}

// A union takes a value by its first byte. Types whose values begin with any byte are never taken among several.
func TestAUnionTakesWhatOnlyOneOfItsFieldsCanBe(t *testing.T) {
	s := schemaOf(t, &protobuf.Table{Name: "u/v1", Group: "u", Version: "v1", Text: `
U!
1 nested Nested
2 any Any
Nested
1 = Names
2 = {}string
Any
1 = raw
2 = quantity
3 = bool
Names
1 = []string
`})
	m := s.Kind("u", "v1", "U")
	for text, fault := range map[string]string{
		`{"nested":{"a":"b"}}`: "",
		`{"any":true}`:         "",
		`{"any":"1Gi"}`:        `any: want a value of the right kind, got "\"1Gi\""`,
		`{"any":{}}`:           `any: want a value of the right kind, got "{}"`,
		`{"nested":["a"]}`:     `nested: want a value of the right kind, got "[\"a\"]"`,
	} {
		raw, err := m.AppendProto(nil, []byte(text), nil)
		if fault != "" {
			if err == nil || err.Error() != fault {
				t.Errorf("%s: error is %v, want %s", text, err, fault)
			}
			continue
		}
		if got, other := m.AppendJSON(nil, raw); err != nil || other != nil || string(got) != text {
			t.Errorf("%s: got %s, %v, %v", text, got, err, other)
		}
	}
}

func TestTheCallerDecidesAboutUnknownMembers(t *testing.T) {
	m := thing(t)
	text := []byte(`{"nome":{"a":1},"name":"a","parts":[{"x":"1","w":[]}],"next":{"q":1}}`)
	var paths []string
	raw, err := m.AppendProto(nil, text, func(path string) error { paths = append(paths, path); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(paths, " "); got != "parts.w next.q nome" {
		t.Errorf("unknown members are %s", got)
	}
	if got, err := m.AppendJSON(nil, raw); err != nil || string(got) != `{"name":"a","parts":[{"x":"1"}],"next":{}}` {
		t.Errorf("the others are %s, %v", got, err)
	}
	refusal := errors.New("no")
	if _, err := m.AppendProto(nil, text, func(string) error { return refusal }); !errors.Is(err, refusal) {
		t.Errorf("a refusal is %v", err)
	}
	if _, err := m.AppendProto(nil, text, nil); !errors.Is(err, protobuf.ErrUnknown) {
		t.Errorf("without a function the error is %v", err)
	}
}

// field returns a field of wire type Bytes.
func field(number int, content ...[]byte) []byte {
	return protobuf.AppendBytes(nil, number, bytes.Join(content, nil))
}

func number(number int, v uint64) []byte { return protobuf.AppendVarint(nil, number, v) }

func TestOtherWritersOfAMessageAreUnderstood(t *testing.T) {
	m := thing(t)
	for _, c := range []struct {
		name string
		raw  [][]byte
		want string
	}{
		{"fields in any order", [][]byte{field(15, []byte("a")), field(2, []byte("n")), field(15, []byte("b")), field(2, []byte("m"))}, `{"name":"m","names":["a","b"]}`},
		{"messages in parts", [][]byte{field(1, field(1, []byte("a"))), field(1, field(3, []byte("b")), field(1, []byte("c")))}, `{"metadata":{"name":"c","namespace":"b"}}`},
		{"inlined messages in parts", [][]byte{field(20, field(2, []byte("s"))), field(3, []byte("n")), field(20, field(1, field(1, []byte("d"))))}, `{"note":"n","disk":{"x":"d"},"secret":"s"}`},
		{"packed numbers", [][]byte{field(16, []byte{1, 2, 0x80, 1}), number(16, 3), field(24, []byte{0, 1})}, `{"numbers":[1,2,128,3],"flags":[false,true]}`},
		{"packed fractions", [][]byte{field(23, make([]byte, 16))}, `{"ratios":[0,0]}`},
		{"fields of a newer server", [][]byte{field(99, []byte("x")), field(30, []byte("x")), number(98, 1), append(protobuf.AppendTag(nil, 97, protobuf.Fixed64), make([]byte, 8)...), append(protobuf.AppendTag(nil, 96, protobuf.Fixed32), make([]byte, 4)...), field(2, []byte("n"))}, `{"name":"n"}`},
		{"an entry without a name and a value", [][]byte{field(17), field(19), field(22), field(28)}, `{"labels":{"":""},"byName":{"":{}},"many":{"":[]},"numbersByName":{"":0}}`},
		{"an entry in another order", [][]byte{field(17, field(2, []byte("v")), field(3), field(1, []byte("k")))}, `{"labels":{"k":"v"}}`},
		{"messages without their fields", [][]byte{field(9), field(10), field(11), field(12), field(13), field(14), field(21)}, `{"renewed":null,"pause":"0s","memory":"0","port":0,"either":false}`},
		{"two fields of a union", [][]byte{field(21, field(2, field(1, []byte("p"))), number(1, 1))}, `{"either":{"x":"p"}}`},
		{"a short number of more bits", [][]byte{number(5, math.MaxUint32)}, `{"small":-1}`},
		{"text that is not UTF-8", [][]byte{field(2, []byte("a\xff"))}, `{"name":"a` + "\ufffd" + `"}`},
		{"unknown fields in all messages", [][]byte{
			field(9, number(1, 1), field(3, []byte("x"))), field(12, field(1, []byte("1")), number(2, 1)), field(13, number(2, 5), number(4, 1)),
			field(21, number(1, 1), number(9, 1)), field(14, field(1, []byte("1")), field(2, []byte("x"))),
		}, `{"made":"1970-01-01T00:00:01Z","memory":"1","port":5,"config":1,"either":true}`},
		{"a time with nanoseconds that do not count", [][]byte{field(9, number(1, 1), number(2, 999_999_999)), field(10, number(1, 1), number(2, 999_999_999))}, `{"made":"1970-01-01T00:00:01Z","renewed":"1970-01-01T00:00:01.999999Z"}`},
		{"raw JSON with white space", [][]byte{field(27, field(1, []byte(" {} ")))}, `{"configs":[ {} ]}`},
	} {
		got, err := m.AppendJSON(nil, bytes.Join(c.raw, nil))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %s, %v\nwant %s", c.name, got, err, c.want)
		}
		if !json.Valid(got) {
			t.Errorf("%s: %s is not JSON", c.name, got)
		}
	}
}

func TestMessagesThatAreWrongAreRefused(t *testing.T) {
	m := thing(t)
	deep := []byte{}
	for range 250 {
		deep = field(25, deep)
	}
	for _, c := range []struct {
		name string
		raw  []byte
		want string
	}{
		{"a tag that is cut", []byte{0x80}, `unexpected EOF`},
		{"a string that is cut", []byte{0x12, 5, 'a'}, `unexpected EOF`},
		{"an unknown field that is cut", append(protobuf.AppendTag(nil, 99, protobuf.Fixed64), 1), `unexpected EOF`},
		{"a number of the wrong type", field(4), `count: a field with another wire type than its own`},
		{"a string of the wrong type", number(2, 1), `name: a field with another wire type than its own`},
		{"a map of the wrong type", number(17, 1), `labels: a field with another wire type than its own`},
		{"an entry of the wrong type", field(17, number(2, 1)), `labels: a field with another wire type than its own`},
		{"a field in a message", field(18, number(1, 1)), `parts.x: a field with another wire type than its own`},
		{"a field in a map", field(19, field(1, []byte("k")), field(2, number(1, 1))), `byName.k.x: a field with another wire type than its own`},
		{"a group", []byte{0x0b}, `a group or an unknown wire type, which Kubernetes does not use`},
		{"raw that is not JSON", field(14, field(1, []byte("{"))), `config: a field that should contain JSON does not`},
		{"raw that is more than JSON", field(14, field(1, []byte("1 2"))), `config: a field that should contain JSON does not`},
		{"no number", append(protobuf.AppendTag(nil, 7, protobuf.Fixed64), 0, 0, 0, 0, 0, 0, 0xf8, 0x7f), `ratio: a floating-point number that JSON does not have`},
		{"a time after all", field(9, number(1, 1<<62)), `made: a time that RFC 3339 does not have`},
		{"a time of the year 10000", field(9, number(1, 253402300800)), `made: a time that RFC 3339 does not have`},
		{"a time with too many nanoseconds", field(10, number(2, 1e9)), `renewed: a time that RFC 3339 does not have`},
		{"neither a number nor a string", field(13, number(1, 2)), `port: an int-or-string of the unknown type 2`},
		{"packed numbers that are cut", field(16, []byte{1, 0x80}), `numbers: unexpected EOF`},
		{"an inlined message", field(20, field(1, number(1, 1))), `disk.x: a field with another wire type than its own`},
		{"an inlined message that is cut", field(20, []byte{10, 5}), `unexpected EOF`},
		{"a list in a message", field(22, field(1, []byte("k")), field(2, number(1, 1))), `many.k: a field with another wire type than its own`},
		{"an entry that is cut", field(17, []byte{10, 5}), `labels: unexpected EOF`},
		{"an entry with a tag that is cut", field(17, []byte{0x80}), `labels: unexpected EOF`},
		{"an unknown field of an entry that is cut", field(17, []byte{0x1a, 5}), `labels: unexpected EOF`},
		{"a packed number of a wrong type", field(24, []byte{0x80}), `flags: unexpected EOF`},
		{"a packed fraction that is cut", field(23, make([]byte, 9)), `ratios: unexpected EOF`},
		{"a fraction of a wrong type", number(7, 1), `ratio: a field with another wire type than its own`},
		{"a list of the wrong type", number(15, 1), `names: a field with another wire type than its own`},
		{"a union that is cut", field(21, []byte{0x80}), `either: unexpected EOF`},
		{"a union with a wrong field", field(21, number(3, 1)), `either: a field with another wire type than its own`},
		{"a time that is cut", field(9, []byte{8}), `made: unexpected EOF`},
		{"a time with a tag that is cut", field(9, []byte{0x80}), `made: unexpected EOF`},
		{"a time of the wrong type", field(9, field(1, []byte{1})), `made: a field with another wire type than its own`},
		{"a time with an unknown field that is cut", field(9, []byte{0x1a, 5}), `made: unexpected EOF`},
		{"a time before all", field(9, number(1, 1<<63)), `made: a time that RFC 3339 does not have`},
		{"a time of a negative year", field(9, number(1, ^uint64(62167219200))), `made: a time that RFC 3339 does not have`},
		{"a quantity that is cut", field(12, []byte{10, 5}), `memory: unexpected EOF`},
		{"a quantity of the wrong type", field(12, number(1, 1)), `memory: a field with another wire type than its own`},
		{"a quantity with an unknown field that is cut", field(12, []byte{0x12, 5}), `memory: unexpected EOF`},
		{"raw that is cut", field(14, []byte{10, 5}), `config: unexpected EOF`},
		{"a number or string that is cut", field(13, []byte{8}), `port: unexpected EOF`},
		{"a number or string of the wrong type", field(13, number(3, 1)), `port: a field with another wire type than its own`},
		{"infinity", append(protobuf.AppendTag(nil, 7, protobuf.Fixed64), 0, 0, 0, 0, 0, 0, 0xf0, 0x7f), `ratio: a floating-point number that JSON does not have`},
		{"the number 0", []byte{0, 0}, `a field with a number that is not allowed`},
		{"a tag of 11 bytes", bytes.Repeat([]byte{0xff}, 11), `a number of more than 10 bytes`},
		{"too many messages", deep, strings.TrimSuffix(strings.Repeat("next.", 250), ".") + `: messages that nest deeper than 250 levels`},
	} {
		if got, err := m.AppendJSON(nil, c.raw); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %s, %v\nwant %s", c.name, got, err, c.want)
		}
	}
}

func TestAnEnvelopeHasTheKindInJSON(t *testing.T) {
	e := protobuf.Envelope{APIVersion: "example.com/v1", Kind: "Thing", Raw: field(2, []byte("a"))}
	got, err := e.AppendJSON(nil, thing(t))
	if want := `{"kind":"Thing","apiVersion":"example.com/v1","name":"a"}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
	e.Raw = []byte{0x80}
	if _, err := e.AppendJSON(nil, thing(t)); err == nil {
		t.Error("a message that is cut is no error")
	}
	e.Raw = nil
	got, err = e.AppendJSON(nil, thing(t))
	if want := `{"kind":"Thing","apiVersion":"example.com/v1"}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
}

// Every message gives an error or valid JSON, and that JSON gives the same message again.
func FuzzAppendJSON(f *testing.F) {
	m := thing(f)
	raw, err := m.AppendProto(nil, []byte(full), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte{0x82, 1, 4, 1, 2, 0x80, 1})
	f.Add(field(21, field(2, field(1, []byte("p"))), number(1, 1)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		text, err := m.AppendJSON(nil, raw)
		if err != nil {
			return
		}
		if !json.Valid(text) {
			t.Fatalf("%x is %s", raw, text)
		}
		again, err := m.AppendProto(nil, text, nil)
		if err != nil {
			if strings.HasSuffix(err.Error(), "the member occurs twice") {
				return // entries of a map with the same name
			}
			t.Fatalf("%x is %s: %v", raw, text, err)
		}
		second, err := m.AppendJSON(nil, again)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		third, err := m.AppendProto(nil, second, nil)
		if err != nil {
			t.Fatalf("%s: %v", second, err)
		}
		if fourth, err := m.AppendJSON(nil, third); err != nil || string(fourth) != string(second) {
			t.Fatalf("%s is then %s, %v", second, fourth, err)
		}
	})
}

// Every text gives an error or a message that can be read.
func FuzzAppendProto(f *testing.F) {
	m := thing(f)
	f.Add([]byte(full))
	f.Add([]byte(`{"either":{"x":"p"},"x":[1,2,{"a":null}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		unknown := 0
		raw, err := m.AppendProto(nil, text, func(string) error { unknown++; return nil })
		if err != nil {
			return
		}
		if !json.Valid(text) {
			t.Fatalf("%q is not JSON", text)
		}
		if _, err := m.AppendProto(nil, text, nil); (err == nil) != (unknown == 0) {
			t.Fatalf("%s has %d unknown members: %v", text, unknown, err)
		}
		got, err := m.AppendJSON(nil, raw)
		if err != nil || !json.Valid(got) {
			t.Fatalf("%s is then %s, %v", text, got, err)
		}
	})
}

func TestAnObjectBecomesAnEnvelope(t *testing.T) {
	s := schemaOf(t, &sample)
	got, err := s.AppendObject([]byte("x"), []byte(`{"name":"a","apiVersion":"example.com/v1","kind":"Thing"}`), nil)
	want := protobuf.Envelope{APIVersion: "example.com/v1", Kind: "Thing", Raw: field(2, []byte("a"))}.Append([]byte("x"))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %q, %v\nwant %q", got, err, want)
	}
	e, err := protobuf.Open(want[1:])
	if err != nil || s.Of(e) != s.Kind("example.com", "v1", "Thing") {
		t.Errorf("the envelope is %+v, %v", e, err)
	}
	for text, want := range map[string]string{
		`{"kind":"Thing","apiVersion":"v1"}`: `no table has the kind "Thing" of "v1"`,
		`{"kind":1}`:                         `no table has the kind "" of ""`,
		`[]`:                                 `no table has the kind "" of ""`,
		`{`:                                  `the text is not JSON at byte 1`,
		`{"kind":"Status","apiVersion":"v1","code":"x"}`: `code: want an integer of 32 bits, got "\"x\""`,
	} {
		if _, err := s.AppendObject(nil, []byte(text), nil); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestElementsAreAddedToAMessage(t *testing.T) {
	m := thing(t)
	raw := field(2, []byte("a"))
	var err error
	for _, part := range []string{`{"x":"1"}`, `{}`, `null`} {
		if raw, err = m.AppendElement(raw, "parts", []byte(part), nil); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := m.AppendJSON(nil, raw); err != nil || string(got) != `{"name":"a","parts":[{"x":"1"},{},{}]}` {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := m.AppendElement(nil, "parts", []byte("{"), nil); err == nil || err.Error() != "the text is not JSON at byte 1" {
		t.Errorf("an element that is cut: %v", err)
	}
	for name, want := range map[string]string{"name": `Thing has no list "name"`, "parts": `parts.y: want an integer of 64 bits, got "\"\""`} {
		if _, err := m.AppendElement(nil, name, []byte(`{"y":""}`), nil); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
}

// The caller decides about unknown members of an element, which have the path that they have in the list.
func TestUnknownMembersOfAnElementHaveAPath(t *testing.T) {
	m := thing(t)
	const part = `{"x":"1","odd":{"er":1}}`
	if _, err := m.AppendElement(nil, "parts", []byte(part), nil); !errors.Is(err, protobuf.ErrUnknown) || err.Error() != "parts.odd: there is no such field" {
		t.Errorf("unasked: %v", err)
	}
	var asked []string
	raw, err := m.AppendElement(nil, "parts", []byte(part), func(path string) error {
		asked = append(asked, path)
		return nil
	})
	if err != nil || !slices.Equal(asked, []string{"parts.odd"}) {
		t.Errorf("asked for %q, %v", asked, err)
	}
	if got, err := m.AppendJSON(nil, raw); err != nil || string(got) != `{"parts":[{"x":"1"}]}` {
		t.Errorf("got %s, %v", got, err)
	}
}

// An element may be as deep as it may be in the message as a whole.
func TestElementsHaveTheDepthOfTheirMessage(t *testing.T) {
	s := schemaOf(t, &protobuf.Table{Name: "deep/v1", Group: "deep", Version: "v1", Text: "List!\n1 items []Tree\nTree\n1 items []Tree\n"})
	m := s.Kind("deep", "v1", "List")
	for levels := 245; levels < 255; levels++ {
		item := strings.Repeat(`{"items":[`, levels) + strings.Repeat(`]}`, levels)
		whole, wholeErr := m.AppendProto(nil, []byte(`{"items":[`+item+`]}`), nil)
		one, oneErr := m.AppendElement(nil, "items", []byte(item), nil)
		if errors.Is(wholeErr, protobuf.ErrDepth) != errors.Is(oneErr, protobuf.ErrDepth) || wholeErr == nil && !bytes.Equal(whole, one) {
			t.Errorf("%d levels: %v as a whole, %v as an element", levels, wholeErr, oneErr)
		}
		if (levels <= 249) != (oneErr == nil) {
			t.Errorf("%d levels: %v", levels, oneErr)
		}
	}
}

func TestEnvelopesThatAreWrongAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"k8s":                             "it does not begin with the prefix of Kubernetes' protobuf",
		"k8s\x00\x80":                     "unexpected EOF",
		"k8s\x00\x08\x01":                 "a field with another wire type than its own",
		"k8s\x00\x12\x05":                 "unexpected EOF",
		"k8s\x00\x2a\x05":                 "unexpected EOF",
		"k8s\x00\x0a\x01\x80":             "unexpected EOF",
		"k8s\x00\x0a\x02\x0a\x05":         "unexpected EOF",
		"k8s\x00\x0a\x02\x1a\x05":         "unexpected EOF",
		"k8s\x00\x1a\x04gzip":             `its content has the encoding "gzip"; only content without an encoding can be read`,
		"k8s\x00\x22\x10application/json": `its content has the type "application/json", want application/vnd.kubernetes.protobuf`,
		"k8s\x00\x0b":                     "a field with another wire type than its own",
		"k8s\x00\x2b":                     "a group or an unknown wire type, which Kubernetes does not use",
	} {
		if _, err := protobuf.Open([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	text := "k8s\x00" + string(field(1, field(3, []byte("x")), number(1, 2), field(2, []byte("Thing")), field(1, []byte("v1")), field(4, []byte("y")))) +
		string(field(4, []byte(protobuf.MediaType))) + string(field(5, []byte("x"))) + string(field(2, []byte("raw")))
	if e, err := protobuf.Open([]byte(text)); err != nil || e.APIVersion != "v1" || e.Kind != "Thing" || string(e.Raw) != "raw" {
		t.Errorf("got %+v, %v", e, err)
	}
}
