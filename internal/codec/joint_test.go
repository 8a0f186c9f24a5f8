package codec_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/protobuf"
)

// toyTable is a small kind with a field of every sort.
var toyTable = protobuf.Table{Name: "toys/v1", Group: "toys", Version: "v1", Text: `
Toy!
1 metadata meta/v1.ObjectMeta
2 spec Spec
3 text string?
4 count int
5 small int32?
6 good bool?
7 data bytes
8 ratio double
9 at time?
10 names []string
11 parts []Spec
12 labels {}string
13 sizes {}quantity
14 - Inner
15 lists {}List
16 port intorstring
17 more raw
18 blobs {}bytes
20 next Toy
Spec
1 name string?
2 inner Spec
Inner
1 within string?
List
1 = []string
`}

type toySpec struct {
	Name  *string  `json:"name"`
	Inner *toySpec `json:"inner"`
}

type toy struct {
	meta.TypeMeta
	Metadata meta.ObjectMeta     `json:"metadata"`
	Spec     toySpec             `json:"spec"`
	Text     *string             `json:"text"`
	Count    *int16              `json:"count"`
	Small    *int32              `json:"small"`
	Good     *bool               `json:"good"`
	Data     []byte              `json:"data"`
	Ratio    float64             `json:"ratio"`
	At       *meta.Time          `json:"at"`
	Names    []string            `json:"names"`
	Parts    []toySpec           `json:"parts"`
	Labels   map[string]string   `json:"labels"`
	Sizes    map[string]string   `json:"sizes"`
	Within   *string             `json:"within"`
	Lists    map[string][]string `json:"lists"`
	Port     any                 `json:"port"`
	More     json.RawMessage     `json:"more"`
	Blobs    map[string][]byte   `json:"blobs"`
	Next     *toy                `json:"next"`
}

// picked has fields for some keys of maps.
type picked struct {
	Metadata struct {
		Labels struct {
			App *string `json:"app"`
		} `json:"labels"`
	} `json:"metadata"`
	Labels struct {
		K  string  `json:"k"`
		K2 *string `json:"k2"`
		K3 *string `json:"k3"`
	} `json:"labels"`
	Sizes struct {
		CPU string `json:"cpu"`
	} `json:"sizes"`
}

// texts has types that decode arrays and maps by themselves.
type texts struct {
	Names  verbatim `json:"names"`
	Labels verbatim `json:"labels"`
	Sizes  verbatim `json:"sizes"`
}

type verbatim string

func (v *verbatim) UnmarshalJSON(b []byte) error {
	*v = verbatim(b)
	return nil
}

func toyMessage(t testing.TB) *protobuf.Message {
	t.Helper()
	s, err := protobuf.NewSchema(&toyTable)
	if err != nil {
		t.Fatal(err)
	}
	return s.Kind("toys", "v1", "Toy")
}

