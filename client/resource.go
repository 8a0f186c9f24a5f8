package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/guard"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/packed"
	"github.com/bowline-go/bowline/internal/shown"
)

// Resource is a handle on one resource of one server, whose objects are decoded into T. It is a small value: copy it
// freely. It is safe for use by several goroutines at once. Every call of the zero Resource returns an error.
type Resource[T meta.Object] struct {
	untyped resource
}

// resource is a Resource without its type parameter. It has all fields and does all work, with the objects as
// meta.Object, and the methods of Resource turn these into T. So its code is compiled once. Only the methods of
// Resource are compiled again in each package that uses Resource, with two wrappers of each method for each T.
type resource struct {
	c     *Client
	t     Type[meta.Object]
	typ   reflect.Type // the type T
	write WriteOptions
	as    *Subject // the user of As; a pointer, so that handles can be compared
	err   error    // why the handle cannot be used; every call returns it
	// partial makes the server send the objects as PartialObjectMetadata; see Metadata.
	partial bool
	// namespace, if set, is the namespace of every request; see In.
	namespace string
	// name, if set, is the name of the only object that the handle is about; see One.
	name string
	// own is set for a subresource whose objects have another kind than the resource. kind is that kind; if it is
	// empty, any kind is accepted.
	own  bool
	kind meta.GVK
	// objects, if set, is the Go type of the objects, and T an interface that it implements; see readAs.
	objects reflect.Type
	// only, if set, names the members of objects that are decoded; all other members stay zero.
	only *codec.Projection
	// parts, if set, makes the objects share parts; they must not be changed.
	parts *codec.Parts
	// packer, if set, packs the texts of objects; their items and events carry them.
	packer packed.Packer
	// note is the client's note about the Go type and the resource; nil if the handle cannot be used.
	note *note
}

// For binds a resource to a client. It does no I/O. If the descriptor is wrong, every call of the handle returns the
// error. The same holds for a T that would lose data silently:
//
//   - a struct that embeds its metadata without the tag `json:"metadata"`, because its objects would have no names;
//   - a T with an exported field, at any depth, that has no name in a json tag, because the server would not know the
//     member, and drop it. Fields with `json:"-"`, embedded structs, and types with their own JSON or text methods need
//     no name.
func For[T meta.Object](c *Client, t Type[T]) Resource[T] {
	return Resource[T]{newResource(c, Type[meta.Object](t), reflect.TypeFor[T]())}
}

func newResource(c *Client, t Type[meta.Object], typ reflect.Type) resource {
	r := resource{c: c, t: t, typ: typ, err: validateType(t)}
	if c == nil {
		r.err = errors.New("client.For: the client must not be nil; client.New makes one")
		return r
	}
	r.note = noteOf(c, typ, t.GVR(), nil)
	if r.err == nil {
		r.err = r.note.unfit()
	}
	return r
}

// Retype returns the handle with objects of another Go type, such as one with fewer fields. It keeps the client, the
// namespace, the impersonation and all other restrictions and options of r, except [Metadata]. If S would lose data
// silently, every call of the handle returns the error that [For] describes.
func Retype[S, T meta.Object](r Resource[T]) Resource[S] {
	return Resource[S]{r.untyped.retype(reflect.TypeFor[S]())}
}

func (r resource) retype(typ reflect.Type) resource {
	s := resource{
		c: r.c, t: r.t, typ: typ, write: r.write, as: r.as, err: r.err, namespace: r.namespace, name: r.name,
		note: noteOf(r.c, typ, r.t.GVR(), nil),
	}
	if s.err == nil && s.note != nil {
		s.err = s.note.unfit()
	}
	return s
}

// With returns a handle whose writes carry the options that o sets, and those of r that o leaves at zero. With cannot
// unset an option: make another handle with For.
func (r Resource[T]) With(o WriteOptions) Resource[T] { return Resource[T]{r.untyped.with(o)} }

func (r resource) with(o WriteOptions) resource {
	r.write = r.write.with(o)
	if r.err == nil {
		r.err = o.validate()
	}
	return r
}

// In returns a handle that is bound to one namespace. Keys and objects without a namespace are taken to be in it, and
// lists and watches cover only it. A call that names another namespace returns a [*UsageError] and sends nothing. If In
// is called on a bound handle with another namespace, every call of the new handle does the same. A handle on a
// cluster-wide resource stays as it is.
func (r Resource[T]) In(namespace string) Resource[T] { return Resource[T]{r.untyped.in(namespace)} }

func (r resource) in(namespace string) resource {
	switch err := meta.ValidSegment("namespace", namespace); {
	case r.err != nil || r.t.Scope == meta.Cluster:
	case err != nil:
		r.err = fmt.Errorf("client.Resource.In: %w", err)
	case r.namespace != "" && r.namespace != namespace:
		r.err = fmt.Errorf("client.Resource.In: namespace must be %q, which this handle is bound to, got %q", r.namespace, namespace)
	default:
		r.namespace = namespace
	}
	return r
}

