package informer

import (
	"fmt"
	"slices"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/handle"
)

// An object may leave a cache although it exists: it no longer meets a selector, or nobody wants its namespace any
// more. To those who follow the cache it is gone. A finalizer that they have added stays, and so does the object when
// it is deleted. So controller.Finalize asks what may leave.

// Leaves implements filler.Filler. An object leaves by Options.LabelSelector or FieldSelector, a [Filter], or
// [Informer.SetNamespaces] if the namespace of key is not followed. A field selector of the name and the namespace
// alone does not count, because these do not change; nor do Options.Shards, because another replica has the object
// then.
func (i asFiller[T]) Leaves(key meta.Key) (why string) {
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
