package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/shown"
)

// This file asks about permissions, with the reviews of authorization.k8s.io/v1 and authentication.k8s.io/v1. They
// change nothing on the server.

// Access is an operation that a user may or may not be allowed to do. It is an alias of [meta.Access], so that a
// package can use it without importing this one.
type Access = meta.Access

// Access returns one [Access] for each verb, to the objects of the handle: those in its namespace if In has bound it,
// and only its object if One has. It sends nothing. Use the result to declare what a program needs
// (controller.Options.Permissions), and with [CanI]. For a handle that cannot be used it returns none.
func (r Resource[T]) Access(verbs ...string) []Access { return r.untyped.access("", verbs) }

// Access returns one [Access] for each verb, to the subresource of the objects that [Resource.Access] describes.
func (s Sub[T]) Access(verbs ...string) []Access { return s.untyped.access(s.name, verbs) }

func (r resource) access(subresource string, verbs []string) (all []Access) {
	if r.err != nil || r.c == nil {
		return nil
	}
	for _, verb := range verbs {
		all = append(all, Access{
			Verb: verb, Resource: r.t.GVR(), Subresource: subresource, Key: meta.Key{Namespace: r.namespace, Name: r.name},
		})
	}
	return all
}

// Decision is the server's answer to the question whether an access is allowed.
type Decision struct {
	// Allowed says that the access is allowed.
	Allowed bool
	// Denied says that the access is expressly forbidden. If both are false, no authorizer has an opinion, and today's
	// servers refuse the access too.
	Denied bool
	// Reason is the server's reason, if it gives one.
	Reason string
	// EvaluationError is an error that occurred while the server decided, if any. The decision is valid nevertheless.
	EvaluationError string
}

// CanI asks the server whether the client may do something (SelfSubjectAccessReview). Every user may ask. An error
// means that there is no answer, not that the answer is no.
func CanI(ctx context.Context, c *Client, a Access) (Decision, error) {
	return decide(ctx, c, selfAccessReviews, a, nil)
}

// Can asks the server whether another user may do something (SubjectAccessReview). The client needs permission to
// create such reviews. s needs a User or Groups. The server considers only the groups in s: add "system:authenticated",
// the group of all authenticated users, if it applies.
func Can(ctx context.Context, c *Client, s Subject, a Access) (Decision, error) {
	return decide(ctx, c, accessReviews, a, &s)
}

// SubjectRules are the operations that a user may perform in a namespace, as far as the server can list them.
type SubjectRules struct {
	// Rules are the allowed operations, in no order and with repetitions.
	Rules []Rule
	// Incomplete says that more may be allowed than is listed, because an authorizer cannot list its rules.
	// EvaluationError may then say more.
	Incomplete      bool
	EvaluationError string
}

// Rule allows verbs on resources, or on paths that are not a resource's; "*" in a list means everything. It has the
// form of a rule of a Role.
type Rule struct {
	Verbs     []string `json:"verbs"`
	Groups    []string `json:"apiGroups"`
	Resources []string `json:"resources"`       // a subresource is written "pods/log"
	Names     []string `json:"resourceNames"`   // empty means every object
	Paths     []string `json:"nonResourceURLs"` // only in a rule without Resources; a path may end in "*"
}

// Rules lists what the client may do in a namespace (SelfSubjectRulesReview). Use it to show the rules to people, and
// [CanI] to find out whether one access is allowed.
func Rules(ctx context.Context, c *Client, namespace string) (SubjectRules, error) {
	obj := &rulesReview{}
	obj.Spec.Namespace = namespace
	r := For(c, rulesReviews)
	if err := meta.ValidSegment("namespace", namespace); err != nil {
		return SubjectRules{}, r.untyped.request("create", meta.Key{}).fail(&UsageError{Err: err})
	}
	got, err := r.Create(ctx, obj)
	if err != nil {
		return SubjectRules{}, err
	}
	s := got.Status
	return SubjectRules{Rules: slices.Concat(s.Resources, s.Paths), Incomplete: s.Incomplete, EvaluationError: shown.Text(s.EvaluationError)}, nil
}

// WhoAmI asks the server which user it takes the client for (SelfSubjectReview, in every cluster since 1.28). Every
// user may ask. If the client impersonates a user, the answer is that user.
func WhoAmI(ctx context.Context, c *Client) (Subject, error) {
	got, err := For(c, selfReviews).Create(ctx, &selfReview{})
	if err != nil {
		return Subject{}, err
	}
	s := got.Status.User
	return Subject{User: s.Name, UID: s.UID, Groups: s.Groups, Extra: s.Extra}, nil
}

func validateAccess(a Access) error {
	hasResource := a.Resource != (meta.GVR{}) || a.Subresource != "" || a.Key != (meta.Key{})
	switch {
	case a.Verb == "":
		return errors.New(`client.Access: Verb must be set, such as "get"`)
	case a.Path != "" && hasResource:
		return errors.New("client.Access: Resource, Subresource and Key must be empty if Path is set")
	case a.Path != "" && (a.LabelSelector != "" || a.FieldSelector != ""):
		return errors.New("client.Access: LabelSelector and FieldSelector must be empty if Path is set")
	case a.Path != "" && a.Path != "*" && !strings.HasPrefix(a.Path, "/"):
		return fmt.Errorf(`client.Access: Path must be "*" or start with a slash, got %q`, a.Path)
	case a.Path == "" && a.Resource.Resource == "":
		return errors.New("client.Access: Resource.Resource or Path must be set")
	}
	return nil
}

