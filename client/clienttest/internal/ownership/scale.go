package ownership

import (
	"slices"

	"github.com/bowline-go/bowline/internal/fieldset"
)

// A scale has one owned field, which is also a field of the object, so both have the same owners. The entries of
// owners that have written the scale name the subresource and have no time.

// replicas is the field, both of a scale and of an object.
func replicas() *fieldset.Set {
	set := &fieldset.Set{}
	set.Insert("f:spec", "f:replicas")
	return set
}

func hasReplicas(o Owner) bool { return o.Set.Has("f:spec", "f:replicas") }

// OfScale returns the owners of the field of a scale, from those of the object.
func (all Owners) OfScale() Owners {
	var out Owners
	for _, o := range all {
		if hasReplicas(o) {
			o.Set = replicas()
			out = append(out, o)
		}
	}
	return out
}

// WithScale returns the owners of an object after those of its scale have changed.
func (all Owners) WithScale(scale Owners, apiVersion string) Owners {
	var out Owners
	for _, o := range all {
		if hasReplicas(o) && !slices.ContainsFunc(scale, o.is) {
			if o.Set = o.Set.Difference(replicas()); o.Set.IsEmpty() {
				continue
			}
		}
		out = append(out, o)
	}
	for _, o := range scale {
		if hasReplicas(o) && !slices.ContainsFunc(all, func(was Owner) bool { return was.is(o) && hasReplicas(was) }) {
			o.APIVersion, o.Set, o.Time = apiVersion, replicas(), all.of(o).Time
			out = append(out, o)
		}
	}
	return out
}
