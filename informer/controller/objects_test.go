package controller_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

// pod is an object with owners, and something to map by.
type pod struct {
	meta.ObjectMeta `json:"metadata"`
	Nodes           []string `json:"nodes,omitempty"`
}

func newPod(namespace, name, version string, nodes ...string) *pod {
	return &pod{
		ObjectMeta: meta.ObjectMeta{Namespace: namespace, Name: name, UID: "uid-" + name, ResourceVersion: version},
		Nodes:      nodes,
	}
}

// pods is a store that delivers; its methods return when what they do has been delivered and reconciled.
type pods struct {
	storetest.Cache[*pod]
}

func newPods(t *testing.T) pods {
	s := pods{storetest.New[*pod]()}
	go func() {
		if err := s.Deliver(t.Context(), func(p *cache.PanicError) { t.Errorf("%v\n%s", p, p.Stack) }); err != nil {
			t.Error(err)
		}
	}()
	return s
}

func (s pods) list(pods ...*pod) {
	r := s.Relist()
	for _, p := range pods {
		r.Set(identity(p), p)
	}
	r.Commit("1")
	synctest.Wait()
}

func (s pods) set(p *pod) {
	s.Set(identity(p), p)
	synctest.Wait()
}

func (s pods) delete(p *pod) {
	s.Delete(identity(p), p)
	synctest.Wait()
}

func identity(p *pod) meta.Identity {
	return meta.Identity{Namespace: p.Namespace, Name: p.Name, UID: p.UID, ResourceVersion: p.ResourceVersion}
}

// reconciled runs a controller on the sources and returns what takes the keys that have been reconciled since the last
// call, in order.
func reconciled[K comparable](t *testing.T, from ...controller.Source[K]) (take func() string, stop func() error) {
	var got []string
	c := controller.New("c", controller.Options{}, func(_ context.Context, k K) (controller.Result, error) {
		got = append(got, fmt.Sprint(k))
		return controller.Result{}, nil
	}, from...)
	stop = run(t, c)
	return func() string {
		synctest.Wait()
		slices.Sort(got)
		all := strings.Join(got, " ")
		got = nil
		return all
	}, stop
}

// adds runs a source alone and returns what takes the keys that it has added since the last call, each as often as it did.
func adds[K comparable](t *testing.T, from controller.Source[K]) (take func() []K, stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	var (
		mu  sync.Mutex // guards got
		got []K
	)
	add := func(k K) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, k)
	}
	go func() { ended <- from.Run(ctx, add, func() {}) }()
	take = func() []K {
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		all := got
		got = nil
		return all
	}
	return take, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the source returned %v, want nil when its context ends", err)
		}
	}
}

func want(t *testing.T, what string, take func() string, want string) {
	t.Helper()
	if got := take(); got != want {
		t.Errorf("%s: reconciled %q, want %q", what, got, want)
	}
}

func TestWatchNamesTheKeyOfEachObjectThatChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPods(t)
		take, stop := reconciled(t, controller.Watch(s.Reader()))
		want(t, "before the first list", take, "")
		s.list(newPod("ns", "a", "1"), newPod("", "b", "1"))
		want(t, "the first list", take, "b ns/a")
		s.set(newPod("ns", "c", "2"))
		want(t, "an added object", take, "ns/c")
		s.set(newPod("ns", "a", "3"))
		want(t, "a changed object", take, "ns/a")
		s.set(newPod("ns", "a", "3"))
		want(t, "an object that has not changed", take, "")
		s.delete(newPod("", "b", "4"))
		want(t, "a deleted object", take, "b")
		mustStop(t, stop)
		s.set(newPod("ns", "a", "5"))
		want(t, "after the end", take, "")

		take, stop = reconciled(t, controller.Watch(s.Reader()))
		want(t, "a second controller, later", take, "ns/a ns/c")
		mustStop(t, stop)
	})
}

