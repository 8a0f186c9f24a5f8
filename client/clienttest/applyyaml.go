package clienttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// parseYAML reads one document of YAML, which JSON is as well, as parseJSON reads JSON: numbers stay text, and of members that are
// there twice the last counts.
func parseYAML(doc []byte) (any, error) {
	if v, err := parseJSON(doc); err == nil {
		return v, nil
	}
	var n yaml.Node
	if err := yaml.Unmarshal(doc, &n); err != nil {
		return nil, fmt.Errorf("error converting YAML to JSON: %w", err)
	}
	y := yamlReader{left: maxYAML}
	v, err := y.value(&n, 0)
	if err != nil {
		return nil, fmt.Errorf("error converting YAML to JSON: %w", err)
	}
	return v, nil
}

const (
	maxYAML      = 1 << 20 // values in a document, with those that aliases repeat
	maxYAMLDepth = 1000
)

// yamlReader makes values of nodes.
type yamlReader struct {
	left  int
	twice []string // what is there more than once
}

func (y *yamlReader) value(n *yaml.Node, depth int) (any, error) {
	if y.left--; y.left < 0 || depth > maxYAMLDepth {
		return nil, errors.New("yaml: document contains excessive aliasing")
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return y.value(n.Content[0], depth+1)
	case yaml.AliasNode:
		return y.value(n.Alias, depth+1)
	case yaml.MappingNode:
		out := make(members, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			v, err := y.value(n.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			if key.Tag == "!!merge" {
				y.merge(out, v)
				continue
			}
			if key.Kind != yaml.ScalarNode {
				return nil, fmt.Errorf("yaml: line %d: unsupported map key", key.Line)
			}
			if _, found := out[key.Value]; found {
				y.twice = append(y.twice, fmt.Sprintf("line %d: key %q already set in map", key.Line, key.Value))
			}
			out[key.Value] = v
		}
		return out, nil
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

// merge adds the members of what "<<" names, one object or several, that are not there yet.
func (y *yamlReader) merge(into members, from any) {
	list, ok := from.([]any)
	if !ok {
		list = []any{from}
	}
	for _, e := range list {
		m, _ := e.(members)
		for k, v := range m {
			if _, found := into[k]; !found {
				into[k] = v
			}
		}
	}
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

// strictYAML does what the fieldValidation of an apply says about members that are there twice. Those that the schema does not
// have are refused whatever it says.
func (c *call) strictYAML(w http.ResponseWriter, body []byte) error {
	directive := c.query.Get("fieldValidation")
	if directive == "Ignore" {
		return nil
	}
	var n yaml.Node
	y := yamlReader{left: maxYAML}
	if yaml.Unmarshal(body, &n) != nil {
		return nil // it was read as JSON
	}
	if _, err := y.value(&n, 0); err != nil || len(y.twice) == 0 {
		return nil
	}
	if directive == "Strict" {
		return badRequest("error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  %s",
			strings.Join(y.twice, "\n  "))
	}
	for _, text := range y.twice {
		w.Header().Add("Warning", fmt.Sprintf("299 - %q", text))
	}
	return nil
}
