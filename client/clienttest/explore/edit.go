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

// The kinds of edits that stay. A run with such an edit is compared with runs in which the same edit is made at rest.
const (
	deleted    kind = "deleted"    // a person deletes an object
	replaced   kind = "replaced"   // a person deletes an object, and makes another one with its name
	edited     kind = "edited"     // a person changes a field
	unlabeled  kind = "unlabeled"  // a person removes the labels
	disowned   kind = "disowned"   // a person removes the owner references
	terminated kind = "terminated" // a person deletes the namespace
)

// edit is a change that a person makes to an object.
type edit struct {
	kind  kind
	roles []string             // the roles of the objects that the edit changes
	on    func(r *record) bool // whether the edit can change the object

	// do makes the change. field is the field to change; if it is empty, do chooses a field and returns it. Only the
	// kind edited uses fields.
	do func(w *world, r *record, field string) (changed string, err error)
}

// withoutField returns the do of an edit that changes no single field.
func withoutField(do func(w *world, r *record) error) func(*world, *record, string) (string, error) {
	return func(w *world, r *record, _ string) (string, error) { return "", do(w, r) }
}

func edits() []edit {
	ours := func(r *record) bool { return r.made == byProgram && r.meta.DeletionTimestamp == nil }
	return []edit{
		{deleted, roles(), func(r *record) bool { return r.meta.DeletionTimestamp == nil }, withoutField((*world).remove)},
		{replaced, []string{theObject}, ours, withoutField(replace)},
		{edited, []string{theObject, itsDependent}, func(r *record) bool { return ours(r) && len(fieldsOf(r)) > 0 }, change},
		{unlabeled, []string{theObject, itsDependent}, func(r *record) bool { return ours(r) && len(r.meta.Labels) > 0 }, withoutField(unlabel)},
		{disowned, []string{theObject, itsDependent}, func(r *record) bool { return ours(r) && len(r.meta.OwnerReferences) > 0 }, withoutField(disown)},
		{terminated, []string{theObject, itsOwner}, func(r *record) bool {
			return !slices.Contains([]string{"", "default", "kube-system", "kube-public", "kube-node-lease"}, r.meta.Namespace)
		}, withoutField(terminate)},
	}
}

// allows reports whether an edit can change an object. role is the object's role in a request, or "" at a rest. At a
// request nobody deletes an object that the program has neither made nor written to, because the program could not
// clean up. Nobody removes the reference to an owner that is being deleted or has gone, because without the reference
// the garbage collector keeps the object.
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

// persons returns the effects of the edits that stay.
func persons() (all []effect) {
	for _, e := range edits() {
		all = append(all, effect{kind: e.kind, argued: true, at: e.at, prepare: e.before, rested: e.rested})
	}
	return all
}

// at returns the roles of the objects that the edit can change right before a request.
func (e edit) at(p *point, _ *result) []string { return p.offers[e.kind] }

// offers returns the roles of the objects that each edit and each claim can change right before a request.
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

// maxAtRest bounds how many objects can be edited at each rest.
const maxAtRest = 4

// offersAtRest returns the edits and the strangers that are possible at a rest.
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

// before makes the edit right before a request. Nobody deletes an object that the program has not written to if the
// program has already tried the same request in vain: after the deletion nothing would show that the program had known
// the object, and no run with the edit at a rest is like that.
func (e edit) before(w *world, p *point, d disturbance) {
	r := w.ledger.target(p, d.argument)
	if r == nil || e.kind == deleted && !r.handled && w.isAgain(p) {
		return
	}
	if w.ledger.allows(e, r, d.argument) {
		argument := w.ledger.address(r)
		if field := e.carryOut(w, r, ""); field != "" {
			argument += "/" + field
		}
		w.compareWith(e.kind, argument)
	}
}

// isAgain reports whether the program has already sent a request of the same class for the same object.
func (w *world) isAgain(p *point) bool {
	return slices.ContainsFunc(w.points, func(other *point) bool {
		return other != p && other.class() == p.class() && other.request.Key.Namespace == p.request.Key.Namespace &&
			other.nameOfObject() == p.nameOfObject()
	})
}

// rested makes the edit at a rest, if the object exists and the edit can change it.
func (e edit) rested(w *world, d disturbance) {
	address, field := d.argument, ""
	if parts := strings.SplitN(d.argument, "/", 4); len(parts) == 4 {
		address, field = strings.Join(parts[:3], "/"), parts[3]
	}
	if r := w.ledger.at(address); r != nil && (r.present && w.ledger.allows(e, r, "") || e.kind == replaced) {
		e.carryOut(w, r, field)
	}
}

// carryOut makes the edit. It returns the changed field, if the edit changes a single field.
func (e edit) carryOut(w *world, r *record, field string) (changed string) {
	changed, err := e.do(w, r, field)
	w.tell("user: %s is %s%s", r.name(), e.kind, failed(err))
	w.lookEverywhere(byUser)
	return changed
}

func unlabel(w *world, r *record) error {
	return w.merge(r, map[string]any{"metadata": map[string]any{"labels": nil}})
}

func disown(w *world, r *record) error {
	return w.merge(r, map[string]any{"metadata": map[string]any{"ownerReferences": nil}})
}

func terminate(w *world, r *record) error {
	w.know(namespaces())
	w.mu.Lock()
	w.kinds[namespaces()] = true
	w.mu.Unlock()
	return w.person(http.MethodDelete, pathOf(namespaces(), meta.Key{Name: r.meta.Namespace}), "application/json", nil, nil)
}

// replace makes an object with the same name and content that does not belong to the program: it has no labels,
// annotations or owners. If the old object is still there, replace first deletes it.
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

// fieldsOf returns the paths of the fields of an object that a person may change: strings, numbers and booleans outside
// of its metadata and status, in the order of their names.
func fieldsOf(r *record) (paths [][]string) {
	var object map[string]any
	_ = json.Unmarshal(r.raw, &object) // cannot fail: it was parsed before
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

// other returns another value of the same type; nil for a type without one.
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

// maxFields bounds how many fields of an object change tries until the server accepts one change.
const maxFields = 4

// change changes the given field of an object or, if field is empty, the first field whose change the server accepts.
// The same edit at rest must change the same field, although the object may have other fields by then.
func change(w *world, r *record, field string) (changed string, err error) {
	paths := fieldsOf(r)
	if field != "" {
		paths = slices.DeleteFunc(paths, func(path []string) bool { return strings.Join(path, ".") != field })
	}
	if len(paths) == 0 {
		return "", fmt.Errorf("it has no field %s", field)
	}
	var errs []error
	for _, path := range paths[:min(maxFields, len(paths))] {
		var object any
		_ = json.Unmarshal(r.raw, &object) // cannot fail: it was parsed before
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
			return strings.Join(path, "."), nil
		}
		errs = append(errs, fmt.Errorf("change %s: %w", strings.Join(path, "."), err))
	}
	return "", errors.Join(errs...)
}
