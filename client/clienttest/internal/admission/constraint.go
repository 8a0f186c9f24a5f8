package admission

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/bowline-go/bowline/client/meta"
)

// Constraint says which operations a policy applies to.
type Constraint struct {
	Match             string              `json:"matchPolicy"`
	NamespaceSelector *meta.LabelSelector `json:"namespaceSelector"`
	ObjectSelector    *meta.LabelSelector `json:"objectSelector"`
	Rules             []NamedRule         `json:"resourceRules"`
	Excluded          []NamedRule         `json:"excludeResourceRules"`

	selects Hook // with the selectors
}

// NamedRule is a rule for the objects with some names; for all if there are none.
type NamedRule struct {
	Rule
	Names []string `json:"resourceNames"`
}

// ReadConstraint reads a constraint.
func ReadConstraint(text []byte) (*Constraint, error) {
	c := &Constraint{}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, err
	}
	all := &meta.LabelSelector{}
	var err, also error
	c.selects.namespaces, err = cmp.Or(c.NamespaceSelector, all).Selector()
	c.selects.objects, also = cmp.Or(c.ObjectSelector, all).Selector()
	return c, cmp.Or(err, also)
}

// Selects reports whether the selectors select an operation, as those of a webhook do.
func (c *Constraint) Selects(namespace, is, was Labels) bool {
	return c.selects.Selects(namespace, is, was)
}

// Matches returns the version in which the policy sees an operation. The policy does not see an operation that a rule
// excludes. Without rules, the policy sees the version of the request.
func (c *Constraint) Matches(operation, subresource, namespace, name string, versions []Version) (Version, bool) {
	first := func(rules []NamedRule) (Version, bool) {
		for _, v := range versions {
			if slices.ContainsFunc(rules, func(r NamedRule) bool {
				return r.matches(operation, v.Resource, subresource, namespace) && (len(r.Names) == 0 || slices.Contains(r.Names, name))
			}) {
				return v, true
			}
			if c.Match == "Exact" {
				break
			}
		}
		return Version{}, false
	}
	if _, excluded := first(c.Excluded); excluded {
		return Version{}, false
	}
	if len(c.Rules) == 0 {
		return versions[0], true
	}
	return first(c.Rules)
}
