package controller_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

var configMaps = client.Type[*pod]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

// startServer returns a server in the bubble of t, and a handle on its config maps.
func startServer(t *testing.T, o clienttest.Options) (*clienttest.Server, client.Resource[*pod]) {
	t.Helper()
	server := clienttest.Start(t, o)
	c, err := client.New(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return server, client.For(c, configMaps)
}

func create(t *testing.T, r client.Resource[*pod], name string) {
	t.Helper()
	p := &pod{}
	p.Namespace, p.Name = "default", name
	if _, err := r.Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// counting counts reconciles by key.
type counting struct {
	mu  sync.Mutex
	all []string
}

func (c *counting) reconcile(_ context.Context, k meta.Key) (controller.Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, k.Name)
	return controller.Result{}, nil
}

func (c *counting) take() string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.Sort(c.all)
	all := strings.Join(c.all, " ")
	c.all = nil
	return all
}

func TestASourceIsAddedAndRemovedWhileTheControllerRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, maps := startServer(t, clienttest.Options{})
		create(t, maps, "a")
		idle := make(chan meta.Key)
		got := &counting{}
		c := controller.New("c", controller.Options{}, got.reconcile, controller.Chan(idle))
		stop := run(t, c)

		inf := informer.New(maps, informer.Options{})
		added, err := c.AddSource(controller.Watch(inf))
		if err != nil {
			t.Fatal(err)
		}
		if err := added.WaitSynced(t.Context()); err != nil {
			t.Error(err)
		}
		want(t, "what exists", got.take, "a")
		create(t, maps, "b")
		want(t, "a new object", got.take, "b")
		if n := server.Watches(); n != 1 {
			t.Errorf("%d watches, want one", n)
		}

		// Another source shares the Run of the informer, and keeps it.
		other, err := c.AddSource(controller.Map(inf, func(p *pod) []meta.Key { return []meta.Key{{Name: "of-" + p.Name}} }))
		if err != nil {
			t.Fatal(err)
		}
		want(t, "of the other source", got.take, "of-a of-b")
		added.Remove()
		added.Remove()
		create(t, maps, "c")
		want(t, "of the other source alone", got.take, "of-c")
		if lists, watches := inf.Status().Lists, inf.Status().Watches; lists+watches != 1 {
			t.Errorf("the informer listed %d times and watched %d times, want it to run on", lists, watches)
		}
		other.Remove()
		<-time.After(time.Second) // the server learns of it last: net/http may read on for 50 ms when a body is closed
		if n, s := server.Watches(), inf.Status().State; n != 0 || s != informer.Idle {
			t.Errorf("%d watches, and the informer is %v, want it stopped", n, s)
		}
		create(t, maps, "d")
		want(t, "without sources", got.take, "")

		// And it comes back.
		if added, err = c.AddSource(controller.Watch(inf)); err != nil {
			t.Fatal(err)
		}
		want(t, "what exists now", got.take, "a b c d")
		mustStop(t, stop)
		<-time.After(time.Second)
		if n := server.Watches(); n != 0 {
			t.Errorf("%d watches after the end of Run", n)
		}
		added.Remove()
	})
}

func TestASourceIsAddedBeforeTheControllerRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, maps := startServer(t, clienttest.Options{})
		create(t, maps, "a")
		got := &counting{}
		c := controller.New("c", controller.Options{}, got.reconcile)
		inf := informer.New(maps, informer.Options{})
		added, err := c.AddSource(controller.Watch(inf))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if s := inf.Status().State; s != informer.Idle {
			t.Errorf("the informer is %v before Run", s)
		}
		if n := len(c.Runners()); n != 1 {
			t.Errorf("it needs %d runners, want the informer", n)
		}
		for range 2 { // also in a second Run; and informer.Run, which runs it too, and the controller share the informer
			for _, of := range []func(ctx context.Context) error{
				c.Run,
				func(ctx context.Context) error { return informer.Run(ctx, c) },
			} {
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- of(ctx) }()
				want(t, "what exists", got.take, "a")
				if err := added.WaitSynced(ctx); err != nil {
					t.Error(err)
				}
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
				}
				if s := inf.Status().State; s != informer.Idle {
					t.Errorf("the informer is %v after Run", s)
				}
			}
		}
		added.Remove()
		if err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "from must have a source") {
			t.Errorf("without a source Run returned %v", err)
		}
	})
}

