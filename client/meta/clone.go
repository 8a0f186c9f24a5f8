package meta

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"sync"
)

// Clone returns a copy of obj that can be changed without changing obj. Objects out of a cache are shared: clone before
// writing to one.
//
// If T has a method DeepCopy() T, as the types of k8s.io/api have, Clone calls that. Otherwise it compiles the type
// once into a plan that copies everything reachable through pointers, slices, maps, interfaces, arrays, structs and
// embedded structs. The copy shares what cannot be changed through it: strings, the keys of maps, functions, channels.
//
// A struct's unexported fields are copied as by assignment, so what they refer to stays shared. That is safe for
// time.Time, but a type with private state, such as big.Int, is copied in depth only by a DeepCopy method of T. Clone
// looks for that method on T alone, not on the types inside T, and not on the value in an interface if T is one.
//
// Two references to one value become two copies, as in a DeepCopy method. Only in a graph that is cyclic or deeper than
// a hundred references is each value copied once, so a cycle becomes the same cycle.
//
// Clone never changes obj and may run at the same time as other readers of it.
func Clone[T any](obj T) T {
	if c, ok := any(obj).(interface{ DeepCopy() T }); ok {
		return c.DeepCopy()
	}
	out := obj
	v := reflect.ValueOf(&out).Elem()
	plan := copyPlanOf(v.Type())
	if plan.detach == nil {
		return out
	}
	var c copier
	plan.detach(v, &c)
	if c.tooDeep {
		out = obj
		c = copier{seen: map[reference]reflect.Value{}}
		plan.detach(v, &c)
	}
	return out
}

// copyPlan copies values of one type. detach takes a settable value that is a shallow copy and replaces what it refers
// to by copies; it is nil if a shallow copy is complete.
type copyPlan struct {
	detach func(v reflect.Value, c *copier)
}

// refers reports whether values of t, whose plan is p, refer to anything that must be copied. The finished plan of a
// pointer, a slice or a map always has a detach, but the plan has none yet while the plan of its element is being
// compiled.
func (p *copyPlan) refers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return true
	}
	return p.detach != nil
}

// copyPlans caches the plan of each type. Plans never change, and the types of the program bound their number.
var copyPlans sync.Map // reflect.Type -> *copyPlan

// copier is the state of one copy. The first run remembers nothing, which is fast and sufficient for trees. If it gets
// deeper than maxCopyDepth, it gives up, and a second run uses seen. A cycle soon reaches that depth, because the walk
// is depth-first.
type copier struct {
	depth   int
	tooDeep bool
	seen    map[reference]reflect.Value
}

const maxCopyDepth = 100

// reference identifies the target of a pointer, a map or a slice. It includes the type because a struct and its first
// field have the same address.
type reference struct {
	address uintptr
	length  int
	typ     reflect.Type
}

func referenceTo(v reflect.Value) reference {
	r := reference{address: v.Pointer(), typ: v.Type()}
	if v.Kind() == reflect.Slice {
		r.length = v.Len()
	}
	return r
}

// enter goes one reference deeper, until leave. It returns the copy of v if this run has already made one. ok is false
// if the run gives up; see copier.
func (c *copier) enter(v reflect.Value) (made reflect.Value, ok bool) {
	c.depth++
	if c.seen != nil {
		return c.seen[referenceTo(v)], true
	}
	if c.depth > maxCopyDepth {
		c.tooDeep = true
	}
	return reflect.Value{}, !c.tooDeep
}

// made records the copy of v before its content is copied, so that a cycle finds it.
func (c *copier) made(v, copied reflect.Value) {
	if c.seen != nil {
		c.seen[referenceTo(v)] = copied
	}
}

func (c *copier) leave() { c.depth-- }

func copyPlanOf(t reflect.Type) *copyPlan {
	if p, ok := copyPlans.Load(t); ok {
		return p.(*copyPlan)
	}
	local := map[reflect.Type]*copyPlan{}
	plan := compileCopy(t, local)
	for t, p := range local {
		copyPlans.LoadOrStore(t, p)
	}
	return plan
}

// compileCopy makes the plan of t. A plan found in local may be unfinished, because t contains itself. That is safe: a
// type can contain itself only through a pointer, a slice, a map or an interface, whose plans read the inner plan only
// when they run.
func compileCopy(t reflect.Type, local map[reflect.Type]*copyPlan) *copyPlan {
	if p, ok := local[t]; ok {
		return p
	}
	p := &copyPlan{}
	local[t] = p
	switch t {
	case reflect.TypeFor[map[string]string]():
		p.detach = detachInPlace(maps.Clone[map[string]string])
		return p
	case reflect.TypeFor[[]string]():
		p.detach = detachInPlace(slices.Clone[[]string])
		return p
	case reflect.TypeFor[[]byte]():
		p.detach = detachInPlace(slices.Clone[[]byte])
		return p
	case reflect.TypeFor[map[string]any]():
		p.detach = func(v reflect.Value, c *copier) {
			m := v.Addr().Interface().(*map[string]any)
			*m = c.object(*m)
		}
		return p
	case reflect.TypeFor[[]any]():
		p.detach = func(v reflect.Value, c *copier) {
			s := v.Addr().Interface().(*[]any)
			*s = c.array(*s)
		}
		return p
	}
	switch t.Kind() {
	case reflect.Pointer:
		p.detach = detachPointer(t, compileCopy(t.Elem(), local))
	case reflect.Slice:
		p.detach = detachSlice(t, compileCopy(t.Elem(), local))
	case reflect.Map:
		p.detach = detachMap(t, compileCopy(t.Elem(), local))
	case reflect.Interface:
		p.detach = detachInterface
	case reflect.Array:
		if elem := compileCopy(t.Elem(), local); elem.refers(t.Elem()) {
			p.detach = func(v reflect.Value, c *copier) {
				for i := range v.Len() {
					elem.detach(v.Index(i), c)
				}
			}
		}
	case reflect.Struct:
		p.detach = detachStruct(t, local)
	}
	return p
}

