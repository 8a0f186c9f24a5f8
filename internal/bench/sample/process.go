package sample

// What the system and the runtime say about this process.

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"
)

// cpu is the CPU time of the process until now, of all its threads, in the kernel too.
func cpu() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// liveHeap is what the heap has that is used.
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

// steadyMemory is the resident memory when all that can be given back to the system has been.
func steadyMemory() float64 {
	runtime.GC()
	debug.FreeOSMemory() // which collects once more
	return status("VmRSS:")
}

// peakMemory is the most that was resident since the start, or since resetPeak.
func peakMemory() float64 { return status("VmHWM:") }

// resetPeak makes the present memory the peak.
func resetPeak() error {
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		return fmt.Errorf("reset the peak of resident memory: %w", err)
	}
	return nil
}

// status is a size in /proc/self/status, in bytes; 0 where there is none.
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
