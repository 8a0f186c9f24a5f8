package debug_test

import (
	"fmt"
	"iter"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/debug"
)

func infoOf[T meta.Object](objects []T) informer.RunInfo {
	return informer.RunInfo{Objects: func() iter.Seq2[meta.Identity, meta.Object] {
		return func(yield func(meta.Identity, meta.Object) bool) {
			for _, o := range objects {
				if !yield(meta.Identity{Namespace: o.GetNamespace(), Name: o.GetName()}, o) {
					return
				}
			}
		}
	}}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// The estimate is compared with what the objects take, beside the fixed size of a row.
func TestTheEstimateOfMemoryIsNear(t *testing.T) {
	const n, row = 20_000, 128
	for name, test := range map[string]func(i int) meta.Object{
		"a typed object with maps": func(i int) meta.Object {
			return &Thing{
				ObjectMeta: meta.ObjectMeta{
					Namespace: "default", Name: fmt.Sprint("name-", i), UID: fmt.Sprint("uid-", i), ResourceVersion: fmt.Sprint(i),
					Labels: map[string]string{"app": "web", "n": fmt.Sprint("v", i)}, CreationTimestamp: meta.Time{Time: time.Now()},
				},
				Data: map[string]string{"text": strings.Repeat("x", 100+i%200)},
			}
		},
		"an untyped object": func(i int) meta.Object {
			return &meta.Unstructured{Object: map[string]any{
				"metadata": map[string]any{"name": fmt.Sprint("name-", i), "namespace": "default"},
				"spec":     map[string]any{"replicas": int64(i), "list": []any{"a", fmt.Sprint("b", i), map[string]any{"c": true}}},
			}}
		},
		"bytes": func(i int) meta.Object {
			return &blob{Identity: meta.Identity{Name: fmt.Sprint("name-", i)}, Bytes: make([]byte, 300), Next: &blob{}}
		},
	} {
		before := heap()
		objects := make([]meta.Object, n)
		for i := range objects {
			objects[i] = test(i)
		}
		real := heap() - before - 16*n // the slice
		got := debug.Weigh(infoOf(objects), n) - row*n
		if ratio := float64(got) / float64(real); ratio < 0.75 || ratio > 1.25 {
			t.Errorf("%s: the estimate is %d, and it takes %d", name, got, real)
		}
		runtime.KeepAlive(objects)
	}
	if got := debug.Weigh(infoOf([]*Thing(nil)), 0); got != 0 {
		t.Errorf("an empty cache takes %d", got)
	}
}

type blob struct {
	meta.Identity
	Bytes []byte
	Next  *blob
	Loop  any
}

// A value that refers to itself, also through others, is weighed once.
func TestACyclicValueIsWeighedOnce(t *testing.T) {
	b := &blob{Identity: meta.Identity{Name: "a"}}
	b.Next, b.Loop = b, map[string]any{"b": b}
	if got := debug.Weigh(infoOf([]*blob{b}), 1); got < 200 || got > 1500 {
		t.Errorf("it takes %d", got)
	}
}

func TestDurationsSizesAndNumbersAreReadable(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 ns", 1500: "1 µs", 999_999_999: "999 ms", 1500 * time.Millisecond: "1.5 s", 59 * time.Second: "59 s",
		200 * time.Second: "3 min 20 s", time.Hour: "1 h", 5*time.Hour + 10*time.Minute: "5 h 10 min", 76 * time.Hour: "3 d 4 h", -time.Minute: "-1 min",
	} {
		if got := debug.Short(d); got != want {
			t.Errorf("%d is %q, want %q", d, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 12_345: "12.3 kB", 999_960: "1.0 MB", 4_100_000: "4.1 MB", 1 << 62: "4.6 EB"} {
		if got := debug.Size(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1\u202f000", 1234567: "1\u202f234\u202f567", -999: "-999", -1000: "-1\u202f000"} {
		if got := debug.Grouped(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
