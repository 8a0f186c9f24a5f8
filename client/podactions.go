package client

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/bowline-go/bowline/client/meta"
)

type evictionBody struct {
	Kind          string      `json:"kind"`
	APIVersion    string      `json:"apiVersion"`
	Metadata      bodyKey     `json:"metadata"`
	DeleteOptions *deleteBody `json:"deleteOptions,omitempty"`
}

// bodyKey is the metadata of an object that has only a key.
type bodyKey struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
}

// Evict deletes a pod unless that would leave fewer pods than a PodDisruptionBudget requires (policy/v1). Nil means
// that the server has accepted the eviction; the pod exists until it has ended. The zero DeleteOptions evict any pod of
// that name, with the pod's own grace period.
//
// If the budget does not allow the eviction now, Evict returns a TooManyRequests error (429) with the cause
// apierrors.CauseDisruptionBudget. Evict does not retry: other pods decide when there is room again, and the caller may
// want to evict another pod, or give up. If several budgets cover the pod, the server always answers InternalError.
//
// pods is a handle on core v1 pods, of any T.
func Evict[T meta.Object](ctx context.Context, pods Resource[T], key meta.Key, o DeleteOptions) error {
	return pods.untyped.evict(ctx, key, o)
}

func (r resource) evict(ctx context.Context, key meta.Key, o DeleteOptions) error {
	q := r.subrequest("create", key, "eviction")
	if err := r.is("client.Evict", "pods"); err != nil {
		return q.fail(&UsageError{Err: err})
	}
	body := evictionBody{Kind: "Eviction", APIVersion: "policy/v1", Metadata: keyFields(q.key)}
	if o != (DeleteOptions{}) {
		options, err := o.body(false)
		if err != nil {
			return q.fail(&UsageError{Err: err})
		}
		body.DeleteOptions = &options
	}
	return r.call(ctx, q, body)
}

func keyFields(k meta.Key) bodyKey { return bodyKey{Name: k.Name, Namespace: k.Namespace} }

// is returns an error if the handle is not on the resource of the core group.
func (r resource) is(caller, resource string) error {
	if want := (meta.GVR{Version: "v1", Resource: resource}); r.err == nil && r.c != nil && r.t.GVR() != want {
		return fmt.Errorf("%s: the resource must be core v1 %s, got %s", caller, resource, r.t.GVR())
	}
	return nil
}

// call posts body to a subresource whose answer only says that the server accepts it.
func (r resource) call(ctx context.Context, q request, body any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return q.fail(&UsageError{Err: err})
	}
	q.query, q.accept, q.contentType, q.body = r.write.query(), jsonType, jsonType, encoded
	return r.accepted(ctx, q)
}

type bindingBody struct {
	Kind       string     `json:"kind"`
	APIVersion string     `json:"apiVersion"`
	Metadata   bodyKey    `json:"metadata"`
	Target     bindTarget `json:"target"`
}

type bindTarget struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
}

// Bind assigns a pod to a node, as a scheduler does. Nil means that the server has stored the assignment. Bind returns
// a Conflict if the pod already has a node, even the same one, or is being deleted. The server does not check that the
// node exists.
//
// pods is a handle on core v1 pods, of any T.
func Bind[T meta.Object](ctx context.Context, pods Resource[T], key meta.Key, node string) error {
	return pods.untyped.assign(ctx, key, node)
}

func (r resource) assign(ctx context.Context, key meta.Key, node string) error {
	q := r.subrequest("create", key, "binding")
	err := r.is("client.Bind", "pods")
	if err == nil {
		if err = meta.ValidSegment("node", node); err != nil {
			err = fmt.Errorf("client.Bind: %w", err)
		}
	}
	if err != nil {
		return q.fail(&UsageError{Err: err})
	}
	return r.call(ctx, q, bindingBody{
		Kind: "Binding", APIVersion: "v1", Metadata: keyFields(q.key),
		Target: bindTarget{APIVersion: "v1", Kind: "Node", Name: node},
	})
}
