package clienttest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/definitions"
	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/kubectl"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/apiversion"
)

// A CustomResourceDefinition takes effect in the transaction that writes it. A real server lets it take effect in the
// background and writes the status some milliseconds later. This server writes the status at once, as the next state of
// the object.

// definition is a CustomResourceDefinition that takes effect. The store's lock protects it.
type definition struct {
	*definitions.Definition
	spec        []byte      // what the versions are made from
	versions    []*resource // those that are served, and the stored one; nil until the names are accepted
	terminating bool
}

// served reports whether the conditions of a definition say that its resource is served.
func (d *definition) served() bool {
	return slices.ContainsFunc(d.Conditions, func(c definitions.Condition) bool {
		return c.Status == "True" && (c.Type == "NamesAccepted" || c.Type == "Established")
	})
}

// define makes a CustomResourceDefinition take effect after it has been written.
func (a *api) define(tx store.Tx, cur *object.Revision) {
	d := cur.Draft()
	is := a.definitions[d.Meta.Name]
	if is == nil {
		is = &definition{}
		a.definitions[d.Meta.Name] = is
	}
	is.Definition, is.terminating = definitions.Read(d), cur.Deleting
	if is.terminating {
		return
	}
	var all []*definitions.Definition
	for _, other := range a.definitions {
		all = append(all, other.Definition)
	}
	is.Accepted, is.Conditions = is.Accept(all)
	if is.served() {
		a.serveDefinition(tx, is)
	}
	status := d.Member("status")
	names := jsontree.Of(is.Accepted)
	changed := !jsontree.Equal(names, status["acceptedNames"])
	status["acceptedNames"], d.Content["status"] = names, status
	for _, c := range is.Conditions {
		setCondition(d, c)
	}
	if !d.SameAs(cur.Draft()) {
		tx.Put(a.crds.objects, cur, d)
	}
	if changed {
		a.reconsider(tx, is.Group)
	}
}

// reconsider decides again about the definitions of a group whose names were refused, after another definition has lost
// some names.
func (a *api) reconsider(tx store.Tx, group string) {
	for _, name := range slices.Sorted(maps.Keys(a.definitions)) {
		is := a.definitions[name]
		refused := slices.ContainsFunc(is.Conditions, func(c definitions.Condition) bool { return c.Type == "NamesAccepted" && c.Status == "False" })
		if cur := tx.Get(a.crds.objects, meta.Key{Name: name}); cur != nil && is.Group == group && refused {
			a.define(tx, cur)
		}
	}
}

// serveDefinition serves the versions of a definition. They replace those that it had, or the registered resource of
// its name, and keep the objects.
func (a *api) serveDefinition(tx store.Tx, is *definition) {
	spec := is.text()
	if bytes.Equal(spec, is.spec) {
		return
	}
	versions, stored, err := a.versionsOf(is.Definition, is.Accepted)
	if err != nil {
		return // versionsOf was called when the definition was checked
	}
	a.serve(tx, a.versionsBefore(is), versions, stored)
	is.spec, is.versions = spec, versions
}

// text returns what the versions of a definition are made from.
func (d *definition) text() []byte {
	text, err := json.Marshal([]any{d.Versions, d.Conversion, d.Accepted, d.Namespaced})
	if err != nil {
		panic("clienttest: " + err.Error()) // it was read from JSON
	}
	return text
}

// versionsBefore returns the resources that the versions of a definition replace.
func (a *api) versionsBefore(is *definition) (old []*resource) {
	if is.versions != nil {
		return is.versions
	}
	for _, r := range a.registry.registered() {
		if !r.Builtin && r.groupResource() == is.Name {
			old = append(old, r)
		}
	}
	return old
}

// versionsOf returns the resources that a definition describes, and that of the stored version.
func (a *api) versionsOf(def *definitions.Definition, names definitions.Names) (all []*resource, stored *resource, _ error) {
	for i, v := range def.Versions {
		if !v.Served && !v.Storage {
			continue
		}
		r := Resource{
			Group: def.Group, Version: v.Name, Kind: names.Kind, Resource: names.Plural, Singular: names.Singular,
			ShortNames: names.ShortNames, Categories: names.Categories, Status: v.Status, Schema: v.Schema,
		}
		if !def.Namespaced {
			r.Scope = meta.Cluster
		}
		if there := a.registry.named(r.GVR()); there != nil && there.Builtin {
			return nil, nil, fmt.Errorf("spec.versions[%d]: %s is built in", i, r.GVR())
		}
		for _, path := range v.SelectableFields {
			r.SelectableFields = append(r.SelectableFields, strings.TrimPrefix(path, "."))
		}
		res, err := a.customResource(r)
		if err != nil {
			return nil, nil, fmt.Errorf("spec.versions[%d]: %w", i, err)
		}
		res.definedBy, res.listKind, res.hidden = def.Name, cmp.Or(names.ListKind, names.Kind+"List"), !v.Served
		if v.Scale != nil {
			res.scale = v.Scale
			res.subresources["scale"] = &subresource{kind: scaleKind()}
		}
		var columns []kubectl.CustomColumn
		for _, c := range v.Columns {
			columns = append(columns, kubectl.CustomColumn{Column: kubectl.Column{
				Name: c.Name, Type: c.Type, Format: c.Format, Description: c.Description, Priority: c.Priority,
			}, JSONPath: c.JSONPath})
		}
		res.columns, res.print = kubectl.CustomColumns(meta.TypeMeta{APIVersion: r.GVK().APIVersion(), Kind: r.Kind}, columns)
		a.setVerbs(res)
		if v.Deprecated {
			res.warning = cmp.Or(v.DeprecationWarning, deprecation(def, v.Name))
		}
		if v.Storage {
			stored = res
		}
		all = append(all, res)
	}
	by, err := a.conversionOf(def, all, stored)
	for _, r := range all {
		r.conversion = by
	}
	return all, stored, err
}

