package controller_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/store/storetest"
	"github.com/bowline-go/bowline/workqueue"
)

// tagged is a key that says where it comes from.
type tagged struct {
	tag string
	meta.Key
}

func (k tagged) GetNamespace() string { return k.Namespace }

func tag(name string, s controller.Source[meta.Key]) controller.Source[tagged] {
	return controller.MapKeys(name, s, func(k meta.Key) tagged { return tagged{name, k} }, func(k tagged) (meta.Key, bool) { return k.Key, k.tag == name })
}

func TestMapKeysKeepsPrioritiesNamesAndRunners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, maps := startServer(t, clienttest.Options{})
		create(t, maps, "a")
		create(t, maps, "b")
		inf := informer.New(maps, informer.Options{})
		var mu sync.Mutex // guards the next
		var order, named []string
		hooks := controller.Hooks{Named: func(_ context.Context, n controller.NamedInfo) {
			mu.Lock()
			defer mu.Unlock()
			named = append(named, fmt.Sprintf("%s by %s of %s", n.Key.(tagged).tag, n.Object.Name, n.Source))
		}}
		c := controller.New("c", controller.Options{Hooks: hooks}, func(_ context.Context, k tagged) (controller.Result, error) {
			order = append(order, k.tag+"-"+k.Name)
			time.Sleep(time.Second)
			return controller.Result{}, nil
		}, tag("left", controller.Watch(inf)), tag("right", soon{}), tag("", controller.Watch(inf)))
		if n := len(c.Runners()); n != 1 {
			t.Errorf("it needs %d runners, want the informer once", n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- informer.Run(ctx, c) }()
		synctest.Wait()
		create(t, maps, "c")
		sleep(time.Minute)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if len(order) != 7 || order[0] != "right-urgent" {
			t.Fatalf("the order is %q, want what is urgent first", order)
		}
		if next := slices.Sorted(slices.Values(order[1:3])); !slices.Equal(next, []string{"-c", "left-c"}) {
			t.Errorf("the order is %q, want the change before the rest of the first list", order)
		}
		mu.Lock()
		defer mu.Unlock()
		slices.Sort(named)
		const watch = "Watch(informer of configmaps.v1)"
		if want := []string{
			" by a of " + watch, " by b of " + watch, " by c of " + watch,
			"left by a of left: " + watch, "left by b of left: " + watch, "left by c of left: " + watch,
		}; !slices.Equal(named, want) {
			t.Errorf("the hook heard of %q", named)
		}
	})
}

// soon is a source whose key has a priority.
type soon struct{}

func (soon) Run(context.Context, func(meta.Key), func()) error { panic("RunWith replaces it") }

func (soon) RunWith(ctx context.Context, add func(meta.Key, workqueue.AddOptions), synced func()) error {
	add(meta.Key{Name: "urgent"}, workqueue.AddOptions{Priority: 100})
	synced()
	<-ctx.Done()
	return nil
}

func TestMapKeysSaysWhyASourceIsNotSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, maps := startServer(t, clienttest.Options{})
		c := controller.New("c", controller.Options{}, func(context.Context, tagged) (controller.Result, error) {
			return controller.Result{}, nil
		}, tag("left", controller.Watch(informer.New(maps, informer.Options{}))), tag("right", controller.Chan(make(chan meta.Key))))
		stop := run(t, c) // and nobody runs the informer
		if s := c.Status().Unsynced; len(s) != 1 || s[0].Error() != "left: Watch(informer of configmaps.v1): Run has not been called" {
			t.Errorf("unsynced is %v", s)
		}
		mustStop(t, stop)
	})
}

func TestMapKeysRefusesNilFunctions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		take, stop := adds(t, tag("left", controller.Every(time.Hour, meta.Key{Name: "a"})))
		if got := take(); len(got) != 1 || got[0] != (tagged{"left", meta.Key{Name: "a"}}) {
			t.Errorf("got %v", got)
		}
		stop()
		if s := controller.MapKeys[tagged, meta.Key]("", nil, nil, nil); s != nil {
			t.Errorf("of nil it is %v", s)
		}
		none := controller.MapKeys[tagged]("left", controller.Every(time.Hour, meta.Key{Name: "a"}), nil, nil)
		if err := none.Run(t.Context(), func(tagged) {}, func() {}); err == nil || !strings.Contains(err.Error(), "to must not be nil") {
			t.Errorf("the error is %v", err)
		}
		c := controller.New("c", controller.Options{}, func(context.Context, tagged) (controller.Result, error) {
			return controller.Result{}, nil
		}, none)
		if err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "left: Every(1h0m0s): controller.MapKeys: to must not be nil") {
			t.Errorf("the error is %v", err)
		}
	})
}

func TestShardsByUIDNeedTheInverseOfMapKeys(t *testing.T) {
	inf := storetest.New[*pod]().Reader()
	for name, s := range map[string]controller.Source[tagged]{
		"from must not be nil":                         controller.MapKeys("", controller.Watch(inf), func(k meta.Key) tagged { return tagged{"", k} }, nil),
		"must look up objects, as a source Watch does": tag("", controller.Every(time.Hour, meta.Key{Name: "a"})),
	} {
		c := controller.New("c", controller.Options{Shards: newShare(meta.ShardByUID)}, func(context.Context, tagged) (controller.Result, error) {
			return controller.Result{}, nil
		}, s)
		if err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("the error is %v, want %s", err, name)
		}
	}
}
