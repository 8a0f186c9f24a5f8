package codec_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"
	"weak"

	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/jsonstream"
)

// sharer has a part of each kind.
type sharer struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels"`
	Args   []string          `json:"args"`
	Ports  []sharedPort      `json:"ports"`
	Sizes  map[string]int    `json:"sizes"`
	Inner  struct {
		Probe *sharedProbe `json:"probe"`
	} `json:"inner"`
}

type sharedPort struct {
	Name   string `json:"name"`
	Number int    `json:"number"`
}

type sharedProbe struct {
	Path   string       `json:"path"`
	Ports  []sharedPort `json:"ports"`
	Nested *sharedProbe `json:"nested"`
}

func sharerText(name string) []byte {
	return fmt.Appendf(nil, `{"name":%q,"labels":{"app":"web","tier":"front"},"args":["serve","--listen=:8080"],`+
		`"ports":[{"name":"http","number":80},{"name":"https","number":443}],"sizes":{"cpu":1,"memory":12345},`+
		`"inner":{"probe":{"path":"/healthz","ports":[{"name":"health","number":8081}],"nested":{"path":"/other/path"}}}}`, name)
}

// refs are the addresses of what the parts refer to.
func (s *sharer) refs() [6]uintptr {
	return [6]uintptr{
		reflect.ValueOf(s.Labels).Pointer(), reflect.ValueOf(s.Args).Pointer(), reflect.ValueOf(s.Ports).Pointer(),
		reflect.ValueOf(s.Sizes).Pointer(), reflect.ValueOf(s.Inner.Probe).Pointer(), reflect.ValueOf(s.Inner.Probe.Nested).Pointer(),
	}
}

