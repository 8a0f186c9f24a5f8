package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/retry"
	"github.com/bowline-go/bowline/internal/shown"
)

// WaitFor waits until a condition is met for one object, which need not exist yet, and returns the object in the state that
// met it, or the zero T where it does not exist then. It lists the object once and watches it from there, so no state in
// between is missed: a state that comes and goes while WaitFor runs meets the condition. The client needs the permission to
// list and to watch; for that object alone is enough.
//
// A watch that ends or breaks is resumed where it was, after a short random time that grows while nothing works, to 10 s,
// and is never shorter than what the server asks for. Where the server has forgotten the version (410) the object is listed
// again; states in between are then lost, except that an object that was replaced by another of its name is first seen not
// to exist.
//
// What the server does not allow, does not know or finds wrong with the request ends the wait at once if it is the first
// thing that the server says: Unauthorized, Forbidden, NotFound of the resource, and other answers of 4xx that would be the
// same again. Once an object or its absence has been read they are waited out like everything else, because a server that
// restarts says such things for a moment. [UntilCreated] waits for the resource too. Without an end of ctx, WaitFor may
// wait for ever.
//
// Every error is a [*WaitError], which says what was seen last. An error of the condition is final. The condition is asked
// about the object as it is on the wire, whatever T keeps of it, and also if r is a handle of [Metadata].
func WaitFor[T meta.Object](ctx context.Context, r Resource[T], key meta.Key, cond Condition) (T, error) {
	w := &wait{
		r:    retyped[*sight](r),
		key:  key,
		cond: cond,
		fail: &WaitError{Resource: r.GVR(), Key: key, Condition: cond.Name},
		pace: retry.New(retry.Policy{Base: 200 * time.Millisecond, Max: 10 * time.Second}),
	}
	var none T
	if err := w.validate(); err != nil {
		return none, w.failed(&UsageError{Err: err})
	}
	got, err := w.run(ctx)
	if err != nil || got == nil {
		return none, err
	}
	obj, err := r.decodeUnchecked(got.item())
	if err != nil {
		return none, w.failed(err)
	}
	return obj, nil
}

// WaitError says what was waited for, why the wait ended without it, and what was seen last.
type WaitError struct {
	// Resource and Key say which object.
	Resource meta.GVR
	Key      meta.Key
	// Condition is the name of the condition.
	Condition string
	// Seen says that the server has been read at least once. ResourceVersion then is that of the object's last state, or of
	// the list that it was not in, and State says that state in the condition's words.
	Seen            bool
	ResourceVersion string
	State           string
	// Last is why the server could not be read any more, if it could not when the wait ended.
	Last error
	// Err is why the wait ended: that of the context, of the condition, or of the server.
	Err error
}

// Error returns, for example, `wait for pods "web/a" to be ready: context deadline exceeded; last seen: phase Pending
// (resource version "12")`.
func (e *WaitError) Error() string {
	op := OpError{Verb: "wait for", Resource: e.Resource, Key: e.Key}
	text := fmt.Sprintf("%s to be %s: %v", op.where(), e.Condition, e.Err)
	switch {
	case e.Seen:
		text += fmt.Sprintf("; last seen: %s (resource version %q)", e.State, shown.Text(e.ResourceVersion))
	case e.Last != nil:
		text += "; nothing was seen"
	}
	if e.Last != nil {
		text += fmt.Sprintf("; last error: %v", e.Last)
	}
	return text
}

// Unwrap returns why the wait ended.
func (e *WaitError) Unwrap() error { return e.Err }

// sight is a state of an object: decoded as far as conditions need it, and its JSON for T.
type sight struct {
	meta.Raw
	text []byte
}

// UnmarshalJSON keeps a copy of b.
func (s *sight) UnmarshalJSON(b []byte) error {
	s.text = slices.Clone(b)
	return s.Raw.UnmarshalJSON(b)
}

// item returns the object as it came, which may not have been with its kind.
func (s *sight) item() jsonstream.Item {
	return jsonstream.Item{Identity: s.Identity(), Raw: s.text}
}

// wait is one call of WaitFor. It runs on the goroutine that called.
type wait struct {
	r    Resource[*sight]
	key  meta.Key
	cond Condition
	fail *WaitError
	pace *retry.Backoff

	selector string // of the object
	now      *sight // the object as it was seen last; nil where it did not exist
	version  string // where to watch from; empty where the object is to be listed
	met      bool
}

