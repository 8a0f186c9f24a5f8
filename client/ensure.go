package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/gotype"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/overlay"
	"github.com/bowline-go/bowline/internal/shown"
	"github.com/bowline-go/bowline/patch"
)

// Ensure makes the server's object like want, and returns it as the server has it. It creates the object if it does not
// exist. Otherwise Ensure sets the fields of want and keeps everything else: fields that the server has filled in,
// fields that others have set, and fields that T does not name. If the object already has all that want says, Ensure
// sends nothing, so a program may call it as often as it likes.
//
// The sections below have the rules: which fields are wanted, how they are combined with the server's, and which values
// are the same to a server.
//
// Ensure does not remove a label that is no longer in want, nor a finalizer, an owner or any other field.
// EnsureOptions.Absent names the places that must not exist. There is one exception: Ensure removes an element of a
// list with keys, such as a container, that want no longer has, if only this field manager has set it
// (WriteOptions.FieldManager, or the name that the server makes of Config.UserAgent). An element that an admission
// plugin has added stays. If fields must vanish when the configuration no longer has them, use [Resource.Apply].
//
// Ensured reports the outcome, and names the places that the server does not keep. NotKept is not an error: the server
// accepted the write, and the next Ensure writes again. A controller that gets it each time should take the field out
// of want, or report it.
//
// If the live object has a controller that want does not name as its own (see [SetController]), Ensure writes nothing
// and returns a [*ControllerError]. This holds also if want names no controller: a program that ensures a Deployment's
// ReplicaSet fights the Deployment. To add to such an object, an annotation for example, use [Resource.Modify] or
// [Resource.Apply]. Ensure adopts an object without a controller, and sets Ensured.Adopted: the garbage collector then
// deletes the object with its new owner. EnsureOptions.Owned refuses that. After an owner was replaced by one of the
// same name, the error is a ControllerError until the garbage collector has deleted the old owner's object.
//
// Many programs may ensure one object at once: one of them creates it, and no write is lost. If another creates or
// changes the object first, Ensure pauses, longer with each attempt, and reads it again, until ctx ends or 50 attempts
// have failed. The error is then a [*ModifyError], which says which write won.
//
// If the connection breaks during a write, Ensure sends the write again, as [Retry] says, and reads the result. If the
// object then has all that want says, Outcome is that of the write, Created or Updated, although another may have
// written the same.
//
// A uid or resource version in want is a precondition: if the object has another, or does not exist, the error is a
// Conflict, and nothing was written, unless the Conflict is within a [*ModifyError] that says otherwise. An object that
// is being deleted cannot be ensured: the error is a [*DeletingError], which is a Conflict too, until the object is
// gone; then Ensure creates it.
//
// Ensure does not write status. Leave it empty, and write it through [Resource.Status]; change an object that was read,
// or cloned from a cache, with [Resource.Modify]. Ensure leaves out a status that has only zeros. Any other status is a
// [*UsageError], because it would be lost silently. An object without a name is a *UsageError too: with a generateName
// each call would create another object. Ensure does not change want.
//
// In a dry run, Ensured says what Ensure would have done.
//
// # What is wanted
//
// Every field that encoding/json writes is wanted, except null, and except the zero of a field tagged omitempty or
// omitzero, even if encoding/json writes it, as it does for a struct. A pointer to a zero is not a zero. So the value 0
// of a field `json:"replicas"` is wanted, and that of `json:"replicas,omitempty"` is not. A map and a json.RawMessage
// have no tags: all their values are wanted, except null.
//
// Ensure combines a wanted value and the server's in this way:
//   - Objects are merged member by member, including maps such as labels. An object that the API calls atomic is
//     replaced whole: the selectors and references of the built-in kinds. Ensure has no schema of other kinds. In
//     those, it replaces an object that has only matchLabels and matchExpressions, because it is a selector, and an
//     object that want's Go type tags `patchStrategy:"replace"`.
//   - A list with keys, such as containers by name, is merged by its keys. An element gets the values of want and keeps
//     the rest. Wanted elements have want's order. An element that want does not have stays, because an admission
//     plugin may have added it; Ensure removes it if only this field manager has set it, and EnsureOptions.Absent names
//     others. In other kinds, a list has keys if want's Go type tags it `patchStrategy:"merge" patchMergeKey:"name"`.
//   - Any other list becomes as wanted. If the element of the server's list at the same place has all that is wanted,
//     its other members stay. In kinds that are not built in, so do the other members of an element with the same name,
//     if no two elements have the same name.
//   - metadata.finalizers and metadata.ownerReferences become the union of want's and the server's; owners are compared
//     by uid.
//   - If members exclude each other and want sets another one than the server has, the server's is removed. Such
//     members are the sources of a volume and of an environment variable, the actions of a probe or hook, minAvailable
//     and maxUnavailable, the backends and port of an Ingress, and the url and service of a webhook. If want sets
//     another type, Ensure also removes the rollingUpdate of a strategy, the localhostProfile of a seccomp or AppArmor
//     profile, and the queuing of a priority level.
//   - The members of metadata that only a server sets, and status, are not wanted.
//
// # Values that count as equal
//
// A server writes some values in its own way. These are not differences:
//   - Quantities that are the same number. In the built-in kinds this holds at all places where the API has a quantity,
//     however many digits the server keeps of the wanted one; in other kinds, in the requests and limits of resources,
//     in the sizeLimit of an emptyDir, and in the divisor of a resourceFieldRef.
//   - Times that are the same moment, at all places where the API has one in the built-in kinds, and in other kinds in
//     members whose names end in Time or Timestamp. The zero time of a built-in kind equals an absent value.
//   - Base64 of the same bytes, which may have line breaks, such as a caBundle and the data of a Secret, in the
//     built-in kinds.
//   - Numbers with the same floating-point value, except integers of 64 bits.
//
// The stringData of a Secret is compared with its data, and written there. In the built-in kinds, a zero that the
// server does not write equals an absent value (readOnly: false, an empty nodeSelector, an empty list), and a zero that
// the server replaces equals its default (roleRef.apiGroup, a strategy's type). In other kinds, if the server replaces
// a wanted zero, every Ensure sets it again.
//
// The server itself adds to some lists that have no keys, and to one object that is replaced whole. These additions
// stay: the tolerations and the nodeSelector of a Pod, of which no update can remove anything; the taints of a Node
// whose keys begin with node.kubernetes.io/ or node.cloudprovider.kubernetes.io/; the second of a Service's ipFamilies
// and clusterIPs. Name an addition in EnsureOptions.Absent to remove it.
func (r Resource[T]) Ensure(ctx context.Context, want T, o EnsureOptions) (T, Ensured, error) {
	obj, done, err := r.untyped.ensure(ctx, want, o)
	result, _ := obj.(T)
	return result, done, err
}

