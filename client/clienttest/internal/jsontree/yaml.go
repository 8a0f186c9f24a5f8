package jsontree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bowline-go/bowline/internal/directive"
)

// ParseYAML reads one document of YAML; JSON is YAML too. As in [Parse], numbers stay text, and if a member occurs
// twice, the last counts. twice lists the duplicate members.
func ParseYAML(doc []byte) (v any, twice []string, _ error) {
	v, wrong := Parse(doc)
	isJSON := wrong == nil
	if isJSON && !repeats(doc) {
		return v, nil, nil
	}
	var n yaml.Node
	y := yamlReader{left: maxYAML}
	err := directive.Check(doc)
	if err == nil {
		err = yaml.Unmarshal(doc, &n)
	}
	var read any
	if err == nil {
		read, err = y.value(&n, 0)
	}
	switch {
	case isJSON:
		return v, y.twice, nil
	case err != nil:
		return nil, nil, err
	}
	return read, y.twice, nil
}

// repeats reports whether an object of a JSON document has two members of one name.
func repeats(doc []byte) bool {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var within []map[string]bool // the names seen in each open object; nil for a list
	isName := false
	for {
		token, err := d.Token()
		if err != nil {
			return false
		}
		switch text, isText := token.(string); {
		case isName && isText:
			names := within[len(within)-1]
			if names[text] {
				return true
			}
			names[text], isName = true, false
			continue
		case token == json.Delim('{'):
			within = append(within, map[string]bool{})
		case token == json.Delim('['):
			within = append(within, nil)
		case token == json.Delim('}'), token == json.Delim(']'):
			within = within[:len(within)-1]
		}
		isName = len(within) > 0 && within[len(within)-1] != nil
	}
}

const (
	maxYAML      = 1 << 20 // values in a document, including those that aliases repeat
	maxYAMLDepth = 1000
)

var errExplodes = errors.New("yaml: document contains excessive aliasing")

// yamlReader converts nodes to values.
type yamlReader struct {
	left  int
	twice []string // the members that occur more than once
}

func (y *yamlReader) value(n *yaml.Node, depth int) (any, error) {
	if y.left--; y.left < 0 || depth > maxYAMLDepth {
		return nil, errExplodes
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return y.value(n.Content[0], depth+1)
	case yaml.AliasNode:
		return y.value(n.Alias, depth+1)
	case yaml.MappingNode:
		return y.object(n, depth)
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, e := range n.Content {
			var err error
			if out[i], err = y.value(e, depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	case yaml.ScalarNode:
		return scalarOf(n)
	}
	return nil, nil // an empty document
}

func (y *yamlReader) object(n *yaml.Node, depth int) (any, error) {
	out := make(Object, len(n.Content)/2)
	set := func(name string, v any, line int) {
		if _, found := out[name]; found {
			y.twice = append(y.twice, fmt.Sprintf("line %d: key %q already set in map", line, name))
		}
		out[name] = v
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		v, err := y.value(n.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		if key.Tag == "!!merge" {
			// The members of "<<" replace those before it. If it lists several objects, the first one that has a member
			// counts.
			from, isList := v.([]any)
			if !isList {
				from = []any{v}
			}
			for _, e := range slices.Backward(from) {
				m, ok := e.(Object)
				if !ok {
					return nil, errors.New("yaml: map merge requires map or sequence of maps as the value")
				}
				if y.left -= len(m); y.left < 0 {
					return nil, errExplodes
				}
				for _, name := range slices.Sorted(maps.Keys(m)) {
					set(name, m[name], key.Line)
				}
			}
			continue
		}
		name, err := y.key(key)
		if err != nil {
			return nil, err
		}
		set(name, v, key.Line)
	}
	return out, nil
}

// key returns a key as text, because the keys of JSON are strings.
func (y *yamlReader) key(n *yaml.Node) (string, error) {
	for range maxYAMLDepth {
		if n.Kind != yaml.AliasNode {
			break
		}
		n = n.Alias
	}
	if n.Kind == yaml.ScalarNode {
		v, err := scalarOf(n)
		switch v := v.(type) {
		case string:
			return v, err
		case bool, json.Number:
			return fmt.Sprint(v), err
		}
	}
	return "", fmt.Errorf("yaml: line %d: unsupported map key", n.Line)
}

// scalarOf reads a scalar by the rules of YAML 1.1, as the real server does: yes and on are true.
func scalarOf(n *yaml.Node) (any, error) {
	switch n.Tag {
	case "!!null":
		return nil, nil
	case "!!bool":
		var b bool
		err := n.Decode(&b)
		return b, err
	case "!!int":
		var i int64
		if err := n.Decode(&i); err == nil {
			return json.Number(strconv.FormatInt(i, 10)), nil
		}
		fallthrough
	case "!!float":
		var f float64
		if err := n.Decode(&f); err != nil {
			return nil, err
		}
		b, err := json.Marshal(f)
		return json.Number(b), err
	case "!!binary":
		var text string
		err := n.Decode(&text)
		return string([]rune(text)), err // valid UTF-8, as in JSON
	case "!!str":
		if n.Style == 0 {
			switch lower := strings.ToLower(n.Value); {
			case n.Value != lower && n.Value != strings.ToUpper(lower) && n.Value != strings.ToUpper(lower[:1])+lower[1:]:
			case slices.Contains([]string{"y", "yes", "on"}, lower):
				return true, nil
			case slices.Contains([]string{"n", "no", "off"}, lower):
				return false, nil
			}
		}
	}
	return n.Value, nil
}
