// Package compacts measures caches of informers that keep whole pods compressed.
package compacts

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/compact"
	"github.com/bowline-go/bowline/internal/proof/bench/canned"
)

// pods is how many pods the cache has.
const pods = 20_000

// hexOf returns n random bytes as a cluster writes them.
func hexOf(rnd *rand.Rand, n int) string {
	sum := sha256.Sum256(fmt.Append(nil, rnd.Uint64()))
	return fmt.Sprintf("%x", sum[:n])
}

func uid(rnd *rand.Rand) string {
	h := hexOf(rnd, 16)
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}

// varied returns the canned pods with the differences that the pods of a cluster have: random uids, hashes of images and
// containers, addresses and times. Ten pods are of one workload.
func varied(tb testing.TB, n int) [][]byte {
	tb.Helper()
	raws := make([][]byte, n)
	rnd := rand.New(rand.NewPCG(1, 2))
	var owner, config string
	var images [2]string
	for i := range raws {
		if i%10 == 0 {
			owner, config, images = uid(rnd), hexOf(rnd, 32), [2]string{hexOf(rnd, 32), hexOf(rnd, 32)}
		}
		raw, err := canned.Pod(i)
		if err != nil {
			tb.Fatal(err)
		}
		var pod corev1.Pod
		if err := json.Unmarshal(raw, &pod); err != nil {
			tb.Fatal(err)
		}
		pod.UID, pod.OwnerReferences[0].UID = types.UID(uid(rnd)), types.UID(owner)
		pod.Name = pod.OwnerReferences[0].Name + "-" + hexOf(rnd, 3)[:5]
		pod.ResourceVersion = strconv.Itoa(100_000_000 + rnd.IntN(100_000_000))
		pod.Annotations["checksum/config"] = config
		ip := fmt.Sprintf("10.%d.%d.%d", rnd.IntN(4), rnd.IntN(256), rnd.IntN(256))
		pod.Status.PodIP, pod.Status.PodIPs = ip, []corev1.PodIP{{IP: ip}}
		began := pod.CreationTimestamp.Add(time.Duration(rnd.IntN(3_000_000)) * time.Second)
		pod.CreationTimestamp.Time, pod.Status.StartTime.Time = began, began
		for c := range pod.Status.Conditions {
			pod.Status.Conditions[c].LastTransitionTime.Time = began.Add(time.Duration(rnd.IntN(20)) * time.Second)
		}
		for c := range pod.Status.ContainerStatuses {
			s := &pod.Status.ContainerStatuses[c]
			s.ContainerID, s.ImageID = "containerd://"+hexOf(rnd, 32), s.Image+"@sha256:"+images[c]
			s.State.Running.StartedAt.Time = began.Add(time.Duration(rnd.IntN(20)) * time.Second)
		}
		if raws[i], err = json.Marshal(&pod); err != nil {
			tb.Fatal(err)
		}
	}
	return raws
}

// filled returns an informer whose cache has the pods, and ends its Run with the benchmark.
func filled(b *testing.B, raws [][]byte, o informer.Options) *informer.Informer[*corev1.Pod] {
	b.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if q.URL.Query().Get("watch") != "" {
			w.(http.Flusher).Flush()
			<-q.Context().Done()
			return
		}
		_, _ = fmt.Fprint(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"300000000"},"items":[`)
		for i, raw := range raws {
			if i > 0 {
				_, _ = fmt.Fprint(w, ",")
			}
			_, _ = w.Write(raw)
		}
		_, _ = fmt.Fprint(w, `]}`)
	}))
	b.Cleanup(server.Close)
	c, err := client.New(client.Config{Server: server.URL})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	o.Mode, o.PageSize = informer.Paged, -1
	i := informer.New(client.For(c, client.Type[*corev1.Pod]{Version: "v1", Kind: "Pod", Resource: "pods"}), o)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- i.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		<-ended
	})
	if err := i.WaitSynced(ctx); err != nil {
		b.Fatal(err)
	}
	return i
}

func live() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// cpu returns the CPU time of this process, which another load of the machine lengthens much less than the time.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkGet reads pods in a random order from a cache of 20,000. It reports the live heap of a pod, the CPU time of
// the list for each, and the CPU time of a read.
func BenchmarkGet(b *testing.B) {
	raws := varied(b, pods)
	for _, kind := range []struct {
		name string
		o    informer.Options
	}{{"as they are", informer.Options{}}, {"compact", informer.Options{Compact: compact.New()}}} {
		b.Run(kind.name, func(b *testing.B) {
			before, began := live(), cpu()
			i := filled(b, raws, kind.o)
			sync := cpu() - began
			heap := live() - before
			var keys []meta.Key
			for pod := range i.Reader().All() {
				keys = append(keys, meta.KeyOf(pod))
			}
			rnd := rand.New(rand.NewPCG(3, 4))
			began = cpu()
			for b.Loop() {
				if _, found := i.Reader().Get(keys[rnd.IntN(len(keys))]); !found {
					b.Fatal("a pod is missing")
				}
			}
			b.ReportMetric(float64(cpu()-began)/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(heap)/pods, "heap-B/pod")
			b.ReportMetric(float64(sync)/pods, "sync-cpu-ns/pod")
		})
	}
}