func decide(ctx context.Context, c *Client, t Type[*accessReview], a Access, s *Subject) (Decision, error) {
	r := For(c, t)
	err := validateAccess(a)
	obj := &accessReview{}
	if a.Path != "" {
		obj.Spec.Path = &pathAttributes{Path: a.Path, Verb: a.Verb}
	} else {
		obj.Spec.Resource = &resourceAttributes{
			Namespace: a.Key.Namespace, Name: a.Key.Name, Verb: a.Verb,
			Group: a.Resource.Group, Version: a.Resource.Version, Resource: a.Resource.Resource, Subresource: a.Subresource,
			FieldSelector: selectorAttributes{a.FieldSelector}, LabelSelector: selectorAttributes{a.LabelSelector},
		}
	}
	if s != nil {
		obj.Spec.User, obj.Spec.UID, obj.Spec.Groups, obj.Spec.Extra = s.User, s.UID, s.Groups, s.Extra
		if err == nil && s.User == "" && len(s.Groups) == 0 {
			err = errors.New("client.Subject: User or Groups must be set")
		}
	}
	if err != nil {
		return Decision{}, r.untyped.request("create", meta.Key{}).fail(&UsageError{Err: err})
	}
	got, err := r.Create(ctx, obj)
	if err != nil {
		return Decision{}, err
	}
	d := got.Status
	return Decision{Allowed: d.Allowed, Denied: d.Denied, Reason: shown.Text(d.Reason), EvaluationError: shown.Text(d.EvaluationError)}, nil
}

// The review objects on the wire. Their metadata is not used.

type accessReview struct {
	meta.Identity `json:"metadata"`
	Spec          struct {
		Resource *resourceAttributes `json:"resourceAttributes,omitempty"`
		Path     *pathAttributes     `json:"nonResourceAttributes,omitempty"`
		User     string              `json:"user,omitempty"`
		UID      string              `json:"uid,omitempty"`
		Groups   []string            `json:"groups,omitempty"`
		Extra    map[string][]string `json:"extra,omitempty"`
	} `json:"spec"`
	Status struct {
		Allowed         bool   `json:"allowed"`
		Denied          bool   `json:"denied"`
		Reason          string `json:"reason"`
		EvaluationError string `json:"evaluationError"`
	} `json:"status,omitzero"`
}

type resourceAttributes struct {
	Namespace   string `json:"namespace,omitempty"`
	Verb        string `json:"verb"`
	Group       string `json:"group,omitempty"`
	Version     string `json:"version,omitempty"`
	Resource    string `json:"resource"`
	Subresource string `json:"subresource,omitempty"`
	Name        string `json:"name,omitempty"`

	FieldSelector selectorAttributes `json:"fieldSelector,omitzero"`
	LabelSelector selectorAttributes `json:"labelSelector,omitzero"`
}

type selectorAttributes struct {
	Raw string `json:"rawSelector"`
}

type pathAttributes struct {
	Path string `json:"path"`
	Verb string `json:"verb"`
}

type rulesReview struct {
	meta.Identity `json:"metadata"`
	Spec          struct {
		Namespace string `json:"namespace"`
	} `json:"spec"`
	Status struct {
		Resources       []Rule `json:"resourceRules"`
		Paths           []Rule `json:"nonResourceRules"`
		Incomplete      bool   `json:"incomplete"`
		EvaluationError string `json:"evaluationError"`
	} `json:"status,omitzero"`
}

type selfReview struct {
	meta.Identity `json:"metadata"`
	Status        struct {
		User struct {
			Name   string              `json:"username"`
			UID    string              `json:"uid"`
			Groups []string            `json:"groups"`
			Extra  map[string][]string `json:"extra"`
		} `json:"userInfo"`
	} `json:"status,omitzero"`
}

const authorizationGroup = "authorization.k8s.io"

var (
	selfAccessReviews = Type[*accessReview]{
		Group: authorizationGroup, Version: "v1", Kind: "SelfSubjectAccessReview", Resource: "selfsubjectaccessreviews", Scope: meta.Cluster,
	}
	accessReviews = Type[*accessReview]{
		Group: authorizationGroup, Version: "v1", Kind: "SubjectAccessReview", Resource: "subjectaccessreviews", Scope: meta.Cluster,
	}
	rulesReviews = Type[*rulesReview]{
		Group: authorizationGroup, Version: "v1", Kind: "SelfSubjectRulesReview", Resource: "selfsubjectrulesreviews", Scope: meta.Cluster,
	}
	selfReviews = Type[*selfReview]{
		Group: "authentication.k8s.io", Version: "v1", Kind: "SelfSubjectReview", Resource: "selfsubjectreviews", Scope: meta.Cluster,
	}
)
