package meta_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

const rawPod = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"web","uid":"u1","resourceVersion":"7",
	"generation":3,"creationTimestamp":"2026-01-02T03:04:05Z","deletionTimestamp":null,"deletionGracePeriodSeconds":30,
	"labels":{"app":"web","é\u002f":"\u00e9\n"},"annotations":{},"finalizers":["x"],"selfLink":"/a","generateName":"g",
	"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"r","uid":"u2","controller":true,"other":[1]}],
	"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1",
		"fieldsV1":{"f:spec":{}},"subresource":"status"}],"unknown":{"a":[1,2]}},
	"spec" : { "node Name" : "n 1" , "weight": 1.50, "big": 12345678901234567890, "list": [ 1, "two", null ], "none": null, "on": true },
	"status":{"phase":"Running","quote":"a \" b \\","phase":"Failed"} }` + "\n"

func rawOf(t testing.TB, text string) *meta.Raw {
	t.Helper()
	r := new(meta.Raw)
	if err := json.Unmarshal([]byte(text), r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRawDecodesMetadataAndKeepsTheRest(t *testing.T) {
	r := rawOf(t, rawPod)
	var want struct {
		meta.TypeMeta
		meta.ObjectMeta `json:"metadata"`
	}
	if err := json.Unmarshal([]byte(rawPod), &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(r.TypeMeta, want.TypeMeta) || !reflect.DeepEqual(r.ObjectMeta, want.ObjectMeta) {
		t.Errorf("got  %+v %+v\nwant %+v", r.TypeMeta, r.ObjectMeta, want)
	}
	if got := meta.Owners(r); len(got) != 1 || !*got[0].Controller || meta.IsDeleting(r) || meta.UID(r) != "u1" {
		t.Errorf("the accessors read %+v of it", r)
	}
	out, err := r.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	const rest = `,"spec":{"node Name":"n 1","weight":1.50,"big":12345678901234567890,"list":[1,"two",null],"none":null,"on":true},` +
		`"status":{"phase":"Running","quote":"a \" b \\","phase":"Failed"}}`
	if !bytes.HasSuffix(out, []byte(rest)) || !bytes.HasPrefix(out, []byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a",`)) {
		t.Errorf("it is written as %s", out)
	}
	if again, err := rawOf(t, string(out)).MarshalJSON(); err != nil || !bytes.Equal(again, out) {
		t.Errorf("what was written is written again as %s, %v", again, err)
	}
}

func TestRawKeepsNothingOfTheBytesThatItIsDecodedFrom(t *testing.T) {
	text := []byte(rawPod)
	r := new(meta.Raw)
	if err := r.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	for i := range text {
		text[i] = 'x'
	}
	if !reflect.DeepEqual(r, rawOf(t, rawPod)) {
		t.Errorf("it changed to %+v", r)
	}
}

func TestTheZeroRaw(t *testing.T) {
	out, err := json.Marshal(meta.Raw{})
	if err != nil || string(out) != `{"metadata":{}}` {
		t.Errorf("it is written as %s, %v", out, err)
	}
	if got := rawOf(t, `{}`); !reflect.DeepEqual(got, new(meta.Raw)) {
		t.Errorf("an empty object is %+v", got)
	}
	var none *meta.Raw
	if _, found, err := meta.Nested[string](none, "spec"); found || err != nil || none.DeepCopy() != nil {
		t.Errorf("a nil Raw has something: %v", err)
	}
}

func TestACopyOfRawCanBeChanged(t *testing.T) {
	r := rawOf(t, rawPod)
	c := meta.Clone(r)
	if !reflect.DeepEqual(c, r) {
		t.Fatalf("got %+v, want %+v", c, r)
	}
	c.Labels["app"] = "other"
	c.SetTypeMeta("v2", "Dod")
	if err := c.UnmarshalJSON([]byte(`{"metadata":{"name":"b"},"spec":1}`)); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(r, rawOf(t, rawPod)) {
		t.Errorf("the original changed to %+v", r)
	}
	if c.Name != "b" || c.Kind != "" || c.Labels != nil {
		t.Errorf("decoding into it left %+v of what was there", c)
	}
}

