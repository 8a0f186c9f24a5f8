package tenant

import (
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/builtin/core"
	"github.com/bowline-go/bowline/client/builtin/networking"
	"github.com/bowline-go/bowline/client/builtin/rbac"
	"github.com/bowline-go/bowline/client/crd"
	"github.com/bowline-go/bowline/client/meta"
)

//go:generate go run github.com/bowline-go/bowline/client/typegen -crd -o descriptions.go Tenant OldTenant

// Group is the API group of tenants, and the domain of the labels and annotations that this package reads and writes.
const Group = "capsule.example.com"

// The resources on the server. Tenants are stored as v1beta2.
var (
	Tenants    = client.Type[*Tenant]{Group: Group, Version: "v1beta2", Kind: "Tenant", Resource: "tenants", Scope: meta.Cluster}
	OldTenants = client.Type[*OldTenant]{Group: Group, Version: "v1beta1", Kind: "Tenant", Resource: "tenants", Scope: meta.Cluster}
)

// Tenant gives its owners a number of namespaces, and says what they may do there.
type Tenant struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            Spec   `json:"spec"`
	Status          Status `json:"status"`
}

// Spec is what the administrator of the cluster wants.
type Spec struct {
	// Owners may make namespaces of the tenant.
	Owners []Owner `json:"owners" crd:"minItems=1; listType=map; listMapKeys=kind,name"`
	// Cordoned forbids the owners every change.
	Cordoned bool `json:"cordoned,omitempty"`
	// PreventDeletion forbids to delete the tenant.
	PreventDeletion bool `json:"preventDeletion,omitempty"`
	// NamespaceOptions are about the namespaces.
	NamespaceOptions NamespaceOptions `json:"namespaceOptions,omitzero"`
	// ServiceOptions are about Services.
	ServiceOptions ServiceOptions `json:"serviceOptions,omitzero"`
	// PodOptions are about Pods.
	PodOptions PodOptions `json:"podOptions,omitzero"`
	// IngressOptions are about Ingresses.
	IngressOptions IngressOptions `json:"ingressOptions,omitzero"`
	// StorageClasses are those that claims may name.
	StorageClasses *Classes `json:"storageClasses,omitempty"`
	// PriorityClasses are those that Pods may name.
	PriorityClasses *Classes `json:"priorityClasses,omitempty"`
	// RuntimeClasses are those that Pods may name.
	RuntimeClasses *Classes `json:"runtimeClasses,omitempty"`

	Shared
}

// Shared is what both versions have.
type Shared struct {
	// ContainerRegistries are the hosts that images may come from.
	ContainerRegistries *Allowed `json:"containerRegistries,omitempty"`
	// ImagePullPolicies are those that containers may have; empty means all.
	ImagePullPolicies []PullPolicy `json:"imagePullPolicies,omitzero" crd:"listType=set; items.enum=Always,Never,IfNotPresent"`
	// NodeSelector are the labels of nodes on which Pods may run.
	NodeSelector map[string]string `json:"nodeSelector,omitzero"`
	// NetworkPolicies are made in each namespace.
	NetworkPolicies *NetworkPolicies `json:"networkPolicies,omitempty"`
	// LimitRanges are made in each namespace.
	LimitRanges *LimitRanges `json:"limitRanges,omitempty"`
	// ResourceQuotas are made in each namespace.
	ResourceQuotas *ResourceQuotas `json:"resourceQuotas,omitempty"`
	// AdditionalRoleBindings are made in each namespace, besides those of the owners.
	AdditionalRoleBindings []Binding `json:"additionalRoleBindings,omitzero"`
}

// PullPolicy says when a node pulls an image.
type PullPolicy string

// Owner is a user, a group or a service account (system:serviceaccount:NAMESPACE:NAME) that owns the tenant.
type Owner struct {
	Kind OwnerKind `json:"kind" crd:"enum=User,Group,ServiceAccount"`
	Name string    `json:"name" crd:"minLength=1"`
	// ClusterRoles are what the owner gets in each namespace; absent means admin and capsule-namespace-deleter.
	ClusterRoles []string `json:"clusterRoles,omitzero"`
	// ProxySettings are for a proxy that shows the owner objects outside of namespaces.
	ProxySettings []ProxySetting `json:"proxySettings,omitzero"`
}

// OwnerKind says what an owner is.
type OwnerKind string

// The kinds of owners.
const (
	User           OwnerKind = "User"
	UserGroup      OwnerKind = "Group"
	ServiceAccount OwnerKind = "ServiceAccount"
)

