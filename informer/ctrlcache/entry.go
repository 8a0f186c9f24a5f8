package ctrlcache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/gotype"
	"github.com/bowline-go/bowline/internal/handle"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// entry is the cache of one kind in one form. It has one informer, or two if some namespaces have a configuration of
// their own and all others are cached too.
type entry struct {
	kind
	goType     reflect.Type
	namespaced bool
	projection *projection             // nil if the objects are whole
	configs    map[string]cache.Config // by namespace
	parts      []*part
	informer   cache.Informer // all parts, as GetInformer returns them
	wide       *part          // has all namespaces without a configuration of their own; may be nil
	named      *part          // has the namespaces with their own configuration, by name; may be nil
	names      []string
	removed    chan struct{} // closed by RemoveInformer
	running    bool          // guarded by caches.mu
}

// part is one of an entry's informers.
type part struct{ *shared[object] }

// newEntry asks the mapper for the resource, and makes the informers. It starts nothing.
func (c *caches) newEntry(k kind) (*entry, error) {
	goType, err := k.goType(c.scheme)
	if err != nil {
		return nil, err
	}
	mapping, err := c.mapper.RESTMapping(k.gvk.GroupKind(), k.gvk.Version)
	if err != nil {
		return nil, err
	}
	e := &entry{
		kind: k, goType: goType, namespaced: mapping.Scope.Name() == apimeta.RESTScopeNameNamespace, removed: make(chan struct{}),
	}
	e.configs = c.configs(k.gvk, e.namespaced)
	t := client.Type[object]{
		Group: mapping.Resource.Group, Version: mapping.Resource.Version, Kind: k.gvk.Kind, Resource: mapping.Resource.Resource,
		JSON: c.json,
	}
	if !e.namespaced {
		t.Scope = meta.Cluster
	}
	var only *codec.Projection
	if k.form == Typed && c.projections[k.gvk] != nil {
		e.projection = c.projections[k.gvk]
		only = e.projection.only
	}
	if err := gotype.Unnamed(goType); err != nil && k.form == Typed {
		c.reportType(k, err)
	}
	r := handle.Of(client.For(c.client, t)).ReadAs(goType, only, k.form == Metadata).(client.Resource[object])
	if names := slices.Sorted(maps.Keys(e.configs)); names[len(names)-1] != "" {
		if names[0] == "" {
			names = names[1:]
		}
		e.names = names
		e.named = c.newPart(e, r, informer.Options{Namespaces: names}, names)
		e.parts = append(e.parts, e.named)
	}
	if all, ok := e.configs[""]; ok {
		e.wide = c.newPart(e, r, informer.Options{Namespace: onlyNamespace(all, e.namespaced)}, []string{""})
		e.parts = append(e.parts, e.wide)
	}
	e.informer = e.parts[0].shared
	if len(e.parts) > 1 {
		e.informer = newJoined(k.String(), e.parts)
	}
	return e, nil
}

// onlyNamespace returns the namespace to which a field selector limits a cache, if it does: a list of one namespace
// needs fewer permissions than one of all.
func onlyNamespace(c cache.Config, namespaced bool) string {
	if c.FieldSelector == nil || !namespaced {
		return ""
	}
	ns, _ := c.FieldSelector.RequiresExactMatch("metadata.namespace")
	return ns
}

