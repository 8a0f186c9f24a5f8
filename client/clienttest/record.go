package clienttest

import (
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/records"
	"github.com/bowline-go/bowline/client/meta"
)

// An Event is served by two groups, as two resources with the same objects. A write to one of them is a write to its twin as well, in
// the same transaction.

// recordTraits are the traits of Events in a group.
func recordTraits(group string) builtinTraits {
	rules := records.Rules{Group: group, Qualified: object.NewValidator().Qualified}
	return builtinTraits{
		checkNew: func(d *object.Draft, metadata []meta.StatusCause) []meta.StatusCause {
			return rules.New(d.Content, d.Meta.Namespace, metadata)
		},
		check: func(old, d *object.Draft, _ string) []meta.StatusCause {
			return rules.Changed(old.Content, d.Content, d.Meta.Namespace)
		},
	}
}

// viewOf returns an object of the resource's twin as an object of the resource.
func (r *resource) viewOf(d *object.Draft) *object.Draft {
	v := &object.Draft{APIVersion: r.GVK().APIVersion(), Kind: r.Kind, Meta: d.Meta, Content: records.View(d.Content, r.Group)}
	r.Fill(v)
	return v
}
