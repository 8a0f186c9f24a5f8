package codec

import "reflect"

// structure decodes the members of an object, from behind its brace, into the fields of a struct. Members that have no field
// are checked and passed over; that such a name is there twice makes no difference, so nobody looks.
//
// Most objects have the members that the last one of their type had, in the same order, so that each is guessed from the one
// before it. A guess that is right saves looking for the end of the name, and for the field.
func (d *decoder) structure(p *plan, to place, i int) int {
	data := d.data
	if d.depth++; d.depth > maxDepth {
		return giveUp
	}
	var seen fieldSet
	guesses, last := d.guessesOf(p.structPlan), 0
	i, ended := afterOpen(data, i, '}')
	for i >= 0 && !ended {
		at, value := int(guesses[last]), giveUp
		if at < len(p.fields) {
			value = afterMember(data, i, p.fields[at].member)
		}
		if value < 0 {
			if at, value = d.member(p.structPlan, i); value < 0 {
				return giveUp
			}
			if at < 0 {
				if !d.lossy {
					d.lossy = d.loses(to, i, value)
				}
				if i = d.after(value); i >= 0 {
					i, ended = afterComma(data, i, '}')
				}
				continue
			}
			guesses[last] = uint8(at)
		}
		if !seen.add(at) {
			return giveUp
		}
		last = at + 1
		f := &p.fields[at]
		if i = d.value(f.plan, to.field(f.offset), value); i >= 0 {
			i, ended = afterComma(data, i, '}')
		}
	}
	d.depth--
	return i
}

// afterMember returns where the value begins, if what stands at i is that name with its colon.
func afterMember(data []byte, i int, member string) int {
	end := i + len(member)
	if end >= len(data) || string(data[i:end]) != member {
		return giveUp
	}
	return afterSpace(data, end)
}

// guessesOf returns, for the start and for each field, the index of the field that came next.
func (d *decoder) guessesOf(s *structPlan) []uint8 {
	end := s.guesses + len(s.fields) + 1
	if end > len(d.guesses) {
		d.guesses = append(d.guesses, make([]uint8, end-len(d.guesses))...)
	}
	return d.guesses[s.guesses:end]
}

// member reads the name at i. It returns the index of its field, or a negative number, and where the value begins.
func (d *decoder) member(s *structPlan, i int) (at, value int) {
	if d.data[i] != '"' {
		return 0, giveUp
	}
	end, escaped := stringEnd(d.data, i+1)
	if end < 0 || escaped {
		return 0, giveUp
	}
	return s.find(d.data[i+1 : end]), afterColon(d.data, end+1)
}

// name decodes the name of a member of a map, and returns where its value begins.
func (d *decoder) name(i int) (string, int) {
	if d.data[i] != '"' {
		return "", giveUp
	}
	s, i := d.string(i + 1)
	if i < 0 {
		return "", giveUp
	}
	return s, afterColon(d.data, i)
}

// stringMap decodes a map[string]string. Names and values wait on the stack until it is known how many they are.
func (d *decoder) stringMap(to place, i int) int {
	if d.data[i] != '{' || *as[map[string]string](to) != nil {
		return giveUp
	}
	first := len(d.strings)
	i, ended := afterOpen(d.data, i+1, '}')
	for i >= 0 && !ended {
		var name, value string
		if name, i = d.name(i); i < 0 {
			return giveUp
		}
		switch d.data[i] {
		case '"':
			value, i = d.string(i + 1)
		case 'n':
			i = afterLiteral(d.data, i, "null")
		default:
			return giveUp
		}
		d.strings = append(d.strings, name, value)
		if i >= 0 {
			i, ended = afterComma(d.data, i, '}')
		}
	}
	if i < 0 {
		return giveUp
	}
	pairs := d.strings[first:]
	m := make(map[string]string, len(pairs)/2)
	for ; len(pairs) > 0; pairs = pairs[2:] {
		m[pairs[0]] = pairs[1]
	}
	if len(m) < (len(d.strings)-first)/2 { // a name is there twice
		return giveUp
	}
	*as[map[string]string](to) = m
	d.popStrings(first)
	return i
}

// mapping decodes any other map with keys that are strings.
func (d *decoder) mapping(p *plan, to place, i int) int {
	if d.data[i] != '{' || !to.value(p.typ).IsNil() {
		return giveUp
	}
	if d.depth++; d.depth > maxDepth {
		return giveUp
	}
	first := len(d.strings)
	s := d.borrow(p)
	i, ended := afterOpen(d.data, i+1, '}')
	for i >= 0 && !ended {
		var name string
		if name, i = d.name(i); i < 0 {
			return giveUp
		}
		d.strings = append(d.strings, name)
		if i = d.value(p.elem, s.next(p), i); i >= 0 {
			i, ended = afterComma(d.data, i, '}')
		}
	}
	if i < 0 {
		return giveUp
	}
	names := d.strings[first:]
	m := reflect.MakeMapWithSize(p.typ, len(names))
	for n := range names {
		m.SetMapIndex(placeOf(&names[n]).value(p.typ.Key()), s.values.Index(n))
	}
	if m.Len() < len(names) { // a name is there twice
		return giveUp
	}
	to.value(p.typ).Set(m)
	d.popStrings(first)
	d.giveBack(p, s)
	d.depth--
	return i
}

// popStrings takes the strings from first on off the stack.
func (d *decoder) popStrings(first int) {
	clear(d.strings[first:])
	d.strings = d.strings[:first]
}
