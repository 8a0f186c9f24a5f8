package clienttest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/kinds"
	"github.com/bowline-go/bowline/client/clienttest/internal/kubectl"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/clienttest/internal/values"
)

// customResource returns a resource that is not served yet. The error says why its schema cannot be used.
func (a *api) customResource(r Resource) (*resource, error) {
	declared, err := schema.Declared(r.Schema)
	if err != nil {
		return nil, err
	}
	r.Singular = cmp.Or(r.Singular, strings.ToLower(r.Kind))
	res := &resource{
		Resource: r,
		Type: object.Type{
			Traits: kinds.Traits{Generation: true}, Of: r.GVK(), Apart: r.Status, Selectable: r.SelectableFields, Declared: declared,
		},
		builtinTraits: builtinTraits{columns: kubectl.PlainColumns(), print: kubectl.PlainCells, subresources: map[string]*subresource{}},
		custom:        &custom{listKind: r.Kind + "List"},
	}
	if r.Status {
		res.subresources["status"] = &subresource{part: statusPart}
	}
	if len(r.Schema) > 0 {
		res.prepare = res.completeStored
		if err := a.check(res); err != nil {
			return nil, err
		}
	}
	a.setVerbs(res)
	return res, nil
}

// check makes the server check the values of a resource against its schema.
func (a *api) check(r *resource) error {
	of, err := values.Parse(r.Schema)
	if err != nil || a.options.Lenient {
		return err
	}
	r.values = of
	at := of.Rules()
	switch {
	case len(at) == 0:
		return nil
	case a.options.Rules == nil:
		return fmt.Errorf("%s.x-kubernetes-validations has CEL rules: set Options.Rules to a value of package "+
			"client/clienttest/cel, a module of its own, which checks them, or Options.Lenient, which ignores them", at[0])
	}
	r.rules, err = a.options.Rules.Compile(r.Schema)
	return err
}

// serve replaces the versions of one kind of custom resource by others. The new versions get the objects of the old
// ones, unless the scope has changed. stored is the new version that the server stores. Each of old, now and stored may
// be empty.
func (a *api) serve(tx store.Tx, old, now []*resource, stored *resource) {
	before := storedBefore(old, stored)
	for i, r := range now {
		r.objects = tx.Add(r.GVR(), &r.Type)
		r.stores = r == stored
		var others *store.Collection
		if i > 0 {
			others = now[0].objects
		}
		tx.Join(r.objects, r.viewOfVersion, others, stored.storedFrom)
		if before != nil {
			tx.Adopt(r.objects, before, func(d *object.Draft) *object.Draft {
				if converted := a.adopted[d.Key()]; converted != nil {
					return converted
				}
				return readAs(now, stored, d)
			})
		}
	}
	list := slices.DeleteFunc(slices.Clone(a.registry.registered()), func(r *resource) bool { return slices.Contains(old, r) })
	for _, r := range now {
		if !r.hidden {
			list = append(list, r)
		}
	}
	a.registry.replace(list)
	for _, r := range old {
		tx.Drop(r.objects)
	}
}

// storedBefore returns the objects that the new versions of a custom resource get from the old ones; nil if there are
// none.
func storedBefore(old []*resource, stored *resource) *store.Collection {
	if i := slices.IndexFunc(old, func(r *resource) bool { return stored != nil && r.stores && r.Scope == stored.Scope }); i >= 0 {
		return old[i].objects
	}
	return nil
}

// Without a webhook, a conversion between the versions of a custom resource changes the apiVersion, and drops the
// members that the schema of the new version does not have. An object that is read from the store in a version gets the
// defaults of that version.

// completeStored does what the storage of a real server does. It drops the members that the schema does not have,
// because an apply may have unknown ones. In the stored version it fills in defaults, because a status that the write
// has lost may have some.
func (r *resource) completeStored(d *object.Draft, _ bool) {
	r.Declared.Prune(d.Content)
	if r.stores {
		r.Declared.Complete(d.Content)
	}
}

// viewOfVersion returns an object of any version of a custom resource in this version.
func (r *resource) viewOfVersion(d *object.Draft) *object.Draft {
	if is := d.Versions[r.GVK().APIVersion()]; is != nil {
		return is
	}
	if d.APIVersion == r.GVK().APIVersion() {
		return d
	}
	return r.pruned(d)
}

// storedFrom returns an object of any version as it is read after it has been stored in this version.
func (r *resource) storedFrom(d *object.Draft) *object.Draft {
	if is := d.Versions[r.GVK().APIVersion()]; is != nil {
		stored := *is
		stored.Versions = d.Versions
		return &stored
	}
	if d.APIVersion == r.GVK().APIVersion() {
		return d
	}
	v := r.pruned(d)
	r.Declared.Complete(v.Content)
	return v
}

// readAs returns an object that was stored before the versions changed, as it is read now.
func readAs(versions []*resource, stored *resource, d *object.Draft) *object.Draft {
	r := stored
	if i := slices.IndexFunc(versions, func(v *resource) bool { return v.GVK().APIVersion() == d.APIVersion }); i >= 0 {
		r = versions[i]
	}
	v := r.pruned(d)
	r.Declared.Complete(v.Content)
	return v
}

// pruned returns a copy in this version, without the members that its schema does not have.
func (r *resource) pruned(d *object.Draft) *object.Draft {
	content, _ := jsontree.Clone(d.Content).(jsontree.Object)
	r.Declared.Prune(content)
	return &object.Draft{APIVersion: r.GVK().APIVersion(), Kind: r.Kind, Meta: d.Meta, Content: content}
}
