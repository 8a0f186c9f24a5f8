package controller_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/workqueue"
)

// tenants is a server with the namespaces n0 to n4, each with a config map "m", and a fault for the reads of one.
type tenants struct {
	*testing.T
	server *clienttest.Server
	maps   client.Resource[*settings]
	fault  atomic.Pointer[http.HandlerFunc] // nil is none
	faulty string                           // "n2", unless a test sets another one
	mu     sync.Mutex
	got    []string
}

var four = []string{"n0", "n1", "n2", "n3"}

func refuses(code int, reason string) http.HandlerFunc {
	return clienttest.Answer(meta.Status{Code: code, Reason: reason, Message: "not you"})
}

func tenantsTest(t *testing.T, name string, f func(w *tenants)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := &tenants{T: t, server: clienttest.Start(t, clienttest.Options{}), faulty: "n2"}
			c, err := client.New(w.server.Config())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			w.maps = client.For(c, settingsType)
			namespaces := client.For(c, client.Type[*settings]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster})
			for _, ns := range append(four, "n4") {
				if _, err := namespaces.Create(t.Context(), &settings{ObjectMeta: meta.ObjectMeta{Name: ns}}); err != nil {
					t.Fatal(err)
				}
				yes := true
				w.put(ns, "m", meta.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "m", UID: "u", Controller: &yes})
			}
			w.server.Intercept(func(r *http.Request) http.HandlerFunc {
				if h := w.fault.Load(); h != nil && strings.Contains(r.URL.Path, "/namespaces/"+w.faulty+"/configmaps") && r.Method == http.MethodGet {
					return *h
				}
				return nil
			})
			f(w)
		})
	})
}

func (w *tenants) put(ns, name string, owners ...meta.OwnerReference) {
	w.Helper()
	obj := &settings{ObjectMeta: meta.ObjectMeta{Namespace: ns, Name: name, OwnerReferences: owners}}
	if _, err := w.maps.Create(w.Context(), obj); err != nil {
		w.Fatal(err)
	}
}

func (w *tenants) fails(h http.HandlerFunc) { w.fault.Store(&h) }
func (w *tenants) heals()                   { w.fault.Store(nil) }

func (w *tenants) informer(namespaces ...string) *informer.Informer[*settings] {
	return informer.New(w.maps, informer.Options{Namespaces: namespaces, OnError: func(error) {}})
}

func (w *tenants) note(k any) (controller.Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.got = append(w.got, fmt.Sprint(k))
	return controller.Result{}, nil
}

// take returns the keys that have been reconciled since the last call, each once.
func (w *tenants) take() string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.Sort(w.got)
	all := strings.Join(slices.Compact(w.got), " ")
	w.got = nil
	return all
}

func (w *tenants) reconcile(_ context.Context, k meta.Key) (controller.Result, error) {
	return w.note(k)
}

func (w *tenants) start(rs ...informer.Runner) (stop func()) {
	ctx, cancel := context.WithCancel(w.Context())
	ended := make(chan error, 1)
	go func() { ended <- informer.Run(ctx, rs...) }()
	synctest.Wait()
	return func() {
		w.Helper()
		cancel()
		if err := <-ended; err != nil {
			w.Error(err)
		}
	}
}

// closing is a Subscriber whose subscription the test closes.
type closing struct {
	*informer.Informer[*settings]
	sub *cache.Subscription
}

func (c *closing) Subscribe(h cache.Handler[*settings]) *cache.Subscription {
	c.sub = c.Informer.Subscribe(h)
	return c.sub
}

// A source that still waits for a namespace ends as well when its cache closes the subscription.
func TestTheEndOfASubscriptionEndsTheControllerWhileANamespaceIsMissing(t *testing.T) {
	tenantsTest(t, "", func(w *tenants) {
		w.fails(refuses(http.StatusForbidden, "Forbidden"))
		from := &closing{Informer: w.informer(four...)}
		ctx, cancel := context.WithCancel(w.Context())
		running := make(chan error, 1)
		go func() { running <- from.Run(ctx) }()
		ctl := controller.New("c", controller.Options{}, w.reconcile, controller.Watch(from))
		ended := make(chan error, 1)
		go func() { ended <- ctl.Run(w.Context()) }()
		if got := w.take(); got != "n0/m n1/m n3/m" {
			w.Errorf("reconciled %q", got)
		}
		from.sub.Close()
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "closed") {
			w.Errorf("Run returned %v", err)
		}
		cancel()
		if err := <-running; err != nil {
			w.Error(err)
		}
	})
}

