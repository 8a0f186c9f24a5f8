// Package strategic_test compares strategic merge patches of package patch with those of apimachinery, which servers and
// kubectl use: for random pods and deployments both compute the same patch, and make the same of it.
package strategic_test

import (
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/patch/strategic"
	"github.com/bowline-go/bowline/patch"
)

var cases = flag.Int("cases", 300, "random objects of each kind and test")

// kind is a kind to compare with, and how to make a random object from another.
type kind struct {
	name   string
	empty  any
	schema patch.Schema
	theirs strategicpatch.LookupPatchMeta
	next   func(r random, from any) any
}

func kinds(t *testing.T) []kind {
	t.Helper()
	pod, err := strategicpatch.NewPatchMetaFromStruct(&corev1.Pod{})
	if err != nil {
		t.Fatal(err)
	}
	deployment, err := strategicpatch.NewPatchMetaFromStruct(&appsv1.Deployment{})
	if err != nil {
		t.Fatal(err)
	}
	return []kind{
		{"pod", &corev1.Pod{}, patch.SchemaOf[corev1.Pod](), pod, func(r random, from any) any { return r.pod(from.(*corev1.Pod)) }},
		{"deployment", &appsv1.Deployment{}, patch.SchemaOf[*appsv1.Deployment](), deployment, func(r random, from any) any {
			return r.deployment(from.(*appsv1.Deployment))
		}},
		{
			"pod by OpenAPI", &corev1.Pod{}, fromServer(t, "api/v1", meta.GVK{Version: "v1", Kind: "Pod"}, patch.SchemaFromOpenAPI), pod,
			func(r random, from any) any { return r.pod(from.(*corev1.Pod)) },
		},
	}
}

