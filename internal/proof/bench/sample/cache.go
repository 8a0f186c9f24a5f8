package sample

// The jobs of a cache, without a server.

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Feed is one side's cache with its delivery to handlers, fed by this process instead of a watch.
type Feed struct {
	Settings string
	// Start starts with keys objects at the versions 1 to keys. Both handlers are called with the versions that they
	// get. Start returns a function that feeds the update of one object.
	Start func(ctx context.Context, keys int, slow, fast func(version int)) (update func(key, version int), err error)
}

// Slow is the job of one subscriber that does not keep up, beside one that does. Its first call blocks until all
// updates are in the cache, which the other subscriber reports. At that moment the heap is measured, minus its size
// before the first update; then the slow subscriber goes on. A final state arrives when the handler gets the last
// version of an object.
func Slow(f Feed) Job {
	return func(ctx context.Context, p Params) (Report, error) {
		last := p.Keys + p.Updates // the last version
		synced := [2]chan struct{}{make(chan struct{}), make(chan struct{})}
		done := [2]chan struct{}{make(chan struct{}), make(chan struct{})}
		var calls, finals, initial [2]int // each handler has its own
		handler := func(i int) func(int) {
			return func(version int) {
				switch {
				case version <= p.Keys:
					if initial[i]++; initial[i] == p.Keys {
						close(synced[i])
					}
					return
				case version > last-p.Keys:
					finals[i]++
				}
				calls[i]++
				if finals[i] == p.Keys {
					close(done[i])
				}
			}
		}
		release := make(chan struct{})
		count, blocked := handler(0), false
		update, err := f.Start(ctx, p.Keys, func(version int) {
			if version > p.Keys && !blocked {
				blocked = true
				<-release
			}
			count(version)
		}, handler(1))
		if err != nil {
			return Report{}, err
		}
		<-synced[0]
		<-synced[1]
		before := liveHeap()
		for i := range p.Updates {
			update(i%p.Keys, p.Keys+i+1)
		}
		<-done[1]
		growth := liveHeap() - before
		close(release)
		<-done[0]
		return Report{
			Settings: f.Settings, Counts: map[string]int{"final": finals[0]},
			Figures: map[string]float64{"growth": growth, "final": float64(finals[0]), "calls": float64(calls[0])},
		}, nil
	}
}

// Bench is one benchmark of a cache.
type Bench struct {
	Name string
	Run  func(b *testing.B)
}

// Micro is the job of running benchmarks one after the other, by package testing.
func Micro(settings string, benches func(p Params) []Bench) Job {
	return func(_ context.Context, p Params) (Report, error) {
		testing.Init()
		if err := flag.Set("test.benchtime", p.BenchTime); err != nil {
			return Report{}, err
		}
		r := Report{Settings: settings, Counts: map[string]int{}, Figures: map[string]float64{}}
		for _, bench := range benches(p) {
			result := testing.Benchmark(bench.Run)
			if result.N == 0 {
				return Report{}, fmt.Errorf("benchmark %s failed", bench.Name)
			}
			r.Figures[bench.Name+" ns"] = float64(result.T.Nanoseconds()) / float64(result.N)
			r.Figures[bench.Name+" allocs"] = float64(result.AllocsPerOp())
			r.Counts["benchmarks"]++
		}
		return r, nil
	}
}

// Contended is one side's cache, which readers and a writer use at the same time.
type Contended struct {
	Settings string
	// Start fills a cache with objects. list reads all of them once and returns how many it saw; update makes a new
	// state of one and returns a function that writes it.
	Start func(objects int) (list func() int, update func(key, version int) (write func()))
}

// Contention is the job of readers that list all objects again and again while one writer replaces one after the other.
// Both have a rate, so that both sides have the same work. The time of a write is that of its call, including its waits
// for locks and for the processor. A writer that is late writes the next ones at once. The figures are of the writes
// that were done in the duration. The reached rates of writes and lists are reported too, because a side that does not
// reach its rates is measured under less load.
func Contention(c Contended) Job {
	return func(ctx context.Context, p Params) (Report, error) {
		list, update := c.Start(p.Listed)
		ctx, cancel := context.WithTimeout(ctx, p.Duration)
		defer cancel()
		var lists, wrong atomic.Int64
		var wg sync.WaitGroup
		began := time.Now()
		for i := range p.Readers {
			offset := p.Every * time.Duration(i) / time.Duration(p.Readers)
			wg.Go(func() {
				for n := 0; wait(ctx, began.Add(offset+p.Every*time.Duration(n))); n++ {
					if list() != p.Listed {
						wrong.Add(1)
					}
					lists.Add(1)
				}
			})
		}
		var times []time.Duration
		for wait(ctx, began.Add(time.Second*time.Duration(len(times))/time.Duration(p.Writes))) {
			write := update(len(times)%p.Listed, p.Listed+len(times)+1)
			start := time.Now()
			write()
			times = append(times, time.Since(start))
		}
		took := time.Since(began).Seconds()
		wg.Wait()
		if len(times) == 0 {
			return Report{}, fmt.Errorf("write in %v: not a single one got through", p.Duration)
		}
		slices.Sort(times)
		at := func(share float64) float64 { return times[int(share*float64(len(times)-1))].Seconds() }
		return Report{
			Settings: c.Settings, Counts: map[string]int{"wrong lists": int(wrong.Load())},
			Figures: map[string]float64{
				"p50": at(0.5), "p99": at(0.99), "p999": at(0.999), "max": at(1), "writes": float64(len(times)) / took, "lists": float64(lists.Load()) / took,
			},
		}, nil
	}
}

// wait waits until a moment, and reports whether it came before the context's end. It does not wait for a moment in the
// past.
func wait(ctx context.Context, at time.Time) bool {
	if left := time.Until(at); left > 0 {
		time.Sleep(left)
	}
	return ctx.Err() == nil
}
