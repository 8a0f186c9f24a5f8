package controller_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/patch"
	"github.com/bowline-go/bowline/workqueue"
)

// settings is a config map with its data.
type settings struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

var settingsType = client.Type[*settings]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

// behind is a server whose watches may be behind, a client, and an informer of config maps.
type behind struct {
	*testing.T
	server *clienttest.Server
	client *client.Client
	maps   client.Resource[*settings]
	inf    *informer.Informer[*settings]
}

// behindTest runs f in a bubble. The informer runs until the end of f.
func behindTest(t *testing.T, o informer.Options, f func(b *behind)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &behind{T: t, server: clienttest.Start(t, clienttest.Options{Replicas: 1, HistoryAge: 1000 * time.Hour})}
		c, err := client.New(b.server.Config())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		b.client, b.maps = c, client.For(c, settingsType)
		b.inf = informer.New(b.maps, o)
		defer b.run(b.inf)()
		f(b)
	})
}

// run runs an informer until the function that it returns is called.
func (b *behind) run(i informer.Runner) (stop func()) {
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error)
	go func() { ended <- i.Run(ctx) }()
	synctest.Wait()
	return sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	})
}

// lag lets watches be behind by d; forever stops them.
func (b *behind) lag(d time.Duration) {
	b.Helper()
	synctest.Wait()
	versions := 0
	if d == forever {
		versions, d = math.MaxInt, 0
	}
	b.server.Replica(0).SetLag(versions, d)
	synctest.Wait()
}

const forever = time.Duration(math.MaxInt64)

func (b *behind) create(ctx context.Context, name string, labels map[string]string) error {
	_, err := b.maps.Create(ctx, &settings{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name, Labels: labels}, Data: map[string]string{"n": "0"}})
	return err
}

// put sets the number in a config map.
func (b *behind) put(ctx context.Context, r client.Resource[*settings], name string, n int) error {
	_, err := r.Patch(ctx, inDefault(name), patch.Merge(map[string]any{"data": map[string]any{"n": strconv.Itoa(n)}}))
	return err
}

func (b *behind) label(ctx context.Context, name, key string, value any) error {
	_, err := b.maps.Patch(ctx, inDefault(name), patch.Merge(map[string]any{"metadata": map[string]any{"labels": map[string]any{key: value}}}))
	return err
}

func inDefault(name string) meta.Key { return meta.Key{Namespace: "default", Name: name} }

// number returns what the cache has.
func (b *behind) number(name string) int {
	obj, ok := b.inf.Reader().Get(inDefault(name))
	if !ok {
		return -1
	}
	n, _ := strconv.Atoi(obj.Data["n"])
	return n
}

// start runs a controller until the test ends, or until stop is called.
func (b *behind) start(c *controller.Controller[string]) (stop func()) {
	end := run(b.T, c)
	stop = sync.OnceFunc(func() { mustStop(b.T, end) })
	b.Cleanup(stop)
	return stop
}

