package meta

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// Nested reads the field at path as V, out of an object for which there is no struct. The path is the names of the
// fields, one by one; there is no syntax for elements of arrays.
//
//   - If a field of the path is missing, found is false and there is no error.
//   - If the last field is null, found is true and the value is V's zero value.
//   - If a field on the way is null or not a JSON object, or the last one is not a V, the error names it.
//
// V may be any Go integer or float, string, bool, [json.Number], a slice or a map with string keys of these, a type
// that implements [json.Unmarshaler] (such as [Time]), or any. A number that V cannot hold is an error, never cut. A
// []byte is read from a base64 string, as the data of a Secret is.
//
// For a map or an [Unstructured], a value of type any, map[string]any or []any is the object's own memory; any other
// value is a copy.
//
// For a [Raw], every value is a copy, and an empty path is the whole object. kind, apiVersion and metadata are read
// from the present fields of the Raw, so empty fields there are missing. Each call searches the Raw's bytes, which
// takes time in proportion to their length.
//
// Nested finds nothing in a nil object.
func Nested[V any, O ~map[string]any | *Unstructured | *Raw](obj O, path ...string) (value V, found bool, err error) {
	if raw, ok := any(obj).(*Raw); ok {
		return nestedRaw[V](raw, path)
	}
	leaf, found, err := lookup(objectOf(obj), path)
	if !found || err != nil {
		return value, false, err
	}
	return leafAs[V](leaf, path)
}

// objectOf returns the map of an Unstructured, or obj itself.
func objectOf(obj any) map[string]any {
	switch o := obj.(type) {
	case *Unstructured:
		return o.object()
	case map[string]any:
		return o
	}
	return reflect.ValueOf(obj).Convert(reflect.TypeFor[map[string]any]()).Interface().(map[string]any)
}

// leafAs converts the value found at path to a V.
func leafAs[V any](leaf any, path []string) (value V, found bool, err error) {
	if v, ok := leaf.(V); ok {
		return v, true, nil
	}
	if err := assign(reflect.ValueOf(&value).Elem(), leaf, 0); err != nil {
		var zero V
		return zero, false, fmt.Errorf("read %s: %w", pathString(path), err)
	}
	return value, true, nil
}

// SetNested sets the field at path to value, and creates the objects on the way if they are missing or null, and the
// Object of an Unstructured if that is nil. It stores the value in the form that decoding would produce: every Go
// integer as int64 (as [json.Number] beyond its range), every float as float64, and any other value that is not made of
// JSON's types through its JSON encoding. The stored value is a copy: later changes to value have no effect on it.
//
// It returns an error, and changes nothing, if obj is nil, the path is empty, a field on the way is not an object, or
// the value has no JSON form.
func SetNested[O ~map[string]any | *Unstructured](obj O, value any, path ...string) error {
	u, isObject := any(obj).(*Unstructured)
	at := objectOf(obj)
	create := isObject && u != nil && at == nil
	if create {
		at = map[string]any{}
	}
	if at == nil || len(path) == 0 {
		return fmt.Errorf("set %s: the object must not be nil, and the path must not be empty", pathString(path))
	}
	normal, err := normalize(value, 0)
	if err != nil {
		return fmt.Errorf("set %s: %w", pathString(path), err)
	}
	// Missing objects are built separately and attached last, so that an error further down changes nothing.
	depth := 0
	for ; depth < len(path)-1; depth++ {
		switch next := at[path[depth]].(type) {
		case map[string]any:
			if next != nil {
				at = next
				continue
			}
		case map[string]string:
			if depth != len(path)-2 {
				return fmt.Errorf("set %s: %s is a map[string]string, which cannot hold an object",
					pathString(path), pathString(path[:depth+1]))
			}
			wider := make(map[string]any, len(next)+1)
			for k, v := range next {
				wider[k] = v
			}
			wider[path[depth+1]] = normal
			at[path[depth]] = wider
			return nil
		case nil:
		default:
			return fmt.Errorf("set %s: %w", pathString(path), noObject(path[:depth+1], next))
		}
		break
	}
	for i := len(path) - 1; i > depth; i-- {
		normal = map[string]any{path[i]: normal}
	}
	if at[path[depth]] = normal; create {
		u.Object = at
	}
	return nil
}