// An informer that runs elsewhere is not run again, until it ends there.
func TestAnAddedSourceTakesOverItsInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, maps := startServer(t, clienttest.Options{})
		got := &counting{}
		c := controller.New("c", controller.Options{}, got.reconcile, controller.Chan(make(chan meta.Key)))
		inf := informer.New(maps, informer.Options{})
		elsewhere, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- inf.Run(elsewhere) }()
		synctest.Wait()
		stop := run(t, c)
		added, err := c.AddSource(controller.Watch(inf))
		if err != nil {
			t.Fatal(err)
		}
		create(t, maps, "a")
		want(t, "of the informer that runs elsewhere", got.take, "a")
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		create(t, maps, "b")
		want(t, "of the informer that was taken over", got.take, "b")
		added.Remove()
		if s := inf.Status().State; s != informer.Idle {
			t.Errorf("the informer is %v without the source", s)
		}
		mustStop(t, stop)
	})
}

// An informer.Shared empties its cache when nobody uses it any more: that must not happen while reconciles read it.
func TestTheCachesOfAddedSourcesOutliveTheReconciles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, maps := startServer(t, clienttest.Options{})
		create(t, maps, "a")
		factory := &informer.Factory{}
		shared := informer.Share(factory, maps, informer.Options{})
		l := newLog()
		c := controller.New("c", controller.Options{Grace: time.Hour}, func(_ context.Context, k meta.Key) (controller.Result, error) {
			time.Sleep(time.Minute)
			_, found := shared.Reader().Get(k)
			l.add("%s %v", k.Name, found)
			return controller.Result{}, nil
		}, controller.Chan(make(chan meta.Key)))
		if _, err := c.AddSource(controller.Watch(shared)); err != nil {
			t.Fatal(err)
		}
		factoryContext, endFactory := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- factory.Run(factoryContext) }()
		stop := run(t, c)
		time.Sleep(time.Second)
		mustStop(t, stop)
		endFactory()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		l.want(t, "1m0s a true")
	})
}

func TestWorkersWaitForASourceThatIsAddedBeforeTheyStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		c := controller.New("c", controller.Options{}, func(_ context.Context, k string) (controller.Result, error) {
			l.add("%s", k)
			return controller.Result{}, nil
		}, keys{names: []string{"a"}, after: time.Second})
		stop := run(t, c)
		slow, err := c.AddSource(keys{names: []string{"b"}, after: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		never, err := c.AddSource(keys{names: []string{"removed"}, after: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Second)
		if s := c.Status(); s.State != controller.Syncing || len(s.Unsynced) != 2 {
			t.Errorf("status is %v, want it to wait for two sources", s)
		}
		time.Sleep(time.Minute)
		if err := slow.WaitSynced(t.Context()); err != nil {
			t.Error(err)
		}
		if s := c.Status(); s.State != controller.Syncing || len(s.Unsynced) != 1 {
			t.Errorf("status is %v, want it to wait for one source", s)
		}
		never.Remove() // nothing is left to wait for
		synctest.Wait()
		if s := c.Status(); s.State != controller.Running || s.Unsynced != nil {
			t.Errorf("status is %v, want it running", s)
		}
		late, err := c.AddSource(keys{names: []string{"c"}, after: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if s := c.Status(); s.State != controller.Running || len(s.Unsynced) != 1 || s.Reconciles != 4 {
			t.Errorf("status is %v, want no worker to wait for it", s)
		}
		time.Sleep(time.Hour)
		if err := late.WaitSynced(t.Context()); err != nil || c.Status().Unsynced != nil {
			t.Errorf("after an hour: %v, %v", err, c.Status())
		}
		mustStop(t, stop)
		slices.Sort(l.lines)
		l.want(t, "1m30s a", "1m30s b", "1m30s c", "1m30s removed")
	})
}

func TestAnAddedSourceThatFailsEndsTheRun(t *testing.T) {
	for _, test := range []struct {
		name   string
		source func(t *testing.T) controller.Source[meta.Key]
		want   string
	}{
		{"a source", func(*testing.T) controller.Source[meta.Key] {
			return controller.Every[meta.Key](0)
		}, "Every(0s): the period must be above 0, got 0s"},
		{"an informer", func(t *testing.T) controller.Source[meta.Key] {
			_, maps := startServer(t, clienttest.Options{})
			return controller.Watch(informer.New(maps, informer.Options{LabelSelector: "=="}))
		}, "LabelSelector"},
		{"a runner that ends its goroutine", func(t *testing.T) controller.Source[meta.Key] {
			return controller.Watch(newPods(t).ReaderOf(exiting{}))
		}, "run controller_test.exiting: called runtime.Goexit instead of returning"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := controller.New("c", controller.Options{}, (&counting{}).reconcile, controller.Chan(make(chan meta.Key)))
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				time.AfterFunc(time.Second, func() {
					if _, err := c.AddSource(test.source(t)); err != nil {
						t.Error(err)
					}
				})
				err := c.Run(ctx)
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("Run returned %v, want %s", err, test.want)
				}
			})
		})
	}
}

