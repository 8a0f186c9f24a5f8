package patch_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/internal/patch/carry"
	"github.com/bowline-go/bowline/patch"
)

// readPods returns a pod of 7 KB, and the same with a label, an image and a condition changed and a toleration added.
func readPods(tb testing.TB) (old, changed []byte) {
	tb.Helper()
	old, err := os.ReadFile("../internal/jsonstream/testdata/pod.json")
	if err != nil {
		tb.Fatal(err)
	}
	ops := patch.JSON(
		patch.Add("/metadata/labels/tier", "front"),
		patch.Replace("/spec/containers/0/image", "registry.example.com/web:2"),
		patch.Replace("/status/conditions/0/status", "False"),
		patch.Add("/spec/tolerations/-", map[string]string{"key": "spot", "operator": "Exists"}),
	)
	body, err := ops.Body()
	if err != nil {
		tb.Fatal(err)
	}
	if changed, err = patch.ApplyJSON(old, body); err != nil {
		tb.Fatal(err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, old); err != nil {
		tb.Fatal(err)
	}
	return compact.Bytes(), changed
}

func benchmarkApply(b *testing.B, p patch.Patch, apply func(doc, change []byte) ([]byte, error)) {
	pod, _ := readPods(b)
	change, err := p.Body()
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(pod)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := apply(pod, change); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkApply(b *testing.B) {
	old, changed := readPods(b)
	from, to := json.RawMessage(old), json.RawMessage(changed)
	b.Run("Merge", func(b *testing.B) { benchmarkApply(b, patch.Diff(from, to), patch.ApplyMerge) })
	b.Run("JSON", func(b *testing.B) { benchmarkApply(b, patch.DiffJSON(from, to), patch.ApplyJSON) })
	b.Run("Guarded", func(b *testing.B) { benchmarkApply(b, patch.DiffGuarded(from, to), patch.ApplyJSON) })
}

func BenchmarkDiff(b *testing.B) {
	for _, bench := range []struct {
		name string
		diff func(old, changed any) patch.Patch
	}{{"Merge", patch.Diff}, {"JSON", patch.DiffJSON}, {"Guarded", patch.DiffGuarded}} {
		b.Run(bench.name, func(b *testing.B) {
			old, changed := readPods(b)
			b.SetBytes(int64(len(old)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bench.diff(json.RawMessage(old), json.RawMessage(changed)).Body(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDiffOfLines has a text of 400 KB with an escape in each line, as a file in a ConfigMap is.
func BenchmarkDiffOfLines(b *testing.B) {
	document := func(last string) json.RawMessage {
		return json.RawMessage(`{"data":{"file":"` + strings.Repeat(`a line of the file\n`, 20_000) + `","z":"` + last + `"}}`)
	}
	old, changed := document("1"), document("2")
	b.SetBytes(int64(len(old)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := patch.Diff(old, changed).Body(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCarry(b *testing.B) {
	old, changed := readPods(b)
	b.SetBytes(int64(len(old)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := carry.Change(old, old, changed); err != nil {
			b.Fatal(err)
		}
	}
}