func decodeSharer(t testing.TB, raw []byte, parts *codec.Parts) *sharer {
	t.Helper()
	s, err := codec.DecodeAs[*sharer](jsonstream.Item{Raw: raw}, codec.Options{Parts: parts})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEqualPartsAreSharedFromTheSecondTimeOn(t *testing.T) {
	parts := codec.ReadyParts()
	var all []*sharer
	for i := range 4 {
		s := decodeSharer(t, sharerText(fmt.Sprint(i)), parts)
		if want := decodeSharer(t, sharerText(fmt.Sprint(i)), nil); !reflect.DeepEqual(s, want) {
			t.Fatalf("got %+v, want %+v", s, want)
		}
		all = append(all, s)
	}
	for i, ref := range all[1].refs() {
		if ref == all[0].refs()[i] {
			t.Errorf("part %d of the first object is that of the second, which is decoded apart", i)
		}
		if ref != all[2].refs()[i] || ref != all[3].refs()[i] {
			t.Errorf("part %d is not shared", i)
		}
	}
	if plain := decodeSharer(t, sharerText("4"), nil); plain.refs()[0] == all[3].refs()[0] {
		t.Error("an object without Parts has a part")
	}
	if other := decodeSharer(t, sharerText("5"), codec.ReadyParts()); other.refs()[0] == all[3].refs()[0] {
		t.Error("an object has a part of other Parts")
	}
}

// The first objects share nothing, so a cache of a few objects costs nothing.
func TestAFewObjectsHaveNoTable(t *testing.T) {
	parts := new(codec.Parts)
	for range 3 {
		decodeSharer(t, sharerText("a"), parts)
	}
	if n, _ := parts.Texts(); n != 0 {
		t.Errorf("%d parts", n)
	}
	for range 3 {
		decodeSharer(t, sharerText("a"), parts)
	}
	if n, _ := parts.Texts(); n == 0 {
		t.Error("no parts")
	}
}

func TestAppendToASharedSliceCopiesIt(t *testing.T) {
	parts := codec.ReadyParts()
	raw := []byte(`{"args":["a","b","c","d","e"],"ports":[{"name":"a"},{"name":"b"},{"name":"c"}]}`)
	for range 2 {
		decodeSharer(t, raw, parts)
	}
	a, b := decodeSharer(t, raw, parts), decodeSharer(t, raw, parts)
	a.Args, b.Args = append(a.Args, "of a"), append(b.Args, "of b")
	a.Ports, b.Ports = append(a.Ports, sharedPort{Name: "of a"}), append(b.Ports, sharedPort{Name: "of b"})
	if a.Args[5] != "of a" || a.Ports[3].Name != "of a" {
		t.Errorf("got %v, %v", a.Args, a.Ports)
	}
}

// A part that no object has is freed, and so is the memory of the objects that had the part first.
func TestPartsKeepNothingAlive(t *testing.T) {
	parts := codec.ReadyParts()
	text := func(i int) []byte { return sharerText(strings.Repeat("n", 300) + fmt.Sprint(i)) }
	var names []weak.Pointer[byte]
	var last *sharer
	for i := range 4 {
		last = decodeSharer(t, text(i), parts)
		names = append(names, weak.Make(unsafe.StringData(last.Name)))
	}
	labels := last.Labels
	port := weak.Make(&last.Ports[0])
	last = nil
	for range 3 { // a decoder in the pool may have a part
		runtime.GC()
	}
	for i, name := range names {
		if name.Value() != nil {
			t.Errorf("a part keeps the strings of object %d", i)
		}
	}
	if port.Value() != nil {
		t.Error("Parts keeps a part that no object has")
	}
	if labels["app"] != "web" {
		t.Errorf("got %v", labels)
	}
	if again := decodeSharer(t, text(9), parts); reflect.ValueOf(again.Labels).Pointer() != reflect.ValueOf(labels).Pointer() {
		t.Error("a part that is in use is no longer shared")
	} else if want := decodeSharer(t, text(9), nil); !reflect.DeepEqual(again, want) {
		t.Errorf("got %+v, want %+v", again, want)
	}
}

func TestTheTextsOfFreedPartsAreDropped(t *testing.T) {
	parts := codec.ReadyParts()
	var kept []*sharer
	for i := range 400 {
		kept = append(kept, decodeSharer(t, bytes.ReplaceAll(sharerText("a"), []byte("web"), fmt.Appendf(nil, "web-%d", i/4)), parts))
	}
	before, _ := parts.Texts()
	runtime.KeepAlive(kept)
	kept = nil
	for after := before; before < 100 || after > 0; after, _ = parts.Texts() { // or the test does not end
		runtime.GC()
		runtime.Gosched()
	}
}

func TestTheTextsOfPartsAreBounded(t *testing.T) {
	parts := codec.ReadyParts()
	pad := strings.Repeat("x", 4000)
	var kept []*sharer
	for i := range 3000 {
		raw := fmt.Appendf(nil, `{"name":"a","args":["%d","%s"]}`, i, pad)
		kept = append(kept, decodeSharer(t, raw, parts), decodeSharer(t, raw, parts))
	}
	if n, size := parts.Texts(); n < 100 || size > 4<<20 {
		t.Errorf("%d parts with %d bytes", n, size)
	}
	runtime.KeepAlive(kept)
}

// If nothing repeats, parts are not looked for; when something repeats, they are found again.
func TestPartsAreNotLookedForIfTheyAreRare(t *testing.T) {
	parts := codec.ReadyParts()
	n := 0
	unique := func() {
		n++
		raw := bytes.ReplaceAll(sharerText("a"), []byte("12345"), fmt.Append(nil, n))
		raw = bytes.ReplaceAll(raw, []byte("serve"), fmt.Append(nil, n))
		decodeSharer(t, bytes.ReplaceAll(raw, []byte(`":"`), fmt.Appendf(nil, `":"%d`, n)), parts)
	}
	for parts.IsAwake() {
		unique()
		if n > 2000 {
			t.Fatal("unique objects are looked at for ever")
		}
	}
	asleep := 0
	for !parts.IsAwake() {
		unique()
		asleep++
	}
	for parts.IsAwake() {
		unique()
	}
	again := 0
	for !parts.IsAwake() {
		unique()
		again++
	}
	if asleep < 500 || again < 2*asleep-2 || again > 2*asleep+2 {
		t.Errorf("asleep for %d objects, then for %d", asleep, again)
	}
	a := decodeSharer(t, sharerText("a"), parts)
	for range 3 {
		a = decodeSharer(t, sharerText("a"), parts)
	}
	if b := decodeSharer(t, sharerText("b"), parts); a.refs() != b.refs() {
		t.Error("what repeats is not shared after the sleep")
	}
}

// Decoding into types and documents made at random gives the same with parts as without. Each document comes several
// times, beside others that differ a little.
func TestRandomDocumentsAreTheSameWithParts(t *testing.T) {
	shared := 0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 2))
		typ := zoo[seed%uint64(len(zoo))]
		if seed%3 == 0 {
			typ = randomType(r, 0)
		}
		parts := codec.ReadyParts()
		docs := [][]byte{randomDocument(r, typ)}
		docs = append(docs, mutate(r, bytes.Clone(docs[0])), mutate(r, bytes.Clone(docs[0])), randomDocument(r, typ))
		for range 4 {
			for _, raw := range docs {
				got, err := codec.UnmarshalParts(typ, raw, parts)
				want, wantErr := codec.UnmarshalType(typ, raw)
				if fmt.Sprint(err) != fmt.Sprint(wantErr) || spelt(got) != spelt(want) || err == nil && !reflect.DeepEqual(got, want) && spelt(want) != "true" {
					t.Fatalf("%d: %v from %s: got\n%+v, %v\nwant\n%+v, %v", seed, typ, raw, got, err, want, wantErr)
				}
			}
		}
		n, _ := parts.Texts()
		shared += n
	}
	if shared < 300 {
		t.Errorf("only %d parts", shared)
	}
}

