package clusters_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/shards"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/clusters"
	"github.com/bowline-go/bowline/informer/controller"
)

// A cluster that went away after its sync looked healthy.
func TestTheStatusSaysThatAClusterHasGoneAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newSite(t, "a"), newSite(t, "b")
		c := clusters.New("c", controller.Options{}, (&log{}).note)
		mustAdd(t, c, a, controller.Reads[meta.Key](a.cache), controller.Every(time.Hour, at("x")))
		mustAdd(t, c, b)
		stop := start(t, c)
		if all := c.Clusters(); all[0].Away != nil || all[0].Err != nil || all[1].Away != nil || all[1].Err != nil {
			t.Errorf("the clusters are %v", all)
		}
		a.server.Refuse(syscall.ECONNREFUSED)
		a.server.DropWatches()
		a.server.GoAway()
		time.Sleep(time.Minute)
		all := c.Clusters()
		if all[0].Err != nil || !errors.Is(all[0].Away, syscall.ECONNREFUSED) || all[1].Away != nil {
			t.Errorf("the clusters are %v", all)
		}
		text, want := all[0].String(), `cluster "a": 0 in progress, 0 later; away: informer "a" of configmaps.v1: watch configmaps`
		if !strings.HasPrefix(text, want) || strings.Count(text, "informer") != 1 {
			t.Errorf("the status is\n%s, want\n%s..., once", text, want)
		}
		a.server.Refuse(nil)
		time.Sleep(2 * time.Minute)
		if all := c.Clusters(); all[0].Away != nil {
			t.Errorf("it is back, and the clusters are %v", all)
		}
		stop()
	})
}

// A cluster that stays away makes the process not ready, as a stale cache of any other controller does.
func TestAGroupIsNotReadyWhileAClusterStaysAway(t *testing.T) {
	for _, demands := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			a, b := newSite(t, "a"), newSite(t, "b")
			c := clusters.New("c", controller.Options{}, (&log{}).note)
			mustAdd(t, c, a)
			mustAdd(t, c, b)
			g := &informer.Group{Runners: []informer.Runner{c}}
			if !demands {
				g.MustBeFresh = []informer.Runner{}
			}
			stop := start(t, g)
			a.server.Refuse(syscall.ECONNREFUSED)
			a.server.DropWatches()
			a.server.GoAway()
			time.Sleep(4 * time.Minute)
			if err := g.Ready(); err != nil {
				t.Errorf("after 4 minutes: %v", err)
			}
			time.Sleep(4 * time.Minute)
			err := g.Ready()
			if demands && (err == nil || !strings.Contains(err.Error(), `informer "a" of configmaps.v1: the cache was last renewed`) || strings.Contains(err.Error(), `"b"`)) {
				t.Errorf("the group is ready: %v", err)
			}
			if !demands && err != nil || g.Live() != nil {
				t.Errorf("ready is %v, live is %v", err, g.Live())
			}
			a.server.Refuse(nil)
			time.Sleep(2 * time.Minute)
			if err := g.Ready(); err != nil {
				t.Errorf("it is back: %v", err)
			}
			stop()
		})
	}
}

// The errors of two sources made two lines, each with the name of the cluster.
func TestTheStatusOfAClusterIsOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, test := range []struct{ name, shown string }{{"eu", "eu"}, {"e\nu\x1b", `"e\nu\x1b"`}, {`e"u`, `"e\"u"`}} {
			a := newSite(t, "a")
			c := clusters.New("c", controller.Options{}, (&log{}).note)
			if err := c.Add(test.name, a, a.watch(), controller.Every(time.Hour, at("x"))); err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf(`cluster %q: 0 in progress, 0 later; not synced: Watch(informer "a" of configmaps.v1): controller "c" does not run; `+
				`Every(1h0m0s): controller "c" does not run`, test.name)
			if got := c.Clusters()[0].String(); got != want {
				t.Errorf("the status is\n%s, want\n%s", got, want)
			}
			if got, want := fmt.Sprint(clusters.In(test.name, a.watch())), test.shown+`: Watch(informer "a" of configmaps.v1)`; got != want {
				t.Errorf("the source is %s, want %s", got, want)
			}
			ended, end := context.WithCancel(t.Context())
			end()
			if err := c.WaitSynced(ended, test.name); err == nil || !strings.Contains(err.Error(), test.shown) || strings.Contains(err.Error(), "\n") {
				t.Errorf("WaitSynced returned %v", err)
			}
		}
		s := clusters.Status{Name: "a", Err: errors.New("one\ntwo"), Away: errors.Join(errors.New("x"), errors.New("y\x1b[0m"))}
		if got, want := s.String(), `cluster "a": 0 in progress, 0 later; not synced: "one\ntwo"; away: x; "y\x1b[0m"`; got != want {
			t.Errorf("the status is\n%s, want\n%s", got, want)
		}
	})
}

