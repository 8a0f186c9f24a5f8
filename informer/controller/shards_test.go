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

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

// share is what a replica has, as a test says.
type share struct {
	by meta.ShardBy

	mu      sync.Mutex // guards the rest
	wanted  meta.Ranges
	have    meta.Ranges
	works   meta.Ranges
	numbers [meta.RangeCount]uint64
	number  uint64
	changed chan struct{}
	ends    map[int]context.CancelCauseFunc
	inside  int
}

func newShare(by meta.ShardBy) *share {
	return &share{by: by, changed: make(chan struct{}), ends: make(map[int]context.CancelCauseFunc)}
}

func (s *share) By() meta.ShardBy { return s.by }

func (s *share) Follow(string) interface {
	Wanted() (meta.Ranges, <-chan struct{})
	Have(meta.Ranges)
	Leave()
} {
	return s
}

func (s *share) Wanted() (meta.Ranges, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wanted, s.changed
}

func (s *share) Have(r meta.Ranges) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.have = r
}

func (s *share) Leave() {}

func (s *share) Began(since uint64) (ranges meta.Ranges, number uint64, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := range s.works.All() {
		if s.numbers[n] > since {
			ranges = ranges.With(n)
		}
	}
	return ranges, s.number, s.changed
}

func (s *share) Enter(ctx context.Context, n int) (context.Context, func(), bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.works.Has(n) {
		return nil, nil, false
	}
	s.inside++
	ctx, s.ends[n] = context.WithCancelCause(ctx)
	return ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.inside--
	}, true
}

// set gives the replica these ranges, and the wish for those.
func (s *share) set(works, wanted meta.Ranges) {
	s.mu.Lock()
	for n := range works.Minus(s.works).All() {
		s.number++
		s.numbers[n] = s.number
	}
	for n := range s.works.Minus(works).All() {
		if end := s.ends[n]; end != nil {
			end(errPassed)
		}
	}
	s.works, s.wanted = works, wanted.Union(works)
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	synctest.Wait()
}

var errPassed = fmt.Errorf("it has passed")

// shardRig is a controller with Shards, and a store of pods whose names say which range they are in.
type shardRig struct {
	*testing.T
	pods
	share *share
	texts [meta.RangeCount]string
	stop  func() error

	mu   sync.Mutex // guards done
	done []string
}

// testShards runs a test by uid and by namespace, and with keys that MapKeys has made. reconcile may be nil.
func testShards(t *testing.T, reconcile controller.Func[meta.Key], test func(r *shardRig)) {
	for _, by := range []meta.ShardBy{meta.ShardByUID, meta.ShardByNamespace} {
		testShardsOf(t, string(by), by, func(k meta.Key) meta.Key { return k },
			func(s controller.Source[meta.Key]) controller.Source[meta.Key] { return s }, reconcile, test)
		testShardsOf(t, string(by)+", rekeyed", by, func(k tagged) meta.Key { return k.Key },
			func(s controller.Source[meta.Key]) controller.Source[tagged] { return tag("pods", s) }, reconcile, test)
	}
}

func testShardsOf[K comparable](
	t *testing.T, name string, by meta.ShardBy, of func(K) meta.Key, rekey func(controller.Source[meta.Key]) controller.Source[K],
	reconcile controller.Func[meta.Key], test func(r *shardRig),
) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := &shardRig{T: t, pods: newPods(t), share: newShare(by)}
			for left, i := meta.RangeCount, 0; left > 0; i++ {
				text := fmt.Sprintf("%d-%d", i*7919, i)
				if n := by.Range(meta.Identity{UID: text, Namespace: text}); r.texts[n] == "" {
					r.texts[n] = text
					left--
				}
			}
			c := controller.New("c", controller.Options{Shards: r.share, Workers: 4}, func(ctx context.Context, k K) (controller.Result, error) {
				r.mu.Lock()
				r.done = append(r.done, of(k).Name)
				r.mu.Unlock()
				if reconcile == nil {
					return controller.Result{}, nil
				}
				return reconcile(ctx, of(k))
			}, rekey(controller.Watch(controller.Changed(controller.CancelDeleted(r.Reader()), controller.VersionChanged))))
			r.stop = run(t, c)
			test(r)
			if err := r.stop(); err != nil {
				t.Error(err)
			}
			if r.share.inside != 0 || r.share.have != (meta.Ranges{}) {
				t.Errorf("at the end %d reconciles are in their ranges, and the controller is prepared for %v", r.share.inside, r.share.have)
			}
		})
	})
}

