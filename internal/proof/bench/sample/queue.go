package sample

// Jobs of a work queue, without a server.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// QueueKey is what the queues hold: the namespace and the name of an object, as a controller has them.
type QueueKey struct{ Namespace, Name string }

// Queues is one side's work queue.
type Queues struct {
	Settings string
	// New returns an empty queue.
	New func() Queue
}

// Queue is a queue with its workers' loop.
type Queue struct {
	Add func(k QueueKey)
	Len func() int
	// AddPriority is Add with a priority; nil on a side that has none.
	AddPriority func(k QueueKey, priority int)
	// Work is a worker: it takes one key after the other, calls fn for each and settles it, until Stop.
	Work func(fn func(k QueueKey))
	Stop func()
}

// QueueWorkers are the numbers of workers that are measured, each with each of Params.QueueKeys.
var QueueWorkers = []int{1, 4, 16, 64}

// queued returns n keys with different names, in a random order that is always the same.
func queued(n int) []QueueKey {
	keys := make([]QueueKey, n)
	for i := range keys {
		keys[i] = QueueKey{"namespace-" + strconv.Itoa(i%100), "object-" + strconv.Itoa(i)}
	}
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return keys
}

// Work is the job of ordinary work with a queue, for each number of keys and of workers. Each repetition begins with a
// new queue and has three phases:
//
//   - add: one goroutine adds all keys and asks for their number: that makes a queue with a buffer empty its buffer.
//     No worker runs, so the queue grows. If the keys are few, the goroutine does the same with more new queues,
//     because a short phase would measure what the runtime does after the preceding garbage collection.
//   - do: the workers start, and take and finish all of them.
//   - both: the workers take and finish keys while one goroutine adds all of them, two or more times. It adds
//     them again when all are done. The queue does not grow any more.
//
// A run of a key does nothing but count. The figures are the wall time and the CPU time of a phase for each key, the
// median of the repetitions. The workers have started before a phase begins, and end after it. The allocations are
// those of the phase both.
func Work(s Queues) Job {
	return func(_ context.Context, p Params) (Report, error) {
		r := Report{Settings: s.Settings, Counts: map[string]int{}}
		figures := phases{}
		for size, n := range p.QueueKeys {
			keys := queued(n)
			for _, workers := range QueueWorkers {
				for range max(1, p.QueueWork/n/len(QueueWorkers)) {
					queues := make([]Queue, max(1, 20_000/n))
					for i := range queues {
						queues[i] = s.New()
					}
					r.Counts["wrong"] += figures.live(queues, keys, workers, fmt.Sprint(size))
				}
			}
		}
		r.Figures = figures.medians()
		return r, nil
	}
}

// Priorities is the job of a queue of Params.Prioritised keys, whose priorities are evenly spread over five. The phases
// are those of Work, with one worker. It also counts the keys that came after one of a lower priority in the phase do.
func Priorities(s Queues) Job {
	return func(_ context.Context, p Params) (Report, error) {
		keys := queued(p.Prioritised)
		priority := make(map[QueueKey]int, len(keys))
		for i, k := range keys {
			priority[k] = i%5*10 - 20
		}
		r := Report{Settings: s.Settings, Counts: map[string]int{}}
		figures := phases{}
		for range p.Repetitions {
			q := s.New()
			add, work := q.AddPriority, q.Work
			next := 0
			q.Add = func(k QueueKey) {
				add(k, next%5*10-20)
				next++
			}
			var order []QueueKey
			q.Work = func(fn func(QueueKey)) {
				work(func(k QueueKey) {
					if len(order) < len(keys) {
						order = append(order, k)
					}
					fn(k)
				})
			}
			r.Counts["wrong"] += figures.live([]Queue{q}, keys, 1, "")
			for i := range order {
				if i > 0 && priority[order[i]] > priority[order[i-1]] {
					r.Counts["disorder"]++
				}
			}
		}
		r.Figures = figures.medians()
		return r, nil
	}
}

