package clienttest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/kubectl"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/ownership"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
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

// scaleKind is the kind of every scale.
func scaleKind() meta.GVK { return meta.GVK{Group: "autoscaling", Version: "v1", Kind: "Scale"} }

func scaleType() meta.TypeMeta {
	return meta.TypeMeta{Kind: scaleKind().Kind, APIVersion: scaleKind().APIVersion()}
}

// scaleOf returns the scale of an object.
func (r *resource) scaleOf(v *object.Revision) (*scale, error) {
	d := v.Draft()
	s := &scale{TypeMeta: scaleType(), ObjectMeta: meta.ObjectMeta{
		Name: d.Meta.Name, Namespace: d.Meta.Namespace, UID: d.Meta.UID, CreationTimestamp: d.Meta.CreationTimestamp,
		ResourceVersion: strconv.FormatUint(v.Version, 10),
	}}
	if r.scale != nil {
		return s, s.readFrom(d.Content, r.scale)
	}
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
	if d.Kind == "ReplicationController" { // its selector is a plain map, because the kind is older than LabelSelector
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

// serveScale answers with the scale of an object.
func serveScale(c *call) error {
	v, err := c.read()
	if err != nil {
		return err
	}
	if is := c.res.scale; is != nil {
		if _, found, _ := numberAt(v.Draft().Content, is.SpecReplicasPath); !found {
			why := fmt.Sprintf("the spec replicas field %q does not exist", is.SpecReplicasPath)
			return status.Failure(http.StatusInternalServerError, "InternalError", "Internal error occurred: %s", why).
				With(meta.StatusDetails{Causes: []meta.StatusCause{{Message: why}}})
		}
	}
	return c.writeScale(v)
}

// serveScaleUpdate replaces the scale of an object.
func serveScaleUpdate(c *call) error {
	if err := c.negotiate(false); err != nil {
		return err
	}
	b, err := c.readBody(scaleKind())
	if err != nil {
		return err
	}
	o, err := c.writeOptions("UpdateOptions")
	if err != nil {
		return err
	}
	return c.changeScale(o, func(old *object.Draft, was *scale) (*scale, []meta.ManagedFields, error) {
		s := &scale{}
		err := c.decode(b, s, scaleKind())
		return s, c.updatedScale(old, was, s, o.manager), err
	})
}

// serveScalePatch changes the scale of an object by a patch or by server-side apply.
func serveScalePatch(c *call) error {
	media, body, o, err := c.readPatch()
	if err != nil {
		return err
	}
	return c.changeScale(o, func(old *object.Draft, was *scale) (*scale, []meta.ManagedFields, error) {
		if media == mediaApply {
			return c.appliedScale(body, old, was, o)
		}
		s, err := c.patchedScale(media, body, was)
		if err != nil {
			return nil, nil, err
		}
		return s, c.updatedScale(old, was, s, o.manager), nil
	})
}

// changeScale calls change with an object and its present scale. It stores the new scale and the object's new
// managedFields, which change returns, and answers with the new scale.
func (c *call) changeScale(o writeOptions, change func(*object.Draft, *scale) (*scale, []meta.ManagedFields, error)) error {
	var v *object.Revision
	err := c.write(func(tx store.Tx) (err error) {
		v, err = c.storeScale(tx, o, change)
		return err
	})
	if err != nil {
		return err
	}
	return c.writeScale(v)
}

func (c *call) storeScale(
	tx store.Tx, o writeOptions, change func(*object.Draft, *scale) (*scale, []meta.ManagedFields, error),
) (*object.Revision, error) {
	cur, err := c.present(tx)
	if err != nil {
		return nil, err
	}
	was, err := c.res.scaleOf(cur)
	if err != nil {
		return nil, err
	}
	old := cur.Draft()
	path := c.res.replicasPath()
	if _, found, _ := numberAt(old.Content, path); !found && c.res.scale != nil {
		was.Spec.Replicas = noReplicas
	}
	s, entries, err := change(old, was)
	if err == nil {
		s, err = c.admitScale(tx, cur, was, s, &o)
	}
	if err == nil {
		err = c.checkScale(s, cur.UID)
	}
	if err != nil {
		return nil, err
	}
	if s.Spec.Replicas == noReplicas {
		return nil, status.BadRequest("the spec replicas field %q cannot be empty", path)
	}
	d := old.Clone()
	if err := setNumber(d, path, s.Spec.Replicas); err != nil {
		return nil, err
	}
	d.Meta.ResourceVersion = s.ResourceVersion
	d.Meta.ManagedFields, o.owned = entries, true
	return c.replace(tx, cur, old, d, o)
}

// admitScale asks admission about a scale that replaces another, and returns the scale that it allows.
func (c *call) admitScale(tx store.Tx, cur *object.Revision, was, s *scale, o *writeOptions) (*scale, error) {
	changed, err := c.both(tx, cur, func(q *question) {
		shown := *s
		owners := c.parentOwners(cur.Draft()).OfScale(c.res.ownedReplicas())
		shown.ManagedFields = scaleWrite().Updated(was.tree(), s.tree(), owners, o.manager).Encode()
		before := *was
		before.ManagedFields = owners.Encode()
		for i := range before.ManagedFields {
			before.ManagedFields[i].APIVersion = scaleKind().APIVersion()
		}
		q.Operation, q.Object, q.OldObject = update, encoded(shown), encoded(before)
		q.Parameters, q.DryRun = c.writeParameters(update), o.dryRun
		q.checked = func() { // without managedFields, and with the metadata that a scale has
			var next scale
			_ = json.Unmarshal(q.Object, &next) // it is read again afterwards
			next.ObjectMeta = was.ObjectMeta
			q.Object, q.OldObject = encoded(next), encoded(was)
		}
	})
	if err != nil || changed == nil {
		return s, err
	}
	o.admitted = true
	s = &scale{}
	err = json.Unmarshal(changed, s)
	s.ManagedFields = nil
	return s, err
}

// checkScale refuses a scale that belongs to another object.
func (c *call) checkScale(s *scale, uid string) error {
	if err := c.checkNamespace(s.Namespace); err != nil {
		return err
	}
	switch {
	case s.Name != c.Key.Name:
		return c.checkName(s.Name)
	case s.UID != "" && s.UID != uid:
		return status.Unfulfilled(c.res.Group, c.res.Resource.Resource+"/scale", c.Key.Name,
			"Precondition failed: UID in precondition: %s, UID in object meta: %s", s.UID, uid)
	case s.Spec.Replicas < 0 && c.res.scale == nil:
		return status.Invalid("autoscaling", "Scale", c.Key.Name, []meta.StatusCause{
			status.InvalidValue("spec.replicas", s.Spec.Replicas, "must be greater than or equal to 0"),
		})
	}
	return nil
}

// patchedScale returns the result of a patch of the present scale.
func (c *call) patchedScale(media string, body []byte, was *scale) (*scale, error) {
	p, err := c.applied(media, encoded(was), body, scaleKind())
	if err != nil {
		return nil, err
	}
	s := &scale{}
	known := schema.Builtin().Of(scaleKind())
	if err = known.Fits(p.Doc); err == nil {
		err = json.Unmarshal(p.Doc, s)
	}
	s.Kind = cmp.Or(s.Kind, scaleKind().Kind)
	switch {
	case err != nil:
	case s.APIVersion == "":
		s, known = &scale{}, schema.Nameless()
	case s.TypeMeta != scaleType():
		err = noKind(s.Kind, s.APIVersion)
	}
	if err != nil {
		return nil, p.Invalid(err)
	}
	return s, c.reportPatch(p, schema.FieldErrors(p.Doc, known))
}

// scaleWrite returns the rules for the owners of a scale's fields.
func scaleWrite() ownership.Write {
	return ownership.Write{
		APIVersion: scaleKind().APIVersion(), Subresource: "scale", Shape: schema.Builtin().Of(scaleKind()),
		Part: ownership.All, Now: timestamp(), AllVersions: true,
	}
}

// tree returns the scale as one value.
func (s *scale) tree() jsontree.Object { return jsontree.Of(s).(jsontree.Object) }

// parentOwners reads the owners of the object whose scale is written.
func (c *call) parentOwners(old *object.Draft) ownership.Owners {
	all, _ := ownership.Decode(old.Meta.ManagedFields)
	return c.ownership().Known(all)
}

// updatedScale returns the managedFields of an object after an update or a patch of its scale.
func (c *call) updatedScale(old *object.Draft, was, is *scale, manager string) []meta.ManagedFields {
	all := c.parentOwners(old)
	of := all.OfScale(c.res.ownedReplicas())
	if len(of) > 0 {
		of = scaleWrite().Updated(was.tree(), is.tree(), of, manager)
	}
	return all.WithScale(of, c.res.GVK().APIVersion(), c.res.ownedReplicas()).Encode()
}

// appliedScale applies a configuration to the scale of an object, and returns the new scale and the object's
// managedFields.
func (c *call) appliedScale(body []byte, old *object.Draft, was *scale, o writeOptions) (*scale, []meta.ManagedFields, error) {
	config, twice, err := readConfig(body)
	if err != nil {
		return nil, nil, err
	}
	all := c.parentOwners(old)
	wanted, of, err := c.applyTo(scaleWrite(), was.tree(), all.OfScale(c.res.ownedReplicas()), config, o)
	if err != nil {
		return nil, nil, err
	}
	if err := c.reportTwice(twice); err != nil {
		return nil, nil, err
	}
	m := scaleWrite()
	m.Shape.DropNulls(wanted)
	s := &scale{}
	if err := json.Unmarshal(jsontree.Append(nil, wanted), s); err != nil {
		return nil, nil, notConverted(config, err)
	}
	return s, all.WithScale(of, c.res.GVK().APIVersion(), c.res.ownedReplicas()).Encode(), nil
}

// writeScale answers with the scale of an object in the form that the client wants.
func (c *call) writeScale(v *object.Revision) error {
	s, err := c.res.scaleOf(v)
	if err == nil {
		err = c.negotiate(false)
	}
	if err != nil {
		return err
	}
	partial := c.partial(encoded(s.ObjectMeta))
	switch c.form {
	case asMetadata:
		writeBody(c.w, http.StatusOK, mediaJSON, append(partial, '\n'))
	case asTable:
		if err := c.include().Check(); err != nil {
			return err
		}
		t := kubectl.Table{
			Kind: "Table", APIVersion: c.metaVersion(), ListMeta: meta.ListMeta{ResourceVersion: s.ResourceVersion},
			Columns: kubectl.ScaleColumns(),
		}
		cells := []any{s.Name, s.Spec.Replicas, s.Status.Replicas, kubectl.Age(s.CreationTimestamp.Time, time.Now())}
		t.Add(cells, c.include(), encoded(s), func() []byte { return partial })
		writeJSON(c.w, http.StatusOK, t)
	default:
		writeJSON(c.w, http.StatusOK, s)
	}
	return nil
}
