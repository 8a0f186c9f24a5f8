package meta

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/bowline-go/bowline/internal/jsonlex"
)

// Raw is an object with decoded kind and metadata; the rest stays the compact JSON of the server. Use it for caches of
// objects that are rarely inspected: compared with [Unstructured] it takes a fraction of the memory and of the time to
// decode. Read the rest with [Nested].
//
// *Raw is an [Object], and can be the type parameter T everywhere. TypeMeta and ObjectMeta can be read and written
// freely. The only way to change the rest is to decode another object into the Raw, so copies of a Raw share it.
// Metadata fields of the API that ObjectMeta lacks are dropped. Names are case-sensitive. The last of duplicate names
// counts.
type Raw struct {
	TypeMeta
	ObjectMeta
	rest []byte // a JSON object of the members beside kind, apiVersion and metadata; nil if there are none; immutable
}

// UnmarshalJSON replaces the object by the JSON object in b, which it does not retain. A JSON null changes nothing. Any
// other value is an error, and so is metadata that does not fit ObjectMeta; r is then unchanged.
func (r *Raw) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	var out Raw
	if err := out.decode(b); err != nil {
		return fmt.Errorf("decode object: %w", err)
	}
	*r = out
	return nil
}

func (r *Raw) decode(b []byte) error {
	s := jsonScan{b: b}
	if s.peek() != '{' {
		if _, err := s.value(); err != nil {
			return err
		}
		return errors.New("it must be a JSON object")
	}
	// First find the members to keep, then copy them, so that the copy takes no more memory than it needs.
	var room [16][]byte
	kept := room[:0] // names and values in turn
	size, spaces := 0, 0
	err := s.object(func(name []byte) error {
		switch {
		case isName(name, "kind"):
			return in("kind", s.readText(&r.Kind))
		case isName(name, "apiVersion"):
			return in("apiVersion", s.readText(&r.APIVersion))
		case isName(name, "metadata"):
			return in("metadata", s.readObjectMeta(&r.ObjectMeta))
		}
		before := s.spaces
		value, err := s.value()
		kept = append(kept, name, value)
		size += len(name) + len(":") + len(value) + len(",")
		spaces += s.spaces - before
		return err
	})
	if err == nil {
		err = s.end()
	}
	if err != nil || size == 0 {
		return err
	}
	rest := make([]byte, 0, size-spaces+len("}"))
	for i := 0; i < len(kept); i += 2 {
		rest = append(rest, ',')
		rest = append(append(rest, kept[i]...), ':')
		if spaces == 0 {
			rest = append(rest, kept[i+1]...)
		} else {
			rest = jsonlex.AppendCompact(rest, kept[i+1])
		}
	}
	rest[0] = '{' // replaces the first comma
	rest = append(rest, '}')
	if !utf8.Valid(rest) {
		rest = []byte(string([]rune(string(rest)))) // replaces invalid UTF-8, as decoding would do
	}
	r.rest = rest
	return nil
}

func in(field string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	return nil
}

// MarshalJSON returns the whole object as JSON: kind, apiVersion and metadata from the present fields, then the rest as
// it was decoded.
func (r Raw) MarshalJSON() ([]byte, error) {
	type head struct {
		TypeMeta
		ObjectMeta `json:"metadata"`
	}
	out, err := json.Marshal(head{r.TypeMeta, r.ObjectMeta})
	if err != nil {
		return nil, err
	}
	if r.rest == nil {
		return out, nil
	}
	out = slices.Grow(out, len(r.rest)-len("}"))
	out[len(out)-1] = ',' // replaces the brace
	return append(out, r.rest[len("{"):]...), nil
}

// DeepCopy returns a copy that can be changed without changing r; it is nil if r is. [Clone] uses it. The copies share
// the bytes of the rest, which are immutable.
func (r *Raw) DeepCopy() *Raw {
	if r == nil {
		return nil
	}
	out := *r
	out.ObjectMeta = Clone(r.ObjectMeta)
	return &out
}

func nestedRaw[V any](r *Raw, path []string) (value V, found bool, err error) {
	text, found, err := r.find(path)
	if !found || err != nil {
		return value, false, err
	}
	leaf, err := decodeText(text)
	if err != nil {
		return value, false, fmt.Errorf("read %s: %w", pathString(path), err)
	}
	return leafAs[V](leaf, path)
}

// find returns the text of the field at path.
func (r *Raw) find(path []string) (text []byte, found bool, err error) {
	if r == nil {
		return nil, false, nil
	}
	if len(path) == 0 {
		text, err = r.MarshalJSON()
		return text, err == nil, err
	}
	switch path[0] {
	case "kind", "apiVersion":
		text, err = json.Marshal(r.TypeMeta)
	case "metadata":
		text, err = json.Marshal(struct {
			ObjectMeta `json:"metadata"`
		}{r.ObjectMeta})
	default:
		if text = r.rest; text == nil {
			return nil, false, nil
		}
	}
	if err != nil {
		return nil, false, err
	}
	for i, name := range path {
		if text[0] != '{' {
			v, err := decodeText(text)
			if err == nil {
				err = noObject(path[:i], v)
			}
			return nil, false, fmt.Errorf("read %s: %w", pathString(path), err)
		}
		s := jsonScan{b: text}
		var last []byte // a name may occur twice
		err := s.object(func(quoted []byte) error {
			value, err := s.value()
			if isName(quoted, name) {
				last = value
			}
			return err
		})
		if err != nil || last == nil {
			return nil, false, err
		}
		text = last
	}
	return text, true, nil
}
