package main

import (
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// ConfigMap names just the fields that this program reads and writes. The decoder skips everything else.
type ConfigMap struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

// ConfigMaps is the resource on the server.
var ConfigMaps = client.Type[*ConfigMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

// Namespace has the fields that it takes to create and delete a namespace.
type Namespace struct {
	meta.Identity `json:"metadata"`
}

// Namespaces are cluster-wide.
var Namespaces = client.Type[*Namespace]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster}
