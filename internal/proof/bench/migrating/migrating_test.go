package migrating

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clientcache "k8s.io/client-go/tools/cache"
	crclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/internal/proof/bench/copies/bowline"
	"github.com/bowline-go/bowline/internal/proof/bench/copies/clientgo"
	"github.com/bowline-go/bowline/internal/proof/bench/copies/controllerruntime"
)

// sides are the clients of both sides, at a server of the test's own.
type sides struct {
	ctx       context.Context
	config    *rest.Config
	clientset kubernetes.Interface
	client    *client.Client
}

func both(t *testing.T) sides {
	t.Helper()
	config := clienttest.Start(t, clienttest.Options{}).Config()
	s := sides{ctx: t.Context(), config: &rest.Config{Host: config.Server, Dial: config.Dial, QPS: -1}}
	s.clientset = must(kubernetes.NewForConfig(s.config))(t)
	s.client = must(client.New(config))(t)
	return s
}

func must[V any](v V, err error) func(testing.TB) V {
	return func(t testing.TB) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func (s sides) pod(t *testing.T, name, node string) {
	t.Helper()
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	must(s.clientset.CoreV1().Pods("default").Create(s.ctx, p, metav1.CreateOptions{}))(t)
}

func TestPodsOfANode(t *testing.T) {
	s := both(t)
	for i := range 7 {
		s.pod(t, fmt.Sprint("p", i), fmt.Sprint("n", i%2))
	}
	theirs := must(podsOnClientGo(s.ctx, s.clientset, "n0"))(t)
	ours := must(podsOn(s.ctx, s.client, "n0"))(t)
	if theirs != 4 || ours != 4 {
		t.Errorf("4 pods are on the node; client-go found %d, Bowline %d", theirs, ours)
	}
}

func TestPodsThatAreDeleted(t *testing.T) {
	s := both(t)
	s.pod(t, "stays", "")
	s.pod(t, "goes", "")
	ctx, stop := context.WithCancel(s.ctx)
	defer stop()

	theirs, ours := make(chan string, 2), make(chan string, 2)
	factory := informers.NewSharedInformerFactory(s.clientset, 0)
	defer factory.Shutdown()
	defer stop()
	pods := factory.Core().V1().Pods().Informer()
	if err := onDeletedClientGo(pods, func(name string) { theirs <- name }); err != nil {
		t.Fatal(err)
	}
	factory.Start(ctx.Done())
	clientcache.WaitForCacheSync(ctx.Done(), pods.HasSynced)

	inf := informer.New(client.For(s.client, Pods), informer.Options{})
	onDeleted(inf, func(name string) { ours <- name })
	ended := make(chan error, 1)
	go func() { ended <- inf.Run(ctx) }()
	defer func() { stop(); <-ended }()
	if err := inf.WaitSynced(ctx); err != nil {
		t.Fatal(err)
	}

	zero := client.DeleteOptions{GracePeriod: client.NoGracePeriod}
	if err := client.For(s.client, Pods).Delete(ctx, meta.Key{Namespace: "default", Name: "goes"}, zero); err != nil {
		t.Fatal(err)
	}
	if a, b := <-theirs, <-ours; a != "goes" || b != "goes" {
		t.Errorf("client-go reported %q, Bowline %q", a, b)
	}
}

func TestWrites(t *testing.T) {
	s := both(t)
	runtime := must(crclient.New(s.config, crclient.Options{}))(t)
	for _, side := range []struct {
		name   string
		ensure func(name, text string) (bool, error)
		set    func(name, value string) error
	}{
		{
			"theirs",
			func(name, text string) (bool, error) { return ensureRuntime(s.ctx, runtime, "default", name, text) },
			func(name, value string) error { return setClientGo(s.ctx, s.clientset, "default", name, value) },
		},
		{
			"ours",
			func(name, text string) (bool, error) { return ensure(s.ctx, s.client, "default", name, text) },
			func(name, value string) error { return set(s.ctx, s.client, "default", name, value) },
		},
	} {
		var wrote []bool
		wrote = append(wrote, must(side.ensure(side.name, "a"))(t))
		if err := side.set(side.name, "1"); err != nil {
			t.Fatal(err)
		}
		wrote = append(wrote, must(side.ensure(side.name, "a"))(t), must(side.ensure(side.name, "b"))(t))
		m := must(client.For(s.client, ConfigMaps).Get(s.ctx, meta.Key{Namespace: "default", Name: side.name}))(t)
		if want := []bool{true, false, true}; !slices.Equal(wrote, want) || m.Data["text"] != "b" || m.Data["value"] != "1" {
			t.Errorf("%s: wrote %v, want %v; the object has %v", side.name, wrote, want, m.Data)
		}
	}
}

// All three controllers leave the same objects behind, and release the lease.
func TestCopies(t *testing.T) {
	states := make(map[string]string)
	for name, run := range map[string]func(context.Context, sides) error{
		"client-go":          func(ctx context.Context, s sides) error { return clientgo.Run(ctx, s.clientset, "default", "me") },
		"controller-runtime": func(ctx context.Context, s sides) error { return controllerruntime.Run(ctx, s.config, "default") },
		"Bowline":            func(ctx context.Context, s sides) error { return bowline.Run(ctx, s.client, "default") },
	} {
		t.Run(name, func(t *testing.T) { states[name] = copying(t, run) })
	}
	want := strings.Join([]string{
		"a map[v:2] map[copy:yes] of ", "a-copy map[v:2] map[copy-of:a] of a",
		"b map[v:1] map[copy:yes] of ", "b-copy map[v:1] map[copy-of:b] of b",
		"other map[v:1] map[] of ",
	}, "\n")
	for name, state := range states {
		if state != want {
			t.Errorf("%s left this behind:\n%s\nwant:\n%s", name, state, want)
		}
	}
}

func copying(t *testing.T, run func(context.Context, sides) error) string {
	s := both(t)
	maps := client.For(s.client, ConfigMaps)
	create := func(name string, labels map[string]string) {
		m := &ConfigMap{Data: map[string]string{"v": "1"}}
		m.Namespace, m.Name, m.Labels = "default", name, labels
		must(maps.Create(s.ctx, m))(t)
	}
	until := func(name, v string) {
		has := client.Until("copied", func(m *ConfigMap) (bool, error) { return m.Data["v"] == v, nil })
		must(client.WaitFor(s.ctx, maps, meta.Key{Namespace: "default", Name: name}, has))(t)
	}
	create("a", map[string]string{"copy": "yes"})
	create("other", nil)

	ctx, stop := context.WithCancel(s.ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, s) }()
	until("a-copy", "1")
	create("b", map[string]string{"copy": "yes"})
	until("b-copy", "1")
	must(maps.Modify(s.ctx, meta.Key{Namespace: "default", Name: "a"}, func(m *ConfigMap) error {
		m.Data["v"] = "2"
		return nil
	}))(t)
	until("a-copy", "2")
	if err := maps.Delete(s.ctx, meta.Key{Namespace: "default", Name: "b-copy"}, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until("b-copy", "1")
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}

	type lease struct {
		meta.ObjectMeta `json:"metadata"`
		Spec            struct {
			HolderIdentity string `json:"holderIdentity"`
		} `json:"spec"`
	}
	leases := client.For(s.client, client.Type[*lease]{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Resource: "leases"})
	if l := must(leases.Get(s.ctx, meta.Key{Namespace: "default", Name: "copies"}))(t); l.Spec.HolderIdentity != "" {
		t.Errorf("%s still holds the lease", l.Spec.HolderIdentity)
	}
	var lines []string
	for m, err := range maps.In("default").All(s.ctx, client.ListOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		owner, _ := meta.ControllerOf(m)
		lines = append(lines, fmt.Sprintf("%s %v %v of %s", m.Name, m.Data, m.Labels, owner.Name))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