// newPart makes an informer of the namespaces whose configurations have these names.
func (c *caches) newPart(e *entry, src informer.Source[object], o informer.Options, names []string) *part {
	h := &hooks{onError: c.opts.DefaultWatchErrorHandler}
	o.KeepManagedFields = !c.own.StripManagedFields && (e.projection == nil || e.projection.managedFields)
	o.AllowEarlyReads = true // as client-go's stores do
	o.CheckMutations, o.Compact = c.own.CheckMutations, c.own.Compact
	o.Name = e.nameOf(names)
	strips := !slices.ContainsFunc(names, func(ns string) bool { return !isStrip(e.configs[ns].Transform) })
	if strips {
		o.KeepManagedFields = false
	}
	period := time.Duration(0)
	configs := make(map[string]cache.Config, len(names))
	for _, ns := range names {
		config := e.configs[ns]
		if strips {
			config.Transform = nil
		}
		if config.EnableWatchBookmarks != nil && !*config.EnableWatchBookmarks {
			o.Mode = informer.Paged
		}
		p := defaultSyncPeriod
		if config.SyncPeriod != nil {
			p = *config.SyncPeriod
		}
		if p > 0 && (period == 0 || p < period) { // all namespaces of an informer share one period
			period = p
		}
		configs[cmp.Or(ns, o.Namespace)] = config
	}
	if h.onError != nil || c.own.OnError != nil {
		o.OnError = c.report(e.kind, h)
	}
	s := newShared[object](informer.New[object](&source{src, configs, e.form == Typed}, o), h, jittered(period))
	h.reflector = reflectorOf(e.gvk.String(), nil, s.indexer)
	return &part{s}
}

// nameOf returns the name of an informer of namespaces whose configurations have these names: its form and its
// selectors, which distinguish it from the other informers of the kind.
func (e *entry) nameOf(names []string) string {
	var parts []string
	if e.form != Typed {
		parts = append(parts, e.form.String())
	}
	if len(names) > 1 || names[0] != "" {
		parts = append(parts, "configured namespaces")
	} else {
		labels, fields := selectors(e.configs[""])
		if labels != "" {
			parts = append(parts, "labels "+labels)
		}
		if fields != "" {
			parts = append(parts, "fields "+fields)
		}
	}
	return strings.Join(parts, " ")
}

// isStrip reports whether a transform is that of cache.TransformStripManagedFields. Leaving the fields out has the same
// effect, and costs less.
func isStrip(f toolscache.TransformFunc) bool {
	return f != nil && sourceOf(f) == sourceOf(cache.TransformStripManagedFields())
}

// sourceOf returns the place of a function in the source. Its code may be at several addresses, because the compiler
// copies a function literal with the function that it inlines.
func sourceOf(f toolscache.TransformFunc) (at struct {
	file string
	line int
},
) {
	pc := reflect.ValueOf(f).Pointer()
	at.file, at.line = runtime.FuncForPC(pc).FileLine(pc)
	return at
}

// jittered returns a period that differs by up to a tenth, so that the caches of a program do not resync at the same
// time.
func jittered(period time.Duration) time.Duration {
	return time.Duration(float64(period) * (0.9 + 0.2*rand.Float64()))
}

// partOf returns the informer of a namespace, or nil if it is not cached.
func (e *entry) partOf(namespace string) *part {
	if slices.Contains(e.names, namespace) {
		return e.named
	}
	return e.wide
}

// isShared reports whether readers get the cache's own objects of a namespace instead of copies.
func (e *entry) isShared(namespace string) bool {
	c, ok := e.configs[namespace]
	if !ok {
		c = e.configs[""]
	}
	return c.UnsafeDisableDeepCopy != nil && *c.UnsafeDisableDeepCopy
}

// run runs the informers until ctx ends or the entry is removed.
func (e *entry) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	for _, p := range e.parts {
		running.Go(func() { p.RunWithContext(ctx) })
	}
	select {
	case <-ctx.Done():
	case <-e.removed:
	}
}

// wait waits until the cache is complete. Its error says why the cache is not complete.
func (e *entry) wait(ctx context.Context, ended <-chan struct{}) error {
	for _, p := range e.parts {
		select {
		case <-p.synced:
			continue
		default:
		}
		select {
		case <-p.synced:
		case <-e.removed:
			return fmt.Errorf("the informer of %v has been removed", e.kind)
		case <-ended:
			return errors.New("the cache has stopped")
		case <-ctx.Done():
			if err := p.Status().Err; err != nil {
				return fmt.Errorf("%w: %w", context.Cause(ctx), translated(err))
			}
			return context.Cause(ctx)
		}
	}
	return nil
}
