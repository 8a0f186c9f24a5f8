package jsonstream_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/internal/jsonstream"
)

// readPod returns one pod of 8 KB, of which 3.4 KB are managedFields, as an item of a list is on the wire.
func readPod(tb testing.TB) []byte {
	tb.Helper()
	pod, err := os.ReadFile("testdata/pod.json")
	if err != nil {
		tb.Fatal(err)
	}
	return bytes.TrimSpace(pod)
}

// podOf returns pod under another name, uid and resource version.
func podOf(pod []byte, i int) []byte {
	pod = bytes.Replace(pod, []byte("7c9d8f6b5d-00000"), fmt.Appendf(nil, "7c9d8f6b5d-%05d", i), 1)
	pod = bytes.Replace(pod, []byte("4a4f-8f55-000000000000"), fmt.Appendf(nil, "4a4f-8f55-%012d", i), 1)
	return bytes.Replace(pod, []byte(`"1000000000"`), fmt.Appendf(nil, `"%d"`, 1000000000+i), 1)
}

func podList(tb testing.TB, n int) []byte {
	pod := readPod(tb)
	body := []byte(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1000012345"},"items":[`)
	for i := range n {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, podOf(pod, i)...)
	}
	return append(body, "]}\n"...)
}

func podEvents(tb testing.TB, n int) []byte {
	pod := readPod(tb)
	var body []byte
	for i := range n {
		body = append(body, `{"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1",`...)
		body = append(body, podOf(pod, i)[1:]...)
		body = append(body, "}\n"...)
	}
	return body
}

func metadataList(n int) []byte {
	body := []byte(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1",` +
		`"metadata":{"resourceVersion":"9"},"items":[`)
	for i := range n {
		if i > 0 {
			body = append(body, ',')
		}
		body = fmt.Appendf(body, `{"metadata":{"name":"checkout-%05d","namespace":"shop-00",`+
			`"uid":"d9f7a3de-2f7c-4a4f-8f55-%012d","resourceVersion":"%d"}}`, i, i, 1000000000+i)
	}
	return append(body, "]}\n"...)
}

func benchmarkList(b *testing.B, body []byte) {
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	items := 0
	for b.Loop() {
		l := jsonstream.NewList(bytes.NewReader(body), jsonstream.Options{})
		for {
			_, err := l.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			items++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(items), "ns/item")
}

func BenchmarkListOfPods(b *testing.B) { benchmarkList(b, podList(b, 1000)) }

// BenchmarkListOfMetadata has objects that are nothing but identity.
func BenchmarkListOfMetadata(b *testing.B) { benchmarkList(b, metadataList(10000)) }

func BenchmarkWatchOfPods(b *testing.B) {
	body := podEvents(b, 1000)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	items := 0
	for b.Loop() {
		w := jsonstream.NewWatch(bytes.NewReader(body), jsonstream.Options{})
		for {
			_, err := w.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			items++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(items), "ns/item")
}

func BenchmarkReadObject(b *testing.B) {
	large := []byte(`{"data":{"k":"` + strings.Repeat("x", 1<<20) + `"}}`)
	for _, bc := range []struct {
		name string
		body []byte
	}{{"pod", readPod(b)}, {"1 MiB", large}} {
		b.Run(bc.name, func(b *testing.B) {
			b.SetBytes(int64(len(bc.body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := jsonstream.ReadObject(bytes.NewReader(bc.body), jsonstream.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkReference frames the same bodies with json.Decoder, which reads no identity and cuts nothing, but validates
// everything.
func BenchmarkReference(b *testing.B) {
	frames := func(b *testing.B, body []byte, tokens int) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			d := json.NewDecoder(bytes.NewReader(body))
			for range tokens {
				if _, err := d.Token(); err != nil {
					b.Fatal(err)
				}
			}
			for d.More() {
				var item json.RawMessage
				if err := d.Decode(&item); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.Run("ListOfPods", func(b *testing.B) { frames(b, podList(b, 1000), 12) })
	b.Run("WatchOfPods", func(b *testing.B) { frames(b, podEvents(b, 1000), 0) })
}
