package main

import (
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// ConfigMap names just the fields that this program reads and writes. The decoder skips everything else.
type ConfigMap struct {
	Metadata `json:"metadata"`
	Data     map[string]string `json:"data,omitempty"`
}

// Metadata is the part of an object's metadata that this program needs.
type Metadata struct {
	meta.Identity
	Labels          map[string]string     `json:"labels,omitempty"`
	Annotations     map[string]string     `json:"annotations,omitempty"`
	OwnerReferences []meta.OwnerReference `json:"ownerReferences,omitempty"`
}

// ConfigMaps says where the server has them.
var ConfigMaps = client.Type[*ConfigMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

// Namespace is enough of one to make it and to remove it.
type Namespace struct {
	meta.Identity `json:"metadata"`
}

// Namespaces are cluster-wide.
var Namespaces = client.Type[*Namespace]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster}
