package codec

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/bowline-go/bowline/internal/jsonlex"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/protobuf"
)

// Decode decodes the message of an item into a new value of the type, and stores it in to, which is a pointer to the
// type. Fields whose numbers the table does not have are skipped.
//
// Errors are [*Error]. Decode then leaves the value that to points to as it is.
func (j *Joint) Decode(to any, item jsonstream.Item, o Options) error {
	typed := typeMeta{apiVersion: cmp.Or(item.APIVersion, o.APIVersion), kind: cmp.Or(item.Kind, o.Kind)}
	object := newPlace(j.plan.typ)
	setter, hasSetter := reflect.NewAt(j.plan.typ, object.p).Interface().(interface{ SetTypeMeta(apiVersion, kind string) })
	if !typed.isEmpty() && !hasSetter {
		j.plan.setType(object, typed)
	}
	d := decoders.Get().(*decoder)
	d.depth, d.fault, d.lossy = 0, fault{}, o.Lossy == nil || o.Lossy.Load()
	wasLossy := d.lossy
	d.text.begin(len(item.Raw), &j.text)
	d.share(o.Parts, len(item.Raw))
	ok := d.message(j.message, object, item.Raw)
	d.unshare()
	d.text.end(&j.text)
	var err *Error
	again := !ok && d.fault.more != nil && d.fault.more.cause == errMerged
	if !ok {
		err = &Error{Path: pathOf(d.fault.steps()), Type: d.fault.typ, message: "the protobuf does not fit", steps: d.fault.steps()}
		if d.fault.more != nil && d.fault.more.cause != nil {
			err.cause = d.fault.more.cause
			err.message += wireReason(err.cause)
		}
		err.whole(j.typ)
		d.scratch = nil // it may hold a value that is only partly decoded
	}
	lost := d.lossy && !wasLossy
	d.data, d.fault = nil, fault{}
	d.strings, d.leaf = emptied(d.strings), emptied(d.leaf)
	decoders.Put(d)
	switch {
	case again:
		o.Parts = nil
		return j.Decode(to, item, o)
	case err != nil:
		return err
	case lost:
		o.Lossy.Store(true)
	}
	if hasSetter && !typed.isEmpty() {
		setter.SetTypeMeta(typed.apiVersion, typed.kind)
	}
	reflect.ValueOf(to).Elem().Set(reflect.NewAt(j.plan.typ, object.p))
	return nil
}

// wireReason is reason for errors of protobuf messages.
func wireReason(err error) string {
	for _, known := range []error{
		protobuf.ErrVarint, protobuf.ErrNumber, protobuf.ErrGroup, protobuf.ErrType, protobuf.ErrDouble, protobuf.ErrTime,
		protobuf.ErrRaw, io.ErrUnexpectedEOF, errTooDeep, errNotJSON, errApart,
	} {
		if errors.Is(err, known) {
			return ": " + known.Error()
		}
	}
	return reason(err)
}

// errMerged says that a field occurs twice in an object with shared parts: its second occurrence would be merged into
// a part that other objects have. The object is then decoded again, without sharing. Messages that Kubernetes writes
// have no such fields.
var errMerged = errors.New("a field occurs twice")

// errApart is the cause of an error that never occurs with messages that Kubernetes wrote.
var errApart = errors.New("the parts of a list or a map are not contiguous")

var errTooDeep = errors.New("messages that nest deeper than " + strconv.Itoa(maxMessageDepth) + " levels")

// maxMessageDepth is how deep messages may nest. A level takes a few hundred bytes of stack, and two bytes of the
// message.
const maxMessageDepth = 1000

// malformed ends decoding.
func (d *decoder) malformed(cause error) bool {
	d.fault = fault{more: &details{cause: cause}}
	return false
}

