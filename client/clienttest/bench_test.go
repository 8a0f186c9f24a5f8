package clienttest_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
)

const benchBody = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":%q,"namespace":"default",` +
	`"labels":{"app":"web","bowline.dev/mirror":"true"},"annotations":{"bowline.dev/source-hash":"0123456789abcdef"},` +
	`"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"source","uid":"0a0b","controller":true}]},` +
	`"data":{"a":"some text that is a little longer","b":"%d"}}`

// BenchmarkWrites measures a create and an update in a collection of 10,000 objects that four watches follow.
func BenchmarkWrites(b *testing.B) {
	h := newHarness(b, clienttest.Options{})
	const objects = 10_000
	for i := range objects {
		h.must(b, http.MethodPost, "/api/v1/namespaces/default/configmaps", fmt.Sprintf(benchBody, fmt.Sprintf("cm-%d", i), 0))
	}
	var events atomic.Int64
	var watches sync.WaitGroup
	for range 4 {
		resp := h.open(b, http.MethodGet, "/api/v1/configmaps?watch=true&resourceVersion="+h.version(b), "")
		watches.Go(func() {
			n, _ := io.Copy(io.Discard, resp.Body)
			events.Add(n)
		})
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		name := fmt.Sprintf("cm-%d", i%objects)
		h.must(b, http.MethodPut, "/api/v1/namespaces/default/configmaps/"+name, fmt.Sprintf(benchBody, name, i))
	}
	b.StopTimer()
	h.server.DropWatches()
	watches.Wait()
}

// BenchmarkList measures a list of 10,000 objects in pages of 500.
func BenchmarkList(b *testing.B) {
	h := newHarness(b, clienttest.Options{})
	for i := range 10_000 {
		h.must(b, http.MethodPost, "/api/v1/namespaces/default/configmaps", fmt.Sprintf(benchBody, fmt.Sprintf("cm-%d", i), 0))
	}
	b.ReportAllocs()
	for b.Loop() {
		token := ""
		for {
			body := h.must(b, http.MethodGet, "/api/v1/configmaps?limit=500&continue="+token, "")
			_, rest, found := strings.Cut(body[:300], `"continue":"`)
			if !found {
				break
			}
			token, _, _ = strings.Cut(rest, `"`)
		}
	}
}

