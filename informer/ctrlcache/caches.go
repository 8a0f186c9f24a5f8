package ctrlcache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bowline-go/bowline/client"
	"github.com/go-logr/logr"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	crlog "sigs.k8s.io/controller-runtime/pkg/log"
)

// caches is a cache.Cache. It has an entry for each requested kind and form.
type caches struct {
	*settings
	own    Options
	client *client.Client
	json   bool // rest.Config asks for JSON, not protobuf
	// projections has the kinds whose typed objects are only partly decoded.
	projections map[schema.GroupVersionKind]*projection

	begun chan struct{} // closed by Start
	ended chan struct{} // closed when Start ends
	added chan struct{} // holds a token when an entry has been added

	mu      sync.RWMutex // guards the fields below, and entry.running
	started bool
	entries map[kind]*entry
}

var _ cache.Cache = &caches{}

// Start runs the informers, including those that are added later, until ctx ends. It returns when they have all ended.
func (c *caches) Start(ctx context.Context) error {
	c.mu.Lock()
	if c.started {
		c.mu.Unlock()
		return errors.New("start the cache: informer already started")
	}
	c.started = true
	c.mu.Unlock()
	close(c.begun)
	defer close(c.ended)
	ctx = logr.NewContext(ctx, crlog.Log.WithName("cache"))
	var running sync.WaitGroup
	defer running.Wait()
	for {
		// An entry is put into the map before the token is sent, and the map is read after the token is received.
		for _, e := range c.idle() {
			running.Go(func() { e.run(ctx) })
		}
		select {
		case <-ctx.Done():
			return nil
		case <-c.added:
		}
	}
}

// idle returns the entries that do not run yet, and marks them as running.
func (c *caches) idle() []*entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	var idle []*entry
	for _, e := range c.entries {
		if !e.running {
			e.running = true
			idle = append(idle, e)
		}
	}
	return idle
}

// NeedLeaderElection says that the cache runs in every replica.
func (c *caches) NeedLeaderElection() bool { return false }

// WaitForCacheSync waits until the cache has been started and all its present entries are complete.
func (c *caches) WaitForCacheSync(ctx context.Context) bool {
	select {
	case <-c.begun:
	case <-ctx.Done():
		return false
	}
	for _, e := range c.all() {
		if e.wait(ctx, c.ended) != nil && !isClosed(e.removed) {
			return false
		}
	}
	return true
}

func (c *caches) all() []*entry {
	c.mu.RLock()
	defer c.mu.RUnlock()
	all := make([]*entry, 0, len(c.entries))
	for _, e := range c.entries {
		all = append(all, e)
	}
	return all
}

// entryOf returns the entry of a kind, which it adds if there is none. If block is set and the cache has been started,
// it waits until the entry is complete.
func (c *caches) entryOf(ctx context.Context, k kind, obj any, block bool) (e *entry, started bool, err error) {
	if e, started = c.find(k); e == nil {
		if e, started, err = c.add(k); err != nil {
			return nil, false, err
		}
	}
	if block && started {
		if err := e.wait(ctx, c.ended); err != nil {
			return nil, true, kerrors.NewTimeoutError(fmt.Sprintf("failed waiting for %T Informer to sync: %v", obj, err), 0)
		}
	}
	return e, started, nil
}

func (c *caches) find(k kind) (*entry, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.entries[k], c.started
}

// add makes the entry outside of the lock, because the mapper may ask the server.
func (c *caches) add(k kind) (e *entry, started bool, err error) {
	made, err := c.newEntry(k)
	if err != nil {
		return nil, false, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[k]; ok { // another goroutine was faster
		return e, c.started, nil
	}
	c.entries[k] = made
	if made.projection != nil {
		crlog.Log.WithName("cache").Info("the objects of this kind have only some of their fields in the cache: never call Update with one",
			"kind", k.gvk.String(), "fields", made.projection.paths)
	}
	select {
	case c.added <- struct{}{}:
	default:
	}
	return made, c.started, nil
}

// GetInformer returns the informer of the kind and form of obj. If there is none, it adds one, which runs while the
// cache does.
func (c *caches) GetInformer(ctx context.Context, obj object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	k, err := kindOf(obj, c.scheme)
	if err != nil {
		return nil, err
	}
	return c.informerOf(ctx, k, obj, opts)
}

// GetInformerForKind is GetInformer for the typed objects of a kind.
func (c *caches) GetInformerForKind(ctx context.Context, gvk schema.GroupVersionKind, opts ...cache.InformerGetOption) (cache.Informer, error) {
	obj, err := c.scheme.New(gvk)
	if err != nil {
		return nil, err
	}
	// The argument has gvk and not the kind of obj, because a Go type may have several kinds.
	return c.informerOf(ctx, kind{formOf(obj), gvk}, obj, opts)
}

func (c *caches) informerOf(ctx context.Context, k kind, obj runtime.Object, opts []cache.InformerGetOption) (cache.Informer, error) {
	var o cache.InformerGetOptions
	for _, opt := range opts {
		opt(&o)
	}
	e, _, err := c.entryOf(ctx, k, obj, o.BlockUntilSynced == nil || *o.BlockUntilSynced)
	if err != nil {
		return nil, err
	}
	return e.informer, nil
}

// RemoveInformer stops the informer of the kind and form of obj, and forgets it. It does not wait for its end.
func (c *caches) RemoveInformer(_ context.Context, obj object) error {
	k, err := kindOf(obj, c.scheme)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[k]; ok {
		delete(c.entries, k)
		close(e.removed)
	}
	return nil
}

// report returns the function that receives the errors of a kind's informer.
func (c *caches) report(k kind, h *hooks) func(error) {
	return func(err error) {
		if handle := h.report.Load(); handle != nil && isAboutServer(err) {
			(*handle)(err)
			if c.own.OnError == nil {
				return
			}
		}
		if c.own.OnError != nil {
			c.own.OnError(k.gvk, translated(err))
			return
		}
		crlog.Log.WithName("cache").Error(err, "the informer fails", "kind", k.gvk.String(), "form", k.form.String())
	}
}

// reportType reports that the Go type of a kind has a field that a server drops. The scheme determines the type, so
// reading goes on without the field.
func (c *caches) reportType(k kind, err error) {
	if c.own.OnError != nil {
		c.own.OnError(k.gvk, err)
		return
	}
	crlog.Log.WithName("cache").Error(err, "the server does not know a field of the Go type", "kind", k.gvk.String())
}

func (c *caches) status() []Status {
	var all []Status
	for _, e := range c.all() {
		for _, p := range e.parts {
			all = append(all, Status{GVK: e.gvk, Form: e.form, Fields: e.projection.named(), Status: p.Status()})
		}
	}
	slices.SortStableFunc(all, func(a, b Status) int {
		return cmp.Or(strings.Compare(a.GVK.String(), b.GVK.String()), cmp.Compare(a.Form, b.Form))
	})
	return all
}