// Crowd is the number of keys that wait beside Params.Prioritised keys of another namespace in the job Groups.
const Crowd = 10

// Groups is the job of a queue to which a few keys of a namespace are added when many keys of another namespace wait in
// it. Sixteen workers wait for 100 µs for each key, as for the answer of a server. The figure is the time from their
// start until the few are done. The phases of Work follow, with the keys of 100 namespaces, four workers and nothing to
// do for a key.
func Groups(s Queues) Job {
	return func(_ context.Context, p Params) (Report, error) {
		const waiting, workers = 16, 4
		r := Report{Settings: s.Settings, Counts: map[string]int{}}
		figures := phases{}
		keys := queued(p.Prioritised)
		for range p.Repetitions {
			q := s.New()
			for i := range p.Prioritised {
				q.Add(QueueKey{"many", strconv.Itoa(i)})
			}
			for i := range Crowd {
				q.Add(QueueKey{"few", strconv.Itoa(i)})
			}
			var few, all sync.WaitGroup
			few.Add(Crowd)
			all.Add(p.Prioritised + Crowd)
			var ended sync.WaitGroup
			figures.measure("few", 1, func() {
				for range waiting {
					ended.Go(func() {
						q.Work(func(k QueueKey) {
							time.Sleep(100 * time.Microsecond)
							if k.Namespace == "few" {
								few.Done()
							}
							all.Done()
						})
					})
				}
				few.Wait()
			})
			all.Wait()
			q.Stop()
			ended.Wait()
			r.Counts["wrong"] += figures.live([]Queue{s.New()}, keys, workers, "")
		}
		r.Figures = figures.medians()
		return r, nil
	}
}

// phases has the figures of all repetitions.
type phases map[string][]float64

func (p phases) medians() map[string]float64 {
	m := map[string]float64{}
	for name, all := range p {
		slices.Sort(all)
		m[name] = all[len(all)/2]
	}
	return m
}

// measure notes what one phase takes for each of n keys.
func (p phases) measure(name string, n int, phase func()) {
	runtime.GC() // the garbage of earlier phases
	before, used, began := mallocs(), cpu(), time.Now()
	phase()
	wall := time.Since(began)
	used = cpu() - used
	for what, v := range map[string]float64{
		"wall": float64(wall.Nanoseconds()), "cpu": float64(used.Nanoseconds()), "allocs": float64(mallocs() - before),
	} {
		p[name+" "+what] = append(p[name+" "+what], v/float64(n))
	}
}

// live is one repetition: the keys are added to all queues, which are new, and the workers take them from the first.
// It returns how many keys were missing after the phase add, and how many were done too often or not often enough.
func (p phases) live(queues []Queue, keys []QueueKey, workers int, size string) (wrong int) {
	n, q := len(keys), queues[0]
	rounds := max(2, 20_000/n)
	var finished atomic.Int64
	all := make(chan struct{}, 1)
	fn := func(QueueKey) {
		if finished.Add(1)%int64(n) == 0 {
			all <- struct{}{}
		}
	}
	add := func(q Queue) {
		for _, k := range keys {
			q.Add(k)
		}
	}
	p.measure("add "+size, n*len(queues), func() {
		for _, q := range queues {
			add(q)
			wrong += n - q.Len()
		}
	})
	for _, other := range queues[1:] {
		other.Stop()
	}
	clear(queues[1:])
	var started, ended sync.WaitGroup
	begin := make(chan struct{})
	for range workers {
		started.Add(1)
		ended.Go(func() {
			started.Done()
			<-begin
			q.Work(fn)
		})
	}
	started.Wait()
	suffix := size + " by " + strconv.Itoa(workers)
	p.measure("do "+suffix, n, func() {
		close(begin)
		<-all
	})
	p.measure("both "+suffix, n*rounds, func() {
		for range rounds {
			add(q)
			<-all
		}
	})
	q.Stop()
	ended.Wait()
	done := int(finished.Load())
	return max(wrong, -wrong) + max(done-n*(rounds+1), n*(rounds+1)-done)
}
