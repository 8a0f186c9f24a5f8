package codec_test

import (
	stdjson "encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/jsonstream"
)

type (
	// partOf has places for some of what an object has.
	partOf struct {
		meta.Identity `json:"metadata"`
		Spec          struct {
			Items []struct {
				Name string `json:"name"`
			} `json:"items"`
			ByName map[string]struct {
				Size int `json:"size"`
			} `json:"byName"`
			Any     any                           `json:"any"`
			Raw     stdjson.RawMessage            `json:"raw"`
			Map     map[string]any                `json:"map"`
			Pointer *meta.Identity                `json:"pointer"`
			Own     keeper                        `json:"own"`
			Raws    map[string]stdjson.RawMessage `json:"raws"`
		} `json:"spec"`
	}
	// keeper says by a method of its own that it keeps all.
	keeper struct{ text string }
	// behindPointer has its metadata elsewhere in memory.
	behindPointer struct {
		Metadata *meta.Identity `json:"metadata"`
	}
	// emptyMetadata shares its address with what follows.
	emptyMetadata struct {
		Metadata struct{} `json:"metadata"`
		Spec     struct{} `json:"spec"`
	}
	// embeddedPointer has its metadata elsewhere in memory, and its spec where the pointer is.
	embeddedPointer struct {
		Spec struct{} `json:"spec"`
		*Elsewhere
	}
	Elsewhere struct {
		meta.Identity `json:"metadata"`
	}
	// rest has a tag option that means nothing.
	rest struct {
		*meta.Identity `json:"metadata"`
		Number         stdjson.Number     `json:"number"`
		Fallback       map[string]any     `json:",unknown"`
		Sizes          [2]struct{ A int } `json:"sizes"`
	}
	// malformed has an option that an embedded struct cannot have.
	malformed struct {
		noRest `json:",omitempty"`
	}
	// noRest is rest without that field.
	noRest struct {
		meta.Identity `json:"metadata"`
		Number        stdjson.Number     `json:"number"`
		Sizes         [2]struct{ A int } `json:"sizes"`
	}
)

func (k *keeper) UnmarshalJSON(raw []byte) error { k.text = string(raw); return nil }

// lostOf returns whether decoding notes a loss, and what Lost says.
func lostOf[T any](t *testing.T, doc string) (noted bool, lost []string) {
	t.Helper()
	var lossy atomic.Bool
	if _, err := codec.DecodeAs[T](jsonstream.Item{Raw: []byte(doc)}, codec.Options{APIVersion: "v1", Kind: "Part", Lossy: &lossy}); err != nil {
		t.Fatalf("decode %s: %v", doc, err)
	}
	d := stdjson.NewDecoder(strings.NewReader(doc))
	d.UseNumber()
	var object map[string]any
	if err := d.Decode(&object); err != nil {
		t.Fatal(err)
	}
	lost, err := codec.LostBy[T](object, 3)
	if err != nil {
		t.Fatal(err)
	}
	return lossy.Load(), lost
}

