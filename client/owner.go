package client

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/shown"
)

// Owner is an object that owns others. [OwnerOf] makes one.
type Owner struct {
	// GVK is the owner's kind, Scope is its resource's scope, and Identity says which object it is. The uid must be
	// set: it distinguishes the owner from another object of that name.
	GVK      meta.GVK
	Scope    meta.Scope
	Identity meta.Identity
	// MayGoFirst says that a Foreground deletion of the owner does not wait until the object is gone. If it is not set,
	// the deletion waits, and some servers require permission to write the owner's finalizers.
	MayGoFirst bool
}

// OwnerOf returns obj as an owner, with the kind and scope of the descriptor; obj need not have them.
func OwnerOf[T meta.Identified[U], U ~string](t Type[T], obj T) Owner {
	o := Owner{GVK: t.GVK(), Scope: t.Scope}
	if !isNil(obj) {
		o.Identity = meta.Identity{
			Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: string(obj.GetUID()), ResourceVersion: obj.GetResourceVersion(),
		}
	}
	return o
}

// reference returns the owner reference for an object.
func (o Owner) reference(controls bool) meta.OwnerReference {
	r := meta.OwnerReference{APIVersion: o.GVK.APIVersion(), Kind: o.GVK.Kind, Name: o.Identity.Name, UID: o.Identity.UID}
	if controls {
		r.Controller = new(true)
	}
	if !o.MayGoFirst {
		r.BlockOwnerDeletion = new(true)
	}
	return r
}

// SetController makes owner the controller of child: the owner that manages it. An object has at most one. The server's
// garbage collector deletes child after owner is deleted. SetController changes child and sends nothing: call it before
// child is created or ensured, or within [Resource.Modify]. If child already has a reference to the owner, by its uid,
// SetController replaces that reference; it keeps all others. It sets blockOwnerDeletion unless Owner.MayGoFirst is
// set. Set the child's namespace first, even if the handle that writes it has one ([Resource.In]).
//
// SetController returns a [*ControllerError] if another object controls child. It returns an error if the owner has no
// kind, name or uid, or is in another namespace: an owner is in the namespace of the object, or cluster-wide. On an
// error child stays as it was.
//
// The child's type must have the methods GetOwnerReferences and SetOwnerReferences, as the types of k8s.io/api do, and
// every struct that embeds [meta.ObjectMeta] or [meta.OwnerMeta]. R is the type of its references.
func SetController[T meta.Ownable[R], R any](child T, owner Owner) error {
	if err := owned(child, owner, true); err != nil {
		return fmt.Errorf("client.SetController: %w", err)
	}
	return nil
}

// AddOwner makes owner one of the owners of child, without making it the controller. An object may have several owners.
// The garbage collector deletes child when its last owner is gone. Everything else is as for [SetController], except
// that another object may control child. If owner controlled child, it no longer does.
func AddOwner[T meta.Ownable[R], R any](child T, owner Owner) error {
	if err := owned(child, owner, false); err != nil {
		return fmt.Errorf("client.AddOwner: %w", err)
	}
	return nil
}

func owned[T meta.Ownable[R], R any](child T, owner Owner, controls bool) error {
	if isNil(child) {
		return errors.New("the child must not be nil")
	}
	if err := owner.validate(); err != nil {
		return err
	}
	if in := owner.Identity.Namespace; in != "" && in != child.GetNamespace() {
		return fmt.Errorf("the child's namespace must be %q, that of its owner, got %q", in, child.GetNamespace())
	}
	reference := owner.reference(controls)
	owners := slices.Clone(meta.Owners(child))
	at := len(owners)
	for i, present := range owners {
		if present.UID == reference.UID {
			at = min(at, i)
		} else if controls && present.Controller != nil && *present.Controller {
			return &ControllerError{Present: present, child: meta.KeyOf(child), refused: reference}
		}
	}
	if at == len(owners) {
		owners = append(owners, reference)
	} else {
		owners[at] = reference
	}
	return meta.SetOwners(child, owners)
}

// RemoveOwner removes the reference to owner, found by its uid, from child. It is no error if there is no such
// reference. The child's type is as for [SetController].
func RemoveOwner[T meta.Ownable[R], R any](child T, owner Owner) error {
	switch {
	case isNil(child):
		return errors.New("client.RemoveOwner: the child must not be nil")
	case owner.Identity.UID == "":
		return errors.New("client.RemoveOwner: the owner must have a uid")
	}
	had := meta.Owners(child)
	left := slices.DeleteFunc(slices.Clone(had), func(o meta.OwnerReference) bool { return o.UID == owner.Identity.UID })
	if len(left) == len(had) {
		return nil
	}
	if err := meta.SetOwners(child, left); err != nil {
		return fmt.Errorf("client.RemoveOwner: %w", err)
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
		return fmt.Errorf("the owner %s %q must have a uid: create or read it first, with a type that has metadata.uid", o.GVK.Kind, shown.Text(o.Identity.Name))
	case o.Scope == meta.Cluster && o.Identity.Namespace != "":
		return fmt.Errorf("the owner %s %q must have no namespace, since it is cluster-wide, got %q", o.GVK.Kind, shown.Text(o.Identity.Name), shown.Text(o.Identity.Namespace))
	case o.Scope != meta.Cluster && o.Identity.Namespace == "":
		return fmt.Errorf("the owner %s %q must have a namespace", o.GVK.Kind, shown.Text(o.Identity.Name))
	}
	return nil
}

// ControllerError says that an object already has a controller, so it cannot get another one, and only its controller
// may ensure it. With EnsureOptions.Owned it also says that an object has no controller and is not adopted.
type ControllerError struct {
	// Present is the reference to the object's controller: the zero value if it has none.
	Present meta.OwnerReference

	child   meta.Key
	refused meta.OwnerReference // the controller that the object did not get; zero if Ensure named none
}

// Error implements error.
func (e *ControllerError) Error() string {
	name := func(o meta.OwnerReference) string {
		return fmt.Sprintf("%s %q (uid %q)", shown.Text(o.Kind), shown.Text(o.Name), shown.Text(o.UID))
	}
	if e.Present == (meta.OwnerReference{}) {
		return fmt.Sprintf("%q exists without a controller, and EnsureOptions.Owned keeps %s from adopting it", shown.Text(e.child.String()), name(e.refused))
	}
	if e.refused.UID == "" {
		return fmt.Sprintf("%q is controlled by %s, but the wanted object names no controller; use Modify or Apply to change a part of it", shown.Text(e.child.String()), name(e.Present))
	}
	return fmt.Sprintf("%q is controlled by %s, not by %s", shown.Text(e.child.String()), name(e.Present), name(e.refused))
}