// message decodes a message into a struct. It reports whether that could be done; otherwise d.fault says why not.
func (d *decoder) message(m *joint, to place, b []byte) bool {
	if d.depth++; d.depth > maxMessageDepth {
		return d.malformed(errTooDeep)
	}
	d.sharing.deepest = max(d.sharing.deepest, d.depth)
	// texts has a bit for each jointText field so far, by its number modulo 64. No message of Kubernetes has more
	// fields.
	var texts uint64
	for len(b) > 0 {
		tag := uint64(b[0])
		if tag < 0x80 {
			b = b[1:]
		} else {
			var err error
			if tag, b, err = protobuf.ReadVarint(b); err != nil {
				return d.malformed(err)
			}
		}
		number := tag >> 3
		if number >= uint64(len(m.byNumber)) || m.byNumber[number].shape == jointNone {
			var ok bool
			if b, ok = d.skipField(m, tag, b); !ok {
				return false
			}
			continue
		}
		f := &m.byNumber[number]
		if f.shape == jointText {
			bit := uint64(1) << (number % 64)
			if texts&bit != 0 {
				return d.malformed(errApart)
			}
			texts |= bit
		}
		var ok bool
		if b, ok = d.field(f, tag, to, b); !ok {
			if f.field != nil {
				d.within(step{name: f.field.name, kind: stepField})
			}
			return false
		}
	}
	d.depth--
	return true
}

// skipField skips a field that has no place, and notes what the object would lose.
func (d *decoder) skipField(m *joint, tag uint64, b []byte) (rest []byte, ok bool) {
	number, typ := tag>>3, protobuf.WireType(tag&7)
	if number == 0 || number > math.MaxInt32>>2 {
		return nil, d.malformed(protobuf.ErrNumber)
	}
	rest, err := protobuf.Skip(b, typ)
	if err != nil {
		return nil, d.malformed(err)
	}
	if !d.lossy && !isZero(typ, b) {
		d.lossy = !(m.metadata && d.depth == 2 && slices.Contains(serverNumbers[:], number))
	}
	return rest, true
}

// serverNumbers are the fields of ObjectMeta whose names are in serverSet.
var serverNumbers = [...]uint64{1, 3, 4, 5, 6, 7, 8, 9, 10, 17}

// isZero reports whether the value at the start of b is zero or empty.
func isZero(typ protobuf.WireType, b []byte) bool {
	return (typ == protobuf.Varint || typ == protobuf.Bytes) && b[0] == 0
}

// field decodes a field whose tag has been read, and, if it is repeated, those of the same tag that follow.
func (d *decoder) field(f *jointField, tag uint64, to place, b []byte) (rest []byte, ok bool) {
	typ := protobuf.WireType(tag & 7)
	wire := f.wire
	if f.isMap {
		wire = protobuf.Bytes
	}
	if typ != wire {
		return nil, d.malformed(protobuf.ErrType)
	}
	if f.shape == jointInline {
		content, rest, err := protobuf.ReadBytes(b)
		if err != nil {
			return nil, d.malformed(err)
		}
		d.depth--
		ok := d.message(f.message, to, content)
		d.depth++
		return rest, ok
	}
	if f.omit && len(b) > 0 && isZero(typ, b) {
		f.clear(to)
		return b[1:], true
	}
	to = to.field(f.field.offset)
	if f.field.hops != nil {
		if to, ok = d.follow(f.field, to); !ok {
			return nil, false
		}
	}
	switch f.shape {
	case jointOnce:
		return d.one(&f.jointValue, to, b)
	case jointMembers:
		return d.membersOf(f, to, b)
	}
	n, rest, err := d.count(tag, b)
	switch {
	case err != nil:
		return nil, d.malformed(err)
	case f.shape == jointText:
		ok = d.asText(f, n, to, b)
	case d.sharing.parts == nil:
		ok = d.run(f, n, to, b)
	case !to.isEmpty():
		ok = d.malformed(errMerged)
	default:
		ok = d.messagePart(f.slice, to, b[:len(b)-len(rest)], func(to place, b []byte) bool { return d.run(f, n, to, b) })
	}
	return rest, ok
}

// run decodes n elements of a slice, or entries of a map, that come in a row.
func (d *decoder) run(f *jointField, n int, to place, b []byte) bool {
	switch {
	case f.shape == jointMap && f.slice.shape == shapeStringMap:
		return d.stringEntries(f, n, to, b)
	case f.shape == jointMap:
		return d.entries(f, n, to, b)
	case f.slice.shape == shapeStrings:
		return d.stringList(f, n, to, b)
	}
	return d.list(f, n, to, b)
}

// clear sets a field to zero, because the message has a zero that JSON leaves out. An earlier occurrence of the field
// may have set another value.
func (f *jointField) clear(to place) {
	to = to.field(f.field.offset)
	for _, h := range f.field.hops {
		target := to.pointer()
		if target.isNil() {
			return
		}
		to = target.field(h.offset)
	}
	switch {
	case f.shape != jointOnce:
	case f.op == opString:
		*as[string](to) = ""
	default:
		to.value(f.plan.typ).SetZero()
	}
}

