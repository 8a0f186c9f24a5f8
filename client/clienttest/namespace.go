package clienttest

import (
	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/meta"
)

// The server deletes a namespace together with its contents, at once; in a real cluster a controller does so. Objects with
// finalizers stay, and so do pods on a node. They keep their namespace until they are gone.

// terminate deletes a namespace and its contents. It returns the namespace as it is until it has gone. The store is
// locked.
func (s *store) terminate(cur *object.Revision, o *deleteOptions) *object.Revision {
	if cur.Deleting {
		return cur
	}
	d := cur.Draft()
	deleted := now()
	d.Meta.DeletionTimestamp = &deleted
	d.Meta.Finalizers = o.finalizers(s.namespaces, d.Meta.Finalizers)
	d.Content["status"] = jsontree.Object{"phase": "Terminating"}
	if o.dryRun {
		return d.Revision(&s.namespaces.Type, cur.Version)
	}
	cur = s.put(s.namespaces, cur, d)
	// The controller of a real cluster deletes the contents in the background, whatever the request asked for.
	contents := &deleteOptions{PropagationPolicy: new("Background")}
	for _, r := range s.all() {
		if r.Scope != meta.Namespaced {
			continue
		}
		for v := range r.objects.tree.Between(object.Span(cur.Key.Name)) {
			s.delete(r, v, contents)
		}
	}
	s.finishNamespaces(cur.Key.Name)
	return cur
}

// finishNamespaces removes a namespace that is being deleted when it is empty and has no finalizers.
func (s *store) finishNamespaces(name string) {
	cur := s.namespaces.objects.tree.Get(name)
	if cur == nil || !cur.Deleting || s.inNamespace[name] > 0 {
		return
	}
	if len(cur.Draft().Meta.Finalizers) == 0 {
		s.remove(s.namespaces, cur)
	}
}