// ProxySetting is a kind of object outside of namespaces.
type ProxySetting struct {
	Kind       string   `json:"kind" crd:"enum=Nodes,StorageClasses,IngressClasses,PriorityClasses"`
	Operations []string `json:"operations" crd:"listType=set; items.enum=List,Update,Delete; required"`
}

// NamespaceOptions limit and complete namespaces.
type NamespaceOptions struct {
	// Quota is how many there may be; absent means any number.
	Quota *int32 `json:"quota,omitempty" crd:"minimum=1"`
	// AdditionalMetadata are put on each.
	AdditionalMetadata Metadata `json:"additionalMetadata,omitzero"`
	// ForbiddenLabels are those that owners must not set.
	ForbiddenLabels Forbidden `json:"forbiddenLabels,omitzero"`
	// ForbiddenAnnotations are those that owners must not set.
	ForbiddenAnnotations Forbidden `json:"forbiddenAnnotations,omitzero"`
}

// ServiceOptions limit and complete Services.
type ServiceOptions struct {
	AdditionalMetadata   Metadata        `json:"additionalMetadata,omitzero"`
	AllowedServices      AllowedServices `json:"allowedServices,omitzero"`
	ExternalIPs          *ExternalIPs    `json:"externalIPs,omitempty"`
	ForbiddenLabels      Forbidden       `json:"forbiddenLabels,omitzero"`
	ForbiddenAnnotations Forbidden       `json:"forbiddenAnnotations,omitzero"`
}

// AllowedServices are the types of Services besides ClusterIP; absent means allowed.
type AllowedServices struct {
	NodePort     *bool `json:"nodePort,omitempty"`
	ExternalName *bool `json:"externalName,omitempty"`
	LoadBalancer *bool `json:"loadBalancer,omitempty"`
}

// ExternalIPs are the networks of the addresses that Services may have.
type ExternalIPs struct {
	Allowed []string `json:"allowed" crd:"required; items.pattern=^[0-9.]+(/[0-9]+)?$"`
}

// PodOptions complete Pods.
type PodOptions struct {
	AdditionalMetadata Metadata `json:"additionalMetadata,omitzero"`
}

// IngressOptions limit Ingresses.
type IngressOptions struct {
	AllowedClasses *Classes `json:"allowedClasses,omitempty"`
	// AllowedHostnames are the hosts of rules.
	AllowedHostnames *Allowed `json:"allowedHostnames,omitempty"`
	// AllowWildcardHostnames permits hosts that begin with *.
	AllowWildcardHostnames bool `json:"allowWildcardHostnames,omitempty"`
	// HostnameCollisionScope says where no two Ingresses may have the same host and path.
	HostnameCollisionScope CollisionScope `json:"hostnameCollisionScope,omitempty" crd:"enum=Cluster,Tenant,Namespace,Disabled; default=Disabled"`
}

// CollisionScope says where hosts of Ingresses must be unique.
type CollisionScope string

// The scopes.
const (
	CollisionCluster   CollisionScope = "Cluster"
	CollisionTenant    CollisionScope = "Tenant"
	CollisionNamespace CollisionScope = "Namespace"
	CollisionDisabled  CollisionScope = "Disabled"
)

// Metadata are labels and annotations.
type Metadata struct {
	Labels      map[string]string `json:"labels,omitzero"`
	Annotations map[string]string `json:"annotations,omitzero"`
}

// Allowed are texts that are in a list or match a regular expression.
type Allowed struct {
	Allowed      []string `json:"allowed,omitzero"`
	AllowedRegex string   `json:"allowedRegex,omitempty"`
}

// Forbidden are keys that are in a list or match a regular expression.
type Forbidden struct {
	Denied      []string `json:"denied,omitzero" crd:"items.pattern=^[^,]+$"`
	DeniedRegex string   `json:"deniedRegex,omitempty"`
}

// Classes are the names of classes that objects may have, and the one that they get if they name none.
type Classes struct {
	Allowed
	Selected
}

// Selected is what version v1beta1 does not know about classes.
type Selected struct {
	// Default is the class of objects that name none; it is allowed.
	Default string `json:"default,omitempty"`
	// MatchLabels are the labels of classes that are allowed too.
	MatchLabels map[string]string `json:"matchLabels,omitzero"`
}

// NetworkPolicies are made in each namespace.
type NetworkPolicies struct {
	Items []networking.NetworkPolicySpec `json:"items,omitzero"`
}

// LimitRanges are made in each namespace.
type LimitRanges struct {
	Items []core.LimitRangeSpec `json:"items,omitzero"`
}

// ResourceQuotas are made in each namespace.
type ResourceQuotas struct {
	// Scope says whether the namespaces share the amounts, or each has them.
	Scope QuotaScope               `json:"scope,omitempty" crd:"enum=Tenant,Namespace; default=Tenant"`
	Items []core.ResourceQuotaSpec `json:"items,omitzero"`
}

