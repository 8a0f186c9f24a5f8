package clienttest

import (
	"net/http"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// A review is a create of an object that asks a question and is never stored: the answer is the completed object.

// reviewBody has the fields of every kind of review.
type reviewBody struct {
	Kind       string          `json:"kind"`
	APIVersion string          `json:"apiVersion"`
	Metadata   meta.ObjectMeta `json:"metadata"`
	Spec       *reviewSpec     `json:"spec,omitempty"`
	Status     any             `json:"status"`
}

type reviewSpec struct {
	ResourceAttributes    *resourceAttributes    `json:"resourceAttributes,omitempty"`
	NonResourceAttributes *nonResourceAttributes `json:"nonResourceAttributes,omitempty"`
	User                  string                 `json:"user,omitempty"`
	Groups                []string               `json:"groups,omitempty"`
	Extra                 map[string][]string    `json:"extra,omitempty"`
	UID                   string                 `json:"uid,omitempty"`
	Namespace             string                 `json:"namespace,omitempty"` // of a SelfSubjectRulesReview
	Token                 string                 `json:"token,omitempty"`     // of a TokenReview
	Audiences             []string               `json:"audiences,omitempty"` // of a TokenReview
}

type resourceAttributes struct {
	Namespace   string `json:"namespace,omitempty"`
	Verb        string `json:"verb,omitempty"`
	Group       string `json:"group,omitempty"`
	Version     string `json:"version,omitempty"`
	Resource    string `json:"resource,omitempty"`
	Subresource string `json:"subresource,omitempty"`
	Name        string `json:"name,omitempty"`

	FieldSelector *selectorAttributes `json:"fieldSelector,omitempty"`
	LabelSelector *selectorAttributes `json:"labelSelector,omitempty"`
}

// selectorAttributes are a selector in a review: as a text, or as a list of terms.
type selectorAttributes struct {
	Raw          string         `json:"rawSelector,omitempty"`
	Requirements []selectorTerm `json:"requirements,omitempty"`
}

type selectorTerm struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"`
}

// check returns the causes for which a real server refuses the selector.
func (s *selectorAttributes) check(field string) []meta.StatusCause {
	switch {
	case s == nil:
	case s.Raw != "" && len(s.Requirements) > 0:
		return []meta.StatusCause{status.InvalidValue(field+".rawSelector", s.Raw, "may not specified at the same time as requirements")}
	case s.Raw == "" && len(s.Requirements) == 0:
		return []meta.StatusCause{status.RequiredValue(field+".requirements", "when "+field+" is specified, requirements or rawSelector is required")}
	}
	return nil
}

// raw returns the selector that a review has as text. It returns false if parse cannot parse it. It ignores the list
// of terms.
func (s *selectorAttributes) raw(parse func(string) error) (string, bool) {
	if s == nil || s.Raw == "" {
		return "", true
	}
	if parse(s.Raw) != nil {
		return "", false
	}
	return s.Raw, true
}

type nonResourceAttributes struct {
	Path string `json:"path,omitempty"`
	Verb string `json:"verb,omitempty"`
}

// reviewed returns a handler for reviews. complete fills in the status of a review.
func reviewed(complete func(c *call, b *reviewBody) error) handler {
	return func(c *call) error {
		if _, err := c.writeOptions("CreateOptions"); err != nil {
			return err
		}
		var b reviewBody
		if err := c.readAction(&b, c.res.GVK()); err != nil {
			return err
		}
		b.Kind, b.APIVersion = c.res.Kind, c.res.GVK().APIVersion()
		if c.res.Scope == meta.Namespaced {
			if err := c.checkNamespace(b.Metadata.Namespace); err != nil {
				return err
			}
			b.Metadata.Namespace = c.Key.Namespace
		}
		if b.Spec == nil {
			b.Spec = &reviewSpec{}
		}
		if err := complete(c, &b); err != nil {
			return err
		}
		writeJSON(c.w, http.StatusCreated, b)
		return nil
	}
}

// reviewAccess asks Options.Authorize.
func reviewAccess(c *call, b *reviewBody) error {
	if causes := b.check(); len(causes) > 0 {
		return status.Invalid(c.res.Group, "", "", causes) // a real server does not name the kind either
	}
	a := Access{User: c.user}
	if !strings.HasPrefix(b.Kind, "Self") {
		a.User = User{Name: b.Spec.User, UID: b.Spec.UID, Groups: b.Spec.Groups, Extra: b.Spec.Extra}
	}
	var ignored []string
	if r := b.Spec.ResourceAttributes; r != nil {
		ignored = a.readSelectors(r)
		a.Request = Request{
			Verb: r.Verb, Resource: meta.GVR{Group: r.Group, Version: r.Version, Resource: r.Resource},
			Key: meta.Key{Namespace: r.Namespace, Name: r.Name}, Subresource: r.Subresource,
		}
	} else {
		a.Verb, a.Path = b.Spec.NonResourceAttributes.Verb, b.Spec.NonResourceAttributes.Path
	}
	allowed, reason := c.ask(a, a.Key.Namespace)
	b.Status = struct {
		Allowed bool   `json:"allowed"`
		Reason  string `json:"reason,omitempty"`
		Error   string `json:"evaluationError,omitempty"`
	}{allowed, reason, strings.Join(ignored, ", ")}
	return nil
}