// One namespace that never came stopped the reconciles of all others, for ever.
func TestOneMissingNamespaceKeepsBackItsOwnKeysOnly(t *testing.T) {
	faults := map[string]http.HandlerFunc{
		"forbidden": refuses(403, "Forbidden"), "gone": refuses(404, "NotFound"), "hangs": clienttest.Hang(),
		"fails": refuses(500, "InternalError"), "throttled": clienttest.TooManyRequests(time.Second), "resets": clienttest.Reset(),
	}
	all := func() []meta.Key {
		var keys []meta.Key
		for _, ns := range four {
			keys = append(keys, meta.Key{Namespace: ns, Name: "m"})
		}
		return keys
	}
	sources := map[string]func(i *informer.Informer[*settings]) []controller.Source[meta.Key]{
		"Watch": func(i *informer.Informer[*settings]) []controller.Source[meta.Key] {
			return []controller.Source[meta.Key]{controller.Watch(i)}
		},
		"Watch of a view of a reader": func(i *informer.Informer[*settings]) []controller.Source[meta.Key] {
			view := i.Reader().Where(func(*settings) bool { return true })
			return []controller.Source[meta.Key]{controller.Watch(controller.CancelDeleted(controller.Changed(view, controller.VersionChanged)))}
		},
		"Map": func(i *informer.Informer[*settings]) []controller.Source[meta.Key] {
			self := controller.Map(i, func(s *settings) []meta.Key { return []meta.Key{s.Key()} })
			return []controller.Source[meta.Key]{self, controller.Every(time.Minute, all()...)}
		},
		"Owns": func(i *informer.Informer[*settings]) []controller.Source[meta.Key] {
			return []controller.Source[meta.Key]{controller.Owns(i, settingsType), controller.Every(time.Minute, all()...)}
		},
		"Reads": func(i *informer.Informer[*settings]) []controller.Source[meta.Key] {
			return []controller.Source[meta.Key]{controller.Reads[meta.Key](i), controller.Every(time.Minute, all()...)}
		},
		"Fresh": func(i *informer.Informer[*settings]) []controller.Source[meta.Key] {
			return []controller.Source[meta.Key]{controller.Fresh[meta.Key](i), controller.Every(time.Minute, all()...)}
		},
		"EveryObject": func(i *informer.Informer[*settings]) []controller.Source[meta.Key] {
			return []controller.Source[meta.Key]{controller.EveryObject(i.Reader(), time.Minute)}
		},
		"MapKeys": func(i *informer.Informer[*settings]) []controller.Source[meta.Key] {
			same := func(k meta.Key) meta.Key { return k }
			back := func(k meta.Key) (meta.Key, bool) { return k, true }
			return []controller.Source[meta.Key]{
				controller.MapKeys("r", controller.Watch(i), same, nil), controller.MapKeys("s", controller.Watch(i), same, back),
			}
		},
	}
	for fault, handler := range faults {
		for name, from := range sources {
			if name != "Watch" && fault != "forbidden" {
				continue // what the server does matters to the informer only
			}
			tenantsTest(t, name+"/"+fault, func(w *tenants) {
				w.fails(handler)
				i := w.informer(four...)
				c := controller.New("c", controller.Options{SyncTimeout: time.Minute, OnError: func(error) {}}, w.reconcile, from(i)...)
				defer w.start(c)()
				sleep(2 * time.Minute)
				want(w.T, "after two minutes", w.take, "n0/m n1/m n3/m")
				sleep(time.Hour)
				s := c.Status()
				if s.State != controller.Running || len(s.Unsynced) == 0 || !strings.Contains(s.Unsynced[0].Error(), `1 of 4 namespaces not synced: "n2"`) {
					w.Errorf("the status is %v", s)
				}
				if strings.Contains(w.take(), "n2") {
					w.Error("a key of the missing namespace was reconciled")
				}
				w.heals()
				sleep(5 * time.Minute)
				if got := w.take(); !strings.Contains(got, "n2/m") {
					w.Errorf("when it is there, reconciled %q", got)
				}
				if s := c.Status(); len(s.Unsynced) > 0 || s.Queue.Held > 0 {
					w.Errorf("the status is %v", s)
				}
			})
		}
	}
}

