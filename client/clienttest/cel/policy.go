package cel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	limits "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// CompilePolicy implements [clienttest.Rules].
func (rules) CompilePolicy(data json.RawMessage) (clienttest.CompiledPolicy, []meta.StatusCause) {
	var p admissionv1.ValidatingAdmissionPolicy
	if err := kjson.Unmarshal(data, &p); err != nil {
		return nil, unreadable(err)
	}
	compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		return nil, causes(field.ErrorList{field.InternalError(nil, err)})
	}
	c := &policyCompiler{compiler: compiler, failurePolicy: p.Spec.FailurePolicy, name: p.Name}
	c.variables = plugincel.OptionalVariableDeclarations{HasParams: p.Spec.ParamKind != nil, HasAuthorizer: true}
	return c.compile(&p), causes(c.wrong)
}

// policyCompiler compiles the expressions of one policy.
type policyCompiler struct {
	compiler      *plugincel.CompositedCompiler
	variables     plugincel.OptionalVariableDeclarations
	failurePolicy *admissionv1.FailurePolicyType
	name          string
	wrong         field.ErrorList
}

// compile compiles all expressions. It notes those that are wrong.
func (c *policyCompiler) compile(p *admissionv1.ValidatingAdmissionPolicy) *policy {
	spec := field.NewPath("spec")
	var conditions, checks, messages, annotations []plugincel.ExpressionAccessor
	for i := range p.Spec.MatchConditions {
		is := (*matchconditions.MatchCondition)(&p.Spec.MatchConditions[i])
		c.check(spec.Child("matchConditions").Index(i).Child("expression"), is, c.variables)
		conditions = append(conditions, is)
	}
	for i, v := range p.Spec.Variables {
		is := &validating.Variable{Name: v.Name, Expression: v.Expression}
		c.check(spec.Child("variables").Index(i).Child("expression"), is, c.variables)
		if v.Name != "" && !isBlank(v.Expression) {
			c.compiler.CompileAndStoreVariable(is, c.variables, environment.StoredExpressions)
		}
	}
	plain := plugincel.OptionalVariableDeclarations{HasParams: c.variables.HasParams}
	for i, v := range p.Spec.Validations {
		at := spec.Child("validations").Index(i)
		is := &validating.ValidationCondition{Expression: v.Expression, Message: v.Message, Reason: v.Reason}
		c.check(at.Child("expression"), is, c.variables)
		checks = append(checks, is)
		var message plugincel.ExpressionAccessor // nil takes the place of a message that is missing
		if v.MessageExpression != "" {
			message = &validating.MessageExpressionCondition{MessageExpression: v.MessageExpression}
			c.check(at.Child("messageExpression"), message, plain)
		}
		messages = append(messages, message)
	}
	for i, a := range p.Spec.AuditAnnotations {
		is := &validating.AuditAnnotationCondition{Key: a.Key, ValueExpression: a.ValueExpression}
		c.check(spec.Child("auditAnnotations").Index(i).Child("valueExpression"), is, c.variables)
		annotations = append(annotations, is)
	}
	stored := func(list []plugincel.ExpressionAccessor, variables plugincel.OptionalVariableDeclarations) plugincel.ConditionEvaluator {
		return c.compiler.CompileCondition(list, variables, environment.StoredExpressions)
	}
	is := &policy{}
	if len(conditions) > 0 {
		is.matcher = matchconditions.NewMatcher(stored(conditions, c.variables), c.failurePolicy, "policy", "validate", c.name)
	}
	is.validator = validating.NewValidator(stored(checks, c.variables), is.matcher, stored(annotations, c.variables), stored(messages, plain), c.failurePolicy, nil)
	return is
}

// isBlank reports whether an expression is missing. A server reports that itself.
func isBlank(expression string) bool { return strings.TrimSpace(expression) == "" }

// check notes an expression that does not compile.
func (c *policyCompiler) check(at *field.Path, e plugincel.ExpressionAccessor, variables plugincel.OptionalVariableDeclarations) {
	if isBlank(e.GetExpression()) {
		return
	}
	err := c.compiler.CompileCELExpression(e, variables, environment.NewExpressions).Error
	if err == nil {
		return
	}
	switch err.Type {
	case apiservercel.ErrorTypeRequired:
		c.wrong = append(c.wrong, field.Required(at, err.Detail))
	case apiservercel.ErrorTypeInvalid:
		c.wrong = append(c.wrong, field.Invalid(at, e.GetExpression(), err.Detail))
	default:
		c.wrong = append(c.wrong, field.InternalError(at, err))
	}
}

