package controller_test

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// equalShares are equal if their share is.
type equalShares struct{ *share }

// looseShares cannot be compared.
type looseShares struct {
	*share
	_ []int
}

// namedShares are a share with a name.
type namedShares struct{ *share }

func (namedShares) String() string { return `shards "default/one"` }

// ownedBy is a kind of owners in namespaces.
var ownedBy = client.Type[*pod]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments", Scope: meta.Namespaced}

func TestTheShardsOfAControllerAndOfItsInformersAreTheSame(t *testing.T) {
	_, maps := startServer(t, clienttest.Options{})
	with := func(s informer.Shards) *informer.Informer[*pod] {
		return informer.New(maps, informer.Options{Shards: s})
	}
	watch := controller.Watch[*pod]
	uid, other, ns := newShare(meta.ShardByUID), newShare(meta.ShardByUID), newShare(meta.ShardByNamespace)
	shared := informer.Share(&informer.Factory{}, maps, informer.Options{Shards: other})
	half := informer.FixedShards(meta.ShardByUID, ranges(1))
	const follows = `, but Watch(informer of configmaps.v1) follows `
	for _, test := range []struct {
		name   string
		shards controller.Shards
		from   []controller.Source[meta.Key]
		want   string // empty for none
	}{
		{
			"a nil pointer", (*idleShare)(nil),
			[]controller.Source[meta.Key]{watch(with(uid))},
			"controller.Options: Shards is a nil *controller_test.idleShare: leave Shards out, or set a Group",
		},
		{"the same", uid, []controller.Source[meta.Key]{watch(with(uid))}, ""},
		{"equal values", equalShares{uid}, []controller.Source[meta.Key]{watch(with(equalShares{uid}))}, ""},
		{"an informer without Shards", uid, []controller.Source[meta.Key]{watch(with(nil))}, ""},
		{
			"a controller without Shards", nil,
			[]controller.Source[meta.Key]{watch(with(uid))},
			"controller.Options: Shards must be set, because Watch(informer of configmaps.v1) follows the ranges of this replica only",
		},
		{
			"another of the same type",
			namedShares{uid},
			[]controller.Source[meta.Key]{watch(with(namedShares{other}))},
			`controller.Options: Shards is shards "default/one"` + follows + `shards "default/one"; both must be the same value`,
		},
		{
			"another type", uid,
			[]controller.Source[meta.Key]{watch(with(half))},
			"controller.Options: Shards is *controller_test.share by object.metadata.uid" + follows + "informer.fixedShards by object.metadata.uid; both",
		},
		{"values that cannot be compared", looseShares{share: uid}, []controller.Source[meta.Key]{watch(with(looseShares{share: uid}))}, "both must be the same value"},
		{"the second source", ns, []controller.Source[meta.Key]{watch(with(ns)), controller.Reads[meta.Key](with(uid))}, "but Reads(informer of configmaps.v1) follows "},
		{"a handle that is shared", uid, []controller.Source[meta.Key]{watch(shared)}, "both must be the same value"},
		{
			"children in ranges by uid", uid,
			[]controller.Source[meta.Key]{watch(with(uid)), controller.Owns(with(uid), ownedBy)},
			"controller.Options: Shards by uid exclude Owns(informer of configmaps.v1, Deployment.apps/v1): " +
				"a child and its owner are usually in different ranges; use meta.ShardByNamespace, or an informer without Shards for the children",
		},
		{"all children", uid, []controller.Source[meta.Key]{watch(with(uid)), controller.Owns(with(nil), ownedBy)}, ""},
		{"children in ranges by namespace", ns, []controller.Source[meta.Key]{watch(with(ns)), controller.Owns(with(ns), ownedBy)}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := controller.New("c", controller.Options{Shards: test.shards}, func(context.Context, meta.Key) (controller.Result, error) {
				return controller.Result{}, nil
			}, test.from...)
			check(t, c.Run(ended(t)), test.want)
		})
	}
	c := controller.New("c", controller.Options{Shards: uid}, func(context.Context, tagged) (controller.Result, error) {
		return controller.Result{}, nil
	}, tag("a", watch(with(uid))), tag("a", controller.Owns(with(uid), ownedBy)))
	check(t, c.Run(ended(t)), "exclude a: Owns(informer of configmaps.v1")
}

