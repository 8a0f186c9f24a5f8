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

	// do does it. field is the one to change; if it is empty, do chooses one, and returns it. Only edited has fields.
	do func(w *world, r *record, field string) (changed string, err error)
}

// withoutField is an edit of a whole object.
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

// before does the edit right before a request. Nobody deletes an object for which the program has tried in vain to make
// another one: then nothing of it is left, as if the program had never known it, and no rest is before that.
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

// isAgain reports whether the program has sent such a request for the object before.
func (w *world) isAgain(p *point) bool {
	return slices.ContainsFunc(w.points, func(other *point) bool {
		return other != p && other.class() == p.class() && other.request.Key.Namespace == p.request.Key.Namespace &&
			other.nameOfObject() == p.nameOfObject()
	})
}

// rested does the edit at a rest, as far as there is anything to do.
func (e edit) rested(w *world, d disturbance) {
	address, field := d.argument, ""
	if parts := strings.SplitN(d.argument, "/", 4); len(parts) == 4 {
		address, field = strings.Join(parts[:3], "/"), parts[3]
	}
	if r := w.ledger.at(address); r != nil && (r.present && w.ledger.allows(e, r, "") || e.kind == replaced) {
		e.carryOut(w, r, field)
	}
}

// carryOut does the edit. It returns the field that is changed, if there is one.
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

// change changes a field of an object: the given one or, if that is empty, the first whose change the server takes. The
// same edit at rest must be that of the same field, although the object may have others by then.
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
			return strings.Join(path, "."), nil
		}
		errs = append(errs, fmt.Errorf("change %s: %w", strings.Join(path, "."), err))
	}
	return "", errors.Join(errs...)
}