func joinToy[T any](t testing.TB) *codec.Joint {
	t.Helper()
	j, err := codec.Join(reflect.TypeFor[T](), toyMessage(t))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

type message []byte

func (m message) text(number int, s string) message   { return protobuf.AppendString(m, number, s) }
func (m message) bytes(number int, b message) message { return protobuf.AppendBytes(m, number, b) }
func (m message) int(number int, v uint64) message    { return protobuf.AppendVarint(m, number, v) }

func wholeToy() message {
	spec := message(nil).text(1, "s").bytes(2, message(nil).text(1, ""))
	return message(nil).bytes(1, message(nil).text(1, "a").text(3, "ns").text(5, "u").text(6, "7").
		bytes(8, message(nil).int(1, 1700000000).int(2, 0)).bytes(11, message(nil).text(1, "app").text(2, "web"))).
		bytes(2, spec).text(3, "").int(4, 0).int(5, 0).int(6, 1).bytes(7, message{0, 1, 2}).
		bytes(9, nil).text(10, "x").bytes(11, spec).text(10, "y").bytes(11, nil).
		bytes(12, message(nil).text(1, "k").text(2, "v")).bytes(12, message(nil).text(1, "k2")).
		bytes(13, message(nil).text(1, "cpu").bytes(2, message(nil).text(1, "100m"))).
		bytes(14, message(nil).text(1, "in")).
		bytes(15, message(nil).text(1, "l").bytes(2, message(nil).text(1, "1").text(1, "2"))).
		bytes(16, message(nil).int(1, 1).int(2, 0).text(3, "http")).
		bytes(17, message(nil).text(1, `{"a":[1]}`)).
		bytes(18, message(nil).text(1, "b").bytes(2, message{9})).
		bytes(20, message(nil).text(3, "deep").int(99, 1))
}

func decodeToy[T any](t testing.TB, b message) (v T, err error) {
	t.Helper()
	err = joinToy[T](t).Decode(&v, jsonstream.Item{Raw: b, Protobuf: true}, codec.Options{APIVersion: "toys/v1", Kind: "Toy"})
	return v, err
}

func TestJointDecodesLikeJSON(t *testing.T) {
	const text = `{"kind":"Toy","apiVersion":"toys/v1","metadata":{"name":"a","namespace":"ns","uid":"u","resourceVersion":"7",
		"creationTimestamp":"2023-11-14T22:13:20Z","labels":{"app":"web"}},
		"spec":{"name":"s","inner":{}},"count":0,"good":true,"data":"AAEC","names":["x","y"],
		"parts":[{"name":"s","inner":{}},{}],"labels":{"k":"v","k2":""},"sizes":{"cpu":"100m"},"within":"in",
		"lists":{"l":["1","2"]},"port":"http","more":{"a":[1]},"blobs":{"b":"CQ=="},"next":{"metadata":{},"spec":{},"text":"deep"}}`
	want, err := codec.Unmarshal[*toy]([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeToy[*toy](t, wholeToy())
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
	wantPicked, err := codec.Unmarshal[*picked]([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	gotPicked, err := decodeToy[*picked](t, wholeToy())
	if err != nil || !reflect.DeepEqual(gotPicked, wantPicked) || *gotPicked.Labels.K2 != "" || gotPicked.Sizes.CPU != "100m" {
		t.Errorf("got  %+v, %v\nwant %+v", gotPicked, err, wantPicked)
	}
	if at := got.Metadata.CreationTimestamp; !at.Equal(time.Unix(1700000000, 0)) {
		t.Errorf("created %v", at)
	}
	type embedding struct {
		Labels struct {
			*Keyed
			K2 *string `json:"k2"`
		} `json:"labels"`
	}
	embedded, err := decodeToy[*embedding](t, wholeToy())
	if err != nil || embedded.Labels.Keyed == nil || embedded.Labels.K != "v" || *embedded.Labels.K2 != "" {
		t.Errorf("keys of an embedded struct: got %+v, %v", embedded, err)
	}
}

// Keyed is embedded by a pointer, and has the field for a key of a map.
type Keyed struct {
	K string `json:"k"`
}

type hiddenKeyed Keyed

// Neither form can fill a struct that is not exported and embedded by a pointer.
func TestJointRefusesAHiddenStructLikeJSON(t *testing.T) {
	type hiding struct {
		Labels struct{ *hiddenKeyed } `json:"labels"`
	}
	_, fromJSON := codec.Unmarshal[*hiding]([]byte(`{"labels":{"k":"v"}}`))
	got, err := decodeToy[*hiding](t, message(nil).bytes(12, message(nil).text(1, "k").text(2, "v")))
	const want = "a struct that is not exported, which cannot be set at labels.k"
	for form, err := range map[string]error{"JSON": fromJSON, "protobuf": err} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, %v", form, got, err)
		}
	}
}

// samePairs are two values of a field of the toy, the second of which counts, and may be the zero that JSON leaves out.
func samePairs() map[string]message {
	at := message(nil).int(1, 1700000000).int(2, 0)
	spec := func(b message) message { return message(nil).bytes(2, b) }
	return map[string]message{
		"a text":                  message(nil).text(3, "a").text(3, ""),
		"an integer":              message(nil).int(4, 1).int(4, 0),
		"a short integer":         message(nil).int(5, 7).int(5, 0),
		"a boolean":               message(nil).int(6, 1).int(6, 0),
		"bytes":                   message(nil).bytes(7, message{1}).bytes(7, nil),
		"a ratio":                 append(message{8<<3 | 1, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, 8<<3|1, 0, 0, 0, 0, 0, 0, 0, 0),
		"a time":                  message(nil).bytes(9, at).bytes(9, nil),
		"a time of the zero":      message(nil).bytes(9, at).bytes(9, message(nil).int(1, 1<<64-62135596800)),
		"a time and a part of it": message(nil).bytes(9, at).bytes(9, message(nil).int(1, 5)),
		"in a message":            spec(message(nil).text(1, "a").text(1, "")),
		"in a message that comes twice": append(spec(message(nil).text(1, "a").bytes(2, message(nil).text(1, "b"))),
			spec(message(nil).text(1, "").bytes(2, message(nil).text(1, "")))...),
		"in an inline message":              message(nil).bytes(14, message(nil).text(1, "a").text(1, "")),
		"in an inline message, twice":       message(nil).bytes(14, message(nil).text(1, "a")).bytes(14, message(nil).text(1, "")),
		"raw JSON":                          message(nil).bytes(17, message(nil).text(1, `{"a":1}`)).bytes(17, message(nil).text(1, `{"b":2}`)),
		"raw JSON and nothing":              message(nil).bytes(17, message(nil).text(1, `{"a":1}`)).bytes(17, message(nil).text(1, "")),
		"a number or a text":                message(nil).bytes(16, message(nil).int(1, 1).int(2, 0).text(3, "a")).bytes(16, message(nil).int(1, 0).int(2, 5).text(3, "")),
		"an entry of a map":                 message(nil).bytes(12, message(nil).text(1, "k").text(2, "v")).bytes(12, message(nil).text(1, "k").text(2, "")),
		"a text, zero first":                message(nil).text(3, "").text(3, "a"),
		"the creation of metadata":          message(nil).bytes(1, message(nil).bytes(8, at).bytes(8, nil)),
		"the creation of metadata, apart":   message(nil).bytes(1, message(nil).bytes(8, at)).bytes(1, message(nil).bytes(8, nil)),
		"the name of metadata":              message(nil).bytes(1, message(nil).text(1, "a").text(1, "")),
		"an element of a list is not twice": message(nil).text(10, "a").text(10, ""),
	}
}

// A server that reads such a message has the last value, also if it is zero, and JSON says so.
func TestJointTakesTheLastValueOfAFieldThatComesTwice(t *testing.T) {
	type flat struct {
		Text  string         `json:"text"`
		Count int64          `json:"count"`
		Small int32          `json:"small"`
		Good  bool           `json:"good"`
		At    meta.Time      `json:"at"`
		More  map[string]any `json:"more"`
		Spec  struct {
			Name string `json:"name"`
		} `json:"spec"`
	}
	m := toyMessage(t)
	for name, b := range samePairs() {
		text, err := m.AppendJSON(nil, b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sameFromBoth[*toy](t, name, b, text)
		sameFromBoth[*flat](t, name, b, text)
	}
	embedded, err := decodeToy[*struct{ *Inside }](t, message(nil).text(3, "a").bytes(14, message(nil).text(1, "a")).text(3, "").bytes(14, message(nil).text(1, "")))
	if err != nil || *embedded.Inside != (Inside{}) {
		t.Errorf("in an embedded struct: %+v, %v", embedded.Inside, err)
	}
}

// Inside is embedded by a pointer.
type Inside struct {
	Text string  `json:"text"`
	In   *string `json:"within"`
}

// sameFromBoth compares what a message and its JSON are decoded into. kind and apiVersion are not in the latter.
func sameFromBoth[T any](t *testing.T, name string, b message, text []byte) {
	t.Helper()
	want, err := codec.Unmarshal[T](text)
	if err != nil {
		t.Fatalf("%s: %v in %s", name, err, text)
	}
	var got T
	if err := joinToy[T](t).Decode(&got, jsonstream.Item{Raw: b, Protobuf: true}, codec.Options{}); err != nil || !reflect.DeepEqual(got, want) {
		as := func(v any) []byte { text, _ := json.Marshal(v); return text }
		t.Errorf("%s into %T: got %s, %v; want %s", name, got, as(got), err, as(want))
	}
}

// A text that is not UTF-8 has a replacement character for each wrong byte, as in the JSON of a server.
func TestJointReplacesEachByteThatIsNotUTF8(t *testing.T) {
	const wrong, want = "a\xff\xfe\xe4\xb8z\xed\xa0\x80", "a\uFFFD\uFFFD\uFFFD\uFFFDz\uFFFD\uFFFD\uFFFD"
	b := message(nil).bytes(1, message(nil).text(1, wrong).bytes(11, message(nil).text(1, wrong).text(2, wrong))).
		text(3, wrong).text(10, wrong).bytes(2, message(nil).text(1, wrong)).
		bytes(12, message(nil).text(1, wrong).text(2, wrong)).bytes(13, message(nil).text(1, wrong).bytes(2, message(nil).text(1, "1"))).
		bytes(16, message(nil).int(1, 1).int(2, 0).text(3, wrong))
	text, err := toyMessage(t).AppendJSON(nil, b)
	if err != nil {
		t.Fatal(err)
	}
	sameFromBoth[*toy](t, "a text", b, text)
	got, err := decodeToy[*toy](t, b)
	if err != nil || *got.Text != want || got.Names[0] != want || got.Labels[want] != want || got.Metadata.Name != want || got.Port != want {
		t.Errorf("got %+q, %v", *got.Text, err)
	}
}

func TestJointLetsTypesDecodeByThemselves(t *testing.T) {
	b := message(nil).text(10, "x").text(10, `"y`).bytes(12, message(nil).text(1, "k").text(2, "v")).bytes(12, message(nil).text(1, "k2")).
		bytes(13, message(nil).text(1, "cpu").bytes(2, message(nil).text(1, "100m")))
	got, err := decodeToy[*texts](t, b)
	if want := (texts{`["x","\"y"]`, `{"k":"v","k2":""}`, `{"cpu":"100m"}`}); err != nil || *got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	apart := message(nil).text(10, "x").text(3, "").text(10, "y")
	if _, err := decodeToy[*texts](t, apart); err == nil || !strings.Contains(err.Error(), "are not contiguous") {
		t.Errorf("of elements that do not come in a row: %v", err)
	}
}

// A type with members that the table lacks is decoded from JSON, and the reason is told: otherwise these members would stay empty.
func TestNotEveryTypeIsJoined(t *testing.T) {
	m := toyMessage(t)
	type newer struct {
		Metadata struct{ Name string } `json:"metadata"`
		Spec     struct {
			Brand string `json:"brand"`
		} `json:"spec"`
	}
	type loose struct {
		Spec map[string]any `json:"spec"`
	}
	type list struct {
		Names map[string]string `json:"names"`
	}
	type keys struct {
		Labels map[int]string `json:"labels"`
	}
	for want, typ := range map[string]reflect.Type{
		"metadata.Name: the protobuf table of ObjectMeta has no such member":                     reflect.TypeFor[*newer](),
		"spec: map[string]interface {} cannot be filled with a message of protobuf":              reflect.TypeFor[*loose](),
		"names: map[string]string cannot be filled with an array of protobuf":                    reflect.TypeFor[*list](),
		"labels: map[int]string cannot be filled with a map of protobuf":                         reflect.TypeFor[*keys](),
		"toy is not a pointer to a struct without methods for decoding JSON":                     reflect.TypeFor[toy](),
		"*meta.Raw is not a pointer to a struct without methods for decoding JSON":               reflect.TypeFor[*meta.Raw](),
		"map[string]interface {} is not a pointer to a struct without methods for decoding JSON": reflect.TypeFor[map[string]any](),
	} {
		if _, err := codec.Join(typ, m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", typ, err, want)
		}
	}
}

func TestJointRefusesWhatDoesNotFit(t *testing.T) {
	deep := message(nil)
	for range 2000 {
		deep = message(nil).bytes(20, deep)
	}
	for want, b := range map[string]message{
		"a field with another wire type than its own at spec":              message(nil).int(2, 1),
		"a field with another wire type than its own at parts[0].name":     message(nil).bytes(11, message(nil).int(1, 1)),
		"value out of range at count":                                      message(nil).int(4, 1<<20),
		"unexpected EOF at spec":                                           {2<<3 | 2, 9},
		"unexpected EOF at next.spec":                                      message(nil).bytes(20, message{2<<3 | 2, 9}),
		"unexpected EOF at labels":                                         message(nil).bytes(12, message{1<<3 | 2, 9}),
		"unexpected EOF at ratio":                                          {8<<3 | 1, 0, 0},
		"unexpected EOF at more":                                           protobuf.AppendTag(nil, 17, protobuf.Bytes),
		"unexpected EOF at text":                                           {3<<3 | 2},
		"unexpected EOF at count":                                          {4 << 3, 0x80},
		"unexpected EOF at good":                                           {6 << 3, 0x80},
		"unexpected EOF at data":                                           {7<<3 | 2, 9},
		"unexpected EOF at at":                                             {9<<3 | 2, 9},
		"unexpected EOF at names":                                          {10<<3 | 2, 9},
		"unexpected EOF at metadata.name":                                  message(nil).bytes(1, message{1<<3 | 2, 9}),
		"does not fit: unexpected EOF":                                     {14<<3 | 2, 9}, // an inline message
		": unexpected EOF":                                                 append(protobuf.AppendTag(nil, 30, protobuf.Bytes), 9),
		"unexpected EOF at blobs":                                          append(protobuf.AppendTag(nil, 18, protobuf.Bytes), 2, 1<<3|2, 9),
		`a field with another wire type than its own at lists["l"]`:        message(nil).bytes(15, message(nil).text(1, "l").bytes(2, message(nil).int(1, 1))),
		"fit: a field with a number that is not allowed":                   message(nil).int(1<<29, 1),
		`a field with another wire type than its own at sizes["cpu"]`:      message(nil).bytes(13, message(nil).text(1, "cpu").bytes(2, message(nil).int(1, 1))),
		"a number of more than 10 bytes":                                   message(strings.Repeat("\xff", 20)),
		"a group or an unknown wire type":                                  {30<<3&0xff | 3, 1},
		"a field with a number that is not allowed":                        {0, 1},
		"a field that should contain JSON does not at more":                message(nil).bytes(17, message(nil).text(1, "{")),
		"messages that nest deeper than 1000 levels":                       deep,
		`a field with another wire type than its own at sizes`:             message(nil).bytes(13, message(nil).text(1, "cpu").int(2, 1)),
		"a floating-point number that JSON does not have at ratio":         {8<<3 | 1, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f},
		"a time that RFC 3339 does not have at metadata.creationTimestamp": message(nil).bytes(1, message(nil).bytes(8, message(nil).int(1, 1<<60))),
	} {
		got, err := decodeToy[*toy](t, b)
		wrong := (*codec.Error)(nil)
		if got != nil || !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, %v, want %q", got, err, want)
		}
	}
}

// An entry is checked also if a struct has fields for the keys, or a Go type decodes the map by itself.
func TestJointRefusesWrongEntries(t *testing.T) {
	cut := message(nil).bytes(12, message{1<<3 | 2, 9})
	odd := message(nil).bytes(13, message(nil).text(1, "cpu").bytes(2, message(nil).int(1, 1)))
	_, cutPicked := decodeToy[*picked](t, cut)
	_, oddPicked := decodeToy[*picked](t, odd)
	_, cutTexts := decodeToy[*texts](t, cut)
	_, oddTexts := decodeToy[*texts](t, odd)
	for want, err := range map[string]error{
		"unexpected EOF at labels":                                 cutPicked,
		"fit: unexpected EOF at labels":                            cutTexts,
		"a field with another wire type than its own at sizes.cpu": oddPicked,
		"a field with another wire type than its own at sizes":     oddTexts,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := decodeToy[*toy](t, message(nil).int(1<<29-1, 1)); err != nil {
		t.Errorf("the largest number of a field: %v", err)
	}
}

// A field without a place counts as lost, as it does in JSON, unless it is zero or the server keeps it whatever is written.
func TestJointNotesWhatIsLost(t *testing.T) {
	type named struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	j := joinToy[*named](t)
	for name, c := range map[string]struct {
		b    message
		lost bool
	}{
		"nothing":        {message(nil).bytes(1, message(nil).text(1, "a").text(5, "u").text(6, "7")), false},
		"zeros":          {message(nil).bytes(1, message(nil).text(1, "a").bytes(11, nil)).bytes(2, nil).int(4, 0), false},
		"a label":        {message(nil).bytes(1, message(nil).bytes(11, message(nil).text(1, "a"))), true},
		"a number":       {message(nil).int(4, 1), true},
		"unknown number": {message(nil).int(99, 1), true},
	} {
		var lossy atomic.Bool
		var v *named
		if err := j.Decode(&v, jsonstream.Item{Raw: c.b}, codec.Options{Lossy: &lossy}); err != nil || lossy.Load() != c.lost {
			t.Errorf("%s: lossy %v, %v", name, lossy.Load(), err)
		}
	}
}

// Decoding ends, without a panic, whatever a message is; what was decoded once is decoded the same the second time.
func FuzzJoint(f *testing.F) {
	f.Add([]byte(wholeToy()))
	j := joinToy[*toy](f)
	f.Fuzz(func(t *testing.T, b []byte) {
		var first, second *toy
		err := j.Decode(&first, jsonstream.Item{Raw: b}, codec.Options{})
		again := j.Decode(&second, jsonstream.Item{Raw: b}, codec.Options{})
		if (err == nil) != (again == nil) || !reflect.DeepEqual(first, second) {
			t.Errorf("first %v, %v, then %v, %v", first, err, second, again)
		}
		if err == nil {
			if _, err := codec.Marshal(first, "", ""); err != nil {
				t.Errorf("cannot be written: %v", err)
			}
		}
	})
}
