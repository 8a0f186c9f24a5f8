package codec_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/jsonstream"
)

// paths is a set of paths, as a tree: a name without names below it is whole.
type paths map[string]paths

// list returns the paths with their dots.
func (p paths) list() (all []string) {
	for _, name := range slices.Sorted(maps.Keys(p)) {
		below := p[name].list()
		if len(below) == 0 {
			all = append(all, name)
		}
		for _, path := range below {
			all = append(all, name+"."+path)
		}
	}
	return all
}

// randomPaths chooses some of the members of a type, and of the types below it.
func randomPaths(r *rand.Rand, t reflect.Type, depth int) paths {
	members := codec.Members(t)
	chosen := paths{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if name == "" || strings.Contains(name, ".") || name == "kind" || name == "apiVersion" || r.IntN(3) > 0 {
			continue
		}
		chosen[name] = nil
		if depth < 6 && r.IntN(3) > 0 {
			chosen[name] = randomPaths(r, members[name], depth+1)
		}
	}
	return chosen
}

// pruned returns a document without the members that are not on the paths. Those that are stay as they are, in their order, and
// as often as they are there.
func pruned(raw []byte, t reflect.Type, p paths) []byte {
	raw = bytes.TrimSpace(raw)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var open byte
	switch {
	case len(p) == 0:
		return raw
	case t.Kind() == reflect.Struct || t.Kind() == reflect.Map:
		open = '{'
	default:
		open = '['
	}
	if raw[0] != open {
		return raw
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	_, _ = d.Token()
	out := []byte{open}
	for d.More() {
		var name string
		if open == '{' {
			token, err := d.Token()
			if err != nil {
				panic(err)
			}
			name = token.(string)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			panic(err)
		}
		inner, below := t, p
		if t.Kind() == reflect.Struct {
			var ok bool
			if below, ok = p[name]; !ok {
				continue
			}
			inner = codec.Members(t)[name]
		} else {
			inner = t.Elem()
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		if open == '{' {
			quoted, _ := json.Marshal(name)
			out = append(append(out, quoted...), ':')
		}
		out = append(out, pruned(value, inner, below)...)
	}
	return append(out, open+2)
}

// sameAsPruned compares a projection of a document with the whole of the document without the members that are not on the paths.
func sameAsPruned(t *testing.T, typ reflect.Type, p paths, raw []byte) (decoded bool) {
	t.Helper()
	only, err := codec.Project(reflect.PointerTo(typ), p.list())
	if err != nil {
		t.Fatalf("%v with %q: %v", typ, p.list(), err)
	}
	got, err := only.Decode(jsonstream.Item{Raw: raw}, codec.Options{})
	if !json.Valid(raw) {
		if err == nil {
			t.Fatalf("%v with %q from %q: got %+v", typ, p.list(), raw, got)
		}
		return false
	}
	kept := maps.Clone(p)
	for _, name := range []string{"kind", "apiVersion"} {
		if _, ok := codec.Members(typ)[name]; ok {
			kept[name] = nil
		}
	}
	less := pruned(raw, typ, kept)
	want, wantErr := codec.UnmarshalType(typ, less)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%v with %q from %s: got %v; from %s: %v", typ, p.list(), raw, err, less, wantErr)
	}
	if err == nil && (spelt(got) != spelt(want) || !reflect.DeepEqual(got, want)) {
		t.Fatalf("%v with %q from %s: got\n%s\n%+v\nwant\n%s\n%+v", typ, p.list(), raw, spelt(got), got, spelt(want), want)
	}
	return err == nil
}

func TestProjectionEqualsTheObjectWithoutOtherMembers(t *testing.T) {
	decoded := 0
	one := func(r *rand.Rand, typ reflect.Type) {
		p := randomPaths(r, typ, 0)
		if typ.Kind() != reflect.Struct || len(p) == 0 {
			return
		}
		for range 5 {
			if sameAsPruned(t, typ, p, randomDocument(r, typ)) {
				decoded++
			}
		}
	}
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 2))
		one(r, randomType(r, 0))
		one(r, zoo[r.IntN(len(zoo))])
	}
	if decoded < 1500 {
		t.Errorf("only %d documents were decoded", decoded)
	}
}

func FuzzProjection(f *testing.F) {
	f.Add(uint64(0), []byte(`{"kind":"a","spec":{"x":[1,{"y":"\ud83d\ude80"}]},"spec":null,"metadata":{"name":"n"}}`))
	for i, value := range values {
		f.Add(uint64(i), []byte(value))
	}
	f.Fuzz(func(t *testing.T, seed uint64, raw []byte) {
		r := rand.New(rand.NewPCG(seed, 3))
		for _, typ := range []reflect.Type{zoo[r.IntN(len(zoo))], randomType(r, 0)} {
			if p := randomPaths(r, typ, 0); typ.Kind() == reflect.Struct && len(p) > 0 {
				sameAsPruned(t, typ, p, raw)
				sameAsPruned(t, typ, p, randomDocument(r, typ))
			}
		}
	})
}

