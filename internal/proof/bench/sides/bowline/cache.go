package main

// Jobs of the cache alone.

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/proof/bench/objects"
	"github.com/bowline-go/bowline/internal/proof/bench/sample"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

// identity returns the identity that the decoder reads beside each object.
func identity(p *corev1.Pod) meta.Identity {
	return meta.Identity{Namespace: p.Namespace, Name: p.Name, UID: string(p.UID), ResourceVersion: p.ResourceVersion}
}

func identities(pods []*corev1.Pod) []meta.Identity {
	ids := make([]meta.Identity, len(pods))
	for i, p := range pods {
		ids[i] = identity(p)
	}
	return ids
}

// filled returns a store of n pods.
func filled(n int) storetest.Cache[*corev1.Pod] {
	s := storetest.New[*corev1.Pod]()
	replace(s, objects.Pods(n, 0))
	return s
}

func replace(s storetest.Cache[*corev1.Pod], pods []*corev1.Pod) {
	relist := s.Relist()
	for _, p := range pods {
		relist.Set(identity(p), p)
	}
	relist.Commit("1")
}

func byNode(p *corev1.Pod) string { return p.Spec.NodeName }
func byApp(p *corev1.Pod) string  { return p.Labels[objects.App] }

var feed = sample.Feed{
	Settings: "cache.Reader with two subscriptions",
	Start: func(ctx context.Context, keys int, slow, fast func(int)) (func(key, version int), error) {
		s := filled(keys)
		for _, told := range []func(int){slow, fast} {
			version := func(p *corev1.Pod) {
				v, _ := strconv.Atoi(p.ResourceVersion)
				told(v)
			}
			s.Reader().Subscribe(cache.HandlerFuncs[*corev1.Pod]{
				Add:    version,
				Update: func(_, p *corev1.Pod) { version(p) },
			})
		}
		go s.Deliver(ctx, nil) // until the process ends
		w := s.Writer("")
		return func(key, version int) {
			p := objects.Pod(key, version)
			w.Set(identity(p), p)
		}, nil
	},
}

var contended = sample.Contended{
	Settings: "cache.Reader.All, store.Writer.Set",
	Start: func(n int) (list func() int, update func(key, version int) (write func())) {
		s := filled(n)
		w := s.Writer("")
		list = func() (seen int) {
			for p := range s.Reader().All() {
				if p.Spec.NodeName != "" {
					seen++
				}
			}
			return seen
		}
		return list, func(key, version int) func() {
			p := objects.Pod(key, version)
			id := identity(p)
			return func() { w.Set(id, p) }
		}
	},
}

func benches(p sample.Params) []sample.Bench {
	return []sample.Bench{
		{Name: "get", Run: func(b *testing.B) {
			r, pods := filled(p.Objects).Reader(), objects.Pods(p.Objects, 0)
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					pod := pods[i%len(pods)]
					if _, found := r.Get(meta.Key{Namespace: pod.Namespace, Name: pod.Name}); !found {
						b.Error("not found")
					}
				}
			})
		}},
		{Name: "get by key", Run: func(b *testing.B) {
			r, wanted := filled(p.Objects).Reader(), objects.Pods(p.Objects, 0)
			keys := make([]meta.Key, len(wanted))
			for i, pod := range wanted {
				keys[i] = meta.Key{Namespace: pod.Namespace, Name: pod.Name}
			}
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					if _, found := r.Get(keys[i%len(keys)]); !found {
						b.Error("not found")
					}
				}
			})
		}},
		{Name: "update", Run: func(b *testing.B) {
			s := filled(p.Objects)
			w := s.Writer("")
			cache.NewValueIndex(s.Reader(), byNode)
			cache.NewValueIndex(s.Reader(), byApp)
			states := [2][]*corev1.Pod{objects.Pods(p.Objects, p.Objects), objects.Pods(p.Objects, 2*p.Objects)}
			ids := [2][]meta.Identity{identities(states[0]), identities(states[1])}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				state, key := i/p.Objects%2, i%p.Objects
				w.Set(ids[state][key], states[state][key])
			}
		}},
		{Name: "lookup", Run: func(b *testing.B) {
			ix := cache.NewValueIndex(filled(p.Objects).Reader(), byNode)
			nodes := nodeNames(p.Objects)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				seen := 0
				for p := range ix.Get(nodes[i%len(nodes)]) {
					if p.Status.Phase == corev1.PodRunning {
						seen++
					}
				}
				if seen != objects.PerNode {
					b.Fatal("found", seen)
				}
			}
		}},
		{Name: "replace", Run: func(b *testing.B) {
			s := storetest.New[*corev1.Pod]()
			cache.NewValueIndex(s.Reader(), byNode)
			cache.NewValueIndex(s.Reader(), byApp)
			states := [2][]*corev1.Pod{objects.Pods(p.Replace, 0), objects.Pods(p.Replace, p.Replace)}
			replace(s, states[1])
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				replace(s, states[i%2])
			}
			if s.Reader().Len() != p.Replace {
				b.Fatal("has", s.Reader().Len())
			}
		}},
	}
}

func gets(p sample.Params) (all []sample.Bench) {
	for i, n := range p.Found {
		all = append(all, sample.Bench{Name: fmt.Sprintf("get %d", i), Run: func(b *testing.B) {
			r := filled(n).Reader()
			keys := make([]meta.Key, 0, n)
			for _, i := range objects.Shuffled(n) {
				keys = append(keys, meta.Key{Namespace: objects.Namespace(i), Name: objects.Name(i)})
			}
			b.ResetTimer()
			for i := range b.N {
				if _, found := r.Get(keys[i%len(keys)]); !found {
					b.Fatal("not found")
				}
			}
		}})
	}
	return all
}

func nodeNames(pods int) []string {
	names := make([]string, pods/objects.PerNode)
	for i := range names {
		names[i] = objects.Node(i)
	}
	return names
}