// With a cache that is two seconds behind, a reconcile after its own write always finds the write, however often sources
// name its key; and the one worker reconciles other keys all the time.
func TestAReconcileFindsItsOwnWrites(t *testing.T) {
	for _, how := range []string{"declared", "declared and rekeyed", "not declared"} {
		t.Run(how, func(t *testing.T) {
			declared := how != "not declared"
			behindTest(t, informer.Options{}, func(b *behind) {
				names := []string{"a", "b", "c"}
				for _, name := range names {
					if err := b.create(b.Context(), name, nil); err != nil {
						b.Fatal(err)
					}
				}
				b.lag(2 * time.Second)
				reads := controller.Reads[string](b.inf)
				if declared {
					reads = controller.Fresh[string](b.inf)
				}
				if how == "declared and rekeyed" {
					reads = controller.MapKeys("", controller.Fresh[meta.Key](b.inf), func(k meta.Key) string { return k.Name }, nil)
				}
				written, stale := map[string]int{}, 0
				var idle []time.Time
				c := controller.New("c", controller.Options{}, func(ctx context.Context, name string) (controller.Result, error) {
					if name == "idle" {
						idle = append(idle, time.Now())
						return controller.Result{}, nil
					}
					n := b.number(name)
					if n != written[name] {
						stale++
					}
					if n < 10 {
						written[name] = n + 1
						return controller.Result{}, b.put(ctx, b.maps, name, n+1)
					}
					return controller.Result{}, nil
				}, reads, controller.Every(100*time.Millisecond, "a", "b", "c", "idle"))
				stop := b.start(c)
				sleep(time.Second + 50*time.Millisecond)
				if s := c.Status(); declared && (s.Waiting != 3 || s.Queue.Held != 3 || s.Queue.InProgress != 0 ||
					!strings.Contains(s.String(), "3 waiting for caches")) {
					b.Errorf("the status is %v", s)
				}
				sleep(29 * time.Second)
				stop()
				if (stale == 0) != declared {
					b.Errorf("%d reconciles have not found the last write", stale)
				}
				for i := 1; i < len(idle); i++ {
					if pause := idle[i].Sub(idle[i-1]); pause != 100*time.Millisecond {
						b.Errorf("the key that nobody writes for paused for %v", pause)
					}
				}
				for _, name := range names {
					if n := b.number(name); declared && n != 10 {
						b.Errorf("%s has %d", name, n)
					}
				}
				if s := c.Status(); declared && (s.Waits != 30 || s.WentAhead != 0 || s.Waiting != 0 ||
					s.Waited < 30*1800*time.Millisecond || s.Waited > 30*2*time.Second) {
					b.Errorf("the status is %+v", s)
				}
			})
		})
	}
}

// waiting tells a controller with the key "k" to write once, in its first reconcile, and returns how long the key waited.
func (b *behind) waiting(from controller.Source[string], during time.Duration, write func(ctx context.Context) error) (waited time.Duration) {
	b.Helper()
	again := make(chan string)
	runs := make(chan time.Time, 10)
	var once sync.Once
	c := controller.New("c", controller.Options{
		FreshTimeout: time.Hour,
		Hooks: controller.Hooks{Waited: func(_ context.Context, w controller.WaitInfo) {
			if waited = w.Waited; w.Controller != "c" || w.Key != "k" || w.Err != nil {
				b.Errorf("waited %+v", w)
			}
		}},
	}, func(ctx context.Context, _ string) (_ controller.Result, err error) {
		once.Do(func() { err = write(ctx) })
		runs <- time.Now()
		return controller.Result{}, err
	}, from, controller.Chan(again))
	stop := b.start(c)
	again <- "k"
	wrote := <-runs
	again <- "k"
	again <- "k"
	b.lag(during)
	next := <-runs
	if took := next.Sub(wrote); took != waited {
		b.Errorf("the next reconcile began after %v, and %v were told", took, waited)
	}
	stop()
	return waited
}