// behaviour 303
func TestMapNamesTheKeysOfTheOldAndTheNewStateOnceEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPods(t)
		take, stop := adds(t, controller.Map(s.Reader(), func(p *pod) []string { return p.Nodes }))
		for _, step := range []struct {
			name string
			do   func()
			want []string
		}{
			{
				"the first list",
				func() { s.list(newPod("ns", "a", "1", "n1", "n2", "n1"), newPod("ns", "b", "1")) },
				[]string{"n1", "n2"},
			},
			{
				"a change from n1 n2 to n2 n3",
				func() { s.set(newPod("ns", "a", "2", "n2", "n3")) },
				[]string{"n1", "n2", "n3"},
			},
			{"a change that moves nothing", func() { s.set(newPod("ns", "a", "3", "n2", "n3")) }, []string{"n2", "n3"}},
			{"an object without keys", func() { s.set(newPod("ns", "b", "4")) }, nil},
			{"a deletion", func() { s.delete(newPod("ns", "a", "5", "n2", "n3")) }, []string{"n2", "n3"}},
		} {
			step.do()
			if got := slices.Sorted(slices.Values(take())); !slices.Equal(got, step.want) {
				t.Errorf("%s: added %q, want %q", step.name, got, step.want)
			}
		}
		stop()
	})
}

func TestMapNamesManyKeysOnceEachToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys := map[string][]int{}
		for i := range 1000 {
			keys["1"] = append(keys["1"], i, i)
			keys["2"] = append(keys["2"], i+500)
		}
		s := newPods(t)
		take, stop := adds(t, controller.Map(s.Reader(), func(p *pod) []int { return keys[p.ResourceVersion] }))
		s.list(newPod("ns", "a", "1"))
		if n := len(take()); n != 1000 {
			t.Errorf("%d keys were added, want 1000", n)
		}
		s.set(newPod("ns", "a", "2"))
		if n := len(take()); n != 1500 {
			t.Errorf("%d keys were added, want 1500", n)
		}
		stop()
	})
}

// owners is a type of owners.
type owners struct {
	kind  meta.GVK
	scope meta.Scope
}

func (o owners) GVK() meta.GVK { return o.kind }

func (o owners) IsNamespaced() bool { return o.scope == meta.Namespaced }

// behaviour 303
func TestOwnsNamesTheControllingOwnerOfItsKind(t *testing.T) {
	yes, no := true, false
	owner := func(apiVersion, kind, name string, controller *bool) meta.OwnerReference {
		return meta.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: "uid-" + name, Controller: controller}
	}
	deployment := meta.GVK{Group: "apps", Version: "v1", Kind: "Deployment"}
	for _, test := range []struct {
		name  string
		kind  meta.GVK
		scope meta.Scope
		refs  []meta.OwnerReference
		want  string
	}{
		{"the owner is in the object's namespace", deployment, meta.Namespaced, []meta.OwnerReference{
			owner("apps/v1", "Deployment", "d", &yes),
		}, "ns/d"},
		{"an owner of the whole cluster has none", deployment, meta.Cluster, []meta.OwnerReference{
			owner("apps/v1", "Deployment", "d", &yes),
		}, "d"},
		{"the version does not count", deployment, meta.Namespaced, []meta.OwnerReference{
			owner("apps/v1beta1", "Deployment", "d", &yes),
		}, "ns/d"},
		{"the group does", deployment, meta.Namespaced, []meta.OwnerReference{
			owner("extensions/v1", "Deployment", "d", &yes),
		}, ""},
		{"the core group has no name", meta.GVK{Version: "v1", Kind: "Node"}, meta.Cluster, []meta.OwnerReference{
			owner("v1", "Node", "n", &yes),
		}, "n"},
		{"it is none of the others", meta.GVK{Version: "v1", Kind: "Node"}, meta.Cluster, []meta.OwnerReference{
			owner("apps/v1", "Node", "n", &yes),
		}, ""},
		{"the kind counts", deployment, meta.Namespaced, []meta.OwnerReference{
			owner("apps/v1", "ReplicaSet", "d", &yes),
		}, ""},
		{"owners that do not control it are left out", deployment, meta.Namespaced, []meta.OwnerReference{
			owner("apps/v1", "Deployment", "first", nil),
			owner("apps/v1", "Deployment", "second", &no),
			owner("apps/v1", "Deployment", "third", &yes),
		}, "ns/third"},
		{"an object without owners", deployment, meta.Namespaced, nil, ""},
		{"an owner without a name does not exist", deployment, meta.Namespaced, []meta.OwnerReference{
			owner("apps/v1", "Deployment", "", &yes),
		}, ""},
		{"nor one whose name leads elsewhere", deployment, meta.Cluster, []meta.OwnerReference{
			owner("apps/v1", "Deployment", "../d", &yes),
		}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newPods(t)
				take, stop := reconciled(t, controller.Owns(s.Reader(), owners{test.kind, test.scope}))
				p := newPod("ns", "a", "1")
				p.OwnerReferences = test.refs
				s.list(p)
				want(t, "the first list", take, test.want)
				p = newPod("ns", "a", "2")
				s.set(p) // it has lost its owners: the old one must know
				want(t, "a change of owners", take, test.want)
				mustStop(t, stop)
			})
		})
	}
}