// QuotaScope says what a quota is about.
type QuotaScope string

// The scopes of quotas.
const (
	QuotaOfTenant    QuotaScope = "Tenant"
	QuotaOfNamespace QuotaScope = "Namespace"
)

// Binding gives subjects a ClusterRole in each namespace.
type Binding struct {
	ClusterRoleName string         `json:"clusterRoleName" crd:"minLength=1"`
	Subjects        []rbac.Subject `json:"subjects" crd:"minItems=1; required"`
}

// Status is what the controller has found.
type Status struct {
	// State is Cordoned while the owners may not change anything, and otherwise Active.
	State State `json:"state,omitempty" crd:"enum=Cordoned,Active"`
	// Size is the number of namespaces.
	Size int32 `json:"size"`
	// Namespaces are their names.
	Namespaces []string         `json:"namespaces,omitzero"`
	Conditions []meta.Condition `json:"conditions,omitzero"`
}

// State says whether the owners may change anything.
type State string

// The states.
const (
	Active   State = "Active"
	Cordoned State = "Cordoned"
)

// The types of conditions.
const (
	ReadyCondition    = "Ready"    // every namespace has what the tenant wants there
	CordonedCondition = "Cordoned" // the owners may not change anything
)

// OldTenant is a Tenant in version v1beta1. The label and the annotations in convert.go stand for some fields of Spec.
type OldTenant struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            OldSpec `json:"spec"`
	Status          Status  `json:"status"`
}

// OldSpec is a Spec in version v1beta1.
type OldSpec struct {
	// Owners may make namespaces of the tenant.
	Owners           []OldOwner          `json:"owners" crd:"minItems=1; listType=map; listMapKeys=kind,name"`
	NamespaceOptions OldNamespaceOptions `json:"namespaceOptions,omitzero"`
	ServiceOptions   OldServiceOptions   `json:"serviceOptions,omitzero"`
	IngressOptions   OldIngressOptions   `json:"ingressOptions,omitzero"`
	// StorageClasses are those that claims may name.
	StorageClasses *Allowed `json:"storageClasses,omitempty"`
	// PriorityClasses are those that Pods may name.
	PriorityClasses *Allowed `json:"priorityClasses,omitempty"`

	Shared
}

// OldOwner is an owner without roles of its own.
type OldOwner struct {
	Kind          OwnerKind      `json:"kind" crd:"enum=User,Group,ServiceAccount"`
	Name          string         `json:"name" crd:"minLength=1"`
	ProxySettings []ProxySetting `json:"proxySettings,omitzero"`
}

// OldNamespaceOptions limit and complete namespaces.
type OldNamespaceOptions struct {
	Quota              *int32   `json:"quota,omitempty" crd:"minimum=1"`
	AdditionalMetadata Metadata `json:"additionalMetadata,omitzero"`
}

// OldServiceOptions limit and complete Services.
type OldServiceOptions struct {
	AdditionalMetadata Metadata        `json:"additionalMetadata,omitzero"`
	AllowedServices    AllowedServices `json:"allowedServices,omitzero"`
	ExternalIPs        *ExternalIPs    `json:"externalIPs,omitempty"`
}

// OldIngressOptions limit Ingresses.
type OldIngressOptions struct {
	AllowedClasses         *Allowed       `json:"allowedClasses,omitempty"`
	AllowedHostnames       *Allowed       `json:"allowedHostnames,omitempty"`
	HostnameCollisionScope CollisionScope `json:"hostnameCollisionScope,omitempty" crd:"enum=Cluster,Tenant,Namespace,Disabled; default=Disabled"`
}

// Definition returns the definition of tenants, whose conversion webhook a Service calls.
func Definition(service meta.Key) *crd.Definition {
	columns := []crd.Column{
		{Name: "State", JSONPath: ".status.state"},
		{Name: "Quota", JSONPath: ".spec.namespaceOptions.quota"},
		{Name: "Count", JSONPath: ".status.size"},
		{Name: "Age", JSONPath: ".metadata.creationTimestamp", Type: "date"},
	}
	return crd.MustOf(Tenants, crd.Options{
		ShortNames: []string{"tnt"}, Columns: columns, Descriptions: TenantDescriptions(),
		Conversion: &crd.WebhookClient{Service: &crd.WebhookService{Namespace: service.Namespace, Name: service.Name, Path: "/convert"}},
		Others:     []crd.OtherVersion{crd.Other(OldTenants, crd.Options{Columns: columns, Descriptions: OldTenantDescriptions(), Deprecated: true})},
	})
}
