package warm

import (
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/jsonstream"
)

// exact returns an error if objects of the type may differ from themselves after they are encoded and decoded again.
// shaped says that functions of the program may set fields that are not in the JSON.
func exact(t reflect.Type, shaped bool) error {
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct || !t.Implements(anObject) {
		return fmt.Errorf("package warm keeps objects whose type is a pointer to a struct, got %v", t)
	}
	e := &examination{shaped: shaped, seen: make(map[reflect.Type]bool)}
	if err := e.of(t, t.String()); err != nil {
		return fmt.Errorf("package warm cannot keep objects of %v: %w", t, err)
	}
	if _, err := codec.DecodeType(t, jsonstream.Item{Raw: []byte("{}")}, codec.Options{}); err != nil {
		return fmt.Errorf("package warm cannot keep objects of %v: %w", t, err)
	}
	return nil
}

type examination struct {
	shaped bool
	seen   map[reflect.Type]bool
}

// of examines a type. at is its path, for errors.
func (e *examination) of(t reflect.Type, at string) error {
	if e.seen[t] {
		return nil
	}
	e.seen[t] = true
	own, err := codes(t)
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	if own {
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return e.of(t.Elem(), at)
	case reflect.Map:
		if err := e.of(t.Key(), at); err != nil {
			return err
		}
		return e.of(t.Elem(), at)
	case reflect.Interface:
		if t.NumMethod() > 0 {
			return fmt.Errorf("%s is an interface, %v", at, t)
		}
	case reflect.Chan, reflect.Func, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		return fmt.Errorf("%s is a %v, which JSON does not have", at, t)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			name := at + "." + f.Name
			switch tag, _ := f.Tag.Lookup("json"); {
			case f.Anonymous && tag != "-": // JSON has the fields of an embedded struct, exported or not
			case tag == "-" || !f.IsExported():
				if e.shaped {
					return fmt.Errorf("%s is not in the JSON, and a function of the program may set it", name)
				}
				continue
			}
			if err := e.of(f.Type, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// codes reports whether a type encodes and decodes itself. It returns an error if it does only one of them, because
// nothing says that one undoes the other.
func codes(t reflect.Type) (bool, error) {
	for _, way := range []struct {
		encode, decode reflect.Type
		names          string
	}{
		{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler](), "MarshalJSON and UnmarshalJSON"},
		{reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler](), "MarshalText and UnmarshalText"},
	} {
		encodes := t.Kind() != reflect.Interface && t.Implements(way.encode)
		decodes := t.Kind() != reflect.Interface && (t.Implements(way.decode) || reflect.PointerTo(t).Implements(way.decode))
		switch {
		case encodes && decodes:
			return true, nil
		case !encodes && reflect.PointerTo(t).Implements(way.encode):
			return false, fmt.Errorf("%v must have its method for encoding on the value, not on the pointer, because maps and copies have values", t)
		case encodes != decodes:
			return false, fmt.Errorf("%v has only one of %s", t, way.names)
		}
	}
	return false, nil
}

// fingerprint returns a text that differs for types that may encode or decode differently. It begins with the name of
// the type.
func fingerprint(t reflect.Type) string {
	h := sha256.New()
	describe(h, t, make(map[reflect.Type]int))
	return t.String() + " " + hex.EncodeToString(h.Sum(nil)[:16])
}

// describe writes the structure of a type. seen numbers the types that were described.
func describe(w io.Writer, t reflect.Type, seen map[reflect.Type]int) {
	if n, ok := seen[t]; ok {
		fmt.Fprintf(w, "#%d;", n)
		return
	}
	seen[t] = len(seen)
	fmt.Fprintf(w, "%q %q %v{", t.PkgPath(), t.Name(), t.Kind())
	if own, _ := codes(t); own {
		io.WriteString(w, "own")
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		describe(w, t.Elem(), seen)
	case reflect.Array:
		fmt.Fprintf(w, "%d ", t.Len())
		describe(w, t.Elem(), seen)
	case reflect.Map:
		describe(w, t.Key(), seen)
		describe(w, t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			fmt.Fprintf(w, "%q %q %v ", f.Name, f.Tag.Get("json"), f.Anonymous)
			describe(w, f.Type, seen)
		}
	}
	io.WriteString(w, "};")
}
