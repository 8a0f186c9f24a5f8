package client

import (
	"context"
	"fmt"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

// Sub is a handle on a subresource. T is the object itself, as for status, or what the subresource has in its place, as for
// scale. It carries the options of the Resource that it comes from. Like that it is a small value, safe for use by several
// goroutines at once.
//
// What a subresource does not serve is the server's to say: an approval has no Patch of its own kind, and only some have Create.
type Sub[T meta.Object] struct {
	r    Resource[T]
	name string
}

// Status returns the status subresource. A write to it changes nothing but status, and for resources that have it, a write
// to the object itself changes everything but status.
func (r Resource[T]) Status() Sub[T] { return r.Sub("status") }

// Sub returns a subresource that takes and returns the object itself, as status, and the ephemeralcontainers and resize of
// pods, the approval of certificate signing requests and the finalize of namespaces do. name is one segment of the path.
func (r Resource[T]) Sub(name string) Sub[T] {
	if err := meta.ValidSegment("subresource", name); err != nil && r.err == nil {
		r.err = fmt.Errorf("client.Resource.Sub: %w", err)
	}
	return Sub[T]{r: r, name: name}
}

// SubOf returns a subresource that takes and returns an S instead of the object. Which kind that is, S itself must say when
// it is written, unless the server takes the only one that it can be; and what comes is not compared with anything, so S
// should keep its kind. [ScaleOf] is a SubOf that knows better.
func SubOf[S, T meta.Object](r Resource[T], name string) Sub[S] {
	return subOf[S](r, name, meta.GVK{})
}

// subOf is SubOf for a known kind.
func subOf[S, T meta.Object](r Resource[T], name string, kind meta.GVK) Sub[S] {
	return withKind[S](r, kind).Sub(name)
}

// withKind returns the handle with objects of another type and kind, which r's descriptor says only where they are.
func withKind[S, T meta.Object](r Resource[T], kind meta.GVK) Resource[S] {
	s := retyped[S](r)
	s.own, s.kind = true, kind
	return s
}

func (s Sub[T]) request(verb string, key meta.Key) request {
	q := s.r.request(verb, key)
	q.subresource = s.name
	return q
}

// Get reads the object through the subresource.
func (s Sub[T]) Get(ctx context.Context, key meta.Key) (T, error) {
	obj, _, err := s.r.get(ctx, key, s.name)
	return obj, err
}

// Create sends obj to the subresource of the object that key names, and returns the server's answer. That is how a
// subresource that does something is called, as opposed to one that is a part of the object.
func (s Sub[T]) Create(ctx context.Context, key meta.Key, obj T) (T, error) {
	q := s.request("create", key)
	if err := meta.ValidSegment("name", key.Name); err != nil { // or it would be about obj itself
		var none T
		return none, q.fail(&UsageError{Err: err})
	}
	return s.r.sendObject(ctx, q, obj)
}

// Update replaces the subresource's part of the object with obj's; see [Resource.Update] for resource versions, and for a T that
// has no field for something. Of the status subresource only what it may write counts: status and metadata.
func (s Sub[T]) Update(ctx context.Context, obj T) (T, error) {
	return s.r.sendObject(ctx, s.request("update", meta.Key{}), obj)
}

// Patch changes the subresource's part of the object as p says.
func (s Sub[T]) Patch(ctx context.Context, key meta.Key, p patch.Patch) (T, error) {
	return s.r.sendPatch(ctx, s.request("patch", key), p)
}

// Modify is [Resource.Modify] for the subresource.
func (s Sub[T]) Modify(ctx context.Context, key meta.Key, mutate func(T) error, o ...ModifyOptions) (T, error) {
	return s.r.modify(ctx, key, s.name, mutate, o)
}

// Apply is [Resource.Apply] for the subresource.
func (s Sub[T]) Apply(ctx context.Context, key meta.Key, config any, o ApplyOptions) (T, error) {
	return s.r.sendApply(ctx, s.request("apply", key), config, o)
}

// Scale is how many instances a workload has and should have: the scale subresource of deployments, stateful sets, replica
// sets and replication controllers, and of custom resources that have it (autoscaling/v1).
type Scale struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            ScaleSpec   `json:"spec"`
	Status          ScaleStatus `json:"status,omitzero"`
}

// ScaleSpec is what there should be.
type ScaleSpec struct {
	// Replicas is how many instances are wanted; 0 is none.
	Replicas int32 `json:"replicas"`
}

// ScaleStatus is what there is.
type ScaleStatus struct {
	// Replicas is how many instances there are.
	Replicas int32 `json:"replicas"`
	// Selector is the label selector that finds them, as text.
	Selector string `json:"selector,omitempty"`
}

var scaleKind = meta.GVK{Group: "autoscaling", Version: "v1", Kind: "Scale"}

// ScaleOf returns the scale subresource, which is the same whatever is scaled. Its metadata is that of the object: a resource
// version in it is one of the object's, so that Update and Modify notice what others change.
//
//	scale, err := client.ScaleOf(deployments).Modify(ctx, key, func(s *client.Scale) error {
//		s.Spec.Replicas++
//		return nil
//	})
func ScaleOf[T meta.Object](r Resource[T]) Sub[*Scale] { return subOf[*Scale](r, "scale", scaleKind) }
