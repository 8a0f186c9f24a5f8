package sample

// The jobs of a whole informer, against the canned server.

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"
)

// Informer is one side's informer of the server's pods.
type Informer struct {
	// Settings are its public settings.
	Settings string
	// Start makes a client and an informer, and returns when the cache is in sync. If told is not nil, a handler calls
	// it with the version of each object that is added or changed.
	Start func(ctx context.Context, server string, told func(version string)) (Cache, error)
}

// Cache is an informer's cache. Its functions may be called at any time.
type Cache struct {
	// Each calls yield with the node and the phase of every pod.
	Each func(yield func(node, phase string))
	// Version returns the version up to which the cache is current.
	Version func() string
	// Applied returns how many watch events are in the cache, if the side counts them; nil if a handler is called for
	// each.
	Applied func() int
}

// look counts the contents of the cache, to prove that each side keeps what it should.
func (c Cache) look() map[string]int {
	counts := map[string]int{"pods": 0, "running": 0, "nodes": 0}
	nodes := map[string]bool{}
	c.Each(func(node, phase string) {
		counts["pods"]++
		nodes[node] = true
		if phase == "Running" {
			counts["running"]++
		}
	})
	counts["nodes"] = len(nodes)
	return counts
}

// Sync is the job of a first list. Wall is the time from before the client is made to a cache in sync, without a
// handler. CPU is that of the process until then, including its start, and so is the peak memory. The live heap is
// measured after that, minus its size before the client was made, and last the resident memory, when the garbage has
// been given back to the system.
func Sync(inf Informer) Job {
	return func(ctx context.Context, p Params) (Report, error) {
		before := liveHeap()
		began := time.Now()
		cache, err := inf.Start(ctx, p.Server, nil)
		if err != nil {
			return Report{}, err
		}
		wall, used, peak := time.Since(began), cpu(), peakMemory()
		heap := liveHeap() - before
		if err := writeProfiles(p.Profiles); err != nil {
			return Report{}, err
		}
		steady := steadyMemory()
		counts := cache.look() // also keeps the cache alive until here
		return Report{Settings: inf.Settings, Counts: counts, Figures: map[string]float64{
			"wall": wall.Seconds(), "cpu": used.Seconds(), "peak": peak, "object": heap / float64(p.Pods), "steady": steady,
		}}, nil
	}
}

// Relist is the job of a first list, and of another one that finds nothing changed, after the server has ended the
// watch with 410. One handler is subscribed.
//
// Steady memory is the resident memory after the first list, when the garbage has been collected and given back to the
// system. A peak is the largest resident memory: of the first list since the start of the process, of the second since
// just before it, starting with the steady memory. The CPU time of a list is that of the process from the call that
// begins it, or the end of the watch, until the cache has the list's version and the handler has finished; the
// informer's waits in between cost none.
func Relist(inf Informer) Job {
	return func(ctx context.Context, p Params) (Report, error) {
		var told atomic.Int64
		before := cpu()
		cache, err := inf.Start(ctx, p.Server, func(string) { told.Add(1) })
		if err != nil {
			return Report{}, err
		}
		if err := until(ctx, func() bool { return told.Load() >= int64(p.Pods) }); err != nil {
			return Report{}, fmt.Errorf("wait for the handler of the first list: %w", err)
		}
		first, peak := cpu()-before, peakMemory()
		added := told.Load()
		steady := steadyMemory()
		figures := map[string]float64{}
		measured := steady > 0 && resetPeak() == nil

		before = cpu()
		version, err := expire(ctx, p)
		if err != nil {
			return Report{}, err
		}
		if err := until(ctx, func() bool { return cache.Version() == version }); err != nil {
			return Report{}, fmt.Errorf("wait for the version of the second list: %w", err)
		}
		if err := quiet(ctx, &told); err != nil {
			return Report{}, err
		}
		second := cpu() - before
		if measured {
			figures["peak first"], figures["peak relist"] = peak/steady, peakMemory()/steady
			figures["steady"] = steady
		}
		figures["cpu first"], figures["cpu relist"] = first.Seconds(), second.Seconds()
		figures["cpu share"] = second.Seconds() / first.Seconds()
		figures["calls"] = float64(told.Load() - added)
		counts := cache.look()
		counts["added"] = int(added)
		return Report{Settings: inf.Settings, Counts: counts, Figures: figures}, nil
	}
}

// Watch is the job of many events. A cache of all pods is in sync, with one handler, which counts; then the server
// sends events, each a changed pod. The time is from the first call of the handler to the last, which has the last
// state of every pod. Bowline merges the changes of a pod that come faster than the handler takes them, so its handler
// may be called less often than there are events; the job also counts that all are in the cache. CPU time and
// allocations are those of the process from the request for events to the last call, including the runtime's work in
// the background.
func Watch(inf Informer) Job {
	return func(ctx context.Context, p Params) (Report, error) {
		var told, final, lastRound atomic.Int64
		var first, last atomic.Int64 // in ns since began
		began := time.Now()
		done := make(chan struct{})
		lastRound.Store(1 << 62)
		distinct := int64(min(p.Pods, p.Events))
		cache, err := inf.Start(ctx, p.Server, func(version string) {
			number, err := strconv.Atoi(version)
			if err != nil || int64(number) <= initialVersion {
				return
			}
			now := int64(time.Since(began))
			told.Add(1)
			first.CompareAndSwap(0, now)
			if int64(number) > lastRound.Load() && final.Add(1) == distinct {
				last.Store(now)
				close(done)
			}
		})
		if err != nil {
			return Report{}, err
		}
		lastRound.Store(initialVersion + int64(p.Events) - distinct)
		applied := 0
		if cache.Applied != nil {
			applied = cache.Applied()
		}
		objects, before := mallocs(), cpu()
		if _, err := modify(ctx, p); err != nil {
			return Report{}, err
		}
		select {
		case <-done:
		case <-ctx.Done():
			return Report{}, context.Cause(ctx)
		}
		used, allocated := cpu()-before, mallocs()-objects
		counts := cache.look()
		counts["final"] = int(final.Load())
		counts["applied"] = int(told.Load())
		if cache.Applied != nil {
			counts["applied"] = cache.Applied() - applied
		}
		events, span := float64(p.Events), time.Duration(last.Load()-first.Load())
		return Report{Settings: inf.Settings, Counts: counts, Figures: map[string]float64{
			"rate": events / span.Seconds(), "cpu": used.Seconds() / events, "allocs": float64(allocated) / events,
			"calls": float64(told.Load()),
		}}, nil
	}
}

// initialVersion is the version of the canned server's list. All objects in it are older, all events are newer.
const initialVersion = 1_000_000

// until waits for a condition that no channel reports. It checks 200 times a second, which costs too little to matter.
func until(ctx context.Context, holds func() bool) error {
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
	return nil
}

// quiet waits until a counter has not moved for a quarter of a second.
func quiet(ctx context.Context, counter *atomic.Int64) error {
	for seen := int64(-1); seen != counter.Load(); {
		seen = counter.Load()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(250 * time.Millisecond):
		}
	}
	return nil
}
