package client

import "github.com/bowline-go/bowline/client/meta"

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
