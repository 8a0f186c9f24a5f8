package clienttest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest/internal/recording"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// recordedStream lists and watches one resource, in all namespaces or in one.
type recordedStream struct {
	*recordRun
	name     recording.Stream
	resource *recording.Resource
	handle   client.Resource[*recordedObject]
	known    *recording.Known

	failures int    // in a row
	watched  bool   // the server has accepted a watch
	lost     string // the version before the gap
}

func newRecordedStream(r *recordRun, name recording.Stream) *recordedStream {
	res := r.header.Resource(name.Resource)
	kind := client.Type[*recordedObject]{
		Group: res.Group, Version: res.Version, Kind: res.Kind, Resource: res.Resource, JSON: true,
	}
	if !res.Namespaced {
		kind.Scope = meta.Cluster
	}
	return &recordedStream{recordRun: r, name: name, resource: res, handle: client.For(r.c, kind)}
}

// permitted asks for one object, and returns why that is refused.
func (s *recordedStream) permitted(ctx context.Context) error {
	_, _, err := s.handle.Count(ctx, client.ListOptions{Namespace: s.name.Namespace})
	return err
}

// first writes the first list. version is that of the first list of another stream, which this one should have too.
func (s *recordedStream) first(ctx context.Context, version string) error {
	for ctx.Err() == nil {
		o := client.ListOptions{ResourceVersion: version}
		if version != "" {
			o.ResourceVersionMatch = client.Exact
		}
		err := s.list(ctx, o, false)
		if err == nil {
			return nil
		}
		if isFinal(err) || isRefused(err) {
			return err
		}
		if version != "" && isAnswer(err) && (s.failures > 2 || !isTransient(err)) {
			version = "" // the server has another counter for it, or no longer has the version
			continue
		}
		if err := s.pause(ctx, err); err != nil {
			return err
		}
	}
	return fmt.Errorf("the recording has ended before its first lists were complete: %w", context.Cause(ctx))
}

// follow watches until ctx ends. It returns an error that ends the recording.
func (s *recordedStream) follow(ctx context.Context) error {
	why := errors.New("the recording had stopped within a list")
	for ctx.Err() == nil {
		var err error
		if s.known.Version == "" {
			err = s.relist(ctx, why)
		} else {
			err = s.watch(ctx)
		}
		if isFinal(err) || isRefused(err) && !s.watched {
			return err
		}
		if err == nil || ctx.Err() != nil {
			continue
		}
		why = err
		if isTooOld(err) {
			s.lost, s.known.Version = s.known.Version, ""
			if s.failures++; s.failures == 1 {
				continue
			}
		}
		if err := s.pause(ctx, err); err != nil {
			return err
		}
	}
	return nil
}

// recordError is an error that no later attempt mends: one of the file, or of Change.
type recordError struct{ error }

func (e *recordError) Unwrap() error { return e.error }

// write writes a line about the stream.
func (s *recordedStream) write(l recording.Line) error {
	l.Resource = s.name.Resource
	if !l.Type.HasObject() {
		l.Namespace = s.name.Namespace
	}
	if err := s.file.Write(&l); err != nil {
		return &recordError{err}
	}
	return nil
}

// text returns the text of an error. It leaves out the text of an answer that cannot be read, because that may quote a
// Secret.
func (s *recordedStream) text(err error) string {
	_, answer := errors.AsType[*client.AnswerError](err)
	_, event := errors.AsType[*client.EventError](err)
	_, object := errors.AsType[*client.DecodeError](err)
	_, status := errors.AsType[*apierrors.StatusError](err)
	if (answer || event || object) && !status && s.resource.IsSecret() && s.redactor != nil {
		return "the answer cannot be read; the reason is left out, because it may quote a Secret"
	}
	return err.Error()
}

