package crd

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/internal/gotype"
)

// maxSchemas bounds the schemas of a type, nested ones included. A server accepts objects of only a few megabytes.
const maxSchemas = 20_000

// builder makes the schema of a Go type.
type builder struct {
	root         reflect.Type
	descriptions map[string]string
	described    map[string]bool // the paths of the members that exist
	within       []reflect.Type  // the structs that contain the current place
	schemas      int
	errs         []error
}

// place is the path of a value: by its names in Go, and by its names in JSON.
type place struct{ fields, members string }

func (p place) in(field, member string) place {
	return place{strings.TrimPrefix(p.fields+"."+field, "."), strings.TrimPrefix(p.members+"."+member, ".")}
}

func (p place) elements() place { return place{p.fields + "[]", p.members + "[]"} }

// schemaOf returns the schema of the objects of a type.
func schemaOf(t reflect.Type, o Options) (*Schema, error) {
	switch {
	case t == nil || t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct || known(t.Elem()) != nil:
		return nil, fmt.Errorf("%v has no fields that tell its schema: the type must be a pointer to a struct without JSON methods", t)
	case encodesItself(t) && !o.PreserveUnknown:
		return nil, fmt.Errorf("%v has no fields that tell its schema: the type must be a pointer to a struct without JSON methods, "+
			"or the option PreserveUnknown must say that the methods keep what no field has", t)
	}
	descriptions := o.Descriptions
	if err := gotype.Unnamed(t); err != nil {
		return nil, err
	}
	if err := gotype.Misplaced(t); err != nil {
		return nil, err
	}
	b := &builder{root: t.Elem(), descriptions: descriptions, described: map[string]bool{}}
	s := b.object(t.Elem(), place{})
	s.PreserveUnknownFields = o.PreserveUnknown
	b.describe(s, place{})
	for path := range descriptions {
		if !b.described[path] {
			b.errs = append(b.errs, fmt.Errorf("crd.Options: Descriptions has %q, which is not the path of a member of %v", path, b.root))
		}
	}
	slices.SortFunc(b.errs, func(x, y error) int { return strings.Compare(x.Error(), y.Error()) })
	return s, errors.Join(b.errs...)
}

// wrong records a mistake in the type.
func (b *builder) wrong(at place, format string, args ...any) {
	where := fmt.Sprintf("%v", b.root)
	if at.fields != "" {
		where = "field " + at.fields + " of " + where
	}
	b.errs = append(b.errs, fmt.Errorf("%s: %w", where, fmt.Errorf(format, args...)))
}

func (b *builder) describe(s *Schema, at place) {
	b.described[at.members] = true
	if text := b.descriptions[at.members]; text != "" {
		s.Description = text
	}
}

// describeBelow sets the descriptions within the schema of a known type, whose members are not fields of the Go type.
func (b *builder) describeBelow(s *Schema, at place) {
	for _, name := range s.members() {
		inner := at.in(name, name)
		b.describe(s.Properties[name], inner)
		b.describeBelow(s.Properties[name], inner)
	}
	for _, element := range []*Schema{s.Items, s.values()} {
		if element != nil {
			b.describe(element, at.elements())
			b.describeBelow(element, at.elements())
		}
	}
}

// object returns the schema of a struct.
func (b *builder) object(t reflect.Type, at place) *Schema {
	s := &Schema{Type: "object"}
	b.within = append(b.within, t)
	for _, f := range gotype.Fields(t) {
		if len(b.within) == 1 && slices.Contains([]string{"apiVersion", "kind", "metadata"}, f.Name) {
			continue // the server knows these members
		}
		property, required := b.field(t, f, at)
		if property == nil {
			continue
		}
		if s.Properties == nil {
			s.Properties = map[string]*Schema{}
		}
		s.Properties[f.Name] = property
		if required {
			s.Required = append(s.Required, f.Name)
		}
	}
	slices.Sort(s.Required)
	b.within = b.within[:len(b.within)-1]
	return s
}

