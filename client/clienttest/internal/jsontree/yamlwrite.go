package jsontree

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// FormatYAML returns a decoded JSON value as YAML.
func FormatYAML(v any) []byte { return formatYAML(yamlNode(v)) }

// FormatShortYAML is FormatYAML with each list of scalars in one line.
func FormatShortYAML(v any) []byte {
	n := yamlNode(v)
	shorten(n)
	return formatYAML(n)
}

func shorten(n *yaml.Node) {
	if n.Kind == yaml.SequenceNode && !slices.ContainsFunc(n.Content, func(e *yaml.Node) bool { return e.Kind != yaml.ScalarNode }) {
		n.Style = yaml.FlowStyle
	}
	for _, e := range n.Content {
		shorten(e)
	}
}

func formatYAML(n *yaml.Node) []byte {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	e.CompactSeqIndent()
	if err := e.Encode(n); err != nil {
		panic(err) // a node of such values can be encoded
	}
	_ = e.Close()
	return b.Bytes()
}

func yamlNode(v any) *yaml.Node {
	scalar := func(tag, text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text} }
	switch v := v.(type) {
	case Object:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			n.Content = append(n.Content, yamlText(k), yamlNode(v[k]))
		}
		return n
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, e := range v {
			n.Content = append(n.Content, yamlNode(e))
		}
		return n
	case string:
		return yamlText(v)
	case bool:
		return scalar("!!bool", strconv.FormatBool(v))
	case json.Number:
		if _, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return scalar("!!int", v.String())
		}
		return scalar("!!float", v.String())
	}
	return scalar("!!null", "null")
}

// yamlText returns the node of a string. It is quoted if a reader of YAML, or of YAML 1.1, would otherwise read
// another type.
func yamlText(s string) *yaml.Node {
	var n yaml.Node
	if err := n.Encode(s); err != nil {
		panic(err) // a text can be encoded
	}
	return &n
}
