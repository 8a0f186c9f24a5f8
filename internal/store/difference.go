package store

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// firstDifference returns the path to the first difference of two objects, and the address of the memory of a that has
// the difference. The path is "" if the objects are equal, and "." if they differ as a whole. firstDifference compares
// what [meta.Clone] copies, and skips references that both share. A nil slice or map equals an empty one: no reader
// can have turned one into the other in place, and not every DeepCopy preserves the difference.
func firstDifference[T any](a, b T) (path string, memory uintptr) {
	d := differ{seen: make(map[[2]uintptr]bool)}
	if d.same(reflect.ValueOf(&a).Elem(), reflect.ValueOf(&b).Elem(), 0) {
		return "", 0
	}
	slices.Reverse(d.way)
	way := strings.TrimPrefix(strings.Join(d.way, ""), ".")
	return cmp.Or(way, "."), d.memory
}

// isSame reports whether two objects have no difference.
func isSame[T any](a, b T) bool {
	path, _ := firstDifference(a, b)
	return path == ""
}

// differ walks two values side by side. At a difference it records the path back to the top.
type differ struct {
	way    []string
	memory uintptr             // the address of the memory that has the difference
	seen   map[[2]uintptr]bool // the pairs of pointers already followed: there may be cycles
}

// suspiciouslyDeep is the depth from which maps and slices are checked for cycles too.
const suspiciouslyDeep = 100

func (d *differ) step(format string, args ...any) bool {
	d.way = append(d.way, fmt.Sprintf(format, args...))
	return false
}

func (d *differ) same(a, b reflect.Value, depth int) bool {
	if !a.IsValid() || !b.IsValid() { // the element of a nil interface or pointer
		return a.IsValid() == b.IsValid()
	}
	if a.Type() != b.Type() {
		return false
	}
	switch a.Kind() {
	case reflect.Bool:
		return a.Bool() == b.Bool()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return a.Int() == b.Int()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return a.Uint() == b.Uint()
	case reflect.Float32, reflect.Float64:
		return math.Float64bits(a.Float()) == math.Float64bits(b.Float())
	case reflect.Complex64, reflect.Complex128:
		x, y := a.Complex(), b.Complex()
		return math.Float64bits(real(x)) == math.Float64bits(real(y)) && math.Float64bits(imag(x)) == math.Float64bits(imag(y))
	case reflect.String:
		return a.String() == b.String()
	case reflect.Pointer:
		return a.Pointer() == b.Pointer() || d.again(a, b, depth) || d.in(a, d.same(a.Elem(), b.Elem(), depth+1))
	case reflect.Interface:
		return d.same(a.Elem(), b.Elem(), depth)
	case reflect.Struct:
		return d.sameStruct(a, b, depth)
	case reflect.Map:
		return a.Pointer() == b.Pointer() || d.again(a, b, depth) || d.in(a, d.sameMap(a, b, depth+1))
	case reflect.Slice:
		return a.Pointer() == b.Pointer() && a.Len() == b.Len() || d.again(a, b, depth) || d.in(a, d.sameList(a, b, depth+1))
	case reflect.Array:
		return d.sameList(a, b, depth)
	}
	return true // functions, channels and unsafe pointers are shared
}

// in notes that the difference is in the memory that a refers to. If memory further inside has been noted already, in
// keeps that.
func (d *differ) in(a reflect.Value, same bool) bool {
	if !same && d.memory == 0 {
		d.memory = a.Pointer()
	}
	return same
}

// again reports whether the comparison has already followed this pair of references, and may be inside of it.
func (d *differ) again(a, b reflect.Value, depth int) bool {
	if depth < suspiciouslyDeep && a.Kind() != reflect.Pointer {
		return false
	}
	pair := [2]uintptr{a.Pointer(), b.Pointer()}
	if d.seen[pair] {
		return true
	}
	d.seen[pair] = true
	return false
}

func (d *differ) sameStruct(a, b reflect.Value, depth int) bool {
	for i := range a.NumField() {
		if d.same(a.Field(i), b.Field(i), depth) {
			continue
		}
		f := a.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name != "" && name != "-":
			return d.step(".%s", name)
		case f.Anonymous:
			return false // its fields belong to the outer struct
		}
		return d.step(".%s", f.Name)
	}
	return true
}

func (d *differ) sameMap(a, b reflect.Value, depth int) bool {
	differing := reflect.Value{}
	note := func(k reflect.Value) {
		if !differing.IsValid() || k.Kind() == reflect.String && k.String() < differing.String() {
			differing = k // the first by name, so that the answer is the same each time
		}
	}
	for it := a.MapRange(); it.Next(); {
		value := b.MapIndex(it.Key())
		if !value.IsValid() {
			note(it.Key())
		}
	}
	for it := b.MapRange(); it.Next(); {
		if !a.MapIndex(it.Key()).IsValid() {
			note(it.Key())
		}
	}
	if differing.IsValid() {
		return d.stepKey(differing)
	}
	for it := a.MapRange(); it.Next(); {
		if !d.same(it.Value(), b.MapIndex(it.Key()), depth) {
			return d.stepKey(it.Key())
		}
	}
	return true
}

func (d *differ) stepKey(k reflect.Value) bool {
	if k.Kind() == reflect.Interface {
		k = k.Elem()
	}
	if k.Kind() == reflect.String {
		return d.step("[%s]", strconv.Quote(k.String()))
	}
	return d.step("[%v]", k)
}

func (d *differ) sameList(a, b reflect.Value, depth int) bool {
	for i := range min(a.Len(), b.Len()) {
		if !d.same(a.Index(i), b.Index(i), depth) {
			return d.step("[%d]", i)
		}
	}
	if a.Len() != b.Len() {
		return d.step("[%d]", min(a.Len(), b.Len()))
	}
	return true
}