// Keys of a cluster without sources of its own come from those of New.
func TestAClusterMayUseOnlyTheSourcesOfNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newSite(t, "a")
		did := &log{}
		c := clusters.New("c", controller.Options{}, did.note, controller.Every(time.Hour, in("a", "x")))
		if err := c.Add("a", a); err != nil {
			t.Fatal(err)
		}
		stop := start(t, c)
		did.want(t, "at the start", "a:x")
		stop()
	})
}

// Every error of the kind of a context's was taken for the removal, so that a failure got lost.
func TestOnlyTheRemovalInterruptsAReconcile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newSite(t, "a")
		a.create(t, "other", "removes", "slow")
		begun, release := make(chan struct{}), make(chan struct{})
		var c *clusters.Controller[*site]
		told, outcomes := &log{}, &log{}
		hooks := controller.Hooks{Reconcile: func(ctx context.Context, r controller.ReconcileInfo) (context.Context, func(controller.ReconcileEnd)) {
			return ctx, func(e controller.ReconcileEnd) { outcomes.add("%v %v: %v", r.Key, e.Outcome, e.Err) }
		}}
		c = clusters.New("c", controller.Options{Workers: 3, Timeout: time.Minute, Hooks: hooks, OnError: func(err error) { told.add("%v", err) }},
			func(ctx context.Context, _ *site, k clusters.Key) (controller.Result, error) {
				switch k.Name {
				case "removes": // while Remove waits for the others, its own context goes on
					<-begun
					go func() {
						if err := c.Remove(context.WithoutCancel(ctx), "a"); err != nil {
							t.Error(err)
						}
					}()
					time.Sleep(time.Second) // within the bubble
					return controller.Result{}, fmt.Errorf("ask elsewhere: %w", context.Canceled)
				case "slow": // Options.Timeout has ended it before
					<-ctx.Done()
					<-release
					return controller.Result{}, fmt.Errorf("slow: %w", context.Cause(ctx))
				}
				close(begun)
				<-ctx.Done()
				return controller.Result{}, fmt.Errorf("other: %w", ctx.Err())
			})
		if err := c.Add("a", a, controller.Every(time.Hour, at("slow"))); err != nil {
			t.Fatal(err)
		}
		stop := start(t, c)
		time.Sleep(2 * time.Minute)
		told.want(t, "it is in progress", "")
		more, err := c.AddSource(controller.Every(time.Hour, in("a", "other"), in("a", "removes")))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		told.want(t, "one that is removed, and one that removes",
			`reconcile "a:default/removes" in controller "c": will not be retried: ask elsewhere: context canceled`)
		outcomes.want(t, "one that is removed, and one that removes",
			"a:default/other interrupted: other: context canceled, a:default/removes failed for good: will not be retried: ask elsewhere: context canceled")
		close(release)
		if got := told.take(); !strings.HasPrefix(got, `reconcile "a:default/slow" in controller "c": will not be retried: slow: `) {
			t.Errorf("one that has timed out: told %q", got)
		}
		if s := c.Status(); s.Errors != 2 || s.Failing != 0 {
			t.Errorf("the status is %v", s)
		}
		more.Remove()
		stop()
	})
}

