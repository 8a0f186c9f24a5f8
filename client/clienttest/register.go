package clienttest

import (
	"fmt"
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/kinds"
	"github.com/bowline-go/bowline/client/clienttest/internal/kubectl"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/meta"
)

// register adds a custom resource.
func (a *api) register(r Resource) error {
	a.registry.mu.Lock()
	defer a.registry.mu.Unlock()
	res := &resource{Resource: r, Type: object.Type{Traits: kinds.Traits{Generation: true}}, builtinTraits: builtinTraits{
		columns: kubectl.PlainColumns(), print: kubectl.PlainCells,
	}}
	if err := a.registry.check(res); err != nil {
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
