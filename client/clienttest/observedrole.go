package clienttest

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/meta"
)

// RoleOptions say which role [Server.Role] returns. The zero value is one ClusterRole for all clients of the server.
type RoleOptions struct {
	// User is the name of the user whose requests count, after impersonation: give the program under test a
	// Config with Impersonate to tell it from the test itself. Empty means all users, without the impersonations of the
	// administrator.
	User string

	// Namespaced makes a Role for each namespace that requests were about, and a ClusterRole for the requests that were
	// about no single namespace: those for objects outside of namespaces, and lists and watches of all namespaces. By
	// default the ClusterRole has everything.
	Namespaced bool

	// Names are the plural names of resources whose objects have fixed names, such as "leases". Their rules, and those
	// of their subresources, have resourceNames where the requests named objects. RBAC cannot limit a create to names,
	// nor a list or a watch without a field selector for metadata.name. If the requests with a verb named more than 64
	// objects, the rule of that verb has no resourceNames.
	Names []string
}

// Role returns the manifest of the least role for the requests that the server has received so far, whether or not they
// were allowed: a document of YAML, or several with Namespaced. A write with an owner reference whose
// blockOwnerDeletion is true also counts as an update of the owner's subresource finalizers, because clusters with the
// admission plugin OwnerReferencesPermissionEnforcement ask for that. A watch that asks for the initial events also
// counts as a list, because a client lists instead if a server does not support streaming lists. The role has a rule
// for each resource and subresource, in the order of groups and names, and does not depend on the order of the
// requests. Requests that [Server.Intercept] answered, reviews about oneself, and paths that are not a resource's need
// no role. If nobody has asked for anything, the role has no rules.
func (s *Server) Role(name string, o RoleOptions) []byte {
	byNamespace := map[string]asked{"": {}}
	s.observed.mu.Lock()
	for by, names := range s.observed.all {
		if o.User != "" && by.user != o.User || o.User == "" && by.verb == "impersonate" && by.user == administrator().Name {
			continue
		}
		in := ""
		if o.Namespaced {
			in = by.namespace
		}
		if byNamespace[in] == nil {
			byNamespace[in] = asked{}
		}
		if resource, _, _ := strings.Cut(by.resource, "/"); !slices.Contains(o.Names, resource) {
			names = nil
		}
		byNamespace[in].add(verbOn{group: by.group, resource: by.resource, verb: by.verb}, names)
	}
	s.observed.mu.Unlock()
	return formatRoles(name, byNamespace)
}

// formatRoles returns the documents of a role. The key of byNamespace is a namespace, or empty for the ClusterRole.
func formatRoles(name string, byNamespace map[string]asked) []byte {
	if len(byNamespace) > 1 && len(byNamespace[""]) == 0 {
		delete(byNamespace, "")
	}
	var docs [][]byte
	for _, namespace := range slices.Sorted(maps.Keys(byNamespace)) {
		kind, metadata := "ClusterRole", jsontree.Object{"name": name}
		if namespace != "" {
			kind, metadata["namespace"] = "Role", namespace
		}
		docs = append(docs, jsontree.FormatShortYAML(jsontree.Object{
			"apiVersion": rbacGroup + "/v1", "kind": kind, "metadata": metadata, "rules": byNamespace[namespace].rules(),
		}))
	}
	return bytes.Join(docs, []byte("---\n"))
}

// RoleOf returns the manifest of the least role for some accesses, such as those of informer.Group.Permissions. The
// manifest has the form of that of [Server.Role] with the same options, so the two are equal if the program has
// declared exactly the accesses that its requests need. o.User has no meaning here, and no role has labels, fields or
// versions. The rule of a path is in a ClusterRole. The error names the first access without a verb, or with neither a
// resource nor a path.
func RoleOf(name string, all []client.Access, o RoleOptions) ([]byte, error) {
	byNamespace := map[string]asked{"": {}}
	for i, a := range all {
		on := verbOn{group: a.Resource.Group, resource: a.Resource.Resource, verb: a.Verb}
		switch {
		case a.Verb == "":
			return nil, fmt.Errorf("clienttest.RoleOf: access %d of %d has no Verb: %+v", i, len(all), a)
		case a.Path == "" && a.Resource.Resource == "":
			return nil, fmt.Errorf("clienttest.RoleOf: access %d of %d has neither a Resource nor a Path: %+v", i, len(all), a)
		case a.Path != "":
			on.path, on.resource = true, a.Path
		case a.Subresource != "":
			on.resource += "/" + a.Subresource
		}
		in := ""
		if o.Namespaced {
			in = a.Key.Namespace
		}
		if byNamespace[in] == nil {
			byNamespace[in] = asked{}
		}
		var names map[string]bool
		if slices.Contains(o.Names, a.Resource.Resource) && a.Key.Name != "" && a.Verb != "create" {
			names = map[string]bool{a.Key.Name: true}
		}
		byNamespace[in].add(on, names)
	}
	return formatRoles(name, byNamespace), nil
}