// readSelectors sets the selectors of a review, and returns an error for each one that is ignored because it cannot be
// parsed.
func (a *Access) readSelectors(r *resourceAttributes) (ignored []string) {
	var ok bool
	if a.FieldSelector, ok = r.FieldSelector.raw(func(s string) error { _, err := meta.ParseFieldSelector(s); return err }); !ok {
		ignored = append(ignored, "spec.resourceAttributes.fieldSelector ignored due to parse error")
	}
	if a.LabelSelector, ok = r.LabelSelector.raw(func(s string) error { _, err := meta.ParseSelector(s); return err }); !ok {
		ignored = append(ignored, "spec.resourceAttributes.labelSelector ignored due to parse error")
	}
	return ignored
}

// check returns the errors of a review of an access.
func (b *reviewBody) check() (causes []meta.StatusCause) {
	add := func(field string, value any, why string) {
		causes = append(causes, status.InvalidValue(field, value, why))
	}
	r, p := b.Spec.ResourceAttributes, b.Spec.NonResourceAttributes
	var shown struct{ Path, Verb string } // a real server uses these names in the error
	if p != nil {
		shown.Path, shown.Verb = p.Path, p.Verb
	}
	const union = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
	switch {
	case r != nil && p != nil:
		add("spec", shown, union)
	case r == nil && p == nil:
		add("spec", nil, union)
	}
	if r != nil {
		causes = append(causes, r.FieldSelector.check("spec.resourceAttributes.fieldSelector")...)
		causes = append(causes, r.LabelSelector.check("spec.resourceAttributes.labelSelector")...)
	}
	if !strings.HasPrefix(b.Kind, "Self") && b.Spec.User == "" && len(b.Spec.Groups) == 0 {
		add("spec.user", "", "at least one of user or group must be specified")
	}
	rest, local := b.Metadata, strings.HasPrefix(b.Kind, "Local")
	why := "must be empty"
	if local {
		rest.Namespace, why = "", why+" except for namespace"
	}
	if !object.SameMeta(rest, meta.ObjectMeta{}) {
		add("metadata", b.Metadata, why)
	}
	if local {
		if r != nil && r.Namespace != b.Metadata.Namespace {
			add("spec.resourceAttributes.namespace", r.Namespace, "must match metadata.namespace")
		}
		if p != nil {
			add("spec.nonResourceAttributes", shown, "disallowed on this kind of request")
		}
	}
	return causes
}

// rulesStatus is the status of a SelfSubjectRulesReview.
type rulesStatus struct {
	Resources       []resourceRule `json:"resourceRules"`
	Paths           []pathRule     `json:"nonResourceRules"`
	Incomplete      bool           `json:"incomplete"`
	EvaluationError string         `json:"evaluationError,omitempty"`
}

type resourceRule struct {
	Verbs     []string `json:"verbs"`
	Groups    []string `json:"apiGroups"`
	Resources []string `json:"resources"`
	Names     []string `json:"resourceNames,omitempty"`
}

type pathRule struct {
	Verbs []string `json:"verbs"`
	Paths []string `json:"nonResourceURLs"`
}

// reviewRules answers like a real server with an external authorizer that can only decide about one access, as
// Options.Authorize does. With Options.RBAC it lists the rules of the user's roles. Without both, one rule allows
// everything.
func reviewRules(c *call, b *reviewBody) error {
	if b.Spec.Namespace == "" {
		return status.BadRequest("no namespace on request")
	}
	namespace := b.Spec.Namespace
	b.Metadata, b.Spec = meta.ObjectMeta{}, &reviewSpec{}
	if c.options.RBAC {
		b.Status = reviewRoles(c, namespace)
		return nil
	}
	if c.options.Authorize != nil {
		b.Status = rulesStatus{
			Resources: []resourceRule{}, Paths: []pathRule{},
			Incomplete: true, EvaluationError: "webhook authorizer does not support user rule resolution",
		}
		return nil
	}
	every := []string{"*"}
	b.Status = rulesStatus{Resources: []resourceRule{{every, every, every, nil}}, Paths: []pathRule{{every, every}}}
	return nil
}

// reviewUser answers with the sender of the request.
func reviewUser(c *call, b *reviewBody) error {
	b.Spec, b.Metadata = nil, meta.ObjectMeta{CreationTimestamp: timestamp()}
	b.Status = map[string]User{"userInfo": c.user}
	return nil
}