// The watch goes on after a minute. Some writes are waited for until then, and others are not.
func TestAReconcileWaitsForItsWritesToReachTheCache(t *testing.T) {
	labelled := informer.Options{LabelSelector: "app=web"}
	web := map[string]string{"app": "web"}
	other := client.Type[*settings]{Version: "v1", Kind: "Secret", Resource: "secrets"}
	for _, test := range []struct {
		name  string
		o     informer.Options
		write func(b *behind, ctx context.Context) error
		waits bool
	}{
		{"a patch", informer.Options{}, func(b *behind, ctx context.Context) error { return b.put(ctx, b.maps, "a", 1) }, true},
		{"with a context that comes from it", informer.Options{}, func(b *behind, ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			return b.put(ctx, b.maps, "a", 1)
		}, true},
		{"with another context", informer.Options{}, func(b *behind, _ context.Context) error { return b.put(b.Context(), b.maps, "a", 1) }, false},
		{"an update", informer.Options{}, func(b *behind, ctx context.Context) error {
			_, err := b.maps.Modify(ctx, inDefault("a"), func(s *settings) error { s.Data["n"] = "1"; return nil })
			return err
		}, true},
		{"an apply", informer.Options{}, func(b *behind, ctx context.Context) error {
			_, err := b.maps.With(client.WriteOptions{FieldManager: "me"}).Apply(ctx, inDefault("a"), map[string]any{"data": map[string]any{"x": "y"}}, client.ApplyOptions{})
			return err
		}, true},
		{"a creation", informer.Options{}, func(b *behind, ctx context.Context) error { return b.create(ctx, "new", nil) }, true},
		{"a generated name", informer.Options{}, func(b *behind, ctx context.Context) error {
			_, err := b.maps.Create(ctx, &settings{ObjectMeta: meta.ObjectMeta{Namespace: "default", GenerateName: "x-"}})
			return err
		}, true},
		{"a deletion", informer.Options{}, func(b *behind, ctx context.Context) error {
			return b.maps.Delete(ctx, inDefault("a"), client.DeleteOptions{})
		}, true},
		{"the deletion of what others have deleted", informer.Options{}, func(b *behind, ctx context.Context) error {
			if err := b.maps.Delete(b.Context(), inDefault("a"), client.DeleteOptions{}); err != nil {
				return err
			}
			_ = b.maps.Delete(ctx, inDefault("a"), client.DeleteOptions{})
			return nil
		}, false},
		{"a deletion and a new object", informer.Options{}, func(b *behind, ctx context.Context) error {
			return errors.Join(b.maps.Delete(ctx, inDefault("a"), client.DeleteOptions{}), b.create(ctx, "a", nil))
		}, true},
		{"a creation and a deletion", informer.Options{}, func(b *behind, ctx context.Context) error {
			return errors.Join(b.create(ctx, "new", nil), b.maps.Delete(ctx, inDefault("new"), client.DeleteOptions{}))
		}, true},
		{"a write after which another writes", informer.Options{}, func(b *behind, ctx context.Context) error {
			return errors.Join(b.put(ctx, b.maps, "a", 1), b.put(b.Context(), b.maps, "a", 2))
		}, true},
		{"a write after which another deletes and creates", informer.Options{}, func(b *behind, ctx context.Context) error {
			return errors.Join(b.put(ctx, b.maps, "a", 1), b.maps.Delete(b.Context(), inDefault("a"), client.DeleteOptions{}), b.create(b.Context(), "a", nil))
		}, true},
		{"two objects", informer.Options{}, func(b *behind, ctx context.Context) error {
			return errors.Join(b.put(ctx, b.maps, "a", 1), b.create(ctx, "new", nil))
		}, true},
		{"a patch without a change", informer.Options{}, func(b *behind, ctx context.Context) error { return b.put(ctx, b.maps, "a", 0) }, false},
		{"a dry run", informer.Options{}, func(b *behind, ctx context.Context) error {
			return b.put(ctx, b.maps.With(client.WriteOptions{DryRun: true}), "a", 1)
		}, false},
		{"a write that fails", informer.Options{}, func(b *behind, ctx context.Context) error {
			if err := b.create(ctx, "a", nil); err == nil {
				b.Error("it did not fail")
			}
			return nil
		}, false},
		{"a write whose answer is lost", informer.Options{}, func(b *behind, ctx context.Context) error {
			b.server.Intercept(func(*http.Request) http.HandlerFunc { return b.server.ResetBody(0) })
			defer b.server.Intercept(nil)
			if err := b.put(ctx, b.maps, "a", 1); err == nil {
				b.Error("it did not fail")
			}
			return nil
		}, false},
		{"another resource", informer.Options{}, func(b *behind, ctx context.Context) error {
			_, err := client.For(b.client, other).Create(ctx, &settings{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}})
			return err
		}, false},
		{"another namespace", informer.Options{Namespace: "kube-system"}, func(b *behind, ctx context.Context) error { return b.put(ctx, b.maps, "a", 1) }, false},
		{"within the selector", labelled, func(b *behind, ctx context.Context) error { return b.put(ctx, b.maps, "web", 1) }, true},
		{"into the selector", labelled, func(b *behind, ctx context.Context) error { return b.label(ctx, "a", "app", "web") }, true},
		{"out of the selector", labelled, func(b *behind, ctx context.Context) error { return b.label(ctx, "web", "app", nil) }, true},
		{"outside of the selector", labelled, func(b *behind, ctx context.Context) error { return b.put(ctx, b.maps, "a", 1) }, false},
		{"into the selector and out of it", labelled, func(b *behind, ctx context.Context) error {
			return errors.Join(b.label(ctx, "a", "app", "web"), b.label(ctx, "a", "app", nil))
		}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			behindTest(t, test.o, func(b *behind) {
				if err := errors.Join(b.create(b.Context(), "a", nil), b.create(b.Context(), "web", web)); err != nil {
					b.Fatal(err)
				}
				b.lag(forever)
				waited := b.waiting(controller.Fresh[string](b.inf), time.Minute, func(ctx context.Context) error { return test.write(b, ctx) })
				if want := map[bool]time.Duration{true: time.Minute, false: 0}[test.waits]; waited != want {
					b.Errorf("waited %v, want %v", waited, want)
				}
			})
		})
	}
}

