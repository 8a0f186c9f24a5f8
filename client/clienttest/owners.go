package clienttest

import (
	"slices"
	"strings"
	"unicode"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/ownership"
	"github.com/bowline-go/bowline/client/meta"
)

// ownership returns the rules for the owners of fields after a request's write.
func (c *call) ownership() ownership.Write {
	w := ownership.Write{
		APIVersion: c.res.GVK().APIVersion(), Subresource: c.Subresource, Shape: c.res.fields(),
		Part: writable(c.res, c.Subresource), Now: timestamp(),
	}
	if is := c.definitions[c.res.definedBy]; is != nil {
		for _, v := range is.versions {
			w.Others = append(w.Others, v.GVK().APIVersion())
		}
	}
	return w
}

// manage records in d the owners of its fields, after manager has changed old by an update or a patch, or has created
// d if old is nil. An update may contain managedFields, unless it is of a subresource. manage then starts from those;
// a single empty entry drops all owners.
func (c *call) manage(d, old *object.Draft, manager string) {
	m := c.ownership()
	was := old
	if old == nil { // a real server compares a new object with an empty one
		was = &object.Draft{Content: map[string]any{}}
		c.res.Fill(was)
	}
	before, entries := was.Value(), was.Meta.ManagedFields
	sent := d.Meta.ManagedFields
	d.Meta.ManagedFields = nil
	all, _ := ownership.Decode(entries)
	if c.Subresource == "" && sent != nil {
		reset := len(sent) == 0 || len(sent) == 1 && isZero(sent[0])
		brought, valid := ownership.Decode(sent)
		if reset {
			all = nil
		} else if valid && len(brought) > 0 {
			all = brought
		}
	}
	if old != nil && len(all) == 0 {
		return // no owners are recorded before the first apply
	}
	d.Meta.ManagedFields = m.Updated(before, c.owned(d, old), m.Known(all), manager).Encode()
}

// owned returns an object as managedFields see it. In a new object of a compiled-in type, nobody owns the lists and
// maps that are null, so owned leaves them out.
func (c *call) owned(d, old *object.Draft) jsontree.Object {
	whole := d.Value()
	if !c.res.Builtin || old != nil {
		return whole
	}
	whole, _ = c.res.Shape().WithoutNulls(whole).(jsontree.Object)
	return whole
}

func isZero(e meta.ManagedFields) bool {
	return e.Manager == "" && e.Operation == "" && e.APIVersion == "" && e.Time == nil && e.FieldsType == "" &&
		len(e.FieldsV1) == 0 && e.Subresource == ""
}

// managerMax is the maximum length of a manager's name.
const managerMax = 128

// managerOf returns the name of a writer: the fieldManager of the request, or the user agent up to the first slash.
func managerOf(fieldManager, userAgent string) string {
	if fieldManager != "" {
		return fieldManager
	}
	name, _, _ := strings.Cut(userAgent, "/")
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name)
	return name[:min(len(name), managerMax)]
}

// writable returns the part of a set of fields that a request can write. A write to the object can write everything
// but status, if status is a subresource; a write to a subresource can write that part.
func writable(r *resource, subresource string) ownership.Part {
	switch subresource {
	case "status":
		return ownership.Keep("status")
	case "approval":
		return ownership.Keep("status.conditions")
	case "ephemeralcontainers":
		return ownership.Keep("spec.ephemeralContainers")
	case "resize":
		return ownership.Keep("spec.containers")
	case "finalize":
		return ownership.Keep("spec.finalizers")
	}
	switch {
	case r.fixed:
		return ownership.Drop("spec", "status")
	case r.Status:
		return ownership.Drop("status")
	}
	return ownership.All
}

// warnFinalizers warns of new finalizers of a custom resource whose names are not qualified.
func (c *call) warnFinalizers(finalizers, before []string) {
	if c.res.Builtin {
		return
	}
	for _, f := range slices.Compact(slices.Sorted(slices.Values(finalizers))) {
		if !object.Unqualified(f) || slices.Contains(before, f) {
			continue
		}
		path := ""
		if strings.Contains(f, ".") {
			path = "including a path (/) "
		}
		c.warn("metadata.finalizers: %q: prefer a domain-qualified finalizer name %sto avoid accidental conflicts with "+
			"other finalizer writers", f, path)
	}
}
