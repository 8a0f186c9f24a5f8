// From a message to JSON.

package protobuf

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/bowline-go/bowline/internal/jsonlex"
)

// maxLevels is how deep messages may nest. The schemas of large custom resources have 60.
const maxLevels = 250

// Errors of a message that JSON cannot express.
var (
	ErrDepth = fmt.Errorf("messages that nest deeper than %d levels", maxLevels)
	ErrRaw   = errors.New("a field that should contain JSON does not")
)

// AppendJSON appends the JSON of a message, whose members have the order of the fields' numbers. It skips fields that
// the table does not have. If the error is not nil, the result must not be used.
func (m *Message) AppendJSON(dst, raw []byte) ([]byte, error) {
	return m.appendJSON(dst, raw, maxLevels)
}

// AppendJSON appends the JSON of an object, whose message is m, with its kind and apiVersion.
func (e Envelope) AppendJSON(dst []byte, m *Message) ([]byte, error) {
	dst = jsonlex.AppendQuoted(append(dst, `{"kind":`...), e.Kind)
	dst = jsonlex.AppendQuoted(append(dst, `,"apiVersion":`...), e.APIVersion)
	dst, err := m.appendMembers(dst, e.Raw, maxLevels)
	return append(dst, '}'), err
}

// atField adds the name of a field to an error that occurred in that field.
func atField(name string, err error) error {
	if err == nil || name == "" {
		return err
	}
	if inner := (*fieldError)(nil); errors.As(err, &inner) {
		return &fieldError{path: name + "." + inner.path, err: inner.err}
	}
	return &fieldError{path: name, err: err}
}

// fieldError is an error in a field.
type fieldError struct {
	path string
	err  error
}

func (e *fieldError) Error() string { return e.path + ": " + e.err.Error() }
func (e *fieldError) Unwrap() error { return e.err }

func (m *Message) appendJSON(dst, raw []byte, levels int) ([]byte, error) {
	if levels <= 0 {
		return dst, ErrDepth
	}
	if m.Whole {
		return m.appendWhole(dst, raw, levels)
	}
	dst, err := m.appendMembers(append(dst, '{'), raw, levels)
	return append(dst, '}'), err
}

// appendMembers appends the members of a message to an object, which is empty if dst ends with its opening brace.
func (m *Message) appendMembers(dst, raw []byte, levels int) ([]byte, error) {
	raw, err := inOrder(raw)
	for len(raw) > 0 && err == nil {
		var number int
		var typ WireType
		var value []byte
		if number, typ, value, err = ReadTag(raw); err != nil {
			break
		}
		f := m.Field(number)
		if f == nil {
			raw, err = Skip(value, typ)
			continue
		}
		dst, raw, err = f.appendMember(dst, raw, levels)
		err = atField(f.Name, err)
	}
	return dst, err
}

// inOrder returns the fields of a message in the order of their numbers, which is the one in which servers write them.
func inOrder(raw []byte) ([]byte, error) {
	last, ordered := 0, true
	for rest := raw; len(rest) > 0; {
		number, typ, value, err := ReadTag(rest)
		if err != nil {
			return nil, err
		}
		ordered = ordered && number >= last
		last = number
		if rest, err = Skip(value, typ); err != nil {
			return nil, err
		}
	}
	if ordered {
		return raw, nil
	}
	type part struct {
		number int
		text   []byte
	}
	var parts []part
	for len(raw) > 0 {
		number, typ, value, _ := ReadTag(raw)
		rest, _ := Skip(value, typ) // checked above
		parts = append(parts, part{number, raw[:len(raw)-len(rest)]})
		raw = rest
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(a.number, b.number) })
	var sorted []byte
	for _, p := range parts {
		sorted = append(sorted, p.text...)
	}
	return sorted, nil
}

// scalar is the value of a field on the wire: a number, or bytes.
type scalar struct {
	bits  uint64
	bytes []byte
}

// readScalar reads a value of the given wire type.
func readScalar(b []byte, typ WireType) (v scalar, rest []byte, err error) {
	switch typ {
	case Varint:
		v.bits, rest, err = ReadVarint(b)
	case Fixed64:
		if len(b) < 8 {
			return v, nil, io.ErrUnexpectedEOF
		}
		v.bits, rest = binary.LittleEndian.Uint64(b), b[8:]
	case Bytes:
		v.bytes, rest, err = ReadBytes(b)
	default:
		err = ErrType
	}
	return v, rest, err
}

// next reads an occurrence of the field at the start of b. It reports false if another field, or nothing, is there.
func (f *Field) next(b []byte) (v scalar, typ WireType, rest []byte, ok bool, err error) {
	if len(b) == 0 {
		return v, 0, b, false, nil
	}
	number, typ, value, err := ReadTag(b)
	if err != nil || number != f.Number {
		return v, 0, b, false, err
	}
	if want := f.Type.Wire(); typ != want && !f.Map && !(f.Repeated && typ == Bytes) || f.Map && typ != Bytes {
		return v, 0, b, false, ErrType
	}
	v, rest, err = readScalar(value, typ)
	return v, typ, rest, err == nil, err
}

// appendMember appends the JSON member of the field at the start of b. It reads all occurrences of the field that
// follow each other, and returns what comes after them.
func (f *Field) appendMember(dst, b []byte, levels int) (_, rest []byte, err error) {
	if f.Inline {
		v, rest, err := f.only(b)
		if err == nil {
			if levels <= 1 {
				return dst, nil, ErrDepth
			}
			dst, err = f.Message.appendMembers(dst, v.bytes, levels-1)
		}
		return dst, rest, err
	}
	start := len(dst)
	if dst[start-1] != '{' {
		dst = append(dst, ',')
	}
	dst = append(dst, f.label...)
	value := len(dst)
	dst, rest, err = f.appendContent(dst, b, levels)
	if err == nil && f.OmitZero && isZero(dst[value:]) {
		dst = dst[:start]
	}
	return dst, rest, err
}