// Type returns the descriptor.
func (r Resource[T]) Type() Type[T] { return Type[T](r.untyped.t) }

// GVR returns the descriptor's resource, in Type.Version.
func (r Resource[T]) GVR() meta.GVR { return r.untyped.t.GVR() }

// typed returns obj, which is nil or a T, as a T.
func typed[T meta.Object](obj meta.Object, err error) (T, error) {
	t, _ := obj.(T)
	return t, err
}

// exchange sends a request whose answer is one object of the resource's kind.
func (r resource) exchange(ctx context.Context, q request) (obj meta.Object, item jsonstream.Item, err error) {
	if err := r.usable(); err != nil {
		return obj, item, q.fail(&UsageError{Err: err})
	}
	err = r.c.call(ctx, q, func(resp *http.Response) (err error) {
		defer func() { _ = resp.Body.Close() }()
		if item, err = jsonstream.ReadObject(resp.Body, r.c.streamOptions(true)); err != nil {
			return unread(err, readError(ctx, resp, err))
		}
		if err = refusal(item.Raw, item.Kind); err != nil {
			return err
		}
		r.wrote(ctx, q, item)
		obj, err = r.decode(item)
		return err
	})
	return obj, item, r.missing(ctx, q, err)
}

// missing returns err, or the error for a subresource that the resource does not have. A server answers NotFound then,
// as if there were no such object, and a caller that ignores NotFound would silently write nothing.
func (r resource) missing(ctx context.Context, q request, err error) error {
	if q.subresource == "" || q.collection || !isGone(err, q.key.Name) {
		return err
	}
	object := q
	object.verb, object.subresource, object.query, object.contentType, object.body, object.once = "get", "", nil, "", nil, true
	if r.accepted(ctx, object) != nil {
		return err
	}
	return q.fail(&UsageError{Err: fmt.Errorf("the object exists, and %s has no subresource %q: the server said NotFound", r.t.GVR(), q.subresource)})
}

// unreadError is the error of a successful answer whose body cannot be read to its end. Its text is that of its cause.
type unreadError struct{ error }

func (e *unreadError) Unwrap() error { return e.error }

// unread returns said, the error for err, as an unreadError if the connection is the cause, or the body ends too early.
// Any other unreadable body may come from another program than the server.
func unread(err, said error) error {
	if !errors.As(err, new(*jsonstream.ShortError)) && apierrors.NetworkOf(said) == apierrors.NetworkFine {
		return said
	}
	return &unreadError{said}
}

// accepted sends a request whose answer only says that the server accepts it.
func (r resource) accepted(ctx context.Context, q request) error {
	resp, err := r.send(ctx, q)
	if err != nil {
		return err
	}
	defer drain(resp)
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if err != nil { // the server has accepted the request
		return nil
	}
	if err := refusal(answer, "Status"); err != nil {
		return q.fail(err)
	}
	r.deleted(ctx, q, answer)
	return nil
}

// refusal returns the error that an object of the given kind reports within a successful answer. The Go code behind a
// subresource, or that of an aggregated server, may return such a Status as its result, and the API server then sends
// it like any other object: the refusal to evict a pod that several disruption budgets cover comes with 201 Created.
func refusal(object []byte, kind string) error {
	var s meta.Status
	if kind != "Status" || json.Unmarshal(object, &s) != nil || s.Kind != "Status" || s.Status != "Failure" {
		return nil
	}
	return apierrors.FromStatus(s)
}

// request returns a request about the object at key. For a request about the collection, key has no name, and the
// caller sets collection.
func (r resource) request(verb string, key meta.Key) request {
	gvr := r.t.GVR()
	gvr.Version = r.served().Version
	return request{
		versions: r.versions(), verb: verb, resource: gvr, scope: r.t.Scope, key: r.bind(key), bound: r.namespace, name: r.name, accept: r.accept(verb), as: r.as,
	}
}

// bind returns key in the handle's namespace, unless key names one, which the request checks.
func (r resource) bind(key meta.Key) meta.Key {
	key.Namespace = cmp.Or(key.Namespace, r.namespace)
	return key
}

// send sends q, unless the handle cannot be used.
func (r resource) send(ctx context.Context, q request) (*http.Response, error) {
	if err := r.usable(); err != nil {
		return nil, q.fail(&UsageError{Err: err})
	}
	return r.c.do(ctx, q)
}

// usable returns the reason why the handle cannot be used, or nil.
func (r resource) usable() error {
	if r.err == nil && r.c == nil {
		return errors.New("the zero client.Resource has no client; use client.For")
	}
	return r.err
}

// decode decodes a framed object, after it checks the kind against the descriptor.
func (r resource) decode(item jsonstream.Item) (meta.Object, error) {
	if err := r.checkKind(item.APIVersion, item.Kind); err != nil {
		return nil, err
	}
	return r.decodeUnchecked(item)
}

