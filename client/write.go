package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"unicode"
	"unicode/utf8"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

// Create creates obj, in its namespace, and returns it as the server stored it. If obj has no name, the server makes
// one from metadata.generateName; if that name is taken, Create asks for another one, as [Retry] says. Create fails
// with AlreadyExists if an object of obj's name exists. It returns a [*UsageError] if obj has a resource version, such
// as an object that was read.
func (r Resource[T]) Create(ctx context.Context, obj T) (T, error) {
	return typed[T](r.untyped.sendObject(ctx, r.untyped.request("create", meta.Key{}), obj))
}

// Update replaces the object with obj and returns it as the server stored it. If obj has a resource version and the
// server's object has another, Update replaces nothing and returns a Conflict. If obj has none, the resource decides:
// some replace the object at any version, and others refuse.
//
// Update replaces the whole object, including the fields that T does not have. To prevent a loss, the client remembers
// whether it has decoded into T an object of this resource with a field that T lacks. From then on Update first reads
// the object. If T lacks any part of it, Update writes nothing and returns a [*UsageError]; [Resource.Modify] and
// [Resource.Patch] keep the fields that they do not name. A T that models all that the server sends costs no request.
// The client assumes that a custom decoding method, a map, an any and a json.RawMessage keep everything.
//
// Without a resource version in obj, Update also replaces what others add after that read.
func (r Resource[T]) Update(ctx context.Context, obj T) (T, error) {
	return typed[T](r.untyped.sendObject(ctx, r.untyped.request("update", meta.Key{}), obj))
}

// sendObject sends obj. If q has no key yet, the request is about obj itself.
func (r resource) sendObject(ctx context.Context, q request, obj meta.Object) (meta.Object, error) {
	q.collection = q.verb == "create" && q.subresource == ""
	if isNil(obj) {
		return nil, q.fail(&UsageError{Err: errors.New("the object must not be nil")})
	}
	if q.key.Name == "" {
		q.key = r.bind(meta.KeyOf(obj))
	}
	if err := r.writesObjects(); err != nil {
		return nil, q.fail(err)
	}
	if err := r.usable(); err != nil {
		return nil, q.fail(&UsageError{Err: err})
	}
	if q.collection && obj.GetResourceVersion() != "" {
		return nil, q.fail(&UsageError{Err: fmt.Errorf(
			"metadata.resourceVersion must be empty in an object that is created, got %q", obj.GetResourceVersion())})
	}
	body, err := r.encode(obj)
	if err != nil {
		return nil, q.fail(&UsageError{Err: err})
	}
	if q.verb == "update" {
		if err := r.keepsAll(ctx, q, obj.GetResourceVersion()); err != nil {
			return nil, err
		}
	}
	return r.sendBody(ctx, q, jsonType, body)
}

func isNil(obj any) bool {
	v := reflect.ValueOf(obj)
	return !v.IsValid() || ((v.Kind() == reflect.Pointer || v.Kind() == reflect.Map) && v.IsNil())
}

func (r resource) sendBody(ctx context.Context, q request, contentType string, body []byte) (meta.Object, error) {
	q.query, q.contentType, q.body = r.write.query(), contentType, body
	obj, _, err := r.exchange(ctx, q)
	return obj, err
}

// Patch changes the object as p says and returns it as the server stored it. It returns a [*UsageError] if p could not
// be built, or changes the object's name or namespace. A patch of [patch.Apply] is applied as by [Resource.Apply]
// without options. Patch also sends an empty patch ([patch.Patch.IsEmpty]); the server answers with the object as it
// is.
func (r Resource[T]) Patch(ctx context.Context, key meta.Key, p patch.Patch) (T, error) {
	return typed[T](r.untyped.sendPatch(ctx, r.untyped.request("patch", key), p))
}

func (r resource) sendPatch(ctx context.Context, q request, p patch.Patch) (meta.Object, error) {
	if p.MediaType() == patch.ApplyType {
		return r.sendApply(ctx, q, p, ApplyOptions{})
	}
	body, err := p.Body()
	if err == nil && q.key.Name != "" {
		err = p.CheckKey(q.key)
	}
	if err != nil {
		return nil, q.fail(&UsageError{Err: err})
	}
	return r.sendBody(ctx, q, p.MediaType(), body)
}

