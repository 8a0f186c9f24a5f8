package sample

// The system's and the runtime's figures of this process.

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"syscall"
	"time"
)

// cpu returns the CPU time of the process until now, of all its threads, including the kernel's.
func cpu() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// liveHeap returns the size of the used heap.
func liveHeap() float64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}

func mallocs() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.Mallocs
}

// steadyMemory returns the resident memory after as much memory as possible has been given back to the system.
func steadyMemory() float64 {
	runtime.GC()
	debug.FreeOSMemory() // which collects once more
	return status("VmRSS:")
}

// peakMemory returns the largest resident memory since the start, or since resetPeak.
func peakMemory() float64 { return status("VmHWM:") }

// resetPeak makes the present memory the peak.
func resetPeak() error {
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		return fmt.Errorf("reset the peak of resident memory: %w", err)
	}
	return nil
}

// status returns a size in /proc/self/status, in bytes; 0 if there is none.
func status(name string) float64 {
	all, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	var kib float64
	if _, rest, found := bytes.Cut(all, []byte(name)); found {
		if _, err := fmt.Sscan(string(rest), &kib); err != nil {
			return 0
		}
	}
	return kib * 1024
}

// writeProfiles writes the profiles of the heap and of the goroutines to files whose names begin with prefix. If prefix
// is empty it writes nothing.
func writeProfiles(prefix string) error {
	if prefix == "" {
		return nil
	}
	for name, debug := range map[string]int{"heap": 0, "goroutine": 1} {
		f, err := os.Create(prefix + name)
		if err != nil {
			return err
		}
		if err := errors.Join(pprof.Lookup(name).WriteTo(f, debug), f.Close()); err != nil {
			return err
		}
	}
	return nil
}
