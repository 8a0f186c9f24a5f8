package definitions

import (
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
)

// Condition is a condition of a definition, without its times.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// The conditions that a server sets.
const (
	namesAccepted = "NamesAccepted"
	established   = "Established"
	approved      = "KubernetesAPIApprovalPolicyConformant"
)

func isTrue(d *object.Draft, condition string) bool {
	for _, c := range view(d.Content).in("status").list("conditions") {
		if c.text("type") == condition {
			return c.text("status") == "True"
		}
	}
	return false
}

// Accept decides which of the names that d asks for it gets, given all definitions of the server, and returns the new
// status.acceptedNames and status.conditions of d. A name that another definition of the group has is not free. When a
// definition changes its names or goes away, the others of its group may get other answers.
func (d *Definition) Accept(all []*Definition) (Names, []Condition) {
	names, conditions := d.Accepted, slices.Clone(d.Conditions)
	set := func(c Condition) {
		i := slices.IndexFunc(conditions, func(was Condition) bool { return was.Type == c.Type })
		if i < 0 {
			conditions = append(conditions, c)
		} else {
			conditions[i] = c
		}
	}
	status := func(of string) string {
		for _, c := range conditions {
			if c.Type == of {
				return c.Status
			}
		}
		return ""
	}
	if !sameNames(d.Names, d.Accepted) {
		var conflict Condition
		names, conflict = d.conflict(all)
		set(conflict)
		if status(established) == "" {
			set(Condition{established, "False", "NotAccepted", "not all names are accepted"})
		}
	}
	if status(namesAccepted) == "True" && status(established) != "True" {
		if wrongBundle(d.Conversion.CABundle) != "" {
			set(Condition{established, "False", "InvalidCABundle", "The conversion webhook CABundle is invalid"})
		} else {
			set(Condition{established, "True", "InitialNamesAccepted", "the initial names have been accepted"})
		}
	}
	if isProtected(d.Group) {
		state := approvalOf(d.approval)
		c := Condition{approved, "False", state.reason, state.message}
		if state.reason == approvedByURL {
			c.Status = "True"
		}
		set(c)
	}
	return names, conditions
}

func sameNames(a, b Names) bool {
	return a.Plural == b.Plural && a.Singular == b.Singular && a.Kind == b.Kind && a.ListKind == b.ListKind &&
		slices.Equal(a.ShortNames, b.ShortNames) && slices.Equal(a.Categories, b.Categories)
}

// conflict returns the names that d gets and the condition NamesAccepted.
func (d *Definition) conflict(all []*Definition) (Names, Condition) {
	resources, kinds := map[string]bool{}, map[string]bool{}
	for _, other := range append(slices.Clone(all), d) {
		if a := other.Accepted; other.Group == d.Group && (other == d || other.Name != d.Name) {
			resources[a.Plural], resources[a.Singular], kinds[a.Kind], kinds[a.ListKind] = true, true, true, true
			for _, name := range a.ShortNames {
				resources[name] = true
			}
		}
	}
	c := Condition{namesAccepted, "True", "NoConflicts", "no conflicts found"}
	refuse := func(reason string, err error) { c.Status, c.Reason, c.Message = "False", reason, err.Error() }
	taken := func(name string) error { return fmt.Errorf("%q is already in use", name) }

	names, want := d.Accepted, d.Names
	take := func(name *string, want string, used map[string]bool, reason string) {
		if want != *name && used[want] {
			refuse(reason, taken(want))
			return
		}
		*name = want
	}
	take(&names.Plural, want.Plural, resources, "PluralConflict")
	take(&names.Singular, want.Singular, resources, "SingularConflict")
	if !reflect.DeepEqual(want.ShortNames, d.Accepted.ShortNames) {
		var errs []error
		said := map[string]bool{}
		for _, name := range want.ShortNames {
			if !slices.Contains(d.Accepted.ShortNames, name) && resources[name] && !said[name] {
				said[name] = true
				errs = append(errs, taken(name))
			}
		}
		switch len(errs) {
		case 0:
			names.ShortNames = want.ShortNames
		case 1:
			refuse("ShortNamesConflict", errs[0])
		default:
			refuse("ShortNamesConflict", errors.New("["+strings.ReplaceAll(errors.Join(errs...).Error(), "\n", ", ")+"]"))
		}
	}
	take(&names.Kind, want.Kind, kinds, "KindConflict")
	take(&names.ListKind, want.ListKind, kinds, "ListKindConflict")
	names.Categories = want.Categories
	return names, c
}

// approvalAnnotation says where an API of Kubernetes itself was approved.
const approvalAnnotation = "api-approved.kubernetes.io"

func isProtected(group string) bool {
	for _, domain := range []string{"k8s.io", "kubernetes.io"} {
		if group == domain || strings.HasSuffix(group, "."+domain) {
			return true
		}
	}
	return false
}

// approval is what an annotation says about the approval of an API. The reasons are those of the condition.
type approval struct{ reason, message string }

const (
	approvedByURL  = "ApprovedAnnotation"
	unapproved     = "UnapprovedAnnotation"
	withoutWord    = "MissingAnnotation"
	withWrongWords = "InvalidAnnotation"
)

func approvalOf(annotation string) approval {
	const rule = "protected groups must have approval annotation %q"
	const link = ", see https://github.com/kubernetes/enhancements/pull/1111"
	u, err := url.ParseRequestURI(annotation)
	switch {
	case annotation == "":
		return approval{withoutWord, fmt.Sprintf(rule+link, approvalAnnotation)}
	case strings.HasPrefix(annotation, "unapproved"):
		return approval{unapproved, fmt.Sprintf("not approved: %q", annotation)}
	case err == nil && u.Host != "" && u.Scheme != "":
		return approval{approvedByURL, "approved in " + annotation}
	}
	return approval{withWrongWords, fmt.Sprintf(rule+" with either a URL or a reason starting with \"unapproved\""+link, approvalAnnotation)}
}

// approval checks the approval of an API in a group of Kubernetes itself.
func (c *checker) approval(d, old *object.Draft) {
	is := approvalOf(d.Meta.Annotations[approvalAnnotation])
	if !isProtected(c.spec.text("group")) || old != nil && approvalOf(old.Meta.Annotations[approvalAnnotation]).reason == is.reason {
		return
	}
	const at = "metadata.annotations[" + approvalAnnotation + "]"
	switch is.reason {
	case withWrongWords:
		c.invalid(at, d.Meta.Annotations[approvalAnnotation], is.message)
	case withoutWord:
		c.required(at, is.message)
	}
}
