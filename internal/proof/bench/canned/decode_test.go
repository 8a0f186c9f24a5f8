package canned

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/bowline-go/bowline/client/meta"
	tables "github.com/bowline-go/bowline/client/protobuf/core"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/protobuf"
)

type sixFields struct {
	meta.Identity `json:"metadata"`
	Spec          struct {
		NodeName string `json:"nodeName"`
	} `json:"spec"`
	Status struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

// BenchmarkDecode decodes a pod without managedFields, as the client does, and as the type of k8s.io/api does.
func BenchmarkDecode(b *testing.B) {
	const n = 1000
	var messages [n][]byte
	for i := range messages {
		pod := plainPod(i)
		pod.ManagedFields = nil
		raw, err := pod.Marshal()
		if err != nil {
			b.Fatal(err)
		}
		messages[i] = raw
	}
	schema, err := protobuf.NewSchema(tables.V1().Inside())
	if err != nil {
		b.Fatal(err)
	}
	b.Run("same type", func(b *testing.B) { decode[*corev1.Pod](b, schema, messages[:]) })
	b.Run("six fields", func(b *testing.B) { decode[*sixFields](b, schema, messages[:]) })
	b.Run("Unmarshal", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if err := new(corev1.Pod).Unmarshal(messages[i%n]); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func decode[T any](b *testing.B, schema *protobuf.Schema, messages [][]byte) {
	joint, err := codec.Join(reflect.TypeFor[T](), schema.Kind("", "v1", "Pod"))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		var pod T
		if err := joint.Decode(&pod, jsonstream.Item{Raw: messages[i%len(messages)]}, codec.Options{APIVersion: "v1", Kind: "Pod"}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEncode encodes a pod for a write: as the client does, and as protobuf.
func BenchmarkEncode(b *testing.B) {
	pod := plainPod(1)
	pod.ManagedFields = nil
	b.Run("JSON", func(b *testing.B) {
		for b.Loop() {
			if _, err := codec.Marshal(pod, "v1", "Pod"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Marshal", func(b *testing.B) {
		for b.Loop() {
			if _, err := pod.Marshal(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
