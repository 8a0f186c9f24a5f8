package sample

// The job of many informers for which nothing happens.

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"
)

// Fleet is one side's many informers.
type Fleet struct {
	// Settings are their public settings.
	Settings string
	// Start makes a client and n informers of pods, of the namespaces [Namespace](0) to [Namespace](n-1). It returns
	// when all are in sync, with a function that counts the pods in their caches.
	Start func(ctx context.Context, server string, n int) (count func() int, err error)
}

// Secure reports whether a server has TLS. The sides cannot verify its certificate.
func Secure(server string) bool { return strings.HasPrefix(server, "https:") }

// Namespace returns the name of the namespace of informer i.
func Namespace(i int) string { return fmt.Sprintf("team-%d", i) }

// warming is how many informers are started first, so that the costs that a program has only once are in no figure.
const warming = 20

// Waiting is the job of Params.Informers informers with empty caches, whose watches bring nothing. The figures are for
// one informer: the live heap, the stacks, and both together; the resident memory when the garbage has been given back
// to the system; and its goroutines. The live heap is measured after two collections, and the rest after four, each of
// which may halve a stack.
func Waiting(f Fleet) Job {
	return func(ctx context.Context, p Params) (Report, error) {
		first, err := f.Start(ctx, p.Server, warming)
		if err != nil {
			return Report{}, err
		}
		before, err := settled(ctx)
		if err != nil {
			return Report{}, err
		}
		all, err := f.Start(ctx, p.Server, p.Informers)
		if err != nil {
			return Report{}, err
		}
		after, err := settled(ctx)
		if err != nil {
			return Report{}, err
		}
		if err := writeProfiles(p.Profiles); err != nil {
			return Report{}, err
		}
		figures := map[string]float64{}
		for name, value := range after {
			figures[name] = (value - before[name]) / float64(p.Informers)
		}
		figures["memory"] = figures["heap"] + figures["stacks"]
		return Report{
			Settings: f.Settings, Figures: figures,
			Counts: map[string]int{"pods": first() + all()}, // also keeps the caches alive until here
		}, nil
	}
}

// settled waits until the number of goroutines has not changed for a second, and returns the memory and the goroutines
// of the process.
func settled(ctx context.Context) (map[string]float64, error) {
	for seen, since := runtime.NumGoroutine(), time.Now(); time.Since(since) < time.Second; {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
		if n := runtime.NumGoroutine(); n != seen {
			seen, since = n, time.Now()
		}
	}
	heap := liveHeap()
	steady := steadyMemory()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return map[string]float64{
		"heap": heap, "stacks": float64(stats.StackInuse), "rss": steady, "goroutines": float64(runtime.NumGoroutine()),
	}, nil
}
