package meta

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// UID returns the uid of obj, whatever type its struct gives it: string, or the types.UID of k8s.io/apimachinery.
func UID[T interface{ GetUID() U }, U ~string](obj T) string { return string(obj.GetUID()) }

// Owners returns the references to the owners of obj. It reads them through a method GetOwnerReferences of this
// package's type, and otherwise from the field ownerReferences in the field metadata, found by their json tags once per
// type; so it works on the types of k8s.io/api, on structs of one's own and on map[string]any types. An object without
// such a field has no owners.
//
// The result may be the object's own memory: treat it as read-only.
func Owners(obj Object) []OwnerReference {
	switch o := obj.(type) {
	case nil:
		return nil
	case interface{ GetOwnerReferences() []OwnerReference }:
		return o.GetOwnerReferences()
	}
	v, plan := accessOf(obj)
	if plan.asMap {
		return (&Unstructured{Object: toMap(v)}).GetOwnerReferences()
	}
	list, ok := follow(v, plan.owners)
	if !ok || list.Len() == 0 {
		return nil
	}
	if list.Type() == reflect.TypeFor[[]OwnerReference]() {
		return list.Interface().([]OwnerReference)
	}
	out := make([]OwnerReference, list.Len())
	for i := range out {
		plan.owner.read(list.Index(i), &out[i])
	}
	return out
}

// SetOwners replaces the references to the owners of obj, where [Owners] finds them. It sets them through a method
// SetOwnerReferences of this package's type, and otherwise in the field ownerReferences of the field metadata. What a foreign
// type of reference has beside the API's fields stays with the reference of the same uid. Neither owners nor what obj had before
// is kept or changed.
//
// It is an error, and obj stays as it was, if its type has no such field, or the type of its references lacks one that is set.
func SetOwners(obj Object, owners []OwnerReference) error {
	if v := reflect.ValueOf(obj); !v.IsValid() || (v.Kind() == reflect.Pointer || v.Kind() == reflect.Map) && v.IsNil() {
		return errors.New("set the owners of an object that is nil")
	}
	owners = slices.Clone(owners)
	for i := range owners {
		owners[i].Controller = cloneFlag(owners[i].Controller)
		owners[i].BlockOwnerDeletion = cloneFlag(owners[i].BlockOwnerDeletion)
	}
	if o, ok := obj.(interface{ SetOwnerReferences([]OwnerReference) }); ok {
		o.SetOwnerReferences(owners)
		return nil
	}
	v, plan := accessOf(obj)
	if plan.asMap {
		u := Unstructured{Object: toMap(v)}
		u.SetOwnerReferences(owners)
		if v.IsNil() { // a pointer leads to it, or it would have been refused
			v.Set(reflect.ValueOf(u.Object).Convert(v.Type()))
		}
		return nil
	}
	list, ok := reach(v, plan.owners)
	if !ok {
		return fmt.Errorf("set the owners of %T: it has no field metadata.ownerReferences", obj)
	}
	if list.Type() == reflect.TypeFor[[]OwnerReference]() {
		list.Set(reflect.ValueOf(owners))
		return nil
	}
	foreign := reflect.MakeSlice(list.Type(), len(owners), len(owners))
	for i := range owners {
		if j := plan.owner.find(list, owners[i].UID); j >= 0 {
			foreign.Index(i).Set(list.Index(j))
		}
		if missing := plan.owner.write(foreign.Index(i), &owners[i]); missing != "" {
			return fmt.Errorf("set the owners of %T: its references have no field %s", obj, missing)
		}
	}
	list.Set(foreign)
	return nil
}

func cloneFlag(flag *bool) *bool {
	if flag == nil {
		return nil
	}
	clone := *flag
	return &clone
}

// ControllerOf returns the reference to the one owner that controls obj, the first that says controller: true.
func ControllerOf(obj Object) (OwnerReference, bool) {
	for _, owner := range Owners(obj) {
		if owner.Controller != nil && *owner.Controller {
			return owner, true
		}
	}
	return OwnerReference{}, false
}

