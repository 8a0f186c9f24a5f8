package store_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

// Run with: go test -run '^$' -bench . -benchmem ./internal/store

func BenchmarkSet(b *testing.B) {
	type reader = cache.Reader[*thing]
	for _, test := range []struct {
		name    string
		indexes func(reader)
		loop    bool
	}{
		{"update", func(reader) {}, false},
		{"update with an index", func(r reader) {
			cache.NewIndex(r, func(o *thing) []string { return []string{o.ID.Namespace} })
		}, false},
		{"update with two indexes", func(r reader) {
			cache.NewIndex(r, func(o *thing) []string { return []string{o.ID.Namespace} })
			cache.NewIndex(r, func(o *thing) []string { return []string{o.ID.UID} })
		}, false},
		{"update with two value indexes", func(r reader) {
			cache.NewValueIndex(r, func(o *thing) string { return o.ID.Namespace })
			cache.NewValueIndex(r, func(o *thing) string { return o.ID.UID })
		}, false},
		{"update between loops of readers", func(reader) {}, true},
	} {
		b.Run(test.name, func(b *testing.B) {
			ids := identities(10_000)
			s, objects := filled(ids)
			test.indexes(s.Reader())
			benchmarkUpdates(b, s, ids, objects, func() {
				if test.loop {
					for range s.Reader().All() {
						break
					}
				}
			})
		})
	}
}

// BenchmarkSetBesideLoops updates objects at random, each right after the start of a loop over all.
func BenchmarkSetBesideLoops(b *testing.B) {
	for _, n := range []int{1000, 100_000, 1_000_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			ids := identities(n)
			s, objects := filled(ids)
			rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
			benchmarkUpdates(b, s, ids, objects, func() {
				for range s.Reader().All() {
					break
				}
			})
		})
	}
}

func benchmarkUpdates(b *testing.B, s things, ids []meta.Identity, objects []*thing, between func()) {
	versions, w := manyVersions(), s.Writer("")
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		id := ids[i%len(ids)]
		id.ResourceVersion = versions[i/len(ids)%len(versions)]
		w.Set(id, objects[i%len(ids)])
		between()
		i++
	}
}

// BenchmarkCheckMutations updates objects with metadata of the usual size, of which none or all are checked.
func BenchmarkCheckMutations(b *testing.B) {
	for _, oneIn := range []int{0, 1} {
		b.Run(fmt.Sprint("one in ", oneIn), func(b *testing.B) {
			s := storetest.New[*labelled]()
			s.CheckMutations(oneIn, math.MaxInt, func(err *cache.MutationError) { b.Error(err) })
			ids := identities(1000)
			objects := make([]*labelled, len(ids))
			for i, id := range ids {
				objects[i] = &labelled{ObjectMeta: meta.ObjectMeta{
					Namespace: id.Namespace, Name: id.Name, UID: id.UID,
					Labels:      map[string]string{"app": "web", "tier": "front", "pod-template-hash": "7d4b9c6f5d"},
					Annotations: map[string]string{"checksum/config": "0c7e4a3b9d51"},
				}}
			}
			versions, w := manyVersions(), s.Writer("")
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				id := ids[i%len(ids)]
				id.ResourceVersion = versions[i/len(ids)%len(versions)]
				w.Set(id, objects[i%len(ids)])
				i++
			}
		})
	}
}

// BenchmarkSelect looks for 100 of 10,000 objects.
func BenchmarkSelect(b *testing.B) {
	for _, indexed := range []bool{false, true} {
		b.Run(fmt.Sprint("indexed ", indexed), func(b *testing.B) {
			s := storetest.New[*labelled]()
			for i := range 10_000 {
				putLabelled(s, fmt.Sprint(i), "1", fmt.Sprintf("app=web-%d,tier=front,version=7", i%100))
			}
			if indexed {
				cache.NewLabelIndex(s.Reader(), "app")
			}
			sel, err := meta.ParseSelector("app=web-7,tier=front")
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				for range cache.Select(s.Reader(), sel) {
					n++
				}
				if n != 100 {
					b.Fatalf("%d objects", n)
				}
			}
		})
	}
}

