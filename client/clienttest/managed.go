package clienttest

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/bowline-go/bowline/client/meta"
)

// fieldSet is a set of fields as FieldsV1 writes it: a tree whose keys are "f:name" for members, "v:value" for the
// members of a set and "." for the thing itself.
type fieldSet = map[string]any

// fieldsOf returns the fields of an object that a writer can own: everything but what the server sets, and but status
// where that is a subresource, which then is all that its writers own.
func fieldsOf(r *resource, d *draft, subresource string) fieldSet {
	set := fieldSet{}
	if ofSpec(subresource) {
		metadataFields(set, d)
	}
	for k, v := range d.content {
		if r.Status && (k == "status") == ofSpec(subresource) {
			continue
		}
		fields := fieldsOfValue(v)
		if sub, ok := fields.(fieldSet); ok && r.builtin && (k == "spec" || k == "status") {
			delete(sub, ".") // a struct of the API, not a map
		}
		set["f:"+k] = fields
	}
	return set
}

// ofSpec reports whether a subresource writes something else than status.
func ofSpec(subresource string) bool { return subresource != "status" && subresource != "approval" }

func metadataFields(set fieldSet, d *draft) {
	m := fieldSet{}
	texts := func(name string, values map[string]string) {
		if len(values) == 0 {
			return
		}
		sub := fieldSet{".": fieldSet{}}
		for k, v := range values {
			sub["f:"+k] = leaf(v)
		}
		m["f:"+name] = sub
	}
	texts("labels", d.meta.Labels)
	texts("annotations", d.meta.Annotations)
	if len(d.meta.Finalizers) > 0 {
		sub := fieldSet{".": fieldSet{}}
		for _, f := range d.meta.Finalizers {
			sub["v:"+strconv.Quote(f)] = fieldSet{}
		}
		m["f:finalizers"] = sub
	}
	if len(d.meta.OwnerReferences) > 0 {
		sub := fieldSet{".": fieldSet{}}
		for _, o := range d.meta.OwnerReferences {
			sub[`k:{"uid":`+strconv.Quote(o.UID)+`}`] = leaf(o)
		}
		m["f:ownerReferences"] = sub
	}
	if d.meta.GenerateName != "" {
		m["f:generateName"] = leaf(d.meta.GenerateName)
	}
	if len(m) > 0 {
		set["f:metadata"] = m
	}
}

func fieldsOfValue(v any) any {
	m, ok := v.(members)
	if !ok || len(m) == 0 {
		return leaf(v)
	}
	set := fieldSet{".": fieldSet{}}
	for k, v := range m {
		set["f:"+k] = fieldsOfValue(v)
	}
	return set
}

// value is a leaf of the tree that remembers what the field's value is, for changed. It is written as {}.
type value struct{ v any }

func leaf(v any) value { return value{v} }

// MarshalJSON implements json.Marshaler.
func (value) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }

// changed returns the fields of now that are not in old or have another value there.
func changed(now, old fieldSet) fieldSet {
	set := fieldSet{}
	for k, v := range now {
		was, found := old[k]
		a, branch := v.(fieldSet)
		b, branchBefore := was.(fieldSet)
		switch {
		case branch && branchBefore:
			if sub := changed(a, b); len(sub) > 0 {
				set[k] = sub
			}
		case found && sameLeaf(v, was):
		default:
			set[k] = v
		}
	}
	return set
}

func sameLeaf(a, b any) bool {
	x, ok := a.(value)
	y, okToo := b.(value)
	if !ok || !okToo {
		return false
	}
	if o, ok := x.v.(meta.OwnerReference); ok {
		other, _ := y.v.(meta.OwnerReference)
		j, _ := json.Marshal(o)
		k, _ := json.Marshal(other)
		return string(j) == string(k)
	}
	return equal(x.v, y.v)
}

// union, intersection and difference of sets. The members of a branch decide; a branch that is left without any goes.
func union(a, b fieldSet) fieldSet {
	set := maps.Clone(a)
	for k, v := range b {
		was, _ := set[k].(fieldSet)
		if sub, ok := v.(fieldSet); ok && was != nil {
			v = union(was, sub)
		}
		set[k] = v
	}
	return set
}

func intersection(a, b fieldSet) fieldSet {
	set := fieldSet{}
	for k, v := range a {
		other, found := b[k]
		if !found {
			continue
		}
		sub, ok := v.(fieldSet)
		otherSub, okToo := other.(fieldSet)
		if !ok || !okToo || len(sub) == 0 {
			set[k] = v
		} else if sub = intersection(sub, otherSub); len(sub) > 0 {
			set[k] = sub
		}
	}
	return set
}

func difference(a, b fieldSet) fieldSet {
	set := fieldSet{}
	for k, v := range a {
		other, found := b[k]
		if !found || k == "." {
			set[k] = v
			continue
		}
		sub, ok := v.(fieldSet)
		otherSub, okToo := other.(fieldSet)
		if !ok || !okToo || len(sub) == 0 {
			continue
		}
		if sub = difference(sub, otherSub); len(sub) > 1 || len(sub) == 1 && sub["."] == nil {
			set[k] = sub
		}
	}
	return set
}

// manage records in d who wrote what: manager owns what differs from old, on top of what it owned before, and nobody
// owns what is not there any more. old is nil for a create. A manager's time moves only when its fields change
// something.
func manage(r *resource, d, old *draft, manager, subresource string, now meta.Time) {
	fields := fieldsOf(r, d, subresource)
	written := fields
	var entries []meta.ManagedFields
	if old != nil {
		written = changed(fields, fieldsOf(r, old, subresource))
		entries = slices.Clone(old.meta.ManagedFields)
	}
	own := meta.ManagedFields{
		Manager: manager, Operation: "Update", APIVersion: d.apiVersion, Time: &now,
		FieldsType: "FieldsV1", Subresource: subresource,
	}
	var owned fieldSet
	kept := entries[:0]
	for _, e := range entries {
		if ofSpec(e.Subresource) != ofSpec(subresource) {
			kept = append(kept, e)
			continue
		}
		var set fieldSet
		if json.Unmarshal(e.FieldsV1, &set) != nil {
			continue
		}
		if e.Manager == own.Manager && e.Subresource == own.Subresource && e.APIVersion == own.APIVersion {
			owned = set
			continue
		}
		set = difference(intersection(set, fields), written)
		if len(set) > 0 {
			e.FieldsV1 = encodeFields(set)
			kept = append(kept, e)
		}
	}
	if set := union(intersection(owned, fields), written); len(set) > 0 {
		own.FieldsV1 = encodeFields(set)
		kept = append(kept, own)
	}
	slices.SortStableFunc(kept, func(a, b meta.ManagedFields) int {
		return cmp.Or(a.Time.Compare(b.Time.Truncate(time.Second)), strings.Compare(a.Manager, b.Manager))
	})
	d.meta.ManagedFields = kept
}

func encodeFields(set fieldSet) json.RawMessage {
	b, err := json.Marshal(set)
	if err != nil {
		panic(err) // maps of maps can be encoded
	}
	return b
}

// managerMax is how long a manager's name may be.
const managerMax = 128

// managerOf returns a writer's name: what the request gives, or the user agent up to the first slash.
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
