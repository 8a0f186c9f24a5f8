package codec

import (
	"reflect"
	"runtime"
	"unsafe"
	"weak"
)

// All unsafe code of this package is in this file. Its rules:
//
//   - A place is memory that was allocated as the type of the plan that fills it (newPlace, scratch.at), or such a
//     place moved by the offset of a field that reflect gave for that type (field). So it never leaves its object and
//     is always aligned.
//   - A value that is stored through a place has the type of the place, or one of the same layout: the shape of the
//     plan decides how a place is used, and a plan has a shape only if its type has that layout. Stores of pointers
//     are ordinary assignments, which the garbage collector sees.
//   - A value that is shared is stored only in a place for its type, because a part belongs to one plan.
//   - A place in a scratch is used only until the scratch is asked for the next one, which may move it.
//
// Everything else uses reflect or is ordinary Go: strings are cut by strings.Builder, slices and maps are made by
// reflect. Setting fields by reflect too would cost a fifth of the time of a pod.

// place is the place of a value in memory.
type place struct{ p unsafe.Pointer }

// newPlace allocates a zero t.
func newPlace(t reflect.Type) place { return place{reflect.New(t).UnsafePointer()} }

// placeOf returns the place that v points to.
func placeOf[T any](v *T) place { return place{unsafe.Pointer(v)} }

// field is the place of a field.
func (l place) field(offset uintptr) place { return place{unsafe.Add(l.p, offset)} }

// value returns the place as a reflect.Value, which is addressable and can be set.
func (l place) value(t reflect.Type) reflect.Value { return reflect.NewAt(t, l.p).Elem() }

// method returns a pointer to the value, for its methods.
func (l place) method(t reflect.Type) any { return reflect.NewAt(t, l.p).Interface() }

// address returns a pointer to the value, as a t, which is a pointer type.
func (l place) address(t reflect.Type) any {
	v := reflect.NewAt(t.Elem(), l.p)
	if v.Type() != t { // t has a name
		v = v.Convert(t)
	}
	return v.Interface()
}

// as returns a pointer to the value, as a T. T must have the layout of the type that is there.
func as[T any](l place) *T { return (*T)(l.p) }

// pointer returns the place that the pointer at l points to.
func (l place) pointer() place { return place{*(*unsafe.Pointer)(l.p)} }

// point makes the pointer at l point to another place.
func (l place) point(to place) { *(*unsafe.Pointer)(l.p) = to.p }

func (l place) isNil() bool { return l.p == nil }

// isEmpty reports whether the pointer, slice or map at l is nil.
func (l place) isEmpty() bool { return l.pointer().isNil() }

// isEmptySlice reports whether the slice at l has no elements. All slices have the same layout.
func (l place) isEmptySlice() bool { return len(*(*[]byte)(l.p)) == 0 }

// setInt stores an integer of the size of the type that is there; it must fit. With two's complement, the sign does
// not matter.
func (l place) setInt(size uintptr, v uint64) {
	switch size {
	case 1:
		*(*uint8)(l.p) = uint8(v)
	case 2:
		*(*uint16)(l.p) = uint16(v)
	case 4:
		*(*uint32)(l.p) = uint32(v)
	case 8:
		*(*uint64)(l.p) = v
	}
}

// setSlice stores a slice in the place for a slice of the same elements. All slices have the same layout.
func (l place) setSlice(v reflect.Value) {
	*(*slice)(l.p) = slice{v.UnsafePointer(), v.Len(), v.Cap()}
}

// elements is the place of the first element of the slice at l.
func (l place) elements() place { return place{as[slice](l).elements} }

// slice is the layout of a slice.
type slice struct {
	elements unsafe.Pointer
	len, cap int
}

// at returns the place of an element.
func (s *scratch) at(p *plan, i int) place {
	return place{unsafe.Add(s.values.UnsafePointer(), uintptr(i)*p.elem.size)}
}

// held is the memory that the pointer, slice or map of a part refers to. It does not keep this memory alive.
type held struct {
	to  weak.Pointer[byte]
	len int // of a slice
}

// lives reports whether an object still has the part.
func (h held) lives() bool { return h.to.Value() != nil }

// hold returns what the pointer, slice or map at l refers to, or false if it refers to no memory.
func (l place) hold(s shape) (h held, ok bool) {
	if s == shapeSlice || s == shapeStrings {
		h.len = as[slice](l).len
		if h.len == 0 {
			return h, false
		}
	}
	to := l.pointer() // a slice begins with a pointer, and a map is a pointer
	h.to = weak.Make((*byte)(to.p))
	return h, !to.isNil()
}

// refer makes the pointer, slice or map at l refer to what h held, or returns false if that is gone. A slice has no
// spare capacity, so that append copies it.
func (l place) refer(h held, s shape) bool {
	to := unsafe.Pointer(h.to.Value())
	if to == nil {
		return false
	}
	if s == shapeSlice || s == shapeStrings {
		*(*slice)(l.p) = slice{to, h.len, h.len}
	} else {
		*(*unsafe.Pointer)(l.p) = to
	}
	return true
}

// onFree makes the garbage collector call f.forget after it has freed the memory that the pointer, slice or map at l
// refers to.
func (l place) onFree(f freed) { runtime.AddCleanup((*byte)(l.pointer().p), freed.forget, f) }
