package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bowline-go/bowline/internal/directive"
)

// Trees reads the documents of a file of JSON or YAML. A value is nil, a bool, a json.Number, a string, a []any or a
// map[string]any. The elements of Lists, such as kubectl writes, count as documents.
func Trees(data []byte) ([]any, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("it must have at most %d bytes, got %d", MaxBytes, len(data))
	}
	docs, err := readJSON(data)
	if err != nil {
		if docs, err = readYAML(data); err != nil {
			return nil, err
		}
	}
	var all []any
	for _, doc := range docs {
		o, _ := doc.(map[string]any)
		items, isList := o["items"].([]any)
		if kind, _ := o["kind"].(string); isList && strings.HasSuffix(kind, "List") {
			all = append(all, items...)
		} else if doc != nil {
			all = append(all, doc)
		}
	}
	return all, nil
}

func readJSON(data []byte) (docs []any, _ error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	for {
		var doc any
		switch err := d.Decode(&doc); {
		case err == io.EOF:
			return docs, nil
		case err != nil:
			return nil, err
		}
		docs = append(docs, doc)
	}
}

func readYAML(data []byte) (docs []any, err error) {
	if err := directive.Check(data); err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil { // the library panics in states that it considers impossible
			docs, err = nil, errors.New("it must be YAML or JSON: the YAML parser panicked")
		}
	}()
	for d := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var n yaml.Node
		switch err := d.Decode(&n); {
		case errors.Is(err, io.EOF):
			return docs, nil
		case err != nil:
			return nil, fmt.Errorf("it must be YAML or JSON: %w", err)
		}
		y := yamlReader{left: MaxValues}
		doc, err := y.value(&n, 0)
		if err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
}

// yamlReader makes the values of nodes.
type yamlReader struct{ left int }

// A document nests deeper than its schemas: each schema is within properties, which is within a schema.
const maxTreeDepth = 4 * MaxDepth

func (y *yamlReader) value(n *yaml.Node, depth int) (any, error) {
	if y.left--; y.left < 0 || depth > maxTreeDepth {
		return nil, fmt.Errorf("line %d: the YAML must have at most %d values, those of aliases included, at most %d deep", n.Line, MaxValues, maxTreeDepth)
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
		return scalar(n)
	}
	return nil, nil // an empty document
}

func (y *yamlReader) object(n *yaml.Node, depth int) (any, error) {
	out := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" {
			return nil, fmt.Errorf("line %d: a key must be a scalar, and not a merge key", key.Line)
		}
		name, err := scalar(key)
		if err != nil {
			return nil, err
		}
		v, err := y.value(n.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		if text, isText := name.(string); isText {
			out[text] = v
		} else {
			out[fmt.Sprint(name)] = v
		}
	}
	return out, nil
}

// scalar reads a scalar by the rules of YAML 1.1, as the server and kubectl do: yes and on are true.
func scalar(n *yaml.Node) (any, error) {
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
		if err != nil {
			return nil, fmt.Errorf("line %d: a number must be finite", n.Line)
		}
		return json.Number(b), nil
	case "!!binary":
		var text string
		err := n.Decode(&text)
		return text, err
	case "!!str":
		if b, is := oldBool(n.Value); is && n.Style == 0 {
			return b, nil
		}
	}
	return n.Value, nil
}

// oldBool returns the value of a plain text that is a boolean in YAML 1.1 and a string in 1.2.
func oldBool(text string) (value, is bool) {
	lower := strings.ToLower(text)
	if lower == "" || text != lower && text != strings.ToUpper(lower) && text != strings.ToUpper(lower[:1])+lower[1:] {
		return false, false
	}
	value = slices.Contains([]string{"y", "yes", "on"}, lower)
	return value, value || slices.Contains([]string{"n", "no", "off"}, lower)
}
