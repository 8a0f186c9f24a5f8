package clienttest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/ownership"
	"github.com/bowline-go/bowline/client/clienttest/internal/printing"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// scale is a Scale of autoscaling/v1.
type scale struct {
	meta.TypeMeta
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Replicas int64 `json:"replicas,omitempty"`
	} `json:"spec"`
	Status struct {
		Replicas int64  `json:"replicas"`
		Selector string `json:"selector,omitempty"`
	} `json:"status"`
}

var scaleType = meta.TypeMeta{Kind: "Scale", APIVersion: "autoscaling/v1"}

// scaleOf returns the scale of an object.
func scaleOf(v *object.Revision) (*scale, error) {
	d := v.Draft()
	s := &scale{TypeMeta: scaleType, ObjectMeta: meta.ObjectMeta{
		Name: d.Meta.Name, Namespace: d.Meta.Namespace, UID: d.Meta.UID, CreationTimestamp: d.Meta.CreationTimestamp,
		ResourceVersion: strconv.FormatUint(v.Version, 10),
	}}
	var object struct {
		Spec struct {
			Replicas int64           `json:"replicas"`
			Selector json.RawMessage `json:"selector"`
		} `json:"spec"`
		Status struct {
			Replicas int64 `json:"replicas"`
		} `json:"status"`
	}
	if err := json.Unmarshal(v.Raw, &object); err != nil {
		return nil, status.BadRequest("%v", err)
	}
	var labels meta.LabelSelector
	into := any(&labels)
	if d.Kind == "ReplicationController" { // it is older than LabelSelector
		into = &labels.MatchLabels
	}
	if len(object.Spec.Selector) > 0 {
		if err := json.Unmarshal(object.Spec.Selector, into); err != nil {
			return nil, status.BadRequest("%v", err)
		}
	}
	selector, err := labels.Selector()
	if err != nil {
		return nil, status.BadRequest("%v", err)
	}
	s.Spec.Replicas, s.Status.Replicas, s.Status.Selector = object.Spec.Replicas, object.Status.Replicas, selector.String()
	return s, nil
}

func scaleSubresource() *subresource {
	s := &subresource{kind: scaleType.GVK(), verbs: []string{"get", "patch", "update"}}
	s.answer = func(c *call, w http.ResponseWriter) error {
		if c.Verb == "get" {
			return c.getScale(w)
		}
		return c.putScale(w)
	}
	return s
}

// getScale answers with the scale of an object.
func (c *call) getScale(w http.ResponseWriter) error {
	v := c.read(true)
	if v == nil {
		return status.NotFound(c.res, c.Key.Name)
	}
	s, err := scaleOf(v)
	if err != nil {
		return err
	}
	return c.writeScale(w, s)
}

// putScale answers an update and a patch.
func (c *call) putScale(w http.ResponseWriter) error {
	if _, err := c.formOf(false); err != nil {
		return err // before any change
	}
	v, err := c.changeScale(w)
	if err != nil {
		return err
	}
	s, err := scaleOf(v)
	if err != nil {
		return err
	}
	return c.writeScale(w, s)
}

func (c *call) changeScale(w http.ResponseWriter) (*object.Revision, error) {
	var media string
	var b *payload
	var err error
	var o writeOptions
	if c.Verb == "patch" {
		if media, err = c.patchMedia(); err != nil {
			return nil, err
		}
		b = &payload{}
		if b.sent, err = bodyOf(c.r); err != nil {
			return nil, err
		}
		b.json = b.sent
		o, err = c.patchOptions(media, b.sent)
	} else {
		if b, err = c.payload(scaleType.APIVersion, scaleType.Kind); err != nil {
			return nil, err
		}
		if b.wrong != nil {
			return nil, unrecognized(scaleType.Kind, b.wrong, b.sent)
		}
		o, err = c.writeOptions("UpdateOptions")
	}
	if err != nil {
		return nil, err
	}
	c.s.store.mu.Lock()
	defer c.s.store.mu.Unlock()
	cur := c.res.objects.tree.Get(object.PathOf(c.Key))
	if cur == nil {
		return nil, status.NotFound(c.res, c.Key.Name)
	}
	was, err := scaleOf(cur)
	if err != nil {
		return nil, err
	}
	old := cur.Draft()
	var s *scale
	var entries []meta.ManagedFields
	if media == mediaApply {
		s, entries, err = c.appliedScale(w, b.sent, old, was, o)
	} else {
		s, err = c.wantedScale(w, media, b, was)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case s.Namespace != "" && s.Namespace != c.Key.Namespace:
		return nil, status.BadRequest("the namespace of the provided object does not match the namespace sent on the request")
	case s.Name != c.Key.Name:
		return nil, c.checkName(s.Name)
	case s.UID != "" && s.UID != cur.UID:
		name := status.Qualified(c.res.Resource.Resource+"/scale", c.res.Group)
		return nil, status.Failure(http.StatusConflict, "Conflict", "Operation cannot be fulfilled on %s %q: %s", name, c.Key.Name,
			fmt.Sprintf("Precondition failed: UID in precondition: %s, UID in object meta: %s", s.UID, cur.UID)).
			With(meta.StatusDetails{Name: c.Key.Name, Group: c.res.Group, Kind: c.res.Resource.Resource + "/scale"})
	case s.Spec.Replicas < 0:
		return nil, status.Invalid("autoscaling", "Scale", c.Key.Name, []meta.StatusCause{
			status.InvalidValue("spec.replicas", s.Spec.Replicas, "must be greater than or equal to 0"),
		})
	}
	if media != mediaApply {
		entries = c.updatedScale(old, was, s, o.manager)
	}
	d := old.Clone()
	spec, _ := d.Content["spec"].(jsontree.Object)
	if spec = maps.Clone(spec); spec == nil {
		spec = jsontree.Object{}
	}
	spec["replicas"] = json.Number(strconv.FormatInt(s.Spec.Replicas, 10))
	d.Content["spec"] = spec
	d.Meta.ResourceVersion = s.ResourceVersion
	d.Meta.ManagedFields, o.owned = entries, true
	return c.replace(cur, old, d, o)
}

