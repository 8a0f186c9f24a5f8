// Package shapes has types in the shapes of well-known APIs, with the markers of controller-gen and the tags of crd.
//
// +groupName=shapes.bowline.example
// +versionName=v1
package shapes

import (
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Scalar has a field of each basic type.
//
// +kubebuilder:subresource:status
type Scalar struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ScalarSpec   `json:"spec"`
	Status ScalarStatus `json:"status,omitempty"`
}

// ScalarStatus is the status.
type ScalarStatus struct {
	Phase string `json:"phase,omitempty"`
}

// ScalarSpec is the spec.
type ScalarSpec struct {
	Text    string   `json:"text"`
	Maybe   *string  `json:"maybe,omitempty"`
	Flag    bool     `json:"flag,omitempty"`
	Int     int      `json:"int,omitempty"`
	Int32   int32    `json:"int32,omitempty"`
	Int64   int64    `json:"int64,omitempty"`
	Uint32  uint32   `json:"uint32,omitempty"`
	Int8    int8     `json:"int8,omitempty"`
	Bytes   []byte   `json:"bytes,omitempty"`
	Pointer *int32   `json:"pointer"`
	Array   [2]int32 `json:"array"`
}

// Time has times, durations and numbers with units.
//
// +kubebuilder:subresource:status
type Time struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec TimeSpec `json:"spec"`
}

// TimeSpec is the spec.
type TimeSpec struct {
	At       metav1.Time         `json:"at,omitzero"`
	Null     metav1.Time         `json:"null,omitempty"`
	Micro    *metav1.MicroTime   `json:"micro,omitempty"`
	Every    metav1.Duration     `json:"every,omitempty"`
	Nanos    time.Duration       `json:"nanos,omitempty"`
	Size     resource.Quantity   `json:"size,omitempty"`
	Surge    intstr.IntOrString  `json:"surge,omitempty"`
	Limits   corev1.ResourceList `json:"limits,omitempty"`
	Optional *resource.Quantity  `json:"optional,omitempty"`
}

// Limited has values with limits and defaults.
type Limited struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec LimitedSpec `json:"spec"`
}

