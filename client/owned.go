package client

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bowline-go/bowline/client/meta"
)

// Owner says which object owns another, and how. [OwnerOf] makes one whose zero choices are a controller's.
type Owner struct {
	// GVK is the owner's kind, Scope that of its resource, and Identity says which object it is. Its uid must be set: it tells
	// the owner from another object of that name.
	GVK      meta.GVK
	Scope    meta.Scope
	Identity meta.Identity
	// Shared says that the owner is one as there may be several. Otherwise it is the controller, which manages the object, and
	// of which there is one.
	Shared bool
	// MayGoFirst says that a Foreground deletion of the owner does not wait until the object is gone. Otherwise it does, and
	// some servers ask for the right to write the owner's finalizers.
	MayGoFirst bool
}

// OwnerOf returns obj as an owner, with the kind and scope that its descriptor says; obj need not know them.
func OwnerOf[T interface {
	meta.Object
	GetUID() U
}, U ~string](t Type[T], obj T) Owner {
	o := Owner{GVK: t.GVK(), Scope: t.Scope}
	if !isNil(obj) {
		o.Identity = meta.Identity{
			Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: string(obj.GetUID()), ResourceVersion: obj.GetResourceVersion(),
		}
	}
	return o
}

// Reference returns the owner as an object names it.
func (o Owner) Reference() meta.OwnerReference {
	r := meta.OwnerReference{APIVersion: o.GVK.APIVersion(), Kind: o.GVK.Kind, Name: o.Identity.Name, UID: o.Identity.UID}
	yes := true
	if !o.Shared {
		r.Controller = &yes
	}
	if !o.MayGoFirst {
		r.BlockOwnerDeletion = &yes
	}
	return r
}

// Owned makes child say that owner owns it, so that the server's garbage collector deletes it with the owner. It changes child,
// and sends nothing; it is for what is about to be created or ensured, and for [Resource.Modify]. A child that names the owner
// already, by its uid, gets that reference renewed in its place, and keeps all others. It must have its namespace by then, also
// where the handle that it is written with has one ([Resource.In]).
//
// It is an error, and child stays as it was, if the owner has no kind, name or uid, or lies in another namespace: the owner of an
// object is in the object's namespace, or cluster-wide. And it is a [*ControllerError] if another object controls the child.
// The child's type must have the methods GetOwnerReferences and SetOwnerReferences, as the types of k8s.io/api have and every
// struct that embeds [meta.ObjectMeta] or [meta.OwnerMeta]. R is the type of its references.
func Owned[T interface {
	meta.Object
	GetOwnerReferences() []R
	SetOwnerReferences(owners []R)
}, R any](child T, owner Owner) error {
	if err := owned(child, owner); err != nil {
		return fmt.Errorf("client.Owned: %w", err)
	}
	return nil
}

func owned[T interface {
	meta.Object
	GetOwnerReferences() []R
	SetOwnerReferences(owners []R)
}, R any](child T, owner Owner) error {
	if isNil(child) {
		return errors.New("the child is nil")
	}
	if err := owner.validate(); err != nil {
		return err
	}
	if in := owner.Identity.Namespace; in != "" && in != child.GetNamespace() {
		return fmt.Errorf("the child's namespace must be %q, that of its owner, got %q", in, child.GetNamespace())
	}
	reference := owner.Reference()
	owners := slices.Clone(meta.Owners(child))
	at := len(owners)
	for i, present := range owners {
		if present.UID == reference.UID {
			at = min(at, i)
		} else if !owner.Shared && present.Controller != nil && *present.Controller {
			return &ControllerError{Child: meta.KeyOf(child), Present: present, Refused: reference}
		}
	}
	if at == len(owners) {
		owners = append(owners, reference)
	} else {
		owners[at] = reference
	}
	return meta.SetOwners(child, owners)
}

// Disowned is the way back of [Owned]: it takes the reference to owner, found by its uid, from child. That there is none is no
// error.
func Disowned[T interface {
	meta.Object
	GetOwnerReferences() []R
	SetOwnerReferences(owners []R)
}, R any](child T, owner Owner) error {
	switch {
	case isNil(child):
		return errors.New("client.Disowned: the child is nil")
	case owner.Identity.UID == "":
		return errors.New("client.Disowned: the owner must have a uid")
	}
	had := meta.Owners(child)
	left := slices.DeleteFunc(slices.Clone(had), func(o meta.OwnerReference) bool { return o.UID == owner.Identity.UID })
	if len(left) == len(had) {
		return nil
	}
	if err := meta.SetOwners(child, left); err != nil {
		return fmt.Errorf("client.Disowned: %w", err)
	}
	return nil
}

func (o Owner) validate() error {
	switch {
	case o.GVK.Kind == "" || o.GVK.Version == "":
		return errors.New("the owner must have a kind and a version; use client.OwnerOf")
	case o.Identity.Name == "":
		return errors.New("the owner must have a name")
	case o.Identity.UID == "":
		return fmt.Errorf("the owner %s %q must have a uid: it must have been created, or read, and its type must have metadata.uid", o.GVK.Kind, show(o.Identity.Name))
	case o.Scope == meta.Cluster && o.Identity.Namespace != "":
		return fmt.Errorf("the owner %s %q must have no namespace, since it is cluster-wide, got %q", o.GVK.Kind, show(o.Identity.Name), show(o.Identity.Namespace))
	case o.Scope != meta.Cluster && o.Identity.Namespace == "":
		return fmt.Errorf("the owner %s %q must have a namespace", o.GVK.Kind, show(o.Identity.Name))
	}
	return nil
}

// ControllerError says that an object has a controller, so that another cannot be it too, and that nobody else may ensure it.
type ControllerError struct {
	// Child is the object.
	Child meta.Key
	// Present is the reference to the controller that it has, and Refused the one that it did not get: the zero value if the object
	// was to be ensured without a controller.
	Present, Refused meta.OwnerReference
}

// Error implements error.
func (e *ControllerError) Error() string {
	name := func(o meta.OwnerReference) string {
		return fmt.Sprintf("%s %q (uid %q)", show(o.Kind), show(o.Name), show(o.UID))
	}
	if e.Refused.UID == "" {
		return fmt.Sprintf("%q is controlled by %s, and the object that is wanted names no controller; use Modify or Apply to change a part of it", show(e.Child.String()), name(e.Present))
	}
	return fmt.Sprintf("%q is controlled by %s, and not by %s", show(e.Child.String()), name(e.Present), name(e.Refused))
}
