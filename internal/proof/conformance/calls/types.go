package calls

import (
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// The types that the calls read and write, as a program would declare them.

// Any has the metadata of any kind.
type Any struct {
	meta.ObjectMeta `json:"metadata"`
}

// ConfigMap has the fields that the calls write.
type ConfigMap struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

// Pod has the fields that a server needs.
type Pod struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            PodSpec   `json:"spec"`
	Status          PodStatus `json:"status,omitzero"`
}

// PodSpec has the containers.
type PodSpec struct {
	Containers []Container `json:"containers"`
}

// Container is one container.
type Container struct {
	Name  string `json:"name"`
	Image string `json:"image"`
}

// PodStatus has the phase.
type PodStatus struct {
	Phase string `json:"phase,omitempty"`
}

// Deployment has the fields that a server needs.
type Deployment struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            DeploymentSpec   `json:"spec"`
	Status          DeploymentStatus `json:"status,omitzero"`
}

// DeploymentSpec is the wanted state.
type DeploymentSpec struct {
	Replicas int                `json:"replicas"`
	Selector meta.LabelSelector `json:"selector"`
	Template PodTemplate        `json:"template"`
}

// PodTemplate is the template of pods.
type PodTemplate struct {
	Metadata struct {
		Labels map[string]string `json:"labels,omitempty"`
	} `json:"metadata"`
	Spec PodSpec `json:"spec"`
}

// DeploymentStatus is the state.
type DeploymentStatus struct {
	Replicas int `json:"replicas,omitempty"`
}

// Namespace is the namespace of the calls that need one.
const Namespace = "wire"

// The resources.
var (
	namespaces  = client.Type[*Any]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster}
	configMaps  = client.Type[*ConfigMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
	pods        = client.Type[*Pod]{Version: "v1", Kind: "Pod", Resource: "pods"}
	accounts    = client.Type[*Any]{Version: "v1", Kind: "ServiceAccount", Resource: "serviceaccounts"}
	deployments = client.Type[*Deployment]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}
	requests    = client.Type[*meta.Unstructured]{
		Group: "certificates.k8s.io", Version: "v1", Kind: "CertificateSigningRequest", Resource: "certificatesigningrequests",
		Scope: meta.Cluster,
	}
	dynamic = client.Type[*meta.Unstructured](configMaps)
)

func at(name string) meta.ObjectMeta { return meta.ObjectMeta{Namespace: Namespace, Name: name} }

func key(name string) meta.Key { return meta.Key{Namespace: Namespace, Name: name} }

func configMap(name, value string) *ConfigMap {
	c := &ConfigMap{ObjectMeta: at(name), Data: map[string]string{"k": value}}
	c.Labels = map[string]string{"app": "wire"}
	return c
}

func pod(name string) *Pod {
	p := &Pod{ObjectMeta: at(name)}
	p.Labels = map[string]string{"app": "wire"}
	p.Spec.Containers = []Container{{Name: "main", Image: "example.com/main:1"}}
	return p
}

func deployment(replicas int) *Deployment {
	labels := map[string]string{"app": "wire"}
	d := &Deployment{ObjectMeta: at("a")}
	d.Spec.Replicas = replicas
	d.Spec.Selector.MatchLabels = labels
	d.Spec.Template.Metadata.Labels = labels
	d.Spec.Template.Spec = pod("").Spec
	return d
}
