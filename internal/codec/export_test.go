package codec

import (
	"reflect"
	"runtime"

	"github.com/bowline-go/bowline/internal/jsonstream"
)

// UnmarshalType is Unmarshal into a new value of a type that is known at run time only. It returns the pointer to it.
func UnmarshalType(t reflect.Type, raw []byte) (any, error) {
	to := newPlace(t)
	if _, err := (request{}).document(plans.of(t), to, raw); err != nil {
		err.whole(t)
		return nil, err
	}
	return to.method(t), nil
}

// UnmarshalParts is UnmarshalType with shared parts.
func UnmarshalParts(t reflect.Type, raw []byte, parts *Parts) (any, error) {
	to := newPlace(t)
	if _, err := (request{parts: parts}).document(plans.of(t), to, raw); err != nil {
		err.whole(t)
		return nil, err
	}
	return to.method(t), nil
}

// ReadyParts returns parts that are looked for from the first object on.
func ReadyParts() *Parts {
	s := new(Parts)
	s.count.Store(unsharedObjects)
	return s
}

// Texts returns how many parts there are, and the bytes of their texts. It waits until these are what Parts has counted,
// because parts are forgotten on another goroutine.
func (s *Parts) Texts() (parts, bytes int) {
	t := s.table.Load()
	if t == nil {
		return 0, 0
	}
	for bytes = -1; int64(bytes) != t.text.Load(); runtime.Gosched() {
		parts, bytes = 0, 0
		for i := range t.sets {
			for j := range t.sets[i].parts {
				if p := t.sets[i].parts[j].Load(); p != nil {
					parts++
					bytes += len(p.text)
				}
			}
		}
	}
	return parts, bytes
}

// Members returns the members of a struct, or of what a pointer, the elements of a list or the values of a map lead to. There are
// none of other types.
func Members(t reflect.Type) map[string]reflect.Type {
	p := plans.of(t)
	for p.shape == shapePointer || p.shape == shapeSlice || p.shape == shapeArray || p.shape == shapeMap {
		p = p.elem
	}
	if p.shape != shapeStruct {
		return nil
	}
	members := map[string]reflect.Type{}
	for _, f := range p.fields {
		members[f.name] = f.plan.typ
		if f.plan != plans.of(f.plan.typ) { // the tag says more than the type
			members[f.name] = reflect.TypeFor[string]()
		}
	}
	return members
}

// IsAwake reports whether the next object looks for parts.
func (s *Parts) IsAwake() bool { return s.count.Load()+1 >= s.wakes.Load() }

// Compared decodes raw, and returns how many bytes of texts were compared in vain, at most.
func Compared[T any](raw []byte, parts *Parts) (v *T, compared int, err error) {
	d, v := new(decoder), new(T)
	d.share(parts, len(raw))
	if wrong := d.document(plans.of(reflect.TypeFor[T]()), placeOf(v), raw); wrong != nil {
		err = wrong
	}
	compared = allowed*len(raw) - d.sharing.allowance
	d.unshare()
	return v, compared, err
}

// DecodeAs is Decode for a T.
func DecodeAs[T any](item jsonstream.Item, o Options) (v T, err error) {
	decoded, err := Decode(reflect.TypeFor[T](), item, o)
	v, _ = decoded.(T)
	return v, err
}

// LostBy is Lost for a T.
func LostBy[T any](object map[string]any, most int) ([]string, error) {
	return Lost(reflect.TypeFor[T](), object, most)
}
