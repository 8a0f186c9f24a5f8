package client

import (
	"context"
	"errors"
	"net/http"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/jsonstream"
)

// Resource is a handle on one resource of one server, whose objects are decoded into T. It is a small value: copy it freely.
// It is safe for use by several goroutines at once. The zero Resource returns an error from every call.
type Resource[T meta.Object] struct {
	c     *Client
	t     Type[T]
	write WriteOptions
	as    *Impersonation // see As; a pointer, so that handles can be compared
	err   error          // why the handle cannot be used; every call returns it
	// partial makes the server send the objects as PartialObjectMetadata; see Metadata.
	partial bool
}

// For binds a resource to a client. It does no I/O. A descriptor that cannot be right shows in the first call's error.
func For[T meta.Object](c *Client, t Type[T]) Resource[T] {
	r := Resource[T]{c: c, t: t, err: t.validate()}
	if c == nil {
		r.err = errors.New("client.For: the client is nil")
	}
	return r
}

// With returns a handle whose writes carry o instead of the options that r has.
func (r Resource[T]) With(o WriteOptions) Resource[T] {
	r.write = o
	if r.err == nil {
		r.err = o.validate()
	}
	return r
}

// Type returns the descriptor.
func (r Resource[T]) Type() Type[T] { return r.t }

// GVR returns the descriptor's resource.
func (r Resource[T]) GVR() meta.GVR { return r.t.GVR() }

// Get reads one object. metadata.managedFields is decoded if T has it.
func (r Resource[T]) Get(ctx context.Context, key meta.Key) (T, error) {
	obj, _, err := r.get(ctx, key, "")
	return obj, err
}

// get reads one object, or a subresource that has the object's kind, and returns its JSON too.
func (r Resource[T]) get(ctx context.Context, key meta.Key, subresource string) (T, jsonstream.Item, error) {
	q := r.request("get", key)
	q.subresource = subresource
	return r.exchange(ctx, q)
}

// exchange sends a request whose answer is one object of the resource's kind.
func (r Resource[T]) exchange(ctx context.Context, q request) (obj T, item jsonstream.Item, err error) {
	if err := r.usable(); err != nil {
		return obj, item, q.fail(&UsageError{Err: err})
	}
	err = r.c.call(ctx, q, func(resp *http.Response) (err error) {
		defer func() { _ = resp.Body.Close() }()
		if item, err = jsonstream.ReadObject(resp.Body, r.c.streamOptions(true)); err != nil {
			return readError(ctx, resp, err)
		}
		obj, err = r.decode(item)
		return err
	})
	return obj, item, err
}

// request returns a request about one object of the resource, or about the collection where key has no name.
func (r Resource[T]) request(verb string, key meta.Key) request {
	q := request{verb: verb, resource: r.t.GVR(), scope: r.t.Scope, key: key, accept: r.accept(verb)}
	if r.as != nil {
		q.as = *r.as
	}
	return q
}

// send sends q, unless the handle cannot be used.
func (r Resource[T]) send(ctx context.Context, q request) (*http.Response, error) {
	if err := r.usable(); err != nil {
		return nil, q.fail(&UsageError{Err: err})
	}
	return r.c.do(ctx, q)
}

// usable returns why the handle cannot be used, if it cannot.
func (r Resource[T]) usable() error {
	if r.err == nil && r.c == nil {
		return errors.New("the zero client.Resource has no client; use client.For")
	}
	return r.err
}

// decode turns a framed object into T, after checking that it is what the descriptor says.
func (r Resource[T]) decode(item jsonstream.Item) (T, error) {
	if err := r.checkKind(item.APIVersion, item.Kind); err != nil {
		var none T
		return none, err
	}
	return r.decodeUnchecked(item)
}

func (r Resource[T]) decodeUnchecked(item jsonstream.Item) (T, error) {
	gvk := r.t.GVK()
	obj, err := codec.Decode[T](item, gvk.APIVersion(), gvk.Kind) // the zero T where it fails
	if err != nil {
		return obj, &DecodeError{Identity: item.Identity, Err: err}
	}
	if r.partial {
		any(obj).(*meta.Partial).SetTypeMeta(gvk.APIVersion(), gvk.Kind)
	}
	return obj, nil
}

func (r Resource[T]) checkKind(apiVersion, kind string) error {
	wantAPIVersion, wantKind := r.wireKind()
	return checkKind(apiVersion, kind, wantAPIVersion, wantKind)
}

// wireKind returns what the server calls the objects in its answers.
func (r Resource[T]) wireKind() (apiVersion, kind string) {
	if r.partial {
		return partialAPIVersion, partialKind
	}
	return r.t.GVK().APIVersion(), r.t.Kind
}

func checkKind(apiVersion, kind, wantAPIVersion, wantKind string) error {
	if apiVersion == wantAPIVersion && kind == wantKind {
		return nil
	}
	return &KindError{APIVersion: apiVersion, Kind: kind, WantAPIVersion: wantAPIVersion, WantKind: wantKind}
}

// encode returns obj as the server wants it, with its kind.
func (r Resource[T]) encode(obj any) ([]byte, error) {
	return codec.Marshal(obj, r.t.GVK().APIVersion(), r.t.Kind)
}
