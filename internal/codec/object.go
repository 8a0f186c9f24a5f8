package codec

import (
	"encoding"
	"reflect"
	"strconv"

	"github.com/bowline-go/bowline/internal/jsonlex"
)

// structure decodes the members of an object, from the position after its opening brace, into the fields of a struct.
// It checks and skips members that have no field. It does not look for duplicates among these, because they make no
// difference.
//
// Most objects have the same members as the last one of their type, in the same order, so the decoder guesses each
// member from the one before it. A right guess saves the search for the end of the name, and for the field.
func (d *decoder) structure(p *plan, to place, i int) int {
	data := d.data
	if d.depth++; d.depth > maxDepth {
		return broken
	}
	var seen fieldSet
	var failed []failure
	guesses, last := d.guessesOf(p.structPlan), 0
	i, ended := afterOpen(data, i, '}')
	for i >= 0 && !ended {
		at, value := int(guesses[last]), broken
		if at < len(p.fields) {
			value = afterMember(data, i, p.fields[at].member)
		}
		if value < 0 {
			if at, value = d.member(p.structPlan, i); value < 0 {
				return broken
			}
			if at < 0 {
				if d.strict {
					return d.unknown(p, i)
				}
				if !d.lossy {
					d.lossy = d.loses(to, i, value)
				}
				if i = d.after(value); i >= 0 {
					i, ended = afterComma(data, i, '}')
				}
				continue
			}
			guesses[last] = uint16(at)
		}
		last = at + 1
		f := &p.fields[at]
		field := to.field(f.offset)
		if f.hops != nil {
			if field, i = d.hop(f, field, value); i < 0 {
				if i = d.memberFails(&failed, at, step{name: f.name, kind: stepField}, i); i < 0 {
					return broken
				}
				i, ended = afterComma(data, i, '}')
				continue
			}
		}
		if !seen.add(at) {
			d.reset(f, field)
			failed = forget(failed, at)
		}
		if i = d.value(f.plan, field, value); i < 0 {
			if i = d.memberFails(&failed, at, step{name: f.name, kind: stepField}, i); i < 0 {
				return broken
			}
		}
		i, ended = afterComma(data, i, '}')
	}
	d.depth--
	if len(failed) > 0 && i >= 0 {
		return d.fieldFails(p.structPlan, failed, i)
	}
	return i
}

// hop follows embedded pointers to a field, and allocates the structs that they point to. It returns i, the position
// of the value; or, if a pointer cannot be set, the position where decoding goes on.
func (d *decoder) hop(f *field, to place, i int) (field place, next int) {
	for _, h := range f.hops {
		target := to.pointer()
		if target.isNil() {
			if h.hidden {
				if next = d.after(i); next < 0 {
					return to, broken
				}
				return to, d.refuse(reflect.PointerTo(h.typ), i, next, errHidden)
			}
			target = newPlace(h.typ)
			to.point(target)
		}
		to = target.field(h.offset)
	}
	return to, i
}

// afterMember returns the position of the value, if that name and its colon are at i.
func afterMember(data []byte, i int, member string) int {
	end := i + len(member)
	if end >= len(data) || string(data[i:end]) != member {
		return broken
	}
	return jsonlex.SkipSpace(data, end)
}

// guessesOf returns, for the start and for each field, the index of the field that came next.
func (d *decoder) guessesOf(s *structPlan) []uint16 {
	end := s.guesses + len(s.fields) + 1
	if end > len(d.guesses) {
		d.guesses = append(d.guesses, make([]uint16, end-len(d.guesses))...)
	}
	return d.guesses[s.guesses:end]
}

// member reads the name at i. It returns the index of its field, or a negative number, and where the value begins.
func (d *decoder) member(s *structPlan, i int) (at, value int) {
	if d.data[i] != '"' {
		return 0, broken
	}
	end, plain := jsonlex.StringEnd(d.data, i)
	if end < 0 {
		return 0, broken
	}
	name := d.data[i+1 : end-1]
	if !plain {
		d.unquote = jsonlex.AppendUnquoted(d.unquote[:0], name)
		name = d.unquote
	}
	return s.find(name), afterColon(d.data, end)
}

// name decodes the name of a member of a map, and returns where its value begins.
func (d *decoder) name(i int) (string, int) {
	if d.data[i] != '"' {
		return "", broken
	}
	s, i := d.string(i)
	if i < 0 {
		return "", broken
	}
	return s, afterColon(d.data, i)
}

