package clienttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/rbac"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/meta"
)

const rbacGroup = "rbac.authorization.k8s.io"

// roles are the roles and bindings of the store, as far as they have been read; within a transaction only.
type roles struct {
	roles    map[*object.Revision]*rbac.Role
	bindings map[*object.Revision]*rbac.Binding
}

// policy returns the present policy.
func (a *api) policy() *rbac.Policy {
	tx := a.store.Begin()
	defer tx.End()
	return a.policyIn(tx)
}

// policyIn is policy within a transaction.
func (a *api) policyIn(tx store.Tx) *rbac.Policy {
	named := func(resource string) *store.Collection {
		return a.registry.named(meta.GVR{Group: rbacGroup, Version: "v1", Resource: resource}).objects
	}
	roles, bindings := map[*object.Revision]*rbac.Role{}, map[*object.Revision]*rbac.Binding{}
	p := &rbac.Policy{
		Roles:           decoded(tx, named("roles"), a.roles.roles, roles),
		ClusterRoles:    decoded(tx, named("clusterroles"), a.roles.roles, roles),
		Bindings:        decoded(tx, named("rolebindings"), a.roles.bindings, bindings),
		ClusterBindings: decoded(tx, named("clusterrolebindings"), a.roles.bindings, bindings),
	}
	a.roles.roles, a.roles.bindings = roles, bindings // without the objects that have gone
	return p
}

// decoded returns the objects of a collection. It takes those from was that have not changed, and puts all into is.
func decoded[T any](tx store.Tx, of *store.Collection, was, is map[*object.Revision]*T) (list []*T) {
	for v := range tx.Objects(of, "") {
		o := was[v]
		if o == nil {
			o = new(T)
			_ = json.Unmarshal(v.Raw, o) // it was checked when it was written
		}
		is[v] = o
		list = append(list, o)
	}
	return list
}

// byRoles decides about an access by the roles of the cluster, and those of a namespace.
func (a *api) byRoles(access Access, namespace string) (allowed bool, reason string) {
	return a.policy().Decide(userOf(access.User), rbac.Action{
		Verb: access.Verb, Group: access.Resource.Group, Resource: access.Resource.Resource, Subresource: access.Subresource,
		Namespace: namespace, Name: access.Key.Name, Path: access.Path,
	})
}

func userOf(u User) rbac.User { return rbac.User{Name: u.Name, Groups: u.Groups} }

// mayPath refuses a path that is not a resource's, unless a role allows it.
func (c *call) mayPath() error {
	if !c.options.RBAC {
		return nil
	}
	verb := strings.ToLower(c.r.Method)
	if allowed, reason := c.byRoles(Access{User: c.user, Request: Request{Verb: verb}, Path: c.r.URL.Path}, ""); !allowed {
		why := fmt.Sprintf("forbidden: User %q cannot %s path %q", c.user.Name, verb, c.r.URL.Path)
		if reason != "" {
			why += ": " + reason
		}
		return status.Failure(http.StatusForbidden, "Forbidden", "%s", why).With(meta.StatusDetails{})
	}
	return nil
}

// checkGrant refuses a role with rules that its writer does not have, and a binding to a role with such rules. So
// nobody can give permissions to others, or to themselves, that they do not have. old is nil for a new object.
func (c *call) checkGrant(tx store.Tx, d, old *object.Draft) error {
	if !c.options.RBAC || c.res.Group != rbacGroup || slices.Contains(c.user.Groups, rbac.Masters) {
		return nil
	}
	p, user := c.policyIn(tx), userOf(c.user)
	namespace := d.Meta.Namespace
	may := func(verb, resource, name string) bool {
		allowed, _ := p.Decide(user, rbac.Action{Verb: verb, Group: rbacGroup, Resource: resource, Namespace: namespace, Name: name})
		return allowed
	}
	var wanted []rbac.Rule
	switch c.res.Kind {
	case "Role", "ClusterRole":
		if old != nil && sameMembers(d, old, "rules", "aggregationRule") || may("escalate", c.res.Resource.Resource, c.Key.Name) {
			return nil
		}
		wanted = contentOf[rbac.Role](d).Rules
		if d.Content["aggregationRule"] != nil {
			wanted = append(wanted, rbac.Rule{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}},
				rbac.Rule{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}})
		}
	default:
		b := contentOf[rbac.Binding](d)
		if old != nil && sameMembers(d, old, "roleRef", "subjects") || may("bind", strings.ToLower(b.RoleRef.Kind)+"s", b.RoleRef.Name) {
			return nil
		}
		var found bool
		if wanted, found = p.RulesOf(b.RoleRef.Kind, b.RoleRef.Name, namespace); !found {
			return status.NotFound(c.res, b.RoleRef.Name) // it names the wrong resource, as a real server does
		}
	}
	missing := rbac.Missing(p.Rules(user, namespace), wanted)
	if len(missing) == 0 {
		return nil
	}
	lines := make([]string, len(missing))
	for i, rule := range missing {
		lines[i] = rule.String()
	}
	return status.Forbidden(c.res, d.Meta.Name, "user %q (groups=%q) is attempting to grant RBAC permissions not currently held:\n%s",
		user.Name, user.Groups, strings.Join(lines, "\n"))
}

// contentOf reads the members of an object, without its metadata.
func contentOf[T any](d *object.Draft) (v T) {
	_ = json.Unmarshal(jsontree.Append(nil, d.Content), &v) // its types were checked
	return v
}

// sameMembers reports whether members of two objects are the same.
func sameMembers(a, b *object.Draft, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !jsontree.Equal(a.Content[name], b.Content[name]) })
}

// reviewRoles answers a SelfSubjectRulesReview by roles. As on a real server, no rule says that the group
// system:masters may do everything without a role.
func reviewRoles(c *call, namespace string) rulesStatus {
	s := rulesStatus{Resources: []resourceRule{}, Paths: []pathRule{}}
	for _, r := range c.policy().Rules(userOf(c.user), namespace) {
		if len(r.Resources) > 0 {
			s.Resources = append(s.Resources, resourceRule{r.Verbs, r.APIGroups, r.Resources, r.ResourceNames})
		}
		if len(r.NonResourceURLs) > 0 {
			s.Paths = append(s.Paths, pathRule{r.Verbs, r.NonResourceURLs})
		}
	}
	return s
}