// IsDeleting reports whether deletion of obj has been asked for: its metadata has a deletionTimestamp. It reads that
// through a method GetDeletionTimestamp of this package's type, and otherwise from the field deletionTimestamp in the
// field metadata as [Owners] does. An object whose struct has no such field never looks deleted.
func IsDeleting(obj Object) bool {
	switch o := obj.(type) {
	case nil:
		return false
	case *Unstructured:
		return o.deleting()
	case interface{ GetDeletionTimestamp() *Time }:
		t := o.GetDeletionTimestamp()
		return t != nil && !t.IsZero()
	}
	v, plan := accessOf(obj)
	if plan.asMap {
		return (&Unstructured{Object: toMap(v)}).deleting()
	}
	t, ok := follow(v, plan.deletion)
	return ok && isSet(t)
}

// accessPlan says where the values of one type keep what Owners and IsDeleting read.
type accessPlan struct {
	asMap    bool  // the object is a map[string]any by another name
	owners   []int // the way from the object to its ownerReferences; nil where it has none
	owner    ownerPlan
	deletion []int // the way from the object to its deletionTimestamp; nil where it has none
}

// accessPlans keeps the plan of each type, which never changes. What it can hold is bounded by the types of the program.
var accessPlans sync.Map // reflect.Type -> *accessPlan

// accessOf returns what obj points to and the plan of its type.
func accessOf(obj Object) (reflect.Value, *accessPlan) {
	v := reflect.ValueOf(obj)
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if p, ok := accessPlans.Load(v.Type()); ok {
		return v, p.(*accessPlan)
	}
	p, _ := accessPlans.LoadOrStore(v.Type(), compileAccess(v.Type()))
	return v, p.(*accessPlan)
}

func compileAccess(t reflect.Type) *accessPlan {
	if t.ConvertibleTo(reflect.TypeFor[map[string]any]()) {
		return &accessPlan{asMap: true}
	}
	p := &accessPlan{}
	metadata, metadataType := jsonField(t, "metadata")
	if metadata == nil {
		return p
	}
	if way, t := jsonField(metadataType, "ownerReferences"); way != nil && t.Kind() == reflect.Slice {
		if owner, ok := compileOwner(t.Elem()); ok {
			p.owners = concat(metadata, way)
			p.owner = owner
		}
	}
	if way, _ := jsonField(metadataType, "deletionTimestamp"); way != nil {
		p.deletion = concat(metadata, way)
	}
	return p
}

func concat(a, b []int) []int { return append(append(make([]int, 0, len(a)+len(b)), a...), b...) }

func toMap(v reflect.Value) map[string]any {
	return v.Convert(reflect.TypeFor[map[string]any]()).Interface().(map[string]any)
}

// jsonField finds the field of a struct, or of what a pointer to one leads to, that encoding/json would call name: by its
// tag, or by its Go name, in the struct or in those that are embedded in it without a name. A field that lies less deep
// wins. The way is what follow takes.
func jsonField(t reflect.Type, name string) (way []int, field reflect.Type) {
	type level struct {
		way []int
		typ reflect.Type
	}
	seen := map[reflect.Type]bool{}
	for todo := []level{{nil, t}}; len(todo) > 0; {
		var next []level
		for _, l := range todo {
			t := l.typ
			if t.Kind() == reflect.Pointer {
				t = t.Elem()
			}
			if t.Kind() != reflect.Struct || seen[t] {
				continue
			}
			seen[t] = true
			for i := range t.NumField() {
				f := t.Field(i)
				if !f.IsExported() && !(f.Anonymous && f.Type.Kind() == reflect.Struct) {
					continue
				}
				tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				switch way := concat(l.way, []int{i}); {
				case tag == name, tag == "" && !f.Anonymous && f.Name == name:
					return way, f.Type
				case tag == "" && f.Anonymous:
					next = append(next, level{way, f.Type})
				}
			}
		}
		todo = next
	}
	return nil, nil
}