// place is a key that tells its namespace by a method.
type place struct{ in, name string }

func (p place) GetNamespace() string { return p.in }

func TestKeysWithoutANamespaceWaitForAllNamespaces(t *testing.T) {
	tenantsTest(t, "text", func(w *tenants) {
		w.fails(refuses(403, "Forbidden"))
		i := w.informer(four...)
		c := controller.New("c", controller.Options{}, func(_ context.Context, k string) (controller.Result, error) { return w.note(k) },
			controller.Map(i, func(s *settings) []string { return []string{s.Namespace} }))
		defer w.start(c)()
		sleep(time.Hour)
		want(w.T, "while one is missing", w.take, "")
		if s := c.Status(); s.Queue.Held != 3 || len(s.Unsynced) != 1 {
			w.Errorf("the status is %v, %+v", s, s.Queue)
		}
		w.heals()
		sleep(time.Minute)
		want(w.T, "when all are there", w.take, "n0 n1 n2 n3")
		w.faulty = "n4"
		w.fails(refuses(403, "Forbidden"))
		if err := i.SetNamespaces(append(four, "n4")); err != nil {
			w.Fatal(err)
		}
		sleep(time.Hour)
		w.put("n1", "x")
		want(w.T, "they have been reconciled without one that is added later", w.take, "n1")
	})
	tenantsTest(t, "a method", func(w *tenants) {
		w.fails(refuses(403, "Forbidden"))
		c := controller.New("c", controller.Options{}, func(_ context.Context, k place) (controller.Result, error) { return w.note(k.in) },
			controller.Map(w.informer(four...), func(s *settings) []place { return []place{{s.Namespace, s.Name}} }))
		defer w.start(c)()
		sleep(time.Minute)
		want(w.T, "while one is missing", w.take, "n0 n1 n3")
	})
	tenantsTest(t, "a key of the whole cluster", func(w *tenants) {
		w.fails(refuses(403, "Forbidden"))
		nodes := client.Type[*settings]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps", Scope: meta.Cluster}
		c := controller.New("c", controller.Options{}, w.reconcile, controller.Owns(w.informer(four...), nodes))
		defer w.start(c)()
		sleep(time.Hour)
		want(w.T, "while one is missing", w.take, "")
		w.heals()
		sleep(time.Minute)
		want(w.T, "when all are there", w.take, "m")
	})
	tenantsTest(t, "a namespace that the cache does not follow", func(w *tenants) {
		w.faulty = "n4"
		w.fails(refuses(403, "Forbidden"))
		c := controller.New("c", controller.Options{}, w.reconcile,
			controller.Watch(w.informer("n0", "n1")), controller.Reads[meta.Key](w.informer("n1", "n4")))
		defer w.start(c)()
		sleep(time.Hour)
		want(w.T, "n0 may need n4, and n1 is there", w.take, "n1/m")
	})
	tenantsTest(t, "if the controller says so", func(w *tenants) {
		w.fails(refuses(403, "Forbidden"))
		c := controller.New("c", controller.Options{AllNamespaces: true}, w.reconcile, controller.Watch(w.informer(four...)))
		defer w.start(c)()
		sleep(time.Hour)
		if s := c.Status(); s.State != controller.Syncing {
			w.Errorf("the status is %v", s)
		}
		want(w.T, "while one is missing", w.take, "")
	})
	tenantsTest(t, "if none is there", func(w *tenants) {
		w.fails(refuses(403, "Forbidden"))
		c := controller.New("c", controller.Options{}, w.reconcile, controller.Watch(w.informer("n2")))
		defer w.start(c)()
		sleep(time.Hour)
		if s := c.Status(); s.State != controller.Syncing {
			w.Errorf("the status is %v", s)
		}
	})
}

