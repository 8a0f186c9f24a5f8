// Package v1 is the folder api/v1 of a project of Kubebuilder. The generated DeepCopy methods and the registration in a
// scheme are not here, because Bowline needs neither; they may stay.
//
// +kubebuilder:object:generate=true
// +groupName=web.example.com
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SiteSpec is the site that is wanted.
type SiteSpec struct {
	// Host is the DNS name.
	// +kubebuilder:validation:MaxLength=253
	Host string `json:"host"`

	// Replicas is the number of servers.
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`
}

// SiteStatus is the site that there is.
type SiteStatus struct {
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Site is a web site.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Host",type=string,JSONPath=`.spec.host`
type Site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   SiteSpec   `json:"spec"`
	Status SiteStatus `json:"status,omitempty"`
}
