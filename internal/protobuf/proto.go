// From JSON to a message.

package protobuf

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrUnknown means that a JSON object has a member that the table does not have. The error says where.
var ErrUnknown = errors.New("there is no such field")

// AppendProto appends the message of a JSON value, with the fields in the order of their numbers. A member that is
// null is left out. unknown is called with the path of each member that the table does not have, and may return an
// error; nil refuses them with [ErrUnknown]. AppendProto does not write kind and apiVersion; the caller does.
//
// If the error is not nil, the result must not be used.
func (m *Message) AppendProto(dst, text []byte, unknown func(path string) error) ([]byte, error) {
	t, err := readTape(text)
	if err != nil {
		return dst, err
	}
	w := writer{tape: t, unknown: unknown}
	return w.message(dst, m, 0, maxLevels)
}

// AppendElement appends one element to a list in a message. name is the name of the repeated field, and text the JSON
// of the element. unknown is as for [Message.AppendProto].
func (m *Message) AppendElement(dst []byte, name string, text []byte, unknown func(path string) error) ([]byte, error) {
	i := slices.IndexFunc(m.Fields, func(f Field) bool { return f.Name == name && f.Repeated })
	if i < 0 {
		return dst, fmt.Errorf("%s has no list %q", m.Name, name)
	}
	t, err := readTape(text)
	if err != nil {
		return dst, err
	}
	w := writer{tape: t, unknown: unknown, path: []string{name}}
	dst, err = w.value(dst, &m.Fields[i], m.Fields[i].Number, 0, maxLevels)
	return dst, atField(name, err)
}

// writer writes messages.
type writer struct {
	*tape
	unknown func(path string) error
	slots   []int32  // for each member of the messages that are being written: the node of its value, or 0
	path    []string // the path to the message that is being written
}

// message appends the content of a message.
func (w *writer) message(dst []byte, m *Message, at int32, levels int) ([]byte, error) {
	switch {
	case levels <= 0:
		return dst, ErrDepth
	case w.kind(at) == 'n':
		return dst, nil
	case m.Whole:
		return w.whole(dst, m, at, levels)
	case w.kind(at) != '{':
		return dst, w.not("an object", at)
	}
	from := len(w.slots)
	w.slots = append(w.slots, make([]int32, m.members)...)
	defer func() { w.slots = w.slots[:from] }()
	var missing []string
	for i, end := at+1, w.nodes[at].next; i < end; i = w.nodes[i+1].next {
		name := w.string(i)
		slot, ok := m.byName[string(name)]
		switch {
		case !ok && m.Kind && (string(name) == "kind" || string(name) == "apiVersion"):
		case !ok:
			missing = append(missing, string(name))
		case w.slots[from+int(slot)] != 0:
			return dst, atField(string(name), errTwice)
		default:
			w.slots[from+int(slot)] = i + 1
		}
	}
	dst, _, err := w.fields(dst, m, from, levels)
	if err != nil {
		return dst, err
	}
	return dst, w.report(missing)
}

var errTwice = errors.New("the member occurs twice")

// report reports the members that the table does not have.
func (w *writer) report(names []string) error {
	for _, name := range names {
		err := ErrUnknown
		if w.unknown != nil {
			err = w.unknown(strings.Join(append(w.path, name), "."))
		}
		if err != nil {
			return atField(name, err)
		}
	}
	return nil
}

// fields appends those fields of a message whose slots have a value. slot is the first slot of the message. fields
// returns the slot after those of the message.
func (w *writer) fields(dst []byte, m *Message, slot, levels int) (_ []byte, after int, err error) {
	for i := range m.Fields {
		f := &m.Fields[i]
		if !f.Inline {
			if at := w.slots[slot]; at != 0 {
				if dst, err = w.named(dst, f, at, levels); err != nil {
					return dst, slot, atField(f.Name, err)
				}
			}
			slot++
			continue
		}
		after := slot + f.Message.members
		if slices.ContainsFunc(w.slots[slot:after], func(at int32) bool { return at != 0 }) {
			if levels <= 1 {
				return dst, slot, ErrDepth
			}
			var mark int
			dst, mark = begin(dst, f.Number)
			if dst, _, err = w.fields(dst, f.Message, slot, levels-1); err != nil {
				return dst, slot, err
			}
			dst = end(dst, mark)
		}
		slot = after
	}
	return dst, slot, nil
}