// wantedScale reads the scale in the body of an update, or the result of a patch of the present one.
func (c *call) wantedScale(w http.ResponseWriter, media string, b *payload, present *scale) (*scale, error) {
	var s scale
	if media == "" {
		return &s, c.decodeCall(w, b, &s, scaleType.APIVersion, scaleType.Kind)
	}
	whole, err := json.Marshal(present)
	if err != nil {
		return nil, err
	}
	p, err := c.applied(media, whole, b.json, scaleType.GVK())
	if err != nil {
		return nil, err
	}
	known := schema.Builtin().Of(scaleType.GVK())
	if err = known.Fits(p.Doc); err == nil {
		err = json.Unmarshal(p.Doc, &s)
	}
	s.Kind = cmp.Or(s.Kind, scaleType.Kind)
	switch {
	case err != nil:
	case s.APIVersion == "":
		s, known = scale{}, schema.Nameless()
	case s.TypeMeta != scaleType:
		err = noKind(s.Kind, s.APIVersion)
	}
	if err != nil {
		return nil, p.Invalid(err)
	}
	return &s, c.reportPatch(w, p, schema.FieldErrors(p.Doc, known))
}

// scaleWrite returns the rules for the owners of a scale's fields.
func scaleWrite() ownership.Write {
	return ownership.Write{
		APIVersion: scaleType.APIVersion, Subresource: "scale", Shape: schema.Builtin().Of(scaleType.GVK()),
		Part: ownership.All, Now: now(), AllVersions: true,
	}
}

// value returns the scale as one value.
func (s *scale) value() jsontree.Object {
	b, err := json.Marshal(s)
	if err != nil {
		panic("clienttest: encode a scale: " + err.Error()) // it was decoded
	}
	v, err := jsontree.Parse(b)
	if err != nil {
		panic("clienttest: " + err.Error())
	}
	return v.(jsontree.Object)
}

// parentOwners reads the owners of the object whose scale is written.
func (c *call) parentOwners(old *object.Draft) ownership.Owners {
	all, _ := ownership.Decode(old.Meta.ManagedFields)
	return c.ownership().Known(all)
}

// updatedScale returns the managedFields of an object after an update or a patch of its scale.
func (c *call) updatedScale(old *object.Draft, was, is *scale, manager string) []meta.ManagedFields {
	all := c.parentOwners(old)
	of := all.OfScale()
	if len(of) > 0 {
		of = scaleWrite().Updated(was.value(), is.value(), of, manager)
	}
	return all.WithScale(of, c.res.GVK().APIVersion()).Encode()
}

// appliedScale applies a configuration to the scale of an object, and returns the new scale and the object's managedFields.
func (c *call) appliedScale(w http.ResponseWriter, body []byte, old *object.Draft, was *scale, o writeOptions) (*scale, []meta.ManagedFields, error) {
	config, twice, err := readConfig(body)
	if err != nil {
		return nil, nil, err
	}
	all := c.parentOwners(old)
	wanted, of, err := c.applyTo(scaleWrite(), was.value(), all.OfScale(), config, o)
	if err != nil {
		return nil, nil, err
	}
	if err := c.reportTwice(w, twice); err != nil {
		return nil, nil, err
	}
	m := scaleWrite()
	m.Shape.DropNulls(wanted)
	s := &scale{}
	if err := json.Unmarshal(jsontree.Append(nil, wanted), s); err != nil {
		return nil, nil, status.Failure(http.StatusInternalServerError, "", "failed to convert new object (%s) to proper version: %v", nameText(config), err)
	}
	return s, all.WithScale(of, c.res.GVK().APIVersion()).Encode(), nil
}

// writeScale answers with a scale in the form that the client wants. A Table of a scale has its own columns, whatever the
// object's are.
func (c *call) writeScale(w http.ResponseWriter, s *scale) error {
	f, err := c.formOf(false)
	if err != nil {
		return err
	}
	if f == asObject {
		writeJSON(w, http.StatusOK, s)
		return nil
	}
	metadata, err := json.Marshal(s.ObjectMeta)
	if err != nil {
		return err
	}
	partial := fmt.Appendf(nil, "%s%s}", c.partialStart(), metadata)
	if f == asMetadata {
		writeBody(w, http.StatusOK, mediaJSON, append(partial, '\n'))
		return nil
	}
	if err := c.checkInclude(); err != nil {
		return err
	}
	row := tableRow{
		Cells:  []any{s.Name, s.Spec.Replicas, s.Status.Replicas, printing.Age(s.CreationTimestamp.Time, time.Now())},
		Object: partial,
	}
	switch c.query.Get("includeObject") {
	case "None":
		row.Object = json.RawMessage("null")
	case "Object":
		if row.Object, err = json.Marshal(s); err != nil {
			return err
		}
	}
	writeJSON(w, http.StatusOK, table{
		Kind: "Table", APIVersion: c.metaVersion(), ListMeta: meta.ListMeta{ResourceVersion: s.ResourceVersion},
		Columns: []printing.Column{
			{Name: "Name", Type: "string", Description: "The object's name."},
			{Name: "Desired", Type: "integer", Description: "How many replicas are wanted."},
			{Name: "Available", Type: "integer", Description: "How many replicas there are."},
			{Name: "Age", Type: "string", Description: "How long ago the object was created."},
		},
		Rows: []tableRow{row},
	})
	return nil
}
