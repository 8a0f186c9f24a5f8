package client

import (
	"sync"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/inside"
)

// features are a feature of each resource.
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