// follow follows embedded pointers to a field, and allocates the structs that they point to.
func (d *decoder) follow(f *field, to place) (place, bool) {
	for _, h := range f.hops {
		target := to.pointer()
		if target.isNil() {
			if h.hidden {
				d.fault = fault{typ: reflect.PointerTo(h.typ), more: &details{cause: errHidden}}
				return to, false
			}
			target = newPlace(h.typ)
			to.point(target)
		}
		to = target.field(h.offset)
	}
	return to, true
}

// one decodes one value, of the wire type that is right for it.
func (d *decoder) one(v *jointValue, to place, b []byte) (rest []byte, ok bool) {
	switch v.op {
	case opString:
		content, rest, err := protobuf.ReadBytes(b)
		if err != nil {
			return nil, d.malformed(err)
		}
		*as[string](to) = d.text.valid(content)
		return rest, true
	case opInt:
		n, rest, err := protobuf.ReadVarint(b)
		if err != nil {
			return nil, d.malformed(err)
		}
		if bits := 64 - 8*v.plan.size; int64(n)<<bits>>bits != int64(n) {
			d.fault = fault{typ: v.plan.typ, more: &details{cause: strconv.ErrRange}}
			return nil, false
		}
		to.setInt(v.plan.size, n)
		return rest, true
	case opBool:
		n, rest, err := protobuf.ReadVarint(b)
		if err != nil {
			return nil, d.malformed(err)
		}
		*as[bool](to) = n != 0
		return rest, true
	case opPointer:
		if v.elem.op == opText { // if its JSON is null, as for a zero time, the pointer stays nil
			return d.leafText(v, to, b)
		}
		if d.sharing.parts != nil && v.wire == protobuf.Bytes {
			return d.pointerPart(v, to, b)
		}
		return d.pointee(v, to, b)
	case opMessage:
		content, rest, err := protobuf.ReadBytes(b)
		if err != nil {
			return nil, d.malformed(err)
		}
		return rest, d.message(v.message, to, content)
	case opBlob:
		content, rest, err := protobuf.ReadBytes(b)
		if err != nil {
			return nil, d.malformed(err)
		}
		to.value(v.plan.typ).SetBytes(bytes.Clone(content))
		return rest, true
	}
	switch {
	case v.op == opOwn:
		return d.own(v, to, b)
	case v.plan.shape == shapeMoment && v.wire == protobuf.Bytes:
		return d.instant(v, to, b)
	}
	return d.leafText(v, to, b)
}

// pointee decodes what the pointer at a place points to.
func (d *decoder) pointee(v *jointValue, to place, b []byte) (rest []byte, ok bool) {
	target := to.pointer()
	if target.isNil() {
		target = newPlace(v.plan.elem.typ)
		to.point(target)
	}
	return d.one(v.elem, target, b)
}

// own decodes a value by a method of its Go type.
func (d *decoder) own(v *jointValue, to place, b []byte) (rest []byte, ok bool) {
	content, rest, err := protobuf.ReadBytes(b)
	if err != nil {
		return nil, d.malformed(err)
	}
	if err := to.method(v.plan.typ).(gogoMessage).Unmarshal(content); err != nil {
		d.fault = fault{typ: v.plan.typ, more: &details{cause: err}}
		return nil, false
	}
	return rest, true
}

// instant decodes a time into a type that isMoment. The result is remembered under the message; see moments.
func (d *decoder) instant(v *jointValue, to place, b []byte) (rest []byte, ok bool) {
	content, rest, err := protobuf.ReadBytes(b)
	if err != nil {
		return nil, d.malformed(err)
	}
	if len(content) == 0 || len(content) > longestMoment || !as[time.Time](to).IsZero() {
		return d.leafText(v, to, b)
	}
	if d.instants == nil {
		d.instants = new(moments)
	}
	m := &d.instants[hash(content)>>(64-momentBits)]
	if m.plan == v.plan && m.typ == v.typ && m.local == time.Local && string(m.text[:m.size]) == string(content) {
		*as[time.Time](to) = m.time
		return rest, true
	}
	if rest, ok = d.leafText(v, to, b); !ok {
		return nil, false
	}
	if made := *as[time.Time](to); len(d.leaf) > 2 && isPlain(made, d.leaf[1:len(d.leaf)-1]) {
		m.plan, m.typ, m.local, m.size, m.time = v.plan, v.typ, time.Local, uint8(copy(m.text[:], content)), made
	}
	return rest, true
}