// A child is created and deleted while the watch is away, and the history is gone. The cache never holds the child, so no
// event names its key.
func TestAChildThatHasGoneUnseenIsCreatedAgain(t *testing.T) {
	for _, o := range []informer.Options{{}, {LabelSelector: "app=web"}} {
		t.Run("selector "+o.LabelSelector, func(t *testing.T) {
			behindTest(t, o, func(b *behind) {
				keys, created := make(chan string), 0
				c := controller.New("c", controller.Options{FreshTimeout: time.Hour}, func(ctx context.Context, _ string) (controller.Result, error) {
					if _, found := b.inf.Reader().Get(inDefault("child")); found {
						return controller.Result{}, nil
					}
					created++
					return controller.Result{}, b.create(ctx, "child", map[string]string{"app": "web"})
				}, controller.Fresh[string](b.inf), controller.Chan(keys))
				stop := b.start(c)
				b.server.Intercept(func(r *http.Request) http.HandlerFunc {
					if r.URL.Query().Get("watch") == "" {
						return nil
					}
					return b.server.ResetBody(0)
				})
				b.server.DropWatches()
				synctest.Wait()
				keys <- "k"
				synctest.Wait()
				if err := b.maps.Delete(b.Context(), inDefault("child"), client.DeleteOptions{}); err != nil {
					b.Fatal(err)
				}
				b.server.Compact()
				b.server.Intercept(nil)
				sleep(time.Minute)
				if b.number("child") < 0 || created != 2 {
					b.Errorf("the child was created %d times, want 2", created)
				}
				stop()
			})
		})
	}
}

