package crd

import (
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// Definitions returns the resource of CustomResourceDefinitions, in version v1 of apiextensions.k8s.io.
func Definitions() client.Type[*Definition] {
	return client.Type[*Definition]{
		Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Resource: "customresourcedefinitions",
		Scope: meta.Cluster,
	}
}

// Definition is a CustomResourceDefinition. It has every member of version v1, so it can be read, changed and written
// with a handle of [Definitions].
type Definition struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            Spec   `json:"spec"`
	Status          Status `json:"status,omitzero"`
}

// Spec says which resource the server serves.
type Spec struct {
	Group string `json:"group"`
	// Scope is "Namespaced" or "Cluster".
	Scope      string      `json:"scope"`
	Names      Names       `json:"names"`
	Versions   []Version   `json:"versions" patchStrategy:"merge" patchMergeKey:"name"`
	Conversion *Conversion `json:"conversion,omitempty"`
	// PreserveUnknownFields is false in every definition of version v1 that can be written.
	PreserveUnknownFields bool `json:"preserveUnknownFields,omitempty"`
}

// Names are the names of a resource and its kind.
type Names struct {
	Kind       string   `json:"kind"`
	ListKind   string   `json:"listKind,omitempty"`
	Plural     string   `json:"plural"`
	Singular   string   `json:"singular,omitempty"`
	ShortNames []string `json:"shortNames,omitempty"`
	Categories []string `json:"categories,omitempty"`
}

// Version is one version of a resource. [VersionOf] makes one from a Go type.
type Version struct {
	Name    string `json:"name"`
	Served  bool   `json:"served"`
	Storage bool   `json:"storage"`
	// Deprecated makes the server warn the clients of the version, with DeprecationWarning or, if that is nil, with the
	// server's own text.
	Deprecated         bool              `json:"deprecated,omitempty"`
	DeprecationWarning *string           `json:"deprecationWarning,omitempty"`
	Schema             Validation        `json:"schema,omitzero"`
	Subresources       Subresources      `json:"subresources,omitzero"`
	Columns            []Column          `json:"additionalPrinterColumns,omitempty"`
	SelectableFields   []SelectableField `json:"selectableFields,omitempty"`
}

// Validation has the schema of a version.
type Validation struct {
	OpenAPIV3Schema *Schema `json:"openAPIV3Schema,omitempty"`
}

// Subresources are the subresources of a version. The version has those that are not nil.
type Subresources struct {
	Status *StatusSubresource `json:"status,omitempty"`
	Scale  *Scale             `json:"scale,omitempty"`
}

// StatusSubresource has no members.
type StatusSubresource struct{}

// Scale has the paths of the values that the subresource scale shows. The paths are JSON paths without lists, such as
// ".spec.replicas".
type Scale struct {
	// SpecReplicas is below .spec, and StatusReplicas below .status.
	SpecReplicas   string `json:"specReplicasPath"`
	StatusReplicas string `json:"statusReplicasPath"`
	// LabelSelector is the path of a string with a label selector, for the HorizontalPodAutoscaler. Empty means that
	// there is none.
	LabelSelector string `json:"labelSelectorPath,omitempty"`
}

// Column is a column of kubectl get.
type Column struct {
	Name string `json:"name"`
	// Type is "boolean", "date", "integer", "number" or "string". If it is empty, [Of] finds it in the schema. If the
	// path has anything but names of members, such as an index, [Of] uses "string".
	Type string `json:"type"`
	// JSONPath is a JSON path, such as ".spec.replicas".
	JSONPath string `json:"jsonPath"`
	Format   string `json:"format,omitempty"`
	// Description is for people and tools; kubectl get does not show it.
	Description string `json:"description,omitempty"`
	// Priority above 0 shows the column only with -o wide.
	Priority int32 `json:"priority,omitempty"`
}

// SelectableField is a field that field selectors may name, such as ".spec.color".
type SelectableField struct {
	JSONPath string `json:"jsonPath"`
}

// Conversion says how the server converts between versions.
type Conversion struct {
	// Strategy is "None", which only changes the apiVersion, or "Webhook".
	Strategy string             `json:"strategy"`
	Webhook  *ConversionWebhook `json:"webhook,omitempty"`
}

// ConversionWebhook is the webhook that converts objects.
type ConversionWebhook struct {
	Client   WebhookClient `json:"clientConfig"`
	Versions []string      `json:"conversionReviewVersions"`
}

// WebhookClient says how the server reaches a webhook: by URL, or as a Service.
type WebhookClient struct {
	URL     string          `json:"url,omitempty"`
	Service *WebhookService `json:"service,omitempty"`
	// CABundle has the PEM certificates that the server trusts. Empty means that somebody else sets it: [Install] keeps
	// the bundle of the server's definition.
	CABundle []byte `json:"caBundle,omitempty"`
}

// WebhookService is the Service of a webhook.
type WebhookService struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Path      string `json:"path,omitempty"`
	// Port 0 means 443.
	Port int32 `json:"port,omitempty"`
}

// Status is what the server says about a definition.
type Status struct {
	Conditions    []meta.Condition `json:"conditions,omitempty"`
	AcceptedNames Names            `json:"acceptedNames,omitzero"`
	// StoredVersions are the versions in which objects may still be stored.
	StoredVersions     []string `json:"storedVersions,omitempty"`
	ObservedGeneration int64    `json:"observedGeneration,omitempty"`
}