func TestAMemberThatComesTwiceDoesNotChangeAPart(t *testing.T) {
	parts := codec.ReadyParts()
	var all []*sharer
	for range 3 {
		all = append(all, decodeSharer(t, sharerText("a"), parts))
	}
	const twice = `{"labels":{"app":"web","tier":"front"},"inner":{"probe":{"path":"/healthz","ports":[{"name":"health","number":8081}],` +
		`"nested":{"path":"/other/path"}},"probe":{"path":"x"}},"labels":{"app":"b"},"args":["serve","--listen=:8080"],"args":["x"]}`
	got := decodeSharer(t, []byte(twice), parts)
	if want := decodeSharer(t, []byte(twice), nil); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if want := decodeSharer(t, sharerText("a"), nil); !reflect.DeepEqual(all[2], want) {
		t.Errorf("a shared part has become %+v", all[2])
	}
}

// A document may nest as deep with parts as without.
func TestPartsCountTheirLevels(t *testing.T) {
	type tree struct {
		In []tree `json:"in"`
	}
	nested := func(levels int) []byte {
		return append(bytes.Repeat([]byte(`{"in":[`), levels), bytes.Repeat([]byte(`]}`), levels)...)
	}
	parts := codec.ReadyParts()
	typ := reflect.TypeFor[*tree]()
	for range 3 {
		if _, err := codec.UnmarshalParts(typ, nested(500), parts); err != nil {
			t.Fatal(err)
		}
	}
	for _, levels := range []int{4990, 4999, 5000, 5001, 5002, 5400} {
		_, err := codec.UnmarshalParts(typ, nested(levels), parts)
		if _, want := codec.UnmarshalType(typ, nested(levels)); fmt.Sprint(err) != fmt.Sprint(want) || (levels > 5000) != (want != nil) {
			t.Errorf("%d levels: got %v, want %v", levels, err, want)
		}
	}
}

// An object that is made to be slow to look up costs a bounded number of comparisons.
func TestComparisonsInVainAreBounded(t *testing.T) {
	type tree struct {
		In []tree `json:"in"`
		S  string `json:"s"`
	}
	nested := func(s string) []byte {
		const levels = 300
		raw := append(bytes.Repeat([]byte(`{"in":[`), levels), fmt.Appendf(nil, `{"s":%q}`, s)...)
		return append(raw, bytes.Repeat([]byte(`]}`), levels)...)
	}
	parts := codec.ReadyParts()
	var kept []*tree
	for i := range 4 { // parts that differ only far behind their beginning
		for range 3 {
			kept = append(kept, must(codec.DecodeAs[*tree](jsonstream.Item{Raw: nested(fmt.Sprint(i))}, codec.Options{Parts: parts})))
		}
	}
	raw := nested("another")
	got, compared, err := codec.Compared[tree](raw, parts)
	if err != nil {
		t.Fatal(err)
	}
	if want := must(codec.Unmarshal[*tree](raw)); !reflect.DeepEqual(got, want) {
		t.Error("got another object")
	}
	if compared <= 8*len(raw) || compared > 12*len(raw) {
		t.Errorf("compared %d bytes for an object of %d, want 8 for each, and those of the last lookup", compared, len(raw))
	}
	runtime.KeepAlive(kept)
}

func TestPartsTellWhatIsLost(t *testing.T) {
	parts := codec.ReadyParts()
	const raw = `{"name":"%d","inner":{"probe":{"path":"/healthz","unknown":1}}}`
	for i := range 5 {
		var lossy atomic.Bool
		_, err := codec.DecodeAs[*sharer](jsonstream.Item{Raw: fmt.Appendf(nil, raw, i)}, codec.Options{Lossy: &lossy, Parts: parts})
		if err != nil || !lossy.Load() {
			t.Errorf("object %d: got %v, %v", i, lossy.Load(), err)
		}
	}
}

// Two projections of a type do not get parts of one another.
func TestProjectionsDoNotMixTheirParts(t *testing.T) {
	parts := codec.ReadyParts()
	for _, path := range []string{"inner.probe.path", "inner.probe.ports", "inner"} {
		only, err := codec.Project(reflect.TypeFor[*sharer](), []string{path})
		if err != nil {
			t.Fatal(err)
		}
		want, err := only.Decode(jsonstream.Item{Raw: sharerText("a")}, codec.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			got, err := only.Decode(jsonstream.Item{Raw: sharerText("a")}, codec.Options{Parts: parts})
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got %+v, %v; want %+v", path, got, err, want)
			}
		}
	}
}

