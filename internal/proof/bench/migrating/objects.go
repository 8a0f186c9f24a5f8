package migrating

import (
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

type Pod struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		NodeName string `json:"nodeName"`
	} `json:"spec"`
}

type ConfigMap struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

var (
	Pods       = client.Type[*Pod]{Version: "v1", Kind: "Pod", Resource: "pods"}
	ConfigMaps = client.Type[*ConfigMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
)
