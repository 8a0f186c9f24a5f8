package main

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// The resources that this program and its tests use. Each is all that a typed client needs to know.
var (
	pods        = client.Type[*corev1.Pod]{Version: "v1", Kind: "Pod", Resource: "pods"}
	configMaps  = client.Type[*corev1.ConfigMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
	secrets     = client.Type[*corev1.Secret]{Version: "v1", Kind: "Secret", Resource: "secrets"}
	nodes       = client.Type[*corev1.Node]{Version: "v1", Kind: "Node", Resource: "nodes", Scope: meta.Cluster}
	deployments = client.Type[*appsv1.Deployment]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}
)
