package clienttest

import (
	"encoding/json"
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/definitions"
	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/clienttest/internal/strategy"
	"github.com/bowline-go/bowline/client/clienttest/internal/values"
	"github.com/bowline-go/bowline/client/meta"
)

// wrongValues returns the causes for which an object breaks the rules of its kind: those of a built-in kind, or the
// schema and the rules of a custom resource. old is the object that it replaces, nil if it is new.
func (c *call) wrongValues(tx store.Tx, d, old *object.Draft) []meta.StatusCause {
	switch {
	case c.res == c.crds && c.Subresource == "status":
		return definitions.CheckStatus(d)
	case c.res == c.crds:
		return c.wrongDefinition(d, old)
	case c.res.Builtin && c.options.Lenient, !c.res.Builtin && c.res.values == nil:
		return nil
	}
	var was jsontree.Object
	if old != nil {
		was = old.Value()
	}
	if c.res.Builtin {
		for _, field := range strategies().Unchecked(c.res.Kind, d.Content) {
			c.unchecked[field]++
		}
		causes := strategies().Check(strategy.Write{
			Kind: c.res.GVK(), Subresource: c.Subresource, New: d.Value(), Old: was, Admin: c.allowsAdmin(tx, d.Meta.Namespace),
		})
		if c.Subresource == "" && (old == nil || !d.SameSpec(old, &c.res.Type)) {
			causes = append(causes, c.wrongExpressions(d)...)
		}
		return causes
	}
	check := c.res.values.Check
	if c.Subresource == "status" {
		check = c.res.values.CheckStatus
	}
	causes := append(check(d.Value(), was), c.res.wrongScale(d, c.Subresource)...)
	switch {
	case c.res.rules == nil:
	case slices.ContainsFunc(causes, blocksRules):
		causes = append(causes, meta.StatusCause{
			Reason: "FieldValueInvalid", Field: "<nil>", Message: "Invalid value: null: some validation rules were not checked because " +
				"the object was invalid; correct the existing errors to complete validation",
		})
	default:
		is, _ := values.Native(d.Value()).(jsontree.Object)
		var before jsontree.Object
		if old != nil {
			before, _ = values.Native(was).(jsontree.Object)
		}
		broken, warnings := c.res.rules.Check(c.r.Context(), is, before)
		causes = append(causes, broken...)
		for _, text := range warnings {
			c.warn("%s", text)
		}
	}
	return causes
}

// allowsAdmin reports whether a namespace has the label that lets claims have administrators' access to devices.
func (c *call) allowsAdmin(tx store.Tx, namespace string) bool {
	if c.res.Group != "resource.k8s.io" || namespace == "" {
		return false
	}
	home := tx.Get(c.namespaces.objects, meta.Key{Name: namespace})
	return home != nil && home.Draft().Meta.Labels["resource.kubernetes.io/admin-access"] == "true"
}

// blocksRules reports whether a real server skips the CEL rules of an object with this fault.
func blocksRules(cause meta.StatusCause) bool {
	return slices.Contains([]string{
		"FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong", "FieldValueTooMany", "FieldValueTypeInvalid",
	}, cause.Reason)
}

// wrongDefinition returns what is wrong with a CustomResourceDefinition.
func (c *call) wrongDefinition(d, old *object.Draft) []meta.StatusCause {
	causes := definitions.Check(d, old)
	if len(causes) > 0 {
		return causes
	}
	read := definitions.Read(d)
	if _, _, err := c.versionsOf(read, read.Names); err != nil {
		return []meta.StatusCause{{Reason: "FieldValueForbidden", Field: "spec.versions", Message: "Forbidden: " + err.Error()}}
	}
	if c.options.Rules == nil || c.options.Lenient {
		return nil
	}
	var was json.RawMessage
	if old != nil {
		was = old.Revision(&c.res.Type, 0).Raw
	}
	return c.options.Rules.CheckDefinition(c.r.Context(), d.Revision(&c.res.Type, 0).Raw, was)
}

// warnDefinition warns of the parts of a CustomResourceDefinition that a server ignores.
func (c *call) warnDefinition(d, old *object.Draft) {
	if c.res != c.crds {
		return
	}
	for _, text := range definitions.Warnings(d, old) {
		c.warn("%s", text)
	}
}

// prepareDefinition fills in the defaults of a CustomResourceDefinition, and the stored version in its status.
func prepareDefinition(d *object.Draft, creating bool) {
	if creating {
		d.Content["status"] = jsontree.Object{}
	}
	definitions.Complete(d.Content)
	definitions.AddStoredVersion(d.Content)
}
