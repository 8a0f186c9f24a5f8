package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/retry"
	"github.com/bowline-go/bowline/internal/shown"
)

// WaitFor waits until one object meets a condition, and returns the object in the state that met it, or the zero T if
// it does not exist then. The object need not exist at first. WaitFor lists the object once and watches it from there,
// so it misses no state in between: a state that comes and goes while WaitFor runs meets the condition. The client
// needs permission to list and watch that object.
//
// If a watch ends or breaks, WaitFor resumes it from the last version, after a short random time. The time grows to 10
// s while nothing works, and is never shorter than the server asks for. If the server no longer has the version (410),
// WaitFor lists the object again. It then misses the states in between, with one exception: if another object of the
// same name has replaced the object, the condition first sees that the object does not exist.
//
// Some refusals end the wait at once if they are the server's first answer: Unauthorized, Forbidden, NotFound of the
// resource, and other answers of 4xx that would be the same again. After WaitFor has read the object or its absence, it
// waits such refusals out like any other failure, because a server that restarts sends them for a moment.
// [UntilCreated] also waits for the resource. If ctx never ends, WaitFor may wait forever.
//
// Every error is a [*WaitError], which has the last state that was seen. An error of the condition is final. The
// condition sees the whole object as it is on the wire, even if T has only some of its fields, and even if r is a
// handle of [Metadata].
func WaitFor[T meta.Object](ctx context.Context, r Resource[T], key meta.Key, cond Condition) (T, error) {
	return typed[T](r.untyped.waitFor(ctx, key, cond))
}

func (r resource) waitFor(ctx context.Context, key meta.Key, cond Condition) (meta.Object, error) {
	w := &wait{
		r:    Resource[*sight]{r.retype(reflect.TypeFor[*sight]())},
		key:  key,
		cond: cond,
		fail: &WaitError{Resource: r.t.GVR(), Key: key, condition: cond.Name},
		pace: retry.New(retry.Policy{Base: 200 * time.Millisecond, Max: 10 * time.Second}),
	}
	if err := w.validate(); err != nil {
		return nil, w.failed(&UsageError{Err: err})
	}
	got, err := w.run(ctx)
	if err != nil || got == nil {
		return nil, err
	}
	obj, err := r.decodeUnchecked(got.item())
	if err != nil {
		return nil, w.failed(err)
	}
	return obj, nil
}

// WaitError is the error of a [WaitFor] that ended before the condition was met.
type WaitError struct {
	// Resource and Key name the object.
	Resource meta.GVR
	Key      meta.Key
	// State describes the object's last state in the condition's words. It is empty if the server has not been read.
	State string
	// Last is the error of the last read, if the server could not be read when the wait ended.
	Last error
	// Err is the reason why the wait ended: the error of the context, of the condition, or of the server.
	Err error

	condition string
	seen      bool   // the server has been read
	version   string // the version of the last state, or of the list that did not have the object
}

// Error returns, for example, `wait for pods "web/a" to be ready: context deadline exceeded; last seen: phase Pending
// (resource version "12")`.
func (e *WaitError) Error() string {
	op := OpError{Verb: "wait for", Resource: e.Resource, Key: e.Key}
	text := fmt.Sprintf("%s to be %s: %v", op.where(), e.condition, e.Err)
	switch {
	case e.seen:
		text += fmt.Sprintf("; last seen: %s (resource version %q)", e.State, shown.Text(e.version))
	case e.Last != nil:
		text += "; nothing was seen"
	}
	if e.Last != nil {
		text += fmt.Sprintf("; last error: %v", e.Last)
	}
	return text
}

// Unwrap returns the reason why the wait ended.
func (e *WaitError) Unwrap() error { return e.Err }

// sight is a state of an object: the part that conditions need, decoded, and the JSON for T.
type sight struct {
	meta.Raw
	text []byte
}

// UnmarshalJSON keeps a copy of b.
func (s *sight) UnmarshalJSON(b []byte) error {
	s.text = slices.Clone(b)
	return s.Raw.UnmarshalJSON(b)
}

// item returns the object as it arrived; an object from a list may have no kind.
func (s *sight) item() jsonstream.Item {
	return jsonstream.Item{Identity: s.Identity(), Raw: s.text}
}

// wait is one call of WaitFor. It runs on the calling goroutine.
type wait struct {
	r    Resource[*sight]
	key  meta.Key
	cond Condition
	fail *WaitError
	pace *retry.Backoff

	selector string // the field selector of the object
	now      *sight // the object's last state; nil if it did not exist
	version  string // the version to watch from; empty if the object must be listed
	met      bool
}

func (w *wait) validate() error {
	switch {
	case w.cond.Met == nil:
		return errors.New("client.Condition: Met must be set")
	case w.cond.Name == "":
		return errors.New(`client.Condition: Name must be set, such as "ready"`)
	}
	if err := w.r.untyped.usable(); err != nil {
		return err
	}
	q := w.r.untyped.request("get", w.key)
	w.key, w.fail.Key = q.key, q.key // the key in the handle's namespace, if the handle has one
	if _, err := q.path(); err != nil {
		return err
	}
	selector, err := meta.NewFieldSelector(meta.FieldTerm{Field: "metadata.name", Value: w.key.Name})
	w.selector = selector.String()
	return err
}