func (r *resource) decodeUnchecked(item jsonstream.Item) (meta.Object, error) {
	gvk := r.gvk()
	o := codec.Options{APIVersion: gvk.APIVersion(), Kind: gvk.Kind, Parts: r.parts}
	if r.objects == nil { // an object of the type r.objects is never written, so its lost fields do not matter
		o.Lossy = r.note.lossyFlag()
	}
	var decoded any
	var err error
	switch {
	case item.Protobuf:
		decoded, err = r.decodeBinary(item, o)
	case r.objects == nil:
		decoded, err = codec.Decode(r.typ, item, o)
	case r.only == nil:
		decoded, err = codec.DecodeType(r.objects, item, o)
	default:
		decoded, err = r.only.Decode(item, o)
	}
	if err != nil {
		return nil, &DecodeError{Identity: item.Identity, Err: err}
	}
	obj, _ := decoded.(meta.Object)
	if r.partial {
		codec.SetTypeMeta(obj, gvk.APIVersion(), gvk.Kind)
	}
	return obj, nil
}

// goType returns the Go type of the objects.
func (r resource) goType() reflect.Type { return cmp.Or(r.objects, r.typ) }

func (r resource) checkKind(apiVersion, kind string) error {
	if r.own && r.kind == (meta.GVK{}) {
		if kind == "" {
			return wrongKind("", "", "", "")
		}
		return nil
	}
	if v := r.versions(); v != nil && !r.partial && !r.own && v.has(apiVersion, kind) {
		return nil // a watch that began before the version changed still sends the old one
	}
	wantAPIVersion, wantKind := r.wireKind()
	return checkKind(apiVersion, kind, wantAPIVersion, wantKind)
}

// wireKind returns the kind that the server gives the objects in its answers.
func (r resource) wireKind() (apiVersion, kind string) {
	if r.partial {
		return partialAPIVersion, partialKind
	}
	gvk := r.gvk()
	return gvk.APIVersion(), gvk.Kind
}

// gvk returns the kind of the objects that the handle reads and writes.
func (r resource) gvk() meta.GVK {
	if r.own {
		return r.kind
	}
	return r.served()
}

func checkKind(apiVersion, kind, wantAPIVersion, wantKind string) error {
	if apiVersion == wantAPIVersion && kind == wantKind {
		return nil
	}
	return wrongKind(apiVersion, kind, wantAPIVersion, wantKind)
}

// encode returns obj as JSON for the server, with its kind.
func (r resource) encode(obj any) ([]byte, error) {
	gvk := r.gvk()
	return codec.Marshal(obj, gvk.APIVersion(), gvk.Kind)
}

// The kind of objects that the server sends as metadata only.
const (
	partialAPIVersion = "meta.k8s.io/v1"
	partialKind       = "PartialObjectMetadata"
)

// Metadata returns a handle on the same resource for which the server sends only the metadata of the objects, whatever
// their kind. The handle reads, watches, patches and deletes; its objects have the kind that the descriptor of r says.
// So a cache of large objects costs only their metadata, on the wire too. A server that does not support it, such as
// some aggregated ones, refuses with an error.
//
// Annotations are metadata. The annotation of kubectl apply (last-applied-configuration) holds the whole object,
// including the data of a Secret. informer.Transform can leave it out of a cache.
//
// Create, Update and Modify would write objects that have nothing but metadata, so they return a [*UsageError], even on
// the status subresource. Use Patch for a change, or r for a whole object.
func Metadata[T meta.Object](r Resource[T]) Resource[*meta.Partial] {
	return Resource[*meta.Partial]{r.untyped.metadata()}
}

func (r resource) metadata() resource {
	m := r.retype(reflect.TypeFor[*meta.Partial]())
	m.partial = true
	return m
}

var errPartialWrite = errors.New(
	"a handle of client.Metadata cannot write whole objects: use Patch, or the Resource that Metadata was called with")

// accept returns the media type that a request of the verb asks for.
func (r resource) accept(verb string) string {
	if !r.partial {
		return jsonType
	}
	kind := partialKind
	if verb == "list" || verb == "deletecollection" { // deletecollection answers with a list of the deleted objects
		kind += "List"
	}
	return jsonType + ";as=" + kind + ";g=meta.k8s.io;v=v1"
}

// writesObjects returns the reason why the handle cannot write whole objects, or nil.
func (r resource) writesObjects() error {
	if r.partial {
		return &UsageError{Err: errPartialWrite}
	}
	return nil
}

// decodeInto decodes an object with decode. A panic in decode becomes the object's error: decode may run on a goroutine
// of the client's, where a panic would end the process, and one bad object must not prevent the others. obj and err are
// set even if decode leaves by runtime.Goexit, which cannot be stopped.
func decodeInto[T any](obj *T, err *error, raw jsonstream.Item, decode func(jsonstream.Item) (T, error)) {
	guard.Call(func() { *obj, *err = decode(raw) }, func(value any) {
		var none T
		*obj, *err = none, &DecodeError{Identity: raw.Identity, Err: shown.Panic("decoding", value)}
	})
}
