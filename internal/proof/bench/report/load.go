package report

import (
	"os"
	"strings"
)

// Load returns the load average of the machine over the last minute, or "unknown". It includes the measurement itself.
func Load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	one, _, _ := strings.Cut(string(text), " ")
	return one
}
