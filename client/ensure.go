package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/shown"
	"github.com/bowline-go/bowline/patch"
)

// Ensure makes the server have an object like want, and returns it as the server has it. If there is none it is created. If
// there is one it gets what want says, and keeps all else: what the server has filled in, what others have set, and what T does not
// name. Nothing is sent if it has all that want says, so that a program may call Ensure as often as it likes.
//
// Every field that encoding/json writes is wanted, except null, and except the zero of a field tagged omitempty or omitzero; [patch.Overlay]
// tells the rest: which objects are replaced whole, which lists are merged, and which values are the same to a server.
//
// So Ensure sets, and does not remove: a label that is no longer in want stays, and so does a finalizer or an owner. EnsureOptions
// has what must not be there. An element of a list with keys, such as a container, goes when want no longer has it if nobody
// but this field manager (WriteOptions.FieldManager, or the one that the server makes of Config.UserAgent) has set it; what an
// admission plugin has added stays. Where fields are to vanish with the configuration that had them, use [Resource.Apply].
//
// Ensured says what has become of it, and names what the server does not keep; a controller that gets NotKept each time fights
// somebody. At most one EnsureOptions may be given.
//
// If the live object has a controller that want does not name as its own (see [SetController]), Ensure writes nothing and returns a
// [*ControllerError]. This holds also if want names no controller: a program that ensures a Deployment's ReplicaSet fights the
// Deployment. To add to such an object, an annotation for example, use [Resource.Modify] or [Resource.Apply]. Ensure adopts an object
// without a controller, and Ensured says so.
//
// Many may ensure one object at once; one of them creates it, and no write is lost. If another creates or changes the object first,
// Ensure reads it again, after a pause that grows with the attempts, until ctx ends or 50 attempts have failed; then the error is
// a [*ModifyError], which says who won.
//
// A write whose connection broke is sent again, as [Retry] says, and what became of it is read. If the object has all that want
// says by then, Outcome is what that write was to be, Created or Updated, although another may have written the same.
//
// A uid or resource version in want is a precondition: if the object has another, or there is none, the error is a
// [*PreconditionError]. An object that is being deleted cannot be ensured; the error is a [*DeletingError] until it is gone, and
// then it is created. Both are a Conflict.
//
// Status is not Ensure's. Leave it empty, and write it through [Resource.Status]; change an object that was read, or cloned from a
// cache, with [Resource.Modify]. A status without anything but zeros is not sent, and any other is a [*UsageError], because to leave it
// out would lose it without a word. So is an object without a name: with a generateName each call would make one more. Nothing of
// want is changed.
//
// In a dry run, Ensured is what would have been done.
func (r Resource[T]) Ensure(ctx context.Context, want T, o ...EnsureOptions) (T, Ensured, error) {
	var none T
	q := r.request("ensure", meta.Key{})
	if isNil(want) {
		return none, Ensured{}, q.fail(&UsageError{Err: errors.New("the object is nil")})
	}
	q.key = r.bind(meta.KeyOf(want))
	w, options, err := r.wish(q, want, o)
	if err != nil {
		return none, Ensured{}, q.fail(err)
	}
	if obj, proved, err := r.unneeded(w, options.Known); err != nil || proved {
		return obj, Ensured{}, q.fail(err)
	}
	var (
		result T
		done   Ensured
		mine   unanswered
	)
	tries := newAttempts(r, q)
	tries.absent = true
	err = tries.run(ctx, func(was T, live jsonstream.Item) (lost, err error) {
		write, err := r.ensuring(q, w, live)
		settled := err == nil && write.body == nil && mine.uid != "" && mine.uid == live.UID
		if other := precondition(w.asked, live.Identity); other != nil && !settled { // its version may be that of the write
			err = other
		}
		switch {
		case err != nil && tries.quits.MayHaveWritten:
			return nil, tries.because(err)
		case err != nil:
			return nil, q.fail(err)
		case write.body == nil:
			found := mine.found(live)
			result, done = was, Ensured{Outcome: found, New: found == Created, Adopted: found == Updated && mine.adopts}
			return nil, nil
		}
		tries.quits.Attempts++
		is, item, err := r.exchange(ctx, write)
		switch {
		case err == nil:
			result = is
			done, err = r.ensured(w, live, item)
			return nil, q.fail(err)
		case errors.Is(err, apierrors.Conflict), errors.Is(err, apierrors.AlreadyExists) && write.collection, errors.Is(err, apierrors.NotFound) && !write.collection:
		default:
			return nil, err
		}
		if mayHaveWritten(err) && !r.write.DryRun {
			mine = unanswered{to: r.outcome(live, jsonstream.Item{}), uid: live.UID, adopts: w.owner != nil && controllerIn(live.Raw) == nil}
			tries.quits.MayHaveWritten = true
		}
		return err, nil
	})
	return result, done, err
}

// unanswered is a write that may have been made although its answer was lost. The zero value is none.
type unanswered struct {
	to     Outcome
	uid    string // of what it was made from; empty for a creation
	adopts bool   // it gave the object a controller
}

// found returns the outcome of a call that finds the object as it should be.
func (u unanswered) found(live jsonstream.Item) Outcome {
	if u.uid != "" && u.uid != live.UID {
		return Unchanged
	}
	return u.to
}

