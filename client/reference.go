package client

import (
	"cmp"
	"fmt"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/shown"
)

// ReferenceTo returns a reference to obj, with the kind of the descriptor; obj need not have it.
func ReferenceTo[T meta.Identified[U], U ~string](t Type[T], obj T) meta.ObjectReference {
	o := OwnerOf(t, obj)
	return meta.ObjectReference{
		APIVersion: o.GVK.APIVersion(), Kind: o.GVK.Kind, Namespace: o.Identity.Namespace, Name: o.Identity.Name,
		UID: o.Identity.UID, ResourceVersion: o.Identity.ResourceVersion,
	}
}

// Resolve returns the key of the object that ref names, and a handle on that object alone, as [Resource.One] makes it.
// It sends nothing. from is the object in which ref stands, and [ReferenceTo] makes it:
//
//	one, key, err := client.Resolve(services, page.Spec.Target, client.ReferenceTo(Pages, page))
//
// A reference without a namespace names an object in the namespace of from, if the resource is namespaced. One without
// a kind or an apiVersion names an object of r. Its version may differ from that of r, because a server has the same
// objects in all versions of a group.
//
// Resolve returns an error if ref has no name, another kind or group than r, a namespace although r is cluster-wide, or
// no namespace although from has none either; and if r is bound to another namespace or object. It does not compare
// uids: compare ref.UID, if it is set, with that of the object. It accepts another namespace than that of from. A
// program whose users must not refer to other namespaces compares key.Namespace with that of from.
func Resolve[T meta.Object](r Resource[T], ref, from meta.ObjectReference) (one Resource[T], key meta.Key, err error) {
	one.untyped, key, err = r.untyped.resolve(ref, from)
	return one, key, err
}

func (r resource) resolve(ref, from meta.ObjectReference) (one resource, key meta.Key, err error) {
	key, err = resolved(ref, from, r.t.GVK(), r.t.Scope)
	if err == nil {
		one = r.one(key)
		err = one.usable()
	}
	if err != nil {
		return resource{}, meta.Key{}, fmt.Errorf("resolve the reference to %s in %s: %w", named(ref), named(from), err)
	}
	return one, key, nil
}

// resolved returns the key of the object that ref names, which must be of the kind want.
func resolved(ref, from meta.ObjectReference, want meta.GVK, scope meta.Scope) (meta.Key, error) {
	key := ref.Key()
	switch {
	case ref.Kind != "" && ref.Kind != want.Kind:
		return key, fmt.Errorf("kind must be %q, got %q", want.Kind, shown.Text(ref.Kind))
	case ref.APIVersion != "" && ref.GVK().Group != want.Group:
		return key, fmt.Errorf("apiVersion must be of the group %q, got %q", want.Group, shown.Text(ref.APIVersion))
	case scope == meta.Cluster && ref.Namespace != "":
		return key, fmt.Errorf("namespace must be empty, since %s is cluster-wide, got %q", want.Kind, shown.Text(ref.Namespace))
	case scope == meta.Cluster:
		return key, meta.ValidSegment("name", key.Name)
	}
	key.Namespace = cmp.Or(ref.Namespace, from.Namespace)
	if err := meta.ValidSegment("name", key.Name); err != nil {
		return key, err
	}
	return key, meta.ValidSegment("namespace", key.Namespace)
}

// named describes a reference in an error.
func named(r meta.ObjectReference) string {
	return fmt.Sprintf("%s %q", cmp.Or(shown.Text(r.Kind), "object"), shown.Text(r.Key().String()))
}