// RemoveNested removes the field at path, and reports whether it was present. The objects on the way stay, even if
// empty.
func RemoveNested[O ~map[string]any | *Unstructured](obj O, path ...string) bool {
	if len(path) == 0 {
		return false
	}
	parent, found, err := lookup(objectOf(obj), path[:len(path)-1])
	if !found || err != nil {
		return false
	}
	last := path[len(path)-1]
	switch parent := parent.(type) {
	case map[string]any:
		_, found = parent[last]
		delete(parent, last)
	case map[string]string:
		_, found = parent[last]
		delete(parent, last)
	default:
		return false
	}
	return found
}

// lookup walks the path. Besides decoded JSON it accepts map[string]string, which Go code often stores.
func lookup(obj map[string]any, path []string) (leaf any, found bool, err error) {
	leaf = obj
	for i, name := range path {
		switch at := leaf.(type) {
		case map[string]any:
			leaf, found = at[name]
		case map[string]string:
			leaf, found = at[name]
		default:
			return nil, false, fmt.Errorf("read %s: %w", pathString(path), noObject(path[:i], at))
		}
		if !found {
			return nil, false, nil
		}
	}
	return leaf, true, nil
}

func noObject(path []string, v any) error {
	return fmt.Errorf("%s is %s, not an object", pathString(path), describe(v))
}

func pathString(path []string) string {
	if len(path) == 0 {
		return "the object"
	}
	return clip(strings.Join(path, "."))
}

// describe names the JSON type of a value.
func describe(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case map[string]any, map[string]string:
		return "an object"
	case []any:
		return "an array"
	}
	if _, ok := numberText(v); ok {
		return "a number"
	}
	return fmt.Sprintf("a Go value of type %T", v)
}

// maxNesting bounds the recursion over values that may be cyclic. No decoder accepts a deeper value.
const maxNesting = 10_000

var errNesting = fmt.Errorf("the value is nested more than %d deep", maxNesting)

// assign stores the JSON value src in dst, which is settable and zero.
func assign(dst reflect.Value, src any, depth int) error {
	if depth > maxNesting {
		return errNesting
	}
	if src == nil {
		return nil
	}
	if v := reflect.ValueOf(src); v.Type().AssignableTo(dst.Type()) {
		dst.Set(v)
		return nil
	}
	if u, ok := dst.Addr().Interface().(json.Unmarshaler); ok {
		raw, err := json.Marshal(src)
		if err != nil {
			return err
		}
		return u.UnmarshalJSON(raw)
	}
	mismatch := func() error { return fmt.Errorf("it is %s, not %s", describe(src), dst.Type()) }
	switch dst.Kind() {
	case reflect.String:
		s, ok := src.(string)
		if dst.Type() == reflect.TypeFor[json.Number]() {
			s, ok = numberText(src)
		}
		if !ok {
			return mismatch()
		}
		dst.SetString(s)
	case reflect.Bool:
		b, ok := src.(bool)
		if !ok {
			return mismatch()
		}
		dst.SetBool(b)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64:
		text, ok := numberText(src)
		if !ok {
			return mismatch()
		}
		return assignNumber(dst, text)
	case reflect.Slice:
		if s, ok := src.(string); ok && dst.Type().Elem().Kind() == reflect.Uint8 {
			b, err := base64.StdEncoding.DecodeString(s)
			if err != nil {
				return fmt.Errorf("it is not base64: %w", err)
			}
			dst.SetBytes(b)
			return nil
		}
		v := reflect.ValueOf(src)
		if v.Kind() != reflect.Slice {
			return mismatch()
		}
		if v.IsNil() {
			return nil
		}
		dst.Set(reflect.MakeSlice(dst.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			if err := assign(dst.Index(i), v.Index(i).Interface(), depth+1); err != nil {
				return fmt.Errorf("element %d: %w", i, err)
			}
		}
	case reflect.Map:
		v := reflect.ValueOf(src)
		if !isStringMap(v.Type()) || !isStringMap(dst.Type()) {
			return mismatch()
		}
		if v.IsNil() {
			return nil
		}
		dst.Set(reflect.MakeMapWithSize(dst.Type(), v.Len()))
		for it := v.MapRange(); it.Next(); {
			elem := reflect.New(dst.Type().Elem()).Elem()
			if err := assign(elem, it.Value().Interface(), depth+1); err != nil {
				return fmt.Errorf("field %q: %w", it.Key().String(), err)
			}
			dst.SetMapIndex(it.Key().Convert(dst.Type().Key()), elem)
		}
	default:
		return mismatch()
	}
	return nil
}

func isStringMap(t reflect.Type) bool {
	return t.Kind() == reflect.Map && t.Key().Kind() == reflect.String
}

// numberText returns the JSON text of a number of any Go type.
func numberText(src any) (string, bool) {
	if n, ok := src.(json.Number); ok {
		return n.String(), true
	}
	switch v := reflect.ValueOf(src); v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10), true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return strconv.FormatUint(v.Uint(), 10), true
	case reflect.Float32:
		return strconv.FormatFloat(v.Float(), 'g', -1, 32), true
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64), true
	}
	return "", false
}

