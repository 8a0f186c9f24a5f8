package ownership

import (
	"slices"

	"github.com/bowline-go/bowline/internal/fieldset"
)

// A scale has one owned field, which is also a field of the object, so both have the same owners. The entries of
// owners that have written the scale name the subresource and have no time.

// Replicas returns the path of the field in a scale, and in most objects that have one.
func Replicas() []string { return []string{"f:spec", "f:replicas"} }

// fieldOf returns a set of one field.
func fieldOf(path []string) *fieldset.Set {
	set := &fieldset.Set{}
	set.Insert(path...)
	return set
}

// OfScale returns the owners of the field of a scale, given those of the object. path is the path of that field in the
// object.
func (all Owners) OfScale(path []string) Owners {
	var out Owners
	for _, o := range all {
		if o.Set.Has(path...) {
			o.Set = fieldOf(Replicas())
			out = append(out, o)
		}
	}
	return out
}

// WithScale returns the owners of an object after those of its scale have changed. path is the path of the field in the
// object.
func (all Owners) WithScale(scale Owners, apiVersion string, path []string) Owners {
	var out Owners
	inObject := func(o Owner) bool { return o.Set.Has(path...) }
	for _, o := range all {
		if inObject(o) && !slices.ContainsFunc(scale, o.is) {
			if o.Set = o.Set.Difference(fieldOf(path)); o.Set.IsEmpty() {
				continue
			}
		}
		out = append(out, o)
	}
	for _, o := range scale {
		if o.Set.Has(Replicas()...) && !slices.ContainsFunc(all, func(was Owner) bool { return was.is(o) && inObject(was) }) {
			o.APIVersion, o.Set, o.Time = apiVersion, fieldOf(path), all.of(o).Time
			out = append(out, o)
		}
	}
	return out
}
