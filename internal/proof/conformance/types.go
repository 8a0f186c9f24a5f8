package conformance

import (
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/proof/conformance/calls"
)

// Namespace has the fields that the suite needs.
type Namespace struct {
	meta.ObjectMeta `json:"metadata"`
}

// ConfigMap is a resource without a status and without a generation.
type ConfigMap struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
	BinaryData      map[string][]byte `json:"binaryData,omitempty"`
}

// ConfigMapNames is a projection of a ConfigMap.
type ConfigMapNames struct {
	meta.Identity `json:"metadata"`
	Data          map[string]string `json:"data,omitempty"`
}

// Deployment is a resource with a status subresource and a generation.
type Deployment struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            DeploymentSpec   `json:"spec"`
	Status          DeploymentStatus `json:"status,omitzero"`
}

// The parts of a Deployment's spec are those of the table of calls.
type (
	DeploymentSpec = calls.DeploymentSpec
	PodTemplate    = calls.PodTemplate
	PodSpec        = calls.PodSpec
	Container      = calls.Container
)

// DeploymentStatus is the status that a controller reports.
type DeploymentStatus struct {
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	Replicas           int   `json:"replicas,omitempty"`
}

// Lease has a time with microseconds.
type Lease struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            LeaseSpec `json:"spec"`
}

// LeaseSpec has the fields that leader election writes.
type LeaseSpec struct {
	HolderIdentity string         `json:"holderIdentity,omitempty"`
	RenewTime      meta.MicroTime `json:"renewTime,omitzero"`
}

// The resources of the suite.
var (
	Namespaces     = client.Type[*Namespace]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster}
	ConfigMaps     = client.Type[*ConfigMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
	ConfigMapViews = client.Type[*ConfigMapNames]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
	Deployments    = client.Type[*Deployment]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}
	Leases         = client.Type[*Lease]{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Resource: "leases"}
)

func newDeployment(namespace, name string) *Deployment {
	d := &Deployment{ObjectMeta: meta.ObjectMeta{Namespace: namespace, Name: name}}
	labels := map[string]string{"app": name}
	d.Spec.Selector = meta.LabelSelector{MatchLabels: labels}
	d.Spec.Template.Metadata.Labels = labels
	d.Spec.Template.Spec.Containers = []Container{{Name: "main", Image: "example.invalid/main:1"}}
	return d
}