func TestDecodingNotesFieldsThatATypeLacks(t *testing.T) {
	const kept = `"kind":"Part","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"1"}`
	for _, test := range []struct {
		name, doc string
		of        func(t *testing.T, doc string) (bool, []string)
		noted     bool
		lost      string
	}{
		{"nothing", `{` + kept + `}`, lostOf[*partOf], false, ""},
		{"what a server sets", `{"metadata":{"name":"a","creationTimestamp":"x","generation":1,"managedFields":[{}],"selfLink":"s",
			"deletionTimestamp":"x","deletionGracePeriodSeconds":1}}`, lostOf[*partOf], false, ""},
		{"a label", `{"metadata":{"labels":{"a":"b"}}}`, lostOf[*partOf], true, "/metadata/labels"},
		{"a label that is null", `{"metadata":{"labels":null},"spec":{"more":null,"items":[{"more":null}]}}`, lostOf[*partOf], false, ""},
		{"an empty object, which means something in places", `{"spec":{"more":{}}}`, lostOf[*partOf], true, "/spec/more"},
		{"a member of the object", `{"data":{"k":"v"},` + kept + `}`, lostOf[*partOf], true, "/data"},
		{"in a list", `{"spec":{"items":[{"name":"a"},{"name":"b","size":1}]}}`, lostOf[*partOf], true, "/spec/items/1/size"},
		{"in a map", `{"spec":{"byName":{"a/b":{"size":1},"c~d":{"size":2,"unit":"kg"}}}}`, lostOf[*partOf], true, "/spec/byName/c~0d/unit"},
		{"behind a pointer", `{"spec":{"pointer":{"name":"x","uid":"u","generation":1}}}`, lostOf[*partOf], true, "/spec/pointer/generation"},
		{"what only looks like a server's", `{"spec":{"generation":1,"uid":"u","kind":"k"}}`, lostOf[*partOf], true, "/spec/generation /spec/kind /spec/uid"},
		{"in what keeps all", `{"spec":{"any":{"x":{}},"raw":{"x":1},"map":{"x":[{}]},"own":{"x":1},"raws":{"x":{"y":1}}}}`, lostOf[*partOf], false, ""},
		{"more than asked for", `{"a":1,"b":2,"c":3,"d":4}`, lostOf[*partOf], true, "/a /b /c"},
		{"a name with an escape", `{"sp\u0065c":{"more":1}}`, lostOf[*partOf], true, "/spec/more"},
		{"metadata behind a pointer, on suspicion", `{"metadata":{"name":"a","generation":1}}`, lostOf[*behindPointer], true, ""},
		{"metadata behind an embedded pointer", `{"metadata":{"name":"a"},"spec":{"generation":1}}`, lostOf[*embeddedPointer], true, "/spec/generation"},
		{"metadata that is empty", `{"metadata":{"x":1},"spec":{"generation":1}}`, lostOf[*emptyMetadata], true, "/metadata/x /spec/generation"},
		{"a map", `{"x":{"y":1}}`, lostOf[map[string]any], false, ""},
		{"a type that keeps the rest and does not write it", `{"metadata":{"name":"a"},"number":1,"x":1}`, lostOf[*rest], true, "/x"},
		{"a malformed tag", `{"metadata":{"name":"a"}}`, lostOf[*malformed], false, ""},
		{"a type with an embedded struct that has all", `{"metadata":{"name":"a"},"number":1,"sizes":[{"A":1}]}`, lostOf[*noRest], false, ""},
		{"in an array", `{"metadata":{"name":"a"},"number":1,"sizes":[{"A":1,"B":2}]}`, lostOf[*noRest], true, "/sizes/0/B"},
	} {
		t.Run(test.name, func(t *testing.T) {
			noted, lost := test.of(t, test.doc)
			if noted != test.noted || strings.Join(lost, " ") != test.lost {
				t.Errorf("noted is %v and lost %v, want %v and %v", noted, lost, test.noted, test.lost)
			}
		})
	}
}

// Who knows already does not ask again, and a document that does not decode is nobody's loss.
func TestALossIsNotedOnce(t *testing.T) {
	var lossy atomic.Bool
	for _, doc := range []string{`{"spec":{"more":1},"metadata":7}`, `{"spec":{"more":1}`} {
		if _, err := codec.DecodeAs[*partOf](jsonstream.Item{Raw: []byte(doc)}, codec.Options{Lossy: &lossy}); err == nil || lossy.Load() {
			t.Errorf("%s: the error is %v, and a loss was noted: %v", doc, err, lossy.Load())
		}
	}
	lossy.Store(true)
	for _, doc := range []string{`{"spec":{"more":1}}`, `{}`} {
		if _, err := codec.DecodeAs[*partOf](jsonstream.Item{Raw: []byte(doc)}, codec.Options{Lossy: &lossy}); err != nil || !lossy.Load() {
			t.Error(err, lossy.Load())
		}
	}
	if _, err := codec.LostBy[*partOf](map[string]any{"metadata": 7}, 3); err == nil {
		t.Error("what does not fit has lost nothing")
	}
	if lost, err := codec.LostBy[*malformed](map[string]any{"x": 7}, 3); err != nil || strings.Join(lost, " ") != "/x" {
		t.Error(lost, err)
	}
}

func ExampleLost() {
	object := map[string]any{"metadata": map[string]any{"name": "a", "labels": map[string]any{"app": "a"}}, "data": map[string]any{}}
	lost, err := codec.LostBy[*struct {
		meta.Identity `json:"metadata"`
	}](object, 10)
	fmt.Println(lost, err)
	// Output: [/data /metadata/labels] <nil>
}
