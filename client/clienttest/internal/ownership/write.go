package ownership

import (
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/fieldset"
)

// Write is one write of an object, or of a part of it. It decides who owns the fields after it.
type Write struct {
	APIVersion, Subresource string
	Shape                   *schema.Shape
	Part                    Part // the fields that the request can write
	Now                     meta.Time
	AllVersions             bool     // the entries of every version of the API count
	Others                  []string // other versions of the API whose entries count
}

func (w Write) owner(manager, operation string) Owner {
	return Owner{ManagedFields: meta.ManagedFields{
		Manager: manager, Operation: operation, APIVersion: w.APIVersion, Subresource: w.Subresource,
	}, Set: &fieldset.Set{}}
}

// changes returns the changes that the request can make.
func (w Write) changes(old, now any) changes {
	c := changesOf(old, now, w.Shape)
	return changes{w.Part(c.added), w.Part(c.modified), w.Part(c.removed)}
}

// Known returns the owners whose entries count: those of the version of the write and of the versions in Others, or all
// of them with AllVersions. It drops the other entries.
func (w Write) Known(all Owners) Owners {
	if w.AllVersions {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(o Owner) bool {
		return o.APIVersion != w.APIVersion && !slices.Contains(w.Others, o.APIVersion)
	})
}

// Updated returns the owners after an update from old to now: the writer owns the changed fields. Its time changes
// only if it owns any.
func (w Write) Updated(old, now any, all Owners, manager string) Owners {
	c := w.changes(old, now)
	all, _ = all.lose(Owner{}, c)
	written := w.Part(c.added.Union(c.modified)).Difference(unowned())
	if written.IsEmpty() {
		return all
	}
	who := all.of(w.owner(manager, OperationUpdate))
	who.Set, who.Time = who.Set.Union(written), &w.Now
	return all.with(who).capped()
}
