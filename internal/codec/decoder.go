package codec

import (
	"reflect"
	"sync"
)

// decoder decodes one document after another, and keeps what the next one can use. It is not safe for concurrent use.
type decoder struct {
	data  []byte
	depth int

	metadata place // of the document's own metadata, while members without a place are looked for
	lossy    bool  // there was one, or nobody asks

	text    text
	moments moments
	unquote []byte
	hashes  []uint64

	// Stacks of what belongs to slices and maps that are not made yet, because their size is not known yet.
	strings []string
	anys    []any
	scratch []scratch // by plan.id

	guesses []uint8 // which field comes after which, as it was the last time; by structPlan.guesses
}

// decoders is process-wide, like plans, because what is in a decoder is of use to any client, and a program has as many of
// them as goroutines that decode at the same time. The garbage collector takes those that are not used.
var decoders = sync.Pool{New: func() any { return new(decoder) }}

// decodeFast decodes as the library would, or reports that the library has to. The kind and the apiVersion, unless both are
// empty, are for members of those names that the document does not have. With look it reports, too, whether the document has
// members that have no place in v.
func decodeFast[T any](raw []byte, apiVersion, kind string, look bool) (v T, lossy, ok bool) {
	p := plans.of(reflect.TypeFor[T]())
	typed := apiVersion != "" || kind != ""
	if p.shape == shapePointer { // what it points to is allocated, the pointer is not
		to := newPlace(p.elem.typ)
		if typed && !p.elem.setType(to, apiVersion, kind) {
			return v, false, false
		}
		if lossy, ok = document(p.elem, to, raw, look); ok {
			placeOf(&v).point(to)
		}
		return v, lossy, ok
	}
	whole := new(T)
	if typed && p.shape != shapeAnyMap {
		return v, false, false
	}
	if lossy, ok = document(p, placeOf(whole), raw, look); !ok {
		return v, false, false
	}
	if typed {
		object := *as[map[string]any](placeOf(whole))
		setAbsent(object, "kind", kind)
		setAbsent(object, "apiVersion", apiVersion)
	}
	return *whole, lossy, true
}

func setAbsent(object map[string]any, name, value string) {
	if _, ok := object[name]; !ok {
		object[name] = value
	}
}

// setType sets the fields kind and apiVersion, if they are strings or not there.
func (p *plan) setType(to place, apiVersion, kind string) bool {
	if p.shape != shapeStruct {
		return false
	}
	return p.setField(to, "kind", kind) && p.setField(to, "apiVersion", apiVersion)
}

func (p *plan) setField(to place, name, value string) bool {
	at := p.find([]byte(name))
	if at < 0 {
		return true
	}
	f := &p.fields[at]
	if f.plan.shape != shapeString {
		return false
	}
	*as[string](to.field(f.offset)) = value
	return true
}

// document decodes a whole document into a zero value.
func document(p *plan, to place, raw []byte, look bool) (lossy, ok bool) {
	if p.shape == shapeOther {
		return false, false
	}
	d := decoders.Get().(*decoder)
	d.lossy, d.metadata = !look, place{}
	if look {
		d.metadata = p.metadata(to)
	}
	ok = d.document(p, to, raw)
	lossy, d.metadata = look && d.lossy, place{}
	decoders.Put(d) // not if a method has panicked: what is in d then is not known
	return lossy, ok
}

func (d *decoder) document(p *plan, to place, raw []byte) (ok bool) {
	d.data, d.depth = raw, 0
	d.text.begin(len(raw), &p.text)
	i := afterSpace(raw, 0)
	if i < len(raw) && raw[i] != 'n' { // null is no document
		if i = d.value(p, to, i); i >= 0 {
			ok = afterSpace(raw, i) == len(raw)
		}
	}
	d.text.end(&p.text)
	d.data = nil
	if !ok {
		d.scratch = nil // it may have what is in the middle of being decoded
	}
	d.strings, d.anys = emptied(d.strings), emptied(d.anys)
	d.hashes, d.unquote = emptied(d.hashes), emptied(d.unquote)
	return ok
}

// emptied is a stack without what a document that did not fit has left there, and not larger than what is worth keeping.
func emptied[E any](s []E) []E {
	const most = 4096
	if cap(s) > most {
		return nil
	}
	clear(s)
	return s[:0]
}
