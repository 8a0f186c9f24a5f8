package kubeconfig

import (
	"bytes"
	"encoding/json"
	"errors"

	"go.yaml.in/yaml/v3"
)

// Nearly all of JSON is YAML, but the YAML parser refuses some of it: \/ and surrogate pairs in strings, and long keys.
// So JSON is parsed as JSON, into the same nodes.

// decodeJSON parses data, which is valid JSON and therefore nested at most 10,000 deep. Its errors quote nothing of it.
func decodeJSON(data []byte) (*yaml.Node, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	n, err := jsonValue(d)
	if err != nil {
		return nil, errors.New("is not JSON that can be parsed")
	}
	return n, nil
}

// jsonValue parses the next value.
func jsonValue(d *json.Decoder) (*yaml.Node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		if token == '{' {
			n.Kind, n.Tag = yaml.MappingNode, "!!map"
		}
		for d.More() {
			value, err := jsonValue(d) // the keys of an object are tokens like its values
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, value)
		}
		_, err := d.Token() // the end of the object or list
		return n, err
	case string:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: token}, nil
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: token.String()}, nil
	case bool:
		n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "false"}
		if token {
			n.Value = "true"
		}
		return n, nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
}
