package sample

// The cost of a replica that holds some of the pods.

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// Share is the job of a replica's first list and of a watch: first a list until the cache is in sync, with one handler
// that counts, and then one event for each pod of the server, whether the replica has it or not. sharded returns where
// the ranges are selected, for the report.
//
// Wall, CPU time, peak memory and bytes of the list are from before the client is made to a cache in sync. The bytes
// are those that the server has written. Live heap is measured after that, and resident memory when the garbage has
// been given back to the system. The CPU time and the bytes of the watch are those for 1,000 events of the server,
// including events of other replicas' pods: if the server sends these to everybody, they cost too.
func Share(inf Informer, sharded func() string) Job {
	return func(ctx context.Context, p Params) (Report, error) {
		var changed atomic.Int64 // events that the handler was called for: there is one for each pod
		before := liveHeap()
		sent, err := sentBy(ctx, p.Server)
		if err != nil {
			return Report{}, err
		}
		used, began := cpu(), time.Now()
		cache, err := inf.Start(ctx, p.Server, func(version string) {
			if number, err := strconv.Atoi(version); err == nil && number > initialVersion {
				changed.Add(1)
			}
		})
		if err != nil {
			return Report{}, err
		}
		wall, first, peak := time.Since(began), cpu()-used, peakMemory()
		got, err := sentBy(ctx, p.Server)
		if err != nil {
			return Report{}, err
		}
		heap := liveHeap() - before
		steady := steadyMemory()
		counts := cache.look()

		used = cpu()
		sentBefore, err := sentBy(ctx, p.Server)
		if err != nil {
			return Report{}, err
		}
		p.Events = p.Pods
		if _, err := modify(ctx, p); err != nil {
			return Report{}, err
		}
		if err := until(ctx, func() bool { return changed.Load() >= int64(counts["pods"]) }); err != nil {
			return Report{}, err
		}
		watched := cpu() - used
		last, err := sentBy(ctx, p.Server)
		if err != nil {
			return Report{}, err
		}
		after := cache.look() // also keeps the cache alive until here
		counts["pods after the watch"], counts["changed"] = after["pods"], int(changed.Load())
		thousands := float64(p.Events) / 1000
		return Report{Settings: inf.Settings + " " + sharded(), Counts: counts, Figures: map[string]float64{
			"wall": wall.Seconds(), "cpu": first.Seconds(), "peak": peak, "heap": heap, "steady": steady, "bytes": float64(got - sent),
			"watch cpu": watched.Seconds() / thousands, "watch bytes": float64(last-sentBefore) / thousands,
		}}, nil
	}
}

// sentBy returns how many bytes the server has written.
func sentBy(ctx context.Context, server string) (int64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server+"/control/sent", nil)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	var answer struct{ Sent int64 }
	return answer.Sent, json.NewDecoder(response.Body).Decode(&answer)
}
