package client

import (
	"context"
	"fmt"

	"github.com/bowline-go/bowline/client/meta"
)

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

// Bind assigns a pod to a node, as a scheduler does. Nil means that the server has stored it. A pod that has a node already,
// be it the same one, is a Conflict, and so is one that is being deleted. That the node exists is not checked.
//
// pods is a handle on core v1 pods, of any T.
func Bind[T meta.Object](ctx context.Context, pods Resource[T], key meta.Key, node string) error {
	q := pods.request("create", key)
	q.subresource = "binding"
	err := pods.is("client.Bind", "pods")
	if err == nil {
		if err = meta.ValidSegment("node", node); err != nil {
			err = fmt.Errorf("client.Bind: %w", err)
		}
	}
	if err != nil {
		return q.fail(&UsageError{Err: err})
	}
	return pods.call(ctx, q, bindingBody{
		Kind: "Binding", APIVersion: "v1", Metadata: keyFields(q.key),
		Target: bindTarget{APIVersion: "v1", Kind: "Node", Name: node},
	})
}