// pause writes a line about the first of several failures, and waits: longer after each of them, up to half a minute.
func (s *recordedStream) pause(ctx context.Context, why error) error {
	if s.failures++; s.failures == 1 {
		if err := s.write(recording.Line{Type: recording.Cut, Message: s.text(why)}); err != nil {
			return err
		}
	}
	wait := min(time.Second<<min(s.failures-1, 5), 30*time.Second)
	if after, ok := apierrors.RetryAfter(why); ok {
		wait = max(wait, min(after, 5*time.Minute))
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	return nil
}

// watch opens one watch and writes its events.
func (s *recordedStream) watch(ctx context.Context) error {
	if err := s.checkVersion(ctx); err != nil {
		return err
	}
	o := client.WatchOptions{
		Namespace: s.name.Namespace, ResourceVersion: s.known.Version, Bookmarks: true, KeepManagedFields: true,
		Timeout: watchFor, OnOpen: func() { s.watched = true },
	}
	began := time.Now()
	ctx, stop := context.WithTimeoutCause(ctx, watchFor+watchFor/8, errSilent)
	defer stop()
	err := s.handle.WatchEach(ctx, o, nil, func(e client.Event[*recordedObject]) error {
		s.failures = 0
		return s.event(e)
	})
	switch lasted := time.Since(began) >= healthy; {
	case lasted:
		s.failures = 0
		if context.Cause(ctx) == errSilent {
			return errSilent
		}
	case err == nil && ctx.Err() == nil && s.known.Version == o.ResourceVersion:
		return errEnded
	}
	return err
}

// healthy is how long a watch lasts at least if nothing is wrong.
const healthy = 2 * time.Second

// watchFor is how long a watch lasts. A connection that has died in silence is noticed a little later.
const watchFor = 2 * time.Minute

var errSilent = errors.New("the watch did not end in time: its connection is dead")

var errEnded = errors.New("the server ended the watch at once")

func (s *recordedStream) event(e client.Event[*recordedObject]) error {
	id := recording.Identity{Key: e.Identity.Key(), UID: e.Identity.UID, ResourceVersion: e.Identity.ResourceVersion}
	if e.Type == client.Bookmark {
		if id.ResourceVersion == s.known.Version {
			return nil
		}
		s.known.Version = id.ResourceVersion
		return s.write(recording.Line{Type: recording.Bookmark, ResourceVersion: id.ResourceVersion})
	}
	if e.Err != nil {
		// The version of the object is known and its contents are not; the next list brings them if they have become
		// readable.
		if id.ResourceVersion != "" {
			s.known.Version = id.ResourceVersion
		}
		why := fmt.Sprintf("%s of %s: %s", e.Type, id.Key, s.text(e.Err))
		return s.write(recording.Line{Type: recording.Bad, Message: why, ResourceVersion: id.ResourceVersion})
	}
	if err := s.writeObject(recording.Type(e.Type), e.Object.raw, false); err != nil {
		return err
	}
	if e.Type == client.Deleted {
		s.known.Remove(id)
	} else {
		s.known.Put(id)
	}
	return nil
}

func (s *recordedStream) writeObject(kind recording.Type, raw []byte, gap bool) error {
	text, err := s.object(s.resource, raw)
	if err != nil {
		return &recordError{err}
	}
	return s.write(recording.Line{Type: kind, Gap: gap, Object: text})
}

// errBack says that a server was set back.
var errBack = errors.New("the server has an older version than before: it was restored from a backup")

// checkVersion asks, after a failure, whether the server has reached the version at which the watch goes on. A server
// that was restored from a backup may not have: it would let the watch wait until it passes that version.
func (s *recordedStream) checkVersion(ctx context.Context) error {
	if s.failures == 0 && s.watched {
		return nil
	}
	version, err := s.present(ctx)
	if err != nil {
		return err
	}
	if order, ok := meta.CompareVersions(version, s.known.Version); ok && order < 0 {
		return errBack
	}
	return nil
}

// present returns the version of the collection now.
func (s *recordedStream) present(ctx context.Context) (version string, err error) {
	o := client.ListOptions{Namespace: s.name.Namespace, PageSize: 1}
	o.OnPage = func(m meta.ListMeta) { version = m.ResourceVersion }
	for _, err := range s.handle.All(ctx, o) {
		if err != nil {
			return "", err
		}
		if version != "" {
			break
		}
	}
	return version, nil
}

// relist writes the changes over a gap.
func (s *recordedStream) relist(ctx context.Context, why error) error {
	line := recording.Line{Type: recording.Gap, Message: s.text(why), ResourceVersion: s.lost}
	if err := s.write(line); err != nil {
		return err
	}
	return s.list(ctx, client.ListOptions{}, true)
}

// list reads a whole list and writes the objects that differ from what is known.
func (s *recordedStream) list(ctx context.Context, o client.ListOptions, gap bool) error {
	o.Namespace, o.KeepManagedFields = s.name.Namespace, true
	s.known.BeginList()
	list, err := s.handle.ListEach(ctx, o, nil, func(item client.Item[*recordedObject]) error {
		if item.Err != nil {
			s.known.Keep(item.Identity.Key())
			why := fmt.Sprintf("LISTED %s: %s", item.Identity.Key(), s.text(item.Err))
			return s.write(recording.Line{Type: recording.Bad, Message: why})
		}
		return s.listed(item, gap)
	})
	if err != nil {
		return err
	}
	for _, id := range s.known.Gone() {
		if err := s.gone(id, list.ResourceVersion); err != nil {
			return err
		}
		s.known.Remove(id)
	}
	s.known.EndList(list.ResourceVersion)
	return s.write(recording.Line{Type: recording.Synced, ResourceVersion: list.ResourceVersion})
}

// listed writes an object of a list if it has changed.
func (s *recordedStream) listed(item client.Item[*recordedObject], gap bool) error {
	id := recording.Identity{Key: item.Identity.Key(), UID: item.Identity.UID, ResourceVersion: item.Identity.ResourceVersion}
	how, replaced := s.known.Changed(id)
	if how == "" {
		return nil
	}
	if replaced != "" && gap {
		before := ""
		if n, err := strconv.ParseUint(id.ResourceVersion, 10, 64); err == nil && n > 0 {
			before = strconv.FormatUint(n-1, 10)
		}
		if err := s.gone(recording.Identity{Key: id.Key, UID: replaced}, before); err != nil {
			return err
		}
	}
	if !gap {
		how = recording.Listed
	}
	return s.writeObject(how, item.Object.raw, gap)
}

// gone writes that an object no longer exists. Its last state is not known.
func (s *recordedStream) gone(id recording.Identity, version string) error {
	text := fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,"metadata":{"name":%q`, s.resource.Kind, s.resource.GVK().APIVersion(), id.Name)
	if id.Namespace != "" {
		text = fmt.Appendf(text, `,"namespace":%q`, id.Namespace)
	}
	text = fmt.Appendf(text, `,"uid":%q}}`, id.UID)
	return s.write(recording.Line{Type: recording.Deleted, Gap: true, ResourceVersion: version, Object: text})
}

// isTooOld reports whether the server cannot go on at the version of a watch.
func isTooOld(err error) bool {
	return errors.Is(err, errBack) || errors.Is(err, apierrors.Expired) || errors.Is(err, apierrors.Gone)
}

// isRefused reports whether the server does not let the client read, or does not have the resource.
func isRefused(err error) bool {
	for _, reason := range []error{apierrors.Forbidden, apierrors.Unauthorized, apierrors.NotFound, apierrors.MethodNotAllowed} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}

// isTransient reports whether the error is the answer of a server that is busy or has failed.
func isTransient(err error) bool {
	for _, reason := range []error{apierrors.TooManyRequests, apierrors.ServiceUnavailable, apierrors.InternalError} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}

// isAnswer reports whether the server has answered.
func isAnswer(err error) bool {
	_, failed := errors.AsType[*apierrors.StatusError](err)
	_, wrong := errors.AsType[*client.AnswerError](err)
	return failed || wrong
}

// isFinal reports whether an error ends the recording.
func isFinal(err error) bool {
	_, ok := errors.AsType[*recordError](err)
	return ok
}