func (w *wait) validate() error {
	switch {
	case w.cond.Met == nil:
		return errors.New("client.Condition: Met is nil")
	case w.cond.Name == "":
		return errors.New("client.Condition: Name is empty")
	}
	if err := w.r.usable(); err != nil {
		return err
	}
	q := w.r.request("get", w.key)
	w.key, w.fail.Key = q.key, q.key // in the namespace of the handle, if that has one
	if _, err := q.path(); err != nil {
		return err
	}
	selector, err := meta.NewFieldSelector(meta.FieldEquals("metadata.name", w.key.Name))
	w.selector = selector.String()
	return err
}

// run waits. The object that it returns is nil where it does not exist.
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
		stop, usage := (*conditionError)(nil), (*UsageError)(nil)
		switch {
		case w.met:
			return w.now, nil
		case errors.As(err, &stop):
			return nil, w.failed(stop.err)
		case ctx.Err() != nil:
			return nil, w.failed(conn.ContextError(ctx))
		case errors.As(err, &usage), !w.fail.Seen && w.hopeless(err):
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
		// Some servers end a watch at once and without a word where the version is too old.
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

// list reads the object as it is now, and where to watch from.
func (w *wait) list(ctx context.Context) error {
	o := ListOptions{Namespace: w.key.Namespace, FieldSelector: w.selector}
	var found *sight
	m, err := w.r.ListEach(ctx, o, nil, func(item Item[*sight]) error {
		if item.Identity.Key() != w.key { // a server that ignores the selector
			return nil
		}
		found = item.Object
		return w.r.listRequest(o).fail(item.Err)
	})
	switch {
	case err != nil:
		return err
	case m.ResourceVersion == "":
		return w.r.listRequest(o).fail(errors.New("server sent a list without a resource version"))
	}
	w.version = m.ResourceVersion
	return w.see(found, m.ResourceVersion)
}

// watch follows the object from w.version until the watch ends. It is fruitful if anything came, or if it lasted.
func (w *wait) watch(ctx context.Context) (fruitful bool, err error) {
	// The server ends the watch after a few minutes, and if it does not, because it cannot be heard any more, this side does.
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
		case e.Err != nil: // its next state may be better
			w.fail.Last = w.r.watchRequest(WatchOptions{Namespace: w.key.Namespace}).fail(e.Err)
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

// see takes what the server says of the object, and returns why no more of it is wanted, if that is so. obj is nil where
// the object does not exist.
func (w *wait) see(obj *sight, version string) error {
	w.fail.Seen, w.fail.Last = true, nil
	if obj != nil && w.now != nil && obj.UID != w.now.UID {
		if err := w.judge(nil, version); err != nil { // it must have been deleted in between
			return err
		}
	}
	return w.judge(obj, version)
}

func (w *wait) judge(obj *sight, version string) (err error) {
	w.now = obj
	var raw *meta.Raw
	w.fail.ResourceVersion = version
	state := "it does not exist"
	if obj != nil {
		raw, w.fail.ResourceVersion, state = &obj.Raw, obj.ResourceVersion, "it exists"
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

// errMet ends a list or watch because nothing more is wanted of it; nobody else sees it.
var errMet = errors.New("the condition is met")

// conditionError tells an error of the condition from those of the server.
type conditionError struct{ err error }

// Error implements error.
func (e *conditionError) Error() string { return e.err.Error() }

// hopeless reports whether an error that is the first thing to be heard of the server would be the same again.
func (w *wait) hopeless(err error) bool {
	if errors.Is(err, WrongKind) {
		return true
	}
	status := (*apierrors.StatusError)(nil)
	if !errors.As(err, &status) {
		untrusted := (*tls.CertificateVerificationError)(nil)
		return errors.As(err, &untrusted)
	}
	switch code := status.Status.Code; code {
	case http.StatusRequestTimeout, http.StatusGone, http.StatusTooManyRequests:
		return false
	case http.StatusNotFound:
		return !w.cond.AwaitResource
	default:
		return code >= 400 && code <= 499 || code == http.StatusNotImplemented
	}
}

// outlived reports whether an error means that a watch cannot be resumed where it was: the object is to be listed again.
func outlived(err error) bool {
	event, status := (*EventError)(nil), (*apierrors.StatusError)(nil)
	answered, inStream := errors.As(err, &status), errors.As(err, &event)
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
