package handle

import (
	"sync"
	"time"
)

// featureAge is how long an answer is valid: servers are upgraded while clients run.
const featureAge = time.Hour

// Feature remembers whether a server has a feature that only some servers have. A caller that finds out calls Set, and
// every caller asks Known before it tries the feature. An answer is remembered for an hour. It is safe for use by
// several goroutines at once; the zero Feature knows nothing.
type Feature struct {
	mu    sync.Mutex // guards the rest
	has   bool
	until time.Time // the time when has is forgotten
}

// Known returns whether the server has the feature, and whether that is known at all.
func (f *Feature) Known() (has, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !time.Now().Before(f.until) {
		return false, false
	}
	return f.has, true
}

// Set remembers for an hour that the server has the feature, or that it does not.
func (f *Feature) Set(has bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.has, f.until = has, time.Now().Add(featureAge)
}