// each runs f with three objects that come from one another, and in which no list of scalars is unsorted: of those apimachinery
// sorts the old one before it looks whether it has changed.
func each(t *testing.T, objects int, f func(t *testing.T, k kind, docs [][]byte)) {
	for _, k := range kinds(t) {
		t.Run(k.name, func(t *testing.T) {
			for seed := range *cases {
				r := random{rand.New(rand.NewPCG(uint64(seed), 5)), 0.6}
				object := k.next(r, k.empty)
				docs := [][]byte{encode(t, object)}
				for range objects - 1 {
					r.fresh = [...]float64{0.05, 0.2, 0.5}[r.IntN(3)]
					from := object
					if r.IntN(10) == 0 {
						from = k.empty
					}
					docs = append(docs, encode(t, k.next(r, from)))
				}
				f(t, k, docs)
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
}

func encode(t *testing.T, object any) []byte {
	t.Helper()
	switch o := object.(type) {
	case *corev1.Pod:
		slices.Sort(o.Finalizers)
	case *appsv1.Deployment:
		slices.Sort(o.Finalizers)
		slices.Sort(o.Spec.Template.Finalizers)
	}
	doc, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func body(t *testing.T, p patch.Patch, err error) []byte {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Body()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decode(t *testing.T, doc []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(doc, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// same compares JSON documents.
func same(t *testing.T, a, b []byte) bool {
	t.Helper()
	return reflect.DeepEqual(decode(t, a), decode(t, b))
}

// within tells whether a document has no more in it than another: its members and items are there too, these in their order.
func within(doc, other any) bool {
	switch doc := doc.(type) {
	case map[string]any:
		other, ok := other.(map[string]any)
		for name, v := range doc {
			w, there := other[name]
			ok = ok && there && within(v, w)
		}
		return ok
	case []any:
		other, ok := other.([]any)
		for _, v := range doc {
			i := slices.IndexFunc(other, func(w any) bool { return within(v, w) })
			if i < 0 {
				return false
			}
			other = other[i+1:]
		}
		return ok
	}
	return doc == other
}

// typed returns an object as its Go type decodes it.
func (k kind) typed(t *testing.T, doc []byte) []byte {
	t.Helper()
	object := reflect.New(reflect.TypeOf(k.empty).Elem()).Interface()
	if err := json.Unmarshal(doc, object); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTwoWayPatchesMatchThoseOfApimachinery(t *testing.T) { // behaviour 321
	each(t, 2, func(t *testing.T, k kind, docs [][]byte) {
		theirs, err := strategicpatch.CreateTwoWayMergePatch(docs[0], docs[1], k.empty)
		if err != nil {
			t.Fatal(err)
		}
		p, err := patch.DiffStrategic(docs[0], docs[1], k.schema)
		ours := body(t, p, err)
		if !same(t, ours, theirs) {
			t.Errorf("from %s\nto   %s\nours   %s\ntheirs %s", docs[0], docs[1], ours, theirs)
		}
		want, err := strategicpatch.StrategicMergePatch(docs[0], theirs, k.empty)
		if err != nil {
			t.Fatal(err)
		}
		got, err := patch.ApplyStrategic(docs[0], ours, k.schema)
		if err != nil || !same(t, got, want) {
			t.Errorf("of  %s\nand %s\nours   %s, %v\ntheirs %s", docs[0], ours, got, err, want)
		}
		if !same(t, k.typed(t, got), docs[1]) {
			t.Errorf("of %s\nand %s\ngot  %s\nwant %s", docs[0], ours, got, docs[1])
		}
	})
}

// A patch that was made for another object meets lists and members that are not there, or are already as it wants them.
func TestApplyingToAnotherObjectMatchesApimachinery(t *testing.T) { // behaviour 321
	refused := 0
	each(t, 3, func(t *testing.T, k kind, docs [][]byte) {
		p, err := patch.DiffStrategic(docs[0], docs[1], k.schema)
		change := body(t, p, err)
		want, theirErr := strategicpatch.StrategicMergePatch(docs[2], change, k.empty)
		got, err := patch.ApplyStrategic(docs[2], change, k.schema)
		var wrong *strategic.Error
		switch {
		case errors.As(err, &wrong) && errors.Is(err, strategic.ErrDirective) && strings.Contains(wrong.Reason, "the enclosing item is not in the document's list"):
			refused++
		case (err == nil) != (theirErr == nil):
			t.Errorf("of  %s\nand %s\nours %v\ntheirs %v", docs[2], change, err, theirErr)
		case err == nil && !same(t, k.typed(t, got), k.typed(t, want)):
			t.Errorf("of  %s\nand %s\nours   %s\ntheirs %s", docs[2], change, got, want)
		}
	})
	t.Logf("%d patches were refused that apimachinery applies in part", refused)
}

func TestThreeWayPatchesMatchThoseOfApimachinery(t *testing.T) { // behaviours 320 and 324
	pruned, conflicts := 0, 0
	each(t, 3, func(t *testing.T, k kind, docs [][]byte) {
		original, modified, current := docs[0], docs[1], docs[2]
		theirs, err := strategicpatch.CreateThreeWayMergePatch(original, modified, current, k.theirs, true)
		if err != nil {
			t.Fatal(err)
		}
		p, err := patch.ThreeWay(original, modified, current, k.schema, patch.ThreeWayOptions{})
		ours := body(t, p, err)
		got, err := patch.ApplyStrategic(current, ours, k.schema)
		if err != nil {
			t.Fatalf("of %s\nand %s\nours %v", current, ours, err)
		}
		if !same(t, ours, theirs) {
			// Theirs also removes what is not there, and a server may add that. Ours has nothing else in it, and nothing is left to do
			// after it.
			if !within(decode(t, ours), decode(t, theirs)) {
				t.Errorf("original %s\nmodified %s\ncurrent  %s\nours   %s\ntheirs %s", original, modified, current, ours, theirs)
			}
			p, err := patch.ThreeWay(original, modified, got, k.schema, patch.ThreeWayOptions{})
			rest := body(t, p, err)
			if again, err := patch.ApplyStrategic(got, rest, k.schema); err != nil || !same(t, again, got) {
				t.Errorf("original %s\nmodified %s\ncurrent  %s\nours   %s\nmakes  %s\nto which %s\nmakes %s, %v", original, modified, current, ours, got, rest, again, err)
			}
			pruned++
			theirs = ours
		}
		want, err := strategicpatch.StrategicMergePatch(current, theirs, k.empty)
		if err != nil {
			t.Fatal(err)
		}
		if !same(t, k.typed(t, got), k.typed(t, want)) {
			t.Errorf("of  %s\nand %s\nours   %s\ntheirs %s", current, ours, got, want)
		}
		_, theirErr := strategicpatch.CreateThreeWayMergePatch(original, modified, current, k.theirs, false)
		_, err = patch.ThreeWay(original, modified, current, k.schema, patch.ThreeWayOptions{RefuseConflicts: true})
		var conflict *patch.MergeConflictError
		if mergepatch.IsConflict(theirErr) && !errors.As(err, &conflict) {
			t.Errorf("original %s\nmodified %s\ncurrent  %s\nours %v\ntheirs %v", original, modified, current, err, theirErr)
		}
		if err != nil {
			conflicts++
		}
	})
	t.Logf("%d patches had less in them, %d had conflicts", pruned, conflicts)
}
