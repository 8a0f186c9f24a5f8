package client

import (
	"reflect"
	"sync"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/handle"
	"github.com/bowline-go/bowline/internal/packed"
)

// Inside is for informers and package remote. Only packages of this module can use its result.
func (r Resource[T]) Inside() handle.Source {
	s := r.untyped.inside(func(r resource) any { return Resource[T]{r} })
	s.Unpacking = func() any {
		unpack := r.untyped.unpacking()
		return func(t packed.Text) (T, error) { return typed[T](unpack(t)) }
	}
	return s
}

// inside is Inside without Unpacking. cover returns a resource as a Resource.
func (r resource) inside(cover func(resource) any) handle.Source {
	s := handle.Source{ReadAs: func(objects reflect.Type, only *codec.Projection, metadata bool) any {
		return cover(r.readAs(objects, only, metadata))
	}}
	s.Sharing = func() any {
		shared := r
		shared.parts = new(codec.Parts)
		return cover(shared)
	}
	s.Packing = func(by packed.Packer) any {
		packing := r
		packing.packer = by
		return cover(packing)
	}
	if r.c == nil {
		s.StreamingLists = new(handle.Feature)
		return s
	}
	s.StreamingLists = r.c.streaming.of(r.t.GVR())
	s.ClusterWide = r.t.Scope == meta.Cluster
	s.Bound = meta.Key{Namespace: r.namespace, Name: r.name}
	s.Client, s.Server, s.Test = r.c, r.c.server.Redacted(), r.c.test
	s.Upgrade, s.Stream = r.upgrade, r.stream
	if b := r.binary(); b != nil {
		s.Encoding = &b.used
	}
	reads := r
	reads.write, reads.parts, reads.packer = WriteOptions{}, nil, nil // no effect on which objects are read
	s.Reads = cover(reads)
	return s
}

// features holds one feature for each resource.
type features struct {
	mu sync.Mutex // guards m
	m  map[meta.GVR]*handle.Feature
}

func (f *features) of(gvr meta.GVR) *handle.Feature {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.m == nil {
		f.m = make(map[meta.GVR]*handle.Feature)
	}
	known, ok := f.m[gvr]
	if !ok {
		known = new(handle.Feature)
		f.m[gvr] = known
	}
	return known
}
