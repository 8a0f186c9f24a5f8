package meta

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// The functions of this file read and write parts of an object's metadata through its methods, whatever types these
// methods use. A type without the method does not compile: embed [ObjectMeta], or embed the missing part beside
// [Identity] ([DeletionMeta], [OwnerMeta], [LabelMeta]), or write the method. The types of k8s.io/api have them all.

// UID returns the uid of obj, whether its type is string or the types.UID of k8s.io/apimachinery.
func UID[T Identified[U], U ~string](obj T) string { return string(obj.GetUID()) }

// IsDeleting reports whether deletion of obj has been requested: its metadata has a deletionTimestamp. It is false for
// a nil obj. T must have a method GetDeletionTimestamp, as every struct that embeds [ObjectMeta] or [DeletionMeta] has.
func IsDeleting[T Deletable[D], D Timestamp](obj T) bool {
	if isNil(obj) {
		return false
	}
	if u, ok := any(obj).(interface{ deleting() bool }); ok { // the timestamp of an Unstructured may not be a valid time
		return u.deleting()
	}
	var none D
	when := obj.GetDeletionTimestamp()
	return when != none && !when.IsZero()
}

// Owners returns the references to the owners of obj, none for a nil obj. T must have a method GetOwnerReferences, as
// every struct that embeds [ObjectMeta] or [OwnerMeta] has. R is the type of its references: [OwnerReference], or a
// struct whose json tags name the same fields, such as that of k8s.io/apimachinery.
//
// The result may be the object's own memory: treat it as read-only.
func Owners[T Owned[R], R any](obj T) []OwnerReference {
	if isNil(obj) {
		return nil
	}
	list := obj.GetOwnerReferences()
	if own, ok := any(list).([]OwnerReference); ok {
		return own
	}
	if len(list) == 0 {
		return nil
	}
	plan := ownerPlanOf(reflect.TypeFor[R]())
	out := make([]OwnerReference, len(list))
	for i := range out {
		plan.read(reflect.ValueOf(&list[i]).Elem(), &out[i])
	}
	return out
}

// SetOwners replaces the references to the owners of obj with a copy of owners. T must have the methods
// GetOwnerReferences and SetOwnerReferences, as for [Owners]. If a reference with the same uid exists, the fields of R
// that [OwnerReference] lacks keep their values.
//
// It returns an error, and does not change obj, if obj is nil, or if R lacks a field that is set in owners.
func SetOwners[T Ownable[R], R any](obj T, owners []OwnerReference) error {
	if isNil(obj) {
		return errors.New("set the owners: the object must not be nil")
	}
	owners = slices.Clone(owners)
	for i := range owners {
		owners[i].Controller = cloneFlag(owners[i].Controller)
		owners[i].BlockOwnerDeletion = cloneFlag(owners[i].BlockOwnerDeletion)
	}
	if own, ok := any(owners).([]R); ok {
		obj.SetOwnerReferences(own)
		return nil
	}
	plan := ownerPlanOf(reflect.TypeFor[R]())
	had := obj.GetOwnerReferences()
	foreign := make([]R, len(owners))
	for i := range owners {
		if j := plan.find(reflect.ValueOf(had), owners[i].UID); j >= 0 {
			foreign[i] = had[j]
		}
		if missing := plan.write(reflect.ValueOf(&foreign[i]).Elem(), &owners[i]); missing != "" {
			return fmt.Errorf("set the owners of %T: its references have no field %s", obj, missing)
		}
	}
	obj.SetOwnerReferences(foreign)
	return nil
}

func cloneFlag(flag *bool) *bool {
	if flag == nil {
		return nil
	}
	clone := *flag
	return &clone
}

// ControllerOf returns the reference to the owner that controls obj: the first with controller: true. T is as for
// [Owners].
func ControllerOf[T Owned[R], R any](obj T) (OwnerReference, bool) {
	for _, owner := range Owners(obj) {
		if owner.Controller != nil && *owner.Controller {
			return owner, true
		}
	}
	return OwnerReference{}, false
}

// isNil reports whether obj is nil.
func isNil(obj any) bool {
	switch v := reflect.ValueOf(obj); v.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Map:
		return v.IsNil()
	default:
		return false
	}
}

// ownerPlan locates the fields of a foreign owner reference.
type ownerPlan struct {
	apiVersion, kind, name, uid, controller, block []int
}

// ownerPlans caches the plan of each type. Plans never change, and there are at most as many as the program has types.
var ownerPlans sync.Map // reflect.Type -> *ownerPlan

func ownerPlanOf(t reflect.Type) *ownerPlan {
	if p, ok := ownerPlans.Load(t); ok {
		return p.(*ownerPlan)
	}
	p, _ := ownerPlans.LoadOrStore(t, compileOwner(t))
	return p.(*ownerPlan)
}

func compileOwner(t reflect.Type) *ownerPlan {
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
	return &ownerPlan{
		apiVersion: text("apiVersion"), kind: text("kind"), name: text("name"), uid: text("uid"),
		controller: flag("controller"), block: flag("blockOwnerDeletion"),
	}
}

func (p *ownerPlan) read(v reflect.Value, o *OwnerReference) {
	o.APIVersion = readText(v, p.apiVersion)
	o.Kind = readText(v, p.kind)
	o.Name = readText(v, p.name)
	o.UID = readText(v, p.uid)
	o.Controller = readFlag(v, p.controller)
	o.BlockOwnerDeletion = readFlag(v, p.block)
}

// find returns the index of the reference with the uid, or -1.
func (p *ownerPlan) find(list reflect.Value, uid string) int {
	for i := range list.Len() {
		if uid != "" && readText(list.Index(i), p.uid) == uid {
			return i
		}
	}
	return -1
}

// write sets the fields of the reference v to those of o. If o has a value for a field that v's type lacks, write
// returns the name of that field.
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
		default: // allocate: another reference may share the old value
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

func concat(a, b []int) []int { return append(append(make([]int, 0, len(a)+len(b)), a...), b...) }

// jsonField finds the field that encoding/json would call name, in a struct or a pointer to one: by its tag, or by its
// Go name, in the struct or in those embedded in it without a name. The least nested field wins. follow walks the
// returned way.
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

// follow walks down the fields of way, through pointers; ok is false if way is nil or one of the pointers is nil.
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

// reach is follow, but allocates the targets of nil pointers; ok is false if way is nil, or if the field cannot be set.
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
