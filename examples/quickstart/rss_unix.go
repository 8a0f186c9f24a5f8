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
	// On Linux, getrusage includes the memory that the parent held before exec. VmHWM does not include it.
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
