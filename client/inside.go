package client

import (
	"sync"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/inside"
)

// Inside is for informers. Only packages of this module can use its result.
func (r Resource[T]) Inside() inside.Source {
	if r.c == nil {
		return inside.Source{StreamingLists: new(inside.Feature)}
	}
	s := inside.Source{ClusterWide: r.t.Scope == meta.Cluster, StreamingLists: r.c.streaming.of(r.t.GVR()), Server: r.c.server.Redacted()}
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
