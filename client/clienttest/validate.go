package clienttest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
)

// The rules for names and their words. They are those of RFC 1123 as the Kubernetes documentation "Object Names and
// IDs" and "Labels and Selectors" narrows them.
const (
	subdomainRule = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and ` +
		`must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is ` +
		`'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
	labelRule = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and ` +
		`end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is ` +
		`'[a-z0-9]([-a-z0-9]*[a-z0-9])?')`
	keyRule = `name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an ` +
		`alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is ` +
		`'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`
	valueRule = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must ` +
		`start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for ` +
		`validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`

	subdomainMax   = 253
	labelMax       = 63
	annotationsMax = 256 << 10 // bytes of all keys and values
)

// validator checks metadata. Its regular expressions are compiled once per server.
type validator struct{ subdomain, label *regexp.Regexp }

func newValidator() validator {
	return validator{
		subdomain: regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`),
		label:     regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`),
	}
}

// name returns what is wrong with a name, or with the prefix of one.
func (v validator) name(r *resource, field, name string, prefix bool) []meta.StatusCause {
	checked := name
	if prefix && strings.HasSuffix(name, "-") {
		checked = name[:len(name)-1] + "a" // what comes after the prefix makes an end of it that is allowed
	}
	limit, pattern, rule := subdomainMax, v.subdomain, subdomainRule
	if r.label {
		limit, pattern, rule = labelMax, v.label, labelRule
	}
	var why []string
	if len(checked) > limit {
		why = append(why, fmt.Sprintf("must be no more than %d characters", limit))
	}
	switch {
	case pattern.MatchString(checked):
	case r.label && v.subdomain.MatchString(checked):
		why = append(why, "must not contain dots")
	default:
		why = append(why, rule)
	}
	var causes []meta.StatusCause
	for _, w := range why {
		causes = append(causes, invalidValue(field, name, w))
	}
	return causes
}

// metadata returns what is wrong with the parts of metadata that clients write.
func (v validator) metadata(r *resource, m *meta.ObjectMeta) []meta.StatusCause {
	var causes []meta.StatusCause
	for _, k := range slices.Sorted(maps.Keys(m.Labels)) {
		if meta.ValidLabelKey(k) != nil {
			causes = append(causes, invalidValue("metadata.labels", k, keyRule))
		}
		if v := m.Labels[k]; len(v) > labelMax {
			causes = append(causes, invalidValue("metadata.labels", v, fmt.Sprintf("must be no more than %d bytes", labelMax)))
		} else if meta.ValidLabelValue(v) != nil {
			causes = append(causes, invalidValue("metadata.labels", v, valueRule))
		}
	}
	size := 0
	for _, k := range slices.Sorted(maps.Keys(m.Annotations)) {
		if meta.ValidLabelKey(strings.ToLower(k)) != nil {
			causes = append(causes, invalidValue("metadata.annotations", k, keyRule))
		}
		size += len(k) + len(m.Annotations[k])
	}
	if size > annotationsMax {
		causes = append(causes, meta.StatusCause{
			Reason: "FieldValueTooLong", Field: "metadata.annotations",
			Message: fmt.Sprintf("Too long: may not be more than %d bytes", annotationsMax),
		})
	}
	controllers := 0
	for i, o := range m.OwnerReferences {
		at := fmt.Sprintf("metadata.ownerReferences[%d].", i)
		if _, version, found := strings.Cut(o.APIVersion, "/"); o.APIVersion != "" && found && (version == "" || strings.Contains(version, "/")) {
			causes = append(causes, invalidValue(at+"apiVersion", o.APIVersion, "must be <group>/<version> or <version>"))
		}
		for _, f := range []struct{ name, value string }{
			{"apiVersion", o.APIVersion}, {"kind", o.Kind}, {"name", o.Name}, {"uid", o.UID},
		} {
			if f.value == "" {
				causes = append(causes, requiredValue(at+f.name, "must not be empty"))
			}
		}
		if o.Controller != nil && *o.Controller {
			if controllers++; controllers == 2 {
				causes = append(causes, invalidValue("metadata.ownerReferences", m.OwnerReferences,
					"Only one reference can have Controller set to true"))
			}
		}
	}
	for i, f := range m.Finalizers {
		if meta.ValidLabelKey(f) != nil {
			causes = append(causes, invalidValue("metadata.finalizers", f, keyRule))
		}
		if r.builtin && !strings.Contains(f, "/") && f != "orphan" && f != "foregroundDeletion" && f != "kubernetes" {
			causes = append(causes, invalidValue(fmt.Sprintf("metadata.finalizers[%d]", i), f,
				"name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	return causes
}

// object returns everything that is wrong with a new object.
func (v validator) object(r *resource, m *meta.ObjectMeta) error {
	var causes []meta.StatusCause
	if m.GenerateName != "" {
		causes = append(causes, v.name(r, "metadata.generateName", m.GenerateName, true)...)
	}
	if m.Name == "" {
		causes = append(causes, requiredValue("metadata.name", "name or generateName is required"))
	} else {
		causes = append(causes, v.name(r, "metadata.name", m.Name, false)...)
	}
	if causes = append(causes, v.metadata(r, m)...); len(causes) > 0 {
		return invalid(r.Group, r.Kind, m.Name, causes)
	}
	return nil
}

// update returns everything that is wrong with the change from old to m.
func (v validator) update(r *resource, m, old *meta.ObjectMeta) error {
	causes := v.metadata(r, m)
	if old.DeletionTimestamp != nil {
		added := slices.DeleteFunc(slices.Sorted(slices.Values(m.Finalizers)), func(f string) bool {
			return slices.Contains(old.Finalizers, f)
		})
		if len(added) > 0 {
			causes = append(causes, forbiddenValue("metadata.finalizers", fmt.Sprintf(
				"no new finalizers can be added if the object is being deleted, found new finalizers %#v", added)))
		}
	}
	if m.UID != old.UID {
		causes = append(causes, invalidValue("metadata.uid", m.UID, "field is immutable"))
	}
	if old.DeletionTimestamp == nil && m.DeletionTimestamp != nil {
		causes = append(causes, invalidValue("metadata.deletionTimestamp", m.DeletionTimestamp, "field is immutable"))
	}
	if len(causes) > 0 {
		return invalid(r.Group, r.Kind, old.Name, causes)
	}
	return nil
}
