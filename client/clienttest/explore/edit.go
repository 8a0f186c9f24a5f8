package explore

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
)

// The kinds of edits that stay. Their runs are compared with those in which the same edit is made at rest.
const (
	deleted    kind = "deleted"    // a person deletes an object
	replaced   kind = "replaced"   // a person deletes an object, and makes another one with its name
	edited     kind = "edited"     // a person changes a field
	unlabeled  kind = "unlabeled"  // a person takes away the labels
	disowned   kind = "disowned"   // a person takes away the owner references
	terminated kind = "terminated" // a person deletes the namespace
)

// edit is something that a person does to an object.
type edit struct {
	kind  kind
	roles []string             // of the objects to which it is done
	on    func(r *record) bool // whether it can be done to an object
	do    func(w *world, r *record) error
}

func edits() []edit {
	ours := func(r *record) bool { return r.made == byProgram && r.meta.DeletionTimestamp == nil }
	return []edit{
		{deleted, roles(), func(r *record) bool { return r.meta.DeletionTimestamp == nil }, (*world).remove},
		{replaced, []string{theObject}, ours, replace},
		{edited, []string{theObject, itsDependent}, func(r *record) bool { return ours(r) && len(fieldsOf(r)) > 0 }, change},
		{unlabeled, []string{theObject, itsDependent}, func(r *record) bool { return ours(r) && len(r.meta.Labels) > 0 }, unlabel},
		{disowned, []string{theObject, itsDependent}, func(r *record) bool { return ours(r) && len(r.meta.OwnerReferences) > 0 }, disown},
		{terminated, []string{theObject, itsOwner}, func(r *record) bool {
			return !slices.Contains([]string{"", "default", "kube-system", "kube-public", "kube-node-lease"}, r.meta.Namespace)
		}, terminate},
	}
}

// allows reports whether an edit can be done to an object that has a role in a request, or none at a rest. Nobody
// deletes an object that the program has not handled yet, because the program could not clean up. And nobody takes away
// the reference to an owner that is being deleted: that asks for the object to stay.
func (l *ledger) allows(e edit, r *record, role string) bool {
	switch {
	case e.kind == deleted && role == theObject && !r.handled:
		return false
	case e.kind == disowned && slices.ContainsFunc(l.records, func(o *record) bool {
		return o.owns(r) && (!o.present || o.meta.DeletionTimestamp != nil)
	}):
		return false
	}
	return e.on(r)
}

// persons are the kinds of disturbances by edits that stay.
func persons() (all []effect) {
	for _, e := range edits() {
		all = append(all, effect{kind: e.kind, argued: true, at: e.at, prepare: e.before, rested: e.rested})
	}
	return all
}

// at returns the roles of the objects that the edit can be done to, right before a request.
func (e edit) at(p *point, _ *result) []string { return p.offers[e.kind] }

// offers returns the roles of the objects that each edit can be done to, right before a request.
func (l *ledger) offers(p *point) map[kind][]string {
	if p.request.Key.Name == "" && p.request.Verb != "create" {
		return nil
	}
	all := map[kind][]string{}
	for _, role := range roles() {
		r := l.target(p, role)
		if r == nil {
			continue
		}
		for _, e := range edits() {
			if slices.Contains(e.roles, role) && l.allows(e, r, role) {
				all[e.kind] = append(all[e.kind], role)
			}
		}
		for _, c := range claims() {
			if slices.Contains(c.roles, role) && c.on(r) {
				all[c.kind] = append(all[c.kind], role)
			}
		}
	}
	return all
}

// maxAtRest is how many objects are edited at each rest.
const maxAtRest = 4

// offersAtRest returns the edits that can be done at a rest.
func (l *ledger) offersAtRest(number int) (all []disturbance) {
	objects := 0
	for _, r := range l.records {
		if !r.present || r.made != byProgram || objects == maxAtRest {
			continue
		}
		objects++
		for _, e := range edits() {
			if l.allows(e, r, "") {
				all = append(all, disturbance{e.kind, l.address(r), place{atRest, number}})
			}
		}
		if estranges(r) {
			all = append(all, disturbance{stranger, l.address(r), place{atRest, number}})
		}
	}
	return all
}

