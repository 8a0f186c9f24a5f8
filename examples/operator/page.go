package main

import (
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// Page is a text that the operator publishes.
type Page struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Text string `json:"text"`
	} `json:"spec"`
	Status struct {
		Conditions []meta.Condition `json:"conditions,omitempty"`
	} `json:"status"`
}

// ConfigMap has the fields of a ConfigMap that this program uses.
type ConfigMap struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

// The resources on the server.
var (
	Pages      = client.Type[*Page]{Group: "example.com", Version: "v1", Kind: "Page", Resource: "pages"}
	ConfigMaps = client.Type[*ConfigMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
)
