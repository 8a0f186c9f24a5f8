package kubeconfig

import (
	"encoding/base64"
	"regexp"

	"go.yaml.in/yaml/v3"

	"github.com/bowline-go/bowline/client"
)

// This file makes the nodes that a change adds to a kubeconfig.

// plainText matches text that every version of YAML reads as a string. Other libraries than Go's YAML read kubeconfigs
// too: for some of them, yes is a boolean, and 1:30 and 0x1f are numbers.
var (
	plainText = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9/._@=+-]*(://[A-Za-z0-9/._@=+-]+(:[0-9]+)?[A-Za-z0-9/._@=+-]*)?$`)
	notText   = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|true|false|null|nan|inf)$`)
)

// quotedNode returns a node that every parser reads as a string.
func quotedNode(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if !plainText.MatchString(s) || notText.MatchString(s) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// The functions below return nil for zero values, which are left out of a file.

func stringNode[S ~string](s S) *yaml.Node {
	if s == "" {
		return nil
	}
	return quotedNode(string(s))
}

func dataNode(s client.Secret) *yaml.Node {
	return stringNode(base64.StdEncoding.EncodeToString([]byte(s)))
}

func boolNode(b bool) *yaml.Node {
	if !b {
		return nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true"}
}

func listNode[S ~string](texts []S) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for _, text := range texts {
		n.Content = append(n.Content, quotedNode(string(text)))
	}
	return unlessEmpty(n)
}

// unlessEmpty returns n, or nil if n has no content. A nil value deletes a field.
func unlessEmpty(n *yaml.Node) *yaml.Node {
	if len(n.Content) == 0 {
		return nil
	}
	return n
}

func mappingNode() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"} }