// exiting is a runner that ends its goroutine.
type exiting struct{}

func (exiting) Run(ctx context.Context) error { return exits{}.Run(ctx, nil, nil) }

func TestWaitSyncedSaysWhyAnAddedSourceIsNotSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if _, err := controller.New[string]("c", controller.Options{}, nil).AddSource(nil); err == nil || err.Error() != "controller.AddSource: the source must not be nil" {
			t.Errorf("AddSource of nil returned %v", err)
		}
		c := controller.New("c", controller.Options{}, func(context.Context, string) (controller.Result, error) {
			return controller.Result{}, nil
		}, keys{})
		added, err := c.AddSource(keys{after: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		errEnough := errors.New("enough")
		wait := func() string {
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errEnough)
			defer cancel()
			err := added.WaitSynced(ctx)
			if err != nil && !strings.Contains(err.Error(), "removed") && !errors.Is(err, errEnough) {
				t.Errorf("%v does not wrap the cause of the context", err)
			}
			return fmt.Sprint(err)
		}
		if got, want := wait(), `wait for controller_test.keys: enough, while controller "c" does not run`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		stop := run(t, c)
		if got, want := wait(), "wait for controller_test.keys: enough"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		time.AfterFunc(time.Second, added.Remove)
		if got, want := wait(), "wait for controller_test.keys: the source has been removed"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		mustStop(t, stop)

		m := controller.New("m", controller.Options{}, (&counting{}).reconcile, controller.Chan(make(chan meta.Key)))
		stop = run(t, m)
		if added, err = m.AddSource(controller.Watch(informer.New(missing(t), informer.Options{}))); err != nil {
			t.Fatal(err)
		}
		if got := wait(); !strings.Contains(got, "sites.example.com: server said NotFound") {
			t.Errorf("got %s, want the server's error", got)
		}
		mustStop(t, stop)
	})
}

// missing returns a resource that the server does not have.
func missing(t *testing.T) client.Resource[*pod] {
	t.Helper()
	server := clienttest.Start(t, clienttest.Options{})
	c, err := client.New(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return client.For(c, client.Type[*pod]{Group: "example.com", Version: "v1", Kind: "Site", Resource: "sites"})
}

// behaviour 305: whenever sources come and go, and Run begins and ends, nothing is left: synctest fails on goroutines that
// are.
func TestSourcesComeAndGoWhileRunsBeginAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, maps := startServer(t, clienttest.Options{})
		create(t, maps, "a")
		inf := informer.New(maps, informer.Options{})
		c := controller.New("c", controller.Options{Workers: 2}, (&counting{}).reconcile, controller.Chan(make(chan meta.Key)))
		over := make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() {
			defer close(over)
			for i := range 100 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+i%7)*time.Millisecond)
				if err := c.Run(ctx); err != nil {
					t.Error(err)
				}
				cancel()
			}
		})
		for i := range 4 {
			all.Go(func() {
				for {
					added, err := c.AddSource(controller.Watch(inf))
					if err != nil {
						t.Error(err)
					}
					select {
					case <-over:
						added.Remove()
						return
					case <-time.After(time.Duration(i+1) * time.Millisecond):
					}
					added.Remove()
				}
			})
		}
		all.Wait()
		if s := inf.Status().State; s != informer.Idle {
			t.Errorf("the informer is %v", s)
		}
		if n := len(c.Runners()); n != 0 {
			t.Errorf("%d runners are left", n)
		}
	})
}
