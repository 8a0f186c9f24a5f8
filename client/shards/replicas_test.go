package shards_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/shards"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// operator is a replica with an informer and a controller, as a program has them.
type operator struct {
	*replica
	cache *informer.Informer[*ConfigMap]
	ctl   *controller.Controller[meta.Key]
}

// seen is what replicas have reconciled.
type seen struct {
	mu       sync.Mutex // guards the rest
	by       map[meta.Key]string
	versions map[meta.Key]string // of the object; empty if it was not there
	inside   map[meta.Key]string
	twice    []string

	deletions int
}

func (w *world) operator(identity string, by meta.ShardBy, s *seen) *operator {
	w.Helper()
	o := &operator{replica: w.replica(identity, func(c *shards.Options) { c.By = by })}
	c := w.client(o.m.Connects)
	o.cache = informer.New(client.For(c, ConfigMaps), informer.Options{Shards: o.Group})
	o.ctl = controller.New("maps", controller.Options{Shards: o.Group, Workers: 4}, func(ctx context.Context, k meta.Key) (controller.Result, error) {
		at := k // by uid, another replica may reconcile that an object is gone whose name is used again
		if obj, ok := o.cache.Reader().Get(k); ok && by == meta.ShardByUID {
			at.Name += " " + obj.UID
		}
		s.mu.Lock()
		if other, ok := s.inside[at]; ok {
			s.twice = append(s.twice, fmt.Sprintf("%v by %s and %s", at, other, identity))
		}
		s.inside[at] = identity
		s.mu.Unlock()
		select {
		case <-time.After(time.Duration(rand.IntN(20)) * time.Millisecond):
		case <-ctx.Done():
		}
		obj, ok := o.cache.Reader().Get(k)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.inside, at)
		switch {
		case ctx.Err() != nil:
			return controller.Result{}, ctx.Err()
		case ok:
			s.by[k], s.versions[k] = identity, obj.ResourceVersion
		case by == meta.ShardByUID:
			s.deletions++
		default:
			s.by[k], s.versions[k] = identity, ""
			s.deletions++
		}
		return controller.Result{}, nil
	}, controller.Watch(o.cache))
	return o
}

// run starts the operator.
func (o *operator) run() *operator {
	ctx, cancel := context.WithCancel(quiet(o.w))
	o.cancel = cancel
	go func() {
		defer close(o.ended)
		o.err = o.Run(ctx, func(ctx context.Context) error { return informer.Run(ctx, o.ctl) })
	}()
	o.w.Cleanup(func() {
		o.m.Thaw(false)
		cancel()
		<-o.ended
	})
	return o
}

// Replicas with informers and controllers reconcile each object, the last state of each, one replica at a time, while replicas come, go
// and stop, by uid and by namespace, on a server that selects ranges and on one that does not.
func TestReplicasReconcileEachObjectOnce(t *testing.T) {
	for _, by := range []meta.ShardBy{meta.ShardByUID, meta.ShardByNamespace} {
		for _, selects := range []clienttest.ShardedLists{clienttest.ShardsIgnored, clienttest.ShardsServed, clienttest.ShardsClaimed} {
			t.Run(fmt.Sprint(by, " ", selects), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := &world{T: t, server: clienttest.Start(t, clienttest.Options{ShardedLists: selects}), start: time.Now()}
					testReplicas(w, by)
				})
			})
		}
	}
}

func testReplicas(w *world, by meta.ShardBy) {
	rng := rand.New(rand.NewPCG(1, 2))
	maps := client.For(w.client(nil), ConfigMaps)
	s := &seen{by: map[meta.Key]string{}, versions: map[meta.Key]string{}, inside: map[meta.Key]string{}}
	present := map[meta.Key]string{}
	change := func() {
		key := meta.Key{Namespace: []string{"default", "kube-system", "kube-public", "kube-node-lease"}[rng.IntN(4)], Name: fmt.Sprint("c", rng.IntN(60))}
		obj := &ConfigMap{ObjectMeta: key.ObjectMeta(), Data: map[string]string{"n": fmt.Sprint(rng.Int())}}
		var err error
		switch _, ok := present[key]; {
		case !ok:
			obj, err = maps.Create(w.Context(), obj)
		case rng.IntN(4) == 0:
			err, obj = maps.Delete(w.Context(), key, client.DeleteOptions{}), nil
		default:
			obj, err = maps.Update(w.Context(), obj)
		}
		if err != nil {
			w.Fatal(err)
		}
		if obj == nil {
			delete(present, key)
		} else {
			present[key] = obj.ResourceVersion
		}
	}
	for range 100 {
		change()
	}
	settled := func(what string, ops ...*operator) {
		w.Helper()
		w.pass(20 * time.Second)
		s.mu.Lock()
		defer s.mu.Unlock()
		for key, version := range present {
			if s.versions[key] != version {
				w.Errorf("%s: %v was reconciled at version %q by %s last, and is at %s", what, key, s.versions[key], s.by[key], version)
			}
		}
		if len(s.twice) > 0 {
			w.Errorf("%s: reconciled by two at once: %v", what, s.twice)
		}
		var all meta.Ranges
		objects := 0
		for _, o := range ops {
			has := o.Status().Ranges
			all = all.Union(has)
			for obj := range o.cache.Reader().All() {
				objects++
				if n := by.Range(meta.Identity{Namespace: obj.Namespace, UID: obj.UID}); !has.Has(n) {
					w.Errorf("%s: the cache of %s has %v of range %d, which is not its own", what, o.Status().Identity, obj.Key(), n)
				}
			}
		}
		if objects != len(present) || all != meta.AllRanges() {
			w.Errorf("%s: the caches have %d objects of %d, and %d ranges", what, objects, len(present), all.Len())
		}
	}
	a := w.operator("a", by, s).run()
	settled("one", a)
	b, c := w.operator("b", by, s).run(), w.operator("c", by, s).run()
	for range 100 {
		change()
		w.pass(time.Duration(rng.IntN(20)) * time.Millisecond)
	}
	settled("three", a, b, c)
	b.cancel()
	for range 100 {
		change()
		w.pass(time.Duration(rng.IntN(20)) * time.Millisecond)
	}
	<-b.ended
	if b.err != nil {
		w.Error(b.err)
	}
	settled("one has left", a, c)
	c.m.Freeze()
	for range 100 {
		change()
		w.pass(time.Duration(rng.IntN(300)) * time.Millisecond)
	}
	settled("one is stopped", a)
	c.m.Thaw(false)
	d := w.operator("d", by, s).run()
	for range 100 {
		change()
		w.pass(time.Duration(rng.IntN(20)) * time.Millisecond)
	}
	settled("one goes on, and another has come", a, c, d)
	if s.deletions == 0 {
		w.Error("no deletion was reconciled")
	}
}

func TestAControllerOfAShardedCacheNeedsShards(t *testing.T) {
	play(t, func(w *world) {
		g := w.replica("a", nil)
		cache := informer.New(client.For(w.client(nil), ConfigMaps), informer.Options{Shards: g.Group})
		ctl := controller.New("maps", controller.Options{}, func(context.Context, meta.Key) (controller.Result, error) {
			return controller.Result{}, errors.New("it runs")
		}, controller.Watch(cache))
		if err := ctl.Run(w.Context()); err == nil || !strings.Contains(err.Error(), "Shards must be set") {
			t.Errorf("got %v", err)
		}
	})
}