// detachInPlace is for types that the compiler can copy without reflection.
func detachInPlace[T any](clone func(T) T) func(reflect.Value, *copier) {
	return func(v reflect.Value, _ *copier) {
		p := v.Addr().Interface().(*T)
		*p = clone(*p)
	}
}

// detachReference copies references: fresh makes a new target for v, and fill detaches the new target.
func detachReference(
	fresh func(v reflect.Value) reflect.Value, fill func(out, v reflect.Value, c *copier),
) func(reflect.Value, *copier) {
	return func(v reflect.Value, c *copier) {
		if v.IsNil() {
			return
		}
		out, ok := c.enter(v)
		if !ok {
			return
		}
		defer c.leave()
		if !out.IsValid() {
			out = fresh(v)
			c.made(v, out)
			fill(out, v, c)
		}
		v.Set(out)
	}
}

func detachPointer(t reflect.Type, elem *copyPlan) func(reflect.Value, *copier) {
	return detachReference(func(v reflect.Value) reflect.Value {
		out := reflect.New(t.Elem())
		out.Elem().Set(v.Elem())
		return out.Convert(t) // t may be a named pointer type
	}, func(out, _ reflect.Value, c *copier) {
		if elem.detach != nil {
			elem.detach(out.Elem(), c)
		}
	})
}

func detachSlice(t reflect.Type, elem *copyPlan) func(reflect.Value, *copier) {
	return detachReference(func(v reflect.Value) reflect.Value {
		out := reflect.MakeSlice(t, v.Len(), v.Len())
		reflect.Copy(out, v)
		return out
	}, func(out, v reflect.Value, c *copier) {
		if elem.detach == nil {
			return
		}
		for i := range v.Len() {
			elem.detach(out.Index(i), c)
		}
	})
}

func detachMap(t reflect.Type, elem *copyPlan) func(reflect.Value, *copier) {
	return detachReference(func(v reflect.Value) reflect.Value {
		return reflect.MakeMapWithSize(t, v.Len())
	}, func(out, v reflect.Value, c *copier) {
		key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		for it := v.MapRange(); it.Next(); {
			key.SetIterKey(it)
			value.SetIterValue(it)
			if elem.detach != nil {
				elem.detach(value, c)
			}
			out.SetMapIndex(key, value)
		}
	})
}

func detachInterface(v reflect.Value, c *copier) {
	if v.IsNil() {
		return
	}
	inner := v.Elem()
	plan := copyPlanOf(inner.Type())
	if plan.detach == nil {
		return
	}
	out := reflect.New(inner.Type()).Elem()
	out.Set(inner)
	plan.detach(out, c)
	v.Set(out)
}

// detachStruct visits the exported fields, and those of embedded structs whose type is not exported.
func detachStruct(t reflect.Type, local map[reflect.Type]*copyPlan) func(reflect.Value, *copier) {
	type fieldPlan struct {
		index int
		plan  *copyPlan
	}
	var fields []fieldPlan
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() && !(f.Anonymous && f.Type.Kind() == reflect.Struct) {
			continue
		}
		if plan := compileCopy(f.Type, local); plan.refers(f.Type) {
			fields = append(fields, fieldPlan{i, plan})
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return func(v reflect.Value, c *copier) {
		for _, f := range fields {
			f.plan.detach(v.Field(f.index), c)
		}
	}
}

// object copies a JSON object; it is detachMap without reflection.
func (c *copier) object(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	made, ok := c.enterJSON(m)
	if !ok {
		return m
	}
	defer c.leave()
	if made.IsValid() {
		return made.Interface().(map[string]any)
	}
	out := make(map[string]any, len(m))
	if c.seen != nil {
		c.made(reflect.ValueOf(m), reflect.ValueOf(out))
	}
	for key, value := range m {
		out[key] = c.value(value)
	}
	return out
}

// array copies a JSON array; it is detachSlice without reflection.
func (c *copier) array(s []any) []any {
	if s == nil {
		return nil
	}
	made, ok := c.enterJSON(s)
	if !ok {
		return s
	}
	defer c.leave()
	if made.IsValid() {
		return made.Interface().([]any)
	}
	out := make([]any, len(s))
	if c.seen != nil {
		c.made(reflect.ValueOf(s), reflect.ValueOf(out))
	}
	for i, value := range s {
		out[i] = c.value(value)
	}
	return out
}

// enterJSON is enter without the cost of a reflect.Value if nothing is remembered.
func (c *copier) enterJSON(v any) (made reflect.Value, ok bool) {
	if c.seen != nil {
		return c.enter(reflect.ValueOf(v))
	}
	return c.enter(reflect.Value{})
}

func (c *copier) value(v any) any {
	switch v := v.(type) {
	case nil, string, bool, int64, float64, json.Number:
		return v
	case map[string]any:
		return c.object(v)
	case []any:
		return c.array(v)
	}
	out := v
	detachInterface(reflect.ValueOf(&out).Elem(), c)
	return out
}