// assignNumber stores a number in a Go number of any kind, or returns an error if it does not fit. A whole number that
// is written with a fraction or an exponent, such as 5.0, fits an integer.
func assignNumber(dst reflect.Value, text string) error {
	unfit := fmt.Errorf("%s does not fit %s", clip(text), dst.Type())
	if dst.CanFloat() {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || dst.OverflowFloat(f) {
			return unfit
		}
		dst.SetFloat(f)
		return nil
	}
	if strings.ContainsAny(text, ".eE") {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
			return unfit
		}
		text = strconv.FormatInt(int64(f), 10)
	}
	if dst.CanInt() {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || dst.OverflowInt(n) {
			return unfit
		}
		dst.SetInt(n)
		return nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || dst.OverflowUint(n) {
		return unfit
	}
	dst.SetUint(n)
	return nil
}

// normalize returns a copy of v made of the types that decoding produces: nil, string, bool, int64, float64,
// json.Number, map[string]any and []any.
func normalize(v any, depth int) (any, error) {
	if depth > maxNesting {
		return nil, errNesting
	}
	switch v := v.(type) {
	case nil, string, bool, int64:
		return v, nil
	case int:
		return int64(v), nil
	case int32:
		return int64(v), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("JSON has no number %v", v)
		}
		return v, nil
	case map[string]any:
		if v == nil {
			return nil, nil
		}
		out := make(map[string]any, len(v))
		for key, elem := range v {
			n, err := normalize(elem, depth+1)
			if err != nil {
				return nil, err
			}
			out[key] = n
		}
		return out, nil
	case []any:
		if v == nil {
			return nil, nil
		}
		out := make([]any, len(v))
		for i, elem := range v {
			n, err := normalize(elem, depth+1)
			if err != nil {
				return nil, err
			}
			out[i] = n
		}
		return out, nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return decodeValue(raw)
}

// decodeValue decodes one JSON text; parseNumber converts its numbers.
func decodeValue(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("found data after the end of the JSON value")
	}
	return withNumbers(v), nil
}

// withNumbers replaces every json.Number in v, in place if possible.
func withNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		return parseNumber(v)
	case map[string]any:
		for key, elem := range v {
			switch elem.(type) {
			case json.Number, map[string]any, []any:
				v[key] = withNumbers(elem)
			}
		}
	case []any:
		for i, elem := range v {
			v[i] = withNumbers(elem)
		}
	}
	return v
}

// parseNumber returns an int64 for a number that is written as an integer and fits, a float64 for one with a fraction
// or an exponent, and the number itself if these cannot represent it.
func parseNumber(n json.Number) any {
	if !strings.ContainsAny(n.String(), ".eE") {
		if i, err := n.Int64(); err == nil {
			return i
		}
		return n
	}
	f, err := n.Float64()
	if err != nil {
		return n
	}
	return f
}

// stringMap returns the string entries of a JSON object as a new map; nil if v is not an object.
func stringMap(v any) map[string]string {
	switch v := v.(type) {
	case map[string]string:
		return maps.Clone(v)
	case map[string]any:
		if len(v) == 0 {
			return nil
		}
		out := make(map[string]string, len(v))
		for key, elem := range v {
			if s, ok := elem.(string); ok {
				out[key] = s
			}
		}
		return out
	}
	return nil
}
