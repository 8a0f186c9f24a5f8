package clusters

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/filler"
	"github.com/bowline-go/bowline/internal/runners"
)

// Func brings the actual state closer to the desired one for one key, like a controller.Func. cluster is the value that
// [Controller.Add] received for the key's cluster. ctx also ends when the cluster is removed.
type Func[V any] func(ctx context.Context, cluster V, key Key) (controller.Result, error)

// Controller is a reconcile loop over clusters. V is what the program keeps for a cluster. Make it with [New]; nothing
// happens until Run. Its methods may be called by several goroutines at once, before, during and after Run, and from
// reconciles.
type Controller[V any] struct {
	*controller.Controller[Key]
	fn   Func[V]
	rest rest
	// named says that New has sources, which may name keys of any cluster.
	named bool

	mu      sync.Mutex // guards members, and each of them; the lock of the embedded controller is taken after it
	members map[string]*member[V]
}

// member is a cluster that has been added. Controller.mu guards its maps, gone and left.
type member[V any] struct {
	name  string
	value V
	added *controller.AddedSource
	needs []cache.Runner // what the sources need; it does not change
	// running are the reconciles in progress.
	running map[meta.Key]*work
	// later are the keys that wait in the queue for a retry, or for the time in a Result.
	later map[meta.Key]bool
	gone  bool
	// left is closed at the end of the next reconcile; nil unless Remove waits for that.
	left chan struct{}
}

// New returns a controller without clusters. It calls fn for the keys that the sources of clusters name, and for those
// that the sources in from name. The latter may name keys of any cluster; a key whose cluster has not been added is
// dropped. The workers wait for the sources in from, and Run ends with an error if one of them fails. Run, not New,
// reports invalid arguments.
func New[V any](name string, o controller.Options, fn Func[V], from ...controller.Source[Key]) *Controller[V] {
	c := &Controller[V]{fn: fn, members: make(map[string]*member[V])}
	c.named = len(from) > 0
	c.rest.begin, c.rest.wake = c.begin, make(chan struct{}, 1)
	var call controller.Func[Key] // nil if fn is
	if fn != nil {
		call = c.reconcile
	}
	c.Controller = controller.New(name, o, call, append([]controller.Source[Key]{&c.rest}, from...)...)
	_ = c.GroupBy(func(k Key) string { return k.Cluster }, nil) // no error: it does not run
	return c
}

// Add adds a cluster, with its sources: at once if the controller runs, and otherwise for the next Run and those after
// it. It does not wait for them; see [Controller.WaitSynced]. The informers that the sources need run until the cluster
// is removed or Run ends.
//
// Add returns an error, and adds nothing, if the name is empty, if there is a cluster of that name, if a source is nil,
// or if neither Add nor New has a source, so that nothing would name a key of the cluster.
func (c *Controller[V]) Add(name string, cluster V, from ...controller.Source[meta.Key]) error {
	if name == "" {
		return errors.New("clusters.Controller: Add: the name must not be empty")
	}
	sources := make([]controller.Source[Key], len(from))
	for i, s := range from {
		if sources[i] = In(name, s); sources[i] == nil {
			return fmt.Errorf("clusters.Controller: Add %q: from[%d] must not be nil", name, i)
		}
	}
	if len(from) == 0 && !c.named {
		return fmt.Errorf("clusters.Controller: Add %q: from must have a source, unless New has one", name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.members[name] != nil {
		return fmt.Errorf("clusters.Controller: Add %q: a cluster of this name exists; remove it first", name)
	}
	added, err := c.AddSourcesFor(func(k Key) bool { return k.Cluster == name }, sources...)
	if err != nil {
		return err
	}
	var needs []cache.Runner
	for _, s := range from {
		needs = runners.Needs(needs, s)
	}
	c.members[name] = &member[V]{
		name: name, value: cluster, added: added, needs: needs, running: make(map[meta.Key]*work), later: make(map[meta.Key]bool),
	}
	return nil
}

// Remove removes a cluster, as the documentation of the package says. As soon as it is called, no further reconcile of
// the cluster starts, and the name is free. Remove returns when the cluster's sources, the informers that only this
// cluster needed, and the reconciles have returned.
//
// If ctx ends before the reconciles have returned, Remove returns an error, but the cluster is removed. Remove may be
// called from a reconcile with the context of that reconcile, or one derived from it. Then Remove does not wait for
// that reconcile, and, if it is one of the cluster, ends its context last. Remove must not be called from a function
// that a source calls.
//
// Remove also returns an error if there is no cluster of that name.
func (c *Controller[V]) Remove(ctx context.Context, name string) error {
	mine, _ := ctx.Value(workKey{}).(*work)
	m, keys := c.take(name, mine)
	if m == nil {
		return noCluster("Remove", name)
	}
	if mine != nil && mine.of == name {
		defer mine.cancel(&RemovedError{Cluster: name})
	}
	c.rest.add(keys)
	m.added.Remove()
	for {
		missing, left := c.missing(m, mine)
		if missing == 0 {
			return nil
		}
		select {
		case <-left:
		case <-ctx.Done():
			return fmt.Errorf("clusters.Controller: Remove %q: reconciles still run (%d): %w",
				name, missing, context.Cause(ctx))
		}
	}
}

func noCluster(method, name string) error {
	return fmt.Errorf("clusters.Controller: %s %q: no cluster has this name", method, name)
}

// take removes a cluster, and cancels the contexts of its reconciles except mine. It returns the keys of the cluster
// that may wait for a long time in the queue; m is nil if there is no such cluster.
func (c *Controller[V]) take(name string, mine *work) (m *member[V], keys []Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m = c.members[name]; m == nil {
		return nil, nil
	}
	delete(c.members, name)
	m.gone = true
	for _, w := range m.running {
		if w != mine {
			w.cancel(&RemovedError{Cluster: name})
		}
	}
	for k := range m.later {
		keys = append(keys, Key{Cluster: name, Key: k})
	}
	m.later = nil
	return m, keys
}

// missing returns how many reconciles of a removed cluster still run, not counting mine, and a channel that is closed
// when one of them has ended.
func (c *Controller[V]) missing(m *member[V], mine *work) (missing int, left <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range m.running {
		if w != mine {
			missing++
		}
	}
	m.left = make(chan struct{})
	return missing, m.left
}

// Get returns the value that [Controller.Add] received for a cluster; false if there is none of that name.
func (c *Controller[V]) Get(name string) (cluster V, found bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.members[name]; m != nil {
		return m.value, true
	}
	return cluster, false
}

// Names returns the names of the clusters in order.
func (c *Controller[V]) Names() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.members))
}

