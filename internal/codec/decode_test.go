package codec_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/jsonstream"
)

// document is an object of which a test can see every kind of member.
type document struct {
	meta.TypeMeta `json:",inline"`
	meta.Identity `json:"metadata"`
	Spec          struct {
		Replicas int               `json:"replicas"`
		Paused   bool              `json:"paused"`
		Labels   map[string]string `json:"labels"`
		Ports    []port            `json:"ports"`
		Data     map[string][]byte `json:"data"`
		Any      any               `json:"any"`
		At       meta.Time         `json:"at"`
	} `json:"spec"`
}

type port struct {
	Name string `json:"name"`
	Port int32  `json:"port"`
}

func TestUnmarshalIsCaseSensitive(t *testing.T) {
	v, err := codec.Unmarshal[*document]([]byte(`{"Kind":"a","METADATA":{"name":"a"},"metadata":{"Name":"b",` +
		`"uid":"u"},"Spec":{"replicas":1},"spec":{"Replicas":2}}`))
	want := &document{Identity: meta.Identity{UID: "u"}}
	if err != nil || !reflect.DeepEqual(v, want) { // behaviour 30
		t.Errorf("got %+v, %v; want %+v", v, err, want)
	}
}

// A method gets text without the members that a later one of the same name replaces, however the names are written.
func TestAMethodGetsEachNameOnce(t *testing.T) {
	for _, test := range []struct{ sent, got string }{
		{`{"a":1,"b":2,"a":3}`, `{"b":2,"a":3}`},
		{`{"a":1,"\u0061":3}`, `{"\u0061":3}`},
		{`{"\u0061":1,"b":2,"\u0061":3}`, `{"b":2,"\u0061":3}`},
		{`{"\u0061":1,"b":{"c\"":2,"c\u0022":[]}}`, `{"\u0061":1,"b":{"c\u0022":[]}}`},
		{`{"k:{\"uid\":\"1\"}":{},"k:{\"uid\":\"2\"}":{}}`, `{"k:{\"uid\":\"1\"}":{},"k:{\"uid\":\"2\"}":{}}`},
	} {
		v, err := codec.Unmarshal[struct{ F fieldsV1 }]([]byte(`{"F":` + test.sent + `}`))
		if err != nil || string(v.F) != test.got {
			t.Errorf("%s became %s, %v; want %s", test.sent, v.F, err, test.got)
		}
	}
}

