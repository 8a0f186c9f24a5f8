package controllers

import (
	"maps"
	"slices"
	"sync"

	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/meta"
)

// The finalizers by which a server asks the garbage collector for work.
const (
	orphanFinalizer     = "orphan"
	foregroundFinalizer = "foregroundDeletion"
)

// phase is how far the deletion of an object is, for the garbage collector.
type phase int

const (
	alive      phase = iota
	deleting         // it goes when its finalizers do, none of which is the collector's
	orphaning        // its dependents lose their references to it
	foreground       // it waits for dependents that block its deletion
)

// phaseOf returns the phase of an object. If it has both finalizers of the collector, its dependents are orphaned.
func phaseOf(o *meta.Partial) phase {
	switch {
	case !meta.IsDeleting(o):
		return alive
	case slices.Contains(o.Finalizers, orphanFinalizer):
		return orphaning
	case slices.Contains(o.Finalizers, foregroundFinalizer):
		return foreground
	}
	return deleting
}

// place is where an object is, or where an owner reference says that it is.
type place struct {
	apiVersion, kind string
	key              meta.Key
}

// node is an object, or one that only references of other objects mention.
type node struct {
	uid    string
	number int // nodes are counted, so that they have an order
	// resource is nil until a watch has shown the object. Only then at and phase are known.
	resource *discovery.Resource
	at       place
	phase    phase
	// waited is true once the object has waited for its dependents. Kubernetes' collector remembers that too, even if
	// another client has removed the finalizer.
	waited     bool
	owners     []meta.OwnerReference
	dependents map[*node]bool
	// undecided is true if the kind of an owner is not served. A change of the owners may decide what becomes of the
	// object.
	undecided bool
}

// blocks reports whether n must be gone before a foreground deletion of an owner ends.
func (n *node) blocks(owner string) bool {
	return slices.ContainsFunc(n.owners, func(r meta.OwnerReference) bool { return r.UID == owner && blocking(r) })
}

func blocking(r meta.OwnerReference) bool {
	return r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion
}

// graph has the objects of all watched resources, and who owns whom. Its changes name the objects that the collector
// has to look at, in the same cases as in Kubernetes' collector, so that an object that is not looked at there is not
// looked at here either.
type graph struct {
	mu    sync.Mutex // guards the following, and all nodes
	nodes map[string]*node
	count int
	// absent are owners that the server does not have; a uid never comes back.
	absent map[reference]bool
	// look receives the uids to look at. While it is nil, they are kept in pending.
	look    func(uid string)
	pending []string
}

func newGraph() *graph { return &graph{nodes: map[string]*node{}, absent: map[reference]bool{}} }

// feed makes the graph call look for each object that the collector must look at: at once for those that are pending.
// If look is nil, the graph keeps such objects as pending.
func (g *graph) feed(look func(uid string)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.look = look; look == nil {
		return
	}
	for _, uid := range g.pending {
		look(uid)
	}
	g.pending = nil
}

// lookAt names nodes to the collector, the newest first. Kubernetes' collector looks at all of them at the same time,
// so it usually finds an owner among them unchanged. This collector does so too, because an owner is usually older and
// so comes later.
func (g *graph) lookAt(nodes ...*node) {
	slices.SortFunc(nodes, func(a, b *node) int { return b.number - a.number })
	for _, n := range nodes {
		if g.look != nil {
			g.look(n.uid)
		} else {
			g.pending = append(g.pending, n.uid)
		}
	}
}

// put records the state of an object of a resource.
func (g *graph) put(r *discovery.Resource, o *meta.Partial) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.node(o.UID)
	n.at = place{r.GVK().APIVersion(), r.Kind, o.Key()}
	if n.resource == nil { // references may be wrong about where it is
		for d := range n.dependents {
			if g.strays(d, n) {
				g.lookAt(d)
			}
		}
	}
	n.resource = r
	g.own(n, o.OwnerReferences)
	was := n.phase
	if n.phase = phaseOf(o); n.phase == was {
		return
	}
	switch n.phase {
	case orphaning:
		g.lookAt(n)
	case foreground:
		n.waited = true
		g.lookAt(slices.Collect(maps.Keys(n.dependents))...)
		g.lookAt(n)
	}
}

// node returns the node of a uid, a new one if there is none.
func (g *graph) node(uid string) *node {
	n := g.nodes[uid]
	if n == nil {
		g.count++
		n = &node{uid: uid, number: g.count, dependents: map[*node]bool{}}
		g.nodes[uid] = n
	}
	return n
}

