package conformance

import (
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// Widgets is the custom resource of the suite. The server has it, with status and with WidgetSchema, before the suite
// runs.
var Widgets = client.Type[*meta.Unstructured]{Group: "conformance.bowline.example", Version: "v1", Kind: "Widget", Resource: "widgets"}

// WidgetSchema is the openAPIV3Schema of Widgets.
const WidgetSchema = `{"type":"object","properties":{
	"spec":{"type":"object","properties":{
		"color":{"type":"string"},
		"size":{"type":"integer"},
		"any":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
		"byName":{"type":"object","additionalProperties":{"type":"object","properties":{"a":{"type":"string"}}}},
		"list":{"type":"array","items":{"type":"object","x-kubernetes-preserve-unknown-fields":true}},
		"colors":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
		"whole":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"a":{"type":"string"},"b":{"type":"string"}}},
		"parts":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],
			"items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"n":{"type":"integer"}}}}}},
	"status":{"type":"object","properties":{"ok":{"type":"boolean"}}}}}`

// WidgetDefinition is the CustomResourceDefinition of Widgets, for a server that takes one.
const WidgetDefinition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
	"metadata":{"name":"widgets.conformance.bowline.example"},
	"spec":{"group":"conformance.bowline.example","scope":"Namespaced","names":{"kind":"Widget","plural":"widgets"},
		"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
			"schema":{"openAPIV3Schema":` + WidgetSchema + `}}]}}`

// Gizmos is a custom resource without subresources. The server has it, with GizmoSchema, before the suite runs.
var Gizmos = client.Type[*meta.Unstructured]{Group: "conformance.bowline.example", Version: "v1", Kind: "Gizmo", Resource: "gizmos"}

// GizmoSchema is the openAPIV3Schema of Gizmos.
const GizmoSchema = `{"type":"object","properties":{"status":{"type":"object","properties":{"ok":{"type":"boolean"}}}}}`

// GizmoDefinition is the CustomResourceDefinition of Gizmos, for a server that takes one.
const GizmoDefinition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
	"metadata":{"name":"gizmos.conformance.bowline.example"},
	"spec":{"group":"conformance.bowline.example","scope":"Namespaced","names":{"kind":"Gizmo","plural":"gizmos"},
		"versions":[{"name":"v1","served":true,"storage":true,
			"schema":{"openAPIV3Schema":` + GizmoSchema + `}}]}}`
