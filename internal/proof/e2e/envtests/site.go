package envtests

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Site is a site in the web.
type Site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   SiteSpec   `json:"spec,omitempty"`
	Status SiteStatus `json:"status,omitempty"`
}

// SiteSpec is what users want.
type SiteSpec struct {
	Host     string `json:"host"`
	Image    string `json:"image"`
	Port     int32  `json:"port,omitempty"`
	Replicas *int32 `json:"replicas,omitempty"`
}

// SiteStatus is what the operator found.
type SiteStatus struct {
	Available  int32              `json:"available,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// SiteList is a list of sites.
type SiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Site `json:"items"`
}

// addToScheme adds the types to a scheme.
func addToScheme(s *runtime.Scheme) {
	v := schema.GroupVersion{Group: "web.example.com", Version: "v1"}
	s.AddKnownTypes(v, &Site{}, &SiteList{})
	metav1.AddToGroupVersion(s, v)
}

// DeepCopyObject implements runtime.Object.
func (s *Site) DeepCopyObject() runtime.Object {
	c := *s
	c.ObjectMeta = *s.ObjectMeta.DeepCopy()
	if s.Spec.Replicas != nil {
		c.Spec.Replicas = new(*s.Spec.Replicas)
	}
	c.Status.Conditions = make([]metav1.Condition, len(s.Status.Conditions))
	copy(c.Status.Conditions, s.Status.Conditions)
	return &c
}

// DeepCopyObject implements runtime.Object.
func (l *SiteList) DeepCopyObject() runtime.Object {
	c := *l
	c.Items = make([]Site, len(l.Items))
	for i := range l.Items {
		c.Items[i] = *l.Items[i].DeepCopyObject().(*Site)
	}
	return &c
}
