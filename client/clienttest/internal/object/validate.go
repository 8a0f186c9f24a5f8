package object

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// The rules for names, and their words: those of RFC 1123, narrowed by the Kubernetes documentation "Object Names and
// IDs" and "Labels and Selectors".
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

// Validator checks metadata.
type Validator struct{ subdomain, label, word *regexp.Regexp }

// NewValidator returns a validator. All share their regular expressions.
func NewValidator() Validator { return validator() }

var validator = sync.OnceValue(func() Validator {
	return Validator{
		subdomain: regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`),
		label:     regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`),
		word:      regexp.MustCompile(`^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`),
	}
})

// name returns what is wrong with a name, or with the prefix of one.
func (v Validator) name(t *Type, field, name string, prefix bool) []meta.StatusCause {
	checked := name
	if prefix && len(name) > 1 && strings.HasSuffix(name, "-") {
		checked = name[:len(name)-2] + "a" // the generated suffix makes the end valid
	}
	limit, pattern, rule := subdomainMax, v.subdomain, subdomainRule
	if t.NameLabel {
		limit, pattern, rule = labelMax, v.label, labelRule
	}
	var why []string
	if len(checked) > limit {
		why = append(why, fmt.Sprintf("must be no more than %d characters", limit))
	}
	switch {
	case t.NameSegment:
		why = segmentRules(checked)
	case pattern.MatchString(checked):
	case t.NameLabel && v.subdomain.MatchString(checked):
		why = append(why, "must not contain dots")
	default:
		why = append(why, rule)
	}
	var causes status.Causes
	for _, w := range why {
		causes = append(causes, status.InvalidValue(field, name, w))
	}
	return causes
}

// Qualified returns what is wrong with a name that may have a prefix, such as the key of a label, an annotation or a
// finalizer.
func (v Validator) Qualified(key string) []string {
	var why []string
	prefix, name, found := strings.Cut(key, "/")
	switch {
	case strings.Contains(name, "/"):
		return []string{`a valid label key must ` + strings.TrimPrefix(keyRule, "name part must ") +
			` with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`}
	case !found:
		name = prefix
	case prefix == "":
		why = append(why, "prefix part must be non-empty")
	default:
		if len(prefix) > subdomainMax {
			why = append(why, fmt.Sprintf("prefix part must be no more than %d bytes", subdomainMax))
		}
		if !v.subdomain.MatchString(prefix) {
			why = append(why, "prefix part "+subdomainRule)
		}
	}
	switch {
	case name == "":
		why = append(why, "name part must be non-empty")
	case len(name) > labelMax:
		why = append(why, fmt.Sprintf("name part must be no more than %d bytes", labelMax))
	}
	if !v.word.MatchString(name) {
		why = append(why, keyRule)
	}
	return why
}

// segmentRules returns what is wrong with a name that may be any segment of a path.
func segmentRules(name string) (why []string) {
	if name == "." || name == ".." {
		return []string{fmt.Sprintf("may not be '%s'", name)}
	}
	for _, c := range []string{"/", "%"} {
		if strings.Contains(name, c) {
			why = append(why, fmt.Sprintf("may not contain '%s'", c))
		}
	}
	return why
}

// metadata returns what is wrong with the parts of metadata that clients write.
func (v Validator) metadata(t *Type, m *meta.ObjectMeta) []meta.StatusCause {
	var causes status.Causes
	causes.If(m.Generation < 0, status.InvalidValue("metadata.generation", m.Generation, "must be greater than or equal to 0"))
	return slices.Concat(causes, v.Descriptions(m), v.finalizers(t, m))
}

// Descriptions returns what is wrong with labels, annotations and owners.
func (v Validator) Descriptions(m *meta.ObjectMeta) []meta.StatusCause {
	var causes status.Causes
	for _, k := range slices.Sorted(maps.Keys(m.Labels)) {
		for _, why := range v.Qualified(k) {
			causes = append(causes, status.InvalidValue("metadata.labels", k, why))
		}
		value := m.Labels[k]
		if len(value) > labelMax {
			causes = append(causes, status.InvalidValue("metadata.labels", value, fmt.Sprintf("must be no more than %d bytes", labelMax)))
		}
		if value != "" && !v.word.MatchString(value) {
			causes = append(causes, status.InvalidValue("metadata.labels", value, valueRule))
		}
	}
	size := 0
	for _, k := range slices.Sorted(maps.Keys(m.Annotations)) {
		for _, why := range v.Qualified(strings.ToLower(k)) {
			causes = append(causes, status.InvalidValue("metadata.annotations", k, why))
		}
		size += len(k) + len(m.Annotations[k])
	}
	causes.If(size > annotationsMax, meta.StatusCause{
		Reason: "FieldValueTooLong", Field: "metadata.annotations",
		Message: fmt.Sprintf("Too long: may not be more than %d bytes", annotationsMax),
	})
	return append(causes, v.owners(m.OwnerReferences)...)
}

