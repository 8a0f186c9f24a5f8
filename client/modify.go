package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/patch/carry"
)

// Modify changes one object safely. It reads the object from the server, calls mutate with it, and writes the result
// with the resource version that it read. If somebody else wrote in between, the server answers Conflict. Modify then
// pauses, longer with each attempt, and reads and calls mutate again, until ctx ends or 50 attempts have failed. So
// Modify may call mutate several times, each time with a newly read object; mutate must not depend on anything that an
// earlier call did.
//
// If Modify returns nil, the change has been written once. If mutate changes nothing, Modify sends nothing. An error of
// mutate, even a Conflict, ends Modify, and Modify's error wraps it. Modify returns a [*ModifyError] when it gives up;
// it says how often Modify tried and which write won. Modify also returns a *ModifyError when it cannot know whether it
// has written the change. That happens when the connection broke before the answer, or when a Conflict may be due to
// Modify's own write, because an earlier attempt had no answer. Modify stops then, because to go on could make the same
// change twice. If the server accepts the write but the answer is cut off, Modify reads the object again and returns
// its state at that time.
//
// Modify keeps the fields of the server's object that T does not name, because it makes the change to the server's
// JSON. An element of a list keeps them if it is unchanged, or has the same name, key or type as before. Any other
// element keeps them if it stands at the same place of a list whose length has not changed.
//
// mutate must not change namespace, name, uid or resource version. If a resource has a status subresource, a write to
// the object changes everything but status. If the server then leaves out a change of status, Modify returns a
// [*UsageError], although the rest of the change has been written.
//
// key is a name. If the object is deleted and created again while Modify runs, Modify calls mutate with the new one, as
// if Modify had begun later; mutate can compare uids to prevent that. Modify treats an object that is being deleted
// like any other.
func (r Resource[T]) Modify(ctx context.Context, key meta.Key, mutate func(T) error) (T, error) {
	return r.ModifyWith(ctx, key, mutate, ModifyOptions{})
}

// ModifyWith is [Resource.Modify] with options. With ModifyOptions.Known, a change that changes nothing costs no
// request.
func (r Resource[T]) ModifyWith(ctx context.Context, key meta.Key, mutate func(T) error, o ModifyOptions) (T, error) {
	return typed[T](r.untyped.modify(ctx, key, "", untypedMutate(mutate), o))
}

// ModifyOptions choose how a Modify begins. The zero value reads the object from the server.
type ModifyOptions struct {
	// Known is the object as the caller knows it, such as from a cache: a T, or JSON, as a json.RawMessage, a map or a
	// value that encodes itself. Modify first calls mutate with a copy of it. If mutate changes nothing, Modify sends
	// nothing and returns the copy. If mutate changes something, or fails, Modify reads the object from the server and
	// calls mutate with that. The write is made from the server's JSON, so a Known that is out of date, or a T that
	// lacks fields, loses nothing. A value of another type is a [*UsageError], because it may lack a field that mutate
	// looks at. For the same reason, do not use the object of a cache whose transform removes such a field. Nil, or a
	// nil T, means that nothing is known.
	Known any
}

// untypedMutate returns mutate, or nil for nil.
func untypedMutate[T meta.Object](mutate func(T) error) func(meta.Object) error {
	if mutate == nil {
		return nil
	}
	return func(obj meta.Object) error { return mutate(obj.(T)) }
}

func (r resource) modify(ctx context.Context, key meta.Key, subresource string, mutate func(meta.Object) error, o ModifyOptions) (meta.Object, error) {
	q := r.subrequest("modify", key, subresource)
	if mutate == nil {
		return nil, q.fail(&UsageError{Err: errors.New("mutate must be set")})
	}
	if err := r.writesObjects(); err != nil {
		return nil, q.fail(err)
	}
	if err := r.usable(); err != nil {
		return nil, q.fail(&UsageError{Err: err})
	}
	if obj, proved, err := r.unmodified(q.key, mutate, o.Known); err != nil || proved {
		return obj, q.fail(err)
	}
	var result meta.Object
	tries := newAttempts(r, q)
	err := tries.run(ctx, func(obj meta.Object, live jsonstream.Item) (lost, err error) {
		c, err := r.change(obj, live, mutate)
		switch {
		case err != nil:
			return nil, q.fail(err)
		case c.body == nil:
			result = obj
			return nil, nil
		case ctx.Err() != nil:
			return nil, tries.ended(conn.ContextError(ctx))
		}
		tries.quits.Attempts++
		obj, err = r.writeChange(ctx, q, c)
		switch conflict := errors.Is(err, apierrors.Conflict); {
		case err == nil || errors.As(err, new(ignoredError)):
			result = obj
			return nil, err
		case mayHaveWritten(err) || !refused(err):
			tries.quits.MayHaveWritten = true
			if conflict {
				tries.competing(ctx, live)
			}
			return nil, tries.because(err)
		case !conflict:
			return nil, err
		}
		return err, nil
	})
	return result, err
}

