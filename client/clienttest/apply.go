package clienttest

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/ownership"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/fieldset"
)

// Server-side apply (KEP-555): a configuration has the fields that its writer wants, and the server records the fields
// that each writer has applied. The server removes a field that the writer now leaves out, unless another writer owns
// it. A field that another writer owns with another value is a conflict, unless the writer forces it.

// apply applies a configuration, and returns the object with the code of the answer.
func (c *call) apply(tx store.Tx, body []byte, o writeOptions) (_ *object.Revision, code int, _ error) {
	config, twice, err := readConfig(body)
	if err != nil {
		return nil, 0, err
	}
	cur, missing := c.present(tx)
	if cur == nil && c.Subresource != "" {
		return nil, 0, missing
	}
	var old *object.Draft
	if cur != nil {
		old = cur.Draft()
	}
	d, err := c.configured(old, config, twice, o)
	if err != nil {
		return nil, 0, err
	}
	o.owned = true
	if cur != nil {
		v, err := c.replace(tx, cur, old, d, o)
		return v, http.StatusOK, err
	}
	d.Meta.ResourceVersion = ""
	v, err := c.insert(tx, d, o)
	return v, http.StatusCreated, err
}

// configured returns the object that results from a configuration. old is nil for a new object. twice names the
// duplicate members of the configuration.
func (c *call) configured(old *object.Draft, config jsontree.Object, twice []string, o writeOptions) (*object.Draft, error) {
	m, live, owners := c.ownership(), c.bare(), ownership.Owners(nil)
	if old != nil {
		var valid bool
		if owners, valid = ownership.Decode(old.Meta.ManagedFields); !valid {
			return nil, status.Failure(http.StatusInternalServerError, "", "failed to decode managed fields")
		}
		live = old.Value()
	}
	wanted, owners, err := c.applyTo(m, live, owners, config, o)
	if err == nil {
		err = c.reportTwice(twice)
	}
	if err != nil {
		return nil, err
	}
	if !c.res.Builtin {
		if causes := m.Shape.Nulls(wanted, ""); len(causes) > 0 {
			return nil, status.Invalid(c.res.Group, c.res.Kind, c.Key.Name, causes)
		}
	}
	d, err := object.Parse(jsontree.Append(nil, wanted))
	if err == nil {
		err = d.Normalize(&c.res.Type)
	}
	if bad, ok := errors.AsType[*object.DecodeError](err); ok {
		err = notConverted(config, bad)
	}
	if err != nil {
		return nil, err
	}
	d.Meta.ManagedFields = owners.Encode()
	if old == nil && d.Meta.UID != "" {
		return nil, status.Conflict(c.res, c.Key.Name, fmt.Sprintf(
			"uid mismatch: the provided object specified uid %s, and no existing object was found", d.Meta.UID))
	}
	if err := c.settle(d); err != nil {
		return nil, err
	}
	return d, c.checkName(d.Meta.Name)
}

// notConverted returns the error for a configuration whose result is not an object of its kind.
func notConverted(config jsontree.Object, why error) error {
	return status.Failure(http.StatusInternalServerError, "", "failed to convert new object (%s) to proper version: %v", nameText(config), why)
}

// readConfig reads the request of an apply, and returns the names of duplicate members.
func readConfig(body []byte) (_ jsontree.Object, twice []string, _ error) {
	v, twice, err := jsontree.ParseYAML(body)
	if err != nil {
		return nil, nil, status.BadRequest("error decoding patch: error converting YAML to JSON: %v", err)
	}
	config, ok := v.(jsontree.Object)
	if !ok && v != nil {
		return nil, nil, status.BadRequest("error decoding patch: error unmarshaling JSON: while decoding JSON: "+
			"json: cannot unmarshal %s into Go value of type map[string]interface {}", jsontree.KindOf(v))
	}
	return config, twice, nil
}

// bare returns an empty object of the applied kind.
func (c *call) bare() jsontree.Object {
	kind := c.res.kindOf(c.Subresource)
	return jsontree.Object{"apiVersion": kind.APIVersion(), "kind": kind.Kind}
}

// applyTo applies a configuration to a live object, and returns the result and its owners.
func (c *call) applyTo(m ownership.Write, live jsontree.Object, all ownership.Owners, config jsontree.Object, o writeOptions) (any, ownership.Owners, error) {
	kind := ownership.KindOf(config)
	if kind != c.res.kindOf(c.Subresource) {
		return nil, nil, status.BadRequest("invalid object type: %s", gvkText(kind))
	}
	metadata, _ := config["metadata"].(jsontree.Object)
	if _, found := metadata["managedFields"].([]any); found {
		return nil, nil, status.BadRequest("metadata.managedFields must be nil")
	}
	if wrong := m.Shape.Check(config, ""); len(wrong) > 0 {
		text := wrong[0]
		if len(wrong) > 1 {
			text = "errors:\n  " + strings.Join(wrong, "\n  ")
		}
		return nil, nil, status.Failure(http.StatusInternalServerError, "", "failed to create typed patch object (%s): %s", nameText(config), text)
	}
	wanted, now, lost := m.Apply(c.bare(), live, config, all, o.manager, o.force)
	if len(lost) > 0 {
		return nil, nil, conflictsOf(lost)
	}
	return wanted, now, nil
}

// conflictsOf returns the error for an apply that would change fields of other owners.
func conflictsOf(lost ownership.Owners) error {
	var causes []meta.StatusCause
	var lines []string
	for _, o := range lost {
		who := fmt.Sprintf("%q", o.Manager)
		if o.Subresource != "" {
			who += fmt.Sprintf(" with subresource %q", o.Subresource)
		}
		if o.Operation == ownership.OperationUpdate {
			who += " using " + o.APIVersion
		}
		lines = append(lines, "conflicts with "+who+":")
		for path := range o.Set.Paths() {
			causes = append(causes, meta.StatusCause{Reason: "FieldManagerConflict", Message: "conflict with " + who, Field: fieldset.Path(path)})
			lines = append(lines, "- "+fieldset.Path(path))
		}
	}
	text := fmt.Sprintf("Apply failed with %d conflicts: %s", len(causes), strings.Join(lines, "\n"))
	if len(causes) == 1 {
		text = fmt.Sprintf("Apply failed with 1 conflict: %s: %s", causes[0].Message, causes[0].Field)
	}
	return status.Failure(http.StatusConflict, "Conflict", "%s", text).With(meta.StatusDetails{Causes: causes})
}

// nameText returns the name of a configuration as the real server writes it in errors of an apply.
func nameText(config jsontree.Object) string {
	metadata, _ := config["metadata"].(jsontree.Object)
	name, _ := metadata["name"].(string)
	namespace, _ := metadata["namespace"].(string)
	return namespace + "/" + name + "; " + gvkText(ownership.KindOf(config))
}

// gvkText returns a kind as the real server writes it in errors of an apply.
func gvkText(k meta.GVK) string { return k.Group + "/" + k.Version + ", Kind=" + k.Kind }