// isZero reports whether a JSON value is that of a zero value.
func isZero(text []byte) bool {
	switch string(text) {
	case `""`, "0", "-0", "false", "null", "{}":
		return true
	}
	return false
}

// appendContent is appendMember for the value alone, without the name.
func (f *Field) appendContent(dst, b []byte, levels int) (_, rest []byte, err error) {
	switch {
	case f.Map:
		return f.appendMap(dst, b, levels)
	case f.Repeated:
		return f.appendArray(dst, b, levels)
	}
	v, rest, err := f.only(b)
	if err != nil {
		return dst, nil, err
	}
	dst, err = f.appendValue(dst, v, levels)
	return dst, rest, err
}

// only is next for a field that is not repeated. If the field occurs more than once, the last scalar or time counts,
// and other messages are merged, as a server does.
func (f *Field) only(b []byte) (v scalar, rest []byte, err error) {
	v, _, rest, _, err = f.next(b)
	for err == nil {
		more, _, after, ok, nextErr := f.next(rest)
		if !ok {
			return v, rest, nextErr
		}
		if f.Type.IsMessage() && f.Type != Time && f.Type != MicroTime {
			v.bytes = append(v.bytes, more.bytes...) // append copies, because the capacity is the length
		} else {
			v = more
		}
		rest = after
	}
	return v, nil, err
}

func (f *Field) appendArray(dst, b []byte, levels int) (_, rest []byte, err error) {
	dst = append(dst, '[')
	for rest = b; ; {
		v, typ, after, ok, err := f.next(rest)
		if err != nil || !ok {
			return append(dst, ']'), rest, err
		}
		rest = after
		if typ == f.Type.Wire() {
			dst = comma(dst, '[')
			if dst, err = f.appendValue(dst, v, levels); err != nil {
				return dst, nil, err
			}
			continue
		}
		for packed := v.bytes; len(packed) > 0; { // numbers without tags
			if v, packed, err = readScalar(packed, f.Type.Wire()); err != nil {
				return dst, nil, err
			}
			dst = comma(dst, '[')
			if dst, err = f.appendValue(dst, v, levels); err != nil {
				return dst, nil, err
			}
		}
	}
}

// comma appends the comma between two elements. Before the first element, after the opening bracket, it appends
// nothing.
func comma(dst []byte, open byte) []byte {
	if dst[len(dst)-1] == open {
		return dst
	}
	return append(dst, ',')
}

func (f *Field) appendMap(dst, b []byte, levels int) (_, rest []byte, err error) {
	dst = append(dst, '{')
	for rest = b; ; {
		entry, _, after, ok, err := f.next(rest)
		if err != nil || !ok {
			return append(dst, '}'), rest, err
		}
		rest = after
		var key, value scalar
		for e := entry.bytes; len(e) > 0; {
			number, typ, content, err := ReadTag(e)
			if err != nil {
				return dst, nil, err
			}
			switch {
			case number == 1 && typ == Bytes:
				key, e, err = readScalar(content, typ)
			case number == 2 && typ == f.Type.Wire():
				value, e, err = readScalar(content, typ)
			case number <= 2:
				err = ErrType
			default:
				e, err = Skip(content, typ)
			}
			if err != nil {
				return dst, nil, err
			}
		}
		dst = append(jsonlex.AppendQuoted(comma(dst, '{'), key.bytes), ':')
		if dst, err = f.appendValue(dst, value, levels); err != nil {
			return dst, nil, atField(string(key.bytes), err)
		}
	}
}

// appendWhole appends the JSON of a message whose JSON is that of one of its fields: the last one present.
func (m *Message) appendWhole(dst, raw []byte, levels int) ([]byte, error) {
	raw, err := inOrder(raw)
	if err != nil {
		return dst, err
	}
	var f *Field
	var at []byte
	for rest := raw; len(rest) > 0; {
		number, typ, value, err := ReadTag(rest)
		if err != nil {
			return dst, err
		}
		if this := m.Field(number); this != nil && this != f {
			f, at = this, rest
		}
		if rest, err = Skip(value, typ); err != nil {
			return dst, err
		}
	}
	if f != nil {
		dst, _, err = f.appendContent(dst, at, levels)
		return dst, err
	}
	switch first := m.Fields[0]; {
	case first.Repeated:
		return append(dst, "[]"...), nil
	case first.Map:
		return append(dst, "{}"...), nil
	case first.Type != Sub:
		return first.appendValue(dst, scalar{}, levels)
	}
	return append(dst, "null"...), nil
}

// appendValue appends the JSON of one value of a field.
func (f *Field) appendValue(dst []byte, v scalar, levels int) ([]byte, error) {
	switch f.Type {
	case Sub:
		return f.Message.appendJSON(dst, v.bytes, levels-1)
	case Int:
		if f.Short {
			v.bits = uint64(int32(v.bits))
		}
		return AppendInt(dst, Int, v.bits), nil
	case Bool, Duration:
		return AppendInt(dst, f.Type, v.bits), nil
	case Double:
		return AppendDouble(dst, math.Float64frombits(v.bits))
	}
	return AppendLeaf(dst, f.Type, v.bytes)
}
