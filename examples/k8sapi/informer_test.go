package main

import (
	"context"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// start runs rs until the end of the test.
func start(t *testing.T, rs ...informer.Runner) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- informer.Run(ctx, rs...) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// names returns the sorted names of what an index has at a value.
func names[K comparable](index *cache.Index[K, *corev1.Pod], value K) []string {
	var names []string
	for pod := range index.Get(value) {
		names = append(names, pod.Name)
	}
	slices.Sort(names)
	return names
}

func TestAnInformerIndexesPods(t *testing.T) {
	c, server := connect(t)
	ctx := t.Context()
	r := client.For(c, pods)
	create := func(name, node string) *corev1.Pod {
		t.Helper()
		pod := &corev1.Pod{ObjectMeta: metadata(name), Spec: podSpec()}
		pod.Spec.NodeName = node
		// Managed fields are on the server, and must not be in the cache.
		return must[*corev1.Pod](t)(r.Create(ctx, pod))
	}
	create("a", "one")
	b := create("b", "two")

	inf := informer.New(r, informer.Options{Namespace: "default"})
	byNode := cache.NewIndex(inf.Reader(), func(p *corev1.Pod) []string { return []string{p.Spec.NodeName} })
	byImage := cache.NewIndex(inf.Reader(), func(p *corev1.Pod) []string { return []string{p.Spec.Containers[0].Image} })
	byUID := cache.NewIndex(inf.Reader(), func(p *corev1.Pod) []types.UID { return []types.UID{p.UID} })
	added, deleted := make(chan string, 10), make(chan *corev1.Pod, 10)
	updated := make(chan [2]*corev1.Pod, 10)
	inf.Subscribe(cache.HandlerFuncs[*corev1.Pod]{
		Add:    func(p *corev1.Pod) { added <- p.Name },
		Update: func(old, p *corev1.Pod) { updated <- [2]*corev1.Pod{old, p} },
		Delete: func(p *corev1.Pod) { deleted <- p },
	})
	start(t, inf)
	if err := inf.WaitSynced(ctx); err != nil {
		t.Fatal(err)
	}
	if got := []string{<-added, <-added}; !slices.Contains(got, "a") || !slices.Contains(got, "b") {
		t.Errorf("added %v, want a and b", got)
	}
	if got := names(byUID, b.UID); !slices.Equal(got, []string{"b"}) {
		t.Errorf("index by uid has %v, want [b]", got)
	}
	for pod := range inf.Reader().All() {
		if len(pod.ManagedFields) != 0 {
			t.Errorf("cached pod %s has managed fields", pod.Name)
		}
		if pod.Kind != "Pod" || pod.APIVersion != "v1" {
			t.Errorf("cached pod %s says kind %q, apiVersion %q", pod.Name, pod.Kind, pod.APIVersion)
		}
	}

	server.DropWatches() // what follows comes over a second watch
	create("c", "one")
	if got := <-added; got != "c" {
		t.Errorf("added %s, want c", got)
	}
	if got := names(byNode, "one"); !slices.Equal(got, []string{"a", "c"}) {
		t.Errorf("node one has %v, want [a c]", got)
	}

	// A cached object is shared: its clone can be changed and written.
	cached, _ := inf.Reader().Get(key("b"))
	clone := meta.Clone(cached)
	clone.Spec.Containers[0].Image = "nginx:2"
	must[*corev1.Pod](t)(r.Update(ctx, clone))
	change := <-updated
	if change[0] != cached || cached.Spec.Containers[0].Image != "nginx" || change[1].Spec.Containers[0].Image != "nginx:2" {
		t.Errorf("updated %+v", change)
	}
	if was, is := names(byImage, "nginx"), names(byImage, "nginx:2"); !slices.Equal(was, []string{"a", "c"}) || !slices.Equal(is, []string{"b"}) {
		t.Errorf("the images have %v and %v, want [a c] and [b]", was, is)
	}
	if err := r.Delete(ctx, key("b"), client.DeleteOptions{GracePeriod: client.NoGracePeriod}); err != nil {
		t.Fatal(err)
	}
	if last := <-deleted; last.UID != b.UID || last.Spec.Containers[0].Image != "nginx:2" {
		t.Errorf("deleted %+v", last)
	}
	if byNode.Len("two") != 0 || byImage.Len("nginx:2") != 0 || byUID.Len(b.UID) != 0 {
		t.Error("an index still has what is gone")
	}
}

// A deployment owns its pods through a chain in a cluster; here directly, because it is the references' types that matter.
func TestControllerOfDeploymentsIsToldOfOwnedPods(t *testing.T) {
	c, _ := connect(t)
	ctx := t.Context()
	owner := must[*appsv1.Deployment](t)(client.For(c, deployments).Create(ctx, deployment("web")))

	inf := informer.New(client.For(c, deployments), informer.Options{})
	owned := informer.New(client.For(c, pods), informer.Options{})
	// The controller names the deployment at the start, and again when the pod appears.
	reconciled := make(chan int, 10)
	ctl := controller.New("deployments", controller.Options{},
		func(_ context.Context, k meta.Key) (controller.Result, error) {
			if k != key("web") {
				t.Errorf("reconcile of %s, want of default/web", k)
			}
			reconciled <- owned.Reader().Len()
			return controller.Result{}, nil
		},
		controller.Watch(inf), controller.Owns(owned, deployments))
	start(t, inf, owned, ctl)
	if pods := <-reconciled; pods != 0 {
		t.Fatalf("first reconcile saw %d pods, want none", pods)
	}

	pod := &corev1.Pod{ObjectMeta: metadata("web-0"), Spec: podSpec()}
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, appsv1.SchemeGroupVersion.WithKind("Deployment"))}
	must[*corev1.Pod](t)(client.For(c, pods).Create(ctx, pod))
	if pods := <-reconciled; pods != 1 {
		t.Errorf("second reconcile saw %d pods, want 1", pods)
	}
}