// benchPod is a pod with all that a server adds to one, and benchShortPod is the same as a user writes it.
const (
	benchPodMeta = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"namespace":"default","labels":{"app":"web","tier":"front"},` +
		`"annotations":{"a":"0123456789abcdef"}},"spec":{"nodeName":"node-1","restartPolicy":"Always","volumes":[{"name":"data","emptyDir":{}}],`
	benchContainer = `{"name":"web","image":"nginx:1","env":[{"name":"A","value":"b"},{"name":"C","value":"d"}],` +
		`"resources":{"requests":{"cpu":"100m","memory":"64Mi"},"limits":{"cpu":"1","memory":"128Mi"}},` +
		`"volumeMounts":[{"name":"data","mountPath":"/data"}],"ports":[{"containerPort":80,"protocol":"TCP"}]`
	benchMore = `,"imagePullPolicy":"IfNotPresent","terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}`

	benchPod = benchPodMeta + `"containers":[` + benchContainer + benchMore +
		`,{"name":"side","image":"side:1","args":["--x","--y"],"resources":{}` + benchMore + `],"tolerations":[` +
		`{"key":"a","operator":"Exists","effect":"NoSchedule"},` +
		`{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},` +
		`{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],` +
		`"dnsPolicy":"ClusterFirst","enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority","priority":0,` +
		`"schedulerName":"default-scheduler","securityContext":{},"terminationGracePeriodSeconds":30}}`
	benchShortPod = benchPodMeta + `"containers":[` + benchContainer + `},{"name":"side","image":"side:1","args":["--x","--y"]}],` +
		`"tolerations":[{"key":"a","operator":"Exists","effect":"NoSchedule"}]}}`
)

// BenchmarkStart measures a server that starts and ends, and one that also takes an object from a new client.
func BenchmarkStart(b *testing.B) {
	b.Run("alone", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			ctx, stop := context.WithCancel(context.Background())
			server, ended := clienttest.New(clienttest.Options{}), make(chan error, 1)
			go func() { ended <- server.Run(ctx) }()
			_ = server.Config()
			stop()
			if err := <-ended; err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("with an object", benchmarkStartWithAnObject)
}

func benchmarkStartWithAnObject(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		h := newHarness(b, clienttest.Options{})
		h.must(b, http.MethodPost, "/api/v1/namespaces/default/configmaps", fmt.Sprintf(benchBody, "cm", 0))
	}
}

// BenchmarkStartWithADefinition measures the same with a CustomResourceDefinition of two versions.
func BenchmarkStartWithADefinition(b *testing.B) {
	text := strings.Replace(manifest(`{type: object, properties: {title: {type: string, maxLength: 3}, size: {type: integer, default: 1}}}`), "  versions:\n",
		"  versions:\n  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}\n", 1)
	file := write(b, "pages.yaml", text)
	b.ReportAllocs()
	for b.Loop() {
		h := newHarness(b, clienttest.Options{CRDs: []string{file}})
		h.must(b, http.MethodPost, pagesPath, page("a", `{"title":"abc"}`))
	}
}

// BenchmarkCreate measures a create of an object without rules of its own, and of one with many defaults and rules.
func BenchmarkCreate(b *testing.B) {
	for _, kind := range []struct{ name, resource, body string }{
		{"configmaps", "configmaps", benchBody}, {"pods", "pods", benchPod}, {"short pods", "pods", benchShortPod},
	} {
		b.Run(kind.name, func(b *testing.B) {
			h := newHarness(b, clienttest.Options{})
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				body := strings.Replace(kind.body, "%q", fmt.Sprintf(`"a-%d"`, i), 1)
				h.must(b, http.MethodPost, "/api/v1/namespaces/default/"+kind.resource, body)
			}
		})
	}
}

// BenchmarkFanOut measures an update until the last of 100 watches has its event.
func BenchmarkFanOut(b *testing.B) {
	h := newHarness(b, clienttest.Options{})
	const watches, path = 100, "/api/v1/namespaces/default/configmaps"
	h.must(b, http.MethodPost, path, fmt.Sprintf(benchBody, "cm", 0))
	events := make(chan struct{}, watches)
	var readers sync.WaitGroup
	for range watches {
		resp := h.open(b, http.MethodGet, path+"?watch=true&resourceVersion="+h.version(b), "")
		readers.Go(func() {
			lines := bufio.NewScanner(resp.Body)
			for lines.Scan() {
				events <- struct{}{}
			}
		})
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		h.must(b, http.MethodPut, path+"/cm", fmt.Sprintf(benchBody, "cm", i))
		for range watches {
			<-events
		}
	}
	b.StopTimer()
	h.server.DropWatches()
	readers.Wait()
}

// BenchmarkPatch measures a merge patch of a pod, with the ownership of its fields.
func BenchmarkPatch(b *testing.B) {
	h := newHarness(b, clienttest.Options{})
	const path = "/api/v1/namespaces/default/pods"
	h.must(b, http.MethodPost, path, fmt.Sprintf(benchPod, "p"))
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		h.must(b, http.MethodPatch, path+"/p", fmt.Sprintf(`{"metadata":{"annotations":{"a":"%d"}}}`, i))
	}
}

// BenchmarkListOfPods measures a list of pods, in both forms.
func BenchmarkListOfPods(b *testing.B) {
	for _, n := range []int{1000, 20_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) { benchmarkListOf(b, n) })
	}
}

func benchmarkListOf(b *testing.B, pods int) {
	h := newHarness(b, clienttest.Options{})
	for i := range pods {
		h.must(b, http.MethodPost, "/api/v1/namespaces/default/pods", fmt.Sprintf(benchPod, fmt.Sprintf("p-%d", i)))
	}
	for _, accept := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		b.Run(accept[strings.LastIndexAny(accept, "./")+1:], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				resp := h.open(b, http.MethodGet, "/api/v1/pods", "", "Accept", accept)
				size, err := io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(size)
			}
		})
	}
}
