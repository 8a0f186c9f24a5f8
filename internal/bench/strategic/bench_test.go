package strategic_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/bowline-go/bowline/patch"
)

// pods returns a pod of about 7 KB and what it becomes when some of it changes.
func pods(b *testing.B) (before, after []byte) {
	b.Helper()
	r := random{rand.New(rand.NewPCG(1, 1)), 1}
	p := r.pod(&corev1.Pod{})
	for i := 0; len(before) < 7<<10; i++ {
		c := corev1.Container{Name: fmt.Sprint("x", i)}
		r.container(&c)
		p.Spec.Containers = append(p.Spec.Containers, c)
		var err error
		if before, err = json.Marshal(p); err != nil {
			b.Fatal(err)
		}
	}
	r.fresh = 0.1
	after, err := json.Marshal(r.pod(p))
	if err != nil {
		b.Fatal(err)
	}
	return before, after
}

func BenchmarkDiff(b *testing.B) {
	before, after := pods(b)
	schema := patch.SchemaOf[corev1.Pod]()
	b.Run("bowline", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := patch.DiffStrategic(before, after, schema); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("apimachinery", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := strategicpatch.CreateTwoWayMergePatch(before, after, corev1.Pod{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkApply(b *testing.B) {
	before, after := pods(b)
	schema := patch.SchemaOf[corev1.Pod]()
	change, err := strategicpatch.CreateTwoWayMergePatch(before, after, corev1.Pod{})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("bowline", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := patch.ApplyStrategic(before, change, schema); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("apimachinery", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := strategicpatch.StrategicMergePatch(before, change, corev1.Pod{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