// deprecation returns the warning to requests of a deprecated version, which names the best version instead.
func deprecation(def *definitions.Definition, version string) string {
	text := fmt.Sprintf("%s/%s %s is deprecated", def.Group, version, def.Names.Kind)
	var better []string
	for _, v := range def.Versions {
		if v.Served && !v.Deprecated && apiversion.Compare(v.Name, version) < 0 {
			better = append(better, v.Name)
		}
	}
	if len(better) == 0 {
		return text
	}
	return fmt.Sprintf("%s; use %s/%s %s", text, def.Group, slices.MinFunc(better, apiversion.Compare), def.Names.Kind)
}

// finalizerOfDefinitions keeps a CustomResourceDefinition until its objects are gone.
const finalizerOfDefinitions = "customresourcecleanup.apiextensions.k8s.io"

// endDefinition deletes a CustomResourceDefinition and its objects. The definition stays while one of its objects has
// finalizers. It returns the state to show to the client.
func (a *api) endDefinition(tx store.Tx, cur *object.Revision, dryRun bool) *object.Revision {
	d := cur.Draft()
	d.Meta.DeletionTimestamp = new(timestamp())
	if !slices.Contains(d.Meta.Finalizers, finalizerOfDefinitions) {
		d.Meta.Finalizers = append(d.Meta.Finalizers, finalizerOfDefinitions)
	}
	setCondition(d, definitions.Condition{
		Type: "Terminating", Status: "True", Reason: "InstanceDeletionPending",
		Message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
	})
	if dryRun {
		return d.Revision(&a.crds.Type, cur.Version)
	}
	cur = a.put(tx, a.crds, cur, d)
	is := a.definitions[cur.Key.Name]
	if is == nil {
		return cur
	}
	contents := &deleteOptions{PropagationPolicy: new("Background")}
	for _, r := range is.versions {
		if r.stores {
			for v := range tx.Objects(r.objects, "") {
				a.remove(tx, r, v, contents)
			}
		}
	}
	a.finishDefinition(tx, cur.Key.Name)
	return cur
}

// finishDefinition removes a CustomResourceDefinition that is being deleted when it has no objects any more.
func (a *api) finishDefinition(tx store.Tx, name string) {
	is := a.definitions[name]
	cur := tx.Get(a.crds.objects, meta.Key{Name: name})
	if is == nil || !is.terminating || cur == nil || len(is.versions) > 0 && tx.Count(is.versions[0].objects) > 0 {
		return
	}
	d := cur.Draft()
	n := len(d.Meta.Finalizers)
	d.Meta.Finalizers = slices.DeleteFunc(d.Meta.Finalizers, func(f string) bool { return f == finalizerOfDefinitions })
	switch {
	case len(d.Meta.Finalizers) == 0:
		tx.Remove(a.crds.objects, cur)
		a.undefine(tx, name)
	case len(d.Meta.Finalizers) < n:
		setCondition(d, definitions.Condition{
			Type: "Terminating", Status: "False", Reason: "InstanceDeletionCompleted", Message: "removed all instances",
		})
		tx.Put(a.crds.objects, cur, d)
	}
}

// undefine ends the effect of a CustomResourceDefinition.
func (a *api) undefine(tx store.Tx, name string) {
	is := a.definitions[name]
	if is == nil {
		return
	}
	delete(a.definitions, name)
	a.serve(tx, is.versions, nil, nil)
	a.reconsider(tx, is.Group)
}

// redefine makes the definitions of the store take effect, and no others.
func (a *api) redefine() {
	tx := a.store.Begin()
	defer tx.End()
	were := a.definitions
	a.definitions = map[string]*definition{}
	for v := range tx.Objects(a.crds.objects, "") {
		is := &definition{Definition: definitions.Read(v.Draft()), terminating: v.Deleting}
		if was := were[v.Key.Name]; was != nil && is.served() {
			is.spec, is.versions = was.spec, was.versions
			delete(were, v.Key.Name)
		}
		a.definitions[v.Key.Name] = is
	}
	for _, was := range were {
		a.serve(tx, was.versions, nil, nil)
	}
	// Each decision on names needs the definitions of all others as they are in the store now.
	for _, name := range slices.Sorted(maps.Keys(a.definitions)) {
		a.define(tx, tx.Get(a.crds.objects, meta.Key{Name: name}))
		a.finishDefinition(tx, name)
	}
}

// put stores an object's next state. A CustomResourceDefinition takes effect.
func (a *api) put(tx store.Tx, r *resource, cur *object.Revision, d *object.Draft) *object.Revision {
	v := tx.Put(r.objects, cur, d)
	if r == a.crds {
		a.define(tx, v)
		a.adopted = nil
	}
	if cur != nil {
		a.recount(tx, r, v.Key, cur, v)
	}
	return v
}

// left does what follows from the removal of an object: it may have been the last that its namespace or its definition
// waits for, and it has left the quotas of its namespace.
func (a *api) left(tx store.Tx, r *resource, key meta.Key) {
	a.finishNamespace(tx, key.Namespace)
	a.recount(tx, r, key, nil, nil)
	switch {
	case r == a.crds:
		a.undefine(tx, key.Name)
	case r.definedBy != "":
		a.finishDefinition(tx, r.definedBy)
	}
}

// setCondition sets a condition in the status of a definition. Its time is that of the last change of its status.
func setCondition(d *object.Draft, c definitions.Condition) {
	setStatusCondition(d, jsontree.Object{
		"type": c.Type, "status": c.Status, "reason": c.Reason, "message": c.Message, "lastTransitionTime": timeText(timestamp()),
	})
}
