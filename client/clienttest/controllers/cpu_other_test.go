//go:build !unix

package controllers

import "time"

// cpuTime returns 0, because this system has no getrusage.
func cpuTime() time.Duration { return 0 }