// BenchmarkSorted begins a loop over all in the order of their keys, with the objects in the cache in another one.
func BenchmarkSorted(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			ids := identities(n)
			rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
			s, _ := filled(ids)
			b.ReportAllocs()
			for b.Loop() {
				for range s.Reader().Sorted() {
					break
				}
			}
		})
	}
}

func BenchmarkGet(b *testing.B) {
	ids := identities(10_000)
	s, _ := filled(ids)
	r := s.Reader()
	b.Run("one reader", func(b *testing.B) {
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			if _, ok := r.Get(ids[i%len(ids)].Key()); !ok {
				b.Fatal("not found")
			}
			i++
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for i := 0; pb.Next(); i++ {
				r.Get(ids[i%len(ids)].Key())
			}
		})
	})
}

func BenchmarkLoop(b *testing.B) {
	ids := identities(10_000)
	s, _ := filled(ids)
	r := s.Reader()
	ix := cache.NewIndex(r, func(o *thing) []string { return []string{o.ID.Namespace} })
	for _, test := range []struct {
		name string
		loop func() (n int)
		want int
	}{
		{"All of 10000", func() (n int) {
			for range r.All() {
				n++
			}
			return n
		}, 10_000},
		{"Namespace of 50", func() (n int) {
			for range r.Namespace("team-7") {
				n++
			}
			return n
		}, 50},
		{"Index.Get of 50", func() (n int) {
			for range ix.Get("team-7") {
				n++
			}
			return n
		}, 50},
	} {
		b.Run(test.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if n := test.loop(); n != test.want {
					b.Fatalf("%d objects", n)
				}
			}
		})
	}
}

func BenchmarkRelist(b *testing.B) {
	ids := identities(10_000)
	b.Run("10000 unchanged", func(b *testing.B) {
		s, _ := filled(ids)
		b.ReportAllocs()
		for b.Loop() {
			r := s.Relist()
			for _, id := range ids {
				if _, kept := r.Keep(id); !kept {
					b.Fatal("not kept")
				}
			}
			r.Commit("2")
		}
	})
	b.Run("first of 10000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			filled(ids)
		}
	})
}

// BenchmarkRelistWait commits lists in which each object has a new state and a new value of an index, while one reader
// calls Get and another Index.Len. It reports the longest time that a call took, which on a busy machine includes the time
// without a processor. "in place" shows the wait if the change were not prepared beside the readers' tables.
func BenchmarkRelistWait(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		for _, per := range []int{1, 100} {
			for name, large := range map[string]int{"in place": math.MaxInt, "beside": 1000} {
				b.Run(fmt.Sprintf("%d, %d per value, %s", n, per, name), func(b *testing.B) { benchmarkRelistWait(b, n, per, large) })
			}
		}
	}
}

func benchmarkRelistWait(b *testing.B, n, per, large int) {
	ids := make([]meta.Identity, n)
	for i := range ids {
		ids[i] = meta.Identity{Namespace: "ns", Name: strconv.Itoa(i), UID: "u"}
	}
	s := storetest.New[*numbered]()
	s.SetLarge(large)
	r := s.Reader()
	ix := cache.NewValueIndex(r, func(o *numbered) int { return o.group })
	relist := func(generation int) time.Duration {
		rel := s.Relist()
		for i, id := range ids {
			id.ResourceVersion = strconv.Itoa(generation)
			rel.Set(id, &numbered{id, generation*n + i/per, generation})
		}
		runtime.GC()
		began := time.Now()
		rel.Commit(strconv.Itoa(generation))
		return time.Since(began)
	}
	relist(0)
	var stop atomic.Bool
	var readers sync.WaitGroup
	read := func(longest *time.Duration, call func(i int)) {
		readers.Go(func() {
			for i := 0; !stop.Load(); i++ {
				began := time.Now()
				call(i)
				*longest = max(*longest, time.Since(began))
				if i%64 == 0 {
					time.Sleep(100 * time.Microsecond) // leave the processor to the writer
				}
			}
		})
	}
	var get, length, commit time.Duration
	read(&get, func(i int) { r.Get(ids[i*7919%n].Key()) })
	read(&length, func(i int) { ix.Len(i) })
	generation := 0
	for b.Loop() {
		generation++
		commit += relist(generation)
	}
	stop.Store(true)
	readers.Wait()
	b.ReportMetric(float64(get.Microseconds())/1000, "ms-Get")
	b.ReportMetric(float64(length.Microseconds())/1000, "ms-Len")
	b.ReportMetric(float64(commit.Milliseconds())/float64(generation), "ms-Commit")
}