// An object without a namespace has no owner of a namespaced kind: a key without a namespace would be reconciled for nothing.
func TestOwnsLeavesOutNamespacedOwnersOfClusterScopedObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPods(t)
		kind, yes := meta.GVK{Group: "apps", Version: "v1", Kind: "Deployment"}, true
		take, stop := reconciled(t,
			controller.Owns(s.Reader(), owners{kind, meta.Namespaced}), controller.Owns(s.Reader(), owners{meta.GVK{Group: "apps", Version: "v1", Kind: "Site"}, meta.Cluster}))
		of := func(name, kind string) *pod {
			p := newPod("", name, "1")
			p.OwnerReferences = []meta.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: kind, UID: "u", Controller: &yes}}
			return p
		}
		s.list(of("a", "Deployment"), of("b", "Site"))
		want(t, "the first list", take, "Site")
		mustStop(t, stop)
	})
}

// nameless is an object whose struct leaves out what a key is made of.
type nameless struct{}

func (*nameless) GetNamespace() string       { return "" }
func (*nameless) GetName() string            { return "" }
func (*nameless) GetResourceVersion() string { return "" }

func TestASourceThatCannotWorkEndsTheController(t *testing.T) {
	for _, test := range []struct {
		name   string
		source func(t *testing.T) controller.Source[meta.Key]
		want   string
	}{
		{"objects without names", func(t *testing.T) controller.Source[meta.Key] {
			s := storetest.New[*nameless]()
			go s.Deliver(t.Context(), nil) //nolint:errcheck // it is the only one
			s.Set(meta.Identity{Name: "a", UID: "1"}, &nameless{})
			s.Set(meta.Identity{Name: "b", UID: "2"}, &nameless{})
			return controller.Watch(s.Reader())
		}, "Watch(*controller_test.nameless): object of type *controller_test.nameless has no name: " +
			"embed meta.ObjectMeta or meta.Identity as its metadata, with the tag `json:\"metadata\"`"},
		{"a cache that is none", func(*testing.T) controller.Source[meta.Key] {
			return controller.Watch(cache.Reader[*pod]{})
		}, "Watch(*controller_test.pod): wait for a subscription to sync: the subscription is closed"},
		{"nothing to subscribe to", func(*testing.T) controller.Source[meta.Key] {
			return controller.Watch[*pod](nil)
		}, "Watch(*controller_test.pod): s must not be nil"},
		{"no type of owners", func(t *testing.T) controller.Source[meta.Key] {
			return controller.Owns(newPods(t).Reader(), nil)
		}, "Owns(*controller_test.pod): owner must not be nil"},
		{"no function to map by", func(t *testing.T) controller.Source[meta.Key] {
			return controller.Map[meta.Key, *pod](newPods(t).Reader(), nil)
		}, "Map(*controller_test.pod): by must not be nil"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := controller.New("c", controller.Options{},
					func(context.Context, meta.Key) (controller.Result, error) { return controller.Result{}, nil },
					test.source(t))
				err := c.Run(t.Context())
				if want := `run controller "c": ` + test.want; err == nil || err.Error() != want {
					t.Errorf("Run returned\n\t%v\nwant\n\t%s", err, want)
				}
			})
		})
	}
}