// own replaces the owners of a node.
func (g *graph) own(n *node, owners []meta.OwnerReference) {
	was := n.owners
	n.owners = owners
	if slices.EqualFunc(was, owners, sameReference) {
		return
	}
	for _, r := range was {
		now := slices.IndexFunc(owners, func(o meta.OwnerReference) bool { return o.UID == r.UID })
		owner := g.nodes[r.UID]
		if owner == nil {
			continue
		}
		if blocking(r) && (now < 0 || !blocking(owners[now])) {
			g.lookAt(owner)
		}
		if now < 0 {
			g.unlink(n, owner)
		}
	}
	look := n.undecided
	n.undecided = false
	for _, r := range owners {
		owner := g.node(r.UID)
		if owner.dependents[n] {
			continue
		}
		owner.dependents[n] = true
		look = look || owner.resource == nil || g.strays(n, owner)
	}
	if look {
		g.lookAt(n)
	}
}

func sameReference(a, b meta.OwnerReference) bool {
	return a.UID == b.UID && a.Name == b.Name && a.Kind == b.Kind && a.APIVersion == b.APIVersion && blocking(a) == blocking(b)
}

// unlink removes n from the dependents of owner, and forgets owner if nothing else is known about it.
func (g *graph) unlink(n, owner *node) {
	delete(owner.dependents, n)
	if owner.resource == nil && len(owner.dependents) == 0 {
		delete(g.nodes, owner.uid)
	}
}

// strays reports whether a reference of n to owner names another place than the one where a watch has shown owner.
func (g *graph) strays(n, owner *node) bool {
	if owner.at.key.Namespace != "" && owner.at.key.Namespace != n.at.key.Namespace {
		return true
	}
	return slices.ContainsFunc(n.owners, func(r meta.OwnerReference) bool {
		return r.UID == owner.uid && (r.Name != owner.at.key.Name || r.Kind != owner.at.kind || r.APIVersion != owner.at.apiVersion)
	})
}

// remove records that an object of a resource has gone. It does nothing if the object was last seen in another
// resource, such as another version of its kind.
func (g *graph) remove(r *discovery.Resource, uid string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := g.nodes[uid]; n != nil && n.resource == r {
		if len(n.dependents) > 0 {
			g.noteAbsent(reference{n.at, uid})
		}
		g.forget(n)
	}
}

// drop records that a resource is no longer watched, so its objects are unknown.
func (g *graph) drop(r *discovery.Resource) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, n := range g.nodes {
		if n.resource == r {
			g.forget(n)
		}
	}
}

func (g *graph) forget(n *node) {
	g.lookAt(slices.Collect(maps.Keys(n.dependents))...)
	for _, r := range n.owners {
		if owner := g.nodes[r.UID]; owner != nil && owner.dependents[n] {
			if owner.waited {
				g.lookAt(owner)
			}
			g.unlink(n, owner)
		}
	}
	if n.owners, n.resource, n.phase, n.waited = nil, nil, alive, false; len(n.dependents) == 0 {
		delete(g.nodes, n.uid)
	}
}

// item is a copy of what the graph knows about an object.
type item struct {
	node
	dependents []item // without their own dependents
}

// read returns what is known about an object that a watch has shown.
func (g *graph) read(uid string) (_ item, found bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.nodes[uid]
	if n == nil || n.resource == nil {
		return item{}, false
	}
	i := item{node: *n}
	for d := range n.dependents {
		i.dependents = append(i.dependents, item{node: *d})
	}
	slices.SortFunc(i.dependents, func(a, b item) int { return b.number - a.number })
	return i, true
}

// isKnown reports whether a watch has shown an object, and where it is.
func (g *graph) isKnown(uid string) (place, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.nodes[uid]
	if n == nil || n.resource == nil {
		return place{}, false
	}
	return n.at, true
}

// setUndecided marks an object as undecided.
func (g *graph) setUndecided(uid string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := g.nodes[uid]; n != nil {
		n.undecided = true
	}
}

// decide names the undecided objects to the collector.
func (g *graph) decide() {
	g.mu.Lock()
	defer g.mu.Unlock()
	var nodes []*node
	for _, n := range g.nodes {
		if n.undecided {
			n.undecided = false
			nodes = append(nodes, n)
		}
	}
	g.lookAt(nodes...)
}

// again names objects to the collector once more.
func (g *graph) again(uids ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, uid := range uids {
		if n := g.nodes[uid]; n != nil {
			g.lookAt(n)
		}
	}
}

// maxAbsent is how many absent owners a graph remembers.
const maxAbsent = 500

// setAbsent records that the server does not have an owner.
func (g *graph) setAbsent(r reference) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.noteAbsent(r)
}

func (g *graph) noteAbsent(r reference) {
	if len(g.absent) >= maxAbsent {
		clear(g.absent)
	}
	g.absent[r] = true
}

// isAbsent reports whether the server is known not to have an owner, which may be cluster-scoped. It is false while a
// watch shows the owner, for instance after the restore of a backup.
func (g *graph) isAbsent(r reference) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := g.nodes[r.uid]; n != nil && n.resource != nil {
		return false
	}
	above := r
	above.at.key.Namespace = ""
	return g.absent[r] || g.absent[above]
}
