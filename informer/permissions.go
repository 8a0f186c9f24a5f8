package informer

import (
	"cmp"
	"slices"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/handle"
	"github.com/bowline-go/bowline/internal/runners"
)

// permitted is a part of a program that knows what it asks of servers.
type permitted interface{ Permissions() []client.Access }

// Permissions returns what the parts of the group, and the informers that they need, ask of servers: each access once,
// in the order of the resources. A part says what it asks for by a method
//
//	Permissions() []client.Access
//
// Informers, electors, recorders, webhook servers and the groups of package shards have it, and controllers, which
// return controller.Options.Permissions. The result leaves out the requests of parts without the method, the reviews of
// the client's own permissions, which every user may send, and the requests of caches of clusters that package clusters
// has added.
//
// clienttest.RoleOf writes the result as a Role, so a test can compare it with that of the program. A program can ask
// about each access with client.CanI before it starts. Permissions may be called at any time.
func (g *Group) Permissions() []client.Access {
	parts := slices.DeleteFunc(slices.Concat(g.Services, g.Runners), func(r Runner) bool { return runners.IsNil(r) })
	all := permissionsOf(g.Leader)
	for _, r := range slices.Concat(parts, needs(parts)) {
		all = append(all, permissionsOf(r)...)
	}
	slices.SortFunc(all, compareAccess)
	return slices.Compact(all)
}

// permissionsOf returns what a part asks for, if it says so.
func permissionsOf(part any) []client.Access {
	if p, ok := part.(permitted); ok && !runners.IsNil(part) {
		return p.Permissions()
	}
	return nil
}

func compareAccess(a, b client.Access) int {
	return cmp.Or(
		cmp.Compare(a.Resource.Group, b.Resource.Group), cmp.Compare(a.Resource.Resource, b.Resource.Resource),
		cmp.Compare(a.Resource.Version, b.Resource.Version), cmp.Compare(a.Subresource, b.Subresource),
		cmp.Compare(a.Key.Namespace, b.Key.Namespace), cmp.Compare(a.Key.Name, b.Key.Name), cmp.Compare(a.Path, b.Path),
		cmp.Compare(a.Verb, b.Verb), cmp.Compare(a.LabelSelector, b.LabelSelector), cmp.Compare(a.FieldSelector, b.FieldSelector),
	)
}

// Permissions returns what the informer asks of its server: list and watch in each namespace that it follows at the
// moment, and the requests of Options.Warm and Options.Shards.
func (i *Informer[T]) Permissions() []client.Access { return i.engine.permissions() }

func (i *engine[T]) permissions() (all []client.Access) {
	i.mu.Lock()
	namespaces := slices.Clone(i.want)
	i.mu.Unlock()
	bound := handle.Of(i.source).Bound
	if i.o.Namespaces == nil {
		namespaces = []string{cmp.Or(i.o.Namespace, bound.Namespace)}
	}
	for _, namespace := range namespaces {
		for _, verb := range []string{"list", "watch"} {
			all = append(all, client.Access{
				Verb: verb, Resource: i.source.GVR(), Key: meta.Key{Namespace: namespace, Name: bound.Name},
				LabelSelector: i.o.LabelSelector, FieldSelector: i.o.FieldSelector,
			})
		}
	}
	return slices.Concat(all, permissionsOf(i.o.Warm), permissionsOf(i.o.Shards))
}