func (r resource) ensure(ctx context.Context, want meta.Object, o EnsureOptions) (meta.Object, Ensured, error) {
	q := r.request("ensure", meta.Key{})
	if isNil(want) {
		return nil, Ensured{}, q.fail(&UsageError{Err: errors.New("the object must not be nil")})
	}
	q.key = r.bind(meta.KeyOf(want))
	w, err := r.wish(q, want, o)
	if err != nil {
		return nil, Ensured{}, q.fail(err)
	}
	if obj, proved, err := r.unneeded(w, o.Known); err != nil || proved {
		return obj, Ensured{}, q.fail(err)
	}
	var (
		result meta.Object
		done   Ensured
		mine   unanswered
	)
	tries := newAttempts(r, q)
	tries.absent = true
	err = tries.run(ctx, func(was meta.Object, live jsonstream.Item) (lost, err error) {
		write, err := r.ensuring(q, w, live)
		settled := err == nil && write.body == nil && mine.uid != "" && mine.uid == live.UID
		if other := precondition(w.asked, live.Identity); other != nil && !settled { // the version may be our write's
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

// unanswered is a write that may have been made although its answer was lost. The zero value means that there is no
// such write.
type unanswered struct {
	to     Outcome
	uid    string // the uid of the object that the write was made from; empty for a creation
	adopts bool   // the write gave the object a controller
}

// found returns the outcome of a call that finds nothing to change.
func (u unanswered) found(live jsonstream.Item) Outcome {
	if u.uid != "" && u.uid != live.UID {
		return Unchanged
	}
	return u.to
}

// wish checks want and encodes it.
func (r resource) wish(q request, want meta.Object, o EnsureOptions) (*wish, error) {
	w := &wish{want: want, key: q.key}
	if err := r.writesObjects(); err != nil {
		return nil, err
	}
	if err := r.usable(); err != nil {
		return nil, &UsageError{Err: err}
	}
	if q.key.Name == "" {
		return nil, &UsageError{Err: errors.New("metadata.name must be set; use Create for a name that the server generates")}
	}
	if _, err := q.path(); err != nil {
		return nil, &UsageError{Err: err}
	}
	body, err := r.encode(want)
	if err != nil {
		return nil, &UsageError{Err: err}
	}
	item, err := jsonstream.ReadObject(bytes.NewReader(body), r.c.streamOptions(true))
	if err != nil {
		return nil, &UsageError{Err: publicError(err)}
	}
	var parts struct{ Status any }
	if err := json.Unmarshal(body, &parts); err != nil {
		return nil, &UsageError{Err: err}
	}
	if !isEmpty(parts.Status) {
		return nil, &UsageError{Err: errStatus}
	}
	w.asked, w.owner, w.owned = item.Identity, controllerIn(body), o.Owned
	if w.owned && w.owner == nil {
		return nil, &UsageError{Err: errors.New("client.EnsureOptions: Owned must be false for an object that names no controller; see SetController")}
	}
	w.overlay = overlay.Options{Absent: o.Absent, Manager: r.manager()}
	created, _, err := overlay.Apply(nil, want, w.overlay)
	if err == nil {
		w.body, err = r.encode(created)
	}
	if err != nil {
		return nil, &UsageError{Err: err}
	}
	return w, nil
}

// ensuring returns the request that makes live have all that is wanted, or a request without a body if it already has.
func (r resource) ensuring(q request, w *wish, live jsonstream.Item) (request, error) {
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

// outcome returns what a write did to an object.
func (r resource) outcome(was, is jsonstream.Item) Outcome {
	switch {
	case was.Raw == nil:
		return Created
	case is.ResourceVersion == was.ResourceVersion && (!r.write.DryRun || sameContents(was.Raw, is.Raw)):
		return Unchanged
	}
	return Updated
}

var errNoVersion = errors.New("server sent the object without a uid or a resource version, so that it cannot be written safely")

// sameContents compares two states of an object, apart from the fields that a server changes with each write.
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

// preconditionError says that the object has another uid or resource version than the caller asked for, or does not
// exist. It is a Conflict for errors.Is.
type preconditionError string

func (e preconditionError) Error() string { return string(e) }

// Is reports whether target is apierrors.Conflict.
func (e preconditionError) Is(target error) bool { return target == error(apierrors.Conflict) }

// precondition returns an error if the object is not the one that was asked for.
func precondition(asked, live meta.Identity) error {
	for _, f := range [...]struct{ name, want, live string }{
		{"uid", asked.UID, live.UID}, {"resourceVersion", asked.ResourceVersion, live.ResourceVersion},
	} {
		switch {
		case f.want == "" || f.want == f.live:
		case f.live == "":
			return preconditionError(fmt.Sprintf("metadata.%s must be %q, but the object does not exist", f.name, shown.Text(f.want)))
		default:
			return preconditionError(fmt.Sprintf("metadata.%s must be %q, but the object has %q", f.name, shown.Text(f.want), shown.Text(f.live)))
		}
	}
	return nil
}

// DeletingError says that an object is being deleted, so that it cannot be ensured and gets no further finalizer.
// errors.Is matches it with apierrors.Conflict, because a later call can succeed once the object is gone.
type DeletingError struct {
	// Finalizers are the object's finalizers, which it waits for.
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

// The options and the result of Ensure.

// EnsureOptions choose what Ensure does besides setting the fields of the object. With the zero value it does nothing
// else, and reads the object from the server.
type EnsureOptions struct {
	// Absent are JSON pointers to places that must not exist: a label, an annotation, a field, the element of a list.
	// The wanted object itself cannot express that a place must be empty, and must have nothing at these places. An
	// element of a list is named by its members, as in "/spec/template/spec/containers/name=proxy" or
	// "/spec/ports/port=80,protocol=TCP", and a scalar by "=" and its value, as in
	// "/metadata/finalizers/=example.com~1old"; an index is an error. A place that is already empty is no error.
	Absent []string
	// Owned makes Ensure change an object only if the controller that want names controls it already. If the object
	// exists without a controller, such as one that a user has made, Ensure writes nothing and returns a
	// [*ControllerError]; otherwise Ensure would adopt it. If want names no controller, the error is a [*UsageError].
	Owned bool
	// Known is the object as the caller knows it, such as from a cache: a T, or JSON, as a json.RawMessage, a map or a
	// value that encodes itself. If it proves that the server has all that is wanted, Ensure sends nothing and returns
	// a copy of it, so that a resync of a thousand unchanged objects costs no request. In any other case Ensure reads
	// the object from the server. So a Known that is out of date does no harm, but call Ensure again when the watch
	// brings the cache up to date. Nil, or a nil T such as a cache returns for an object that it does not have, means
	// that nothing is known.
	//
	// A T proves only what it can represent. Ensure reads the object from the server every time in these cases:
	//   - T lacks metadata.deletionTimestamp or metadata.ownerReferences, which [meta.ObjectMeta] has, because an
	//     object that is being deleted, or that another controls, is an error.
	//   - A zero is wanted where a plain field is zero in Known, because the field is also zero if the server has
	//     nothing there. Make the field a pointer where that matters. Fields that the server always has, such as the
	//     replicas of a Deployment, are known.
	//   - An object is replaced whole, such as a selector, and T has only some of its members.
	//   - T has no field for a path of Absent, or leaves out the field's zero.
	//
	// A Known from an informer whose transform removes a part of the object may prove too much: the transform must keep
	// everything that is wanted, and everything beside it in the same object.
	Known any
}

// Outcome is what [Resource.Ensure] has done.
type Outcome int

const (
	// Unchanged is the zero value: the server already had all that was wanted, and its object is as it was.
	Unchanged Outcome = iota
	// Created says that the object did not exist, and that the server keeps all that was wanted.
	Created
	// Updated says that the object has a new resource version, and all that was wanted.
	Updated
	// NotKept says that the server accepted the write, but that its answer differs from what was wanted: it has a
	// default, a value of an admission plugin, or a field that cannot be changed. The next Ensure will write again,
	// probably without effect. [Resource.Ensure] says which additions of the server are no difference, such as those to
	// the tolerations of a pod.
	NotKept
)

// String returns "Unchanged", "Created", "Updated" or "NotKept".
func (o Outcome) String() string {
	return shown.Name("Outcome", int(o), "Unchanged", "Created", "Updated", "NotKept")
}

// Ensured reports what [Resource.Ensure] has done. The zero value means that there was nothing to do.
type Ensured struct {
	Outcome Outcome
	// NotKept are JSON pointers to the places where the server's object differs from the wanted one, at most 100, if
	// Outcome is NotKept. Elements of lists are named as in EnsureOptions.Absent.
	NotKept []string
	// New is set if the object did not exist, also if Outcome is NotKept.
	New bool
	// Adopted is set if the object existed without a controller, and now has the wanted one.
	Adopted bool
}

// String returns, for example, "Updated, adopted" or "NotKept: /spec/replicas".
func (e Ensured) String() string {
	text := e.Outcome.String()
	if e.Adopted {
		text += ", adopted"
	}
	if len(e.NotKept) > 0 {
		text += ": " + shown.Text(strings.Join(e.NotKept, ", "))
	}
	return text
}

// wish is a checked and encoded want.
type wish struct {
	want    meta.Object
	body    []byte        // the body that creates the object
	asked   meta.Identity // the identity in want
	key     meta.Key
	owner   *meta.OwnerReference // the controller that want names
	owned   bool                 // EnsureOptions.Owned
	overlay overlay.Options
}

// over returns live with all wanted values set, and the places where live has other values.
func (w *wish) over(live jsonstream.Item) (json.RawMessage, []string, error) {
	return overlay.Apply(json.RawMessage(live.Raw), w.want, w.overlay)
}

// controlled returns an error if live has another controller than the one that want names. If EnsureOptions.Owned is
// set, it also returns an error if live has no controller.
func (w *wish) controlled(live jsonstream.Item) error {
	present := controllerIn(live.Raw)
	switch {
	case present == nil && w.owned:
		return &ControllerError{child: w.key, refused: *w.owner}
	case present == nil:
		return nil
	case w.owner == nil:
		return &ControllerError{Present: *present, child: w.key}
	case w.owner.UID != present.UID:
		return &ControllerError{Present: *present, child: w.key, refused: *w.owner}
	}
	return nil
}

// controllerIn returns the controller of an object, nil if it has none.
func controllerIn(object []byte) *meta.OwnerReference {
	var o struct {
		meta.OwnerMeta `json:"metadata"`
	}
	if json.Unmarshal(object, &o) != nil {
		return nil
	}
	for i, r := range o.OwnerReferences {
		if r.Controller != nil && *r.Controller {
			return &o.OwnerReferences[i]
		}
	}
	return nil
}

// ensured reports what a write has done, from the object before it (was) and after it (is).
func (r resource) ensured(w *wish, was, is jsonstream.Item) (Ensured, error) {
	done := Ensured{Outcome: r.outcome(was, is), New: was.Raw == nil}
	done.Adopted = was.Raw != nil && w.owner != nil && controllerIn(was.Raw) == nil && controllerIn(is.Raw) != nil
	_, missing, err := w.over(is)
	if err != nil {
		return done, fmt.Errorf("compare the wanted object with the stored one: %w", err)
	}
	if len(missing) > 0 {
		done.Outcome, done.NotKept = NotKept, missing
	}
	return done, nil
}

// unneeded returns the object that the caller knows if it proves that there is nothing to do.
func (r resource) unneeded(w *wish, known any) (_ meta.Object, proved bool, err error) {
	if isNil(known) {
		return nil, false, nil
	}
	item, err := r.knownAsT(w.key, known)
	if err != nil {
		return nil, false, &UsageError{Err: fmt.Errorf("client.EnsureOptions: Known: %w", err)}
	}
	if !saysAll(known, w.overlay.Absent) || !saysHolds(known) {
		return nil, false, nil
	}
	if _, err := readHold(item); err != nil || precondition(w.asked, item.Identity) != nil || w.controlled(item) != nil {
		return nil, false, nil
	}
	o := w.overlay
	o.Cached = known
	_, missing, err := overlay.Apply(json.RawMessage(item.Raw), w.want, o)
	if err != nil || len(missing) > 0 {
		return nil, false, nil
	}
	obj, err := r.decodeUnchecked(item)
	return obj, err == nil, nil
}

// manager returns the field manager of the handle's writes. The server takes at most maxFieldManager bytes from the
// User-Agent, so no field has a manager with a longer name.
func (r resource) manager() string {
	if r.write.FieldManager != "" {
		return r.write.FieldManager
	}
	name, _, _ := strings.Cut(r.c.userAgent, "/")
	return name
}

var errStatus = errors.New("status must be empty, because Ensure does not write it: use Status().Modify or Status().Apply; to change an object that was read, or cloned from a cache, use Modify")

// A Go type without a field for a place never has a value there. So its object does not prove that the server's object
// has no value there either.

// saysAll reports whether the type of known has a field for each of the JSON pointers, which have the form of
// EnsureOptions.Absent.
func saysAll(known any, pointers []string) bool {
	for _, pointer := range pointers {
		if names, err := patch.ParsePointer(pointer); err != nil || !gotype.Says(reflect.TypeOf(known), names) {
			return false
		}
	}
	return true
}

// saysHolds reports whether the type of known can represent what prevents Ensure: a deletion and a controller.
func saysHolds(known any) bool {
	t := reflect.TypeOf(known)
	return gotype.Says(t, []string{"metadata", "deletionTimestamp"}) && gotype.Says(t, []string{"metadata", "ownerReferences", "uid="}) &&
		gotype.Says(t, []string{"metadata", "ownerReferences", "", "controller"})
}
