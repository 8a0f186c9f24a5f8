package rbac

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
)

// Role is a Role, or a ClusterRole, whose namespace is empty.
type Role struct {
	Metadata        meta.ObjectMeta `json:"metadata"`
	Rules           []Rule          `json:"rules"`
	AggregationRule struct {
		Selectors []meta.LabelSelector `json:"clusterRoleSelectors"`
	} `json:"aggregationRule"`
}

// Binding is a RoleBinding, or a ClusterRoleBinding, whose namespace is empty.
type Binding struct {
	Metadata meta.ObjectMeta `json:"metadata"`
	Subjects []Subject       `json:"subjects"`
	RoleRef  struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
	} `json:"roleRef"`
}

// Subject is a user, a group or a service account.
type Subject struct {
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// User is the user who asks.
type User struct {
	Name   string
	Groups []string
}

// Masters is the group whose members may do everything.
const Masters = "system:masters"

// is reports whether a subject is the user, or has the user in it.
func (s Subject) is(u User, namespace string) bool {
	switch s.Kind {
	case "User":
		return s.Name == u.Name
	case "Group":
		return slices.Contains(u.Groups, s.Name)
	case "ServiceAccount":
		if s.Namespace != "" {
			namespace = s.Namespace
		}
		return namespace != "" && "system:serviceaccount:"+namespace+":"+s.Name == u.Name
	}
	return false
}

// text returns a subject as a real server writes it.
func (s Subject) text(namespace string) string {
	if s.Kind == "ServiceAccount" {
		if s.Namespace != "" {
			namespace = s.Namespace
		}
		return fmt.Sprintf("%s %q", s.Kind, s.Name+"/"+namespace)
	}
	return fmt.Sprintf("%s %q", s.Kind, s.Name)
}

// Policy is all roles and bindings of a server.
type Policy struct {
	Roles, ClusterRoles       []*Role
	Bindings, ClusterBindings []*Binding
}

// Decide reports whether a user may do something, and why. The reason of a refusal names the roles that bindings of the
// user refer to and that do not exist.
func (p *Policy) Decide(u User, a Action) (allowed bool, reason string) {
	if slices.Contains(u.Groups, Masters) {
		return true, ""
	}
	namespace := a.Namespace
	if a.Path != "" {
		namespace = ""
	}
	var missing []string
	for g := range p.grants(u, namespace) {
		if g.missing != "" {
			missing = append(missing, g.missing)
		} else if g.rule.allows(a) {
			return true, g.reason()
		}
	}
	if len(missing) == 0 {
		return false, ""
	}
	why := strings.Join(missing, ", ")
	if len(missing) > 1 {
		why = "[" + why + "]"
	}
	return false, "RBAC: " + why
}

// Rules returns the rules of a user in a namespace, including those that hold everywhere.
func (p *Policy) Rules(u User, namespace string) (rules []Rule) {
	for g := range p.grants(u, namespace) {
		if g.missing == "" {
			rules = append(rules, g.rule)
		}
	}
	return rules
}

// RulesOf returns the rules of the role that a binding refers to, and whether the role exists. namespace is that of the
// binding.
func (p *Policy) RulesOf(kind, name, namespace string) ([]Rule, bool) {
	if kind == "ClusterRole" {
		i := slices.IndexFunc(p.ClusterRoles, func(r *Role) bool { return r.Metadata.Name == name })
		if i < 0 {
			return nil, false
		}
		return p.aggregated(p.ClusterRoles[i], nil), true
	}
	for _, r := range p.Roles {
		if r.Metadata.Name == name && r.Metadata.Namespace == namespace {
			return r.Rules, true
		}
	}
	return nil, false
}

// aggregated returns the rules of a ClusterRole. If it has an aggregationRule, these are the rules of the roles that
// the aggregationRule selects, and not its own: in a cluster a controller replaces its own. The selected roles may have
// one themselves. Roles that select r are left out, so that roles may select each other.
func (p *Policy) aggregated(r *Role, selecting []*Role) (rules []Rule) {
	if len(r.AggregationRule.Selectors) == 0 {
		return r.Rules
	}
	selecting = append(slices.Clip(selecting), r)
	for i := range r.AggregationRule.Selectors {
		selected, err := r.AggregationRule.Selectors[i].Selector()
		if err != nil {
			continue // a real server ignores it as well
		}
		for _, other := range p.ClusterRoles {
			if !slices.Contains(selecting, other) && selected.Matches(other.Metadata.Labels) {
				rules = slices.Concat(rules, p.aggregated(other, selecting))
			}
		}
	}
	return rules
}

// grant is a rule that a binding gives a user.
type grant struct {
	rule    Rule
	binding *Binding
	subject Subject
	missing string // instead of a rule: which role does not exist
}

// reason returns why the grant allows something.
func (g grant) reason() string {
	kind, name := "ClusterRoleBinding", g.binding.Metadata.Name
	if ns := g.binding.Metadata.Namespace; ns != "" {
		kind, name = "RoleBinding", name+"/"+ns
	}
	return fmt.Sprintf("RBAC: allowed by %s %q of %s %q to %s", kind, name, g.binding.RoleRef.Kind, g.binding.RoleRef.Name,
		g.subject.text(g.binding.Metadata.Namespace))
}

// grants yields the grants of a user that hold everywhere and, unless namespace is empty, those in the namespace.
func (p *Policy) grants(u User, namespace string) iter.Seq[grant] {
	return func(yield func(grant) bool) {
		for _, b := range p.ClusterBindings {
			if !p.grantsOf(b, u, yield) {
				return
			}
		}
		for _, b := range p.Bindings {
			if namespace != "" && b.Metadata.Namespace == namespace && !p.grantsOf(b, u, yield) {
				return
			}
		}
	}
}

// grantsOf yields the grants that one binding gives a user.
func (p *Policy) grantsOf(b *Binding, u User, yield func(grant) bool) bool {
	i := slices.IndexFunc(b.Subjects, func(s Subject) bool { return s.is(u, b.Metadata.Namespace) })
	if i < 0 {
		return true
	}
	rules, found := p.RulesOf(b.RoleRef.Kind, b.RoleRef.Name, b.Metadata.Namespace)
	if !found {
		return yield(grant{missing: fmt.Sprintf("%s.rbac.authorization.k8s.io %q not found", strings.ToLower(b.RoleRef.Kind), b.RoleRef.Name)})
	}
	for _, rule := range rules {
		if !yield(grant{rule: rule, binding: b, subject: b.Subjects[i]}) {
			return false
		}
	}
	return true
}