// An update has two states. If the new one has no key, the controller fails, although the old one has a key.
func TestAnObjectThatLosesItsNameEndsTheController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPods(t)
		s.list(newPod("ns", "a", "1"))
		c := controller.New("c", controller.Options{},
			func(context.Context, meta.Key) (controller.Result, error) { return controller.Result{}, nil }, controller.Watch(s.Reader()))
		ended := make(chan error, 1)
		go func() { ended <- c.Run(t.Context()) }()
		synctest.Wait()
		lost := newPod("ns", "a", "2")
		lost.Name = ""
		s.Set(meta.Identity{Namespace: "ns", Name: "a", UID: "uid-a", ResourceVersion: "2"}, lost)
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "object of type *controller_test.pod has no name") {
			t.Errorf("Run returned %v", err)
		}
	})
}

// named is a Subscriber with a name of its own, as informers have.
type named struct{ cache.Reader[*pod] }

// ending has its subscriptions closed by somebody else, as those of a user of a shared informer are.
type ending struct {
	cache.Reader[*pod]
	subs chan *cache.Subscription
}

func (e ending) Subscribe(h cache.Handler[*pod]) *cache.Subscription {
	sub := e.Reader.Subscribe(h)
	e.subs <- sub
	return sub
}

// A controller that can hear nothing more must not go on as if nothing happened.
func TestTheEndOfASubscriptionEndsTheController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPods(t)
		s.list(newPod("web", "a", "1"))
		from := ending{s.Reader(), make(chan *cache.Subscription, 1)}
		ctl := controller.New("c", controller.Options{}, func(context.Context, meta.Key) (controller.Result, error) {
			return controller.Result{}, nil
		}, controller.Watch(from))
		ended := make(chan error, 1)
		go func() { ended <- ctl.Run(t.Context()) }()
		synctest.Wait()
		(<-from.subs).Close()
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "the cache closed the subscription") {
			t.Errorf("Run returned %v", err)
		}
	})
}

func (named) String() string { return "informer of pods.v1" }

func TestSourcesAreNamedAfterWhatTheyFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.New[*pod]() // never listed: all that follow it wait
		kind := meta.GVK{Group: "apps", Version: "v1", Kind: "Deployment"}
		c := controller.New("c", controller.Options{SyncTimeout: time.Minute},
			func(context.Context, meta.Key) (controller.Result, error) { return controller.Result{}, nil },
			controller.Watch(s.Reader()),
			controller.Watch(named{s.Reader()}),
			controller.Map(s.Reader(), func(*pod) []meta.Key { return nil }),
			controller.Owns(named{s.Reader()}, owners{kind, meta.Namespaced}),
			controller.Every(time.Hour, meta.Key{}),
			controller.Chan(make(chan meta.Key)),
		)
		err := c.Run(t.Context())
		want := `run controller "c": sources have not delivered within Options.SyncTimeout (1m0s): Watch(*controller_test.pod); ` +
			`Watch(informer of pods.v1); Map(*controller_test.pod); Owns(informer of pods.v1, Deployment.apps/v1)`
		if err == nil || err.Error() != want {
			t.Errorf("Run returned\n\t%v\nwant\n\t%s", err, want)
		}
	})
}

func TestEveryNamesItsKeysAtTheStartAndPeriodically(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		c := controller.New("c", controller.Options{}, func(_ context.Context, k string) (controller.Result, error) {
			l.add("%s", k)
			return controller.Result{}, nil
		}, controller.Every(time.Minute, "a", "b"))
		stop := run(t, c)
		time.Sleep(2*time.Minute + time.Second)
		mustStop(t, stop)
		l.want(t, "0s a", "0s b", "1m0s a", "1m0s b", "2m0s a", "2m0s b")
	})
}

func TestChanNamesWhatItReceivesUntilItIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ch := make(chan string, 2)
		ch <- "early"
		take, stop := reconciled(t, controller.Chan(ch))
		want(t, "what was sent before", take, "early")
		ch <- "late"
		want(t, "what is sent", take, "late")
		close(ch)
		want(t, "what is closed", take, "")
		mustStop(t, stop)
	})
}