// BenchmarkMemory reports what the store, an index and a waiting subscription cost per object, without the objects and
// the strings of their identities.
func BenchmarkMemory(b *testing.B) {
	const n = 100_000
	ids := identities(n)
	objects := make([]*thing, n)
	for i, id := range ids {
		objects[i] = &thing{ID: id}
	}
	fill := func() things {
		s := storetest.New[*thing]()
		r := s.Relist()
		for i, id := range ids {
			r.Set(id, objects[i])
		}
		r.Commit("1")
		return s
	}
	b.Run("store", func(b *testing.B) {
		measure(b, n, func() any { return fill() })
	})
	b.Run("store, object by object", func(b *testing.B) {
		measure(b, n, func() any {
			s := storetest.New[*thing]()
			for i, id := range ids {
				s.Set(id, objects[i])
			}
			return s
		})
	})
	for _, per := range []int{1, 2, 5, 20, 1000, n} {
		b.Run(fmt.Sprintf("index, %d per value", per), func(b *testing.B) {
			s := fill()
			values := make([]string, n)
			of := make(map[*thing]int, n)
			for i, o := range objects {
				values[i], of[o] = fmt.Sprintf("node-%06d", i/per), i
			}
			measure(b, n, func() any {
				ix := cache.NewIndex(s.Reader(), func(o *thing) []string { return values[of[o] : of[o]+1] })
				return ix
			})
			runtime.KeepAlive(values)
			runtime.KeepAlive(of)
		})
	}
	b.Run("1000 subscriptions, 1000 objects, all delivered", func(b *testing.B) {
		measure(b, 1000, func() any {
			s, _ := filled(ids[:1000])
			ctx, cancel := context.WithCancel(b.Context())
			done := make(chan error)
			go func() { done <- s.Deliver(ctx, nil) }()
			for range 1000 {
				sub := s.Reader().Subscribe(nil)
				if err := sub.WaitSynced(ctx); err != nil {
					b.Fatal(err)
				}
			}
			s.Set(ids[0], objects[0])
			cancel()
			if err := <-done; err != nil {
				b.Fatal(err)
			}
			return s
		})
	})
	b.Run("subscription, all pending", func(b *testing.B) {
		s := fill()
		measure(b, n, func() any { return s.Reader().Subscribe(nil) })
	})
	for name, subscribe := range map[string]func(cache.Reader[*thing]) *cache.Subscription{
		"subscription":          func(r cache.Reader[*thing]) *cache.Subscription { return r.Subscribe(nil) },
		"filtered subscription": func(r cache.Reader[*thing]) *cache.Subscription { return r.Where(isThing).Subscribe(nil) },
	} {
		b.Run(name+", all delivered", func(b *testing.B) {
			s := fill()
			measure(b, n, func() any {
				sub := subscribe(s.Reader())
				ctx, cancel := context.WithCancel(b.Context())
				go func() { <-sub.Synced(); cancel() }()
				if err := s.Deliver(ctx, nil); err != nil {
					b.Fatal(err)
				}
				return sub
			})
		})
	}
}

func isThing(*thing) bool { return true }