// prune sets all members that are not on the paths to zero. It knows the types of toys.
func prune(v reflect.Value, p paths) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			prune(v.Elem(), p)
		}
	case reflect.Slice:
		for i := range v.Len() {
			prune(v.Index(i), p)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			below, wanted := p[name]
			switch {
			case f.Anonymous && name == "":
				prune(v.Field(i), p)
			case !wanted:
				v.Field(i).SetZero()
			case len(below) > 0:
				prune(v.Field(i), below)
			}
		}
	}
}

func sameToy(t *testing.T, b message, p paths) (decoded bool) {
	t.Helper()
	typ := reflect.TypeFor[*toy]()
	only, err := codec.Project(typ, p.list())
	if err != nil {
		t.Fatal(err)
	}
	j, err := only.Join(toyMessage(t))
	if err != nil && strings.HasPrefix(err.Error(), "next.") { // the message of a toy in a toy has no kind
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	var got *toy
	err = j.Decode(&got, jsonstream.Item{Raw: b}, codec.Options{APIVersion: "toys/v1", Kind: "Toy"})
	want, wantErr := decodeToy[*toy](t, b)
	if wantErr != nil { // a member that does not fit may have been passed over
		return false
	}
	kept := maps.Clone(p)
	kept["kind"], kept["apiVersion"] = nil, nil
	prune(reflect.ValueOf(want), kept)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%q from %x: got\n%+v, %v\nwant\n%+v", p.list(), b, got, err, want)
	}
	return true
}

func TestJointProjectionEqualsTheObjectWithoutOtherMembers(t *testing.T) {
	decoded := 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 4))
		p := randomPaths(r, reflect.TypeFor[*toy](), 0)
		if len(p) == 0 {
			continue
		}
		b := slices.Clone(wholeToy())
		for range r.IntN(4) {
			b[r.IntN(len(b))] = byte(r.IntN(256))
		}
		if sameToy(t, b, p) {
			decoded++
		}
	}
	if decoded < 500 {
		t.Errorf("only %d messages were decoded", decoded)
	}
}

func FuzzJointProjection(f *testing.F) {
	f.Add(uint64(1), []byte(wholeToy()))
	f.Fuzz(func(t *testing.T, seed uint64, b []byte) {
		if p := randomPaths(rand.New(rand.NewPCG(seed, 5)), reflect.TypeFor[*toy](), 0); len(p) > 0 {
			sameToy(t, b, p)
		}
	})
}

