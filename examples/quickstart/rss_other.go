//go:build !unix

package main

import "runtime"

// peakRSS returns the memory that the Go runtime has taken from the system, in bytes: it never gives address space
// back, so this is a peak.
func peakRSS() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
