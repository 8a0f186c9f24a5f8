package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/shown"
	"github.com/bowline-go/bowline/patch"
)

// AddFinalizer adds a finalizer to the object, and returns the object as the server then has it. While the object has
// the finalizer, a deletion waits. AddFinalizer sends nothing if the object already has the finalizer, even if the
// object is being deleted: check [meta.IsDeleting] before work that must not begin then. If the object is being deleted
// and lacks the finalizer, the error is a [*DeletingError]; if it does not exist, the error is a NotFound. AddFinalizer
// always reads the object, so look at a cached object's finalizers first.
//
// AddFinalizer reads the object and sends a JSON patch that the server applies only if the object still has the uid and
// the finalizers that it read. So it removes nobody else's finalizer, and writes that leave the finalizers alone do
// not disturb it. If the object has no finalizers yet, the patch also requires the resource version that AddFinalizer
// read, because a patch cannot test that a list is absent; then any other write makes AddFinalizer begin again. If
// somebody else changes the finalizers first, AddFinalizer pauses, longer with each attempt, and begins again, until
// ctx ends or 50 attempts have failed; the error is then a [*ModifyError]. If the connection breaks, it sends the patch
// again and reads the result. On a handle of [Metadata], both the read and the answer have only the metadata.
//
// name is a domain, a slash, and a name, such as "example.com/cleanup"; or one of the API's own, "orphan" and
// "foregroundDeletion". Anything else is a [*UsageError].
//
// If the object does not have the uid of o, the error is a Conflict.
func (r Resource[T]) AddFinalizer(ctx context.Context, key meta.Key, name string, o meta.FinalizerOptions) (T, error) {
	return typed[T](r.untyped.addFinalizer(ctx, key, name, o))
}

func (r resource) addFinalizer(ctx context.Context, key meta.Key, name string, o meta.FinalizerOptions) (meta.Object, error) {
	q := r.request("add finalizer to", key)
	if err := validFinalizer(name); err != nil {
		return nil, q.fail(&UsageError{Err: err})
	}
	return r.finalizer(ctx, q, func(h hold) (patch.Patch, error) {
		if err := precondition(meta.Identity{UID: o.UID}, meta.Identity{UID: h.uid}); err != nil {
			return patch.Patch{}, err
		}
		switch {
		case slices.Contains(h.finalizers, name):
			return patch.Patch{}, nil
		case h.deleting:
			return patch.Patch{}, h.error()
		case len(h.finalizers) == 0: // a patch cannot test that a list is absent, and another list must not be overwritten
			return patch.JSON(
				patch.Test("/metadata/uid", h.uid), patch.Test("/metadata/resourceVersion", h.version),
				patch.Add("/metadata/finalizers", []string{name})), nil
		}
		return patch.JSON(
			patch.Test("/metadata/uid", h.uid), patch.Test("/metadata/finalizers", h.finalizers),
			patch.Add("/metadata/finalizers/-", name)), nil
	})
}

// RemoveFinalizer removes a finalizer from the object, and returns the object as the server then has it. If the object
// is being deleted and has no other finalizer, that is its last state. RemoveFinalizer sends nothing if the object does
// not have the finalizer. If the object does not exist, RemoveFinalizer returns the zero T and nil, because there is
// nothing to remove.
//
// RemoveFinalizer works like [Resource.AddFinalizer]. If another object of the same name replaces the object during the
// call, the new one keeps its finalizer, and RemoveFinalizer returns the zero T and nil. Set the uid in o to that of
// the object that was cleaned up: then this also holds for a replacement before the call.
func (r Resource[T]) RemoveFinalizer(ctx context.Context, key meta.Key, name string, o meta.FinalizerOptions) (T, error) {
	return typed[T](r.untyped.removeFinalizer(ctx, key, name, o))
}

