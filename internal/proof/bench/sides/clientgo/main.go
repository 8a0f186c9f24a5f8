// Command clientgo is the side of client-go: its shared informers, with a transform that keeps the fields that the row
// needs, JSON or protobuf, no limit on requests, and lists that are read in the way that the setting names:
//
//   - "pages": in pages of 500, as its pager does by default
//   - "whole": in one answer, which a tweak of the list options asks for, and which a kube-apiserver gives in any case
//     if it answers the first list from its own cache
//   - "stream": as a streaming list, which is its default
//
// For all but the last the caller sets KUBE_FEATURE_WatchListClient=false in the environment: client-go has no other
// way.
package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/bowline-go/bowline/internal/proof/bench/sample"
)

func main() {
	sample.Main(map[string]sample.Job{
		"sync":    with(sample.Sync, dropManagedFields, "application/json"),
		"project": with(sample.Sync, strip, "application/json"),
		"relist":  with(sample.Relist, dropManagedFields, "application/json"),
		"watch":   with(sample.Watch, dropManagedFields, "application/json"),

		"share": with(func(inf sample.Informer) sample.Job { return sample.Share(inf, func() string { return "" }) }, dropManagedFields, "application/json"),

		"sync-deployments": synced(deployments),
		"sync-secrets":     synced(secrets),
		"sync-custom":      synced(certificates),

		"sync-compact":          with(sample.Sync, dropManagedFields, "application/json"), // to compare compact caches
		"sync-compact-protobuf": with(sample.Sync, dropManagedFields, binary),

		"sync-protobuf":    with(sample.Sync, dropManagedFields, binary),
		"project-protobuf": with(sample.Sync, strip, binary),
		"watch-protobuf":   with(sample.Watch, dropManagedFields, binary),
		"watch-projection": with(sample.Watch, strip, binary),

		"slow":       sample.Slow(feed),
		"micro":      sample.Micro("cache.Indexer with index functions; Get is Lister.Pods(namespace).Get(name), and Indexer.GetByKey where a key is at hand", benches),
		"get":        sample.Micro("cache.Indexer.GetByKey", gets),
		"contention": sample.Contention(contended),
		"patch":      sample.Patch(patches),
		"work":       queueing(sample.Work),
		"groups":     queueing(sample.Groups),
		"failover":   sample.Failover(election),
		"waiting":    sample.Waiting(fleet),
		"exec":       sample.Exec(executor),
		"exec-idle":  sample.Idle(executor),
	})
}

// binary is the media type that client-go uses by default for built-in kinds.
const binary = "application/vnd.kubernetes.protobuf"

// transform is a change of an object before it is cached.
type transform struct {
	name string
	of   cache.TransformFunc
}

var dropManagedFields = transform{"a transform that drops managedFields", func(obj any) (any, error) {
	if p, ok := obj.(*corev1.Pod); ok {
		p.ManagedFields = nil
	}
	return obj, nil
}}

// strip keeps the fields that the struct of Bowline's side has. It makes a new object, because a cleared one would keep
// its size. The object is a Pod, which listers and handlers expect.
var strip = transform{"a transform to a new Pod with the six fields", func(obj any) (any, error) {
	p, ok := obj.(*corev1.Pod)
	if !ok {
		return obj, nil
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: p.UID, ResourceVersion: p.ResourceVersion},
		Spec:       corev1.PodSpec{NodeName: p.Spec.NodeName},
		Status:     corev1.PodStatus{Phase: p.Status.Phase},
	}, nil
}}

// listing has the name of each setting in the report, and its limit; 0 leaves the pager's.
var listing = map[string]struct {
	name  string
	limit int64
}{
	"pages":  {"pages of 500 (WatchListClient off)", 0},
	"whole":  {"one page (WatchListClient off)", 1 << 30},
	"stream": {"a streaming list (WatchListClient on)", 0},
}

// with returns a job on an informer with the transform, and with the requested setting.
func with(job func(sample.Informer) sample.Job, t transform, media string) sample.Job {
	return func(ctx context.Context, p sample.Params) (sample.Report, error) {
		setting, known := listing[p.Setting]
		if !known {
			return sample.Report{}, fmt.Errorf("no setting is called %q", p.Setting)
		}
		return job(sample.Informer{
			Settings: fmt.Sprintf("%s, %s, %s, QPS -1", setting.name, t.name, media),
			Start: func(ctx context.Context, server string, told func(string)) (sample.Cache, error) {
				return start(ctx, server, media, told, setting.limit, t.of)
			},
		})(ctx, p)
	}
}

func start(
	ctx context.Context, server, media string, told func(string), limit int64, transform cache.TransformFunc,
) (sample.Cache, error) {
	clientset, err := kubernetes.NewForConfig(&rest.Config{
		Host: server, QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: media, AcceptContentTypes: media + ",application/json"},
	})
	if err != nil {
		return sample.Cache{}, err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(clientset, 0, informers.WithTransform(transform),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) {
			if limit > 0 && o.Limit > 0 {
				o.Limit = limit
			}
		}))
	inf := factory.Core().V1().Pods().Informer()
	if told != nil {
		if _, err := inf.AddEventHandler(versions(told)); err != nil {
			return sample.Cache{}, err
		}
	}
	factory.StartWithContext(ctx) // until the process ends
	select {
	case <-inf.HasSyncedChecker().Done(): // not WaitForCacheSync, which polls
	case <-ctx.Done():
		return sample.Cache{}, context.Cause(ctx)
	}
	return sample.Cache{
		Each: func(yield func(node, phase string)) {
			for _, obj := range inf.GetStore().List() {
				p := obj.(*corev1.Pod)
				yield(p.Spec.NodeName, string(p.Status.Phase))
			}
		},
		Version: inf.GetStore().LastStoreSyncResourceVersion,
	}, nil
}

// versions returns a handler that calls told with the versions of added and changed objects.
func versions(told func(string)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { told(obj.(*corev1.Pod).ResourceVersion) },
		UpdateFunc: func(_, obj any) { told(obj.(*corev1.Pod).ResourceVersion) },
	}
}
