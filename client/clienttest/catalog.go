package clienttest

import (
	"sync"

	"github.com/bowline-go/bowline/client/meta"
)

// catalog is what the server says of itself in discovery, apart from its resources. Its lock protects it.
type catalog struct {
	mu    sync.Mutex
	old   bool              // the old form only
	stale map[meta.GVR]bool // group versions, without a resource
}

func (c *catalog) isOld() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.old
}

func (c *catalog) isStale(version meta.GVR) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stale[version]
}

func (c *catalog) setStale(version meta.GVR, stale bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stale == nil {
		c.stale = map[meta.GVR]bool{}
	}
	c.stale[version] = stale
}

func (c *catalog) setOld(old bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.old = old
}
