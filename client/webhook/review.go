package webhook

import (
	"encoding/json"

	"github.com/bowline-go/bowline/client/meta"
)

// The reviews of admission.k8s.io/v1 and apiextensions.k8s.io/v1, as servers send and read them.

const (
	admissionVersion  = "admission.k8s.io/v1"
	conversionVersion = "apiextensions.k8s.io/v1"
)

// review is a review of any kind.
type review struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Request    json.RawMessage `json:"request,omitempty"`
	Response   any             `json:"response,omitempty"`
}

type groupKind struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

type groupResource struct {
	Group    string `json:"group"`
	Version  string `json:"version"`
	Resource string `json:"resource"`
}

type admissionRequest struct {
	UID         string          `json:"uid"`
	Kind        groupKind       `json:"kind"`
	Resource    groupResource   `json:"resource"`
	Subresource string          `json:"subResource"`
	Name        string          `json:"name"`
	Namespace   string          `json:"namespace"`
	Operation   Operation       `json:"operation"`
	User        User            `json:"userInfo"`
	Object      json.RawMessage `json:"object"`
	OldObject   json.RawMessage `json:"oldObject"`
	DryRun      bool            `json:"dryRun"`
	Options     json.RawMessage `json:"options"`
}

type admissionResponse struct {
	UID              string            `json:"uid"`
	Allowed          bool              `json:"allowed"`
	Status           *meta.Status      `json:"status,omitempty"`
	Patch            []byte            `json:"patch,omitempty"`
	PatchType        string            `json:"patchType,omitempty"`
	AuditAnnotations map[string]string `json:"auditAnnotations,omitempty"`
	Warnings         []string          `json:"warnings,omitempty"`
}

type conversionRequest struct {
	UID     string            `json:"uid"`
	Desired string            `json:"desiredAPIVersion"`
	Objects []json.RawMessage `json:"objects"`
}

type conversionResponse struct {
	UID       string            `json:"uid"`
	Converted []json.RawMessage `json:"convertedObjects"`
	Result    meta.Status       `json:"result"`
}
