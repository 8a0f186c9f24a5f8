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
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/fieldset"
)

// Server-side apply (KEP-555): a configuration has the fields that its writer wants, and the server records the fields that each
// writer has applied. The server removes a field that the writer now leaves out, unless another writer owns it. A field that
// another writer owns with another value is a conflict, unless the writer forces it.

// apply applies a configuration, and returns the object with the code of the answer.
func (c *call) apply(w http.ResponseWriter, body []byte, o writeOptions) (*object.Revision, int, error) {
	config, twice, err := readConfig(body)
	if err != nil {
		return nil, 0, err
	}
	st := c.s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	cur := c.res.objects.tree.Get(object.PathOf(c.Key))
	var old *object.Draft
	switch {
	case cur != nil:
		old = cur.Draft()
	case c.Subresource != "":
		return nil, 0, status.NotFound(c.res, c.Key.Name)
	}
	m := c.ownership()
	live, all := c.bare(), ownership.Owners(nil)
	if old != nil {
		var valid bool
		if all, valid = ownership.Decode(old.Meta.ManagedFields); !valid {
			return nil, 0, status.Failure(http.StatusInternalServerError, "", "failed to decode managed fields")
		}
		live = old.Value()
	}
	wanted, all, err := c.applyTo(m, live, all, config, o)
	if err != nil {
		return nil, 0, err
	}
	if err := c.reportTwice(w, twice); err != nil {
		return nil, 0, err
	}
	if !c.res.Builtin {
		if causes := m.Shape.Nulls(wanted, ""); len(causes) > 0 {
			return nil, 0, status.Invalid(c.res.Group, c.res.Kind, c.Key.Name, causes)
		}
	}
	raw := jsontree.Append(nil, wanted)
	d, err := object.Parse(raw)
	if err == nil {
		err = d.Normalize(&c.res.Type)
	}
	var bad *object.DecodeError
	if errors.As(err, &bad) {
		err = status.Failure(http.StatusInternalServerError, "", "failed to convert new object (%s) to proper version: %v", nameText(config), bad)
	}
	if err != nil {
		return nil, 0, err
	}
	d.Meta.ManagedFields = all.Encode()
	if cur == nil && d.Meta.UID != "" {
		return nil, 0, status.Conflict(c.res, c.Key.Name, fmt.Sprintf(
			"uid mismatch: the provided object specified uid %s, and no existing object was found", d.Meta.UID))
	}
	if err := c.checkNamespace(d); err != nil {
		return nil, 0, err
	}
	if err := c.checkName(d.Meta.Name); err != nil {
		return nil, 0, err
	}
	o.owned = true
	if cur == nil {
		d.Meta.ResourceVersion = ""
		v, err := c.insert(d, o)
		if err == nil {
			c.warnFinalizers(w, d.Meta.Finalizers, nil)
		}
		return v, http.StatusCreated, err
	}
	v, err := c.replace(cur, old, d, o)
	if err == nil && c.Subresource == "" {
		c.warnFinalizers(w, d.Meta.Finalizers, old.Meta.Finalizers)
	}
	return v, http.StatusOK, err
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
	kind := c.appliedKind()
	return jsontree.Object{"apiVersion": kind.APIVersion(), "kind": kind.Kind}
}

// applyTo applies a configuration to a live object, and returns the result and its owners.
func (c *call) applyTo(m ownership.Write, live jsontree.Object, all ownership.Owners, config jsontree.Object, o writeOptions) (any, ownership.Owners, error) {
	kind := ownership.KindOf(config)
	if kind != c.appliedKind() {
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

// appliedKind returns the kind of the applied configuration.
func (c *call) appliedKind() meta.GVK {
	if sub := c.res.subresources[c.Subresource]; sub != nil && sub.kind.Kind != "" {
		return sub.kind
	}
	return c.res.GVK()
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
