package clienttest

import (
	"fmt"
	"slices"
	"sync"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/kinds"
	"github.com/bowline-go/bowline/client/clienttest/internal/kubectl"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/records"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/meta"
)

// register adds a custom resource.
func (a *api) register(r Resource) error {
	a.registry.mu.Lock()
	defer a.registry.mu.Unlock()
	res := &resource{Resource: r, Type: object.Type{Traits: kinds.Traits{Generation: true}}, builtinTraits: builtinTraits{
		columns: kubectl.PlainColumns(), print: kubectl.PlainCells,
	}}
	if err := a.registry.check(res, a.options.Lenient); err != nil {
		return err
	}
	setVerbs(res)
	res.objects = a.store.Add(r.GVR(), &res.Type)
	a.registry.replace(append(slices.Clone(a.registry.registered()), res))
	return nil
}

// unregister removes a custom resource and its objects.
func (a *api) unregister(gvr meta.GVR) error {
	a.registry.mu.Lock()
	defer a.registry.mu.Unlock()
	r := a.registry.named(gvr)
	switch {
	case r == nil:
		return fmt.Errorf("clienttest: unregister %s: it is not registered", gvr)
	case r.Builtin:
		return fmt.Errorf("clienttest: unregister %s: it is built in", gvr)
	}
	tx := a.store.Begin()
	defer tx.End()
	for v := range tx.Objects(r.objects, "") {
		tx.Remove(r.objects, v)
		a.finishNamespace(tx, v.Key.Namespace)
	}
	a.registry.replace(slices.DeleteFunc(slices.Clone(a.registry.registered()), func(is *resource) bool { return is == r }))
	tx.Drop(r.objects)
	return nil
}

// freshObject is an object of a new server, and its resource.
type freshObject struct {
	resource meta.GVR
	draft    *object.Draft
}

// freshObjects are read once, by the first server, and do not change.
var freshObjects = sync.OnceValue(func() (out []freshObject) {
	for _, text := range kinds.Fresh() {
		d, err := object.Parse(text)
		if err != nil {
			panic("clienttest: " + err.Error()) // the file is valid
		}
		for _, r := range builtinKinds() {
			if r.Kind == d.Kind && r.GVK().APIVersion() == d.APIVersion {
				out = append(out, freshObject{r.GVR(), d})
			}
		}
	}
	return out
})

// serveBuiltin registers the built-in resources.
func (a *api) serveBuiltin() {
	all := builtinKinds()
	list := make([]*resource, 0, len(all))
	for _, r := range all {
		r.objects = a.store.Add(r.GVR(), &r.Type)
		list = append(list, &r)
	}
	a.registry.replace(list)
	a.namespaces = a.registry.core("namespaces")
	older, newer := a.registry.core("events"), a.registry.named(meta.GVR{Group: records.Group, Version: "v1", Resource: "events"})
	store.Pair(older.objects, newer.objects, older.viewOf, newer.viewOf)
}

// seed makes the objects that every cluster has, in three transactions, so that a new server is always at version 3.
func (a *api) seed() {
	tx := a.store.Begin()
	defer tx.End()
	created := timestamp()
	for i, o := range freshObjects() {
		r, d := a.registry.named(o.resource), o.draft.Clone()
		d.Meta.UID, d.Meta.CreationTimestamp = newUID(), created
		if r.Generation {
			d.Meta.Generation = 1
		}
		d.Content = withNow(d.Content, timeText(created)).(jsontree.Object)
		tx.PutAt(uint64(min(i+1, 3)), r.objects, d)
	}
}