func TestAProjectionNeedsOnlyItsMembersInTheTable(t *testing.T) {
	type newer struct {
		Metadata meta.ObjectMeta `json:"metadata"`
		Spec     struct {
			Name  string         `json:"name"`
			Brand string         `json:"brand"`
			Free  map[string]any `json:"free"`
		} `json:"spec"`
		Labels struct {
			K  string `json:"k"`
			K2 int    `json:"k2"`
		} `json:"labels"`
	}
	only, err := codec.Project(reflect.TypeFor[*newer](), []string{"spec.name", "metadata", "labels.k"})
	if err != nil {
		t.Fatal(err)
	}
	j, err := only.Join(toyMessage(t))
	if err != nil {
		t.Fatal(err)
	}
	var got *newer
	if err := j.Decode(&got, jsonstream.Item{Raw: wholeToy()}, codec.Options{}); err != nil || got.Spec.Name != "s" || got.Metadata.Name != "a" || got.Labels.K != "v" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestProjectionGivesItemsTheirKind(t *testing.T) {
	only, err := codec.Project(reflect.TypeFor[*toy](), []string{"spec"})
	if err != nil {
		t.Fatal(err)
	}
	for raw, want := range map[string]string{
		`{"spec":{}}`:                     "Toy toys/v1",
		`{"kind":"Other","count":"wild"}`: "Other toys/v1",
		`{"apiVersion":"x/v1","spec":{}}`: "Toy x/v1",
	} {
		v, err := only.Decode(jsonstream.Item{Raw: []byte(raw)}, codec.Options{APIVersion: "toys/v1", Kind: "Toy"})
		if err != nil {
			t.Fatal(err)
		}
		if got := v.(*toy); got.Kind+" "+got.APIVersion != want || got.Count != nil {
			t.Errorf("%s: got %+v, want %s", raw, got, want)
		}
	}
	if v, err := only.Decode(jsonstream.Item{Raw: []byte(`{"spec":1}`)}, codec.Options{APIVersion: "toys/v1", Kind: "Toy"}); err == nil {
		t.Errorf("a member that does not fit: got %+v", v)
	}
}

func TestPathsThatLeadNowhereAreErrors(t *testing.T) {
	type object struct {
		Spec struct {
			Parts []struct {
				Name string `json:"name"`
				Size int    `json:"size"`
			} `json:"parts"`
			At    meta.Time         `json:"at"`
			Free  map[string]any    `json:"free"`
			Names []string          `json:"names"`
			Label map[string]string `json:"labels"`
		} `json:"spec"`
	}
	for want, all := range map[string][]string{
		`the paths must not be empty`:                                                                                   {},
		`a path must not be empty`:                                                                                      {""},
		`"spec." has an empty name between its dots`:                                                                    {"spec."},
		`".spec" has an empty name between its dots`:                                                                    {".spec"},
		`"spec" is named twice`:                                                                                         {"spec", "spec"},
		`"spec.parts.name" is named twice: "spec" includes it`:                                                          {"spec.parts.name", "spec"},
		`"sec.b" does not exist: the object has no sec, its members are spec`:                                           {"sec.c", "spec.at", "sec.b"},
		`"spec.port" does not exist: spec has no port, its members are at, free, labels, names, parts`:                  {"spec.port", "spec.at"},
		`"spec.parts.nam" does not exist: spec.parts has no nam, its members are name, size`:                            {"spec.parts.nam"},
		`"spec.parts.size.x" does not exist: spec.parts.size has no members, it is a int`:                               {"spec.parts.size.x"},
		`"spec.at.Time" cannot be decoded by itself: meta.Time, the type of spec.at, decodes itself, so name "spec.at"`: {"spec.at.Time"},
		`"spec.free.x" cannot be decoded by itself: spec.free can have any members, so name "spec.free"`:                {"spec.free.x"},
		`"spec.names.0" does not exist: spec.names has strings only, so name "spec.names"`:                              {"spec.names.0"},
		`"spec.labels.app" does not exist: spec.labels has strings only, so name "spec.labels"`:                         {"spec.labels.app"},
	} {
		if _, err := codec.Project(reflect.TypeFor[*object](), all); err == nil || err.Error() != want {
			t.Errorf("%q: got  %v\nwant %s", all, err, want)
		}
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[object](), reflect.TypeFor[*meta.Raw](), reflect.TypeFor[*map[string]any]()} {
		if _, err := codec.Project(typ, []string{"spec"}); err == nil || !strings.Contains(err.Error(), "is not a pointer to a struct") {
			t.Errorf("%v: %v", typ, err)
		}
	}
}

// fewestAllocs returns the allocations of a call that has found a decoder in the pool. The race detector makes pools forget, so not
// each call does.
func fewestAllocs(f func()) float64 {
	fewest := math.Inf(1)
	for range 200 {
		fewest = min(fewest, testing.AllocsPerRun(1, f))
	}
	return fewest
}

// Members that are passed over cost no allocation.
func TestProjectionAllocatesForItsMembersOnly(t *testing.T) {
	only, err := codec.Project(reflect.TypeFor[*toy](), []string{"spec.name"})
	if err != nil {
		t.Fatal(err)
	}
	const small, large = `{"spec":{"name":"s"}}`, `{"data":"AAEC","names":["x","y"],"spec":{"name":"s","inner":{"name":"i"}},` +
		`"parts":[{"name":"p"}],"labels":{"k":"v"},"lists":{"l":["1"]},"port":"http","more":{"a":[1]},"next":{"text":"deep"}}`
	decode := func(raw string) func() {
		item := jsonstream.Item{Raw: []byte(raw)}
		return func() {
			if _, err := only.Decode(item, codec.Options{APIVersion: "toys/v1", Kind: "Toy"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if few, many := fewestAllocs(decode(small)), fewestAllocs(decode(large)); many > few {
		t.Errorf("%v allocations, and %v with members that are passed over", few, many)
	}
	j, err := only.Join(toyMessage(t))
	if err != nil {
		t.Fatal(err)
	}
	binary := func(b message) func() {
		return func() {
			var v *toy
			if err := j.Decode(&v, jsonstream.Item{Raw: b}, codec.Options{APIVersion: "toys/v1", Kind: "Toy"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	tiny := message(nil).bytes(2, message(nil).text(1, "s"))
	if few, many := fewestAllocs(binary(tiny)), fewestAllocs(binary(wholeToy())); many > few {
		t.Errorf("protobuf: %v allocations, and %v with members that are passed over", few, many)
	}
}
