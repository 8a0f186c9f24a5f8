package codec

import (
	"encoding"
	"encoding/base64"
	stdjson "encoding/json"
	"errors"
	"reflect"
	"strconv"
	"time"

	"github.com/bowline-go/bowline/internal/jsonlex"
)

// value decodes the value at i into a place for the plan's type, and returns the position after it, broken, or ^next.
//
// The place is zero, except for the kind and apiVersion that Decode may have put there. As in encoding/json, null
// leaves booleans, numbers, strings, arrays and structs as they are, and makes the others nil.
func (d *decoder) value(p *plan, to place, i int) int {
	data := d.data
	if uint(i) >= uint(len(data)) {
		return broken
	}
	c := data[i]
	if c == 'n' && p.null != nullIsDecoded {
		if p.null == nullEmpties {
			to.value(p.typ).SetZero()
		}
		return afterLiteral(data, i, "null")
	}
	if p.shared && d.sharing.table != nil && (c == '{' || c == '[') {
		return d.part(p, to, i)
	}
	switch p.shape {
	case shapeString:
		if c != '"' {
			return d.mismatch(p.typ, i)
		}
		s, next := d.string(i)
		*as[string](to) = s
		return next
	case shapeBool:
		switch c {
		case 't':
			*as[bool](to) = true
			return afterLiteral(data, i, "true")
		case 'f':
			*as[bool](to) = false
			return afterLiteral(data, i, "false")
		}
		return d.mismatch(p.typ, i)
	case shapeInt:
		v, negative, next := integer(data, i)
		limit := uint64(1) << (8*p.size - 1) // for negative numbers; the limit for others is one less
		if next < 0 || v > limit || v == limit && !negative {
			return d.unfitNumber(p, i)
		}
		if negative {
			v = -v
		}
		to.setInt(p.size, v)
		return next
	case shapeUint:
		v, negative, next := integer(data, i)
		if next < 0 || negative || p.size < 8 && v>>(8*p.size) != 0 {
			return d.uint(p, to, i)
		}
		to.setInt(p.size, v)
		return next
	case shapeFloat64:
		v, next := d.float(p.typ, i, 64)
		*as[float64](to) = v
		return next
	case shapeFloat32:
		v, next := d.float(p.typ, i, 32)
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
			return d.mismatch(p.typ, i)
		}
		return d.structure(p, to, i+1)
	case shapeSlice:
		return d.slice(p, to, i)
	case shapeStrings:
		return d.stringSlice(p, to, i)
	case shapeMap:
		return d.mapping(p, to, i)
	case shapeStringMap:
		return d.stringMap(p, to, i)
	case shapeAny:
		v, next := d.any(i)
		*as[any](to) = v
		return next
	case shapeAnyMap:
		if c != '{' {
			return d.mismatch(p.typ, i)
		}
		v, next := d.anyMap(i + 1)
		*as[map[string]any](to) = v
		return next
	}
	if p.shape == shapePassedOver {
		return d.after(i)
	}
	return d.rare(p, to, i)
}

// rare is value for the other shapes.
func (d *decoder) rare(p *plan, to place, i int) int {
	switch p.shape {
	case shapeBytes:
		return d.bytes(p, to, i)
	case shapeArray:
		return d.array(p, to, i)
	case shapeNumber:
		return d.number(p, to, i)
	case shapeQuoted:
		return d.quotedValue(p, to, i)
	case shapeRaw:
		raw, next := d.afterUnique(i)
		if next >= 0 {
			*as[stdjson.RawMessage](to) = append(stdjson.RawMessage(nil), raw...)
		}
		return next
	case shapeJSON, shapeMoment, shapeFrom:
		raw, next := d.afterUnique(i)
		switch {
		case next < 0:
			return broken
		case p.shape == shapeMoment:
			return d.moment(p, to, raw, i, next)
		}
		return d.method(p, to, raw, i, next)
	case shapeText, shapeTime:
		if d.data[i] != '"' {
			return d.mismatch(p.typ, i)
		}
		s, next := d.quoted(i)
		if next < 0 {
			return broken
		}
		var err error
		if p.shape == shapeTime {
			err = as[time.Time](to).UnmarshalText(s)
		} else {
			err = to.method(p.typ).(encoding.TextUnmarshaler).UnmarshalText(s)
		}
		if err != nil {
			return d.refuse(p.typ, i, next, err)
		}
		return next
	}
	next := d.after(i)
	if next >= 0 && p.wrong != nil {
		return d.refuse(p.typ, i, next, p.wrong)
	}
	return d.mismatch(p.typ, i)
}

// method calls UnmarshalJSON, or UnmarshalJSONFrom, for the value from i to next, whose text is raw.
func (d *decoder) method(p *plan, to place, raw []byte, i, next int) int {
	var err error
	if p.shape == shapeFrom {
		err = unmarshalFrom(to.method(p.typ), raw)
	} else {
		err = to.method(p.typ).(stdjson.Unmarshaler).UnmarshalJSON(raw)
	}
	if err != nil {
		return d.refuse(p.typ, i, next, err)
	}
	return next
}

// string decodes the string at i.
func (d *decoder) string(i int) (string, int) {
	end, plain := jsonlex.StringEnd(d.data, i)
	if end < 0 {
		return "", broken
	}
	s := d.data[i+1 : end-1]
	if !plain {
		d.unquote = jsonlex.AppendUnquoted(d.unquote[:0], s)
		s = d.unquote
	}
	return d.text.string(s), end
}

// quoted returns the content of the string at i; without escapes it is a part of the document.
func (d *decoder) quoted(i int) ([]byte, int) {
	end, plain := jsonlex.StringEnd(d.data, i)
	if end < 0 {
		return nil, broken
	}
	s := d.data[i+1 : end-1 : end-1]
	if !plain {
		s = jsonlex.AppendUnquoted(nil, s)
	}
	return s, end
}