// Delete deletes the object. Nil means that the server has accepted the deletion: an object with finalizers, or with a
// grace period, exists until the finalizers are removed and the grace period is over. [Resource.DeleteWithResult]
// reports whether the object is gone. Delete returns a NotFound error if the object does not exist.
func (r Resource[T]) Delete(ctx context.Context, key meta.Key, o DeleteOptions) error {
	return r.untyped.sendDelete(ctx, r.untyped.request("delete", key), o)
}

// DeleteCollection deletes the objects that s selects, each as Delete would. Nil means that the server has accepted the
// deletion; objects that are created in the meantime may stay. If the server gives up half way, some objects are
// deleted.
//
// The preconditions of o are about one object, so DeleteCollection returns a [*UsageError] for them.
func (r Resource[T]) DeleteCollection(ctx context.Context, s Selection, o DeleteOptions) error {
	return r.untyped.deleteCollection(ctx, s, o)
}

func (r resource) deleteCollection(ctx context.Context, s Selection, o DeleteOptions) error {
	q := r.request("deletecollection", meta.Key{Namespace: s.Namespace})
	q.collection, q.query = true, s.query()
	err := s.validate()
	if err == nil && (o.UID != "" || o.ResourceVersion != "") {
		err = errors.New("client.DeleteOptions: UID and ResourceVersion must be empty for DeleteCollection")
	}
	if err != nil {
		return q.fail(&UsageError{Err: err})
	}
	return r.sendDelete(ctx, q, o)
}

func (r resource) sendDelete(ctx context.Context, q request, o DeleteOptions) error {
	if err := q.setDelete(o, r.write.DryRun); err != nil {
		return err
	}
	return r.accepted(ctx, q)
}

// drain reads the rest of an unused answer, so that its connection can be used again. It ignores errors: the server has
// accepted the request.
func drain(resp *http.Response) {
	const limit = 1 << 20 // beyond it a new connection is cheaper
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, limit))
	_ = resp.Body.Close()
}

// WriteOptions apply to every write of a handle, including writes through its subresources; see [Resource.With].
type WriteOptions struct {
	// FieldManager is the name under which the server records the fields that a write sets: at most 128 bytes of
	// printable text. If it is empty, the server makes a name from Config.UserAgent. [Resource.Apply] needs it.
	FieldManager string
	// DryRun makes the server process the write without storing the result.
	DryRun bool
	// FieldValidation says how the server treats unknown and duplicate fields.
	FieldValidation FieldValidation
}

// FieldValidation says how the server treats unknown and duplicate fields of a write. Empty leaves it to the server,
// which warns.
type FieldValidation string

const (
	// ValidateIgnore makes the server drop such fields silently.
	ValidateIgnore FieldValidation = "Ignore"
	// ValidateWarn makes the server drop such fields and answer with a warning; see Hooks.Warning.
	ValidateWarn FieldValidation = "Warn"
	// ValidateStrict makes the server refuse the write.
	ValidateStrict FieldValidation = "Strict"
)

// maxFieldManager is the API's limit, in bytes.
const maxFieldManager = 128

// with returns o with the options that other sets.
func (o WriteOptions) with(other WriteOptions) WriteOptions {
	o.FieldManager = cmp.Or(other.FieldManager, o.FieldManager)
	o.DryRun = o.DryRun || other.DryRun
	o.FieldValidation = cmp.Or(other.FieldValidation, o.FieldValidation)
	return o
}

func (o WriteOptions) validate() error {
	var errs []error
	switch o.FieldValidation {
	case "", ValidateIgnore, ValidateWarn, ValidateStrict:
	default:
		errs = append(errs, fmt.Errorf("client.WriteOptions: FieldValidation must be Ignore, Warn, Strict or empty, got %q", o.FieldValidation))
	}
	switch {
	case len(o.FieldManager) > maxFieldManager:
		errs = append(errs, fmt.Errorf("client.WriteOptions: FieldManager must have at most %d bytes, got %d", maxFieldManager, len(o.FieldManager)))
	case !isPrintable(o.FieldManager):
		errs = append(errs, fmt.Errorf("client.WriteOptions: FieldManager must be printable text, got %q", o.FieldManager))
	}
	return errors.Join(errs...)
}

func isPrintable(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

func (o WriteOptions) query() url.Values {
	q := url.Values{}
	set(q, "fieldManager", o.FieldManager)
	set(q, "fieldValidation", string(o.FieldValidation))
	if o.DryRun {
		q.Set("dryRun", "All")
	}
	return q
}