// measure reports the heap that what build returns takes, divided by n.
func measure(b *testing.B, n int, build func() any) {
	b.Helper()
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&before)
		built := build()
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(built)
	}
	b.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc))/float64(n), "B/object")
}

// BenchmarkDelivery writes as fast as it can, and counts an operation when every handler knows of it. It reports the
// merged changes.
func BenchmarkDelivery(b *testing.B) {
	for _, handlers := range []int{1, 4} {
		b.Run(fmt.Sprintf("%d handlers", handlers), func(b *testing.B) {
			ids := identities(10_000)
			s, objects := filled(ids)
			versions, w := manyVersions(), s.Writer("")
			calls := make([]int, handlers)
			var left sync.WaitGroup
			var subs []*cache.Subscription
			for h := range handlers {
				left.Add(1)
				subs = append(subs, s.Reader().Subscribe(cache.HandlerFuncs[*thing]{
					Update: func(_, _ *thing) { calls[h]++ },
					Delete: func(*thing) { left.Done() },
				}))
			}
			ctx, cancel := context.WithCancel(b.Context())
			done := make(chan error)
			go func() { done <- s.Deliver(ctx, func(err *cache.PanicError) { b.Error(err) }) }()
			for _, sub := range subs {
				if err := sub.WaitSynced(ctx); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				id := ids[n%len(ids)]
				id.ResourceVersion = versions[n/len(ids)%len(versions)]
				w.Set(id, objects[n%len(ids)])
				n++
			}
			w.Delete(ids[n%len(ids)], objects[0])
			left.Wait()
			cancel()
			if err := <-done; err != nil {
				b.Fatal(err)
			}
			total := 0
			for _, c := range calls {
				total += c
			}
			b.ReportMetric(float64(total)/float64(n*handlers), "calls/change")
		})
	}
}

// BenchmarkFanOut writes as fast as it can beside many subscriptions, and counts an operation when all of them have
// handled it, or a later state of its object. It reports the time for each write and subscription, and of the write alone.
func BenchmarkFanOut(b *testing.B) {
	for _, subscriptions := range []int{1, 100, 1000} {
		for _, filter := range []struct {
			name  string
			match func(*numbered) bool
		}{
			{"all", nil},
			{"one in 100", func(o *numbered) bool { return o.group%100 == 0 }},
			{"none", func(o *numbered) bool { return o.group < 0 }},
		} {
			b.Run(fmt.Sprintf("%d, %s", subscriptions, filter.name), func(b *testing.B) {
				const n = 10_000
				s := storetest.New[*numbered]()
				objects := make([]*numbered, n)
				for i, id := range identities(n) {
					objects[i] = &numbered{Identity: id, group: i}
					s.Set(id, objects[i])
				}
				s.Relist().Commit("1")
				ctx, cancel := context.WithCancel(b.Context())
				done := make(chan error)
				go func() { done <- s.Deliver(ctx, nil) }()
				w := s.Writer("")
				subs := make([]*cache.Subscription, subscriptions)
				for i := range subs {
					subs[i] = s.Reader().Where(filter.match).Subscribe(nil)
				}
				for _, sub := range subs {
					if err := sub.WaitSynced(ctx); err != nil {
						b.Fatal(err)
					}
				}
				versions := manyVersions()
				b.ReportAllocs()
				writes := 0
				began := time.Now()
				b.ResetTimer()
				for range b.N {
					o := objects[writes%n]
					id := o.Identity
					id.ResourceVersion = versions[writes/n%len(versions)]
					w.Set(id, o)
					writes++
				}
				written := time.Since(began)
				for _, sub := range subs {
					for pending(sub) > 0 {
						time.Sleep(50 * time.Microsecond)
					}
				}
				b.ReportMetric(float64(time.Since(began).Nanoseconds())/float64(writes*subscriptions), "ns/write/sub")
				b.ReportMetric(float64(written.Nanoseconds())/float64(writes), "ns/write")
				cancel()
				if err := <-done; err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}
