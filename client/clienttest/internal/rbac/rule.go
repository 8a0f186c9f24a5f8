// Package rbac decides by roles and bindings what a user may do, as the authorizer RBAC of a kube-apiserver does.
package rbac

import (
	"fmt"
	"slices"
	"strings"
)

// Rule allows verbs for resources, or for paths.
type Rule struct {
	Verbs           []string `json:"verbs"`
	APIGroups       []string `json:"apiGroups,omitempty"`
	Resources       []string `json:"resources,omitempty"`
	ResourceNames   []string `json:"resourceNames,omitempty"`
	NonResourceURLs []string `json:"nonResourceURLs,omitempty"`
}

// Action is what a user wants to do: with a resource, or with a path that is not one of a resource.
type Action struct {
	Verb, Group, Resource, Subresource, Namespace, Name string

	Path string
}

// allows reports whether the rule allows an action.
func (r Rule) allows(a Action) bool {
	if !has(r.Verbs, a.Verb) {
		return false
	}
	if a.Path != "" {
		return slices.ContainsFunc(r.NonResourceURLs, func(path string) bool { return covers(path, a.Path) })
	}
	return has(r.APIGroups, a.Group) && r.hasResource(a.Resource, a.Subresource) &&
		(len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, a.Name))
}

// hasResource reports whether the rule is about a resource, or a subresource of it.
func (r Rule) hasResource(resource, subresource string) bool {
	if subresource == "" {
		return has(r.Resources, resource)
	}
	return has(r.Resources, resource+"/"+subresource) || slices.Contains(r.Resources, "*/"+subresource)
}

// has reports whether a list has a text, or a star.
func has(list []string, text string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, text)
}

// covers reports whether a rule's path, which may end with a star, matches a path.
func covers(rule, path string) bool {
	prefix, isPrefix := strings.CutSuffix(rule, "*")
	return rule == path || isPrefix && strings.HasPrefix(path, prefix)
}

// Missing returns the parts of wanted that no rule of held allows. It joins the verbs of the same resource or path into
// one rule.
func Missing(held, wanted []Rule) (missing []Rule) {
	for _, rule := range wanted {
		for part := range rule.parts {
			if !slices.ContainsFunc(held, func(h Rule) bool { return h.includes(part) }) {
				missing = add(missing, part)
			}
		}
	}
	return missing
}

// add adds a part to rules, or its verb to the rule that is the same otherwise.
func add(rules []Rule, part Rule) []Rule {
	for i, r := range rules {
		if slices.Equal(r.APIGroups, part.APIGroups) && slices.Equal(r.Resources, part.Resources) &&
			slices.Equal(r.ResourceNames, part.ResourceNames) && slices.Equal(r.NonResourceURLs, part.NonResourceURLs) {
			if !slices.Contains(r.Verbs, part.Verbs[0]) {
				rules[i].Verbs = append(rules[i].Verbs, part.Verbs[0])
			}
			return rules
		}
	}
	return append(rules, part)
}

// parts yields the parts of a rule: one verb of one resource, of one name if the rule has names, or of one path.
func (r Rule) parts(yield func(Rule) bool) {
	for _, group := range r.APIGroups {
		for _, resource := range r.Resources {
			for _, verb := range r.Verbs {
				names := [][]string{nil}
				if len(r.ResourceNames) > 0 {
					names = slices.Collect(slices.Chunk(r.ResourceNames, 1))
				}
				for _, name := range names {
					if !yield(Rule{Verbs: []string{verb}, APIGroups: []string{group}, Resources: []string{resource}, ResourceNames: name}) {
						return
					}
				}
			}
		}
	}
	for _, path := range r.NonResourceURLs {
		for _, verb := range r.Verbs {
			if !yield(Rule{Verbs: []string{verb}, NonResourceURLs: []string{path}}) {
				return
			}
		}
	}
}

// includes reports whether the rule allows all that a part allows.
func (r Rule) includes(part Rule) bool {
	if !has(r.Verbs, part.Verbs[0]) {
		return false
	}
	if len(part.NonResourceURLs) > 0 {
		wanted := part.NonResourceURLs[0]
		return slices.ContainsFunc(r.NonResourceURLs, func(path string) bool { return covers(path, wanted) })
	}
	wanted := part.Resources[0]
	_, sub, isSub := strings.Cut(wanted, "/")
	return has(r.APIGroups, part.APIGroups[0]) &&
		(has(r.Resources, wanted) || isSub && slices.Contains(r.Resources, "*/"+sub)) &&
		(len(r.ResourceNames) == 0 || len(part.ResourceNames) > 0 && slices.Contains(r.ResourceNames, part.ResourceNames[0]))
}

// String returns a rule as a real server writes it in errors.
func (r Rule) String() string {
	var parts []string
	for _, part := range []struct {
		name string
		list []string
	}{
		{"APIGroups", r.APIGroups},
		{"Resources", r.Resources},
		{"ResourceNames", r.ResourceNames},
		{"NonResourceURLs", r.NonResourceURLs},
		{"Verbs", r.Verbs},
	} {
		if len(part.list) > 0 {
			parts = append(parts, fmt.Sprintf("%s:%q", part.name, part.list))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