// Only keys of the cluster "eu" wait, and of those only the keys of its missing namespace.
func TestAMissingNamespaceOfASourceForSomeKeys(t *testing.T) {
	tenantsTest(t, "", func(w *tenants) {
		w.fails(refuses(403, "Forbidden"))
		named := make(chan meta.Key)
		c := controller.New("c", controller.Options{}, w.reconcile, controller.Chan(named))
		added := mustAddFor(w.T, c, func(k meta.Key) bool { return k.Namespace != "n0" }, controller.Watch(w.informer(four...)))
		defer w.start(c)()
		named <- meta.Key{Namespace: "n2", Name: "x"}
		sleep(time.Hour)
		want(w.T, "while one is missing", w.take, "n0/m n1/m n3/m")
		if err := added.Unsynced(); err == nil || !strings.Contains(err.Error(), `"n2"`) {
			w.Errorf("Unsynced = %v", err)
		}
		added.Remove()
		want(w.T, "when the source is removed", w.take, "n2/x")
	})
}

// oneTerm leads until ctx ends.
type oneTerm struct{ led atomic.Bool }

func (e *oneTerm) Run(ctx context.Context, lead func(context.Context) error) error {
	e.led.Store(true)
	return lead(ctx)
}

func TestAMissingNamespaceDoesNotKeepBackTheElection(t *testing.T) {
	tenantsTest(t, "", func(w *tenants) {
		w.fails(refuses(403, "Forbidden"))
		var log syncedLog
		c := controller.New("c", controller.Options{Logger: logr.FromSlogHandler(slog.NewTextHandler(&log, nil))}, w.reconcile, controller.Watch(w.informer(four...)))
		e := &oneTerm{}
		g := &informer.Group{Leader: e, Runners: []informer.Runner{c}}
		for run := range 2 {
			stop := w.start(g)
			sleep(time.Minute)
			if !e.led.Swap(false) {
				w.Errorf("run %d: nobody leads", run)
			}
			want(w.T, fmt.Sprint("run ", run), w.take, "n0/m n1/m n3/m")
			if err := g.Ready(); err == nil || !strings.Contains(err.Error(), `"n2" (Waiting, last error: `) {
				w.Errorf("run %d: Ready = %v", run, err)
			}
			if err := g.Live(); err != nil {
				w.Errorf("run %d: Live = %v", run, err)
			}
			if !strings.Contains(log.take(), `their keys wait, and those of the others are reconciled" `+
				`source="Watch(informer of configmaps.v1)" missing="1 of 4 namespaces not synced: \"n2\"`) {
				w.Errorf("run %d: the log does not name the missing namespace", run)
			}
			stop()
		}
	})
}

