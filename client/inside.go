package client

import (
	"sync"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/inside"
	"github.com/bowline-go/bowline/internal/undertest"
)

// UnderTest returns the configuration of a client whose informers report the mistakes that they see to a test. clienttest.Start
// calls it on the configuration of its server. Only packages of this module can call it.
func (c Config) UnderTest(t *undertest.Test) Config {
	c.test = t
	return c
}

// Inside is for informers. Only packages of this module can use its result.
func (r Resource[T]) Inside() inside.Source {
	if r.c == nil {
		return inside.Source{StreamingLists: new(inside.Feature)}
	}
	s := inside.Source{ClusterWide: r.t.Scope == meta.Cluster, Test: r.c.test, StreamingLists: r.c.streaming.of(r.t.GVR()), Server: r.c.server.Redacted()}
	if b := r.binary(); b != nil {
		s.Encoding = &b.used
	}
	s.Upgrade, s.Stream = r.upgrade, r.stream
	r.write = WriteOptions{} // they do not affect reads
	s.Reads = r
	return s
}

// features holds one feature for each resource.
type features struct {
	mu sync.Mutex // guards m
	m  map[meta.GVR]*inside.Feature
}

func (f *features) of(gvr meta.GVR) *inside.Feature {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.m == nil {
		f.m = make(map[meta.GVR]*inside.Feature)
	}
	known, ok := f.m[gvr]
	if !ok {
		known = new(inside.Feature)
		f.m[gvr] = known
	}
	return known
}
