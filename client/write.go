package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

// Create creates obj and returns it as the server stored it. Its namespace is where it goes. Without a name the server
// makes one up from metadata.generateName. An object of that name is an AlreadyExists error.
func (r Resource[T]) Create(ctx context.Context, obj T) (T, error) {
	return r.sendObject(ctx, "create", "", obj)
}

// Update replaces the object with obj and returns it as the server stored it. Where obj has a resource version and the
// server's is another, nothing is replaced and the error is a Conflict; without one, some resources are replaced whatever
// they are, and others refuse.
//
// Update replaces all of it: what T does not name is gone afterwards. [Resource.Modify] keeps it.
func (r Resource[T]) Update(ctx context.Context, obj T) (T, error) {
	return r.sendObject(ctx, "update", "", obj)
}

func (r Resource[T]) sendObject(ctx context.Context, verb, subresource string, obj T) (T, error) {
	var none T
	q := r.request(verb, meta.Key{})
	q.collection, q.subresource = verb == "create", subresource
	if isNil(obj) {
		return none, q.fail(&UsageError{Err: errors.New("the object is nil")})
	}
	q.key = meta.KeyOf(obj)
	if err := r.writesObjects(); err != nil {
		return none, q.fail(err)
	}
	if err := r.usable(); err != nil {
		return none, q.fail(&UsageError{Err: err})
	}
	body, err := r.encode(obj)
	if err != nil {
		return none, q.fail(&UsageError{Err: err})
	}
	return r.sendBody(ctx, q, jsonType, body)
}

func isNil(obj any) bool {
	v := reflect.ValueOf(obj)
	return !v.IsValid() || ((v.Kind() == reflect.Pointer || v.Kind() == reflect.Map) && v.IsNil())
}

func (r Resource[T]) sendBody(ctx context.Context, q request, contentType string, body []byte) (T, error) {
	q.query, q.contentType, q.body = r.write.query(), contentType, body
	obj, _, err := r.exchange(ctx, q)
	return obj, err
}

// Patch changes the object as p says and returns it as the server stored it.
func (r Resource[T]) Patch(ctx context.Context, key meta.Key, p patch.Patch) (T, error) {
	return r.sendPatch(ctx, r.request("patch", key), p)
}

func (r Resource[T]) sendPatch(ctx context.Context, q request, p patch.Patch) (T, error) {
	body, err := p.Body()
	if err != nil {
		var none T
		return none, q.fail(&UsageError{Err: err})
	}
	return r.sendBody(ctx, q, p.MediaType(), body)
}

// Delete deletes the object. Nil means that the server has accepted it: an object with finalizers, or with a grace period, is
// there until they are done. An object that is not there is a NotFound error.
func (r Resource[T]) Delete(ctx context.Context, key meta.Key, o DeleteOptions) error {
	q := r.request("delete", key)
	q.contentType = jsonType
	// The server heeds no query parameter of a deletion that has a body.
	body, err := o.body()
	if err == nil {
		if r.write.DryRun {
			body.DryRun = []string{"All"}
		}
		q.body, err = json.Marshal(body)
	}
	if err != nil {
		return q.fail(&UsageError{Err: err})
	}
	resp, err := r.send(ctx, q)
	if err != nil {
		return err
	}
	drain(resp)
	return nil
}

// drain reads the rest of an answer that nobody wants, so that its connection can be used again. That it cannot be read
// changes nothing: the server has said yes.
func drain(resp *http.Response) {
	const limit = 1 << 20 // beyond it a new connection is cheaper
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, limit))
	_ = resp.Body.Close()
}