// pod returns a pod of range n.
func (r *shardRig) pod(n int, version string) *pod {
	p := newPod("ns", fmt.Sprint("pod", n), version)
	if r.share.by == meta.ShardByUID {
		p.UID = r.texts[n]
	} else {
		p.Namespace = r.texts[n]
	}
	return p
}

// want checks which pods have been reconciled since the last call, in any order.
func (r *shardRig) want(what, want string) {
	r.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.Sort(r.done)
	if got := strings.Join(r.done, " "); got != want {
		r.Errorf("%s: %q was reconciled, want %q", what, got, want)
	}
	r.done = nil
}

func ranges(of ...int) (r meta.Ranges) {
	for _, n := range of {
		r = r.With(n)
	}
	return r
}

func TestAControllerReconcilesItsRangesOnly(t *testing.T) {
	testShards(t, nil, func(r *shardRig) {
		r.list(r.pod(1, "1"), r.pod(2, "1"), r.pod(3, "1"))
		r.want("without ranges", "")
		if r.share.have != meta.AllRanges() {
			t.Errorf("a controller whose sources have delivered is prepared for %v", r.share.have)
		}
		r.share.set(ranges(1, 2, 7), ranges(1, 2, 3, 7))
		r.want("the first ranges", "pod1 pod2")
		r.set(r.pod(1, "2"))
		r.set(r.pod(3, "2"))
		r.set(r.pod(7, "2"))
		r.want("changes", "pod1 pod7")
		r.delete(r.pod(1, "3"))
		r.want("a deletion", "pod1")
		r.delete(r.pod(3, "3")) // while the range is prepared
		r.want("a deletion in a range that is not ours yet", "")
		r.share.set(ranges(2, 3, 7), ranges(2, 3, 7))
		r.want("another range, with a deletion since it was wanted", "pod3")
		r.share.set(ranges(2), ranges(2))
		r.delete(r.pod(7, "3")) // as a cache that drops the range
		r.want("what leaves the cache with its range", "")
		r.set(r.pod(7, "4"))
		r.share.set(ranges(2, 7), ranges(2, 7))
		r.want("a range that comes back", "pod7")
		r.share.set(ranges(7), ranges(7))
		r.share.set(ranges(2, 7), ranges(2, 7))
		r.want("a range that went and came back", "pod2")
	})
}

func TestTheContextOfAReconcileEndsWithItsRange(t *testing.T) {
	var mu sync.Mutex
	var causes []error
	testShards(t, func(ctx context.Context, _ meta.Key) (controller.Result, error) {
		<-ctx.Done()
		mu.Lock()
		defer mu.Unlock()
		causes = append(causes, context.Cause(ctx))
		return controller.Result{}, ctx.Err()
	}, func(r *shardRig) {
		causes = nil
		r.list(r.pod(1, "1"), r.pod(2, "1"))
		r.share.set(ranges(1, 2), meta.Ranges{})
		r.want("both", "pod1 pod2")
		r.share.set(ranges(2), meta.Ranges{})
		time.Sleep(time.Minute)
		r.want("the one that passed is not tried again", "")
		mu.Lock()
		defer mu.Unlock()
		if len(causes) != 1 || causes[0] != errPassed {
			r.Errorf("contexts ended with %v", causes)
		}
	})
}

