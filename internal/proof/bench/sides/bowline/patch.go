package main

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"

	"github.com/bowline-go/bowline/internal/proof/bench/edits"
	"github.com/bowline-go/bowline/internal/proof/bench/sample"
	"github.com/bowline-go/bowline/patch"
)

var podSchema = patch.SchemaOf[corev1.Pod]()

var patches = sample.Patches{
	Settings:  "package patch, with json.RawMessage and patch.SchemaOf",
	Documents: edits.Documents,
	ApplyJSON: patch.ApplyJSON, ApplyMerge: patch.ApplyMerge,
	ApplyStrategic: func(doc, change []byte) ([]byte, error) { return patch.ApplyStrategic(doc, change, podSchema) },
	DiffJSON: func(from, to []byte) ([]byte, error) {
		return patch.DiffJSON(json.RawMessage(from), json.RawMessage(to)).Body()
	},
	DiffMerge: func(from, to []byte) ([]byte, error) {
		return patch.Diff(json.RawMessage(from), json.RawMessage(to)).Body()
	},
	DiffStrategic: func(from, to []byte) ([]byte, error) {
		p, err := patch.DiffStrategic(from, to, podSchema)
		if err != nil {
			return nil, err
		}
		return p.Body()
	},
	ThreeWay: func(original, modified, current []byte) ([]byte, error) {
		p, err := patch.ThreeWay(original, modified, current, podSchema, patch.ThreeWayOptions{})
		if err != nil {
			return nil, err
		}
		return p.Body()
	},
}
