package clienttest

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/fieldset"
)

// A scale has one field that is somebody's, and that is a field of the object: who owns the one owns the other. The entries of those
// who have written the scale say so, and have no time.

// scaleManagement decides who owns what of a scale.
func scaleManagement() management {
	return management{
		apiVersion: scaleType.APIVersion, subresource: "scale", shape: schema.Builtin().Of(scaleType.GVK()),
		kept: func(s *fieldset.Set) *fieldset.Set { return s }, now: now(), versions: true,
	}
}

// replicas is the field, of a scale as well as of an object.
func replicas() *fieldset.Set {
	set := &fieldset.Set{}
	set.Insert("f:spec", "f:replicas")
	return set
}

func hasReplicas(o owner) bool { return o.set.Has("f:spec", "f:replicas") }

// ofScale returns who owns the field of a scale, as the owners of the object say.
func (all owners) ofScale() owners {
	var out owners
	for _, o := range all {
		if hasReplicas(o) {
			o.set = replicas()
			out = append(out, o)
		}
	}
	return out
}

// withScale returns the owners of an object once those are the owners of its scale.
func (all owners) withScale(scale owners, apiVersion string) owners {
	var out owners
	for _, o := range all {
		if hasReplicas(o) && !slices.ContainsFunc(scale, o.is) {
			if o.set = o.set.Difference(replicas()); o.set.IsEmpty() {
				continue
			}
		}
		out = append(out, o)
	}
	for _, o := range scale {
		if hasReplicas(o) && !slices.ContainsFunc(all, func(was owner) bool { return was.is(o) && hasReplicas(was) }) {
			o.APIVersion, o.set, o.Time = apiVersion, replicas(), all.of(o).Time
			out = append(out, o)
		}
	}
	return out
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
func (c *call) parentOwners(old *draft) owners {
	all, _ := decodeOwners(old.meta.ManagedFields)
	return c.management().known(all)
}

// updatedScale returns the managedFields of an object whose scale becomes another one by an update or a patch.
func (c *call) updatedScale(old *draft, was, is *scale, manager string) []meta.ManagedFields {
	all := c.parentOwners(old)
	of := all.ofScale()
	if len(of) > 0 {
		of = scaleManagement().updated(was.value(), is.value(), of, manager)
	}
	return all.withScale(of, c.res.GVK().APIVersion()).encode()
}

// appliedScale returns what applying a configuration makes of the scale of an object, and the object's managedFields then.
func (c *call) appliedScale(w http.ResponseWriter, body []byte, old *draft, was *scale, o writeOptions) (*scale, []meta.ManagedFields, error) {
	config, twice, err := readConfig(body)
	if err != nil {
		return nil, nil, err
	}
	all := c.parentOwners(old)
	wanted, of, err := c.applyTo(scaleManagement(), was.value(), all.ofScale(), config, o)
	if err != nil {
		return nil, nil, err
	}
	if err := c.reportTwice(w, twice); err != nil {
		return nil, nil, err
	}
	m := scaleManagement()
	m.shape.DropNulls(wanted)
	s := &scale{}
	if err := json.Unmarshal(jsontree.Append(nil, wanted), s); err != nil {
		return nil, nil, status.Failure(http.StatusInternalServerError, "", "failed to convert new object (%s) to proper version: %v", nameText(config), err)
	}
	return s, all.withScale(of, c.res.GVK().APIVersion()).encode(), nil
}
