package codec

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bowline-go/bowline/internal/jsonlex"
)

// Marshal returns the JSON of an object, with its kind and apiVersion. If v leaves these out or empty, they come
// first, kind before apiVersion, as the Kubernetes API writes them. Every other byte is that of encoding/json. Marshal
// does not look at the apiVersion or kind if the given one is empty.
//
// It returns an error if v has another kind or apiVersion, or does not encode to a JSON object.
func Marshal(v any, apiVersion, kind string) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	raw, err = withTypeMeta(raw, apiVersion, kind)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return raw, nil
}

// typeField is one of the two members that Marshal adds.
type typeField struct {
	name, want string
	found      bool
}

// withTypeMeta adds the missing members before those of raw, and leaves out those that are empty.
func withTypeMeta(raw []byte, apiVersion, kind string) ([]byte, error) {
	fields := [...]typeField{{name: "kind", want: kind}, {name: "apiVersion", want: apiVersion}}
	if raw[0] != '{' {
		return nil, fmt.Errorf("it must be a JSON object, got a JSON %s", kindName(raw[0]))
	}
	s := skimmer{data: raw}
	var kept []byte // the members that stay, each with a comma before it
	dropped := false
	i, ended := afterOpen(raw, 1, '}')
	for i >= 0 && !ended {
		start := i
		end, plain := jsonlex.StringEnd(raw, i)
		if end < 0 {
			return nil, errNoJSON
		}
		name := raw[i+1 : end-1]
		if !plain {
			name = jsonlex.AppendUnquoted(nil, name)
		}
		at := afterColon(raw, end)
		if at < 0 {
			return nil, errNoJSON
		}
		if i = s.after(at); i < 0 {
			return nil, errNoJSON
		}
		empty, err := false, error(nil)
		for n := range fields {
			if f := &fields[n]; f.want != "" && f.name == string(name) {
				if empty, err = f.check(raw[at:i]); err != nil {
					return nil, err
				}
			}
		}
		if empty {
			dropped = true
		} else {
			kept = append(append(kept, ','), raw[start:i]...)
		}
		i, ended = afterComma(raw, i, '}')
	}
	if i < 0 {
		return nil, errNoJSON
	}
	var missing []byte
	for _, f := range fields {
		if f.want != "" && !f.found {
			missing = fmt.Appendf(missing, ",%q:", f.name)
			missing = append(missing, quote(f.want)...)
		}
	}
	if len(missing) == 0 && !dropped {
		return raw, nil
	}
	object := append(missing, kept...) // not empty: if nothing is missing, kept has the members
	object[0] = '{'
	return append(object, '}'), nil
}

// errNoJSON is the error for output that encoding/json never makes.
var errNoJSON = errors.New("it is not JSON")

// quote returns a string as JSON.
func quote(s string) []byte {
	quoted, _ := json.Marshal(s) // encoding a string cannot fail
	return quoted
}

// check reports whether the value is empty, and so must be replaced. It returns an error if the value is neither empty
// nor the wanted one.
func (f *typeField) check(value []byte) (empty bool, err error) {
	switch value[0] {
	case 'n':
		return true, nil
	case '"':
		text := jsonlex.Unquote(value[1 : len(value)-1])
		if text != "" && text != f.want {
			return false, fmt.Errorf("its %s must be %q or empty, got %q", f.name, f.want, text)
		}
		f.found = f.found || text != ""
		return text == "", nil
	default:
		return false, fmt.Errorf("its %s must be a string, got a JSON %s", f.name, kindName(value[0]))
	}
}
