package meta_test

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

var _ meta.Object = (*meta.Unstructured)(nil)

func decode(t *testing.T, text string) *meta.Unstructured {
	t.Helper()
	u := &meta.Unstructured{}
	if err := json.Unmarshal([]byte(text), u); err != nil {
		t.Fatal(err)
	}
	return u
}

func TestUnstructuredDecodesNumbersWithoutLoss(t *testing.T) {
	tests := []struct {
		name, text string
		want       any
		back       string
	}{
		{"zero", "0", int64(0), "0"},
		{"2^53+1", "9007199254740993", int64(9007199254740993), "9007199254740993"},
		{"the largest int64", "9223372036854775807", int64(math.MaxInt64), "9223372036854775807"},
		{"the smallest int64", "-9223372036854775808", int64(math.MinInt64), "-9223372036854775808"},
		{
			"the first integer beyond int64", "9223372036854775808", json.Number("9223372036854775808"),
			"9223372036854775808",
		},
		{
			"an integer beyond every type", strings.Repeat("9", 40), json.Number(strings.Repeat("9", 40)),
			strings.Repeat("9", 40),
		},
		{"a fraction", "0.1", 0.1, "0.1"},
		{"a negative fraction", "-2.5", -2.5, "-2.5"},
		{"an exponent", "1e3", 1000.0, "1000"},
		{"a fraction of nothing", "5.0", 5.0, "5"},
		{"a float beyond float64", "1e400", json.Number("1e400"), "1e400"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u := decode(t, `{"a":[{"n":`+tt.text+`}]}`)
			got := u.Object["a"].([]any)[0].(map[string]any)["n"]
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%s decodes to %T %v, want %T %v", tt.text, got, got, tt.want, tt.want)
			}
			out, err := json.Marshal(u)
			if err != nil || string(out) != `{"a":[{"n":`+tt.back+`}]}` {
				t.Errorf("%s encodes to %s, %v", tt.text, out, err)
			}
			again := &meta.Unstructured{}
			if err := json.Unmarshal(out, again); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestUnstructuredDecodesTheOtherTypes(t *testing.T) {
	u := decode(t, ` {"s":"a\u00e9\ud83d\ude00","t":true,"f":false,"n":null,"o":{},"l":[],"deep":{"VaLue":1,"value":2}} `)
	want := map[string]any{
		"s": "aé😀", "t": true, "f": false, "n": nil, "o": map[string]any{}, "l": []any{},
		"deep": map[string]any{"VaLue": int64(1), "value": int64(2)}, // behaviour 30
	}
	if !reflect.DeepEqual(u.Object, want) {
		t.Errorf("got %v, want %v", u.Object, want)
	}
}

func TestUnstructuredRefusesJSONThatIsNotAnObject(t *testing.T) {
	for _, text := range []string{`[]`, `"a"`, `1`, `true`, `{"a":1}{}`, `{"a":1} x`, `{"a":`, ``} {
		u := meta.Unstructured{Object: map[string]any{"kept": true}}
		if err := u.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
		if u.Object["kept"] != true {
			t.Errorf("%q changed the object", text)
		}
	}
	u := meta.Unstructured{Object: map[string]any{"kept": true}}
	if err := u.UnmarshalJSON([]byte("null")); err != nil || u.Object["kept"] != true {
		t.Errorf("null: %v, %v", u.Object, err)
	}
}

// behaviour 20
func TestUnstructuredLists(t *testing.T) {
	for _, text := range []string{
		`{"kind":"ConfigMapList","metadata":{"resourceVersion":"5"},"items":[]}`,
		`{"kind":"ConfigMap","metadata":{"resourceVersion":"5"},"items":[]}`,
		`{"kind":"ConfigMapList","metadata":{"resourceVersion":"5"},"items":null}`,
		`{"kind":"ConfigMapList","metadata":{"resourceVersion":"5"}}`,
	} {
		var list meta.List[*meta.Unstructured]
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			t.Fatal(err)
		}
		if len(list.Items) != 0 || list.ResourceVersion != "5" {
			t.Errorf("%s decodes to %v", text, list)
		}
	}
	var list meta.List[*meta.Unstructured]
	if err := json.Unmarshal([]byte(`{"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 2 || list.Items[1].GetName() != "b" {
		t.Errorf("items %v", list.Items)
	}
}

func TestUnstructuredMetadata(t *testing.T) {
	yes, no := true, false
	owners := []meta.OwnerReference{
		{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "rs", UID: "u1", Controller: &yes, BlockOwnerDeletion: &no},
		{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u2"},
	}
	when := meta.Time{Time: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)}
	u := &meta.Unstructured{}
	u.SetTypeMeta("apps/v1", "Deployment")
	u.SetNamespace("ns")
	u.SetName("n")
	u.SetOwnerReferences(owners)
	others := map[string]any{
		"generateName": "n-", "uid": "u", "resourceVersion": "12", "labels": map[string]string{"a": "1"},
		"annotations": map[string]string{"b": "2"}, "finalizers": []string{"f"}, "deletionTimestamp": when, "generation": 4,
	}
	for field, value := range others {
		if err := meta.SetNested(u, value, "metadata", field); err != nil {
			t.Fatal(err)
		}
	}

	out, err := json.Marshal(u)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{"b":"2"},` +
		`"deletionTimestamp":"2024-05-06T07:08:09Z","finalizers":["f"],"generateName":"n-","generation":4,"labels":{"a":"1"},` +
		`"name":"n","namespace":"ns","ownerReferences":[` +
		`{"apiVersion":"apps/v1","blockOwnerDeletion":false,"controller":true,"kind":"ReplicaSet","name":"rs","uid":"u1"},` +
		`{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u2"}],"resourceVersion":"12","uid":"u"}}`
	if string(out) != want {
		t.Fatalf("encoded\n%s\nwant\n%s", out, want)
	}

	for _, u := range []*meta.Unstructured{u, decode(t, want)} {
		if meta.KeyOf(u) != (meta.Key{Namespace: "ns", Name: "n"}) || meta.UID(u) != "u" || u.GetResourceVersion() != "12" {
			t.Errorf("key %v, uid %v, version %q", meta.KeyOf(u), meta.UID(u), u.GetResourceVersion())
		}
		if u.GVK() != (meta.GVK{Group: "apps", Version: "v1", Kind: "Deployment"}) || u.GetGeneration() != 4 {
			t.Errorf("kind %v, generation %d", u.GVK(), u.GetGeneration())
		}
		if !reflect.DeepEqual(u.GetLabels(), map[string]string{"a": "1"}) ||
			!reflect.DeepEqual(u.GetAnnotations(), map[string]string{"b": "2"}) {
			t.Errorf("labels %v, annotations %v", u.GetLabels(), u.GetAnnotations())
		}
		if !reflect.DeepEqual(u.GetFinalizers(), []string{"f"}) || !reflect.DeepEqual(u.GetOwnerReferences(), owners) {
			t.Errorf("finalizers %v, owners %v", u.GetFinalizers(), u.GetOwnerReferences())
		}
		if got := u.GetDeletionTimestamp(); got == nil || !got.Equal(when.Time) || !meta.IsDeleting(u) {
			t.Errorf("deletion timestamp %v", got)
		}
	}

	u.SetNamespace("")
	u.SetName("")
	u.SetOwnerReferences(nil)
	for field := range others {
		if !meta.RemoveNested(u, "metadata", field) {
			t.Errorf("there was no %s", field)
		}
	}
	const empty = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{}}`
	if out, err := json.Marshal(u); err != nil || string(out) != empty {
		t.Errorf("emptied it encodes to %s, %v", out, err)
	}
}

func TestUnstructuredReadsWhatGoCodePutsThere(t *testing.T) {
	yes := true
	u := &meta.Unstructured{Object: map[string]any{"metadata": map[string]any{
		"labels":          map[string]string{"a": "1"},
		"finalizers":      []string{"f"},
		"ownerReferences": []map[string]any{{"name": "o", "uid": "u", "controller": &yes}},
		"generation":      int32(3),
	}}}
	if u.GetLabels()["a"] != "1" || u.GetFinalizers()[0] != "f" || u.GetGeneration() != 3 {
		t.Errorf("labels %v, finalizers %v, generation %d", u.GetLabels(), u.GetFinalizers(), u.GetGeneration())
	}
	if c, ok := meta.ControllerOf(u); !ok || c.UID != "u" {
		t.Errorf("controller %v, %v", c, ok)
	}
	u.Object["metadata"].(map[string]any)["ownerReferences"] = []meta.OwnerReference{{UID: "v"}}
	if o := u.GetOwnerReferences(); len(o) != 1 || o[0].UID != "v" {
		t.Errorf("owners %v", o)
	}
}

func TestUnstructuredTreatsWrongTypesAsAbsent(t *testing.T) {
	for _, text := range []string{
		`{}`, `{"metadata":null}`, `{"metadata":"x"}`, `{"metadata":[]}`, `{"metadata":{"name":1,"namespace":{},"uid":null,` +
			`"labels":"x","annotations":[1],"finalizers":{},"ownerReferences":"x","deletionTimestamp":null,"generation":"x"}}`,
		`{"metadata":{"labels":{"a":1},"finalizers":[1],"ownerReferences":[1],"deletionTimestamp":null}}`,
	} {
		u := decode(t, text)
		if meta.KeyOf(u) != (meta.Key{}) || meta.UID(u) != "" || u.GetResourceVersion() != "" {
			t.Errorf("%s: key %v, uid %q, version %q", text, meta.KeyOf(u), meta.UID(u), u.GetResourceVersion())
		}
		if l, a := u.GetLabels(), u.GetAnnotations(); len(l) != 0 || len(a) != 0 {
			t.Errorf("%s: labels %v, annotations %v", text, l, a)
		}
		if f, o := u.GetFinalizers(), u.GetOwnerReferences(); len(f) != 0 || len(o) != 0 {
			t.Errorf("%s: finalizers %v, owners %v", text, f, o)
		}
		if d := u.GetDeletionTimestamp(); d != nil || meta.IsDeleting(u) {
			t.Errorf("%s: deletion %v", text, d)
		}
		if n := u.GetGeneration(); n != 0 {
			t.Errorf("%s: generation %d", text, n)
		}
		if u.SetName("n"); u.GetName() != "n" {
			t.Errorf("%s: set, it reads %q", text, u.GetName())
		}
	}
	var none *meta.Unstructured
	if none.GetName() != "" || none.GetLabels() != nil || meta.IsDeleting(none) || none.DeepCopy() != nil {
		t.Error("a nil Unstructured must read as empty")
	}
	odd := decode(t, `{"metadata":{"deletionTimestamp":"soon"}}`)
	if !meta.IsDeleting(odd) || odd.GetDeletionTimestamp() != nil {
		t.Error("a malformed deletion timestamp still says that the object is being deleted")
	}
	dated := decode(t, `{"metadata":{"deletionTimestamp":"2024-05-06T07:08:09Z"}}`)
	if when := dated.GetDeletionTimestamp(); when == nil || when.Unix() != 1714979289 {
		t.Errorf("deletion timestamp %v", when)
	}
}

func TestUnstructuredGettersReturnCopies(t *testing.T) {
	const text = `{"metadata":{"labels":{"a":"1"},"finalizers":["f"],"ownerReferences":[{"uid":"u","controller":true}]}}`
	u := decode(t, text)
	u.GetLabels()["a"] = "changed"
	u.GetFinalizers()[0] = "changed"
	*u.GetOwnerReferences()[0].Controller = false
	if !reflect.DeepEqual(u, decode(t, text)) {
		t.Errorf("the object changed to %v", u.Object)
	}
}

func TestUnstructuredCanBeSetFromNothing(t *testing.T) {
	var nested, named meta.Unstructured
	if err := meta.SetNested(&nested, uint8(1), "spec", "replicas"); err != nil {
		t.Fatal(err)
	}
	named.SetName("n")
	for u, want := range map[*meta.Unstructured]string{&nested: `{"spec":{"replicas":1}}`, &named: `{"metadata":{"name":"n"}}`} {
		if out, err := json.Marshal(u); err != nil || string(out) != want {
			t.Errorf("encoded %s, %v; want %s", out, err, want)
		}
	}
}

func TestUnstructuredEncodes(t *testing.T) {
	type holder struct {
		Value   meta.Unstructured  `json:"value"`
		Pointer *meta.Unstructured `json:"pointer"`
		None    *meta.Unstructured `json:"none"`
	}
	out, err := json.Marshal(holder{Pointer: &meta.Unstructured{Object: map[string]any{"a": 1}}})
	if err != nil || string(out) != `{"value":{},"pointer":{"a":1},"none":null}` {
		t.Errorf("encoded %s, %v", out, err)
	}
}

func TestUnstructuredDeepCopy(t *testing.T) {
	u := decode(t, `{"metadata":{"labels":{"a":"1"}},"list":[{"x":[1,2.5,null,true,"s",18446744073709551616]}]}`)
	u.Object["go"] = map[string]string{"k": "v"}
	u.Object["int"] = 5
	c := meta.Clone(u)
	if !reflect.DeepEqual(u, c) {
		t.Fatalf("the copy is %v, want %v", c, u)
	}
	meta.RemoveNested(c, "metadata", "labels")
	c.Object["list"].([]any)[0].(map[string]any)["x"].([]any)[0] = "changed"
	c.Object["go"].(map[string]string)["k"] = "changed"
	if u.GetLabels()["a"] != "1" || u.Object["list"].([]any)[0].(map[string]any)["x"].([]any)[0] != int64(1) ||
		u.Object["go"].(map[string]string)["k"] != "v" {
		t.Errorf("the original changed to %v", u.Object)
	}
}

func FuzzUnstructured(f *testing.F) {
	for _, seed := range []string{
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"x":"y"},"ownerReferences":[{"uid":"u"}]}}`,
		`{"a":[1,-1,1.5,1e400,18446744073709551616,null,true,{"b":"\ud800"}]}`, `null`, `[]`, `{"metadata":1}`,
		`{"a":1,"a":2}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var u meta.Unstructured
		if err := u.UnmarshalJSON(raw); err != nil {
			if json.Valid(raw) && len(bytes.TrimSpace(raw)) > 0 && bytes.TrimSpace(raw)[0] == '{' {
				t.Fatalf("a valid object is refused: %v", err)
			}
			return
		}
		if !json.Valid(raw) {
			t.Fatalf("invalid JSON is accepted: %q", raw)
		}
		u.GetLabels()
		u.GetOwnerReferences()
		meta.IsDeleting(&u)
		if c := meta.Clone(&u); !reflect.DeepEqual(c.Object, u.Object) {
			t.Fatalf("the copy of %v is %v", u.Object, c.Object)
		}
		out, err := u.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var again meta.Unstructured
		if err := again.UnmarshalJSON(out); err != nil {
			t.Fatal(err)
		}
		if u.Object == nil {
			return
		}
		second, err := again.MarshalJSON()
		if err != nil || !bytes.Equal(out, second) {
			t.Fatalf("%s becomes %s, %v", out, second, err)
		}
	})
}

func BenchmarkUnstructuredClone(b *testing.B) {
	u := &meta.Unstructured{}
	raw := []byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"b","labels":{"x":"y","z":"w"}},` +
		`"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80}],"env":[{"name":"a","value":"b"}]}]}}`)
	if err := json.Unmarshal(raw, u); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		meta.Clone(u)
	}
}

func BenchmarkUnstructuredDecode(b *testing.B) {
	raw := []byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"b","labels":{"x":"y","z":"w"}},` +
		`"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80}],"env":[{"name":"a","value":"b"}]}]}}`)
	b.ReportAllocs()
	for b.Loop() {
		var u meta.Unstructured
		if err := u.UnmarshalJSON(raw); err != nil {
			b.Fatal(err)
		}
	}
}
