// Package ownership decides who owns the fields of objects, in the terms of managedFields: the fields that each writer
// owns after an update or an apply, the result of an apply (KEP-555), and the fields that are in conflict.
package ownership

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/fieldset"
)

// Owner is an owner of fields of an object: an entry of managedFields, with its fields as a set.
type Owner struct {
	meta.ManagedFields
	Set *fieldset.Set
}

const (
	operationApply  = "Apply"
	OperationUpdate = "Update" // of every write that is not an apply
	fieldsType      = "FieldsV1"
)

// is reports whether two entries have the same owner. An applier is the same owner in all versions of the API.
func (o Owner) is(other Owner) bool {
	return o.Manager == other.Manager && o.Operation == other.Operation && o.Subresource == other.Subresource &&
		(o.APIVersion == other.APIVersion || o.Operation == operationApply)
}

// identity returns a text by which owners are sorted as the real server sorts them in a conflict.
func (o Owner) identity() string {
	m := meta.ManagedFields{Manager: o.Manager, Operation: o.Operation, APIVersion: o.APIVersion, Subresource: o.Subresource}
	if o.Operation == operationApply {
		m.APIVersion = ""
	}
	b, _ := json.Marshal(m) // strings can be encoded
	return string(b)
}

// Owners are the owners of the fields of an object, without duplicates.
type Owners []Owner

// Decode reads managedFields. It returns false if any entry is invalid.
func Decode(entries []meta.ManagedFields) (Owners, bool) {
	var all Owners
	for _, e := range entries {
		if e.Operation != operationApply && e.Operation != OperationUpdate || e.APIVersion == "" || e.FieldsType != fieldsType {
			return nil, false
		}
		o := Owner{ManagedFields: e, Set: &fieldset.Set{}}
		if o.FieldsV1 = nil; len(e.FieldsV1) > 0 && string(e.FieldsV1) != "null" {
			var err error
			if o.Set, err = fieldset.Parse(e.FieldsV1); err != nil {
				return nil, false
			}
		}
		all = all.with(o)
	}
	return all, true
}

// of returns the entry of an owner. If there is none, it returns one without fields.
func (all Owners) of(who Owner) Owner {
	for _, o := range all {
		if o.is(who) {
			return o
		}
	}
	who.Set, who.Time = &fieldset.Set{}, nil
	return who
}

// with returns the owners with one of them replaced or added, or removed if it owns nothing.
func (all Owners) with(o Owner) Owners {
	out := slices.DeleteFunc(slices.Clone(all), o.is)
	if !o.Set.IsEmpty() {
		out = append(out, o)
	}
	return out
}

// Encode writes managedFields in the real server's order.
func (all Owners) Encode() []meta.ManagedFields {
	if len(all) == 0 {
		return nil
	}
	seconds := func(o Owner) int64 {
		if o.Time == nil {
			return 0
		}
		return o.Time.Unix()
	}
	sorted := slices.SortedFunc(slices.Values(all), func(a, b Owner) int {
		return cmp.Or(
			strings.Compare(a.Operation, b.Operation), cmp.Compare(seconds(a), seconds(b)), strings.Compare(a.Manager, b.Manager),
			strings.Compare(a.APIVersion, b.APIVersion), strings.Compare(a.Subresource, b.Subresource),
		)
	})
	entries := make([]meta.ManagedFields, len(sorted))
	for i, o := range sorted {
		entries[i] = o.ManagedFields
		entries[i].FieldsType, entries[i].FieldsV1 = fieldsType, o.Set.Append(nil)
	}
	return entries
}

// union returns all fields that are owned.
func (all Owners) union() *fieldset.Set {
	set := &fieldset.Set{}
	for _, o := range all {
		set.Add(o.Set)
	}
	return set
}

// lose returns the owners that remain after by has made the changes c: a field that c adds, modifies or removes no
// longer belongs to other owners. lost has the fields that each of them has lost, except the removed ones.
func (all Owners) lose(by Owner, c changes) (left, lost Owners) {
	written := c.modified.Union(c.added)
	for _, o := range all {
		if o.is(by) {
			left = append(left, o)
			continue
		}
		if conflicts := o.Set.Intersection(written); !conflicts.IsEmpty() {
			lost = append(lost, Owner{o.ManagedFields, conflicts})
			o.Set = o.Set.Difference(conflicts)
		}
		if o.Set = o.Set.Difference(c.removed); !o.Set.IsEmpty() {
			left = append(left, o)
		}
	}
	return left, lost
}

// ownedBefore is the manager of the fields that have no recorded owner at the first apply.
const ownedBefore = "before-first-apply"

// capped joins the oldest of more than ten updaters into one, as the real server does to limit their number.
func (all Owners) capped() Owners {
	const limit, oldest = 10, "ancient-changes"
	updaters := slices.DeleteFunc(slices.Clone(all), func(o Owner) bool { return o.Operation != OperationUpdate })
	if len(updaters) <= limit {
		return all
	}
	slices.SortFunc(updaters, func(a, b Owner) int {
		return cmp.Or(cmp.Compare(unix(a.Time), unix(b.Time)), strings.Compare(a.identity(), b.identity()))
	})
	bucket := all.of(Owner{ManagedFields: meta.ManagedFields{
		Manager: oldest, Operation: OperationUpdate, APIVersion: updaters[0].APIVersion,
	}})
	for _, o := range updaters[:len(updaters)-limit+1] {
		all = slices.DeleteFunc(slices.Clone(all), o.is)
		bucket.Set, bucket.Time = bucket.Set.Union(o.Set), o.Time
	}
	return all.with(bucket)
}

func unix(t *meta.Time) int64 {
	if t == nil {
		return 0
	}
	return t.Unix()
}

// Same reports whether two managedFields are equal, apart from times.
func Same(a, b []meta.ManagedFields) bool {
	return slices.EqualFunc(a, b, func(a, b meta.ManagedFields) bool {
		a.Time, b.Time = nil, nil
		x, errX := json.Marshal(a)
		y, errY := json.Marshal(b)
		return errX == nil && errY == nil && string(x) == string(y)
	})
}