// WaitSynced returns nil when all sources of a cluster have delivered what existed at their start in the present Run.
// It waits for a Run if there is none. It returns an error with the reason if ctx ends first, if there is no such
// cluster, if the cluster is removed, or if a source has failed.
func (c *Controller[V]) WaitSynced(ctx context.Context, name string) error {
	c.mu.Lock()
	m := c.members[name]
	c.mu.Unlock()
	if m == nil {
		return noCluster("WaitSynced", name)
	}
	return m.added.WaitSynced(ctx)
}

// Status is the condition of a cluster.
type Status struct {
	// Name is its name.
	Name string
	// Err is nil if the sources have delivered what existed at their start in the present Run, so that keys are
	// reconciled. Otherwise it says why not: Run has not begun, the last error of the server, or the error with which a
	// source has failed. If only some namespaces of an informer are missing, the keys of the others are nevertheless
	// reconciled; see package controller.
	Err error
	// InProgress is how many of its keys are being reconciled.
	InProgress int
	// Away is nil, or has the last errors of the informers that the sources need: their servers are away or refuse, or
	// a cache is stale (informer.Options.StaleAfter). A server may go away after the sources have delivered. When it
	// comes back, its error is gone as soon as it has sent something or a watch has been open for a second. A stale
	// cache stays stale until a list, an event or a bookmark renews it; servers send a bookmark about once a minute.
	Away error
	// Later is how many of its keys wait for a retry or for the time in a Result.
	Later int
}

// String returns the status in one line for people. Its form may change.
func (s Status) String() string {
	text := fmt.Sprintf("cluster %q: %d in progress, %d later", s.Name, s.InProgress, s.Later)
	why := inLine(s.Err, shown(s.Name)+": ")
	if why != "" {
		text += "; not synced: " + why
	}
	if away := inLine(s.Away, ""); away != "" {
		text += "; away: " + away
	}
	return text
}

// inLine returns the texts of an error, and of those that it joins, in one line. It removes prefix from each.
func inLine(err error, prefix string) string {
	if err == nil {
		return ""
	}
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	var texts []string
	for _, one := range all {
		text := strings.TrimPrefix(one.Error(), prefix)
		if strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsPrint(c) }) {
			text = strconv.Quote(text)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}

// away joins the last errors of runners.
func away(of []cache.Runner) error {
	var all []error
	for _, r := range of {
		a, ok := filler.As[interface{ Away() error }](r)
		if !ok {
			continue
		}
		if err := a.Away(); err != nil {
			all = append(all, fmt.Errorf("%v: %w", r, err))
		}
	}
	return errors.Join(all...)
}

// Clusters returns the condition of each cluster, by name.
func (c *Controller[V]) Clusters() []Status {
	c.mu.Lock()
	var all []Status
	var members []*member[V]
	for _, name := range slices.Sorted(maps.Keys(c.members)) {
		m := c.members[name]
		all = append(all, Status{Name: name, InProgress: len(m.running), Later: len(m.later)})
		members = append(members, m)
	}
	c.mu.Unlock()
	for i := range all {
		all[i].Err, all[i].Away = members[i].added.Unsynced(), away(members[i].needs)
	}
	return all
}
