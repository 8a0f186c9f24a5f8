package client

import (
	"context"
	"fmt"
	"reflect"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

// Sub is a handle on a subresource. T is the object itself, as for status, or the subresource's own type, as for scale.
// A Sub has the options of the Resource that it comes from. Like a Resource it is a small value, safe for use by
// several goroutines at once.
//
// The server decides which methods a subresource supports: the finalize of namespaces has only Update, for example,
// and only some have Create.
type Sub[T meta.Object] struct {
	untyped resource
	name    string
}

// Status returns the status subresource. A write to it changes nothing but status, and for resources that have it, a
// write to the object itself changes everything but status. If the resource has no status subresource
// (subresources.status in a CustomResourceDefinition, Status in a clienttest.Resource), a call returns a [*UsageError]
// that says so.
func (r Resource[T]) Status() Sub[T] { return r.Sub("status") }

// Sub returns a subresource that takes and returns the object itself. Examples are status, the ephemeralcontainers and
// resize of pods, the approval of certificate signing requests and the finalize of namespaces. name is one segment of
// the path.
func (r Resource[T]) Sub(name string) Sub[T] {
	return Sub[T]{r.untyped.checkSub(name), name}
}

// SubOf returns a subresource that takes and returns an S instead of the object. An S that is written must name its
// kind itself, unless the server accepts only one kind. The client does not check the kind of answers, so S should have
// fields for apiVersion and kind. [ScaleOf] is a SubOf that knows the kind.
func SubOf[S, T meta.Object](r Resource[T], name string) Sub[S] {
	return subOf[S](r.untyped, name, meta.GVK{})
}

// subOf is SubOf for a known kind.
func subOf[S meta.Object](r resource, name string, kind meta.GVK) Sub[S] {
	return Resource[S]{r.withKind(reflect.TypeFor[S](), kind)}.Sub(name)
}

// withKind returns the handle with objects of another type and kind. From r's descriptor it uses only the path.
func (r resource) withKind(typ reflect.Type, kind meta.GVK) resource {
	s := r.retype(typ)
	s.own, s.kind = true, kind
	return s
}

// checkSub returns r. If name cannot be the name of a subresource, every call of the returned handle fails.
func (r resource) checkSub(name string) resource {
	if err := meta.ValidSegment("subresource", name); err != nil && r.err == nil {
		r.err = fmt.Errorf("client.Resource.Sub: %w", err)
	}
	return r
}

// subrequest returns a request about a subresource of the object at key, or about the object if the name is empty.
func (r resource) subrequest(verb string, key meta.Key, subresource string) request {
	q := r.request(verb, key)
	q.subresource = subresource
	return q
}

// Create sends obj to the subresource of the object that key names, and returns the server's answer. Use it to call a
// subresource that performs an action, as opposed to one that is a part of the object.
func (s Sub[T]) Create(ctx context.Context, key meta.Key, obj T) (T, error) {
	return typed[T](s.untyped.createSub(ctx, s.untyped.subrequest("create", key, s.name), obj))
}

func (r resource) createSub(ctx context.Context, q request, obj meta.Object) (meta.Object, error) {
	if err := meta.ValidSegment("name", q.key.Name); err != nil { // without a name the request would be about obj itself
		return nil, q.fail(&UsageError{Err: err})
	}
	return r.sendObject(ctx, q, obj)
}

// Update replaces the subresource's part of the object with obj's; see [Resource.Update] for resource versions, and for
// a T that lacks fields. An update of the status subresource writes only status and metadata.
func (s Sub[T]) Update(ctx context.Context, obj T) (T, error) {
	return typed[T](s.untyped.sendObject(ctx, s.untyped.subrequest("update", meta.Key{}, s.name), obj))
}

// Patch changes the subresource's part of the object as p says.
func (s Sub[T]) Patch(ctx context.Context, key meta.Key, p patch.Patch) (T, error) {
	return typed[T](s.untyped.sendPatch(ctx, s.untyped.subrequest("patch", key, s.name), p))
}

// Modify is [Resource.Modify] through the subresource: it reads (GET) and writes (PUT) the object at the subresource's
// path, so that only the subresource's part changes. It needs the permissions get and update on the subresource.
func (s Sub[T]) Modify(ctx context.Context, key meta.Key, mutate func(T) error) (T, error) {
	return s.ModifyWith(ctx, key, mutate, ModifyOptions{})
}

// ModifyWith is Modify with options.
func (s Sub[T]) ModifyWith(ctx context.Context, key meta.Key, mutate func(T) error, o ModifyOptions) (T, error) {
	return typed[T](s.untyped.modify(ctx, key, s.name, untypedMutate(mutate), o))
}

// Apply is [Resource.Apply] for the subresource.
func (s Sub[T]) Apply(ctx context.Context, key meta.Key, config any, o ApplyOptions) (T, error) {
	return typed[T](s.untyped.sendApply(ctx, s.untyped.subrequest("apply", key, s.name), config, o))
}

// Scale is the present and the wanted number of instances of a workload: the scale subresource of deployments, stateful
// sets, replica sets and replication controllers, and of custom resources that have it (autoscaling/v1).
type Scale struct {
	meta.ObjectMeta `json:"metadata"`
	// Spec is the wanted scale. Replicas 0 means none.
	Spec struct {
		Replicas int32 `json:"replicas"`
	} `json:"spec"`
	// Status is the present scale. Selector is the label selector that finds the instances, as text.
	Status struct {
		Replicas int32  `json:"replicas"`
		Selector string `json:"selector,omitempty"`
	} `json:"status,omitzero"`
}

var scaleKind = meta.GVK{Group: "autoscaling", Version: "v1", Kind: "Scale"}

// ScaleOf returns the scale subresource, whose type is the same for every workload. Its metadata is that of the object.
// So a resource version in it is the object's, and Update and Modify detect other writes to the object.
//
//	scale, err := client.ScaleOf(deployments).Modify(ctx, key, func(s *client.Scale) error {
//		s.Spec.Replicas++
//		return nil
//	})
func ScaleOf[T meta.Object](r Resource[T]) Sub[*Scale] {
	return subOf[*Scale](r.untyped, "scale", scaleKind)
}
