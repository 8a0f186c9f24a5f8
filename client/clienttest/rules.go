package clienttest

import (
	"context"
	"encoding/json"

	"github.com/bowline-go/bowline/client/meta"
)

// Rules check everything that is written in CEL: the x-kubernetes-validations of the schemas of custom resources,
// ValidatingAdmissionPolicies, and the matchConditions of webhooks. Package client/clienttest/cel implements them, in a
// module of its own because it links Kubernetes' own libraries.
type Rules interface {
	// CheckDefinition returns what is wrong with a CustomResourceDefinition because of its rules, and may return what
	// else is wrong with it. definition is the whole object, and old the one that it replaces, nil if it is new.
	CheckDefinition(ctx context.Context, definition, old json.RawMessage) []meta.StatusCause

	// Compile compiles the rules of an openAPIV3Schema. It returns nil if there are none. The error says why the schema
	// cannot be compiled.
	Compile(schema json.RawMessage) (CompiledRules, error)

	// CompilePolicy compiles the expressions of a ValidatingAdmissionPolicy, or of an object with the same spec of which
	// only the matchConditions are used. The causes say which expressions are wrong; a wrong expression fails in each use.
	CompilePolicy(policy json.RawMessage) (CompiledPolicy, []meta.StatusCause)
}

// CompiledRules are the rules of one schema. Several goroutines may use them at once.
type CompiledRules interface {
	// Check returns the causes for which an object breaks the rules. An update may keep a value that breaks a rule,
	// which is only a warning. old is the object that obj replaces, nil if obj is new. The numbers in both are int64 or
	// float64. Check does not change the objects.
	Check(ctx context.Context, obj, old map[string]any) (causes []meta.StatusCause, warnings []string)
}

// CompiledPolicy is the expressions of one policy. Several goroutines may use it at once.
type CompiledPolicy interface {
	// Matches reports whether all matchConditions are true. The error says why that is unknown; it is nil if the policy
	// says that failures are to be ignored.
	Matches(ctx context.Context, in PolicyInput) (bool, error)

	// Check returns the violations of the policy by an operation, if the policy's matchConditions are true.
	Check(ctx context.Context, in PolicyInput) []Violation
}

// PolicyInput is the input of the expressions of a policy.
type PolicyInput struct {
	// Admission is the operation. Object and OldObject are in the version MatchedKind.
	Admission
	// MatchedResource and MatchedKind are the version that the policy's rules name.
	MatchedResource meta.GVR
	MatchedKind     meta.GVK
	// Namespace is the object of the namespace, and Parameter the one that the binding names; nil if there is none.
	Namespace, Parameter json.RawMessage
	// Allowed reports whether a user may do something, and why.
	Allowed func(Access) (allowed bool, reason string)
}

// Violation is the violation of one validation of a policy by an operation.
type Violation struct {
	// Message and Reason are those of the Status. Reason is empty if the validation could not be evaluated.
	Message, Reason string
}
