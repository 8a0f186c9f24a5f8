package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/shown"
	"github.com/bowline-go/bowline/patch"
)

// This file is what Ensure is asked beside the object, and what it says that it has done.

// EnsureOptions choose what an Ensure does beside what the object says. The zero value only sets, and reads from the server.
type EnsureOptions struct {
	// Absent are JSON pointers to what must not be there, since an object can only say what is to be: a label, an annotation, a
	// field, the element of a list. [patch.OverlayOptions] tells how an element is named, as in
	// "/spec/template/spec/containers/name=proxy". The object must not say anything there.
	Absent []string
	// Known is the object as the caller knows it, such as from a cache: a T, or JSON, as a json.RawMessage, a map or a value that encodes
	// itself. If it proves that the server has all that is wanted, Ensure sends nothing and returns a copy of it, so that a resync of a
	// thousand unchanged objects costs no request. In any other case the object is read from the server, so that a Known that is out of
	// date does no harm; the watch that will bring the cache up to date is the reason to ensure again. Nil changes nothing.
	//
	// A T proves as much as it can say, and each of these is read from the server every time:
	//   - any object, unless T has metadata.deletionTimestamp and metadata.ownerReferences, as [meta.ObjectMeta] has, because an object
	//     that is being deleted, or that another controls, is an error;
	//   - a zero that is wanted where a plain field is zero in Known, since it is zero too if the server has nothing there; make the
	//     field a pointer where that matters. Fields that the server always has, such as the replicas of a Deployment, are known;
	//   - an object that is replaced whole, such as a selector, of which T has some of the members only;
	//   - a path of Absent for which T has no field, or one whose zero is left out.
	//
	// An informer whose transform takes something out of an object leaves a Known that may prove too much: it must keep what is wanted
	// and what is beside it in the same object.
	Known any
}

// Outcome is what [Resource.Ensure] has done.
type Outcome int

const (
	// Unchanged is the zero value: the server had it all, and has the object as it was.
	Unchanged Outcome = iota
	// Created says that there was no such object, and that the server keeps all that was wanted.
	Created
	// Updated says that the object has another resource version now, and all that was wanted.
	Updated
	// NotKept says that the server took the write, and that its answer is still not what was wanted: another value is a default, is
	// set by an admission plugin, or cannot be changed. The next Ensure will write again, and likely in vain: a pod with tolerations of
	// its own, for example, gets two more, and the list is not the one that was wanted.
	NotKept
)

// String returns "Unchanged", "Created", "Updated" or "NotKept".
func (o Outcome) String() string {
	names := [...]string{"Unchanged", "Created", "Updated", "NotKept"}
	if o >= 0 && int(o) < len(names) {
		return names[o]
	}
	return fmt.Sprintf("Outcome(%d)", int(o))
}

// Ensured says what [Resource.Ensure] has done. The zero value is that nothing had to be done.
type Ensured struct {
	Outcome Outcome
	// NotKept are JSON pointers to what the server has otherwise than wanted, at most 100, if Outcome is NotKept; elements of lists
	// are named as in EnsureOptions.Absent.
	NotKept []string
	// New is set if there was no such object, also if Outcome is NotKept.
	New bool
	// Adopted is set if the object was there without a controller, and has the one that was wanted now.
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

// wish is what an Ensure is asked for.
type wish[T meta.Object] struct {
	want    T
	body    []byte        // what is sent where there is no object
	asked   meta.Identity // as want says it
	key     meta.Key
	owner   *meta.OwnerReference // the controller that want names
	overlay patch.OverlayOptions
}

// over returns the object with all that is wanted, and what is not so in live.
func (w *wish[T]) over(live jsonstream.Item) (json.RawMessage, []string, error) {
	return patch.Overlay(json.RawMessage(live.Raw), w.want, w.overlay)
}

// controlled returns an error if another object controls live than the one that want names.
func (w *wish[T]) controlled(live jsonstream.Item) error {
	present := controllerIn(live.Raw)
	switch {
	case present == nil:
		return nil
	case w.owner == nil:
		return &ControllerError{Child: w.key, Present: *present}
	case w.owner.UID != present.UID:
		return &ControllerError{Child: w.key, Present: *present, Refused: *w.owner}
	}
	return nil
}

// controllerIn returns the controller of an object, nil if it has none.
func controllerIn(object []byte) *meta.OwnerReference {
	var o struct {
		Metadata struct {
			OwnerReferences []meta.OwnerReference `json:"ownerReferences"`
		} `json:"metadata"`
	}
	if json.Unmarshal(object, &o) != nil {
		return nil
	}
	for i, r := range o.Metadata.OwnerReferences {
		if r.Controller != nil && *r.Controller {
			return &o.Metadata.OwnerReferences[i]
		}
	}
	return nil
}

// ensured returns what was done by a write that made an object, which was, what it is now.
func (r Resource[T]) ensured(w *wish[T], was, is jsonstream.Item) (Ensured, error) {
	done := Ensured{Outcome: r.outcome(was, is), New: was.Raw == nil}
	done.Adopted = was.Raw != nil && w.owner != nil && controllerIn(was.Raw) == nil && controllerIn(is.Raw) != nil
	_, missing, err := w.over(is)
	if err != nil {
		return done, fmt.Errorf("tell what the server has kept: %w", err)
	}
	if len(missing) > 0 {
		done.Outcome, done.NotKept = NotKept, missing
	}
	return done, nil
}

// unneeded returns the object that the caller knows if that proves that there is nothing to do.
func (r Resource[T]) unneeded(w *wish[T], known any) (_ T, proved bool, err error) {
	var none T
	if isNil(known) {
		return none, false, nil
	}
	item, err := r.knownAsT(w.key, known)
	if err != nil {
		return none, false, &UsageError{Err: fmt.Errorf("client.EnsureOptions: Known: %w", err)}
	}
	if !saysAll(known, w.overlay.Absent) || !saysHolds(known) {
		return none, false, nil
	}
	if _, err := readHold(item); err != nil || precondition(w.asked, item.Identity) != nil || w.controlled(item) != nil {
		return none, false, nil
	}
	overlay := w.overlay
	overlay.Cached = known
	_, missing, err := patch.Overlay(json.RawMessage(item.Raw), w.want, overlay)
	if err != nil || len(missing) > 0 {
		return none, false, nil
	}
	obj, err := r.decodeUnchecked(item)
	return obj, err == nil, nil
}

// only returns the options of a call that takes them at most once.
func only[O any](options []O) (o O, err error) {
	switch len(options) {
	case 0:
		return o, nil
	case 1:
		return options[0], nil
	}
	return o, &UsageError{Err: fmt.Errorf("at most one %T may be given, got %d", o, len(options))}
}

// manager returns the name under which the server records what the handle writes; empty if the server may make up another one.
func (r Resource[T]) manager() string {
	if r.write.FieldManager != "" {
		return r.write.FieldManager
	}
	name, _, _ := strings.Cut(r.c.userAgent, "/")
	if len(name) > maxFieldManager {
		return ""
	}
	return name
}

var errStatus = errors.New("status must be empty, since Ensure does not write it: write it with Status().Modify or Status().Apply, and change an object that was read, or cloned from a cache, with Modify")
