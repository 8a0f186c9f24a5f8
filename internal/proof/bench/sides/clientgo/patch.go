package main

import (
	"encoding/json"
	"fmt"

	evanphx "github.com/evanphx/json-patch/v5"
	gomodules "gomodules.xyz/jsonpatch/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/bowline-go/bowline/internal/proof/bench/edits"
	"github.com/bowline-go/bowline/internal/proof/bench/sample"
)

var podMeta = func() strategicpatch.LookupPatchMeta {
	m, err := strategicpatch.NewPatchMetaFromStruct(corev1.Pod{})
	if err != nil {
		panic(fmt.Errorf("read the schema: %w", err))
	}
	return m
}()

// patches are the functions that programs on client-go use: apimachinery's for strategic merge patches, and for the
// others those of the modules that controller-runtime uses.
var patches = sample.Patches{
	Settings: "JSON and merge patches by evanphx/json-patch/v5, the difference as JSON patch by gomodules.xyz/jsonpatch/v2, " +
		"the strategic ones by apimachinery's strategicpatch with its schema at hand",
	Documents: edits.Documents,
	ApplyJSON: func(doc, change []byte) ([]byte, error) {
		p, err := evanphx.DecodePatch(change)
		if err != nil {
			return nil, err
		}
		return p.Apply(doc)
	},
	ApplyMerge: evanphx.MergePatch,
	ApplyStrategic: func(doc, change []byte) ([]byte, error) {
		return strategicpatch.StrategicMergePatchUsingLookupPatchMeta(doc, change, podMeta)
	},
	DiffJSON: func(from, to []byte) ([]byte, error) {
		ops, err := gomodules.CreatePatch(from, to)
		if err != nil {
			return nil, err
		}
		return json.Marshal(ops)
	},
	DiffMerge: evanphx.CreateMergePatch,
	DiffStrategic: func(from, to []byte) ([]byte, error) {
		return strategicpatch.CreateTwoWayMergePatchUsingLookupPatchMeta(from, to, podMeta)
	},
	ThreeWay: func(original, modified, current []byte) ([]byte, error) {
		return strategicpatch.CreateThreeWayMergePatch(original, modified, current, podMeta, true)
	},
}