func TestNamespacesComeAndGoWhileOneIsMissing(t *testing.T) {
	tenantsTest(t, "", func(w *tenants) {
		w.fails(refuses(403, "Forbidden"))
		i, named := w.informer("n0", "n2"), make(chan meta.Key)
		c := controller.New("c", controller.Options{}, w.reconcile, controller.Watch(i), controller.Reads[meta.Key](i), controller.Chan(named))
		defer w.start(c)()
		set := func(namespaces ...string) {
			if err := i.SetNamespaces(namespaces); err != nil {
				w.Fatal(err)
			}
			sleep(time.Minute)
		}
		sleep(time.Hour)
		want(w.T, "at first", w.take, "n0/m")
		set("n0", "n1", "n2")
		want(w.T, "one is added", w.take, "n1/m")
		set("n1", "n2")
		want(w.T, "one is removed: its objects have left the cache", w.take, "n0/m")
		named <- meta.Key{Namespace: "n2", Name: "x"}
		sleep(time.Hour)
		want(w.T, "a key of the missing one waits", w.take, "")
		set("n1")
		want(w.T, "the missing one is removed", w.take, "n2/x")
		if s := c.Status(); len(s.Unsynced) > 0 || s.Queue.Held > 0 {
			w.Errorf("the status is %v", s)
		}
		set("n1", "n2", "n3")
		want(w.T, "the missing one is added again, with another", w.take, "n3/m")
		named <- meta.Key{Namespace: "n2", Name: "x"}
		named <- meta.Key{Namespace: "n1", Name: "x"}
		sleep(time.Hour)
		want(w.T, "a key of the missing one waits again", w.take, "n1/x")
		if s := c.Status(); len(s.Unsynced) == 0 || s.Queue.Held != 1 {
			w.Errorf("the status is %v", s)
		}
		w.heals()
		sleep(time.Minute)
		want(w.T, "it is there", w.take, "n2/m n2/x")
	})
	tenantsTest(t, "forbidden later", func(w *tenants) {
		i := w.informer(four...)
		c := controller.New("c", controller.Options{}, w.reconcile, controller.Watch(i))
		defer w.start(c)()
		sleep(time.Minute)
		want(w.T, "at first", w.take, "n0/m n1/m n2/m n3/m")
		w.fails(refuses(403, "Forbidden"))
		w.server.DropWatches()
		sleep(time.Hour)
		w.put("n1", "x")
		w.put("n2", "x")
		sleep(time.Hour)
		want(w.T, "the others go on", w.take, "n1/x")
		if s := i.Status(); s.Namespaces["n2"].Err == nil {
			w.Errorf("the status is %v", s)
		}
		w.heals()
		sleep(time.Minute)
		want(w.T, "it is permitted again", w.take, "n2/x")
	})
}

// The objects of a missing namespace count as changes when it comes. All changes had the low priority of the first list as long as a
// namespace was missing.
func TestChangesHaveTheirPriorityWhileANamespaceIsMissing(t *testing.T) {
	tenantsTest(t, "", func(w *tenants) {
		w.fails(refuses(403, "Forbidden"))
		var mu sync.Mutex
		priorities := map[string]int{}
		note := func(ctx context.Context, info controller.ReconcileInfo) (context.Context, func(controller.ReconcileEnd)) {
			mu.Lock()
			defer mu.Unlock()
			priorities[fmt.Sprint(info.Key)] = info.Priority
			return ctx, nil
		}
		c := controller.New("c", controller.Options{Hooks: controller.Hooks{Reconcile: note}}, w.reconcile, controller.Watch(w.informer(four...)))
		defer w.start(c)()
		sleep(time.Minute)
		w.put("n1", "x")
		sleep(time.Minute)
		w.heals()
		sleep(time.Minute)
		for k, p := range map[string]int{"n1/m": workqueue.LowPriority, "n1/x": 0, "n2/m": 0} {
			if priorities[k] != p {
				w.Errorf("%s has priority %d, want %d", k, priorities[k], p)
			}
		}
	})
}

// An index has the objects of all namespaces. It is no early read if a controller is known to work without one of them.
func TestReadsOfAllNamespacesAreNotEarlyWhileOneIsKnownToBeMissing(t *testing.T) {
	tenantsTest(t, "", func(w *tenants) {
		w.fails(refuses(403, "Forbidden"))
		var early atomic.Int32
		i := informer.New(w.maps, informer.Options{Namespaces: four, OnError: func(err error) {
			if _, ok := err.(*informer.EarlyReadError); ok {
				early.Add(1)
			}
		}})
		c := controller.New("c", controller.Options{}, func(_ context.Context, k meta.Key) (controller.Result, error) {
			i.Reader().Len()
			return w.note(k)
		}, controller.Watch(i))
		defer w.start(c)()
		sleep(time.Hour)
		want(w.T, "while one is missing", w.take, "n0/m n1/m n3/m")
		if n := early.Load(); n > 0 {
			w.Errorf("%d reads are early", n)
		}
	})
}

// syncedLog is the text of a logger.
type syncedLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *syncedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *syncedLog) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return l.text.String()
}
