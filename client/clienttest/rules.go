package clienttest

import (
	"context"
	"encoding/json"

	"github.com/bowline-go/bowline/client/meta"
)

// Rules check the CEL rules of custom resources, which are the x-kubernetes-validations of a schema. Package
// client/clienttest/cel implements them, in a module of its own because it links Kubernetes' own libraries.
type Rules interface {
	// CheckDefinition returns what is wrong with the rules of a CustomResourceDefinition. Definition is the whole object,
	// and old the one that it replaces, nil if it is new.
	CheckDefinition(ctx context.Context, definition, old json.RawMessage) []meta.StatusCause

	// Compile compiles the rules of an openAPIV3Schema. The error says why that is impossible.
	Compile(schema json.RawMessage) (CompiledRules, error)
}

// CompiledRules are the rules of one schema. Several goroutines may use them at once.
type CompiledRules interface {
	// Check returns what the rules say against an object. Old is the object that it replaces, nil if it is new. The
	// numbers in both are int64 or float64. Check does not change them.
	Check(ctx context.Context, obj, old map[string]any) []meta.StatusCause
}