func (r resource) removeFinalizer(ctx context.Context, key meta.Key, name string, o meta.FinalizerOptions) (meta.Object, error) {
	q := r.request("remove finalizer from", key)
	if name == "" {
		return nil, q.fail(&UsageError{Err: errors.New("the finalizer must not be empty")})
	}
	uid := o.UID
	obj, err := r.finalizer(ctx, q, func(h hold) (patch.Patch, error) {
		if uid != "" && uid != h.uid {
			return patch.Patch{}, errReplaced
		}
		uid = h.uid
		i := slices.Index(h.finalizers, name)
		if i < 0 {
			return patch.Patch{}, nil
		}
		path := patch.Pointer("metadata", "finalizers", strconv.Itoa(i))
		return patch.JSON(patch.Test("/metadata/uid", h.uid), patch.Test(path, name), patch.Remove(path)), nil
	})
	if errors.Is(err, errReplaced) || isGone(err, q.key.Name) {
		return nil, nil
	}
	return obj, err
}

// isGone reports whether the server says that no object of that name exists. For a path that it does not serve, the
// server also answers NotFound, but names no object.
func isGone(err error, name string) bool {
	s, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && errors.Is(err, apierrors.NotFound) && s.Status.Details != nil && s.Status.Details.Name == name
}

// errReplaced says that the name now belongs to another object.
var errReplaced = errors.New("the object has been replaced")

// finalizer reads the object and sends the patch that change returns, if the patch is not empty. It starts again if
// another writer changes the object first.
func (r resource) finalizer(ctx context.Context, q request, change func(hold) (patch.Patch, error)) (meta.Object, error) {
	var result meta.Object
	tries := newAttempts(r, q)
	err := tries.run(ctx, func(obj meta.Object, live jsonstream.Item) (lost, err error) {
		// The server also answers Invalid if a test of the patch fails. That is a conflict if somebody has written
		// since the read.
		if tries.lost != nil && live.ResourceVersion == tries.last.ResourceVersion && !errors.Is(tries.lost, apierrors.Conflict) {
			return nil, tries.lost
		}
		h, err := readHold(live)
		if err != nil && !errors.As(err, new(*DeletingError)) {
			return nil, q.fail(err)
		}
		p, err := change(h)
		if err != nil {
			return nil, q.fail(err)
		}
		if p.MediaType() == "" {
			result = obj
			return nil, nil
		}
		write := q
		write.verb, write.settles = "patch", true
		tries.quits.Attempts++
		obj, err = r.sendPatch(ctx, write, p)
		if !errors.Is(err, apierrors.Invalid) && !errors.Is(err, apierrors.Conflict) {
			result = obj
			return nil, err
		}
		if mayHaveWritten(err) && !r.write.DryRun {
			tries.quits.MayHaveWritten = true
		}
		return err, nil
	})
	return result, err
}

// hold has the fields of an object, as read, that prevent its removal.
type hold struct {
	uid, version string
	finalizers   []string
	deleting     bool
}

func (h hold) error() *DeletingError { return &DeletingError{Finalizers: h.finalizers} }

// readHold returns the hold of an object. The error is a *DeletingError if the object is being deleted.
func readHold(live jsonstream.Item) (hold, error) {
	var object struct {
		meta.DeletionMeta `json:"metadata"`
	}
	if err := json.Unmarshal(live.Raw, &object); err != nil {
		return hold{}, &DecodeError{Identity: live.Identity, Err: err}
	}
	h := hold{uid: live.UID, version: live.ResourceVersion, finalizers: object.Finalizers}
	if h.uid == "" || h.version == "" {
		return h, errNoVersion
	}
	if h.deleting = object.DeletionTimestamp != nil; h.deleting {
		return h, h.error()
	}
	return h, nil
}

// validFinalizer checks a name against the rule that the API has for built-in kinds. It requires that rule for all
// kinds.
func validFinalizer(name string) error {
	if name == "orphan" || name == "foregroundDeletion" {
		return nil
	}
	if !strings.Contains(name, "/") || meta.ValidLabelKey(name) != nil {
		return fmt.Errorf(`the finalizer must be a domain, a slash and a name of letters, digits, "-", "_" and ".", such as "example.com/cleanup", got %q`, shown.Text(name))
	}
	return nil
}