// isNumber reports whether a value that begins with c is a number.
func isNumber(c byte) bool { return jsonlex.IsDigit(c) || c == '-' }

// unfitNumber refuses the number at i, which is outside the range of an integer type, or not an integer.
func (d *decoder) unfitNumber(p *plan, i int) int {
	if !isNumber(d.data[i]) {
		return d.mismatch(p.typ, i)
	}
	end := numberEnd(d.data, i)
	if end < 0 {
		return broken
	}
	cause := strconv.ErrRange
	if _, _, next := integer(d.data, i); next < 0 && jsonlex.DigitsEnd(d.data, i+1) != end {
		cause = strconv.ErrSyntax // a fraction or an exponent
	}
	if p.shape == shapeUint && d.data[i] == '-' {
		cause = strconv.ErrSyntax
	}
	return d.refuse(p.typ, i, end, cause)
}

// uint decodes an integer that may have 20 digits.
func (d *decoder) uint(p *plan, to place, i int) int {
	if end := jsonlex.DigitsEnd(d.data, i); p.size == 8 && end == i+20 && numberEnd(d.data, i) == end {
		if v, err := strconv.ParseUint(string(d.data[i:end]), 10, 64); err == nil {
			to.setInt(p.size, v)
			return end
		}
	}
	return d.unfitNumber(p, i)
}

func (d *decoder) float(t reflect.Type, i, bits int) (float64, int) {
	end := numberEnd(d.data, i)
	if end < 0 {
		if isNumber(d.data[i]) {
			return 0, broken
		}
		return 0, d.mismatch(t, i)
	}
	v, err := strconv.ParseFloat(string(d.data[i:end]), bits)
	if err != nil {
		return 0, d.refuse(t, i, end, numberError(err))
	}
	return v, end
}

// numberError returns strconv's cause, without the text.
func numberError(err error) error {
	if number := (*strconv.NumError)(nil); errors.As(err, &number) {
		return number.Err
	}
	return err
}

// number decodes a json.Number as it is written. A string may contain a number.
func (d *decoder) number(p *plan, to place, i int) int {
	data, end := d.data, numberEnd(d.data, i)
	if end >= 0 {
		*as[string](to) = d.text.string(data[i:end])
		return end
	}
	if data[i] != '"' {
		return d.mismatch(p.typ, i)
	}
	s, next := d.quoted(i)
	switch {
	case next < 0:
		return broken
	case numberEnd(s, 0) != len(s) || len(s) == 0:
		return d.refuse(p.typ, i, next, strconv.ErrSyntax)
	}
	*as[string](to) = d.text.string(s)
	return next
}

// bytes decodes base64, ignoring line breaks, or an array of numbers.
func (d *decoder) bytes(p *plan, to place, i int) int {
	switch d.data[i] {
	case '"':
	case '[':
		return d.slice(p, to, i)
	default:
		return d.mismatch(p.typ, i)
	}
	s, next := d.quoted(i)
	if next < 0 {
		return broken
	}
	b := make([]byte, base64.StdEncoding.DecodedLen(len(s)))
	n, err := base64.StdEncoding.Decode(b, s)
	if err != nil {
		return d.refuse(p.typ, i, next, err)
	}
	to.value(p.typ).SetBytes(b[:n])
	return next
}

// quotedValue decodes a field with the tag option string: a JSON value in a string. As in encoding/json, the text in
// the string is less strict than JSON: "01" is a number, and null is null.
func (d *decoder) quotedValue(p *plan, to place, i int) int {
	if d.data[i] != '"' {
		return d.mismatch(p.typ, i)
	}
	s, next := d.quoted(i)
	if next < 0 {
		return broken
	}
	q := p.elem
	if string(s) == "null" && q.shape != shapeNumber {
		if p.null == nullEmpties {
			to.value(p.typ).SetZero()
		}
		return next
	}
	if p.null == nullEmpties {
		target := newPlace(q.typ)
		to.point(target)
		to = target
	}
	if err := d.unquoted(q, to, s); err != nil {
		return d.refuse(p.typ, i, next, err)
	}
	return next
}

// unquoted decodes the content of a string.
func (d *decoder) unquoted(p *plan, to place, s []byte) (err error) {
	if len(s) == 0 {
		return strconv.ErrSyntax
	}
	v, bits := to.value(p.typ), int(8*p.size)
	switch {
	case p.shape == shapeBool && string(s) == "true", p.shape == shapeBool && string(s) == "false":
		v.SetBool(s[0] == 't')
		return nil
	case p.shape == shapeString && s[0] == '"':
		end, plain := jsonlex.StringEnd(s, 0)
		if end != len(s) {
			return strconv.ErrSyntax
		}
		s = s[1 : end-1]
		if !plain {
			s = jsonlex.AppendUnquoted(nil, s)
		}
		v.SetString(d.text.string(s))
		return nil
	case !isNumber(s[0]):
		return strconv.ErrSyntax
	case p.shape == shapeNumber && numberEnd(s, 0) == len(s):
		v.SetString(d.text.string(s))
		return nil
	case p.shape == shapeInt:
		var n int64
		n, err = strconv.ParseInt(string(s), 10, bits)
		v.SetInt(n)
	case p.shape == shapeUint:
		var n uint64
		n, err = strconv.ParseUint(string(s), 10, bits)
		v.SetUint(n)
	case p.shape == shapeFloat32, p.shape == shapeFloat64:
		var n float64
		n, err = strconv.ParseFloat(string(s), bits)
		v.SetFloat(n)
	default:
		return strconv.ErrSyntax
	}
	return numberError(err)
}
