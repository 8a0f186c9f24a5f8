package strategic_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/bowline-go/bowline/internal/patch/strategic"
	"github.com/bowline-go/bowline/patch"
)

// small is a kind with lists in lists, of which random patches with every directive often do something.
type small struct {
	Items []smallItem `json:"items,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	Marks []string    `json:"marks,omitempty" patchStrategy:"merge"`
	Args  []string    `json:"args,omitempty"`
	Plan  *smallItem  `json:"plan,omitempty" patchStrategy:"retainKeys"`
	Whole *smallItem  `json:"whole,omitempty" patchStrategy:"replace"`
	Value string      `json:"value,omitempty"`
}

type smallItem struct {
	Name  string      `json:"name,omitempty"`
	Value string      `json:"value,omitempty"`
	Other int         `json:"other,omitempty"`
	Marks []string    `json:"marks,omitempty" patchStrategy:"merge"`
	Items []smallItem `json:"items,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
}

func (r random) word4() string { return string(rune('a' + r.IntN(4))) }

func (r random) marks(n int) []any {
	list := []any{}
	for _, i := range r.Perm(n)[:r.IntN(n+1)] {
		list = append(list, fmt.Sprint("m", i))
	}
	return list
}

// object is a smallItem, or a patch of one with any directive.
func (r random) object(depth int, directives bool) map[string]any {
	v := make(map[string]any)
	for _, name := range []string{"value", "other"} {
		switch {
		case r.IntN(2) == 0:
		case directives && r.IntN(5) == 0:
			v[name] = nil
		case name == "other":
			v[name] = r.IntN(3) + 1
		default:
			v[name] = r.word4()
		}
	}
	r.lists(v, depth, directives)
	return v
}

// lists puts marks and items into an object.
func (r random) lists(v map[string]any, depth int, directives bool) {
	if r.IntN(2) == 0 {
		v["marks"] = r.marks(4)
	}
	if depth > 0 && r.IntN(3) > 0 {
		v["items"] = r.items(depth-1, directives)
	}
	if !directives {
		return
	}
	if r.IntN(4) == 0 {
		// What is added and deleted at once stays or goes by chance with apimachinery: by the order of a map.
		added, _ := v["marks"].([]any)
		v["$deleteFromPrimitiveList/marks"] = slices.DeleteFunc(r.marks(4), func(mark any) bool { return slices.Contains(added, mark) })
	}
	if r.IntN(3) == 0 {
		v["$setElementOrder/marks"] = r.marks(6)
	}
	if r.IntN(2) == 0 {
		order := []any{}
		if items, _ := v["items"].([]any); r.IntN(4) > 0 {
			for _, item := range items {
				if object := item.(map[string]any); object["$patch"] == nil {
					order = append(order, map[string]any{"name": object["name"]})
				}
			}
		}
		for range r.IntN(3) {
			i := r.IntN(len(order) + 1)
			order = append(order[:i:i], append([]any{map[string]any{"name": r.word4()}}, order[i:]...)...)
		}
		v["$setElementOrder/items"] = order
	}
	if r.IntN(5) == 0 {
		keys := []any{}
		for _, name := range []string{"name", "value", "other", "marks", "items", "plan"} {
			if _, ok := v[name]; ok && r.IntN(12) > 0 || r.IntN(3) == 0 {
				keys = append(keys, name)
			}
		}
		v["$retainKeys"] = keys
	}
}

func (r random) items(depth int, directives bool) []any {
	list := []any{}
	for _, i := range r.Perm(4)[:r.IntN(5)] {
		v := r.object(depth, directives && r.IntN(2) == 0)
		v["name"] = string(rune('a' + i))
		if directives && r.IntN(4) == 0 {
			v = map[string]any{"name": v["name"], "$patch": "delete"}
		}
		list = append(list, v)
	}
	if directives && r.IntN(10) == 0 {
		i := r.IntN(len(list) + 1)
		list = append(list[:i:i], append([]any{map[string]any{"$patch": "replace"}}, list[i:]...)...)
	}
	return list
}

func (r random) small(directives bool) map[string]any {
	v := r.object(2, directives)
	delete(v, "other")
	if r.IntN(2) == 0 {
		v["args"] = r.marks(3)
	}
	for _, name := range []string{"plan", "whole"} {
		if r.IntN(2) == 0 {
			object := r.object(1, directives)
			if directives && r.IntN(6) == 0 {
				object["$patch"] = [...]string{"replace", "delete"}[r.IntN(2)]
			}
			v[name] = object
		}
	}
	return v
}

// Patches with any directive do what apimachinery does, or are refused where it refuses them or keeps directives.
func TestDirectivesAreObeyedAsByApimachinery(t *testing.T) { // behaviours 321 and 323
	schema := patch.SchemaOf[small]()
	applied, both, kept, empty := 0, 0, 0, 0
	for seed := range 20 * *cases {
		r := random{rand.New(rand.NewPCG(uint64(seed), 6)), 0}
		doc, err := json.Marshal(r.small(false))
		if err != nil {
			t.Fatal(err)
		}
		change, err := json.Marshal(r.small(true))
		if err != nil {
			t.Fatal(err)
		}
		want, theirErr := strategicpatch.StrategicMergePatch(doc, change, small{})
		got, err := patch.ApplyStrategic(doc, change, schema)
		typed := func(doc []byte) string {
			var v small
			if err := json.Unmarshal(doc, &v); err != nil {
				t.Fatal(err)
			}
			out, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			return string(out)
		}
		switch {
		case err == nil && theirErr == nil && typed(got) == typed(want):
			applied++
		case err != nil && theirErr != nil:
			both++
		case errors.Is(err, strategic.ErrDirective):
			kept++
		case err == nil && theirErr != nil && strings.Contains(theirErr.Error(), "no elements in any of the given slices"):
			empty++ // an order for an empty list is no reason to refuse a patch
		default:
			t.Fatalf("seed %d: of %s\nand %s\nours   %s, %v\ntheirs %s, %v", seed, doc, change, got, err, want, theirErr)
		}
	}
	t.Logf("%d patches were applied alike, %d refused by both, %d refused for directives that would be kept, %d taken with an order for an empty list", applied, both, kept, empty)
}
