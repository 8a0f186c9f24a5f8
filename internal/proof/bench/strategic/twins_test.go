package strategic_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/bowline-go/bowline/patch"
)

// ports makes a list of ports from another. Several may have one merge key.
func (r random) ports(from []any) []any {
	list := slices.Clone(from)
	for range r.IntN(4) {
		if len(list) == 0 || r.IntN(2) == 0 {
			list = append(list, map[string]any{"port": float64(50 + r.IntN(4)), "protocol": []string{"TCP", "UDP"}[r.IntN(2)]})
			continue
		}
		i := r.IntN(len(list))
		port := map[string]any{"nodePort": float64(r.IntN(3))}
		for name, v := range list[i].(map[string]any) {
			port[name] = v
		}
		if list[i] = port; r.IntN(4) == 0 {
			list = slices.Delete(list, i, i+1)
		}
	}
	return list
}

// A list with items of one merge key is merged as apimachinery merges it, and what apimachinery keeps of somebody else's items a
// three-way merge keeps too.
func TestItemsOfOneKeyAreKeptAsApimachineryKeepsThem(t *testing.T) {
	schema := patch.SchemaOf[corev1.Service]()
	theirs, err := strategicpatch.NewPatchMetaFromStruct(&corev1.Service{})
	if err != nil {
		t.Fatal(err)
	}
	doc := func(ports []any) []byte {
		if ports == nil {
			ports = []any{} // apimachinery does not take null
		}
		text, err := json.Marshal(ports)
		if err != nil {
			t.Fatal(err)
		}
		return []byte(`{"spec":{"ports":` + string(text) + `}}`)
	}
	portsOf := func(doc []byte) []any {
		list, _ := decode(t, doc).(map[string]any)["spec"].(map[string]any)["ports"].([]any)
		return list
	}
	key := func(port any) string { return fmt.Sprint(port.(map[string]any)["port"]) }
	kept := 0
	for seed := range uint64(*cases * 10) {
		r := random{rand.New(rand.NewPCG(seed, 1)), 0}
		base := r.ports(nil)
		original, modified, live := r.ports(base), r.ports(base), r.ports(base)
		change, err := strategicpatch.CreateTwoWayMergePatch(doc(original), doc(modified), &corev1.Service{})
		if err != nil {
			continue // it does not compute the patch of every such list
		}
		want, theirErr := strategicpatch.StrategicMergePatch(doc(live), change, &corev1.Service{})
		got, err := patch.ApplyStrategic(doc(live), change, schema)
		if (err == nil) != (theirErr == nil) || err == nil && !same(t, got, want) {
			t.Fatalf("seed %d: of %s\nand %s\nours   %s, %v\ntheirs %s, %v", seed, doc(live), change, got, err, want, theirErr)
		}
		if change, err = strategicpatch.CreateThreeWayMergePatch(doc(original), doc(modified), doc(live), theirs, true); err != nil {
			continue
		}
		if want, err = strategicpatch.StrategicMergePatch(doc(live), change, &corev1.Service{}); err != nil {
			continue
		}
		p, err := patch.ThreeWay(doc(original), doc(modified), doc(live), schema, patch.ThreeWayOptions{})
		ours := body(t, p, err)
		if got, err = patch.ApplyStrategic(doc(live), ours, schema); err != nil {
			t.Fatal(err)
		}
		if onServer, err := strategicpatch.StrategicMergePatch(doc(live), ours, &corev1.Service{}); err != nil || !same(t, onServer, got) {
			t.Fatalf("seed %d: of %s\nand %s\nours   %s\ntheirs %s, %v", seed, doc(live), ours, got, onServer, err)
		}
		for _, port := range portsOf(want) {
			if slices.ContainsFunc(slices.Concat(original, modified), func(p any) bool { return key(p) == key(port) }) {
				continue
			}
			kept++
			if n := slices.IndexFunc(portsOf(got), func(p any) bool { return fmt.Sprint(p) == fmt.Sprint(port) }); n < 0 {
				t.Fatalf("seed %d: original %s\nmodified %s\nlive %s\nours   %s\ntheirs %s", seed, doc(original), doc(modified), doc(live), got, want)
			}
		}
	}
	if kept == 0 {
		t.Error("nothing of somebody else was in any list")
	}
}

func TestAListWithOneScalarTwiceConvergesOnAServer(t *testing.T) {
	old, changed := []byte(`{"metadata":{"finalizers":["a","b","a"]}}`), []byte(`{"metadata":{"finalizers":["b","a"]}}`)
	p, err := patch.DiffStrategic(old, changed, patch.SchemaOf[corev1.Pod]())
	change := body(t, p, err)
	got, err := strategicpatch.StrategicMergePatch(old, change, &corev1.Pod{})
	if err != nil || !same(t, got, changed) {
		t.Errorf("%s makes %s, %v", change, got, err)
	}
}
