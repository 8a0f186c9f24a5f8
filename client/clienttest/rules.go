package clienttest

import (
	"context"
	"encoding/json"

	"github.com/bowline-go/bowline/client/meta"
)

// Rules check the CEL rules of custom resources, which are the x-kubernetes-validations of a schema. Package
// client/clienttest/cel implements them, in a module of its own because it links Kubernetes' own libraries.
type Rules interface {
	// CheckDefinition returns what is wrong with a CustomResourceDefinition because of its rules, and may return what else is
	// wrong with it. Definition is the whole object, and old the one that it replaces, nil if it is new.
	CheckDefinition(ctx context.Context, definition, old json.RawMessage) []meta.StatusCause

	// Compile compiles the rules of an openAPIV3Schema. It returns nil if there are none. The error says why that is
	// impossible.
	Compile(schema json.RawMessage) (CompiledRules, error)
}

// CompiledRules are the rules of one schema. Several goroutines may use them at once.
type CompiledRules interface {
	// Check returns what the rules say against an object, and the warnings of rules that an unchanged value breaks, which is
	// allowed. Old is the object that it replaces, nil if it is new. The numbers in both are int64 or float64. Check does
	// not change them.
	Check(ctx context.Context, obj, old map[string]any) (causes []meta.StatusCause, warnings []string)
}