// LimitedSpec is the spec.
type LimitedSpec struct {
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z]+$`
	Name string `json:"name" crd:"minLength=1; maxLength=63; pattern=^[a-z]+$"`
	// +kubebuilder:validation:Enum=red;green
	// +kubebuilder:default=red
	Color string `json:"color,omitempty" crd:"enum=red,green; default=red"`
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	// +kubebuilder:validation:MultipleOf=2
	// +kubebuilder:default=4
	Steps int32 `json:"steps" crd:"minimum=1; maximum=10; multipleOf=2; default=4"`
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:ExclusiveMinimum=true
	Above int `json:"above,omitempty" crd:"exclusiveMinimum=0"`
	// +kubebuilder:validation:Format=hostname
	Host string `json:"host,omitempty" crd:"format=hostname"`
	// +optional
	Loose string `json:"loose" crd:"optional"`
	// +required
	Strict string `json:"strict,omitempty" crd:"required"`
	// +nullable
	Null *string `json:"null,omitempty" crd:"nullable"`
	// +kubebuilder:default={port: 80}
	Target Target `json:"target,omitempty" crd:"default={\"port\":80}"`
}

// Target is a port.
type Target struct {
	Port int32 `json:"port"`
}

// Certificate is in the shape of an issuer of certificates: alternatives, references and conditions.
//
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=cert;certs,categories=all
// +kubebuilder:printcolumn:name=Store,type=string,JSONPath=`.spec.store`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type Certificate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   CertificateSpec   `json:"spec"`
	Status CertificateStatus `json:"status,omitempty"`
}

// CertificateSpec is the spec.
type CertificateSpec struct {
	Store     string           `json:"store"`
	Duration  *metav1.Duration `json:"duration,omitempty"`
	DNSNames  []string         `json:"dnsNames,omitempty"`
	IssuerRef Reference        `json:"issuerRef"`
	// +kubebuilder:validation:Enum="digital signature";"server auth"
	Usage string `json:"usage,omitempty" crd:"enum=digital signature,server auth"`
}

// Reference names an object.
type Reference struct {
	Name string `json:"name"`
	Kind string `json:"kind,omitempty"`
}

// CertificateStatus is the status.
type CertificateStatus struct {
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	NotAfter   *metav1.Time       `json:"notAfter,omitempty"`
}

// Route is in the shape of a gateway's route: lists with keys, rules in CEL, and pointers.
//
// +kubebuilder:subresource:status
// +kubebuilder:validation:XValidation:rule="self.metadata.name != 'all'",message="the name is reserved"
type Route struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec RouteSpec `json:"spec"`
}

// RouteSpec is the spec.
type RouteSpec struct {
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=253
	Hostnames []string `json:"hostnames,omitempty" crd:"listType=set; maxItems=16; items.maxLength=253"`
	// +listType=map
	// +listMapKey=name
	// +listMapKey=protocol
	// +kubebuilder:validation:MinItems=1
	Ports []Port `json:"ports" crd:"listType=map; listMapKeys=name,protocol; minItems=1; required"`
	// +listType=atomic
	// +kubebuilder:validation:items:XValidation:rule="self.weight >= 0",message="a weight is not negative",fieldPath=".weight",reason=FieldValueForbidden
	Backends []Backend `json:"backends,omitempty" crd:"listType=atomic; items.rule=self.weight >= 0; items.message=a weight is not negative; items.reason=FieldValueForbidden; items.fieldPath=.weight"`
}

// Port is a port of a route.
type Port struct {
	Name string `json:"name"`
	// +kubebuilder:default=TCP
	Protocol string `json:"protocol,omitempty" crd:"default=TCP"`
	Number   int32  `json:"number"`
}

// Backend is a backend of a route.
type Backend struct {
	Name   string `json:"name"`
	Weight *int32 `json:"weight,omitempty"`
}

// Monitor is in the shape of a monitor: selectors, maps and nested lists.
type Monitor struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec MonitorSpec `json:"spec"`
}

// MonitorSpec is the spec.
type MonitorSpec struct {
	Selector  metav1.LabelSelector  `json:"selector"`
	Namespace *metav1.LabelSelector `json:"namespace,omitempty"`
	Params    map[string][]string   `json:"params,omitempty"`
	// +mapType=atomic
	Relabel map[string]string       `json:"relabel,omitempty" crd:"mapType=atomic"`
	Matrix  [][]string              `json:"matrix,omitempty"`
	Ref     *corev1.ObjectReference `json:"ref,omitempty"`
}

// Workflow is in the shape of a workflow: any values, and members without a schema.
type Workflow struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec WorkflowSpec `json:"spec"`
}

// WorkflowSpec is the spec.
type WorkflowSpec struct {
	// +kubebuilder:pruning:PreserveUnknownFields
	Template runtime.RawExtension  `json:"template,omitempty" crd:"preserveUnknown"`
	Value    *apiextensionsv1.JSON `json:"value,omitempty"`
	// +kubebuilder:pruning:PreserveUnknownFields
	Options Options `json:"options,omitempty" crd:"preserveUnknown"`
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:EmbeddedResource
	Object runtime.RawExtension `json:"object,omitempty" crd:"embedded; preserveUnknown"`
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	Raw json.RawMessage `json:"raw,omitempty"`
}

// Options are options.
type Options struct {
	Known string `json:"known,omitempty"`
}

// Scaled has the subresource scale, and is in the shape of a machine pool with a template.
//
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:scope=Cluster,path=scaleds,singular=scaled
// +kubebuilder:deprecatedversion:warning="use another"
type Scaled struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ScaledSpec   `json:"spec"`
	Status ScaledStatus `json:"status,omitempty"`
}

// ScaledSpec is the spec.
type ScaledSpec struct {
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:default=1
	Replicas *int32   `json:"replicas,omitempty" crd:"minimum=0; default=1"`
	Template Template `json:"template"`
}

// Template is a template of a machine.
type Template struct {
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Image             string `json:"image"`
}

// ScaledStatus is the status.
type ScaledStatus struct {
	Replicas int32  `json:"replicas,omitempty"`
	Selector string `json:"selector,omitempty"`
}

// Embedding embeds structs.
type Embedding struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec EmbeddingSpec `json:"spec"`
}

// EmbeddingSpec is the spec.
type EmbeddingSpec struct {
	Shared `json:",inline"`
	Nested Shared            `json:"nested"`
	Many   map[string]Shared `json:"many,omitempty"`
	List   []*Shared         `json:"list"`
}

// Shared is embedded.
type Shared struct {
	Owner string  `json:"owner"`
	Class *string `json:"class,omitempty"`
}

// Runner is in the shape of an operator that runs pods: it has a whole PodSpec.
//
// +kubebuilder:subresource:status
type Runner struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec RunnerSpec `json:"spec"`
}

// RunnerSpec is the spec.
type RunnerSpec struct {
	Pod corev1.PodSpec `json:"pod"`
}

// Selectable has a field for field selectors, and is not namespaced.
//
// +kubebuilder:resource:scope=Cluster
// +kubebuilder:selectablefield:JSONPath=`.spec.color`
type Selectable struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec SelectableSpec `json:"spec"`
}

// SelectableSpec is the spec.
type SelectableSpec struct {
	Color string `json:"color"`
}