// owners returns what is wrong with the owners of an object.
func (v Validator) owners(owners []meta.OwnerReference) []meta.StatusCause {
	var causes status.Causes
	controller := "" // the first owner that is a controller
	for i, o := range owners {
		at := fmt.Sprintf("metadata.ownerReferences[%d]", i)
		if _, version, found := strings.Cut(o.APIVersion, "/"); o.APIVersion != "" && found && (version == "" || strings.Contains(version, "/")) {
			causes = append(causes, status.InvalidValue(at+".apiVersion", o.APIVersion, "must be <group>/<version> or <version>"))
		}
		for _, f := range []struct{ name, value string }{
			{"apiVersion", o.APIVersion}, {"kind", o.Kind}, {"name", o.Name}, {"uid", o.UID},
		} {
			causes.If(f.value == "", status.RequiredValue(at+"."+f.name, "must not be empty"))
		}
		causes.If(o.APIVersion == "v1" && o.Kind == "Event", status.InvalidValue(at, o, "/v1, Kind=Event is disallowed from being an owner"))
	}
	for _, o := range owners {
		if o.Controller == nil || !*o.Controller {
			continue
		}
		if controller == "" {
			controller = o.Kind + "/" + o.Name
			continue
		}
		causes = append(causes, status.InvalidValue("metadata.ownerReferences", owners, fmt.Sprintf(
			"Only one reference can have Controller set to true. Found \"true\" in references for %s and %s/%s", controller, o.Kind, o.Name)))
	}
	return causes
}

// finalizers returns what is wrong with the finalizers of an object.
func (v Validator) finalizers(t *Type, m *meta.ObjectMeta) []meta.StatusCause {
	var causes status.Causes
	for i, f := range m.Finalizers {
		for _, why := range v.Qualified(f) {
			causes = append(causes, status.InvalidValue("metadata.finalizers", f, why))
		}
		causes.If(t.Builtin && Unqualified(f), status.InvalidValue(fmt.Sprintf("metadata.finalizers[%d]", i), f,
			"name is neither a standard finalizer name nor is it fully qualified"))
	}
	causes.If(slices.Contains(m.Finalizers, FinalizerOrphan) && slices.Contains(m.Finalizers, FinalizerForeground),
		status.InvalidValue("metadata.finalizers", m.Finalizers, "finalizer orphan and foregroundDeletion cannot be both set"))
	return causes
}

// Unqualified reports whether the name of a finalizer has no domain and is not one of Kubernetes' own names.
func Unqualified(f string) bool {
	return !strings.Contains(f, "/") && f != FinalizerOrphan && f != FinalizerForeground && f != "kubernetes"
}

// Object returns everything that is wrong with the metadata of a new object.
func (v Validator) Object(t *Type, m *meta.ObjectMeta) []meta.StatusCause {
	var causes status.Causes
	if m.GenerateName != "" {
		causes = append(causes, v.name(t, "metadata.generateName", m.GenerateName, true)...)
	}
	if m.Name == "" {
		causes = append(causes, status.RequiredValue("metadata.name", "name or generateName is required"))
	} else {
		causes = append(causes, v.name(t, "metadata.name", m.Name, false)...)
	}
	return append(causes, v.metadata(t, m)...)
}

// Update returns everything that is wrong with the change from old to m.
func (v Validator) Update(t *Type, m, old *meta.ObjectMeta) []meta.StatusCause {
	causes := v.change(m, old)
	if !t.Builtin {
		// A real server checks the labels, annotations and owners of a custom resource three times, and the immutable
		// fields twice; its message names each error once.
		causes = slices.Concat(causes, v.Descriptions(m), causes, v.Descriptions(m))
	}
	return append(causes, v.metadata(t, m)...)
}

// change returns what is wrong with m's changes of immutable fields.
func (v Validator) change(m, old *meta.ObjectMeta) []meta.StatusCause {
	var causes status.Causes
	if old.DeletionTimestamp != nil {
		added := slices.DeleteFunc(slices.Sorted(slices.Values(m.Finalizers)), func(f string) bool {
			return slices.Contains(old.Finalizers, f)
		})
		causes.If(len(added) > 0, status.ForbiddenValue("metadata.finalizers", fmt.Sprintf(
			"no new finalizers can be added if the object is being deleted, found new finalizers %#v", added)))
	}
	causes.If(m.UID != old.UID, status.InvalidValue("metadata.uid", m.UID, "field is immutable"))
	causes.If(old.DeletionTimestamp == nil && m.DeletionTimestamp != nil, status.InvalidValue("metadata.deletionTimestamp", m.DeletionTimestamp, "field is immutable"))
	if is, was := m.DeletionGracePeriodSeconds, old.DeletionGracePeriodSeconds; is != nil && (was == nil || *is != *was) {
		causes = append(causes, status.InvalidValue("metadata.deletionGracePeriodSeconds", *is, "field is immutable"))
	}
	return causes
}

// The finalizers that ask the garbage collector of a real server to handle the dependents of an object.
const (
	FinalizerOrphan     = "orphan"
	FinalizerForeground = "foregroundDeletion"
)
