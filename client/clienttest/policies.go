package clienttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/admission"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/meta"
)

// A ValidatingAdmissionPolicy says what is allowed, in CEL, and its bindings say where it applies, with which
// parameters, and what happens to a write that breaks it. Options.Rules evaluates it.

// policy is a ValidatingAdmissionPolicy as far as this server reads it.
type policy struct {
	name       string
	constraint *admission.Constraint
	ignores    bool // failures
	paramKind  *meta.TypeMeta
	compiled   CompiledPolicy
}

// policyBinding is a ValidatingAdmissionPolicyBinding.
type policyBinding struct {
	name       string
	policy     string
	actions    []string
	constraint *admission.Constraint // nil if it applies wherever the policy does
	params     *paramRef
}

// paramRef says which objects are the parameters.
type paramRef struct {
	Name      string              `json:"name"`
	Namespace string              `json:"namespace"`
	Selector  *meta.LabelSelector `json:"selector"`
	NotFound  string              `json:"parameterNotFoundAction"`
}

// readPolicy reads a policy and compiles it.
func (a *api) readPolicy(v *object.Revision) *policy {
	var p struct {
		Spec struct {
			Constraint json.RawMessage `json:"matchConstraints"`
			Failure    string          `json:"failurePolicy"`
			ParamKind  *meta.TypeMeta  `json:"paramKind"`
		} `json:"spec"`
	}
	_ = json.Unmarshal(v.Raw, &p) // it was checked when it was written
	constraint, _ := admission.ReadConstraint(p.Spec.Constraint)
	compiled, _ := a.options.Rules.CompilePolicy(v.Raw)
	return &policy{v.Key.Name, constraint, p.Spec.Failure == "Ignore", p.Spec.ParamKind, compiled}
}

// readBinding reads a binding.
func readBinding(v *object.Revision) *policyBinding {
	var b struct {
		Spec struct {
			Policy  string          `json:"policyName"`
			Params  *paramRef       `json:"paramRef"`
			Match   json.RawMessage `json:"matchResources"`
			Actions []string        `json:"validationActions"`
		} `json:"spec"`
	}
	_ = json.Unmarshal(v.Raw, &b)
	is := &policyBinding{name: v.Key.Name, policy: b.Spec.Policy, actions: b.Spec.Actions, params: b.Spec.Params}
	if len(b.Spec.Match) > 0 {
		is.constraint, _ = admission.ReadConstraint(b.Spec.Match)
	}
	return is
}

// policies are the policies and bindings of the store, as far as they have been read; within a transaction only.
type policies struct {
	policies map[*object.Revision]*policy
	bindings map[*object.Revision]*policyBinding
}

// bound is a policy with one of its bindings and one of its parameters, which is nil if it has none.
type bound struct {
	policy  *policy
	binding *policyBinding
	param   []byte
	shown   admission.Version
	err     error // why the policy cannot be applied
}

// policiesFor returns the policies that apply to an operation.
func (q *question) policiesFor(tx store.Tx) (all []bound) {
	c := q.c
	if c.options.Rules == nil || tx.Count(c.policyBindings.objects) == 0 || c.exempt() {
		return nil
	}
	bindings := make(map[*object.Revision]*policyBinding)
	of := map[string][]*policyBinding{}
	for v := range tx.Objects(c.policyBindings.objects, "") {
		b := c.policies.bindings[v]
		if b == nil {
			b = readBinding(v)
		}
		bindings[v] = b
		of[b.policy] = append(of[b.policy], b)
	}
	read := make(map[*object.Revision]*policy)
	for v := range tx.Objects(c.policyKinds.objects, "") {
		p := c.policies.policies[v]
		if p == nil {
			p = c.readPolicy(v)
		}
		read[v] = p
		shown, applies := q.constrained(p.constraint)
		if !applies {
			continue
		}
		for _, b := range of[p.name] {
			if b.constraint != nil {
				if _, applies := q.constrained(b.constraint); !applies {
					continue
				}
			}
			params, err := q.params(tx, p, b)
			if err != nil {
				all = append(all, bound{policy: p, binding: b, err: err})
			}
			for _, param := range params {
				all = append(all, bound{p, b, param, shown, nil})
			}
		}
	}
	c.policies.policies, c.policies.bindings = read, bindings // without the objects that have gone
	return all
}

