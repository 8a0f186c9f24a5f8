package workqueue_test

import (
	"context"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bowline-go/bowline/workqueue"
)

func succeed(context.Context, string) error { return nil }

func names(n int) []string {
	s := make([]string, n)
	for i := range s {
		s[i] = "namespace/object-" + strconv.Itoa(i)
	}
	return s
}

// One key goes through an empty queue: the floor of what the queue costs.
func BenchmarkAddDo(b *testing.B) {
	q, ctx := workqueue.New(workqueue.Options[string]{}), b.Context()
	b.ReportAllocs()
	for b.Loop() {
		q.Add("key")
		_ = q.Do(ctx, succeed)
	}
}

// The same with a worker that settles a key and takes the next one in one step.
func BenchmarkAddWork(b *testing.B) {
	q := workqueue.New(workqueue.Options[string]{})
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	b.ReportAllocs()
	n := 0
	q.Add("key")
	_ = q.Work(ctx, func(_ context.Context, k string) error {
		if n++; n < b.N {
			q.Add(k)
		} else {
			cancel()
		}
		return nil
	})
}

// Hooks cost nothing if none is set, and some nanoseconds each.
func BenchmarkHooks(b *testing.B) {
	type hooks = workqueue.Hooks[string]
	n := 0
	for _, test := range []struct {
		name  string
		hooks hooks
	}{
		{"none", hooks{}},
		{"Add", hooks{Add: func(workqueue.HookInfo[string]) { n++ }}},
		{"Start", hooks{Start: func(workqueue.HookInfo[string]) { n++ }}},
		{"Done", hooks{Done: func(workqueue.HookInfo[string]) { n++ }}},
		{"all", hooks{
			Add:   func(workqueue.HookInfo[string]) { n++ },
			Start: func(workqueue.HookInfo[string]) { n++ },
			Done:  func(workqueue.HookInfo[string]) { n++ },
			Retry: func(workqueue.HookInfo[string]) { n++ },
		}},
	} {
		b.Run(test.name, func(b *testing.B) {
			q, ctx := workqueue.New(workqueue.Options[string]{Hooks: test.hooks}), b.Context()
			b.ReportAllocs()
			for b.Loop() {
				q.Add("key")
				_ = q.Do(ctx, succeed)
			}
		})
	}
}

// 10,000 keys of several priorities wait, and one more goes through the queue.
func BenchmarkPriorities(b *testing.B) {
	for _, priorities := range []int{1, 5, 201} {
		b.Run(strconv.Itoa(priorities), func(b *testing.B) {
			q, ctx := workqueue.New(workqueue.Options[int]{}), b.Context()
			next := 0
			add := func() {
				q.AddWith(next, workqueue.AddOptions{Priority: next%priorities - priorities/2})
				next++
			}
			for range 10_000 {
				add()
			}
			b.ReportAllocs()
			for b.Loop() {
				add()
				_ = q.Do(ctx, func(context.Context, int) error { return nil })
			}
		})
	}
}

// 100,000 keys of so many groups are added, then done. 0 is without groups, and the others with weights.
func BenchmarkGroups(b *testing.B) {
	type key struct {
		group string
		n     int
	}
	for _, groups := range []int{0, 1, 100, 10_000} {
		b.Run(strconv.Itoa(groups), func(b *testing.B) {
			ctx := b.Context()
			var o workqueue.Options[key]
			if groups > 0 {
				o.Group = func(k key) string { return k.group }
				o.Weight = func(group string) int { return len(group) }
			}
			keys := make([]key, 100_000)
			for i := range keys {
				keys[i] = key{strconv.Itoa(i % max(1, groups)), i}
			}
			q := workqueue.New(o)
			b.ReportAllocs()
			for b.Loop() {
				for _, k := range keys {
					q.Add(k)
				}
				for range keys {
					_ = q.Do(ctx, func(context.Context, key) error { return nil })
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(keys)), "ns/key")
		})
	}
}

// 100,000 ready keys are raised, one after the other, and done.
func BenchmarkRaise(b *testing.B) {
	ctx, keys := b.Context(), names(100_000)
	for b.Loop() {
		q := workqueue.New(workqueue.Options[string]{})
		for _, k := range keys {
			q.AddWith(k, workqueue.AddOptions{Priority: workqueue.LowPriority})
		}
		for i := range keys {
			q.Add(keys[i*7919%len(keys)])
		}
		for range keys {
			_ = q.Do(ctx, succeed)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(keys)), "ns/key")
}

// All keys are listed, of which there are 100,000.
func BenchmarkKeys(b *testing.B) {
	q, keys := workqueue.New(workqueue.Options[string]{}), names(100_000)
	for _, k := range keys {
		q.Add(k)
	}
	b.ReportAllocs()
	for b.Loop() {
		for range q.Keys() {
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(keys)), "ns/key")
}

// Eight goroutines add a key of their own and do whichever is first, while 10,000 other keys wait for their time.
func BenchmarkAddDoParallelWithDelays(b *testing.B) {
	q, ctx := workqueue.New(workqueue.Options[int64]{}), b.Context()
	var next atomic.Int64
	for range 10_000 {
		q.AddAfter(next.Add(1), time.Hour+time.Duration(next.Load())*time.Millisecond)
	}
	b.SetParallelism(max(1, 8/runtime.GOMAXPROCS(0)))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			q.Add(next.Add(1))
			_ = q.Do(ctx, func(context.Context, int64) error { return nil })
		}
	})
}

// One goroutine adds a key and waits until another, which waits for keys, has done it: two hand-overs.
func BenchmarkWakeUp(b *testing.B) {
	q, done := workqueue.New(workqueue.Options[string]{}), make(chan struct{})
	q.AddAfter("later", time.Hour) // so that there is a timer to keep
	go func() {
		for q.Do(b.Context(), func(context.Context, string) error { done <- struct{}{}; return nil }) == nil {
		}
	}()
	b.ReportAllocs()
	for b.Loop() {
		q.Add("key")
		<-done
	}
}

// Duplicates of a ready key: what a storm of events on one object costs.
func BenchmarkAddDuplicate(b *testing.B) {
	q := workqueue.New(workqueue.Options[string]{})
	q.Add("key")
	b.ReportAllocs()
	for b.Loop() {
		q.Add("key")
	}
}

// 100,000 keys are delayed and superseded by an earlier time each: the heap at its deepest.
func BenchmarkAddAfter(b *testing.B) {
	q, keys := workqueue.New(workqueue.Options[string]{}), names(100_000)
	for _, k := range keys {
		q.AddAfter(k, 1000*time.Hour)
	}
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		i++
		q.AddAfter(keys[i*7919%len(keys)], 1000*time.Hour-time.Duration(i)*time.Millisecond)
	}
}

// A million keys are added, then done. B/key is the heap at the peak for each key (its text included), B-left what the
// empty queue holds afterwards.
func BenchmarkMillionKeys(b *testing.B) {
	const n = 1_000_000
	ctx := b.Context()
	var peak, left float64
	b.ReportAllocs()
	for b.Loop() {
		q := workqueue.New(workqueue.Options[string]{})
		before := heapInUse()
		for i := range n {
			q.Add("namespace/object-" + strconv.Itoa(i))
		}
		peak = float64(heapInUse()-before) / n
		for range n {
			_ = q.Do(ctx, succeed)
		}
		left = float64(heapInUse() - before)
		runtime.KeepAlive(q)
	}
	b.ReportMetric(peak, "B/key")
	b.ReportMetric(left, "B-left")
}

func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