// begin appends the tag of a message and a place for its length.
func begin(dst []byte, number int) (_ []byte, mark int) {
	dst = append(AppendTag(dst, number, Bytes), 0)
	return dst, len(dst)
}

// end writes the length of a message that began at mark, and moves it if the length needs more than the place.
func end(dst []byte, mark int) []byte {
	n := len(dst) - mark
	if n < 0x80 {
		dst[mark-1] = byte(n)
		return dst
	}
	var length [binary.MaxVarintLen64]byte
	size := binary.PutUvarint(length[:], uint64(n))
	dst = append(dst, length[:size-1]...) // makes room for the longer length
	copy(dst[mark+size-1:], dst[mark:mark+n])
	copy(dst[mark-1:], length[:size])
	return dst
}

// named appends a field from the value of its member, and adds the member to the path while it does so.
func (w *writer) named(dst []byte, f *Field, at int32, levels int) (_ []byte, err error) {
	w.path = append(w.path, f.Name)
	dst, err = w.field(dst, f, at, levels)
	w.path = w.path[:len(w.path)-1]
	return dst, err
}

// field appends a field.
func (w *writer) field(dst []byte, f *Field, at int32, levels int) (_ []byte, err error) {
	kind, end := w.kind(at), w.nodes[at].next
	switch {
	case kind == 'n':
		return dst, nil
	case f.Map:
		if kind != '{' {
			return dst, w.not("an object", at)
		}
		for i := at + 1; i < end; i = w.nodes[i+1].next {
			if dst, err = w.entry(dst, f, i, levels); err != nil {
				return dst, atField(string(w.string(i)), err)
			}
		}
		return dst, nil
	case f.Repeated:
		if kind != '[' {
			return dst, w.not("an array", at)
		}
		for i, n := at+1, 0; i < end; i, n = w.nodes[i].next, n+1 {
			if dst, err = w.value(dst, f, f.Number, i, levels); err != nil {
				return dst, atField(strconv.Itoa(n), err)
			}
		}
		return dst, nil
	}
	return w.value(dst, f, f.Number, at, levels)
}

// entry appends an entry of a map. Its name is at the node at, and its value at the next one.
func (w *writer) entry(dst []byte, f *Field, at int32, levels int) (_ []byte, err error) {
	dst, mark := begin(dst, f.Number)
	dst = AppendBytes(dst, 1, w.string(at))
	if dst, err = w.value(dst, f, 2, at+1, levels); err != nil {
		return dst, err
	}
	return end(dst, mark), nil
}

// whole appends the content of a message whose JSON is that of one of its fields.
func (w *writer) whole(dst []byte, m *Message, at int32, levels int) ([]byte, error) {
	var chosen *Field
	for i := range m.Fields {
		if f := &m.Fields[i]; chosen == nil && (len(m.Fields) == 1 || f.takes(w.kind(at))) {
			chosen = f
		}
	}
	if chosen == nil {
		return dst, w.not("a value of the right kind", at)
	}
	var err error
	for i := range m.Fields {
		switch f := &m.Fields[i]; {
		case f == chosen:
			if dst, err = w.field(dst, f, at, levels); err != nil {
				return dst, err
			}
		case f.Type == Bool && !f.Repeated && !f.Map:
			dst = AppendVarint(dst, f.Number, 1)
		}
	}
	return dst, nil
}

// takes reports whether the JSON of a field can begin with a byte.
func (f *Field) takes(first byte) bool {
	switch {
	case f.Map:
		return first == '{'
	case f.Repeated:
		return first == '['
	}
	switch f.Type {
	case Sub:
		return first == '{' && !f.Message.Whole
	case Bool:
		return first == 't' || first == 'f'
	case Int, Double:
		return first == '-' || '0' <= first && first <= '9'
	case String, Blob, Time, MicroTime, Duration:
		return first == '"'
	}
	return false
}

