package sample

import (
	_ "embed" // for the definition

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// Foo asks for a deployment with a number of replicas, and says how many of them are available.
type Foo struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            FooSpec   `json:"spec"`
	Status          FooStatus `json:"status"`
}

// FooSpec says which deployment a Foo wants.
type FooSpec struct {
	// DeploymentName names the deployment; it is in the namespace of the Foo.
	DeploymentName string `json:"deploymentName"`
	// Replicas may be 0, which scales the deployment to nothing.
	Replicas int `json:"replicas"`
}

// FooStatus is what the controller has found.
type FooStatus struct {
	AvailableReplicas int              `json:"availableReplicas"`
	Conditions        []meta.Condition `json:"conditions,omitempty"`
}

// Foos is the custom resource. Its definition is [Definition].
var Foos = client.Type[*Foo]{Group: "samplecontroller.example.com", Version: "v1alpha1", Kind: "Foo", Resource: "foos"}

// Deployment names the fields of an apps/v1 Deployment that the controller reads and writes.
type Deployment struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            DeploymentSpec `json:"spec"`
	Status          struct {
		Replicas          int `json:"replicas,omitempty"`
		ReadyReplicas     int `json:"readyReplicas,omitempty"`
		AvailableReplicas int `json:"availableReplicas,omitempty"`
	} `json:"status"`
}

// DeploymentSpec is the wanted state of a Deployment. Replicas has no omitempty, so that Ensure writes a zero too.
type DeploymentSpec struct {
	Replicas int                `json:"replicas"`
	Selector meta.LabelSelector `json:"selector"`
	Template Template           `json:"template"`
}

// Template is that of the pods.
type Template struct {
	Metadata struct {
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		Containers []Container `json:"containers"`
	} `json:"spec"`
}

// Container is one container of a pod.
type Container struct {
	Name  string `json:"name"`
	Image string `json:"image"`
}

// Deployments is the built-in resource.
var Deployments = client.Type[*Deployment]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}

// Definition is the CustomResourceDefinition of Foos, as a server takes it.
//
//go:embed foos.json
var Definition string
