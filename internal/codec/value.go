package codec

import (
	"encoding"
	"encoding/base64"
	stdjson "encoding/json"
	"strconv"
	"time"
)

// value decodes the value at i into a place for the plan's type, and returns the position behind it, or giveUp.
//
// The place is zero, except for the kind and apiVersion that Decode may have put there. As in encoding/json, null leaves
// booleans, numbers, strings and structs as they are, and makes the others nil.
func (d *decoder) value(p *plan, to place, i int) int {
	data := d.data
	if uint(i) >= uint(len(data)) {
		return giveUp
	}
	c := data[i]
	if c == 'n' && p.null != nullIsDecoded {
		if p.null == nullEmpties {
			to.value(p.typ).SetZero()
		}
		return afterLiteral(data, i, "null")
	}
	switch p.shape {
	case shapeString:
		if c != '"' {
			return giveUp
		}
		s, next := d.string(i + 1)
		*as[string](to) = s
		return next
	case shapeBool:
		if c == 't' {
			*as[bool](to) = true
			return afterLiteral(data, i, "true")
		}
		*as[bool](to) = false
		return afterLiteral(data, i, "false")
	case shapeInt:
		return d.int(p, to, i)
	case shapeUint:
		v, negative, next := integer(data, i)
		if next < 0 || negative || p.size < 8 && v>>(8*p.size) != 0 {
			return giveUp
		}
		to.setInt(p.size, v)
		return next
	case shapeFloat64:
		v, next := d.float(i, 64)
		*as[float64](to) = v
		return next
	case shapeFloat32:
		v, next := d.float(i, 32)
		*as[float32](to) = float32(v)
		return next
	case shapePointer:
		target := to.pointer()
		if target.isNil() {
			target = newPlace(p.elem.typ)
			to.point(target)
		}
		return d.value(p.elem, target, i)
	case shapeStruct:
		if c != '{' {
			return giveUp
		}
		return d.structure(p, to, i+1)
	case shapeSlice:
		return d.slice(p, to, i)
	case shapeStrings:
		return d.stringSlice(to, i)
	case shapeBytes:
		return d.bytes(p, to, i)
	case shapeMap:
		return d.mapping(p, to, i)
	case shapeStringMap:
		return d.stringMap(to, i)
	case shapeAny:
		v, next := d.any(i)
		*as[any](to) = v
		return next
	case shapeAnyMap:
		if c != '{' {
			return giveUp
		}
		v, next := d.anyMap(i + 1)
		*as[map[string]any](to) = v
		return next
	case shapeRaw:
		next := d.afterUnique(i)
		if next >= 0 {
			*as[stdjson.RawMessage](to) = append(stdjson.RawMessage(nil), data[i:next]...)
		}
		return next
	case shapeJSON:
		next := d.afterUnique(i)
		if next < 0 {
			return giveUp
		}
		return d.method(p, to, i, next)
	case shapeMoment:
		next := d.afterUnique(i)
		if next < 0 {
			return giveUp
		}
		return d.moment(p, to, i, next)
	case shapeText:
		s, next := d.quoted(i)
		if next < 0 || to.method(p.typ).(encoding.TextUnmarshaler).UnmarshalText(s) != nil {
			return giveUp
		}
		return next
	case shapeTime:
		s, next := d.quoted(i)
		if next < 0 || as[time.Time](to).UnmarshalText(s) != nil { // the library accepts more
			return giveUp
		}
		return next
	}
	return giveUp
}

// string decodes a string whose first character is at i.
func (d *decoder) string(i int) (string, int) {
	end, escaped := stringEnd(d.data, i)
	if end < 0 {
		return "", giveUp
	}
	s := d.data[i:end]
	if escaped {
		d.unquote = appendUnquoted(d.unquote[:0], s)
		s = d.unquote
	}
	return d.text.string(s), end + 1
}

// quoted returns what the string at i reads; of one without escapes it is part of the document.
func (d *decoder) quoted(i int) ([]byte, int) {
	if d.data[i] != '"' {
		return nil, giveUp
	}
	end, escaped := stringEnd(d.data, i+1)
	if end < 0 {
		return nil, giveUp
	}
	s := d.data[i+1 : end : end]
	if escaped {
		s = appendUnquoted(nil, s)
	}
	return s, end + 1
}

func (d *decoder) int(p *plan, to place, i int) int {
	v, negative, next := integer(d.data, i)
	limit := uint64(1) << (8*p.size - 1) // of negative numbers; others end one below
	if next < 0 || v > limit || v == limit && !negative {
		return giveUp
	}
	if negative {
		v = -v
	}
	to.setInt(p.size, v)
	return next
}

func (d *decoder) float(i, bits int) (float64, int) {
	end := numberEnd(d.data, i)
	if end < 0 {
		return 0, giveUp
	}
	v, err := strconv.ParseFloat(string(d.data[i:end]), bits)
	if err != nil {
		return 0, giveUp
	}
	return v, end
}

// bytes decodes base64. An array of numbers, which is possible too, is for the library.
func (d *decoder) bytes(p *plan, to place, i int) int {
	s, next := d.quoted(i)
	if next < 0 || !to.value(p.typ).IsNil() {
		return giveUp
	}
	b := make([]byte, base64.StdEncoding.DecodedLen(len(s)))
	n, err := base64.StdEncoding.Decode(b, s)
	if err != nil {
		return giveUp
	}
	to.value(p.typ).SetBytes(b[:n])
	return next
}
