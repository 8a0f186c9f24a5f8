package informer

import (
	"fmt"
	"slices"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/handle"
)

// An object may leave a cache although it exists: it no longer meets a selector, or its namespace is no longer wanted.
// Users of the cache see a deletion. A finalizer that they have added stays, and then blocks the deletion of the
// object. So controller.Finalize asks which objects may leave.

// Leaves implements filler.Filler. An object can leave because of Options.LabelSelector or FieldSelector, a [Filter],
// or [Informer.SetNamespaces] if the namespace of key is not followed. A field selector of the name and the namespace
// alone does not count, because these do not change. Options.Shards does not count either, because another replica then
// has the object.
func (i *engine[T]) Leaves(key meta.Key) (why string) {
	fields, _ := meta.ParseFieldSelector(i.o.FieldSelector) // Run reports the error
	i.mu.Lock()
	followed := i.o.Namespaces == nil || key == (meta.Key{}) || among(i.want, key.Namespace)
	i.mu.Unlock()
	switch {
	case i.o.LabelSelector != "":
		return fmt.Sprintf("informer.Options: LabelSelector is %q", i.o.LabelSelector)
	case slices.ContainsFunc(fields.Terms(), func(t meta.FieldTerm) bool { return t.Field != "metadata.name" && t.Field != "metadata.namespace" }):
		return fmt.Sprintf("informer.Options: FieldSelector is %q", i.o.FieldSelector)
	case any(i.source) != nil && handle.Of(i.source).Filtered:
		return "the source of the informer has an informer.Filter"
	case !followed:
		return fmt.Sprintf("SetNamespaces has removed %q", key.Namespace)
	}
	return ""
}
