package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/retry"
	"github.com/bowline-go/bowline/patch"
)

// conflictAttempts bounds how often Modify tries; with the pauses between them it is about 20 s of a storm on one object.
const conflictAttempts = 50

// Modify changes one object safely: it reads it from the server, calls mutate with it, and writes it back with the resource
// version that it read. If somebody else wrote in between, the server says Conflict, and Modify reads again and calls mutate
// again, after a pause that grows with the attempts, until ctx ends or 50 attempts have failed. So mutate may be called
// several times, each time with a fresh object that is its own; it must depend on nothing that an earlier call did.
//
// Nothing is sent if mutate changes nothing. An error of mutate, a Conflict too, ends Modify and is wrapped by its error.
// A Conflict that may be with Modify's own write ends it, too: that is one after an attempt of the same write whose outcome is
// not known, and its error says so (see [AttemptsError]). To go on could make the same change twice.
//
// What the server's object has and T does not name survives: the change is made to the server's JSON, as [patch.Carry] says.
//
// mutate must not change namespace, name, uid or resource version.
func (r Resource[T]) Modify(ctx context.Context, key meta.Key, mutate func(T) error) (T, error) {
	return r.modify(ctx, key, "", mutate)
}

func (r Resource[T]) modify(ctx context.Context, key meta.Key, subresource string, mutate func(T) error) (T, error) {
	var none T
	q := r.request("modify", key)
	q.subresource = subresource
	if err := r.writesObjects(); err != nil {
		return none, q.fail(err)
	}
	backoff := retry.New(retry.Policy{Base: 10 * time.Millisecond, Max: time.Second})
	for attempt := 1; ; attempt++ {
		obj, body, err := r.change(ctx, q, mutate)
		if err != nil {
			return none, err
		}
		if body == nil {
			return obj, nil
		}
		write := q
		write.verb = "update"
		obj, err = r.sendBody(ctx, write, jsonType, body)
		if !errors.Is(err, apierrors.Conflict) || mayHaveWritten(err) {
			return obj, err
		}
		if attempt == conflictAttempts {
			return none, q.fail(fmt.Errorf("gave up after attempt %d: %w", attempt, err))
		}
		if retry.Sleep(ctx, backoff.Next(0)) != nil {
			return none, q.fail(fmt.Errorf("gave up after attempt %d: %w; before that: %w", attempt, contextError(ctx), err))
		}
	}
}

// change reads the object and has it changed. It returns the object as mutate left it, and what is to be sent: nil if that is
// nothing.
func (r Resource[T]) change(ctx context.Context, q request, mutate func(T) error) (T, []byte, error) {
	var none T
	obj, live, err := r.get(ctx, q.key, q.subresource)
	if err != nil {
		return none, nil, err
	}
	if live.ResourceVersion == "" {
		return none, nil, q.fail(errors.New("server sent the object without a resource version, so that it cannot be written safely"))
	}
	before, err := r.encode(obj)
	if err != nil {
		return none, nil, q.fail(err)
	}
	if err := mutate(obj); err != nil {
		return none, nil, q.fail(err)
	}
	after, err := r.encode(obj)
	if err != nil {
		return none, nil, q.fail(err)
	}
	if bytes.Equal(before, after) {
		return obj, nil, nil
	}
	body, err := patch.Carry(live.Raw, before, after)
	if err != nil {
		return none, nil, q.fail(err)
	}
	changed, err := jsonstream.ReadObject(bytes.NewReader(body), r.c.streamOptions(true))
	if err == nil {
		err = sameObject(live.Identity, changed.Identity)
	}
	if err != nil {
		return none, nil, q.fail(publicError(err))
	}
	return obj, body, nil
}

// sameObject returns an error unless what is to be written is the object that was read.
func sameObject(was, is meta.Identity) error {
	for _, f := range []struct{ name, was, is string }{
		{"namespace", was.Namespace, is.Namespace},
		{"name", was.Name, is.Name},
		{"uid", was.UID, is.UID},
		{"resourceVersion", was.ResourceVersion, is.ResourceVersion},
	} {
		if f.was != f.is {
			return fmt.Errorf("the change sets metadata.%s from %q to %q, which no write can do", f.name, f.was, f.is)
		}
	}
	return nil
}
