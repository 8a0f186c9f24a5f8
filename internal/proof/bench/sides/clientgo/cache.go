package main

// Jobs of the cache alone.

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/bowline-go/bowline/internal/proof/bench/objects"
	"github.com/bowline-go/bowline/internal/proof/bench/sample"
)

// indexers returns the namespace index, which the informers of client-go's factory have and listers use, and further
// ones.
func indexers(further cache.Indexers) cache.Indexers {
	all := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	for name, f := range further {
		all[name] = f
	}
	return all
}

func byNode(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Spec.NodeName}, nil }
func byApp(obj any) ([]string, error)  { return []string{obj.(*corev1.Pod).Labels[objects.App]}, nil }

// filled returns an indexer of n pods.
func filled(n int, further cache.Indexers) (cache.Indexer, error) {
	s := cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers(further))
	return s, s.Replace(list(objects.Pods(n, 0)), "1")
}

func list(pods []*corev1.Pod) []any {
	objs := make([]any, len(pods))
	for i, p := range pods {
		objs[i] = p
	}
	return objs
}

// The list and the watch come from this process, without decoding.
var feed = sample.Feed{
	Settings: "cache.SharedIndexInformer with two handlers, on a cache.ListWatch of this process",
	Start: func(ctx context.Context, keys int, slow, fast func(int)) (func(key, version int), error) {
		events := watch.NewFakeWithChanSize(1024, false)
		initial := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(keys)}}
		for _, p := range objects.Pods(keys, 0) {
			initial.Items = append(initial.Items, *p)
		}
		inf := cache.NewSharedIndexInformer(&cache.ListWatch{
			ListWithContextFunc:  func(context.Context, metav1.ListOptions) (runtime.Object, error) { return initial, nil },
			WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return events, nil },
		}, &corev1.Pod{}, 0, cache.Indexers{})
		for _, told := range []func(int){slow, fast} {
			if _, err := inf.AddEventHandler(versions(func(version string) {
				v, _ := strconv.Atoi(version)
				told(v)
			})); err != nil {
				return nil, err
			}
		}
		go inf.RunWithContext(ctx) // until the process ends
		return func(key, version int) { events.Modify(objects.Pod(key, version)) }, nil
	},
}

var contended = sample.Contended{
	Settings: "cache.Indexer.List, cache.Indexer.Update",
	Start: func(n int) (list func() int, update func(key, version int) (write func())) {
		s, err := filled(n, nil)
		if err != nil {
			panic(fmt.Errorf("fill the indexer: %w", err))
		}
		list = func() (seen int) {
			for _, obj := range s.List() {
				if obj.(*corev1.Pod).Spec.NodeName != "" {
					seen++
				}
			}
			return seen
		}
		return list, func(key, version int) func() {
			p := objects.Pod(key, version)
			return func() {
				if err := s.Update(p); err != nil {
					panic(fmt.Errorf("update the indexer: %w", err))
				}
			}
		}
	},
}

func benches(p sample.Params) []sample.Bench {
	two := cache.Indexers{"node": byNode, "app": byApp}
	return []sample.Bench{
		{Name: "get", Run: func(b *testing.B) {
			pods := listers.NewPodLister(must(filled(p.Objects, nil)))
			wanted := objects.Pods(p.Objects, 0)
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					pod := wanted[i%len(wanted)]
					if _, err := pods.Pods(pod.Namespace).Get(pod.Name); err != nil {
						b.Error(err)
					}
				}
			})
		}},
		{Name: "get by key", Run: func(b *testing.B) {
			s, wanted := must(filled(p.Objects, nil)), objects.Pods(p.Objects, 0)
			keys := make([]string, len(wanted))
			for i, pod := range wanted {
				keys[i] = pod.Namespace + "/" + pod.Name
			}
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					if _, found, _ := s.GetByKey(keys[i%len(keys)]); !found {
						b.Error("not found")
					}
				}
			})
		}},
		{Name: "update", Run: func(b *testing.B) {
			// Two indexes, without the namespace index.
			s := cache.NewIndexer(cache.MetaNamespaceKeyFunc, two)
			if err := s.Replace(list(objects.Pods(p.Objects, 0)), "1"); err != nil {
				b.Fatal(err)
			}
			states := [2][]*corev1.Pod{objects.Pods(p.Objects, p.Objects), objects.Pods(p.Objects, 2*p.Objects)}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if err := s.Update(states[i/p.Objects%2][i%p.Objects]); err != nil {
					b.Fatal(err)
				}
			}
		}},
		{Name: "lookup", Run: func(b *testing.B) {
			s := must(filled(p.Objects, cache.Indexers{"node": byNode}))
			nodes := nodeNames(p.Objects)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				pods, err := s.ByIndex("node", nodes[i%len(nodes)])
				if err != nil {
					b.Fatal(err)
				}
				seen := 0
				for _, obj := range pods {
					if obj.(*corev1.Pod).Status.Phase == corev1.PodRunning {
						seen++
					}
				}
				if seen != objects.PerNode {
					b.Fatal("found", seen)
				}
			}
		}},
		{Name: "replace", Run: func(b *testing.B) {
			s := cache.NewIndexer(cache.MetaNamespaceKeyFunc, two)
			states := [2][]any{list(objects.Pods(p.Replace, 0)), list(objects.Pods(p.Replace, p.Replace))}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if err := s.Replace(states[i%2], "1"); err != nil {
					b.Fatal(err)
				}
			}
			if n := len(s.ListKeys()); n != p.Replace {
				b.Fatal("has", n)
			}
		}},
	}
}

func gets(p sample.Params) (all []sample.Bench) {
	for i, n := range p.Found {
		all = append(all, sample.Bench{Name: fmt.Sprintf("get %d", i), Run: func(b *testing.B) {
			s := must(filled(n, nil))
			keys := make([]string, 0, n)
			for _, i := range objects.Shuffled(n) {
				keys = append(keys, objects.Namespace(i)+"/"+objects.Name(i))
			}
			b.ResetTimer()
			for i := range b.N {
				if _, found, _ := s.GetByKey(keys[i%len(keys)]); !found {
					b.Fatal("not found")
				}
			}
		}})
	}
	return all
}

func must(s cache.Indexer, err error) cache.Indexer {
	if err != nil {
		panic(fmt.Errorf("fill the indexer: %w", err))
	}
	return s
}

func nodeNames(pods int) []string {
	names := make([]string, pods/objects.PerNode)
	for i := range names {
		names[i] = objects.Node(i)
	}
	return names
}