// A deletion that is not reconciled with success is known until it is, and then forgotten.
func TestADeletionIsTriedAgain(t *testing.T) {
	failures := 0
	testShards(t, func(context.Context, meta.Key) (controller.Result, error) {
		if failures > 0 {
			failures--
			return controller.Result{}, errors.New("not now")
		}
		return controller.Result{}, nil
	}, func(r *shardRig) {
		r.list(r.pod(1, "1"))
		r.share.set(ranges(1), meta.Ranges{})
		r.want("at first", "pod1")
		failures = 2
		r.delete(r.pod(1, "2"))
		time.Sleep(time.Minute)
		r.want("the deletion", "pod1 pod1 pod1")
		r.share.set(meta.Ranges{}, ranges(1))
		r.share.set(ranges(1), ranges(1))
		r.want("when all is done", "")
	})
}

func TestShardsNeedToKnowTheRangeOfAKey(t *testing.T) {
	s := storetest.New[*pod]()
	none := storetest.New[*uidless]()
	type key string
	for _, test := range []struct {
		run  func(controller.Options) error
		by   meta.ShardBy
		want string
	}{
		{runOnce(controller.Watch(s.Reader())), "metadata.name", "must be"},
		{runOnce(controller.Map(s.Reader(), func(*pod) []key { return nil })), meta.ShardByNamespace, "need keys of type meta.Key"},
		{runOnce(controller.Map(s.Reader(), func(*pod) []meta.Key { return nil })), meta.ShardByUID, "need a source Watch"},
		{runOnce(controller.Watch(none.Reader())), meta.ShardByUID, "does not keep the uid"},
		{runOnce(controller.Watch[*pod](subscribes{s})), meta.ShardByUID, "no method Reader"},
	} {
		err := test.run(controller.Options{Shards: newShare(test.by)})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want %q", err, test.want)
		}
	}
}

// A type of k8s.io/api has a uid of a type of its own. Its objects are divided all the same.
func TestShardsDivideObjectsWithACustomUIDType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.New[*foreign]()
		ctx, cancel := context.WithCancel(t.Context())
		delivered := make(chan error)
		go func() { delivered <- s.Deliver(ctx, nil) }()
		share := newShare(meta.ShardByUID)
		var done []string
		c := controller.New("c", controller.Options{Shards: share}, func(_ context.Context, k meta.Key) (controller.Result, error) {
			done = append(done, k.Name)
			return controller.Result{}, nil
		}, controller.Watch(s.Reader()))
		stop := run(t, c)
		r := s.Relist()
		for _, name := range []string{"a", "b"} {
			r.Set(meta.Identity{Name: name, UID: name + "-the-uid", ResourceVersion: "1"}, &foreign{foreignMeta{Name: name, UID: foreignUID(name + "-the-uid")}})
		}
		r.Commit("1")
		synctest.Wait()
		share.set(ranges(meta.ShardByUID.Range(meta.Identity{UID: "b-the-uid"})), meta.Ranges{})
		if strings.Join(done, " ") != "b" {
			t.Errorf("reconciled %q", done)
		}
		mustStop(t, stop)
		cancel()
		<-delivered
	})
}

type foreignUID string

type foreignMeta struct {
	Name string
	UID  foreignUID
}

// foreign is an object as those of k8s.io/api are.
type foreign struct{ foreignMeta }

func (*foreign) GetNamespace() string       { return "" }
func (f *foreign) GetName() string          { return f.Name }
func (*foreign) GetResourceVersion() string { return "1" }
func (f *foreign) GetUID() foreignUID       { return f.UID }

// uidless is an object without a uid.
type uidless struct {
	meta.Key
}

func (n *uidless) GetNamespace() string     { return n.Namespace }
func (n *uidless) GetName() string          { return n.Name }
func (*uidless) GetResourceVersion() string { return "" }

// subscribes is a subscriber that cannot look up objects.
type subscribes struct{ s storetest.Cache[*pod] }

func (s subscribes) Subscribe(h cache.Handler[*pod]) *cache.Subscription {
	return s.s.Reader().Subscribe(h)
}

// runOnce returns the Run of a controller with that source.
func runOnce[K comparable](from controller.Source[K]) func(controller.Options) error {
	return func(o controller.Options) error {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		return controller.New("c", o, func(context.Context, K) (controller.Result, error) { return controller.Result{}, nil }, from).Run(ctx)
	}
}