// With Shards by uid a controller may run before its first cluster comes, whose sources say which uid a key has.
func TestShardsByUIDOfClustersThatComeLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub, a := newSite(t, "hub"), newSite(t, "a")
		a.create(t, "x")
		group := shards.New(hub.client, shards.Options{Namespace: "default", Name: "web", OnError: func(error) {}})
		did := &log{}
		c := clusters.New("c", controller.Options{Shards: group}, func(_ context.Context, _ *site, k clusters.Key) (controller.Result, error) {
			did.add("%v", k)
			return controller.Result{}, nil
		})
		ctx, cancel := context.WithCancel(logr.NewContext(t.Context(), logr.Discard()))
		ended := make(chan error, 1)
		go func() {
			ended <- group.Run(ctx, func(ctx context.Context) error { return informer.Run(ctx, c) })
		}()
		time.Sleep(time.Second)
		if err := c.Add("a", a, controller.Every(time.Hour, at("x"))); err == nil {
			t.Error("a cluster is added whose sources do not say which uid a key has")
		}
		shared := informer.New(a.maps, informer.Options{Namespace: "default", Shards: group, OnError: func(error) {}})
		if err := c.Add("a", a, controller.Watch(shared)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		did.want(t, "a cluster that has come later", "a:default/x")
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// Servers in memory had one address, so that a write to one was waited for in the caches of the other, up to Options.FreshTimeout.
func TestAWriteToOneServerDoesNotWaitForAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub, a := newSite(t, "hub"), newSite(t, "a")
		a.create(t, "x", "y", "z") // its versions are ahead of those of the hub
		c := clusters.New("c", controller.Options{OnError: func(err error) { t.Error(err) }},
			func(ctx context.Context, s *site, k clusters.Key) (controller.Result, error) {
				known, found := s.cache.Reader().Get(k.Key)
				if !found || known.Data != nil {
					return controller.Result{}, nil
				}
				known = meta.Clone(known)
				known.Data = map[string]string{"n": "1"}
				_, err := s.maps.Update(ctx, known)
				return controller.Result{RequeueAfter: time.Second}, err
			})
		mustAdd(t, c, a, controller.Fresh[meta.Key](hub.cache, a.cache))
		stop := start(t, c)
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		if s := c.Status(); s.Waiting != 0 || s.WentAhead != 0 || s.Waited > 0 || s.Reconciles < 6 || s.Errors > 0 {
			t.Errorf("the status is %v, waited %v", s, s.Waited)
		}
		for _, name := range []string{"x", "y", "z"} {
			if m, err := a.maps.Get(t.Context(), at(name)); err != nil || m.Data["n"] != "1" {
				t.Errorf("the server has %v, %v", m, err)
			}
		}
		stop()
	})
}

// odd is an informer of a type whose values cannot be compared.
type odd struct {
	errs []error
}

func (o odd) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}
func (o odd) Away() error { return o.errs[0] }

// needing is a source that needs runners.
type needing struct {
	controller.Source[meta.Key]
	of []informer.Runner
}

func (n needing) Runners() []informer.Runner { return n.of }

// Each runner is listed once, and one that cannot be compared counts as another one each time.
func TestSourcesNeedRunnersOfAnyType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		did := &log{}
		c := clusters.New("c", controller.Options{}, did.note)
		one, two := odd{[]error{errors.New("one")}}, odd{[]error{errors.New("two")}}
		same := &odd{[]error{errors.New("same")}}
		every := func(key string, of ...informer.Runner) controller.Source[meta.Key] {
			return needing{controller.Every(time.Hour, at(key)), of}
		}
		if err := c.Add("a", nil, every("x", one, same, nil), every("y", two, same, one)); err != nil {
			t.Fatal(err)
		}
		stop := start(t, c)
		did.want(t, "at the start", "a:x, a:y")
		var away []string
		for line := range strings.Lines(c.Clusters()[0].Away.Error()) {
			away = append(away, line[strings.LastIndex(line, " ")+1:])
		}
		if got := strings.Join(away, ""); got != "one\nsame\ntwo\none" {
			t.Errorf("away: %q", got)
		}
		mustRemove(t, c, "a")
		stop()
	})
}