// policy is a compiled policy. Nothing in it changes.
type policy struct {
	matcher   matchconditions.Matcher // nil without matchConditions
	validator validating.Validator
}

// Matches implements [clienttest.CompiledPolicy].
func (p *policy) Matches(ctx context.Context, in clienttest.PolicyInput) (bool, error) {
	if p.matcher == nil {
		return true, nil
	}
	attributes, err := attributesOf(in)
	if err != nil {
		return false, err
	}
	r := p.matcher.Match(ctx, attributes, nil, permissions(in.Allowed))
	return r.Matches && r.Error == nil, r.Error
}

// Check implements [clienttest.CompiledPolicy].
func (p *policy) Check(ctx context.Context, in clienttest.PolicyInput) (all []clienttest.Violation) {
	attributes, err := attributesOf(in)
	param, also := readObject(in.Parameter)
	var namespace *corev1.Namespace
	if in.Namespace != nil {
		namespace = &corev1.Namespace{}
		err = errors.Join(err, kjson.Unmarshal(in.Namespace, namespace))
	}
	if err = errors.Join(err, also); err != nil {
		return []clienttest.Violation{{Message: fmt.Sprintf("read operation: %v", err)}}
	}
	result := p.validator.Validate(ctx, schema.GroupVersionResource(in.MatchedResource), attributes, param, namespace,
		limits.RuntimeCELCostBudget, permissions(in.Allowed))
	for _, d := range result.Decisions {
		if d.Action == validating.ActionDeny {
			all = append(all, clienttest.Violation{Message: d.Message, Reason: string(d.Reason)})
		}
	}
	for _, a := range result.AuditAnnotations {
		if a.Action == validating.AuditAnnotationActionError {
			all = append(all, clienttest.Violation{Message: a.Error})
		}
	}
	return all
}

// attributesOf returns an operation as the library sees it.
func attributesOf(in clienttest.PolicyInput) (*admission.VersionedAttributes, error) {
	obj, err := readObject(in.Object)
	old, also := readObject(in.OldObject)
	options, more := readObject(in.Parameters)
	if err := errors.Join(err, also, more); err != nil {
		return nil, err
	}
	who := &user.DefaultInfo{Name: in.User.Name, UID: in.User.UID, Groups: in.User.Groups, Extra: in.User.Extra}
	attributes := admission.NewAttributesRecord(obj, old, schema.GroupVersionKind(in.Kind), in.Key.Namespace, in.Key.Name,
		schema.GroupVersionResource(in.Resource), in.Subresource, admission.Operation(in.Operation), options, in.DryRun, who)
	return &admission.VersionedAttributes{
		Attributes: attributes, VersionedObject: admission.NewLazyObject(obj), VersionedOldObject: admission.NewLazyObject(old), VersionedKind: schema.GroupVersionKind(in.MatchedKind),
	}, nil
}

// readObject reads an object; nil if there is none.
func readObject(data json.RawMessage) (runtime.Object, error) {
	if len(data) == 0 {
		return nil, nil
	}
	content := map[string]any{}
	if err := kjson.Unmarshal(data, &content); err != nil {
		return nil, err
	}
	return &unstructured.Unstructured{Object: content}, nil
}

// permissions answer what a user may do.
type permissions func(clienttest.Access) (allowed bool, reason string)

// Authorize implements authorizer.UnconditionalAuthorizer.
func (p permissions) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	who := a.GetUser()
	access := clienttest.Access{User: clienttest.User{Name: who.GetName(), UID: who.GetUID(), Groups: who.GetGroups(), Extra: who.GetExtra()}}
	access.Verb, access.Path = a.GetVerb(), a.GetPath()
	if a.IsResourceRequest() {
		access.Path = ""
		access.Resource = meta.GVR{Group: a.GetAPIGroup(), Version: a.GetAPIVersion(), Resource: a.GetResource()}
		access.Subresource, access.Key = a.GetSubresource(), meta.Key{Namespace: a.GetNamespace(), Name: a.GetName()}
	}
	allowed, reason := p(access)
	if allowed {
		return authorizer.DecisionAllow, reason, nil
	}
	return authorizer.DecisionNoOpinion, reason, nil
}
