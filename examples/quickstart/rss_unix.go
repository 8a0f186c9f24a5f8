//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"syscall"
)

// peakRSS returns the most memory that the process has held, in bytes, or 0 if the system does not say.
func peakRSS() int64 {
	// Linux counts what the parent held before exec in getrusage, so its own figure is better.
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		var kib int64
		if _, rest, ok := bytes.Cut(status, []byte("VmHWM:")); ok {
			if _, err := fmt.Sscan(string(rest), &kib); err == nil {
				return kib * 1024
			}
		}
	}
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) * 1024 // everywhere else it is in KiB
}