// stringMap decodes a map[string]string. Names and values wait on the stack until their number is known.
func (d *decoder) stringMap(p *plan, to place, i int) int {
	if d.data[i] != '{' {
		return d.mismatch(p.typ, i)
	}
	if d.depth++; d.depth > maxDepth {
		return broken
	}
	first := len(d.strings)
	var failed []failure
	i, ended := afterOpen(d.data, i+1, '}')
	for i >= 0 && !ended {
		var name, value string
		if name, i = d.name(i); i < 0 {
			return broken
		}
		switch d.data[i] {
		case '"':
			value, i = d.string(i)
		case 'n':
			i = afterLiteral(d.data, i, "null")
		default:
			i = d.mismatch(stringType, i)
		}
		d.strings = append(d.strings, name, value)
		if i < 0 {
			if i = d.memberFails(&failed, (len(d.strings)-first)/2-1, step{name: name, kind: stepKey}, i); i < 0 {
				return broken
			}
		}
		i, ended = afterComma(d.data, i, '}')
	}
	if i < 0 {
		return broken
	}
	d.depth--
	pairs := d.strings[first:]
	if failed != nil && d.entryFails(failed, pairs, 2) {
		d.popStrings(first)
		return ^i
	}
	m := make(map[string]string, len(pairs)/2)
	for ; len(pairs) > 0; pairs = pairs[2:] {
		m[pairs[0]] = pairs[1]
	}
	*as[map[string]string](to) = m
	d.popStrings(first)
	return i
}

// mapping decodes any other map. The names and values wait until their number is known.
func (d *decoder) mapping(p *plan, to place, i int) int {
	if d.data[i] != '{' || p.key == keyNone {
		return d.mismatch(p.typ, i)
	}
	if d.depth++; d.depth > maxDepth {
		return broken
	}
	first := len(d.strings)
	var failed []failure
	var keys reflect.Value
	if p.key != keyString {
		keys = reflect.New(reflect.SliceOf(p.typ.Key())).Elem()
	}
	s := d.borrow(p)
	i, ended := afterOpen(d.data, i+1, '}')
	for i >= 0 && !ended {
		var name string
		start := i
		if name, i = d.name(i); i < 0 {
			return broken
		}
		d.strings = append(d.strings, name)
		n := len(d.strings) - first - 1
		unfit := error(nil)
		if p.key != keyString {
			unfit = appendKey(p, keys, name)
		}
		if i = d.value(p.elem, s.next(p), i); i >= 0 && unfit != nil {
			i = d.refuse(p.typ.Key(), start, i, unfit)
		}
		if i < 0 {
			if i = d.memberFails(&failed, n, step{name: name, kind: stepKey}, i); i < 0 {
				return broken
			}
		}
		i, ended = afterComma(d.data, i, '}')
	}
	if i < 0 {
		return broken
	}
	d.depth--
	names := d.strings[first:]
	if failed != nil && d.entryFails(failed, names, 1) {
		d.popStrings(first)
		return ^i // the scratch is not given back
	}
	m := reflect.MakeMapWithSize(p.typ, len(names))
	for n := range names {
		key := keys
		if p.key == keyString {
			key = placeOf(&names[n]).value(p.typ.Key())
		} else {
			key = keys.Index(n)
		}
		m.SetMapIndex(key, s.values.Index(n))
	}
	to.value(p.typ).Set(m)
	d.popStrings(first)
	d.giveBack(p, s)
	return i
}

// appendKey appends the map key for the name of a member.
func appendKey(p *plan, keys reflect.Value, name string) (unfit error) {
	n := keys.Len()
	keys.Grow(1)
	keys.SetLen(n + 1)
	key := keys.Index(n)
	switch p.key {
	case keyText:
		return key.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(name))
	case keyInt:
		v, err := strconv.ParseInt(name, 10, key.Type().Bits())
		key.SetInt(v)
		return numberError(err)
	default:
		v, err := strconv.ParseUint(name, 10, key.Type().Bits())
		key.SetUint(v)
		return numberError(err)
	}
}

// popStrings removes the strings from first on from the stack.
func (d *decoder) popStrings(first int) {
	clear(d.strings[first:])
	d.strings = d.strings[:first]
}