// follow goes down the fields of way, through pointers; ok is false where there is no way or one of them is nil.
func follow(v reflect.Value, way []int) (field reflect.Value, ok bool) {
	if way == nil {
		return reflect.Value{}, false
	}
	for _, i := range way {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return reflect.Value{}, false
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v, true
}

// reach is follow that makes what a nil pointer is to lead to; ok is false where there is no way, or nothing that can be set.
func reach(v reflect.Value, way []int) (field reflect.Value, ok bool) {
	if way == nil || !v.CanSet() {
		return reflect.Value{}, false
	}
	for _, i := range way {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				if !v.CanSet() {
					return reflect.Value{}, false
				}
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v, v.CanSet()
}

// isSet reports whether a point in time, of whatever type, is there: a pointer that is not nil, and the time that it leads
// to is not the zero one, which the wire knows as null.
func isSet(v reflect.Value) bool {
	type zeroer interface{ IsZero() bool }
	if v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return false
		}
		if z, ok := v.Interface().(zeroer); ok {
			return !z.IsZero()
		}
		return isSet(v.Elem())
	}
	if v.CanAddr() {
		if z, ok := v.Addr().Interface().(zeroer); ok {
			return !z.IsZero()
		}
	}
	if z, ok := v.Interface().(zeroer); ok {
		return !z.IsZero()
	}
	return !v.IsZero()
}

// ownerPlan says where a foreign owner reference keeps its fields.
type ownerPlan struct {
	apiVersion, kind, name, uid, controller, block []int
}

// compileOwner makes the plan of a struct with the fields of an owner reference; ok is false for anything else.
func compileOwner(t reflect.Type) (p ownerPlan, ok bool) {
	text := func(name string) []int {
		way, f := jsonField(t, name)
		if way == nil || f.Kind() != reflect.String {
			return nil
		}
		return way
	}
	flag := func(name string) []int {
		way, f := jsonField(t, name)
		if way == nil || f.Kind() != reflect.Bool && (f.Kind() != reflect.Pointer || f.Elem().Kind() != reflect.Bool) {
			return nil
		}
		return way
	}
	p = ownerPlan{
		apiVersion: text("apiVersion"), kind: text("kind"), name: text("name"), uid: text("uid"),
		controller: flag("controller"), block: flag("blockOwnerDeletion"),
	}
	return p, p.uid != nil || p.name != nil
}

func (p *ownerPlan) read(v reflect.Value, o *OwnerReference) {
	o.APIVersion = readText(v, p.apiVersion)
	o.Kind = readText(v, p.kind)
	o.Name = readText(v, p.name)
	o.UID = readText(v, p.uid)
	o.Controller = readFlag(v, p.controller)
	o.BlockOwnerDeletion = readFlag(v, p.block)
}

// find returns the place of the reference with that uid, or -1.
func (p *ownerPlan) find(list reflect.Value, uid string) int {
	for i := range list.Len() {
		if uid != "" && readText(list.Index(i), p.uid) == uid {
			return i
		}
	}
	return -1
}

// write sets the fields of a reference. It returns the name of one that there is no place for.
func (p *ownerPlan) write(v reflect.Value, o *OwnerReference) (missing string) {
	for _, f := range []struct {
		name, value string
		way         []int
	}{{"apiVersion", o.APIVersion, p.apiVersion}, {"kind", o.Kind, p.kind}, {"name", o.Name, p.name}, {"uid", o.UID, p.uid}} {
		if to, ok := reach(v, f.way); ok {
			to.SetString(f.value)
		} else if f.value != "" {
			return f.name
		}
	}
	for _, f := range []struct {
		name  string
		value *bool
		way   []int
	}{{"controller", o.Controller, p.controller}, {"blockOwnerDeletion", o.BlockOwnerDeletion, p.block}} {
		to, ok := reach(v, f.way)
		switch {
		case !ok && f.value != nil:
			return f.name
		case !ok:
		case to.Kind() == reflect.Bool:
			to.SetBool(f.value != nil && *f.value)
		case f.value == nil:
			to.SetZero()
		default: // a new one: what it led to may be another reference's too
			flag := reflect.New(to.Type().Elem())
			flag.Elem().SetBool(*f.value)
			to.Set(flag)
		}
	}
	return ""
}

func readText(v reflect.Value, way []int) string {
	if f, ok := follow(v, way); ok {
		return f.String()
	}
	return ""
}

func readFlag(v reflect.Value, way []int) *bool {
	f, ok := follow(v, way)
	if !ok {
		return nil
	}
	if f.Kind() == reflect.Pointer {
		if f.IsNil() {
			return nil
		}
		if shared, ok := f.Interface().(*bool); ok {
			return shared
		}
		f = f.Elem()
	}
	b := f.Bool()
	return &b
}