func TestRawRefusesMalformedObjects(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"an array", `[]`, "it must be a JSON object"},
		{"nothing", ``, "the JSON ends too early"},
		{"a kind that is no string", `{"kind":1}`, "kind: it is a number, not a string"},
		{"a version that is no string", `{"apiVersion":[]}`, "apiVersion: it is an array, not a string"},
		{"metadata that is no object", `{"metadata":"x"}`, "metadata: it is a string, not an object"},
		{"a label that is no string", `{"metadata":{"labels":{"a":1}}}`, "metadata: labels: it is a number, not a string"},
		{"labels that are no object", `{"metadata":{"labels":[]}}`, "labels: it is an array, not an object"},
		{"finalizers that are no array", `{"metadata":{"finalizers":{}}}`, "finalizers: it is an object, not an array"},
		{"a generation that is no number", `{"metadata":{"generation":"1"}}`, "generation: it is a string, not a number"},
		{"a generation with a fraction", `{"metadata":{"generation":1.5}}`, "generation: 1.5 does not fit int64"},
		{"a controller that is no boolean", `{"metadata":{"ownerReferences":[{"controller":1}]}}`, "controller: it is a number, not a boolean"},
		{"a time that is none", `{"metadata":{"creationTimestamp":"x"}}`, "creationTimestamp: decode time"},
		{"half an object", `{"spec":{"a":1`, "ends too early"},
		{"a name without a value", `{"spec"}`, `unexpected '}' at byte 7`},
		{"something behind it", `{} x`, `unexpected 'x' at byte 3`},
		{"a word that is none", `{"spec":tru}`, `unexpected '}'`},
		{"a number that is none", `{"spec":01}`, `unexpected '1'`},
		{"an escape that is none", `{"spec":"\x"}`, `unexpected 'x'`},
		{"half an escape", `{"spec":"\u12`, `too early`},
		{"a line break in a string", "{\"spec\":\"\n\"}", `unexpected '\n'`},
		{"more levels than there can be", `{"spec":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`, "nested more than"}, // behaviour 35
	} {
		t.Run(test.name, func(t *testing.T) {
			r := rawOf(t, rawPod)
			err := r.UnmarshalJSON([]byte(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "decode object: ") {
				t.Errorf("error is %v, want %q in it", err, test.want)
			}
			if !reflect.DeepEqual(r, rawOf(t, rawPod)) {
				t.Errorf("it changed to %+v", r)
			}
		})
	}
}

// behaviour 30, fault F39: names are case-sensitive, and of two the last one counts.
func TestNamesInRaw(t *testing.T) {
	r := rawOf(t, `{"Kind":"x","kind":"a","k\u0069nd":"b","Metadata":{"name":"x"},"metadata":{"name":"old","labels":{"a":"1"}},
		"metadata":{"Name":"y","n\u0061me":"n","name":"m","LABELS":{"a":"2"}},"spec":{"a":1},"sp\u0065c":{"a":2,"A":3,"\u0061":4}}`)
	if r.Kind != "b" || r.Name != "m" || r.Labels != nil {
		t.Errorf("got %+v", r)
	}
	if n, found, err := meta.Nested[int](r, "spec", "a"); n != 4 || !found || err != nil {
		t.Errorf("spec.a is %v, %v, %v", n, found, err)
	}
}

