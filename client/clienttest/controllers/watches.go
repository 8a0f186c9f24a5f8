package controllers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// How often the watches look for resources, apart from new and changed definitions, and how long the collector waits
// at its start for resources that cannot be listed, such as forbidden ones. Both are Kubernetes' numbers.
const (
	discoveryPeriod = 30 * time.Second
	listTimeout     = 30 * time.Second
)

// watches follow the metadata of all objects that can be deleted, of every resource that the server has, and keep them
// in a graph. Events are left out, as in Kubernetes: they own nothing, nothing owns them, and there are many.
type watches struct {
	env   *environment
	graph *graph
	// changed is called after the set of resources has changed.
	changed func()
	// definitions receives a value when the server may have other resources than before.
	definitions chan struct{}
	first       chan struct{} // closed when the resources are known for the first time
	once        sync.Once

	mu  sync.Mutex // guards all
	all map[meta.GVR]*watch
}

// watch follows one resource.
type watch struct {
	resource *discovery.Resource
	inf      *informer.Informer[*meta.Partial]
	sub      *cache.Subscription
	cancel   context.CancelFunc
	done     chan struct{} // closed when the watch has ended; then err is its error
	err      error
}

func newWatches(env *environment, g *graph, changed func()) *watches {
	return &watches{
		env: env, graph: g, changed: changed,
		definitions: make(chan struct{}, 1), first: make(chan struct{}), all: map[meta.GVR]*watch{},
	}
}

// Run follows the resources until ctx ends.
func (w *watches) Run(ctx context.Context) error {
	defer w.stop(func(*watch) bool { return true })
	ctl := controller.New("resources", controller.Options{MaxBackoff: discoveryPeriod, AllowFights: true},
		func(now context.Context, _ struct{}) (controller.Result, error) {
			return controller.Result{}, w.update(ctx, now)
		},
		controller.Every(discoveryPeriod, struct{}{}), controller.Chan(w.definitions))
	return informer.Run(ctx, ctl)
}

// update starts watches of new resources, which run until ctx ends, and ends those of resources that have gone. now is
// the context of its requests.
func (w *watches) update(ctx, now context.Context) error {
	w.env.catalog.Invalidate()
	found, err := w.env.catalog.Preferred(now)
	down, partly := errors.AsType[*discovery.DownError](err)
	if err != nil && !partly {
		return fmt.Errorf("find the resources of the server: %w", err)
	}
	wanted := map[meta.GVR]discovery.Resource{}
	for _, r := range found {
		if r.Name != "events" && r.Can("delete") && r.Can("list") && r.Can("watch") {
			wanted[meta.GVR{Group: r.Group, Version: r.Version, Resource: r.Name}] = r
		}
	}
	failed := w.stop(func(one *watch) bool {
		gone := false
		select {
		case <-one.done:
			gone = true
		default:
		}
		if partly && down.Failed[one.resource.GVK().APIVersion()] != nil {
			return gone // it is unknown whether the server has the resource
		}
		_, has := wanted[gvrOf(one.resource)]
		return gone || !has
	})
	changed := false
	for gvr, r := range wanted {
		changed = w.start(ctx, gvr, r) || changed
	}
	w.once.Do(func() { close(w.first) })
	if changed {
		w.changed()
	}
	return errors.Join(err, failed)
}

func gvrOf(r *discovery.Resource) meta.GVR {
	return meta.GVR{Group: r.Group, Version: r.Version, Resource: r.Name}
}

// start begins a watch, and returns false if there is one.
func (w *watches) start(ctx context.Context, gvr meta.GVR, r discovery.Resource) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all[gvr] != nil {
		return false
	}
	source := informer.Transform(metadataOf(w.env, &r), func(o *meta.Partial) *meta.Partial {
		o.Labels, o.Annotations = nil, nil // which the graph does not need
		return o
	})
	one := &watch{resource: &r, inf: informer.New(source, informer.Options{}), done: make(chan struct{})}
	ctx, one.cancel = context.WithCancel(ctx)
	one.sub = one.inf.Subscribe(w.handler(one.resource))
	go func() {
		defer close(one.done)
		one.err = one.inf.Run(ctx)
	}()
	w.all[gvr] = one
	return true
}

// metadataOf returns a handle for the metadata of the objects of a resource.
func metadataOf(env *environment, r *discovery.Resource) client.Resource[*meta.Partial] {
	return client.Metadata(client.For(env.client, r.Type()))
}

// handler returns the handler that puts the changes of a resource into the graph.
func (w *watches) handler(r *discovery.Resource) cache.Handler[*meta.Partial] {
	defines := r.Name == "customresourcedefinitions" || r.Name == "apiservices"
	put := func(o *meta.Partial) {
		if w.graph.put(r, o); defines && !meta.IsDeleting(o) {
			w.define()
		}
	}
	return cache.HandlerFuncs[*meta.Partial]{
		Add: put,
		Update: func(was, now *meta.Partial) {
			if was.UID != now.UID { // the object was replaced by another of its name
				w.graph.remove(r, was.UID)
			}
			put(now)
		},
		// When a definition is deleted, discovery finds within discoveryPeriod that its resource has gone, as in
		// Kubernetes. Until then the watch of its objects says that they have gone, and their dependents go.
		Delete: func(o *meta.Partial) { w.graph.remove(r, o.UID) },
	}
}

// define makes Run look for resources soon.
func (w *watches) define() {
	select {
	case w.definitions <- struct{}{}:
	default: // it is about to look
	}
}

// stop ends the watches that the function which selects, waits for them, and removes their objects from the graph. It
// returns the errors of watches that had ended by themselves.
func (w *watches) stop(which func(*watch) bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var ended []*watch
	for gvr, one := range w.all {
		if which(one) {
			one.cancel()
			ended = append(ended, one)
			delete(w.all, gvr)
		}
	}
	var errs []error
	for _, one := range ended {
		<-one.done
		one.sub.Close()
		<-one.sub.Done()
		w.graph.drop(one.resource)
		errs = append(errs, one.err)
	}
	return errors.Join(errs...)
}

// wait returns when the graph has all objects that existed at the start, or ctx ends. It does not wait for resources
// that cannot be listed.
func (w *watches) wait(ctx context.Context) {
	select {
	case <-w.first:
	case <-ctx.Done():
		return
	}
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	w.mu.Lock()
	all := slices.Collect(maps.Values(w.all))
	w.mu.Unlock()
	for _, one := range all {
		if one.inf.WaitSynced(ctx) == nil {
			_ = one.sub.WaitSynced(ctx) // fails only when ctx ends
		}
	}
}