// field returns the schema of a field, nil after a mistake.
func (b *builder) field(t reflect.Type, f gotype.Field, at place) (s *Schema, required bool) {
	field := t.FieldByIndex(f.Way)
	at = at.in(field.Name, f.Name)
	words, err := wordsOf(field.Tag)
	if err != nil {
		b.wrong(at, "%w", err)
		return nil, false
	}
	if mergeKey := listKeyOf(field, f); mergeKey != "" && !has(words, "listType") {
		words = append(words, word{name: "listType", value: "map"}, word{name: "listMapKeys", value: mergeKey})
	}
	if _, options, _ := strings.Cut(field.Tag.Get("json"), ","); slices.Contains(strings.Split(options, ","), "string") && isScalar(field.Type) {
		words = append(words, word{name: "type", value: "string"})
	}
	if s = b.value(field.Type, words, at); s == nil {
		return nil, false
	}
	b.describe(s, at)
	isStatus := len(b.within) == 1 && f.Name == "status"
	required = !f.Omits && len(s.Default) == 0 && field.Type.Kind() != reflect.Pointer && !throughPointer(t, f.Way) && !isStatus
	switch {
	case has(words, "required") && has(words, "optional"):
		b.wrong(at, "the tag says required and optional")
	case has(words, "required"):
		return s, true // required also forbids null
	case len(s.Enum) > 0 && (s.Nullable || writesNull(field)):
		b.wrong(at, "the field has an enum and may be null, which no server accepts together: "+
			"add omitempty to the json tag, or the word required, which forbids null")
	case writesNull(field):
		s.Nullable = true
	}
	return s, required && !has(words, "optional")
}

// listKeyOf returns the key by which a patch merges the list of a field; "" if there is none. It ignores the tags of
// Kubernetes' own types, because they do not have all keys.
func listKeyOf(field reflect.StructField, f gotype.Field) string {
	elem := field.Type
	if elem.Kind() != reflect.Slice {
		return ""
	}
	for elem = elem.Elem(); elem.Kind() == reflect.Pointer; {
		elem = elem.Elem()
	}
	if strings.HasPrefix(elem.PkgPath(), "k8s.io/") || !strings.Contains(f.Strategy, "merge") {
		return ""
	}
	return f.MergeKey
}

// throughPointer reports whether a field is in a struct that is embedded by pointer. Such a field is missing if the
// pointer is nil.
func throughPointer(t reflect.Type, way []int) bool {
	for i := 1; i < len(way); i++ {
		if t.FieldByIndex(way[:i]).Type.Kind() == reflect.Pointer {
			return true
		}
	}
	return false
}

// writesNull reports whether encoding/json writes null for the zero value of a field.
func writesNull(field reflect.StructField) bool {
	_, tag, _ := strings.Cut(field.Tag.Get("json"), ",")
	options := strings.Split(tag, ",")
	nilable := slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface}, field.Type.Kind())
	switch {
	case slices.Contains(options, "omitzero"):
		return false
	case nilable:
		return !slices.Contains(options, "omitempty")
	}
	return isTime(field.Type)
}

func isScalar(t reflect.Type) bool {
	k := t.Kind()
	return k == reflect.Bool || k >= reflect.Int && k <= reflect.Float64 && k != reflect.Uintptr || k == reflect.String
}

// value returns the schema of a value, with the words of its tag; nil after a mistake.
func (b *builder) value(t reflect.Type, words []word, at place) *Schema {
	if b.schemas++; b.schemas > maxSchemas {
		if b.schemas == maxSchemas+1 {
			b.wrong(at, "the type has more than %d members, one in another", maxSchemas)
		}
		return nil
	}
	own, inner := wordsHere(words)
	s := b.shape(t, own, inner, at)
	if s == nil {
		return nil
	}
	if err := applyWords(s, own); err != nil {
		b.wrong(at, "%w", err)
		return nil
	}
	return s
}

// wordsHere separates the words about a value from the words about its elements.
func wordsHere(words []word) (own, elements []word) {
	for _, w := range words {
		if w.items == 0 {
			own = append(own, w)
		} else {
			w.items--
			elements = append(elements, w)
		}
	}
	return own, elements
}