// unmodified returns a copy of the object that the caller knows if mutate changes nothing of it.
func (r resource) unmodified(key meta.Key, mutate func(meta.Object) error, known any) (obj meta.Object, proved bool, err error) {
	if isNil(known) {
		return nil, false, nil
	}
	item, err := r.knownAsT(key, known)
	if err != nil {
		return nil, false, &UsageError{Err: fmt.Errorf("client.ModifyOptions: Known: %w", err)}
	}
	if obj, err = r.decodeUnchecked(item); err != nil {
		return nil, false, &UsageError{Err: fmt.Errorf("client.ModifyOptions: Known: %w", err)}
	}
	before, err := r.encode(obj)
	if err != nil || mutate(obj) != nil {
		return nil, false, nil // mutate may have another result on the server's object
	}
	after, err := r.encode(obj)
	if err != nil || !bytes.Equal(before, after) {
		return nil, false, nil
	}
	return obj, true, nil
}

// change is the result of mutate. body is sent to the server; nil means that there is nothing to send.
type change struct {
	live                jsonstream.Item
	before, after, body []byte
}

// change calls mutate with obj, which was decoded from live.
func (r resource) change(obj meta.Object, live jsonstream.Item, mutate func(meta.Object) error) (change, error) {
	c := change{live: live}
	if live.ResourceVersion == "" {
		return c, errors.New("server sent the object without a resource version, so that it cannot be written safely")
	}
	var err error
	if c.before, err = r.encode(obj); err != nil {
		return c, err
	}
	if err := mutate(obj); err != nil {
		return c, err
	}
	if c.after, err = r.encode(obj); err != nil {
		return c, err
	}
	if bytes.Equal(c.before, c.after) {
		return c, nil
	}
	if c.body, err = carry.Change(live.Raw, c.before, c.after); err != nil {
		return c, err
	}
	changed, err := jsonstream.ReadObject(bytes.NewReader(c.body), r.c.streamOptions(true))
	if err != nil {
		return c, publicError(err)
	}
	return c, sameObject(live.Identity, changed.Identity)
}

// sameObject returns an error unless the object to write is the one that was read.
func sameObject(was, is meta.Identity) error {
	for _, f := range []struct{ name, was, is string }{
		{"namespace", was.Namespace, is.Namespace},
		{"name", was.Name, is.Name},
		{"uid", was.UID, is.UID},
		{"resourceVersion", was.ResourceVersion, is.ResourceVersion},
	} {
		if f.was != f.is {
			return fmt.Errorf("the change sets metadata.%s from %q to %q, but no write can change it",
				f.name, f.was, f.is)
		}
	}
	return nil
}

// writeChange sends c and returns the object as it is stored.
func (r resource) writeChange(ctx context.Context, q request, c change) (meta.Object, error) {
	write := q
	write.verb, write.query, write.contentType, write.body = "update", r.write.query(), jsonType, c.body
	obj, stored, err := r.exchange(ctx, write)
	if errors.As(err, new(*unreadError)) { // the server has accepted the write
		if obj, now, again := r.get(ctx, q.key, q.subresource); again == nil && now.UID == c.live.UID {
			return obj, nil
		}
	}
	if err != nil {
		return nil, err
	}
	if ignored := r.ignored(ctx, q, c, stored.Raw); len(ignored) > 0 {
		return nil, q.fail(leftOut(ignored, q.subresource))
	}
	return obj, nil
}