// check fails unless err has that text, or is nil if there is none.
func check(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("the error is %v, want %q", err, want)
	}
}

// Sources that are added are checked as those of New are: their keys were lost without a word.
func TestAddedSourcesFitTogetherWithShards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, maps := startServer(t, clienttest.Options{})
		s := newPods(t)
		with := func(s informer.Shards) *informer.Informer[*pod] {
			return informer.New(maps, informer.Options{Shards: s})
		}
		mine, other := newShare(meta.ShardByUID), newShare(meta.ShardByUID)
		all := func(meta.Key) bool { return true }
		fn := func(context.Context, meta.Key) (controller.Result, error) { return controller.Result{}, nil }
		toNothing := controller.Map(s.Reader(), func(*pod) []meta.Key { return nil })

		whole := controller.New("whole", controller.Options{}, fn, controller.Watch(s.Reader()))
		_, err := whole.AddSource(controller.Watch(with(mine)))
		check(t, err, "controller.AddSource: Options.Shards must be set, because Watch(informer of configmaps.v1) follows")
		_, err = whole.AddSourcesFor(all, controller.Watch(s.Reader()), controller.Watch(with(mine)))
		check(t, err, "controller.AddSourcesFor: Options.Shards must be set")

		nothing := controller.New("nil", controller.Options{Shards: (*idleShare)(nil)}, fn, controller.Watch(s.Reader()))
		_, err = nothing.AddSource(controller.Watch(s.Reader()))
		check(t, err, "controller.AddSource: Options.Shards is a nil *controller_test.idleShare")

		c := controller.New("c", controller.Options{Shards: mine}, fn)
		_, err = c.AddSource(controller.Watch(with(other)))
		check(t, err, "controller.AddSource: Options.Shards is *controller_test.share by object.metadata.uid, but Watch(informer of configmaps.v1) follows")
		_, err = c.AddSourcesFor(all, controller.Watch(with(other)))
		check(t, err, "controller.AddSourcesFor: Options.Shards is")
		_, err = c.AddSourcesFor(all, toNothing)
		check(t, err, "controller.AddSourcesFor: Options.Shards by uid need a source Watch")
		_, err = c.AddSourcesFor(all)
		check(t, err, "")
		if _, err = c.AddSource(toNothing); err != nil { // a Watch may follow
			t.Error(err)
		}
		check(t, c.Run(ended(t)), "controller.Options: Shards by uid need a source Watch")
		watched, err := c.AddSourcesFor(all, controller.Watch(s.Reader()), toNothing)
		check(t, err, "")
		check(t, c.Run(ended(t)), "")
		watched.Remove()
		added, err := c.AddSource(controller.Watch(s.Reader()))
		check(t, err, "")
		_, err = c.AddSourcesFor(all, toNothing) // the keys are those of the Watch
		check(t, err, "")
		stop := run(t, c)
		added.Remove()
		_, err = c.AddSource(toNothing)
		check(t, err, "controller.AddSource: Options.Shards by uid need a source Watch")
		_, err = c.AddSource(controller.Reads[meta.Key]())
		check(t, err, "")
		mustStop(t, stop)
	})
}

// ended returns a context that has ended.
func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// A source that knows the keys of one cluster alone does not look up those of another.
func TestSourcesForOneClusterLookUpTheirKeysThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, share := newPods(t), newShare(meta.ShardByUID)
		var mu sync.Mutex // guards done
		var done []string
		c := controller.New("c", controller.Options{Shards: share}, func(_ context.Context, k tagged) (controller.Result, error) {
			mu.Lock()
			defer mu.Unlock()
			done = append(done, k.tag+k.Name)
			return controller.Result{}, nil
		}, controller.Source[tagged](expectant{}))
		stop := run(t, c) // without a source that looks up objects, because others are to come
		ofA := func(k tagged) bool { return k.tag == "a" }
		b, err := c.AddSource(tag("b", controller.Watch(s.Reader())))
		check(t, err, "")
		_, err = c.AddSourcesFor(ofA, tag("a", controller.Map(s.Reader(), func(p *pod) []meta.Key { return []meta.Key{p.Key()} })))
		check(t, err, "controller.AddSourcesFor: Options.Shards by uid need a source Watch")
		b.Remove()
		_, err = c.AddSourcesFor(ofA, tag("a", controller.Reads[meta.Key]()))
		check(t, err, "")
		_, err = c.AddSourcesFor(ofA, tag("a", controller.Watch(s.Reader())))
		check(t, err, "")
		s.list(newPod("ns", "x", "1"))
		share.set(meta.AllRanges(), meta.Ranges{})
		if got := strings.Join(done, " "); got != "ax" {
			t.Errorf("reconciled %q", got)
		}
		mustStop(t, stop)
	})
}