// wish checks what is wanted and encodes it.
func (r Resource[T]) wish(q request, want T, o []EnsureOptions) (*wish[T], EnsureOptions, error) {
	options, err := only(o)
	if err != nil {
		return nil, options, err
	}
	w := &wish[T]{want: want, key: q.key}
	if err := r.writesObjects(); err != nil {
		return nil, options, err
	}
	if err := r.usable(); err != nil {
		return nil, options, &UsageError{Err: err}
	}
	if q.key.Name == "" {
		return nil, options, &UsageError{Err: errors.New("metadata.name must be set; use Create for a name that the server makes up")}
	}
	if _, err := q.path(); err != nil {
		return nil, options, &UsageError{Err: err}
	}
	body, err := r.encode(want)
	if err != nil {
		return nil, options, &UsageError{Err: err}
	}
	item, err := jsonstream.ReadObject(bytes.NewReader(body), r.c.streamOptions(true))
	if err != nil {
		return nil, options, &UsageError{Err: publicError(err)}
	}
	var parts struct{ Status any }
	if err := json.Unmarshal(body, &parts); err != nil {
		return nil, options, &UsageError{Err: err}
	}
	if !isEmpty(parts.Status) {
		return nil, options, &UsageError{Err: errStatus}
	}
	w.asked, w.owner = item.Identity, controllerIn(body)
	w.overlay = patch.OverlayOptions{Absent: options.Absent, Manager: r.manager()}
	created, _, err := patch.Overlay(nil, want, w.overlay)
	if err == nil {
		w.body, err = r.encode(created)
	}
	if err != nil {
		return nil, options, &UsageError{Err: err}
	}
	return w, options, nil
}

// ensuring returns what makes the object that is live have what is wanted: a request without a body if it has.
func (r Resource[T]) ensuring(q request, w *wish[T], live jsonstream.Item) (request, error) {
	q.query, q.contentType, q.settles = r.write.query(), jsonType, true
	if live.Raw == nil {
		q.verb, q.collection, q.body = "create", true, w.body
		return q, nil
	}
	if _, err := readHold(live); err != nil {
		return q, err
	}
	if err := w.controlled(live); err != nil {
		return q, err
	}
	merged, missing, err := w.over(live)
	if len(missing) > 0 {
		q.verb, q.body = "update", merged
	}
	return q, err
}

// outcome returns what a write has made of an object.
func (r Resource[T]) outcome(was, is jsonstream.Item) Outcome {
	switch {
	case was.Raw == nil:
		return Created
	case is.ResourceVersion == was.ResourceVersion && (!r.write.DryRun || sameContents(was.Raw, is.Raw)):
		return Unchanged
	}
	return Updated
}

var errNoVersion = errors.New("server sent the object without a uid or a resource version, so that it cannot be written safely")

// sameContents compares two states of an object, apart from what a server writes anew with each.
func sameContents(a, b []byte) bool {
	contents := func(raw []byte) map[string]any {
		object, err := readNumbers(raw)
		if err != nil {
			return nil
		}
		if metadata, ok := object["metadata"].(map[string]any); ok {
			delete(metadata, "resourceVersion")
			delete(metadata, "managedFields")
			delete(metadata, "generation")
		}
		return object
	}
	return patch.Diff(contents(a), contents(b)).IsEmpty()
}

// PreconditionError says that the object is not the one, or not the state of it, that was asked for. It is a Conflict for
// errors.Is; nothing was written, unless a [*ModifyError] around it says that something may have been.
type PreconditionError struct {
	// Field is "metadata.uid" or "metadata.resourceVersion".
	Field string
	// Want is what was asked for, and Live what the server has: empty if there is no object.
	Want, Live string
}

// Error implements error.
func (e *PreconditionError) Error() string {
	if e.Live == "" {
		return fmt.Sprintf("%s must be %q, and there is no such object", e.Field, shown.Text(e.Want))
	}
	return fmt.Sprintf("%s must be %q, and the object has %q", e.Field, shown.Text(e.Want), shown.Text(e.Live))
}

// Is reports whether target is apierrors.Conflict.
func (e *PreconditionError) Is(target error) bool { return target == error(apierrors.Conflict) }

func precondition(asked, live meta.Identity) error {
	switch {
	case asked.UID != "" && asked.UID != live.UID:
		return &PreconditionError{Field: "metadata.uid", Want: asked.UID, Live: live.UID}
	case asked.ResourceVersion != "" && asked.ResourceVersion != live.ResourceVersion:
		return &PreconditionError{Field: "metadata.resourceVersion", Want: asked.ResourceVersion, Live: live.ResourceVersion}
	}
	return nil
}

// DeletingError says that an object is on its way out, so that it cannot be ensured, and gets no further finalizer. It is a
// Conflict for errors.Is: it passes when the object is gone.
type DeletingError struct {
	// Since is when the deletion was asked for, or ends by itself where it has a grace period.
	Since time.Time
	// Finalizers are those that the object waits for.
	Finalizers []string
}

// Error implements error.
func (e *DeletingError) Error() string {
	text := "the object is being deleted"
	if len(e.Finalizers) > 0 {
		text += fmt.Sprintf(", and waits for the finalizers %q", e.Finalizers)
	}
	return text
}

// Is reports whether target is apierrors.Conflict.
func (e *DeletingError) Is(target error) bool { return target == error(apierrors.Conflict) }
