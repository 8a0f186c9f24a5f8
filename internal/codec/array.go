package codec

import "reflect"

// scratch holds the elements of a slice or the values of a map until their number is known, so that the slice has no
// spare capacity. The memory behind its elements is zero.
type scratch struct {
	values reflect.Value // a settable slice whose length is its capacity
	used   int
	result reflect.Value // a settable nil slice
}

// largestScratch is how many bytes are kept for the next document.
const largestScratch = 1 << 15

// borrow takes the scratch of a plan. Until the scratch is given back, another borrow for the same plan, as for a type
// that contains itself, makes a new one.
func (d *decoder) borrow(p *plan) scratch {
	at := d.scratchOf(p)
	s := *at
	*at = scratch{}
	return s
}

// scratchOf returns the scratch of a plan, without taking it.
func (d *decoder) scratchOf(p *plan) *scratch {
	if p.id >= len(d.scratch) {
		d.scratch = append(d.scratch, make([]scratch, p.id+1-len(d.scratch))...)
	}
	s := &d.scratch[p.id]
	if !s.values.IsValid() {
		s.values = reflect.New(p.slice).Elem()
		s.result = reflect.New(p.slice).Elem()
	}
	return s
}

// extend makes the slice at a place longer by n zero values, and returns the place of the first one.
func (d *decoder) extend(p *plan, to place, n int) place {
	if !to.isEmptySlice() {
		s := to.value(p.typ)
		before := s.Len()
		s.Grow(n)
		s.SetLen(before + n)
		return to.elements().field(uintptr(before) * p.elem.size)
	}
	s := d.scratchOf(p).result
	s.Grow(n)
	s.SetLen(n)
	to.setSlice(s)
	s.SetZero()
	return to.elements()
}

// next returns the place of one more element. Earlier places may have moved.
func (s *scratch) next(p *plan) place {
	if s.used == s.values.Len() {
		s.values.Grow(max(4, s.used))
		s.values.SetLen(s.values.Cap())
	}
	s.used++
	return s.at(p, s.used-1)
}

// giveBack empties the scratch and keeps it.
func (d *decoder) giveBack(p *plan, s scratch) {
	room := s.values.Len()
	if uintptr(room)*p.elem.size > largestScratch {
		return
	}
	s.values.SetLen(s.used)
	s.values.Clear()
	s.values.SetLen(room)
	s.used = 0
	d.scratch[p.id] = s
}

// slice decodes an array into a slice.
func (d *decoder) slice(p *plan, to place, i int) int {
	if d.data[i] != '[' {
		return d.mismatch(p.typ, i)
	}
	if d.depth++; d.depth > maxDepth {
		return broken
	}
	s := d.borrow(p)
	i, ended := afterOpen(d.data, i+1, ']')
	for i >= 0 && !ended {
		if i = d.value(p.elem, s.next(p), i); i < 0 {
			d.depth--
			return d.elementFails(s.used-1, i) // the scratch is not given back
		}
		i, ended = afterComma(d.data, i, ']')
	}
	if i < 0 {
		return broken
	}
	if s.used == 0 {
		s.result.Set(p.empty)
	} else {
		s.result.Grow(s.used)
		s.result.SetLen(s.used)
		reflect.Copy(s.result, s.values)
	}
	to.setSlice(s.result)
	s.result.SetZero()
	d.giveBack(p, s)
	d.depth--
	return i
}

// stringSlice decodes an array into a []string.
func (d *decoder) stringSlice(p *plan, to place, i int) int {
	if d.data[i] != '[' {
		return d.mismatch(p.typ, i)
	}
	if d.depth++; d.depth > maxDepth {
		return broken
	}
	first := len(d.strings)
	i, ended := afterOpen(d.data, i+1, ']')
	for i >= 0 && !ended {
		var s string
		switch d.data[i] {
		case '"':
			s, i = d.string(i)
		case 'n':
			i = afterLiteral(d.data, i, "null")
		default:
			i = d.mismatch(stringType, i)
		}
		if i < 0 {
			n := len(d.strings) - first
			d.popStrings(first)
			d.depth--
			return d.elementFails(n, i)
		}
		d.strings = append(d.strings, s)
		i, ended = afterComma(d.data, i, ']')
	}
	if i < 0 {
		return broken
	}
	all := make([]string, len(d.strings)-first)
	copy(all, d.strings[first:])
	*as[[]string](to) = all
	d.popStrings(first)
	d.depth--
	return i
}

// array decodes an array into a Go array, whose length says how many elements are decoded. Further elements are only
// checked.
func (d *decoder) array(p *plan, to place, i int) int {
	if d.data[i] != '[' {
		return d.mismatch(p.typ, i)
	}
	if d.depth++; d.depth > maxDepth {
		return broken
	}
	i, ended := afterOpen(d.data, i+1, ']')
	for n := 0; i >= 0 && !ended; n++ {
		if n >= p.length {
			i = d.after(i)
		} else {
			i = d.value(p.elem, to.field(uintptr(n)*p.elem.size), i)
		}
		if i < 0 {
			d.depth--
			return d.elementFails(n, i)
		}
		i, ended = afterComma(d.data, i, ']')
	}
	if i < 0 {
		return broken
	}
	d.depth--
	return i
}