// expectant is a source as that of package clusters.
type expectant struct{}

func (expectant) ExpectsSources() {}

func (expectant) Run(ctx context.Context, _ func(tagged), synced func()) error {
	synced()
	<-ctx.Done()
	return nil
}

// With ranges by uid, the replica that has the owner hears of a child by a cache of all children.
func TestOwnsOverAllChildrenNamesTheOwnersInTheReplicasRanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		owners, children, share := newPods(t), newPods(t), newShare(meta.ShardByUID)
		got := &counting{}
		c := controller.New("c", controller.Options{Shards: share}, got.reconcile, controller.Watch(owners.Reader()), controller.Owns(children.Reader(), ownedBy))
		stop := run(t, c)
		mine, theirs := newPod("ns", "mine", "1"), newPod("ns", "theirs", "1")
		owners.list(mine, theirs)
		yes := true
		child := func(name, version, owner string) *pod {
			p := newPod("ns", name, version)
			p.OwnerReferences = []meta.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: owner, Controller: &yes}}
			return p
		}
		children.list()
		share.set(ranges(meta.ShardByUID.Range(meta.Identity{UID: mine.UID})), meta.Ranges{})
		want(t, "the range", got.take, "mine")
		before := c.Status().Elsewhere
		for i := range 10 { // in ten ranges, most of which are others'
			children.set(child("child"+string(rune('a'+i)), "2", "mine"))
			want(t, "a child", got.take, "mine")
		}
		children.set(child("other", "3", "theirs"))
		want(t, "a child of another replica's owner", got.take, "")
		children.delete(child("childa", "4", "mine"))
		want(t, "the end of a child", got.take, "mine")
		if n := c.Status().Elsewhere - before; n != 1 || !strings.Contains(c.Status().String(), "left to other replicas") {
			t.Errorf("%d keys were left to other replicas, want 1; the status is %v", n, c.Status())
		}
		mustStop(t, stop)
	})
}

// counted is a subscriber that counts how often it is asked for its cache.
type counted struct {
	of    cache.Reader[*pod]
	asked *atomic.Int64
}

func (c counted) Subscribe(h cache.Handler[*pod]) *cache.Subscription { return c.of.Subscribe(h) }

func (c counted) Reader() cache.Reader[*pod] {
	c.asked.Add(1)
	return c.of
}

// A controller looked through all its sources for each key, and for each key asked each of them whether it can look up objects.
func TestAControllerKnowsWhichSourcesLookUpObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, later, share, asked := newPods(t), newPods(t), newShare(meta.ShardByUID), new(atomic.Int64)
		got := &counting{}
		c := controller.New("c", controller.Options{Shards: share}, got.reconcile, controller.Watch(counted{s.Reader(), asked}))
		stop := run(t, c)
		s.list(newPod("ns", "a", "1"))
		share.set(meta.AllRanges(), meta.Ranges{})
		want(t, "the first", got.take, "a")
		before := asked.Load()
		for i := range 10 {
			s.set(newPod("ns", "a", strconv.Itoa(2+i)))
			want(t, "a change", got.take, "a")
		}
		if n := asked.Load() - before; n != 10 {
			t.Errorf("10 reconciles asked for the cache %d times, want once each, for the object", n)
		}
		added, err := c.AddSource(controller.Watch(later.Reader()))
		check(t, err, "")
		later.list(newPod("ns", "b", "20"))
		want(t, "a source that was added", got.take, "b")
		added.Remove()
		later.set(newPod("ns", "b", "21"))
		s.set(newPod("ns", "a", "22"))
		want(t, "a source that was removed", got.take, "a")
		mustStop(t, stop)
	})
}