// shape returns the schema of a type, to which the caller applies the words of the tag; nil after a mistake.
func (b *builder) shape(t reflect.Type, own, inner []word, at place) *Schema {
	if typ := find(own, "type"); typ != nil {
		s, err := ofWord(typ.value, has(own, "preserveUnknown"))
		if err == nil && len(inner) > 0 {
			err = noElements(inner)
		}
		if err != nil {
			b.wrong(at, "%w", err)
			return nil
		}
		return s
	}
	for {
		if s := known(t); s != nil {
			if s.Items == nil && len(inner) > 0 {
				b.wrong(at, "%w", noElements(inner))
				return nil
			}
			b.describeBelow(s, at)
			return s
		}
		if t.Kind() != reflect.Pointer {
			break
		}
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return b.list(t, inner, at)
	case reflect.Map:
		return b.mapOf(t, own, inner, at)
	}
	if len(inner) > 0 {
		b.wrong(at, "%w", noElements(inner))
		return nil
	}
	return b.single(t, own, at)
}

func noElements(inner []word) error {
	w := inner[0]
	w.items++
	return fmt.Errorf("the tag has the word %s, and the field is not a list or map", w)
}

// single returns the schema of a value without elements.
func (b *builder) single(t reflect.Type, own []word, at place) *Schema {
	switch preserved := has(own, "preserveUnknown"); {
	case t.Kind() == reflect.Interface && preserved:
		return &Schema{PreserveUnknownFields: true}
	case t.Kind() == reflect.Interface:
		b.wrong(at, "the interface %v has no schema: use a type, a json.RawMessage, or the word preserveUnknown for any value", t)
		return nil
	case encodesItself(t) && !(preserved && t.Kind() == reflect.Struct):
		b.wrong(at, "%v encodes itself, so its schema is unknown: say it with the word type, as in %s:\"type=string\", "+
			"or with the word preserveUnknown if its methods keep the members that no field has", t, tagKey)
		return nil
	case t.Kind() != reflect.Struct:
		if s := scalar(t); s != nil {
			return s
		}
		b.wrong(at, "a value of %v has no JSON in a schema; allowed are booleans, numbers, strings, structs, lists and maps with string keys", t)
		return nil
	case slices.Contains(b.within, t) && preserved:
		return &Schema{Type: "object"}
	case slices.Contains(b.within, t):
		b.wrong(at, "%v contains itself, and a structural schema has no recursion; "+
			"the words type=object and preserveUnknown end it, with any members below", t)
		return nil
	}
	return b.object(t, at)
}

func (b *builder) list(t reflect.Type, inner []word, at place) *Schema {
	s := &Schema{Type: "array", Items: b.value(t.Elem(), inner, at.elements())}
	if s.Items == nil {
		return nil
	}
	b.describe(s.Items, at.elements())
	if t.Kind() == reflect.Array {
		n := int64(t.Len())
		s.MinItems, s.MaxItems = &n, &n
	}
	if isCondition(t.Elem()) {
		s.ListType, s.ListMapKeys = "map", []string{"type"}
	}
	return s
}

func (b *builder) mapOf(t reflect.Type, own, inner []word, at place) *Schema {
	switch {
	case t.Key().Kind() != reflect.String || encodesItself(t.Key()) || isText(t.Key()):
		b.wrong(at, "the keys of %v must be strings", t)
		return nil
	case t.Elem().Kind() == reflect.Interface && has(own, "preserveUnknown") && len(inner) == 0:
		return &Schema{Type: "object"}
	}
	values := b.value(t.Elem(), inner, at.elements())
	if values == nil {
		return nil
	}
	b.describe(values, at.elements())
	return &Schema{Type: "object", AdditionalProperties: &SchemaOrBool{Schema: values, Allows: true}}
}

var textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()

// encodesItself reports whether values of a type encode or decode themselves.
func encodesItself(t reflect.Type) bool {
	for _, own := range []reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler]()} {
		if t.Implements(own) || reflect.PointerTo(t).Implements(own) {
			return true
		}
	}
	return false
}