// A watch that stands still does not stop a key for ever: it is reconciled at the limit, and each such time is told.
func TestAKeyDoesNotWaitLongerThanTheLimit(t *testing.T) {
	for _, limit := range []time.Duration{0, time.Minute} {
		t.Run(fmt.Sprint("limit ", limit), func(t *testing.T) {
			behindTest(t, informer.Options{}, func(b *behind) {
				if err := b.create(b.Context(), "a", nil); err != nil {
					b.Fatal(err)
				}
				b.lag(forever)
				want := limit
				if want == 0 {
					want = 10 * time.Second
				}
				l := logged{newLog()}
				var waits []controller.WaitInfo
				var n, writes atomic.Int32
				writes.Store(3)
				c := controller.New("c", controller.Options{
					FreshTimeout: limit, Logger: l.logger(),
					Hooks: controller.Hooks{Waited: func(_ context.Context, w controller.WaitInfo) { waits = append(waits, w) }},
				}, func(ctx context.Context, name string) (controller.Result, error) {
					if n := n.Add(1); n <= writes.Load() {
						return controller.Result{}, b.put(ctx, b.maps, name, int(n))
					}
					return controller.Result{}, nil
				}, controller.Fresh[string](b.inf), controller.Every(want/10, "a"))
				began := time.Now()
				b.start(c)
				sleep(3*(want+want/10) + want/20)
				if n.Load() < 4 || len(waits) != 3 || waits[2].Err == nil || waits[2].Waited != want {
					b.Fatalf("%d reconciles, waits %v", n.Load(), waits)
				}
				version, ok := strings.CutPrefix(waits[2].Err.Error(), fmt.Sprintf("caches are behind after %v: informer of configmaps.v1 has not seen version ", want))
				version, of, _ := strings.Cut(version, " of ")
				if _, err := strconv.Atoi(version); !ok || err != nil || of != `configmaps "default/a"` {
					b.Errorf("the error is %v", waits[2].Err)
				}
				if s := c.Status(); s.Waiting != 0 || s.Waits != 3 || s.Waited != 3*want || s.WentAhead != 3 || s.Errors != 0 ||
					!strings.Contains(s.String(), "3 gone ahead of caches") {
					b.Errorf("the status is %v", s)
				}
				// The last reconcile has written nothing, so nothing is waited for any more, and the next ones are not late.
				sleep(10 * want)
				if n.Load() < 100 {
					b.Errorf("%d reconciles", n.Load())
				}
				writes.Store(n.Load() + 1)
				b.lag(want / 4)
				sleep(want)
				if len(waits) != 4 || waits[3].Err != nil {
					b.Errorf("waits %v", waits)
				}
				if len(l.lines) < 2 || !strings.HasPrefix(l.lines[0], (want+want/10).String()+" ") ||
					!strings.Contains(l.lines[0], `controller \"c\": a reconcile went ahead, although caches had not seen what the last one wrote`) ||
					!strings.Contains(l.lines[0], "caches are behind") || !strings.Contains(l.lines[len(l.lines)-1], "caches see writes in time again") {
					b.Errorf("%v later the log is %q", time.Since(began), l.lines)
				}
			})
		})
	}
}

// Nobody hears of a late reconcile who has silenced the controller.
func TestAHookForErrorsSilencesWaits(t *testing.T) {
	behindTest(t, informer.Options{}, func(b *behind) {
		b.lag(forever)
		l := logged{newLog()}
		c := controller.New("c", controller.Options{Logger: l.logger(), OnError: func(err error) { b.Error(err) }},
			func(ctx context.Context, name string) (controller.Result, error) {
				_ = b.create(ctx, name, nil)
				return controller.Result{}, nil
			}, controller.Fresh[string](b.inf), controller.Every(time.Second, "a"))
		stop := b.start(c)
		sleep(time.Minute)
		stop()
		l.has(b.T)
	})
}

// A key that waits is neither retried nor forgotten: its failures go on, and so does its backoff.
func TestAWaitKeepsTheFailuresOfItsKey(t *testing.T) {
	behindTest(t, informer.Options{}, func(b *behind) {
		b.lag(3 * time.Second)
		l, n := newLog(), 0
		c := controller.New("c", controller.Options{MinBackoff: time.Minute, MaxBackoff: time.Hour, OnError: func(err error) {
			failed := (*controller.ReconcileError)(nil)
			if errors.As(err, &failed) {
				l.add("failure %d", failed.Failures)
			}
		}}, func(ctx context.Context, name string) (controller.Result, error) {
			if n++; n == 4 {
				return controller.Result{}, nil
			}
			return controller.Result{}, errors.Join(b.create(ctx, fmt.Sprint(name, n), nil), errFailed)
		}, controller.Fresh[string](b.inf), controller.Every(time.Second, "a"))
		stop := b.start(c)
		sleep(8 * time.Second)
		if s := c.Status(); s.Queue.Held != 1 || s.Errors != 3 || s.Waits != 2 {
			b.Errorf("the status is %v", s)
		}
		stop()
		l.want(b.T, "0s failure 1", "3s failure 2", "6s failure 3")
	})
}