// leafText decodes a value by its JSON.
func (d *decoder) leafText(v *jointValue, to place, b []byte) (rest []byte, ok bool) {
	rest, err := d.toLeaf(v, b)
	if err != nil {
		return nil, d.malformed(err)
	}
	// An earlier occurrence of the field may have set the place. Decoding JSON would add to a map that is there, and a
	// null would keep a time that is there.
	to.value(v.plan.typ).SetZero()
	return rest, d.fromLeaf(v.plan, to)
}

// toLeaf writes the JSON of a value, or of what a pointer points to, to d.leaf.
func (d *decoder) toLeaf(v *jointValue, b []byte) (rest []byte, err error) {
	switch v.wire {
	case protobuf.Varint:
		var n uint64
		n, rest, err = protobuf.ReadVarint(b)
		d.leaf = protobuf.AppendInt(d.leaf[:0], v.typ, n)
	case protobuf.Fixed64:
		var n float64
		if n, rest, err = protobuf.ReadDouble(b); err == nil {
			d.leaf, err = protobuf.AppendDouble(d.leaf[:0], n)
		}
	default:
		var content []byte
		if content, rest, err = protobuf.ReadBytes(b); err == nil {
			d.leaf, err = protobuf.AppendLeaf(d.leaf[:0], v.typ, content)
		}
	}
	return rest, err
}

// fromLeaf decodes the JSON in d.leaf.
func (d *decoder) fromLeaf(p *plan, to place) bool {
	d.data = d.leaf
	next := d.value(p, to, 0)
	switch {
	case next == len(d.data):
		return true
	case next == broken || next >= 0:
		return d.malformed(errNotJSON)
	}
	return false
}

var errNotJSON = errors.New("a value that is not JSON")

// count returns how many values with one tag come in a row, and the bytes after them. b starts with the first value,
// whose tag has been read.
func (d *decoder) count(tag uint64, b []byte) (n int, rest []byte, err error) {
	typ := protobuf.WireType(tag & 7)
	for next, value := tag, b; next == tag; n++ {
		if rest, err = protobuf.Skip(value, typ); err != nil {
			return 0, nil, err
		}
		if len(rest) == 0 {
			return n + 1, rest, nil
		}
		if next, value, err = protobuf.ReadVarint(rest); err != nil {
			return 0, nil, err
		}
	}
	return n, rest, nil
}

// nextSame skips the tag of the next value in a row. count has checked that there is one.
func nextSame(b []byte) []byte {
	_, rest, _ := protobuf.ReadVarint(b)
	return rest
}

// list decodes the elements of a slice that come in a row.
func (d *decoder) list(f *jointField, n int, to place, b []byte) (ok bool) {
	first := d.extend(f.slice, to, n)
	for i := range n {
		if i > 0 {
			b = nextSame(b)
		}
		if b, ok = d.one(&f.jointValue, first.field(uintptr(i)*f.slice.elem.size), b); !ok {
			d.within(step{index: i})
			return false
		}
	}
	return true
}

// stringList is list for a []string.
func (d *decoder) stringList(f *jointField, n int, to place, b []byte) (ok bool) {
	list := as[[]string](to)
	all := slices.Grow(*list, n)
	for i := range n {
		if i > 0 {
			b = nextSame(b)
		}
		all = append(all, "")
		if b, ok = d.one(&f.jointValue, placeOf(&all[len(all)-1]), b); !ok {
			d.within(step{index: i})
			return false
		}
	}
	*list = all
	return true
}

// entry reads an entry of a map. It returns the key, the bytes that start with the value, and rest, the bytes after the
// entry. found is false if the entry has no value.
func (d *decoder) entry(b []byte, wire protobuf.WireType) (key, value, rest []byte, found, ok bool) {
	content, rest, err := protobuf.ReadBytes(b)
	for err == nil && len(content) > 0 {
		var number int
		var typ protobuf.WireType
		if number, typ, content, err = protobuf.ReadTag(content); err != nil {
			break
		}
		at := content
		if content, err = protobuf.Skip(content, typ); err != nil {
			break
		}
		switch {
		case number == 1 && typ == protobuf.Bytes:
			key, _, _ = protobuf.ReadBytes(at)
		case number == 2 && typ == wire:
			value, found = at, true
		case number <= 2:
			err = protobuf.ErrType
		}
	}
	if err != nil {
		return nil, nil, nil, false, d.malformed(err)
	}
	return key, value, rest, found, true
}

