package codec

import (
	"bytes"
	"io"
	"reflect"
	"strconv"
	"sync"

	"github.com/bowline-go/bowline/internal/jsonlex"
)

// decoder decodes one document after another, and keeps memory for the next one. It is not safe for concurrent use.
//
// Each method that decodes a value takes the position where the value starts and returns the position after it. There
// are two other results:
//
//   - broken: the document is not JSON. Decoding ends.
//   - ^next, which is below broken: the value does not fit its Go type, and ends at next. fault says why. Decoding
//     goes on in the object or array around it, because a later member of the same name may replace the value
//     (failure).
type decoder struct {
	skimmer

	fault fault

	typed    typeMeta // the kind and apiVersion that the struct had before it was decoded
	strict   bool     // a member without a place is an error
	metadata place    // of the document's own metadata, if the decoder looks for members without a place
	lossy    bool     // a member without a place was found, or the decoder does not look for one (request.look)

	sharing sharing
	text    text
	moments moments
	unquote []byte
	leaf    []byte // the JSON of a value that came as protobuf
	// instants remembers the times of protobuf messages; nil until the first one comes.
	instants *moments

	// Stacks of the elements of slices and maps that are not allocated yet, because their size is not known.
	strings []string
	anys    []any
	scratch []scratch // by plan.id

	// guesses has, for each field, the field that came next the last time. The part of a struct begins at
	// structPlan.guesses.
	guesses []uint16
}

// decoders is process-wide, like plans, because a decoder serves every client. A program has as many decoders as
// goroutines that decode at the same time. The garbage collector frees unused ones.
var decoders = sync.Pool{New: func() any { return new(decoder) }}

// request says how to decode a document.
type request struct {
	typed  typeMeta // for the members kind and apiVersion that the document does not have
	look   bool     // report whether the document has members that have no place in the Go value
	strict bool     // refuse members that have no place
	parts  *Parts   // shares parts; must be nil if strict is set
}

// typeMeta is the kind and the apiVersion of an object. Both may be empty.
type typeMeta struct{ apiVersion, kind string }

func (t typeMeta) isEmpty() bool { return t == typeMeta{} }

// document returns t as JSON.
func (t typeMeta) document() []byte {
	raw := append(make([]byte, 0, 96), `{"kind":`...)
	raw = append(raw, quote(t.kind)...)
	raw = append(raw, `,"apiVersion":`...)
	raw = append(raw, quote(t.apiVersion)...)
	return append(raw, '}')
}

// before returns the object raw with t as its first members.
func (t typeMeta) before(raw []byte) []byte {
	at := jsonlex.SkipSpace(raw, 0)
	if at == len(raw) || raw[at] != '{' {
		return raw // decoding returns the error
	}
	out := t.document()
	out = out[:len(out)-1]
	if rest := jsonlex.SkipSpace(raw, at+1); rest < len(raw) && raw[rest] != '}' {
		out = append(out, ',')
	}
	return append(out, raw[at+1:]...)
}

// decode decodes raw into a new value of t. The value is nil if there is an error.
func decode(t reflect.Type, raw []byte, r request) (v any, lossy bool, err error) {
	p := plans.of(t)
	if p.shape == shapePointer {
		to := newPlace(p.elem.typ) // for the value that it points to
		lossy, wrong := r.document(p.elem, to, raw)
		if wrong != nil {
			wrong.whole(t)
			return nil, false, wrong
		}
		return to.address(t), lossy, nil
	}
	to := newPlace(t)
	lossy, wrong := r.document(p, to, raw)
	if wrong != nil {
		wrong.whole(t)
		return nil, false, wrong
	}
	return to.value(t).Interface(), lossy, nil
}

// decodePointer is decode for a plain pointer type.
func decodePointer(t reflect.Type, raw []byte, r request) (any, error) {
	if p := plans.of(t); p.shape != shapePointer {
		return nil, &Error{Type: t, message: "the Go type must be a plain pointer"}
	}
	v, _, err := decode(t, raw, r)
	return v, err
}

// document decodes a whole document into a zero value.
func (r request) document(p *plan, to place, raw []byte) (lossy bool, err *Error) {
	if p.shape == shapeStruct && !r.typed.isEmpty() {
		p.setType(to, r.typed)
	}
	d := decoders.Get().(*decoder)
	d.typed, d.strict, d.lossy, d.metadata = r.typed, r.strict, !r.look, place{}
	if r.look {
		d.metadata = p.metadata(to)
	}
	d.share(r.parts, len(raw))
	err = d.document(p, to, raw)
	d.unshare()
	lossy, d.metadata = r.look && d.lossy, place{}
	decoders.Put(d) // not after a panic of a method, because d's state is unknown
	if err == nil && !r.typed.isEmpty() {
		p.addType(to, r.typed)
	}
	return lossy, err
}

func (d *decoder) document(p *plan, to place, raw []byte) (err *Error) {
	d.data, d.depth, d.fault = raw, 0, fault{}
	d.text.begin(len(raw), &p.text)
	next := broken
	if i := jsonlex.SkipSpace(raw, 0); i < len(raw) && raw[i] != 'n' { // null is not a document
		if next = d.value(p, to, i); next != broken && jsonlex.SkipSpace(raw, max(next, ^next)) != len(raw) {
			next, d.fault = broken, fault{}
		}
	}
	d.text.end(&p.text)
	if next < 0 {
		err = d.wrong(next)
		d.scratch = nil // it may hold a value that is only partly decoded
	}
	d.data, d.fault = nil, fault{}
	d.strings, d.anys = emptied(d.strings), emptied(d.anys)
	d.hashes, d.plain, d.unquote = emptied(d.hashes), emptied(d.plain), emptied(d.unquote)
	return err
}

// wrong returns the error for a document that did not decode.
func (d *decoder) wrong(next int) *Error {
	if next != broken || d.fault.typ != nil {
		return d.fault.error(d.data)
	}
	switch string(bytes.Trim(d.data, " \t\r\n")) {
	case "":
		return &Error{message: "the document is empty", cause: io.ErrUnexpectedEOF}
	case "null":
		return &Error{message: "the document is null"}
	}
	e := &Error{Path: pathOf(d.fault.steps()), message: "text that is not JSON", hasOffset: true}
	switch at, why := brokenAt(d.data); why {
	case tooDeep:
		e.Offset, e.message = at, "JSON that nests deeper than "+strconv.Itoa(maxDepth)+" levels"
	case tooShort:
		e.Offset, e.cause = at, io.ErrUnexpectedEOF
	default:
		e.Offset = at
	}
	return e
}

// emptied returns an empty stack for the next document: the same memory, cleared, unless it has grown too large.
func emptied[E any](s []E) []E {
	const most = 4096
	if cap(s) > most {
		return nil
	}
	clear(s)
	return s[:0]
}
