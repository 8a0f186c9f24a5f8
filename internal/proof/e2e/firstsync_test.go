package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/protobuf"
	"github.com/bowline-go/bowline/client/protobuf/core"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/internal/proof/conformance"
)

// syncedPods is how many pods BenchmarkFirstSync creates.
const syncedPods = 10_000

// BenchmarkFirstSync measures how long caches of all pods take from the start of a client until they are in sync, and how long the
// server takes to write the same list for nobody. The contenders take turns, and each figure is the median of its times. Client-go's
// are those of its defaults; KUBE_FEATURE_WatchListClient=false makes it list.
//
//	go test -run '^$' -bench FirstSync -benchtime 9x -timeout 30m
func BenchmarkFirstSync(b *testing.B) {
	fillPods(b, syncedPods)
	contenders := []struct {
		name string
		sync func(context.Context) error
	}{
		{"bytes-JSON", readAway("application/json", false)},
		{"bytes-protobuf", readAway("application/vnd.kubernetes.protobuf", false)},
		{"bytes-protobuf-uncompressed", readAway("application/vnd.kubernetes.protobuf", true)},
		{"Bowline-JSON", bowlineSync[*corev1.Pod](client.Config{})},
		{"Bowline-protobuf", bowlineSync[*corev1.Pod](client.Config{Protobuf: protobuf.New(core.V1())})},
		{"Bowline-6-fields-protobuf", bowlineSync[*sixFields](client.Config{Protobuf: protobuf.New(core.V1())})},
		{"Bowline-protobuf-uncompressed", bowlineSync[*corev1.Pod](client.Config{Protobuf: protobuf.New(core.V1()), Uncompressed: true})},
		{"Bowline-6-fields-protobuf-uncompressed", bowlineSync[*sixFields](client.Config{Protobuf: protobuf.New(core.V1()), Uncompressed: true})},
		{"client-go-JSON", clientgoSync("application/json", false)},
		{"client-go", clientgoSync("", false)},
		{"client-go-uncompressed", clientgoSync("", true)},
	}
	times := make([][]float64, len(contenders))
	for i := 0; b.Loop(); i++ {
		for j := range contenders {
			if i%2 == 1 {
				j = len(contenders) - 1 - j
			}
			runtime.GC()
			ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
			began := time.Now()
			err := contenders[j].sync(ctx)
			times[j] = append(times[j], time.Since(began).Seconds())
			cancel()
			if err != nil {
				b.Fatalf("%s: %v", contenders[j].name, err)
			}
		}
	}
	for j, c := range contenders {
		slices.Sort(times[j])
		b.ReportMetric(1000*times[j][len(times[j])/2], c.name+"-ms")
	}
}

// sixFields are those of a pod that a controller may want.
type sixFields struct {
	meta.Identity `json:"metadata"`
	Spec          struct {
		NodeName string `json:"nodeName"`
	} `json:"spec"`
	Status struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

// fillPods creates pods in a namespace of their own.
func fillPods(b *testing.B, n int) {
	c, err := client.New(adminConfig())
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	var spec struct {
		Spec map[string]any `json:"spec"`
	}
	if err := json.Unmarshal([]byte(`{"spec":{`+podFull+`}}`), &spec); err != nil {
		b.Fatal(err)
	}
	spec.Spec["automountServiceAccountToken"] = false
	ns := &conformance.Namespace{ObjectMeta: meta.ObjectMeta{GenerateName: "first-sync-"}}
	if ns, err = client.For(c, conformance.Namespaces).Create(b.Context(), ns); err != nil {
		b.Fatal(err)
	}
	r := client.For(c, pods).In(ns.Name)
	numbers := make(chan int)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for i := range numbers {
				pod := &meta.Unstructured{Object: map[string]any{
					"metadata": map[string]any{
						"name":        fmt.Sprintf("web-7d4b9c6f5d-%05d", i),
						"labels":      map[string]any{"app": "web", "pod-template-hash": "7d4b9c6f5d", "shard": fmt.Sprint(i % 100)},
						"annotations": map[string]any{"example.com/restarted-at": "2026-01-02T03:04:05Z"},
					},
					"spec": spec.Spec,
				}}
				if _, err := r.Create(b.Context(), pod); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	for i := range n {
		if b.Failed() {
			break
		}
		numbers <- i
	}
	close(numbers)
	wg.Wait()
	if b.Failed() {
		b.FailNow()
	}
}

// readAway reads the list of all pods and throws it away.
func readAway(form string, uncompressed bool) func(context.Context) error {
	return func(ctx context.Context) error {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(plane.CA)
		transport := &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true, DisableCompression: uncompressed,
		}
		defer transport.CloseIdleConnections()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, plane.Server+"/api/v1/pods?resourceVersion=0", nil)
		if err != nil {
			return err
		}
		r.Header.Set("Accept", form)
		r.Header.Set("Authorization", "Bearer "+plane.Token)
		resp, err := transport.RoundTrip(r)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != form {
			return fmt.Errorf("%s of %s", resp.Status, resp.Header.Get("Content-Type"))
		}
		const least = 1 << 10 // of a pod
		n, err := io.Copy(io.Discard, resp.Body)
		if err == nil && n < syncedPods*least {
			err = fmt.Errorf("%d bytes are no list of %d pods", n, syncedPods)
		}
		return err
	}
}

// bowlineSync fills an informer.
func bowlineSync[T meta.Object](cfg client.Config) func(context.Context) error {
	return func(ctx context.Context) error {
		admin := adminConfig()
		admin.Protobuf, admin.Uncompressed = cfg.Protobuf, cfg.Uncompressed
		c, err := client.New(admin)
		if err != nil {
			return err
		}
		defer c.Close()
		inf := informer.New(client.For(c, client.Type[T]{Version: "v1", Kind: "Pod", Resource: "pods"}), informer.Options{})
		ctx, stop := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- inf.Run(ctx) }()
		err = inf.WaitSynced(ctx)
		n := inf.Reader().Len()
		if status := inf.Status(); err == nil && status.Protobuf != (cfg.Protobuf != nil) {
			err = fmt.Errorf("protobuf is %t: %s", status.Protobuf, status.WhyJSON)
		}
		stop()
		<-ended // it says that ctx has ended
		return errors.Join(err, wantPods(n))
	}
}

// clientgoSync fills a shared informer. An empty form is client-go's own choice.
func clientgoSync(form string, uncompressed bool) func(context.Context) error {
	return func(ctx context.Context) error {
		set, err := clientset.NewForConfig(&rest.Config{
			Host: plane.Server, BearerToken: plane.Token, TLSClientConfig: rest.TLSClientConfig{CAData: plane.CA}, QPS: -1,
			ContentConfig: rest.ContentConfig{ContentType: form}, DisableCompression: uncompressed,
		})
		if err != nil {
			return err
		}
		ctx, stop := context.WithCancel(ctx)
		factory := informers.NewSharedInformerFactory(set, 0)
		pods := factory.Core().V1().Pods().Informer()
		factory.StartWithContext(ctx)
		synced := factory.WaitForCacheSyncWithContext(ctx)
		n := len(pods.GetStore().ListKeys())
		stop()
		factory.Shutdown()
		return errors.Join(synced.Err, wantPods(n))
	}
}

// wantPods returns an error unless a cache has all pods.
func wantPods(n int) error {
	if n != syncedPods {
		return fmt.Errorf("the cache has %d pods, want %d", n, syncedPods)
	}
	return nil
}