// stringEntries decodes the entries of a map[string]string that come in a row.
func (d *decoder) stringEntries(f *jointField, n int, to place, b []byte) (ok bool) {
	m := as[map[string]string](to)
	if *m == nil {
		*m = make(map[string]string, n)
	}
	for i := range n {
		if i > 0 {
			b = nextSame(b)
		}
		key, value, rest, found, ok := d.entry(b, f.wire)
		if !ok {
			return false
		}
		b = rest
		name, text := d.text.valid(key), ""
		switch {
		case !found:
		case f.op == opString:
			content, _, _ := protobuf.ReadBytes(value) // entry has read it
			text = d.text.valid(content)
		default:
			if text, ok = d.stringOf(&f.jointValue, value); !ok {
				d.within(step{name: name, kind: stepKey})
				return false
			}
		}
		(*m)[name] = text
	}
	return true
}

// membersOf decodes an entry of a map into the field of a struct that has the name of the entry's key.
func (d *decoder) membersOf(f *jointField, to place, b []byte) (rest []byte, ok bool) {
	key, value, rest, found, ok := d.entry(b, f.wire)
	if !ok {
		return nil, false
	}
	at := f.slice.find(key)
	if at < 0 || f.slice.fields[at].plan.shape == shapePassedOver {
		d.lossy = true
		return rest, true
	}
	field := &f.slice.fields[at]
	if !found {
		value = zeros[:]
	}
	if to, ok = d.follow(field, to.field(field.offset)); ok {
		_, ok = d.one(&f.members[at], to, value)
	}
	if !ok {
		d.within(step{name: field.name, kind: stepField})
		return nil, false
	}
	return rest, true
}

// zeros is the zero value of every wire type.
var zeros [8]byte

// asText decodes elements or entries that come in a row: it writes them as one JSON array or object, and decodes that.
func (d *decoder) asText(f *jointField, n int, to place, b []byte) (ok bool) {
	text := []byte{'['}
	if f.isMap {
		text[0] = '{'
	}
	for i := range n {
		if i > 0 {
			b = nextSame(b)
			text = append(text, ',')
		}
		value := b
		var err error
		if f.isMap {
			var key []byte
			var found bool
			if key, value, b, found, ok = d.entry(b, f.wire); !ok {
				return false
			}
			if !found {
				value = zeros[:]
			}
			text = append(jsonlex.AppendQuoted(text, key), ':')
			_, err = d.toLeaf(&f.jointValue, value)
		} else {
			b, err = d.toLeaf(&f.jointValue, value)
		}
		if err != nil {
			return d.malformed(err)
		}
		text = append(text, d.leaf...)
	}
	d.leaf = append(append(d.leaf[:0], text...), text[0]+2) // in ASCII, a closing bracket is the opening one plus 2
	return d.fromLeaf(f.slice, to)
}

// stringOf decodes a value to a string, by its JSON.
func (d *decoder) stringOf(v *jointValue, b []byte) (s string, ok bool) {
	_, ok = d.one(v, placeOf(&s), b)
	return s, ok
}

// entries decodes the entries of any other map that come in a row.
func (d *decoder) entries(f *jointField, n int, to place, b []byte) (ok bool) {
	p := f.slice
	m := to.value(p.typ)
	if m.IsNil() {
		m.Set(reflect.MakeMapWithSize(p.typ, n))
	}
	s := d.borrow(p)
	for i := range n {
		if i > 0 {
			b = nextSame(b)
		}
		key, value, rest, found, ok := d.entry(b, f.wire)
		if !ok {
			return false
		}
		b = rest
		name := d.text.valid(key)
		elem := s.next(p)
		if found {
			if _, ok = d.one(&f.jointValue, elem, value); !ok {
				d.within(step{name: name, kind: stepKey})
				return false
			}
		}
		m.SetMapIndex(placeOf(&name).value(p.typ.Key()), s.values.Index(i))
	}
	d.giveBack(p, s)
	return true
}