// A key waits for every cache that its writes concern.
// A hook of the queue may ask for the status, also when a key that has waited becomes ready.
func TestAHookOfTheQueueAsksForTheStatusOfWaits(t *testing.T) {
	behindTest(t, informer.Options{}, func(b *behind) {
		var mu sync.Mutex
		var waits []int
		var c *controller.Controller[string]
		names := make(chan string)
		runs := 0
		added := func(workqueue.HookInfo[any]) {
			waiting := c.Status().Waiting
			mu.Lock()
			defer mu.Unlock()
			waits = append(waits, waiting)
		}
		queue := func(context.Context, controller.RunInfo) workqueue.Hooks[any] {
			return workqueue.Hooks[any]{Add: added}
		}
		c = controller.New("c", controller.Options{Hooks: controller.Hooks{Queue: queue}}, func(ctx context.Context, k string) (controller.Result, error) {
			if runs++; runs == 1 {
				return controller.Result{}, b.create(ctx, "a", nil)
			}
			return controller.Result{}, nil
		}, controller.Fresh[string](b.inf), controller.Chan(names))
		defer b.run(c)()
		b.lag(forever)
		names <- "k"
		synctest.Wait()
		names <- "k"
		synctest.Wait()
		if n := c.Status().Waiting; n != 1 {
			t.Fatalf("%d keys wait", n)
		}
		b.lag(0)
		mu.Lock()
		defer mu.Unlock()
		if runs != 2 || !slices.Equal(waits, []int{0, 0, 0}) {
			t.Errorf("%d reconciles, and the hook found %d waiting keys", runs, waits)
		}
	})
}

func TestAKeyWaitsForAllCaches(t *testing.T) {
	behindTest(t, informer.Options{}, func(b *behind) {
		second := &behind{T: b.T, server: clienttest.Start(b.T, clienttest.Options{Replicas: 1})}
		c, err := client.New(second.server.Config())
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		secrets := client.For(b.client, client.Type[*meta.Partial]{Version: "v1", Kind: "Secret", Resource: "secrets"})
		metadata := informer.New(client.Metadata(b.maps), informer.Options{})
		others := informer.New(client.Metadata(secrets), informer.Options{})
		defer b.run(metadata)()
		defer b.run(others)()
		b.lag(forever)
		if waited := b.waiting(controller.Fresh[string](others, b.inf, metadata), time.Minute, func(ctx context.Context) error {
			return b.create(ctx, "a", nil)
		}); waited != time.Minute {
			b.Errorf("waited %v", waited)
		}
		if _, ok := metadata.Reader().Get(inDefault("a")); !ok {
			b.Error("the cache of metadata does not have it")
		}
	})
}

