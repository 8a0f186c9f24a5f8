package ctrlcache_test

import (
	"context"
	"fmt"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/ctrlcache"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	crcache "sigs.k8s.io/controller-runtime/pkg/cache"
	crclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// The one line of a program that changes.
func ExampleNew() {
	run := func(ctx context.Context, cfg *rest.Config) error {
		mgr, err := manager.New(cfg, manager.Options{NewCache: ctrlcache.New})
		if err != nil {
			return err
		}
		return mgr.Start(ctx)
	}
	_ = run
}

// A program prints what the informers of its cache do.
func ExampleStatusOf() {
	server := clienttest.New(clienttest.Options{})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	served, done := make(chan error), make(chan error)
	go func() { served <- server.Run(ctx) }()

	config := server.Config()
	c, err := ctrlcache.Options{StripManagedFields: true}.New(&rest.Config{Host: config.Server, Dial: config.Dial}, crcache.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := c.GetInformer(ctx, &corev1.Namespace{}); err != nil {
		fmt.Println(err)
		return
	}
	go func() { done <- c.Start(ctx) }()
	c.WaitForCacheSync(ctx)
	all, _ := ctrlcache.StatusOf(c)
	for _, s := range all {
		fmt.Println(s.GVK.Kind, s.Form, s.Synced, s.Objects > 0)
	}
	stop()
	fmt.Println(<-done, <-served)
	// Output:
	// Namespace typed true true
	// <nil> <nil>
}

// An operator reads three fields of pods, and no others are decoded.
func ExampleOptions() {
	server := clienttest.New(clienttest.Options{})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	served, done := make(chan error), make(chan error)
	go func() { served <- server.Run(ctx) }()

	config := &rest.Config{Host: server.Config().Server, Dial: server.Config().Dial}
	writer, err := crclient.New(config, crclient.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: "server", Image: "nginx"}}},
	}
	if err := writer.Create(ctx, pod); err != nil {
		fmt.Println(err)
		return
	}

	options := ctrlcache.Options{Fields: map[crclient.Object][]string{
		&corev1.Pod{}: {"spec.nodeName", "spec.containers.image", "status.phase"},
	}}
	c, err := options.New(config, crcache.Options{}) // with a manager, NewCache: options.New
	if err != nil {
		fmt.Println(err)
		return
	}
	go func() { done <- c.Start(ctx) }()
	var pods corev1.PodList
	if !c.WaitForCacheSync(ctx) {
		return
	}
	if err := c.List(ctx, &pods, crclient.MatchingLabels{"app": "web"}); err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range pods.Items {
		fmt.Printf("%s on %s: image %q, container name %q\n", p.Name, p.Spec.NodeName, p.Spec.Containers[0].Image, p.Spec.Containers[0].Name)
	}
	_, err = ctrlcache.Options{Fields: map[crclient.Object][]string{&corev1.Pod{}: {"status.hostIPs.address"}}}.New(config, crcache.Options{})
	fmt.Println(err)
	stop()
	fmt.Println(<-done, <-served)
	// Output:
	// web on n1: image "nginx", container name ""
	// ctrlcache.Options: Fields: /v1, Kind=Pod: "status.hostIPs.address" does not exist: status.hostIPs has no address, its members are ip
	// <nil> <nil>
}

// A lister of client-go over an informer.
func ExampleInformer() {
	pods := client.Type[*corev1.Pod]{Version: "v1", Kind: "Pod", Resource: "pods"}
	run := func(ctx context.Context, c *client.Client) {
		inf := ctrlcache.Informer(informer.New(client.For(c, pods), informer.Options{}))
		go inf.RunWithContext(ctx)
		cache.WaitForCacheSync(ctx.Done(), inf.HasSynced)
		fmt.Println(len(inf.GetStore().List()))
	}
	_ = run
}
