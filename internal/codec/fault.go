package codec

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// fault says why a value does not fit. It is made where the error is found, and gets its path, step by step, on the
// way out of the objects and arrays around it. So nothing is kept while there is no error, and no document is decoded
// twice.
type fault struct {
	typ  reflect.Type // nil for a document that is not JSON
	at   int          // the value's position
	more *details
}

// details are the parts of a fault that many faults do not have. They are separate, so that each fault of a large map
// with many wrong values takes little memory.
type details struct {
	cause error
	path  []step // the innermost first
}

// step is a part of a path: an element of an array, or a member of an object.
type step struct {
	name  string
	index int
	kind  stepKind
}

type stepKind uint8

const (
	stepElement stepKind = iota
	stepField            // of a struct
	stepKey              // of a map
)

// failure is a member that does not fit. It is dropped if a later member of the same name replaces it.
type failure struct {
	fault
	n int // the number of the struct's field or of the map's entry
}

// errUnknown is the cause of a fault about a member without a place.
var errUnknown = errors.New("a member without a field in the type")

func (f *fault) details() *details {
	if f.more == nil {
		f.more = new(details)
	}
	return f.more
}

func (f *fault) steps() []step {
	if f.more == nil {
		return nil
	}
	return f.more.path
}

// within adds a step to the path of the fault.
func (d *decoder) within(s step) {
	m := d.fault.details()
	m.path = append(m.path, s)
}

// mismatch refuses the value at i because of its kind, and skips it.
func (d *decoder) mismatch(t reflect.Type, i int) int {
	next := d.after(i)
	if next < 0 {
		return broken
	}
	d.fault = fault{typ: t, at: i}
	if isTimely(t) {
		d.fault.details().cause = &timeError{text: shownTime(d.data[i:next])}
	}
	return ^next
}

// refuse refuses the value from i to next for another reason.
func (d *decoder) refuse(t reflect.Type, i, next int, cause error) int {
	if isTimely(t) {
		cause = &timeError{shownTime(d.data[i:next]), cause}
	}
	d.fault = fault{typ: t, at: i, more: &details{cause: cause}}
	return ^next
}

// timeError has the text of a time that does not decode. A time is not a secret, and its text is needed to find the
// mistake.
type timeError struct {
	text  string
	cause error // may be nil
}

func (e *timeError) Error() string {
	if e.cause == nil {
		return "got " + e.text
	}
	return e.cause.Error()
}

func (e *timeError) Unwrap() error { return e.cause }

// shownTime returns the JSON of a time for an error message: a string or a number, cut to the length of any time. For
// any other value it returns only the kind of JSON.
func shownTime(raw []byte) string {
	const most = 64
	rest := ""
	switch kind := kindName(raw[0]); {
	case kind != "string" && kind != "number":
		return "a JSON " + kind
	case len(raw) > most:
		raw, rest = raw[:most], "..."
	}
	quoted := strconv.QuoteToASCII(string(raw)) // escapes the quotes that raw has
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`) + rest
}

// isTimely reports whether a type is a time or a duration, or a struct with nothing but one.
func isTimely(t reflect.Type) bool {
	if t == nil {
		return false
	}
	if t.Kind() == reflect.Struct && t.NumField() == 1 && t.Field(0).Anonymous {
		t = t.Field(0).Type
	}
	return t == reflect.TypeFor[time.Time]() || t == reflect.TypeFor[time.Duration]()
}

// memberFails records that a member has failed, and returns where decoding goes on, or broken.
func (d *decoder) memberFails(failed *[]failure, n int, s step, next int) int {
	if next == broken {
		d.within(s)
		return broken
	}
	*failed = append(*failed, failure{d.fault, n})
	d.fault = fault{}
	return ^next
}

// fieldFails makes the fault of a struct from that of its first member that has failed.
func (d *decoder) fieldFails(p *structPlan, failed []failure, next int) int {
	d.fault = failed[0].fault
	d.within(step{name: p.fields[failed[0].n].name, kind: stepField})
	return ^next
}

// forget removes the failures of a field, because a later member of its name counts.
func forget(failed []failure, n int) []failure {
	return slices.DeleteFunc(failed, func(f failure) bool { return f.n == n })
}

// entryFails reports whether one of the failed entries of a map counts. If so, it makes the fault of the map from the
// first one that counts. names has the name of each entry; there are stride strings for each.
func (d *decoder) entryFails(failed []failure, names []string, stride int) bool {
	var last map[string]int // made only if the first failure does not count
	for _, f := range failed {
		name := names[f.n*stride]
		if last == nil && isLast(names[f.n*stride:], stride) || last != nil && last[name] == f.n {
			d.fault = f.fault
			d.within(step{name: strings.Clone(name), kind: stepKey})
			return true
		}
		if last == nil {
			last = make(map[string]int, len(names)/stride)
			for i := 0; i < len(names); i += stride {
				last[names[i]] = i / stride
			}
		}
	}
	return false
}

// isLast reports whether no later entry has the first name.
func isLast(names []string, stride int) bool {
	for i := stride; i < len(names); i += stride {
		if names[i] == names[0] {
			return false
		}
	}
	return true
}

// elementFails makes the fault of an array from that of an element, and skips the elements after it.
func (d *decoder) elementFails(n, next int) int {
	d.within(step{index: n})
	if next == broken {
		return broken
	}
	rest := d.skipper()
	i, ended := afterComma(d.data, ^next, ']')
	for i >= 0 && !ended {
		if i = rest.Skip(i); i >= 0 {
			i, ended = afterComma(d.data, i, ']')
		}
	}
	if i < 0 {
		d.fault = fault{}
		return broken
	}
	return ^i
}

// error returns the fault as an *Error.
func (f *fault) error(data []byte) *Error {
	e := &Error{
		Path: pathOf(f.steps()), Offset: f.at, Type: f.typ, hasOffset: true,
		message: "a JSON " + kindName(data[f.at]) + " does not fit",
	}
	if f.more != nil {
		e.cause = f.more.cause
		e.steps = f.more.path
		e.message += reason(e.cause)
	}
	return e
}

// pathOf returns a path as Go and CEL write it: spec.ports[1].port, metadata.labels["app"].
func pathOf(steps []step) string {
	var b strings.Builder
	for _, s := range slices.Backward(steps) {
		switch {
		case s.kind == stepElement:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case s.kind == stepKey || strings.ContainsAny(s.name, ".[]\"' "):
			b.WriteString("[" + strconv.Quote(s.name) + "]")
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.name)
		}
	}
	return b.String()
}

// pointerOf returns a path as a JSON Pointer (RFC 6901).
func pointerOf(steps []step) string {
	var b strings.Builder
	for _, s := range slices.Backward(steps) {
		b.WriteByte('/')
		if s.kind == stepElement {
			b.WriteString(strconv.Itoa(s.index))
		} else {
			b.WriteString(pointerEscapes.Replace(s.name))
		}
	}
	return b.String()
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")
