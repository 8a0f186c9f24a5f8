package meta_test

import (
	"encoding/json"
	"runtime"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

const ownedPod = `{"metadata":{"name":"web-5d4f8c7b9-x2x4z","generateName":"web-5d4f8c7b9-","namespace":"default",
	"uid":"0a1b2c3d-0a1b-4a1b-8a1b-0a1b2c3d4e5f","resourceVersion":"123456","generation":1,"creationTimestamp":"2026-01-02T03:04:05Z",
	"labels":{"app":"web","pod-template-hash":"5d4f8c7b9","tier":"front"},
	"annotations":{"prometheus.io/scrape":"true","kubectl.kubernetes.io/restartedAt":"2026-01-02T03:04:05Z"},
	"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-5d4f8c7b9",
	"uid":"1a1b2c3d-0a1b-4a1b-8a1b-0a1b2c3d4e5f","controller":true,"blockOwnerDeletion":true}]},"spec":{"nodeName":"node-17"}}`

// BenchmarkMetadataMemory measures the live heap of the metadata of a pod with three labels, two annotations and an owner.
func BenchmarkMetadataMemory(b *testing.B) {
	b.Run("Identity", func(b *testing.B) { memory[meta.Identity](b) })
	b.Run("Identity and DeletionMeta", func(b *testing.B) {
		memory[struct {
			meta.Identity
			meta.DeletionMeta
		}](b)
	})
	b.Run("ObjectMeta", func(b *testing.B) { memory[meta.ObjectMeta](b) })
}

func memory[M any](b *testing.B) {
	type pod struct {
		Metadata M `json:"metadata"`
	}
	const n = 10_000
	var before, after runtime.MemStats
	pods := make([]*pod, n)
	for b.Loop() {
		clear(pods)
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range pods {
			pods[i] = new(pod)
			if err := json.Unmarshal([]byte(ownedPod), pods[i]); err != nil {
				b.Fatal(err)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "live-B/object")
	}
	runtime.KeepAlive(pods)
}
