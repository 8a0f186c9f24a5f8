// Package heap is the common code of the programs under it, so that each reports the same about itself. It imports only
// the standard library, because all sides link it.
package heap

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"
)

// Figures are a process's report about itself. Sizes are in bytes.
type Figures struct {
	// Objects is how many objects the cache holds, Running how many of them have the phase Running, and Nodes how many
	// distinct nodes they name: they prove that each side has kept what it should.
	Objects, Running, Nodes int
	// InUse is the heap in use after two garbage collections.
	InUse uint64
	// Allocated and Allocations are the bytes and the number of all allocations until the cache was in sync.
	Allocated, Allocations uint64
	// PeakRSS is the largest resident memory, 0 if the system does not report it.
	PeakRSS int64
	// Sync is the time from the first line of main to a cache in sync.
	Sync time.Duration
}

// Pod is a side's report of one cached pod.
type Pod struct{ Node, Phase string }

// Main is the main function of a side. It calls sync with the server's URL. sync returns when the cache is in sync, and
// leaves it running; it returns a function that calls yield with every pod of the cache.
func Main(sync func(server string) (each func(yield func(Pod)), err error)) {
	began := time.Now()
	server := flag.String("server", "", "the server's `URL`")
	flag.Parse()
	each, err := sync(*server)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(take(time.Since(began), each)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func take(sync time.Duration, each func(yield func(Pod))) Figures {
	f := Figures{Sync: sync}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	f.Allocated, f.Allocations = stats.TotalAlloc, stats.Mallocs
	runtime.GC()
	runtime.GC() // the first one only moves the contents of a sync.Pool to where the second one frees them
	runtime.ReadMemStats(&stats)
	f.InUse = stats.HeapInuse
	f.PeakRSS = peakRSS()
	nodes := map[string]bool{}
	each(func(p Pod) { // also keeps the cache alive until here
		f.Objects++
		nodes[p.Node] = true
		if p.Phase == "Running" {
			f.Running++
		}
	})
	f.Nodes = len(nodes)
	return f
}

func peakRSS() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	var kib int64
	if _, rest, found := bytes.Cut(status, []byte("VmHWM:")); found {
		if _, err := fmt.Sscan(string(rest), &kib); err != nil {
			return 0
		}
	}
	return kib * 1024
}