// run waits. It returns nil if the object does not exist.
func (w *wait) run(ctx context.Context) (*sight, error) {
	for barren := 0; ; {
		var err error
		var fruitful bool
		listing := w.version == ""
		if listing {
			err = w.list(ctx)
		} else if fruitful, err = w.watch(ctx); fruitful {
			w.pace.Reset()
		}
		stop, stopped := errors.AsType[*conditionError](err)
		switch {
		case w.met:
			return w.now, nil
		case stopped:
			return nil, w.failed(stop.err)
		case ctx.Err() != nil:
			return nil, w.failed(conn.ContextError(ctx))
		case errors.As(err, new(*UsageError)), !w.fail.seen && w.hopeless(err):
			w.fail.Last = nil
			return nil, w.failed(err)
		case listing && err == nil:
			continue
		case err != nil:
			w.fail.Last = err
		}
		if barren++; fruitful || err != nil {
			barren = 0
		}
		// Some servers end a watch at once, without an error, if the version is too old.
		if barren >= 3 || outlived(err) {
			w.version, barren = "", 0
		}
		floor, _ := apierrors.RetryAfter(err)
		if retry.Sleep(ctx, w.pace.Next(floor)) != nil {
			return nil, w.failed(conn.ContextError(ctx))
		}
	}
}

func (w *wait) failed(err error) error {
	w.fail.Err = err
	return w.fail
}

// list reads the object as it is now, and the version to watch from.
func (w *wait) list(ctx context.Context) error {
	o := ListOptions{Namespace: w.key.Namespace, FieldSelector: w.selector}
	var found *sight
	m, err := w.r.ListEach(ctx, o, nil, func(item Item[*sight]) error {
		if item.Identity.Key() != w.key { // the server ignores the selector
			return nil
		}
		found = item.Object
		return w.r.untyped.listRequest(o).fail(item.Err)
	})
	switch {
	case err != nil:
		return err
	case m.ResourceVersion == "":
		return w.r.untyped.listRequest(o).fail(errors.New("server sent a list without a resource version"))
	}
	w.version = m.ResourceVersion
	return w.see(found, m.ResourceVersion)
}

// watch follows the object from w.version until the watch ends. fruitful is set if an event arrived, or if the watch
// lasted.
func (w *wait) watch(ctx context.Context) (fruitful bool, err error) {
	// The server ends the watch after a few minutes. If the connection is dead, the server cannot end the watch, so the
	// client does.
	const long, slack = 2 * time.Minute, 15 * time.Second
	timeout := (long + rand.N(long)).Truncate(time.Second)
	watching, cancel := context.WithTimeout(ctx, timeout+slack)
	defer cancel()
	start := time.Now()
	err = w.r.WatchEach(watching, WatchOptions{
		Namespace: w.key.Namespace, FieldSelector: w.selector, ResourceVersion: w.version, Bookmarks: true, Timeout: timeout,
	}, nil, func(e Event[*sight]) error {
		fruitful, w.version, w.fail.Last = true, e.Identity.ResourceVersion, nil
		switch {
		case e.Type == Bookmark, e.Identity.Key() != w.key:
			return nil
		case e.Err != nil: // the next state may decode
			w.fail.Last = w.r.untyped.watchRequest(WatchOptions{Namespace: w.key.Namespace}).fail(e.Err)
			return nil
		case e.Type == Deleted:
			return w.see(nil, w.version)
		}
		return w.see(e.Object, w.version)
	})
	if ctx.Err() == nil && watching.Err() != nil {
		err = nil
	}
	return fruitful || time.Since(start) >= slack, err
}

// see handles a state of the object, and returns an error if the wait is over. obj is nil if the object does not exist.
func (w *wait) see(obj *sight, version string) error {
	w.fail.seen, w.fail.Last = true, nil
	if obj != nil && w.now != nil && obj.UID != w.now.UID {
		if err := w.judge(nil, version); err != nil { // the first object was deleted in between
			return err
		}
	}
	return w.judge(obj, version)
}

func (w *wait) judge(obj *sight, version string) (err error) {
	w.now = obj
	var raw *meta.Raw
	w.fail.version = version
	state := "it does not exist"
	if obj != nil {
		raw, w.fail.version, state = &obj.Raw, obj.ResourceVersion, "it exists"
	}
	met, said, err := w.cond.Met(raw)
	w.fail.State = cmp.Or(shown.Text(said), state)
	switch {
	case err != nil:
		return &conditionError{err}
	case met:
		w.met = true
		return errMet
	}
	return nil
}

// errMet ends a list or watch because the condition is met. WaitFor does not return it.
var errMet = errors.New("the condition is met")

// conditionError distinguishes an error of the condition from those of the server.
type conditionError struct{ err error }

// Error implements error.
func (e *conditionError) Error() string { return e.err.Error() }

// hopeless reports whether err, which came before the server has been read, ends the wait: a retry would fail in the
// same way.
func (w *wait) hopeless(err error) bool {
	if errors.Is(err, WrongKind) {
		return true
	}
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		return errors.As(err, new(*tls.CertificateVerificationError))
	}
	switch code := status.Status.Code; code {
	case http.StatusRequestTimeout, http.StatusGone, http.StatusTooManyRequests:
		return false
	case http.StatusNotFound:
		return !w.cond.awaitResource
	default:
		return code >= 400 && code <= 499 || code == http.StatusNotImplemented
	}
}

// outlived reports whether an error means that a watch cannot be resumed, so that the object must be listed again.
func outlived(err error) bool {
	inStream := errors.As(err, new(*EventError))
	status, answered := errors.AsType[*apierrors.StatusError](err)
	switch {
	case errors.Is(err, WrongKind), inStream && !answered, apierrors.IsTooLargeResourceVersion(err):
		return true
	case !answered:
		return false
	}
	switch code := status.Status.Code; code {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	default:
		return code < 500 || inStream
	}
}