// behaviour 34: Nested reads a Raw as it reads the decoded object, for every type and every path.
func TestNestedReadsRawLikeADecodedObject(t *testing.T) {
	r := rawOf(t, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"web","generation":3,
		"labels":{"app":"web"},"creationTimestamp":"2026-01-02T03:04:05Z","finalizers":["x"]},
		"spec":{"text":"a b","int":-7,"whole":5.0,"half":1.5,"huge":1e400,"big":12345678901234567890,"on":true,"off":false,"none":null,
			"list":[1,2],"texts":["a"],"object":{"a":"b"},"deep":{"er":{"x":1}},"":"empty","é":"e","bytes":"aGk=","\u00fc":1},
		"status":null,"flat":"text","number":0}`)
	for _, path := range []string{
		"", "kind", "apiVersion", "metadata", "metadata name", "metadata generation", "metadata labels", "metadata labels app",
		"metadata labels none", "metadata name x", "metadata creationTimestamp", "metadata finalizers", "metadata uid", "kind x",
		"spec", "spec text", "spec int", "spec whole", "spec half", "spec huge", "spec big", "spec on", "spec off", "spec none", "spec none x",
		"spec list", "spec list 0", "spec texts", "spec object", "spec object a", "spec object b", "spec object a b", "spec deep er x",
		"spec deep er x y", "spec missing", "spec missing x", "spec é", "spec ü", "spec bytes", "spec Text", "status", "status x",
		"flat", "flat x", "number", "number x", "none", "none x",
	} {
		t.Run(path, func(t *testing.T) {
			sameAsNested(t, r, strings.Fields(path))
		})
	}
	sameAsNested(t, r, []string{"spec", ""})
}

// sameAsNested reads a path in both ways, as every kind of type.
func sameAsNested(t testing.TB, r *meta.Raw, path []string) {
	t.Helper()
	text, err := r.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	u := new(meta.Unstructured)
	if err := u.UnmarshalJSON(text); err != nil {
		t.Fatalf("what is written cannot be read: %v\n%s", err, text)
	}
	same[any](t, r, u, path)
	same[string](t, r, u, path)
	same[int](t, r, u, path)
	same[uint8](t, r, u, path)
	same[float64](t, r, u, path)
	same[bool](t, r, u, path)
	same[json.Number](t, r, u, path)
	same[[]string](t, r, u, path)
	same[[]byte](t, r, u, path)
	same[[]any](t, r, u, path)
	same[map[string]string](t, r, u, path)
	same[map[string]any](t, r, u, path)
	same[meta.Time](t, r, u, path)
	same[json.RawMessage](t, r, u, path)
}

func same[V any](t testing.TB, r *meta.Raw, u *meta.Unstructured, path []string) {
	t.Helper()
	got, found, err := meta.Nested[V](r, path...)
	want, wantFound, wantErr := meta.Nested[V](u.Object, path...)
	if !reflect.DeepEqual(got, want) || found != wantFound || reasonOf(err) != reasonOf(wantErr) {
		t.Errorf("%q as %T:\ngot  %#v, %v, %v\nwant %#v, %v, %v", path, want, got, found, err, want, wantFound, wantErr)
	}
}

// reasonOf returns an error's text, up to the member of a map that it names, which may be any of those that are wrong.
func reasonOf(err error) string {
	if err == nil {
		return ""
	}
	text, _, _ := strings.Cut(err.Error(), ": field ")
	return text
}

// What is read belongs to the caller.
func TestNestedReturnsACopyOfARawValue(t *testing.T) {
	r := rawOf(t, rawPod)
	spec, _, err := meta.Nested[map[string]any](r, "spec")
	if err != nil {
		t.Fatal(err)
	}
	spec["on"] = "changed"
	if on, _, err := meta.Nested[bool](r, "spec", "on"); !on || err != nil {
		t.Errorf("it reads %v, %v", on, err)
	}
}

// Whatever is decoded, what Raw writes is the same object, and reads as that object does without a struct.
func FuzzRaw(f *testing.F) {
	f.Add([]byte(rawPod), "spec", "list")
	f.Add([]byte(`{"metadata":{"name":"\ud800","labels":{"\xff":"\xff"}},"\xff":"\xed\xa0\x80","x":{"\u0061":1,"a":2}}`), "x", "a")
	f.Add([]byte(`{"kind":null,"a":[ {} , "\\\" " ]  ,"a":-0.0e+5}`), "a", "")
	f.Add([]byte(`{"metadata":{"generation":-9223372036854775808,"finalizers":[null],"ownerReferences":[null,{}]}}`), "metadata", "finalizers")
	f.Fuzz(func(t *testing.T, text []byte, first, second string) {
		r := new(meta.Raw)
		err := r.UnmarshalJSON(text)
		if !json.Valid(text) {
			if err == nil && string(text) != "null" {
				t.Fatalf("it takes what is no JSON: %q", text)
			}
			return
		}
		if err != nil || len(bytes.TrimSpace(text)) == 0 || bytes.TrimSpace(text)[0] != '{' {
			return
		}
		out, err := r.MarshalJSON()
		if err != nil {
			if math.Abs(float64(r.CreationTimestamp.UTC().Year()-5000)) <= 4999 && r.DeletionTimestamp == nil && r.ManagedFields == nil {
				t.Fatal(err)
			}
			return // a year that cannot be written
		}
		if !json.Valid(out) {
			t.Fatalf("it writes what is no JSON: %s", out)
		}
		again := new(meta.Raw)
		if err := again.UnmarshalJSON(out); err != nil {
			t.Fatalf("it cannot read what it writes: %v\n%s", err, out)
		}
		if twice, err := again.MarshalJSON(); err != nil || !bytes.Equal(twice, out) {
			t.Fatalf("written again it is\n%s\nand was\n%s (%v)", twice, out, err)
		}
		for _, path := range [][]string{{first}, {first, second}, {first, second, first}} {
			sameAsNested(t, r, path)
		}
		// The rest is that of the object that came, not of what is written.
		if u := new(meta.Unstructured); first != "metadata" && first != "kind" && first != "apiVersion" && u.UnmarshalJSON(text) == nil {
			same[any](t, r, u, []string{first})
			same[any](t, r, u, []string{first, second})
		}
	})
}

// podText is a pod of 4.7 KB, as a cache decodes it: without managedFields.
func podText(b *testing.B) []byte {
	b.Helper()
	text, err := os.ReadFile("../../internal/jsonstream/testdata/pod.json")
	if err != nil {
		b.Fatal(err)
	}
	u := new(meta.Unstructured)
	if err := u.UnmarshalJSON(text); err != nil {
		b.Fatal(err)
	}
	meta.RemoveNested(u.Object, "metadata", "managedFields")
	if text, err = u.MarshalJSON(); err != nil {
		b.Fatal(err)
	}
	return text
}

func BenchmarkDecode(b *testing.B) {
	text := podText(b)
	for name, fresh := range map[string]func() json.Unmarshaler{
		"Raw":          func() json.Unmarshaler { return new(meta.Raw) },
		"Unstructured": func() json.Unmarshaler { return new(meta.Unstructured) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if err := fresh().UnmarshalJSON(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRetained reports how much memory one decoded object keeps, as heap-B/object.
func BenchmarkRetained(b *testing.B) {
	text := podText(b)
	for name, fresh := range map[string]func() json.Unmarshaler{
		"Raw":          func() json.Unmarshaler { return new(meta.Raw) },
		"Unstructured": func() json.Unmarshaler { return new(meta.Unstructured) },
	} {
		b.Run(name, func(b *testing.B) {
			const n = 2000
			objects := make([]json.Unmarshaler, n)
			var before, after runtime.MemStats
			for b.Loop() {
				clear(objects)
				runtime.GC()
				runtime.ReadMemStats(&before)
				for i := range objects {
					objects[i] = fresh()
					if err := objects[i].UnmarshalJSON(text); err != nil {
						b.Fatal(err)
					}
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
			}
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "heap-B/object")
			runtime.KeepAlive(objects)
		})
	}
}

func BenchmarkAt(b *testing.B) {
	r := new(meta.Raw)
	if err := r.UnmarshalJSON(podText(b)); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if phase, _, err := meta.Nested[string](r, "status", "phase"); err != nil || phase == "" {
			b.Fatal(phase, err)
		}
	}
}