// behaviour 305: the cache and the controller may end in any order, also while the cache is calling the handler.
func TestCacheAndControllerEndInAnyOrder(t *testing.T) {
	for _, test := range []struct {
		name        string
		cache, ctl  time.Duration // when each is ended
		mapping     time.Duration // how long each call of the handler takes
		wantCtl     time.Duration // when Run returns
		wantDeliver time.Duration
	}{
		{"the cache first", 1500 * time.Millisecond, time.Minute, 0, time.Minute, 1500 * time.Millisecond},
		{"the controller first", time.Minute, 1500 * time.Millisecond, 0, 1500 * time.Millisecond, time.Minute},
		{
			"the controller in the middle of a call, which it waits for",
			time.Minute, 1500 * time.Millisecond, time.Second, 2 * time.Second, time.Minute,
		},
		{
			"the cache in the middle of a call, then the controller during the same one",
			1500 * time.Millisecond, 1600 * time.Millisecond, time.Second, 2 * time.Second, 2 * time.Second,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				s := storetest.New[*pod]()
				r := s.Relist()
				for i := range 100 {
					p := newPod("ns", strconv.Itoa(i), "1", "node")
					r.Set(identity(p), p)
				}
				r.Commit("1")
				delivering, endCache := context.WithTimeout(t.Context(), test.cache)
				defer endCache()
				delivered := make(chan time.Duration)
				go func() {
					_ = s.Deliver(delivering, nil)
					delivered <- time.Since(start)
				}()
				ctx, end := context.WithTimeout(t.Context(), test.ctl)
				defer end()
				c := controller.New("c", controller.Options{},
					func(context.Context, string) (controller.Result, error) { return controller.Result{}, nil },
					controller.Map(s.Reader(), func(p *pod) []string {
						time.Sleep(test.mapping)
						return p.Nodes
					}))
				ended := make(chan time.Duration)
				go func() {
					if err := c.Run(ctx); err != nil {
						t.Error(err)
					}
					ended <- time.Since(start)
				}()
				for range 2 {
					select {
					case took := <-ended:
						if took != test.wantCtl {
							t.Errorf("Run returned after %v, want %v", took, test.wantCtl)
						}
					case took := <-delivered:
						if took != test.wantDeliver {
							t.Errorf("Deliver returned after %v, want %v", took, test.wantDeliver)
						}
					}
				}
			})
		})
	}
}

// The contract from end to end, on a cache that changes while reconciles fail now and then: whatever the cache holds last,
// a successful reconcile has seen.
func TestTheLastStateOfEveryObjectIsReconciledWhateverFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPods(t)
		reader := s.Reader()
		version := func(k meta.Key) string {
			if p, ok := reader.Get(k); ok {
				return p.ResourceVersion
			}
			return "deleted"
		}
		var mu sync.Mutex
		seen := map[meta.Key]string{}
		c := controller.New("c", controller.Options{Workers: 4, RetryRate: 100},
			func(_ context.Context, k meta.Key) (controller.Result, error) {
				v := version(k)
				time.Sleep(rand.N(3 * time.Millisecond))
				switch rand.IntN(6) {
				case 0:
					return controller.Result{}, errFailed
				case 1:
					panic("bad luck")
				}
				mu.Lock()
				defer mu.Unlock()
				seen[k] = v
				return controller.Result{}, nil
			}, controller.Watch(reader), controller.Owns(reader, owners{meta.GVK{Kind: "None"}, meta.Namespaced}))
		s.list()
		stop := run(t, c)
		for v := 2; v < 5000; v++ {
			p := newPod("ns", strconv.Itoa(rand.IntN(100)), strconv.Itoa(v))
			if v%10 == 0 {
				s.Delete(identity(p), p)
			} else {
				s.Set(identity(p), p)
			}
			if v%5 == 0 {
				time.Sleep(rand.N(2 * time.Millisecond))
			}
		}
		for busy := true; busy; { // virtual time: the test's own limit ends a loop that would never end
			time.Sleep(time.Second)
			q := c.Status().Queue
			busy = q.Ready+q.InProgress+q.Delayed+q.Throttled > 0
		}
		mustStop(t, stop)
		for k, v := range seen {
			if want := version(k); v != want {
				t.Errorf("%v was last reconciled at version %s, want %s", k, v, want)
			}
		}
		for p := range reader.All() {
			if seen[meta.KeyOf(p)] == "" {
				t.Errorf("%v was never reconciled", meta.KeyOf(p))
			}
		}
		if st := c.Status(); st.Errors == 0 || st.Panics == 0 || st.Errors == st.Panics {
			t.Errorf("status is %v: too little went wrong for this test", st)
		}
	})
}