// A key that waits for a cache is released when nothing more can come.
func TestAKeyIsReleasedWhenItsCacheEnds(t *testing.T) {
	for _, test := range []struct {
		name string
		end  func(b *behind, i *informer.Informer[*settings], stop func())
	}{
		{"the informer ends", func(_ *behind, _ *informer.Informer[*settings], stop func()) { stop() }},
		{"its namespace is removed", func(b *behind, i *informer.Informer[*settings], _ func()) {
			if err := i.SetNamespaces([]string{"kube-system"}); err != nil {
				b.Error(err)
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			behindTest(t, informer.Options{}, func(b *behind) {
				i := informer.New(b.maps, informer.Options{Namespaces: []string{"default"}})
				stop := b.run(i)
				defer stop()
				b.lag(forever)
				var runs atomic.Int32
				c := controller.New("c", controller.Options{FreshTimeout: time.Hour}, func(ctx context.Context, name string) (controller.Result, error) {
					if runs.Add(1) == 1 {
						return controller.Result{}, b.create(ctx, name, nil)
					}
					return controller.Result{}, nil
				}, controller.Fresh[string](i), controller.Every(time.Minute, "a"))
				b.start(c)
				sleep(90 * time.Second)
				if runs.Load() != 1 || c.Status().Waiting != 1 {
					b.Fatalf("%d reconciles, %v", runs.Load(), c.Status())
				}
				test.end(b, i, stop)
				synctest.Wait()
				if s := c.Status(); runs.Load() != 2 || s.Waiting != 0 || s.Waits != 1 || s.WentAhead != 0 {
					b.Errorf("%d reconciles, %+v", runs.Load(), s)
				}
			})
		})
	}
}

// A controller that ends while keys wait ends at once, and leaves nothing.
func TestARunEndsWhileKeysWait(t *testing.T) {
	behindTest(t, informer.Options{}, func(b *behind) {
		b.lag(forever)
		var runs atomic.Int32
		var outlives context.Context
		c := controller.New("c", controller.Options{FreshTimeout: time.Hour}, func(ctx context.Context, name string) (controller.Result, error) {
			outlives = context.WithoutCancel(ctx)
			return controller.Result{}, b.create(ctx, fmt.Sprint(name, runs.Add(1)), nil)
		}, controller.Fresh[string](b.inf), controller.Every(time.Minute, "a"))
		stop := b.start(c)
		sleep(90 * time.Second)
		began := time.Now()
		stop()
		if s := c.Status(); time.Since(began) > 0 || s.Waiting != 0 {
			b.Errorf("after %v: %v", time.Since(began), s)
		}
		if err := b.create(outlives, "outlived", nil); err != nil { // by a goroutine that the reconcile has left behind
			b.Error(err)
		}
		stop = b.start(c)
		if s := c.Status(); runs.Load() != 2 || s.Waiting != 0 {
			b.Errorf("%d reconciles, %v", runs.Load(), s)
		}
		stop()
	})
}

// A source of AddSource can be one, and informer.Run runs its caches.
func TestFreshIsASourceLikeOthers(t *testing.T) {
	behindTest(t, informer.Options{}, func(b *behind) {
		f := &informer.Factory{}
		shared := informer.Share(f, b.maps, informer.Options{})
		source := controller.Fresh[string](shared, embedded{shared, nil}, embedded{shared, func() {}})
		if got, want := fmt.Sprint(source), "Fresh(shared informer of configmaps.v1, shared informer of configmaps.v1, shared informer of configmaps.v1)"; got != want {
			b.Errorf("its name is %s", got)
		}
		var runs atomic.Int32
		c := controller.New("c", controller.Options{FreshTimeout: time.Hour}, func(ctx context.Context, name string) (controller.Result, error) {
			if runs.Add(1) == 1 {
				return controller.Result{}, b.create(ctx, name, nil)
			}
			return controller.Result{}, nil
		}, controller.Every(time.Minute, "a"))
		if _, err := c.AddSource(controller.Fresh[string](shared)); err != nil {
			b.Fatal(err)
		}
		if _, err := c.AddSource(controller.Fresh[string](embedded{shared, func() {}})); err != nil {
			b.Fatal(err)
		}
		defer b.run(f)()
		stop := b.start(c)
		b.lag(forever)
		sleep(90 * time.Second)
		if s := c.Status(); runs.Load() > 2 || s.Waiting > 1 {
			b.Errorf("%d reconciles, %v", runs.Load(), s)
		}
		b.lag(0)
		sleep(time.Minute)
		if s := c.Status(); runs.Load() < 2 || s.Waiting != 0 {
			b.Errorf("%d reconciles, %v", runs.Load(), s)
		}
		stop()

		var none *informer.Informer[*settings]
		for _, wrong := range []struct {
			cache controller.Cache
			want  string
		}{{none, "caches[0] must not be nil"}, {forgetful{}, "caches[0] must be an informer, because no other cache knows when it has seen a write; got controller_test.forgetful"}} {
			err := controller.New("c", controller.Options{}, func(context.Context, string) (controller.Result, error) {
				return controller.Result{}, nil
			}, controller.Fresh[string](wrong.cache)).Run(b.Context())
			if err == nil || !strings.Contains(err.Error(), wrong.want) {
				b.Errorf("got %v, want %s", err, wrong.want)
			}
		}
	})
}

// forgetful is a cache that does not know what it has seen.
type forgetful struct{}

func (forgetful) Run(context.Context) error        { return nil }
func (forgetful) WaitSynced(context.Context) error { return nil }

// embedded is a cache of the user's, which cannot be compared.
type embedded struct {
	*informer.Informer[*settings]
	f func()
}