// before does the edit right before a request.
func (e edit) before(w *world, p *point, d disturbance) {
	if r := w.ledger.target(p, d.argument); r != nil && w.ledger.allows(e, r, d.argument) {
		address := w.ledger.address(r)
		e.carryOut(w, r)
		w.compareWith(e.kind, address)
	}
}

// rested does the edit at a rest, as far as there is anything to do.
func (e edit) rested(w *world, d disturbance) {
	if r := w.ledger.at(d.argument); r != nil && (r.present && w.ledger.allows(e, r, "") || e.kind == replaced) {
		e.carryOut(w, r)
	}
}

func (e edit) carryOut(w *world, r *record) {
	err := e.do(w, r)
	w.tell("user: %s is %s%s", r.name(), e.kind, failed(err))
	w.lookEverywhere(byUser)
}

func unlabel(w *world, r *record) error {
	return w.merge(r, map[string]any{"metadata": map[string]any{"labels": nil}})
}

func disown(w *world, r *record) error {
	return w.merge(r, map[string]any{"metadata": map[string]any{"ownerReferences": nil}})
}

func terminate(w *world, r *record) error {
	namespaces := meta.GVR{Version: "v1", Resource: "namespaces"}
	w.mu.Lock()
	w.kinds[namespaces] = true
	w.mu.Unlock()
	return w.person(http.MethodDelete, pathOf(namespaces, meta.Key{Name: r.meta.Namespace}), "application/json", nil, nil)
}

// replace makes an object of the same name and content, which is not of the program: without labels, annotations and
// owners.
func replace(w *world, r *record) error {
	if r.present {
		if len(r.meta.Finalizers) > 0 {
			if err := w.merge(r, map[string]any{"metadata": map[string]any{"finalizers": nil}}); err != nil {
				return err
			}
		}
		if err := w.remove(r); err != nil {
			return err
		}
	}
	var object map[string]any
	if err := json.Unmarshal(r.raw, &object); err != nil {
		return err
	}
	delete(object, "status")
	object["metadata"] = map[string]any{"namespace": r.meta.Namespace, "name": r.meta.Name}
	return w.person(http.MethodPost, pathOf(r.of, meta.Key{Namespace: r.meta.Namespace}), "application/json", object, nil)
}

// fieldsOf returns the paths of fields of an object that a person may change: texts, numbers and truth values outside
// of its metadata and status, in the order of their names.
func fieldsOf(r *record) (paths [][]string) {
	var object map[string]any
	_ = json.Unmarshal(r.raw, &object) // it was read before
	for _, name := range []string{"apiVersion", "kind", "metadata", "status"} {
		delete(object, name)
	}
	var walk func(v any, path []string)
	walk = func(v any, path []string) {
		members, is := v.(map[string]any)
		if !is {
			if v = other(v); v != nil {
				paths = append(paths, slices.Clone(path))
			}
			return
		}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			walk(members[name], append(path, name))
		}
	}
	walk(object, nil)
	return paths
}

// other returns another value of the same type; nil if it has none.
func other(v any) any {
	switch v := v.(type) {
	case string:
		return "edited"
	case bool:
		return !v
	case float64:
		return v + 1
	}
	return nil
}

// maxFields is how many fields of an object are tried, until the server takes the change of one.
const maxFields = 4

// change changes the first field of an object whose change the server takes.
func change(w *world, r *record) error {
	var errs []error
	for _, path := range fieldsOf(r)[:min(maxFields, len(fieldsOf(r)))] {
		var object any
		_ = json.Unmarshal(r.raw, &object) // it was read before
		for _, name := range path {
			members, _ := object.(map[string]any)
			object = members[name]
		}
		value := other(object)
		for _, name := range slices.Backward(path) {
			value = map[string]any{name: value}
		}
		err := w.merge(r, value)
		if err == nil {
			return nil
		}
		errs = append(errs, fmt.Errorf("change %s: %w", strings.Join(path, "."), err))
	}
	return errors.Join(errs...)
}