func TestSeveralGoroutinesShareParts(t *testing.T) {
	parts := codec.ReadyParts()
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 0))
			for range 2000 {
				app := fmt.Appendf(nil, "web-%d", r.IntN(300))
				raw := bytes.ReplaceAll(sharerText("a"), []byte("web"), app)
				got, err := codec.DecodeAs[*sharer](jsonstream.Item{Raw: raw}, codec.Options{Parts: parts})
				if err != nil || got.Labels["app"] != string(app) || got.Ports[1].Number != 443 || got.Inner.Probe.Nested.Path != "/other/path" {
					t.Errorf("got %+v, %v", got, err)
					return
				}
			}
		})
	}
	group.Wait()
	if n, _ := parts.Texts(); n == 0 {
		t.Error("no parts")
	}
}

func TestMessagesShareParts(t *testing.T) {
	joint := joinToy[*toy](t)
	decode := func(b message, parts *codec.Parts) *toy {
		t.Helper()
		var v *toy
		o := codec.Options{APIVersion: "toys/v1", Kind: "Toy", Parts: parts}
		if err := joint.Decode(&v, jsonstream.Item{Raw: b, Protobuf: true}, o); err != nil {
			t.Fatal(err)
		}
		return v
	}
	entry := func(k, v string) message { return message(nil).text(1, k).text(2, v) }
	list := message(nil).text(10, "a name that is long").text(10, "another name").
		bytes(11, message(nil).text(1, "a spec that is long")).bytes(11, nil).
		bytes(12, entry("key", "value of the key")).bytes(12, entry("key2", "value2"))
	parts := codec.ReadyParts()
	var all []*toy
	for range 4 {
		for _, b := range []message{wholeToy(), list, message(nil).bytes(20, list), message(nil).bytes(20, message(nil).bytes(20, list))} {
			got := decode(b, parts)
			if want := decode(b, nil); !reflect.DeepEqual(got, want) {
				t.Fatalf("got  %+v\nwant %+v", got, want)
			}
			all = append(all, got)
		}
	}
	a, b := all[len(all)-3], all[len(all)-7] // list
	for _, field := range []string{"Names", "Parts", "Labels"} {
		x, y := reflect.ValueOf(a).Elem().FieldByName(field), reflect.ValueOf(b).Elem().FieldByName(field)
		if x.Pointer() != y.Pointer() {
			t.Errorf("%s is not shared", field)
		}
	}
	if c, d := all[len(all)-1].Next.Next, all[len(all)-5].Next.Next; c != d {
		t.Error("a pointer is not shared")
	}

	// A field that occurs in two places of a message does not change a part.
	before := spelt(all)
	for name, twice := range samePairs() {
		got := decode(append(bytes.Clone(list), twice...), parts)
		if want := decode(append(bytes.Clone(list), twice...), nil); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
	for _, more := range []message{list, message(nil).bytes(20, list), message(nil).text(10, "x"), message(nil).bytes(12, entry("key", "changed"))} {
		for _, b := range []message{append(bytes.Clone(list), more...), message(nil).bytes(20, append(bytes.Clone(list), more...)).bytes(20, more)} {
			b = append(message(nil).bytes(20, message(nil).bytes(20, list)), b...)
			got := decode(b, parts)
			if want := decode(b, nil); !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
		}
	}
	if spelt(all) != before {
		t.Error("a part has changed")
	}
}

func TestPartsOfMessagesCountTheirLevels(t *testing.T) {
	joint := joinToy[*toy](t)
	nested := func(levels int) (b message) {
		for range levels {
			b = message(nil).bytes(20, b)
		}
		return b
	}
	var kept []*toy
	decode := func(b message, parts *codec.Parts) error {
		var v *toy
		defer func() { kept = append(kept, v) }()
		return joint.Decode(&v, jsonstream.Item{Raw: b, Protobuf: true}, codec.Options{Parts: parts})
	}
	for _, levels := range []int{990, 998, 999, 1000, 1001, 1010} {
		parts := codec.ReadyParts()
		for _, known := range []int{40, 80, 400} {
			for range 3 {
				if err := decode(nested(known), parts); err != nil {
					t.Fatal(err)
				}
			}
		}
		if n, _ := parts.Texts(); n == 0 || !parts.IsAwake() {
			t.Error("no parts")
		}
		err := decode(nested(levels), parts)
		if want := decode(nested(levels), nil); fmt.Sprint(err) != fmt.Sprint(want) || (levels > 999) != (want != nil) {
			t.Errorf("%d levels: got %v, want %v", levels, err, want)
		}
	}
	runtime.KeepAlive(kept)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