// mostNames is how many names of objects are kept for one kind of access.
const mostNames = 64

// accessKind has the parts of an access that are observed, except the name of the object.
type accessKind struct{ user, verb, group, resource, namespace string }

// observed has the accesses that users have asked for, and for each the names of the objects. The names are nil if
// there are too many, or if a request named no object.
type observed struct {
	mu  sync.Mutex
	all map[accessKind]map[string]bool
}

// note adds an access.
func (o *observed) note(a Access) {
	by := accessKind{a.User.Name, a.Verb, a.Resource.Group, a.Resource.Resource, a.Key.Namespace}
	if a.Subresource != "" {
		by.resource += "/" + a.Subresource
	}
	name := a.Key.Name
	o.mu.Lock()
	defer o.mu.Unlock()
	names, known := o.all[by]
	switch {
	case names[name] || known && names == nil:
	case name == "" || a.Verb == "create" || len(names) == mostNames:
		o.set(by, nil)
	case names == nil:
		o.set(by, map[string]bool{name: true})
	default:
		names[name] = true
	}
}

func (o *observed) set(by accessKind, names map[string]bool) {
	if o.all == nil {
		o.all = map[accessKind]map[string]bool{}
	}
	o.all[by] = names
}

// noteBlocked adds the access to the finalizers of each owner whose deletion d blocks and old does not.
func (c *call) noteBlocked(d, old *object.Draft) {
	for _, o := range d.Meta.OwnerReferences {
		was := old != nil && slices.ContainsFunc(old.Meta.OwnerReferences, func(w meta.OwnerReference) bool {
			return w.UID == o.UID && w.BlockOwnerDeletion != nil && *w.BlockOwnerDeletion
		})
		if o.BlockOwnerDeletion == nil || !*o.BlockOwnerDeletion || was {
			continue
		}
		of, err := c.registry.ofKind(o.APIVersion, o.Kind)
		if err != nil {
			continue // the server does not know the owner
		}
		key := meta.Key{Name: o.Name}
		if of.Scope == meta.Namespaced {
			key.Namespace = d.Meta.Namespace
		}
		c.observed.note(Access{User: c.user, Request: Request{Verb: "update", Resource: of.GVR(), Key: key, Subresource: "finalizers"}})
	}
}

// asked has the names of the objects for each verb: nil for all.
type asked map[verbOn]map[string]bool

// verbOn is a verb on a resource, or on a path.
type verbOn struct {
	path                  bool
	group, resource, verb string
}

// add adds a verb: for some objects, or for all if names is nil.
func (a asked) add(on verbOn, names map[string]bool) {
	was, known := a[on]
	switch {
	case names == nil || known && was == nil:
		a[on] = nil
	case known:
		maps.Copy(was, names)
	default:
		a[on] = maps.Clone(names)
	}
}

// rules returns the rules: one for the verbs of a resource that are about the same objects.
func (a asked) rules() []any {
	type rule struct {
		path                   bool
		group, resource, names string
	}
	verbs := map[rule]map[string]bool{}
	for on, names := range a {
		r := rule{on.path, on.group, on.resource, strings.Join(slices.Sorted(maps.Keys(names)), " ")}
		if verbs[r] == nil {
			verbs[r] = map[string]bool{}
		}
		verbs[r][on.verb] = true
	}
	order := slices.SortedFunc(maps.Keys(verbs), func(x, y rule) int {
		switch {
		case x.path && !y.path:
			return 1 // after the resources
		case y.path && !x.path:
			return -1
		}
		return cmp.Or(cmp.Compare(x.group, y.group), cmp.Compare(x.resource, y.resource), cmp.Compare(x.names, y.names))
	})
	rules := []any{}
	for _, r := range order {
		is := jsontree.Object{"apiGroups": []any{r.group}, "resources": []any{r.resource}, "verbs": inOrder(verbs[r])}
		if r.path {
			is = jsontree.Object{"nonResourceURLs": []any{r.resource}, "verbs": inOrder(verbs[r])}
		}
		if r.names != "" {
			names := []any{}
			for name := range strings.FieldsSeq(r.names) {
				names = append(names, name)
			}
			is["resourceNames"] = names
		}
		rules = append(rules, is)
	}
	return rules
}

// inOrder returns verbs in the order in which people write them.
func inOrder(verbs map[string]bool) (list []any) {
	usual := []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}
	for _, verb := range usual {
		if verbs[verb] {
			list = append(list, verb)
		}
	}
	for _, verb := range slices.Sorted(maps.Keys(verbs)) {
		if !slices.Contains(usual, verb) {
			list = append(list, verb)
		}
	}
	return list
}
