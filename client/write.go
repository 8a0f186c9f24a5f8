package client

import (
	"cmp"
	"context"
	"encoding/json"
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

// Create creates obj and returns it as the server stored it. Its namespace is where it goes. Without a name the server
// makes one up from metadata.generateName. An object of that name is an AlreadyExists error, and one that has a resource
// version, as if it had been read, is refused.
func (r Resource[T]) Create(ctx context.Context, obj T) (T, error) {
	return r.sendObject(ctx, r.request("create", meta.Key{}), obj)
}

// Update replaces the object with obj and returns it as the server stored it. Where obj has a resource version and the
// server's is another, nothing is replaced and the error is a Conflict; without one, some resources are replaced whatever
// they are, and others refuse.
//
// Update replaces all of it, also what T has no field for. So where the client has decoded an object of this resource of which T
// has lost something, Update reads the object first, and if T would lose any of it, nothing is written and the error is a
// [*ProjectionError]: [Resource.Modify] and [Resource.Patch] keep what they do not name. A T that has all of what the server
// sends costs no request, and a custom decoding method, a map, an any and a json.RawMessage are taken to keep everything.
//
// Without a resource version in obj it replaces what others add after that look, too.
func (r Resource[T]) Update(ctx context.Context, obj T) (T, error) {
	return r.sendObject(ctx, r.request("update", meta.Key{}), obj)
}

// sendObject sends obj. Where q has no key yet it is about obj itself.
func (r Resource[T]) sendObject(ctx context.Context, q request, obj T) (T, error) {
	var none T
	q.collection = q.verb == "create" && q.subresource == ""
	if isNil(obj) {
		return none, q.fail(&UsageError{Err: errors.New("the object is nil")})
	}
	if q.key.Name == "" {
		q.key = r.bind(meta.KeyOf(obj))
	}
	if err := r.writesObjects(); err != nil {
		return none, q.fail(err)
	}
	if err := r.usable(); err != nil {
		return none, q.fail(&UsageError{Err: err})
	}
	if q.collection && obj.GetResourceVersion() != "" {
		return none, q.fail(&UsageError{Err: fmt.Errorf(
			"metadata.resourceVersion must be empty in an object that is created, got %q", obj.GetResourceVersion())})
	}
	body, err := r.encode(obj)
	if err != nil {
		return none, q.fail(&UsageError{Err: err})
	}
	if q.verb == "update" {
		if err := r.keepsAll(ctx, q, obj.GetResourceVersion()); err != nil {
			return none, err
		}
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

// Patch changes the object as p says and returns it as the server stored it. It is a [*UsageError] if p could not be built, or
// changes the object's name or namespace. What [patch.Apply] returns is applied, as by [Resource.Apply] without options. A patch
// that is empty ([patch.Patch.IsEmpty]) is sent, too, and answered with the object as it is.
func (r Resource[T]) Patch(ctx context.Context, key meta.Key, p patch.Patch) (T, error) {
	return r.sendPatch(ctx, r.request("patch", key), p)
}

func (r Resource[T]) sendPatch(ctx context.Context, q request, p patch.Patch) (T, error) {
	if p.MediaType() == patch.ApplyType {
		return r.sendApply(ctx, q, p, ApplyOptions{})
	}
	body, err := p.Body()
	if err == nil && q.key.Name != "" {
		err = p.CheckKey(q.key)
	}
	if err != nil {
		var none T
		return none, q.fail(&UsageError{Err: err})
	}
	return r.sendBody(ctx, q, p.MediaType(), body)
}

// Delete deletes the object. Nil means that the server has accepted it: an object with finalizers, or with a grace period, is
// there until they are done. An object that is not there is a NotFound error.
func (r Resource[T]) Delete(ctx context.Context, key meta.Key, o DeleteOptions) error {
	return r.sendDelete(ctx, r.request("delete", key), o)
}

// DeleteCollection deletes the objects that s selects, as Delete would each of them. Nil means that the server has accepted
// it; objects that are created meanwhile may stay. Where the server gives up half way, some are deleted.
//
// The preconditions of o are about one object, and so are a [*UsageError].
func (r Resource[T]) DeleteCollection(ctx context.Context, s Selection, o DeleteOptions) error {
	q := r.request("deletecollection", meta.Key{Namespace: s.Namespace})
	q.collection, q.query = true, s.query()
	err := s.validate()
	switch {
	case err != nil:
	case o.UID != "" || o.ResourceVersion != "":
		err = errors.New("client.DeleteOptions: UID and ResourceVersion must be empty where a collection is deleted")
	case o.IgnoreStoreReadError:
		err = errors.New("client.DeleteOptions: IgnoreStoreReadError must not be set where a collection is deleted")
	}
	if err != nil {
		return q.fail(&UsageError{Err: err})
	}
	return r.sendDelete(ctx, q, o)
}

func (r Resource[T]) sendDelete(ctx context.Context, q request, o DeleteOptions) error {
	q.contentType = jsonType
	body, err := o.body(r.write.DryRun)
	if err == nil {
		q.body, err = json.Marshal(body)
	}
	if err != nil {
		return q.fail(&UsageError{Err: err})
	}
	return r.accepted(ctx, q)
}

// drain reads the rest of an answer that nobody wants, so that its connection can be used again. That it cannot be read
// changes nothing: the server has said yes.
func drain(resp *http.Response) {
	const limit = 1 << 20 // beyond it a new connection is cheaper
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, limit))
	_ = resp.Body.Close()
}

// WriteOptions hold for every write of a handle, also through its subresources; see [Resource.With].
type WriteOptions struct {
	// FieldManager is the name under which the server records who set which field: at most 128 bytes of printable text.
	// Empty leaves it to the server, which makes it up from Config.UserAgent; [Resource.Apply] needs it.
	FieldManager string
	// DryRun makes the server do everything but store the result.
	DryRun bool
	// FieldValidation says what the server does with fields that it does not know.
	FieldValidation FieldValidation
}

// FieldValidation says what the server does with unknown and duplicate fields of a write.
type FieldValidation string

const (
	// ValidateDefault leaves it to the server, which warns.
	ValidateDefault FieldValidation = ""
	// ValidateIgnore drops them silently.
	ValidateIgnore FieldValidation = "Ignore"
	// ValidateWarn drops them and answers with a warning; see Hooks.Warning.
	ValidateWarn FieldValidation = "Warn"
	// ValidateStrict refuses the write.
	ValidateStrict FieldValidation = "Strict"
)

// maxFieldManager is the API's limit, in bytes.
const maxFieldManager = 128

// with returns o with what other sets.
func (o WriteOptions) with(other WriteOptions) WriteOptions {
	o.FieldManager = cmp.Or(other.FieldManager, o.FieldManager)
	o.DryRun = o.DryRun || other.DryRun
	o.FieldValidation = cmp.Or(other.FieldValidation, o.FieldValidation)
	return o
}

func (o WriteOptions) validate() error {
	var errs []error
	switch o.FieldValidation {
	case ValidateDefault, ValidateIgnore, ValidateWarn, ValidateStrict:
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
