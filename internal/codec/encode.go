package codec

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// Marshal returns the JSON of an object as encoding/json has it, with its kind and apiVersion. Where v leaves them out or
// empty, they come first, kind before apiVersion, as the Kubernetes API writes them; apart from that every byte is that
// of encoding/json. An apiVersion or kind that is passed empty is not looked at.
//
// It returns an error if v has another kind or apiVersion, or encodes to something else than a JSON object.
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

// typeField is one of the two members that Marshal looks after.
type typeField struct {
	name, want string
	found      bool
}

// withTypeMeta puts what is missing before the members of raw, and leaves out those that are empty.
func withTypeMeta(raw []byte, apiVersion, kind string) ([]byte, error) {
	fields := [...]typeField{{name: "kind", want: kind}, {name: "apiVersion", want: apiVersion}}
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if k := d.PeekKind(); k != '{' {
		return nil, fmt.Errorf("it is a JSON %s, not an object", kindName(k))
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	var kept []byte // the members that stay, each with a comma before it
	dropped := false
	for d.PeekKind() != '}' {
		quoted, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		// Only text that is not Unicode is an error here, and then the name is not one of ours.
		name, _ := jsontext.AppendUnquote(nil, quoted)
		start := int(d.InputOffset()) - len(quoted)
		value, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		empty := false
		for i := range fields {
			if f := &fields[i]; f.want != "" && f.name == string(name) {
				if empty, err = f.check(value); err != nil {
					return nil, err
				}
			}
		}
		if empty {
			dropped = true
		} else {
			kept = append(append(kept, ','), raw[start:d.InputOffset()]...)
		}
	}
	var missing []byte
	for _, f := range fields {
		if f.want != "" && !f.found {
			missing = fmt.Appendf(missing, ",%q:", f.name)
			missing, _ = jsontext.AppendQuote(missing, f.want)
		}
	}
	if len(missing) == 0 && !dropped {
		return raw, nil
	}
	object := append(missing, kept...) // not empty: where nothing is missing, kept has what was found
	object[0] = '{'
	return append(object, '}'), nil
}

// check reports whether the value is empty, and thus to be replaced, and refuses one that is not the wanted one.
func (f *typeField) check(value jsontext.Value) (empty bool, err error) {
	switch k := value.Kind(); k {
	case 'n':
		return true, nil
	case '"':
		text, _ := jsontext.AppendUnquote(nil, value)
		if len(text) > 0 && string(text) != f.want {
			return false, fmt.Errorf("its %s is %q, not %q", f.name, text, f.want)
		}
		f.found = f.found || len(text) > 0
		return len(text) == 0, nil
	default:
		return false, fmt.Errorf("its %s is a JSON %s, not a string", f.name, kindName(k))
	}
}