// If a name repeats, the last member counts, and nothing of the earlier ones stays, whatever T is (fault F39).
func TestUnmarshalTakesTheLastOfDuplicates(t *testing.T) {
	for _, test := range []struct{ name, raw, same string }{
		{"strings", `{"kind":"A","kind":"B"}`, `{"kind":"B"}`},
		{"a string and null", `{"kind":"A","kind":null}`, `{"kind":null}`},
		{"null and a string", `{"kind":null,"kind":"A"}`, `{"kind":"A"}`},
		{"another type first", `{"spec":5,"spec":{"replicas":2}}`, `{"spec":{"replicas":2}}`},
		{
			"objects", `{"metadata":{"name":"a","uid":"u"},"spec":{"paused":true},"metadata":{"name":"b"}}`,
			`{"spec":{"paused":true},"metadata":{"name":"b"}}`,
		},
		{"an object and null", `{"metadata":{"name":"a"},"metadata":null}`, `{"metadata":null}`},
		{"maps", `{"spec":{"labels":{"a":"1","b":"2"},"labels":{"a":"3"}}}`, `{"spec":{"labels":{"a":"3"}}}`},
		{"keys of a map", `{"spec":{"labels":{"a":"1","b":"2","a":"3"}}}`, `{"spec":{"labels":{"b":"2","a":"3"}}}`},
		{
			"slices", `{"spec":{"ports":[{"name":"a","port":1},{"port":2}],"ports":[{"port":3}]}}`,
			`{"spec":{"ports":[{"port":3}]}}`,
		},
		{"values of an any", `{"spec":{"any":{"a":1},"any":[{"a":1,"b":2,"a":3}]}}`, `{"spec":{"any":[{"b":2,"a":3}]}}`},
		{"three", `{"kind":"A","kind":"B","apiVersion":"x","kind":"C"}`, `{"apiVersion":"x","kind":"C"}`},
		{
			"duplicates inside of duplicates",
			`{"spec":{"replicas":1,"replicas":2},"spec":{"paused":true,"paused":false,"replicas":3}}`,
			`{"spec":{"paused":false,"replicas":3}}`,
		},
		{
			"unknown members", `{"x":{"a":1,"a":2},"x":1,"kind":"A","y":{"z":[{"b":1,"b":{}}]}}`,
			`{"x":1,"kind":"A","y":{"z":[{"b":{}}]}}`,
		},
		{"a name that is empty", `{"kind":"A","":1,"kind":"B","":2}`, `{"kind":"B","":2}`},
		{"names with escapes", `{"\u006bind":"A","kind":"B","k\u0069nd":"C"}`, `{"kind":"C"}`},
		{"with white space", " { \"kind\" : \"A\" , \n \"kind\" : \"B\" } ", `{"kind":"B"}`},
		{
			"no duplicates across arrays and objects", `{"x":[{"a":1},{"a":2}],"y":{"a":1},"z":{"y":{"a":1}}}`,
			`{"x":[{"a":1},{"a":2}],"y":{"a":1},"z":{"y":{"a":1}}}`,
		},
		{"with text that is not Unicode", "{\"kind\":\"A\",\"x\":\"\xff\",\"kind\":\"B\"}", `{"kind":"B","x":"\ufffd"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			sameValue[*document](t, test.raw, test.same)
			sameValue[map[string]any](t, test.raw, test.same)
			sameValue[map[string]json.RawMessage](t, test.raw, test.same)
			sameValue[*sloppy](t, test.raw, test.same)

			// The identity that is read beside T is that of T.
			item, err := jsonstream.ReadObject(strings.NewReader(test.raw), jsonstream.Options{})
			if err != nil {
				t.Fatal(err)
			}
			v, err := codec.Unmarshal[*document](item.Raw)
			if err != nil || v.Identity != item.Identity || v.Kind != item.Kind || v.APIVersion != item.APIVersion {
				t.Errorf("decoded to %+v, %v; the identity is %+v", v, err, item)
			}
		})
	}
}

func sameValue[T any](t *testing.T, raw, same string) {
	t.Helper()
	got, err := codec.Unmarshal[T]([]byte(raw))
	if err != nil {
		t.Errorf("%T from %s: %v", got, raw, err)
		return
	}
	want, err := codec.Unmarshal[T]([]byte(same))
	if err != nil {
		t.Fatal(err)
	}
	if text, ok := any(got).(map[string]json.RawMessage); ok {
		for name, value := range text { // as the values of duplicates are kept as text, compare what they mean
			if same := string(any(want).(map[string]json.RawMessage)[name]); string(value) != same {
				sameValue[any](t, string(value), same)
			}
		}
		if len(text) != len(any(want).(map[string]json.RawMessage)) {
			t.Errorf("%T from %s: got %v", got, raw, got)
		}
	} else if !reflect.DeepEqual(got, want) {
		t.Errorf("%T from %s: got\n%+v, want\n%+v", got, raw, got, want)
	}
}

// Duplicates at every level must not make the work grow with the square of the depth.
func TestDeepDuplicatesTakeTimeInProportion(t *testing.T) {
	const depth = 5000
	raw := strings.Repeat(`{"a":1,"a":`, depth) + `"x"` + strings.Repeat("}", depth)
	v, err := codec.Unmarshal[any]([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	for range depth {
		m, _ := v.(map[string]any)
		if len(m) != 1 {
			t.Fatalf("got %v", m)
		}
		v = m["a"]
	}
	if v != "x" {
		t.Errorf("got %v in the middle", v)
	}
}

func TestUnmarshalRefusesNull(t *testing.T) {
	for _, raw := range []string{"null", " null\n"} {
		v, err := codec.Unmarshal[*document]([]byte(raw))
		if v != nil || err == nil || err.Error() != "decode into *codec_test.document: the document is null" {
			t.Errorf("got %v, %v", v, err)
		}
		if v, err := codec.Unmarshal[map[string]any]([]byte(raw)); v != nil || err == nil {
			t.Errorf("got %v, %v", v, err)
		}
	}
}

// An error says where and into which type, and nothing of the value, which may be a secret (guarantee S2).
func TestErrorsSayWhereAndHideTheValue(t *testing.T) {
	for _, test := range []struct{ name, raw, want string }{
		{
			"a string for a number", `{"spec":{"replicas":"hunter2"}}`,
			`decode into int: a JSON string does not fit at spec.replicas (byte 20)`,
		},
		{
			"a number for a string", `{"metadata":{"name":4711}}`,
			`decode into string: a JSON number does not fit at metadata.name (byte 20)`,
		},
		{
			"a number out of range", `{"spec":{"ports":[{"port":1},{"port":4711471147}]}}`,
			`decode into int32: a JSON number does not fit: value out of range at spec.ports[1].port (byte 37)`,
		},
		{
			"a fraction", `{"spec":{"replicas":47.11}}`,
			`decode into int: a JSON number does not fit: invalid syntax at spec.replicas (byte 20)`,
		},
		{
			"an array for an object", `{"metadata":["hunter2"]}`,
			`decode into meta.Identity: a JSON array does not fit at metadata (byte 12)`,
		},
		{
			"an object for a boolean", `{"spec":{"paused":{"hunter2":1}}}`,
			`decode into bool: a JSON object does not fit at spec.paused (byte 18)`,
		},
		{
			"a boolean for a slice", `{"spec":{"ports":true}}`,
			`decode into []codec_test.port: a JSON boolean does not fit at spec.ports (byte 17)`,
		},
		{
			"bad base64", `{"spec":{"data":{"password":"hunter2!"}}}`,
			`decode into []uint8: a JSON string does not fit at spec.data["password"] (byte 28)`,
		},
		{
			"a broken escape", `{"spec":{"labels":{"a":"hunter2\q"}}}`,
			`decode into *codec_test.document: text that is not JSON at spec.labels["a"] (byte 31)`,
		},
		{
			"a cut document", `{"spec":{"labels":{"a":"hunter2`,
			`decode into *codec_test.document: text that is not JSON at spec.labels["a"] (byte 31)`,
		},
		{"text behind the document", `{} hunter2`, `decode into *codec_test.document: text that is not JSON (byte 3)`},
		{"a string for the document", `"hunter2"`, `decode into codec_test.document: a JSON string does not fit (byte 0)`},
		{"nothing", ``, `decode into *codec_test.document: the document is empty`},
		{"white space", " \n", `decode into *codec_test.document: the document is empty`},
		{"two documents", `{} {}`, `decode into *codec_test.document: text that is not JSON (byte 3)`},
		{
			"text that is not Unicode elsewhere", "{\"kind\":\"\xff\",\"spec\":{\"replicas\":\"hunter2\"}}",
			`decode into int: a JSON string does not fit at spec.replicas (byte 31)`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			v, err := codec.Unmarshal[*document]([]byte(test.raw))
			if v != nil || err == nil || err.Error() != test.want {
				t.Errorf("got %v, %v; want %s", v, err, test.want)
			}
			if e := new(codec.Error); !errors.As(err, &e) || e.Type == nil || !strings.Contains(err.Error(), e.Path) {
				t.Errorf("got %#v", err)
			}
			if strings.Contains(fmt.Sprintf("%v %+v", err, err), "hunter2") || strings.Contains(err.Error(), "4711") {
				t.Errorf("the message quotes the value: %v", err)
			}
		})
	}
}

func TestErrorsOfMalformedTypesSayWhere(t *testing.T) {
	for _, test := range []struct{ raw, want string }{
		{`{"nested":{"c":[4711]}}`, `decode into int: a JSON array does not fit at nested.c (byte 15)`},
		{`{"nested":{"d":[1,"hunter2"]}}`, `decode into int: a JSON string does not fit at nested.d[1] (byte 18)`},
		{`{"odd":4711}`, `decode into string: a JSON number does not fit at odd (byte 7)`},
		{`[]`, `decode into codec_test.sloppy: a JSON array does not fit (byte 0)`},
	} {
		if _, err := codec.Unmarshal[*sloppy]([]byte(test.raw)); err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %s", test.raw, err, test.want)
		}
	}
}

func TestErrorsAreShort(t *testing.T) {
	name := strings.Repeat("é", 10000)
	_, err := codec.Unmarshal[map[string]map[string]int]([]byte(`{"` + name + `":{"\u001b` + name + `":"x"}}`))
	if err == nil || len(err.Error()) > 2000 || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("the message has %d bytes: %.300v", len(err.Error()), err)
	}
}

func TestErrorUnwrapsToTheCause(t *testing.T) {
	type refusing struct {
		Text textValue `json:"text"`
	}
	_, err := codec.Unmarshal[*refusing]([]byte(`{"text":"refuse this"}`))
	cause := err
	for errors.Unwrap(cause) != nil {
		cause = errors.Unwrap(cause)
	}
	if strings.Contains(err.Error(), "refuse this") || cause.Error() != "cannot have refuse this" {
		t.Errorf("got %v with the cause %v", err, cause)
	}
}

// What T does not name costs no allocation, however much it is.
func TestUnmarshalSkipsWithoutAllocation(t *testing.T) {
	pod := string(readPod(t))
	raw := []byte(`{"unknown":[` + pod + strings.Repeat(","+pod, 50) + `],"kind":"Pod"}`)
	n := testing.AllocsPerRun(20, func() {
		if v, err := codec.Unmarshal[*document](raw); err != nil || v.Kind != "Pod" {
			t.Fatal(v, err)
		}
	})
	// It is 4. The race detector makes pools forget, so that the decoder itself is sometimes allocated.
	if n > 50 {
		t.Errorf("%v allocations", n)
	}
}

type (
	noType struct {
		meta.Identity `json:"metadata"`
	}
	// foreign has the two members, but no SetTypeMeta, as the types of k8s.io/api.
	foreign struct {
		Kind          string `json:"kind,omitempty"`
		APIVersion    string `json:"apiVersion,omitempty"`
		meta.Identity `json:"metadata"`
	}
	// odd has a kind of another type.
	odd struct {
		Kind       int    `json:"kind"`
		APIVersion string `json:"apiVersion"`
	}
	// self decodes itself.
	self struct{ raw []string }
	// selfTyped decodes itself and wants to know what it is.
	selfTyped struct{ raw, kind, apiVersion string }
)

func (s *self) UnmarshalJSON(b []byte) error {
	s.raw = append(s.raw, string(b))
	return nil
}

func (s *selfTyped) UnmarshalJSON(b []byte) error {
	*s = selfTyped{raw: string(b)}
	return nil
}

func (s *selfTyped) SetTypeMeta(apiVersion, kind string) { s.apiVersion, s.kind = apiVersion, kind }

func TestDecodeFillsInTheType(t *testing.T) {
	const (
		bare    = `{"metadata":{"name":"a"}}`
		half    = `{"kind":"Other","metadata":{"name":"a"}}`
		whole   = `{"kind":"Other","apiVersion":"v9","metadata":{"name":"a"}}`
		nulls   = `{"kind":null,"apiVersion":null,"metadata":{"name":"a"}}`
		invalid = "{\"metadata\":{\"name\":\"a\",\"x\":\"\xff\"}}" // decoded leniently
	)
	name := meta.Identity{Name: "a"}
	typed := func(apiVersion, kind string) *document {
		return &document{Identity: name, TypeMeta: meta.TypeMeta{APIVersion: apiVersion, Kind: kind}}
	}
	decodeTo(t, bare, typed("v1", "Pod"))
	decodeTo(t, half, typed("v1", "Other"))
	decodeTo(t, whole, typed("v9", "Other"))
	decodeTo(t, nulls, typed("v1", "Pod"))
	decodeTo(t, invalid, typed("v1", "Pod"))

	decodeTo(t, bare, &foreign{Identity: name, APIVersion: "v1", Kind: "Pod"})
	decodeTo(t, half, &foreign{Identity: name, APIVersion: "v1", Kind: "Other"})
	decodeTo(t, whole, &foreign{Identity: name, APIVersion: "v9", Kind: "Other"})
	decodeTo(t, nulls, &foreign{Identity: name, APIVersion: "v1", Kind: "Pod"})
	decodeTo(t, invalid, &foreign{Identity: name, APIVersion: "v1", Kind: "Pod"})

	metadata := map[string]any{"name": "a"}
	decodeTo(t, bare, map[string]any{"kind": "Pod", "apiVersion": "v1", "metadata": metadata})
	decodeTo(t, half, map[string]any{"kind": "Other", "apiVersion": "v1", "metadata": metadata})
	decodeTo(t, whole, map[string]any{"kind": "Other", "apiVersion": "v9", "metadata": metadata})

	decodeTo(t, bare, &noType{name})
	decodeTo(t, `{"x":1}`, &odd{})
	decodeTo(t, bare, &self{[]string{bare}})
	decodeTo(t, bare, &selfTyped{bare, "Pod", "v1"})
	decodeTo(t, whole, &selfTyped{raw: whole})
}

func TestDecodeWithoutATypeFillsInNothing(t *testing.T) {
	v, err := codec.DecodeAs[map[string]any](jsonstream.Item{Raw: []byte(`{"a":"b"}`)}, codec.Options{})
	if want := (map[string]any{"a": "b"}); err != nil || !reflect.DeepEqual(v, want) {
		t.Errorf("got %v, %v; want %v", v, err, want)
	}
}

func decodeTo[T any](t *testing.T, raw string, want T) {
	t.Helper()
	item, err := jsonstream.ReadObject(strings.NewReader(raw), jsonstream.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := codec.DecodeAs[T](item, codec.Options{APIVersion: "v1", Kind: "Pod"})
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %+v, %v; want %+v", raw, got, err, want)
	}
}

func TestDecodeReportsWhatDoesNotFit(t *testing.T) {
	item := jsonstream.Item{Raw: []byte(`{"spec":{"replicas":"x"}}`)}
	if v, err := codec.DecodeAs[*document](item, codec.Options{APIVersion: "v1", Kind: "Pod"}); v != nil || err == nil {
		t.Errorf("got %v, %v", v, err)
	}
	if v, err := codec.DecodeAs[*foreign](jsonstream.Item{Raw: []byte(`{"kind":5}`)}, codec.Options{APIVersion: "v1", Kind: "Pod"}); v != nil || err == nil {
		t.Errorf("got %v, %v", v, err)
	}
	if v, err := codec.DecodeAs[map[string]any](jsonstream.Item{Raw: []byte(`null`)}, codec.Options{APIVersion: "v1", Kind: "Pod"}); v != nil || err == nil {
		t.Errorf("got %v, %v", v, err)
	}
}
