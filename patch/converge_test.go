package patch_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/bowline-go/bowline/patch"
)

// sets is a kind with a merged list of scalars and one of objects.
type sets struct {
	Words []string `json:"words,omitempty" patchStrategy:"merge"`
	Ports []struct {
		Port     int    `json:"port"`
		Protocol string `json:"protocol,omitempty"`
		Node     int    `json:"node,omitempty"`
	} `json:"ports,omitempty" patchStrategy:"merge" patchMergeKey:"port"`
}

func differenceOf(t *testing.T, old, changed []byte) (body, result string) {
	t.Helper()
	schema := patch.SchemaOf[sets]()
	p, err := patch.DiffStrategic(old, changed, schema)
	if err != nil {
		t.Fatal(err)
	}
	change, err := p.Body()
	if err != nil {
		t.Fatal(err)
	}
	got, err := patch.ApplyStrategic(old, change, schema)
	if err != nil {
		t.Fatalf("of %s and %s: %v", old, change, err)
	}
	return string(change), string(got)
}

// The difference of ["a","a"] and ["a"] was an order, which changed nothing, for ever.
func TestDifferencesOfListsWithOneItemTwiceConverge(t *testing.T) {
	for _, test := range []struct{ old, changed, body, result string }{
		{
			`{"words":["a","a"]}`, `{"words":["a"]}`,
			`{"words":["a"],"$setElementOrder/words":["a"]}`, `{"words":["a"]}`,
		},
		{`{"words":["a"]}`, `{"words":["a","a"]}`, `{}`, `{"words":["a"]}`},
		{
			`{"words":["a","b","a"]}`, `{"words":["c","a"]}`,
			`{"words":["c","a"],"$deleteFromPrimitiveList/words":["b"],"$setElementOrder/words":["c","a"]}`, `{"words":["c","a"]}`,
		},
		{`{"words":["b","a"]}`, `{"words":["a","b","a"]}`, `{"$setElementOrder/words":["a","b"]}`, `{"words":["a","b"]}`},
		{
			`{"ports":[{"port":1,"node":1},{"port":1,"node":2},{"port":2}]}`, `{"ports":[{"port":1,"node":1},{"port":2},{"port":1,"node":2}]}`,
			`{}`, `{"ports":[{"port":1,"node":1},{"port":1,"node":2},{"port":2}]}`,
		},
	} {
		body, result := differenceOf(t, []byte(test.old), []byte(test.changed))
		if body != test.body || result != test.result {
			t.Errorf("from %s to %s\ngot  %s, which makes %s\nwant %s, which makes %s", test.old, test.changed, body, result, test.body, test.result)
		}
	}
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 7))
		object := func() []byte {
			var s sets
			for range r.IntN(5) {
				s.Words = append(s.Words, string(rune('a'+r.IntN(3))))
			}
			s.Ports = make([]struct {
				Port     int    `json:"port"`
				Protocol string `json:"protocol,omitempty"`
				Node     int    `json:"node,omitempty"`
			}, r.IntN(5))
			for i := range s.Ports {
				s.Ports[i].Port, s.Ports[i].Node = 1+r.IntN(2), r.IntN(3)
			}
			text, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		old, changed := object(), object()
		body, result := differenceOf(t, old, changed)
		if rest, _ := differenceOf(t, []byte(result), changed); rest != "{}" {
			t.Fatalf("seed %d: from %s to %s\n     %s makes %s\nthen %s", seed, old, changed, body, result, rest)
		}
	}
}

// A test of a list with null breaks a server's connection off.
func TestAGuardedDiffTestsNoListsWithNull(t *testing.T) {
	for _, test := range []struct{ old, changed, want string }{
		{`{"l":[null,1]}`, `{}`, `[{"op":"remove","path":"/l"}]`},
		{`{"l":[null,1]}`, `{"l":7}`, `[{"op":"replace","path":"/l","value":7}]`},
		{`{"l":{"a":[{"b":[null]}]}}`, `{"l":1}`, `[{"op":"replace","path":"/l","value":1}]`},
		{`{"l":[null,"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]}`, `{"l":["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]}`, `[{"op":"remove","path":"/l/0"}]`},
		{
			`{"l":[null,"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",1]}`, `{"l":[null,"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",2]}`,
			`[{"op":"test","path":"/l/2","value":1},{"op":"replace","path":"/l/2","value":2}]`,
		},
		{`{"l":{"a":null}}`, `{"l":1}`, `[{"op":"test","path":"/l","value":{"a":null}},{"op":"replace","path":"/l","value":1}]`},
		{`{"l":["null"]}`, `{"l":1}`, `[{"op":"test","path":"/l","value":["null"]},{"op":"replace","path":"/l","value":1}]`},
	} {
		body, err := patch.DiffGuarded(raw(test.old), raw(test.changed)).Body()
		if err != nil || string(body) != test.want {
			t.Errorf("from %s to %s\ngot  %s, %v\nwant %s", test.old, test.changed, body, err, test.want)
		}
	}
}
