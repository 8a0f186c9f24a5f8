package clienttest

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/kinds"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/records"
	"github.com/bowline-go/bowline/client/meta"
)

// register adds a custom resource.
func (a *api) register(r Resource) error {
	if err := r.validate(); err != nil {
		return err
	}
	res, err := a.customResource(r)
	if err != nil {
		return fmt.Errorf("clienttest.Resource %q: %w", r.Resource, err)
	}
	tx := a.store.Begin()
	defer tx.End()
	if why := a.registry.taken(res); why != "" {
		return fmt.Errorf("clienttest.Resource %q: %s", r.Resource, why)
	}
	a.serve(tx, nil, []*resource{res}, res)
	return nil
}

// unregister removes a custom resource and its objects, and its definition.
func (a *api) unregister(gvr meta.GVR) error {
	tx := a.store.Begin()
	defer tx.End()
	r := a.registry.named(gvr)
	switch {
	case r == nil:
		return fmt.Errorf("clienttest: unregister %s: it is not registered", gvr)
	case r.Builtin:
		return fmt.Errorf("clienttest: unregister %s: it is built in", gvr)
	}
	for v := range tx.Objects(r.objects, "") {
		tx.Remove(r.objects, v)
		a.finishNamespace(tx, v.Key.Namespace)
	}
	if r.definedBy == "" {
		a.serve(tx, []*resource{r}, nil, nil)
		return nil
	}
	tx.Remove(a.crds.objects, tx.Get(a.crds.objects, meta.Key{Name: r.definedBy}))
	a.undefine(tx, r.definedBy)
	return nil
}

// freshObject is an object of a new server, and its resource.
type freshObject struct {
	resource meta.GVR
	draft    *object.Draft
}

// freshObjects and freshRoles are read once, by the first server that needs them, and do not change.
var (
	freshObjects = sync.OnceValue(func() []freshObject { return readFresh(kinds.Fresh()) })
	freshRoles   = sync.OnceValue(func() []freshObject { return readFresh(kinds.Roles()) })
)

func readFresh(texts []json.RawMessage) (out []freshObject) {
	for _, text := range texts {
		d, err := object.Parse(text)
		if err != nil {
			panic("clienttest: " + err.Error()) // the files are valid
		}
		for _, r := range builtinKinds() {
			if r.Kind == d.Kind && r.GVK().APIVersion() == d.APIVersion {
				out = append(out, freshObject{r.GVR(), d})
			}
		}
	}
	return out
}

// serveBuiltin registers the built-in resources.
func (a *api) serveBuiltin() {
	tx := a.store.Begin()
	defer tx.End()
	all := builtinKinds()
	list := make([]*resource, 0, len(all))
	for _, r := range all {
		r.objects = tx.Add(r.GVR(), &r.Type)
		list = append(list, &r)
	}
	a.registry.replace(list)
	a.namespaces = a.registry.core("namespaces")
	a.limitRanges, a.quotas = a.registry.core("limitranges"), a.registry.core("resourcequotas")
	a.crds = a.registry.named(meta.GVR{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	const hooks = "admissionregistration.k8s.io"
	a.mutatingHooks = a.registry.named(meta.GVR{Group: hooks, Version: "v1", Resource: "mutatingwebhookconfigurations"})
	a.policyKinds = a.registry.named(meta.GVR{Group: hooks, Version: "v1", Resource: "validatingadmissionpolicies"})
	a.policyBindings = a.registry.named(meta.GVR{Group: hooks, Version: "v1", Resource: "validatingadmissionpolicybindings"})
	a.validatingHooks = a.registry.named(meta.GVR{Group: hooks, Version: "v1", Resource: "validatingwebhookconfigurations"})
	a.definitions, a.unchecked = map[string]*definition{}, map[string]int{}
	older, newer := a.registry.core("events"), a.registry.named(meta.GVR{Group: records.Group, Version: "v1", Resource: "events"})
	tx.Join(older.objects, older.viewOf, nil, nil)
	tx.Join(newer.objects, newer.viewOf, older.objects, nil)
}

// seed makes the objects that every cluster has, in three transactions, so that a new server is always at version 3.
func (a *api) seed() {
	tx := a.store.Begin()
	defer tx.End()
	created := timestamp()
	objects := freshObjects()
	if a.options.RBAC {
		objects = slices.Concat(objects, freshRoles())
	}
	for i, o := range objects {
		r, d := a.registry.named(o.resource), o.draft.Clone()
		d.Meta.UID, d.Meta.CreationTimestamp = newUID(), created
		if r.Generation {
			d.Meta.Generation = 1
		}
		d.Content = withNow(d.Content, timeText(created)).(jsontree.Object)
		tx.PutAt(uint64(min(i+1, 3)), r.objects, d)
	}
}
