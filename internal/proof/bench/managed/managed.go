// Package managed is a program of controller-runtime. Its two sides differ only in the constructor of the cache.
package managed

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/bowline-go/bowline/internal/proof/bench/sample"
)

// Side has the parts in which the sides differ.
type Side struct {
	Settings string
	NewCache cache.NewCacheFunc
	// Fewer is NewCache with pods that have only their metadata, node name and phase; and FewerSettings are its
	// settings.
	Fewer         cache.NewCacheFunc
	FewerSettings string
	// Compact is NewCache with compressed objects; nil if the side has no such cache. CompactSettings are its settings.
	Compact         cache.NewCacheFunc
	CompactSettings string
	// Applied returns how many events are in a cache that NewCache has made; nil if a handler is called for each.
	Applied func(cache.Cache) int
}

const (
	asJSON     = "application/json"
	asProtobuf = "" // a manager's default for built-in kinds
)

// Jobs are the jobs of a side.
func Jobs(s Side) map[string]sample.Job {
	return map[string]sample.Job{
		"manager":                sample.Sync(s.informer(asJSON)),
		"manager-protobuf":       sample.Sync(s.informer(asProtobuf)),
		"manager-watch":          sample.Watch(s.informer(asJSON)),
		"manager-watch-protobuf": sample.Watch(s.informer(asProtobuf)),
		"manager-read":           s.read,

		"manager-compact":          s.compact(asJSON),
		"manager-compact-protobuf": s.compact(asProtobuf),

		"manager-fields":                s.fewer(sample.Sync, asJSON),
		"manager-fields-protobuf":       s.fewer(sample.Sync, asProtobuf),
		"manager-fields-watch":          s.fewer(sample.Watch, asJSON),
		"manager-fields-watch-protobuf": s.fewer(sample.Watch, asProtobuf),
	}
}

// Whole is the setting with which a side caches whole objects even in a job that reads a few fields.
const Whole = "whole"

// fewer returns the job with a cache that keeps only a few members of the pods, unless the setting is Whole.
func (s Side) fewer(job func(sample.Informer) sample.Job, contentType string) sample.Job {
	return func(ctx context.Context, p sample.Params) (sample.Report, error) {
		if p.Setting != Whole {
			s.NewCache, s.Settings = s.Fewer, s.FewerSettings
		}
		return job(s.informer(contentType))(ctx, p)
	}
}

// compact is the job of a first list into a cache that is compact, if the side has one.
func (s Side) compact(contentType string) sample.Job {
	if s.Compact != nil {
		s.NewCache, s.Settings = s.Compact, s.CompactSettings
	}
	return sample.Sync(s.informer(contentType))
}

// With adds the jobs in more to jobs, and returns jobs.
func With(jobs, more map[string]sample.Job) map[string]sample.Job {
	maps.Copy(jobs, more)
	return jobs
}

func (s Side) informer(contentType string) sample.Informer {
	return sample.Informer{
		Settings: s.Settings,
		Start: func(ctx context.Context, url string, told func(version string)) (sample.Cache, error) {
			c, inf, err := s.start(ctx, url, contentType, told)
			if err != nil {
				return sample.Cache{}, err
			}
			shared := sample.Cache{
				Each: func(yield func(node, phase string)) {
					var pods corev1.PodList
					if err := c.List(ctx, &pods, client.UnsafeDisableDeepCopy); err != nil {
						return // the counts of the sample are then wrong, which ends the run
					}
					for i := range pods.Items {
						yield(pods.Items[i].Spec.NodeName, string(pods.Items[i].Status.Phase))
					}
				},
				Version: func() string { return inf.(toolscache.SharedIndexInformer).LastSyncResourceVersion() },
			}
			if s.Applied != nil {
				shared.Applied = func() int { return s.Applied(c) }
			}
			return shared, nil
		},
	}
}

// start starts a manager with an informer of the pods, and returns when it is in sync. It runs until the process ends.
func (s Side) start(ctx context.Context, url, contentType string, told func(version string)) (cache.Cache, cache.Informer, error) {
	ctrl.SetLogger(logr.Discard())
	manager, err := ctrl.NewManager(
		&rest.Config{Host: url, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: contentType, AcceptContentTypes: contentType}},
		ctrl.Options{NewCache: s.NewCache, Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		return nil, nil, err
	}
	c := manager.GetCache()
	inf, err := c.GetInformer(ctx, &corev1.Pod{})
	if err != nil {
		return nil, nil, err
	}
	if told != nil {
		_, err := inf.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { told(obj.(*corev1.Pod).ResourceVersion) },
			UpdateFunc: func(_, obj any) { told(obj.(*corev1.Pod).ResourceVersion) },
		})
		if err != nil {
			return nil, nil, err
		}
	}
	go func() { _ = manager.Start(ctx) }() // until the process ends
	if !c.WaitForCacheSync(ctx) {
		return nil, nil, errors.New("the cache does not sync")
	}
	return c, inf, nil
}

// read is the job of reading from the cache of a manager.
func (s Side) read(ctx context.Context, p sample.Params) (sample.Report, error) {
	c, _, err := s.start(ctx, p.Server, asProtobuf, nil)
	if err != nil {
		return sample.Report{}, err
	}
	var pods corev1.PodList
	if err := c.List(ctx, &pods); err != nil {
		return sample.Report{}, err
	}
	if len(pods.Items) != p.Pods {
		return sample.Report{}, fmt.Errorf("the cache has %d pods, want %d", len(pods.Items), p.Pods)
	}
	keys := make([]client.ObjectKey, len(pods.Items))
	for i := range pods.Items {
		keys[i] = client.ObjectKeyFromObject(&pods.Items[i])
	}
	app := client.MatchingLabels{"app.kubernetes.io/name": pods.Items[0].Labels["app.kubernetes.io/name"]}
	pods = corev1.PodList{}
	list := func(opts ...client.ListOption) func(*testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var pods corev1.PodList
				if err := c.List(ctx, &pods, opts...); err != nil || len(pods.Items) == 0 {
					b.Fatal(len(pods.Items), err)
				}
			}
		}
	}
	get := func(opts ...client.GetOption) func(*testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			var pod corev1.Pod
			for i := 0; b.Loop(); i++ {
				if err := c.Get(ctx, keys[i%len(keys)], &pod, opts...); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	return sample.Micro(s.Settings, func(sample.Params) []sample.Bench {
		return []sample.Bench{
			{Name: "list", Run: list(app)},
			{Name: "list shared", Run: list(app, client.UnsafeDisableDeepCopy)},
			{Name: "get", Run: get()},
			{Name: "get shared", Run: get(client.UnsafeDisableDeepCopy)},
		}
	})(ctx, p)
}
