package controllers

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/recorder"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// GarbageCollector returns the controller that deletes objects whose owners have gone, and that ends deletions with the
// policies Foreground and Orphan. It decides as Kubernetes' collector does:
//
//   - An object goes, in the background, when none of its owners exists: each was deleted, never existed, has another
//     uid, or is not in the namespace of the object. The namespace of an owner is that of the object, unless the
//     owner's kind is cluster-scoped.
//   - If some of the owners exist, the references to the others are removed.
//   - If the kind of an owner is not served, the object stays, until the server has the kind. If the collector saw the
//     owner go, as a custom resource does when its definition is deleted, the object goes.
//   - If a cluster-scoped object names an owner of a namespaced kind, the object stays.
//   - Foreground: the dependents of the owner are deleted first. The owner waits for those that have
//     blockOwnerDeletion.
//   - Orphan: the references to the owner are removed from its dependents, and then the owner goes.
//
// It watches the metadata of all resources that can be listed, watched and deleted, except Events: 63 built-in ones,
// and custom resources as they come and go. At its start it looks at nothing before it has listed them all. It waits 30
// s for those that it cannot list, for instance because that is forbidden, and then works without them.
func GarbageCollector() Controller { return garbageCollector{} }

type garbageCollector struct{}

func (garbageCollector) name() string { return "garbage collector" }

func (garbageCollector) run(ctx context.Context, env *environment) error {
	c := &collector{
		env: env, graph: newGraph(),
		records: recorder.New(env.client, recorder.Options{Controller: "garbage-collector-controller", Grace: -1}),
	}
	c.watches = newWatches(env, c.graph, c.lookAgain)
	// One worker makes the order of the writes the same in each run of a test. Kubernetes has 20.
	ctl := controller.New("garbage collector", controller.Options{AllowFights: true}, c.collect, keySource{c})
	return informer.Run(ctx, c.watches, c.records, ctl)
}

// collector is one run of the garbage collector.
type collector struct {
	env     *environment
	graph   *graph
	watches *watches
	records *recorder.Recorder

	mu      sync.Mutex // guards changes
	changes int        // how often the server's resources have changed
}

// reference is where an object looks for one of its owners.
type reference struct {
	at  place
	uid string
}

func (r reference) String() string {
	return fmt.Sprintf("[%s/%s, namespace: %s, name: %s, uid: %s]", r.at.apiVersion, r.at.kind, r.at.key.Namespace, r.at.key.Name, r.uid)
}

// keySource names the uids of the objects to look at.
type keySource struct{ *collector }

func (s keySource) String() string { return "the graph of owners" }

// Run implements controller.Source.
func (s keySource) Run(ctx context.Context, add func(string), synced func()) error {
	s.graph.feed(add)
	defer s.graph.feed(nil)
	s.watches.wait(ctx)
	if ctx.Err() == nil {
		synced()
	}
	<-ctx.Done()
	return nil
}

// lookAgain looks at objects that wait for the kind of an owner, after the server's resources have changed.
func (c *collector) lookAgain() {
	c.mu.Lock()
	c.changes++
	c.mu.Unlock()
	c.graph.decide()
}

// wait makes an object wait for the kind of an owner, or for a change of its owners. If the server's resources or the
// owners have changed since the collector looked at them, the object is looked at again at once.
func (c *collector) wait(i item, live *meta.Partial, changes int) controller.Result {
	c.graph.setUndecided(i.uid)
	now, found := c.graph.read(i.uid)
	if c.countChanges() != changes || found && !slices.EqualFunc(now.owners, live.OwnerReferences, sameReference) {
		return controller.Result{RequeueAfter: -1}
	}
	return controller.Result{}
}

func (c *collector) countChanges() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changes
}

// unseenPeriod is how often an object is looked at whose owner exists, but which no watch has shown: it may have gone
// while that watch was broken.
const unseenPeriod = time.Minute

// collect looks at one object, and acts on the state of the object and of its owners.
func (c *collector) collect(ctx context.Context, uid string) (controller.Result, error) {
	i, found := c.graph.read(uid)
	if !found {
		return controller.Result{}, nil
	}
	switch {
	case i.phase == alive:
		return c.collectAlive(ctx, i)
	case i.phase == orphaning:
		return controller.Result{}, c.orphan(ctx, i)
	case i.waited:
		return controller.Result{}, c.foreground(ctx, i)
	}
	return controller.Result{}, nil
}

// foreground ends the wait of an object for its dependents, or makes the collector look at the dependents that block
// it.
func (c *collector) foreground(ctx context.Context, i item) error {
	blocked := false
	for _, d := range i.dependents {
		if d.blocks(i.uid) {
			blocked = true
			if !d.waited {
				c.graph.again(d.uid)
			}
		}
	}
	if blocked {
		return nil
	}
	return c.removeFinalizer(ctx, i, foregroundFinalizer)
}

func (c *collector) removeFinalizer(ctx context.Context, i item, name string) error {
	_, err := metadataOf(c.env, i.resource).RemoveFinalizer(ctx, i.at.key, name, meta.FinalizerOptions{UID: i.uid})
	return err
}