// value appends one value as the field with the given number, which is f's own or, in an entry of a map, that of the
// entry's value. It writes null as the zero value.
func (w *writer) value(dst []byte, f *Field, number int, at int32, levels int) ([]byte, error) {
	text, first := w.of(at), w.kind(at)
	switch f.Type {
	case Bool:
		if first != 't' && first != 'f' && first != 'n' {
			return dst, w.not("true or false", at)
		}
		var bit uint64
		if first == 't' {
			bit = 1
		}
		return AppendVarint(dst, number, bit), nil
	case Int:
		n, err := w.integer(f.Short, at)
		return AppendVarint(dst, number, uint64(n)), err
	case Duration:
		if first == 'n' {
			return AppendVarint(dst, number, 0), nil
		}
		s, err := w.text(at)
		if err != nil {
			return dst, err
		}
		d, err := time.ParseDuration(string(s))
		return AppendVarint(dst, number, uint64(d)), err
	case Double:
		v := 0.0
		if first != 'n' {
			if first != '-' && (first < '0' || first > '9') {
				return dst, w.not("a number", at)
			}
			var err error
			if v, err = strconv.ParseFloat(string(text), 64); err != nil {
				return dst, err
			}
		}
		dst = AppendTag(dst, number, Fixed64)
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v)), nil
	case String:
		if first == 'n' {
			return AppendBytes(dst, number, nil), nil
		}
		s, err := w.text(at)
		return AppendBytes(dst, number, s), err
	}
	dst, mark := begin(dst, number)
	dst, err := w.content(dst, f, at, levels)
	return end(dst, mark), err
}

// content appends the bytes of a value that has a length, without that length.
func (w *writer) content(dst []byte, f *Field, at int32, levels int) ([]byte, error) {
	switch {
	case f.Type == Sub:
		return w.message(dst, f.Message, at, levels-1)
	case w.kind(at) == 'n':
		return dst, nil
	}
	switch f.Type {
	case Blob:
		s, err := w.text(at)
		if err != nil {
			return dst, err
		}
		return base64.StdEncoding.AppendDecode(dst, s)
	case Time, MicroTime:
		return w.time(dst, f.Type == MicroTime, at)
	case Quantity:
		if w.kind(at) != '"' {
			if c := w.kind(at); c != '-' && (c < '0' || c > '9') {
				return dst, w.not("a quantity", at)
			}
			return AppendBytes(dst, 1, w.of(at)), nil
		}
		s, err := w.text(at)
		return AppendBytes(dst, 1, bytes.TrimSpace(s)), err
	case IntOrString:
		if w.kind(at) == '"' {
			s, err := w.text(at)
			dst = AppendVarint(AppendVarint(dst, 1, 1), 2, 0)
			return AppendBytes(dst, 3, s), err
		}
		n, err := w.integer(true, at)
		dst = AppendVarint(AppendVarint(dst, 1, 0), 2, uint64(n))
		return AppendBytes(dst, 3, nil), err
	}
	return AppendBytes(dst, 1, w.of(at)), nil // Raw
}

// time appends a time. For the zero time it appends nothing.
func (w *writer) time(dst []byte, micro bool, at int32) ([]byte, error) {
	s, err := w.text(at)
	if err != nil {
		return dst, err
	}
	t, err := time.Parse(time.RFC3339, string(s))
	if err != nil {
		return dst, fmt.Errorf("want a time of RFC 3339, got %.60q", s)
	}
	if t.IsZero() {
		return dst, nil
	}
	nanos := 0
	if micro {
		nanos = t.Nanosecond() / 1000 * 1000
	}
	return AppendVarint(AppendVarint(dst, 1, uint64(t.Unix())), 2, uint64(nanos)), nil
}

// integer reads an integer; null is 0.
func (w *writer) integer(short bool, at int32) (int64, error) {
	first := w.kind(at)
	if first == 'n' {
		return 0, nil
	}
	bits := 64
	if short {
		bits = 32
	}
	n, err := strconv.ParseInt(string(w.of(at)), 10, bits)
	if err != nil {
		return 0, w.not(fmt.Sprintf("an integer of %d bits", bits), at)
	}
	return n, nil
}

// text reads a string.
func (w *writer) text(at int32) ([]byte, error) {
	if w.kind(at) != '"' {
		return nil, w.not("a string", at)
	}
	return w.string(at), nil
}

// not returns the error for a value that is not the wanted one.
func (w *writer) not(want string, at int32) error {
	return fmt.Errorf("want %s, got %.40q", want, w.of(at))
}
