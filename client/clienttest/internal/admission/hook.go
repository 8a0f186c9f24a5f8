// Package admission calls the webhooks of an API server: it selects the webhooks that decide about a write, asks them,
// and reads their answers. It also calls the webhooks that convert custom resources. It does not know about the store.
package admission

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
)

// Hook is a webhook of a configuration that is stored, so its values are valid and complete.
type Hook struct {
	Name                    string             `json:"name"`
	Client                  Client             `json:"clientConfig"`
	Rules                   []Rule             `json:"rules"`
	FailurePolicy           string             `json:"failurePolicy"`
	MatchPolicy             string             `json:"matchPolicy"`
	NamespaceSelector       meta.LabelSelector `json:"namespaceSelector"`
	ObjectSelector          meta.LabelSelector `json:"objectSelector"`
	SideEffects             string             `json:"sideEffects"`
	TimeoutSeconds          int64              `json:"timeoutSeconds"`
	AdmissionReviewVersions []string           `json:"admissionReviewVersions"`
	ReinvocationPolicy      string             `json:"reinvocationPolicy"`
	MatchConditions         json.RawMessage    `json:"matchConditions"`
	Configuration           string             `json:"-"`
	namespaces, objects     meta.Selector      // the two selectors, parsed
}

// Client says where a webhook is.
type Client struct {
	URL     string `json:"url"`
	Service *struct {
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
		Path      string `json:"path"`
		Port      int    `json:"port"`
	} `json:"service"`
	CABundle []byte `json:"caBundle"`
}

// Rule selects operations on resources.
type Rule struct {
	Operations  []string `json:"operations"`
	APIGroups   []string `json:"apiGroups"`
	APIVersions []string `json:"apiVersions"`
	Resources   []string `json:"resources"`
	Scope       string   `json:"scope"`
}

// Read returns the webhooks of a configuration.
func Read(configuration []byte) ([]*Hook, error) {
	var c struct {
		Metadata meta.ObjectMeta `json:"metadata"`
		Webhooks []*Hook         `json:"webhooks"`
	}
	if err := json.Unmarshal(configuration, &c); err != nil {
		return nil, err
	}
	for _, h := range c.Webhooks {
		h.Configuration = c.Metadata.Name
		var err, also error
		h.namespaces, err = h.NamespaceSelector.Selector()
		h.objects, also = h.ObjectSelector.Selector()
		if err = cmp.Or(err, also); err != nil {
			return nil, err
		}
	}
	return c.Webhooks, nil
}

// Version is a version of a resource, with the kind of its objects.
type Version struct {
	Resource meta.GVR
	Kind     meta.GVK
}

// Labels are the labels of an object; nil if there is no object, or if it has no metadata.
type Labels *map[string]string

// Selects reports whether the selectors of the webhook select a write. namespace has the labels of the object's
// namespace, and is nil if the object has none. The object selector may match the labels of the object before the write
// (was) or after it (is).
func (h *Hook) Selects(namespace, is, was Labels) bool {
	selects := func(s meta.Selector, labels Labels) bool { return labels != nil && s.Matches(*labels) }
	return (namespace == nil || selects(h.namespaces, namespace)) &&
		(h.objects.Everything() || selects(h.objects, is) || selects(h.objects, was))
}

// Matches returns the version in which the webhook sees a write, according to its rules. The first version is that of
// the request; the rules may name one of the others unless the match policy is Exact.
func (h *Hook) Matches(operation, subresource, namespace string, versions []Version) (Version, bool) {
	for _, v := range versions {
		if slices.ContainsFunc(h.Rules, func(r Rule) bool { return r.matches(operation, v.Resource, subresource, namespace) }) {
			return v, true
		}
		if h.MatchPolicy == "Exact" {
			break
		}
	}
	return Version{}, false
}

// matches reports whether the rule selects an operation.
func (r Rule) matches(operation string, of meta.GVR, subresource, namespace string) bool {
	has := func(list []string, name string) bool {
		return slices.Contains(list, "*") || slices.Contains(list, name)
	}
	inNamespace := namespace != "" && of != meta.GVR{Version: "v1", Resource: "namespaces"}
	return has(r.Operations, operation) && has(r.APIGroups, of.Group) && has(r.APIVersions, of.Version) &&
		(r.Scope == "" || r.Scope == "*" || inNamespace == (r.Scope == "Namespaced")) &&
		slices.ContainsFunc(r.Resources, func(path string) bool {
			name, sub, _ := strings.Cut(path, "/")
			return (name == "*" || name == of.Resource) && (sub == "*" || sub == subresource)
		})
}