// settleMutatingBinding warns of a new binding that has no effect here.
func settleMutatingBinding(c *call, _ store.Tx, old, _ *object.Draft, _ bool) error {
	if old == nil {
		c.warn("this server does not apply MutatingAdmissionPolicies")
	}
	return nil
}

// params returns the parameters of a binding. A nil parameter stands for a policy without parameters.
func (q *question) params(tx store.Tx, p *policy, b *policyBinding) (all [][]byte, _ error) {
	if p.paramKind == nil || b.params == nil {
		return [][]byte{nil}, nil
	}
	kind, err := q.c.registry.ofKind(p.paramKind.APIVersion, p.paramKind.Kind)
	if err != nil {
		return nil, fmt.Errorf("paramKind kind `%s, Kind=%s` not known", p.paramKind.APIVersion, p.paramKind.Kind)
	}
	namespace := ""
	switch {
	case kind.Scope == meta.Cluster && b.params.Namespace != "":
		return nil, errors.New("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
	case kind.Scope == meta.Cluster:
	case b.params.Namespace != "":
		namespace = b.params.Namespace
	case q.Key.Namespace == "":
		return nil, errors.New("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
	default:
		namespace = q.Key.Namespace
	}
	if b.params.Name != "" {
		if v := tx.Get(kind.objects, meta.Key{Namespace: namespace, Name: b.params.Name}); v != nil {
			all = append(all, v.Raw)
		}
	} else {
		selector, err := b.params.Selector.Selector()
		if err != nil {
			return nil, err
		}
		for v := range tx.Objects(kind.objects, namespace) {
			if selector.Matches(v.Labels) {
				all = append(all, v.Raw)
			}
		}
	}
	if len(all) == 0 && b.params.NotFound == "Deny" {
		return nil, errors.New("no params found for policy binding with `Deny` parameterNotFoundAction")
	}
	return all, nil
}

// input returns the input of the expressions of a policy or of a webhook.
func (q *question) input(shown admission.Version, param []byte) (PolicyInput, error) {
	in := PolicyInput{
		Admission: q.Admission, MatchedResource: shown.Resource, MatchedKind: shown.Kind, Namespace: q.home, Parameter: param,
		Allowed: func(a Access) (bool, string) { return q.c.ask(a, a.Key.Namespace) },
	}
	var err, also error
	in.Object, err = q.as(shown, q.Object)
	in.OldObject, also = q.as(shown, q.OldObject)
	if q.c.res == q.c.namespaces {
		in.Key.Namespace = q.Key.Name
	}
	return in, errors.Join(err, also)
}

// validateByPolicies refuses an operation that breaks a policy.
func (q *question) validateByPolicies() error {
	var refusal error
	for _, b := range q.bound {
		for _, v := range q.violations(b) {
			text := fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s", b.policy.name, b.binding.name, v.Message)
			if refusal == nil && (b.err != nil || slices.Contains(b.binding.actions, "Deny")) {
				refusal = q.broken(v.Reason, text)
			}
			if b.err == nil && slices.Contains(b.binding.actions, "Warn") {
				q.c.warn("Validation failed for ValidatingAdmissionPolicy '%s' with binding '%s': %s", b.policy.name, b.binding.name, v.Message)
			}
		}
	}
	return refusal
}

// violations returns the violations of a policy by the operation.
func (q *question) violations(b bound) []Violation {
	if b.err != nil {
		if b.policy.ignores {
			return nil
		}
		return []Violation{{Message: fmt.Sprintf("failed to configure binding: %v", b.err)}}
	}
	in, err := q.input(b.shown, b.param)
	if err != nil {
		return []Violation{{Message: err.Error()}}
	}
	return b.policy.compiled.Check(q.c.r.Context(), in)
}

// broken returns the error for an operation that breaks a policy.
func (q *question) broken(reason, text string) error {
	codes := map[string]int{
		"Forbidden": http.StatusForbidden, "Unauthorized": http.StatusUnauthorized, "RequestEntityTooLarge": http.StatusRequestEntityTooLarge,
	}
	e := status.Forbidden(q.c.res, q.Key.Name, "%s", text)
	if e.Status.Reason = reason; reason == "" {
		e.Status.Reason = "Invalid"
	}
	if e.Status.Code = codes[e.Status.Reason]; e.Status.Code == 0 {
		e.Status.Code = http.StatusUnprocessableEntity
	}
	e.Status.Details.Causes = append(e.Status.Details.Causes, meta.StatusCause{Message: text})
	return e
}
