package client_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// podView is what a small controller reads of a pod: six fields.
type podView struct {
	meta.Identity `json:"metadata"`
	Spec          struct {
		NodeName string `json:"nodeName"`
	} `json:"spec"`
	Status struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

var podViews = client.Type[*podView]{Version: "v1", Kind: "Pod", Resource: "pods"}

// podJSON returns pods of 8 KB each, of which 3.4 KB are managedFields, without their kind.
func podJSON(tb testing.TB, n int) [][]byte {
	tb.Helper()
	pod, err := os.ReadFile("../internal/jsonstream/testdata/pod.json")
	if err != nil {
		tb.Fatal(err)
	}
	pod = bytes.TrimSpace(pod)
	pods := make([][]byte, n)
	for i := range pods {
		pods[i] = bytes.Replace(pod, []byte("7c9d8f6b5d-00000"), fmt.Appendf(nil, "7c9d8f6b5d-%05d", i), 1)
	}
	return pods
}

func podPage(pods [][]byte, next string) []byte {
	head := fmt.Appendf(nil, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":"%s"},"items":[`, next)
	return append(append(head, bytes.Join(pods, []byte(","))...), "]}"...)
}

// canned returns a client that gets pages[n] for the continue token of n bytes, without a network.
func canned(tb testing.TB, pages ...[]byte) *client.Client {
	return without(tb, func(r *http.Request) (*http.Response, error) {
		body := pages[len(r.URL.Query().Get("continue"))]
		return &http.Response{StatusCode: 200, Body: io.NopCloser(bytes.NewReader(body)), Request: r}, nil
	})
}

func benchmarkEach(b *testing.B, objects int, reuse func(meta.Identity) (*podView, bool), pages ...[]byte) {
	r := client.For(canned(b, pages...), podViews)
	b.ReportAllocs()
	size := 0
	for _, p := range pages {
		size += len(p)
	}
	b.SetBytes(int64(size))
	for b.Loop() {
		n := 0
		_, err := r.ListEach(b.Context(), client.ListOptions{}, reuse, func(item client.Item[*podView]) error {
			n++
			return item.Err
		})
		if err != nil || n != objects {
			b.Fatal(n, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*objects), "ns/object")
}

func BenchmarkEach(b *testing.B) {
	pods := podJSON(b, 2000)
	for _, n := range []int{1, 5, 50} {
		b.Run(fmt.Sprint("Pods", n), func(b *testing.B) { benchmarkEach(b, n, nil, podPage(pods[:n], "")) })
	}
	long := [][]byte{podPage(pods[:500], "x"), podPage(pods[500:1000], "xx"), podPage(pods[1000:1500], "xxx"), podPage(pods[1500:], "")}
	b.Run("Pages4x500", func(b *testing.B) { benchmarkEach(b, 2000, nil, long...) })
	b.Run("Unchanged4x500", func(b *testing.B) {
		have := &podView{}
		benchmarkEach(b, 2000, func(meta.Identity) (*podView, bool) { return have, true }, long...)
	})
}

func benchmarkWatch(b *testing.B, cut int) {
	pods := podJSON(b, 1000)
	var body []byte
	for _, p := range pods {
		body = append(body, `{"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1",`...)
		body = append(append(body, p[1:]...), "}\n"...)
	}
	c := without(b, func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: io.NopCloser(&pieces{bytes.NewReader(body), cut}), Request: r}, nil
	})
	r := client.For(c, podViews)
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		err := r.WatchEach(b.Context(), client.WatchOptions{}, nil, func(e client.Event[*podView]) error { return e.Err })
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(pods)), "ns/event")
}

// pieces returns at most size bytes at once.
type pieces struct {
	r    io.Reader
	size int
}

func (p *pieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), p.size)]) }

func BenchmarkEachEvent(b *testing.B) {
	b.Run("Burst", func(b *testing.B) { benchmarkWatch(b, 1<<30) })
	b.Run("Alone", func(b *testing.B) { benchmarkWatch(b, 4<<10) })
}
