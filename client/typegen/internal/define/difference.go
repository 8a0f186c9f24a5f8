package define

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/crd"
)

// This file finds the differences between a manifest and the definition that package crd makes. It compares trees of
// JSON, so it also finds members that package crd does not know.

// differences returns the differences between a version and the version in a manifest.
func differences(got crd.Version, want any) ([]string, error) {
	is, err := treeOf(got)
	if err != nil {
		return nil, err
	}
	var left []string
	differ(&left, "", is, want, false)
	return left, nil
}

// differ adds a line for each difference. isSchema says that the values are schemas, in which a zero member is like an
// absent one.
func differ(left *[]string, at string, is, want any, isSchema bool) {
	a, isObject := is.(map[string]any)
	b, bothObjects := want.(map[string]any)
	if !isObject || !bothObjects {
		if !equal(is, want) {
			*left = append(*left, fmt.Sprintf("%s is %s, and was %s", strings.TrimPrefix(at, "."), shown(is), shown(want)))
		}
		return
	}
	names := maps.Clone(a)
	maps.Copy(names, b)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		x, y := a[name], b[name]
		if isSchema {
			x, y = present(name, x), present(name, y)
		}
		if x == nil && y == nil {
			continue
		}
		switch {
		case name == "openAPIV3Schema":
			differ(left, "", x, y, true)
		case name == "schema" && !isSchema:
			differ(left, at, x, y, false)
		case isSchema && name == "properties":
			differEach(left, at, x, y)
		case isSchema && (name == "items" || name == "additionalProperties"):
			differ(left, at+"[]", x, y, true)
		case isSchema && name == "required":
			differ(left, at+"."+name, sorted(x), sorted(y), false)
		default:
			differ(left, at+"."+name, x, y, false)
		}
	}
}

// differEach compares the schemas of properties.
func differEach(left *[]string, at string, is, want any) {
	a, _ := is.(map[string]any)
	b, _ := want.(map[string]any)
	names := maps.Clone(b)
	if names == nil {
		names = map[string]any{}
	}
	maps.Copy(names, a)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		differ(left, at+"."+name, a[name], b[name], true)
	}
}

// present returns a member of a schema; nil if the member is like an absent one.
func present(name string, v any) any {
	if name == "default" || name == "example" || name == "additionalProperties" || name == "items" {
		return v
	}
	switch v := v.(type) {
	case bool:
		if !v {
			return nil
		}
	case string:
		if v == "" {
			return nil
		}
	case []any:
		if len(v) == 0 {
			return nil
		}
	case map[string]any:
		if len(v) == 0 {
			return nil
		}
	}
	return v
}

func sorted(v any) any {
	all, ok := v.([]any)
	if !ok {
		return v
	}
	all = slices.Clone(all)
	slices.SortFunc(all, func(x, y any) int { return strings.Compare(fmt.Sprint(x), fmt.Sprint(y)) })
	return all
}

// equal reports whether two trees are the same. Numbers are the same if their values are.
func equal(x, y any) bool {
	switch x := x.(type) {
	case json.Number:
		y, ok := y.(json.Number)
		if !ok || x == y {
			return ok
		}
		const longest = 400 // the precision in bits
		a, isA := new(big.Float).SetPrec(longest).SetString(x.String())
		b, isB := new(big.Float).SetPrec(longest).SetString(y.String())
		return isA && isB && a.Cmp(b) == 0
	case []any:
		y, ok := y.([]any)
		return ok && slices.EqualFunc(x, y, equal)
	case map[string]any:
		y, ok := y.(map[string]any)
		return ok && maps.EqualFunc(x, y, equal)
	}
	return x == y
}

// shown returns the text of a tree for a difference.
func shown(v any) string {
	if v == nil {
		return "absent"
	}
	text, _ := json.Marshal(v) // cannot fail: v was decoded from JSON
	const most = 200
	if len(text) > most {
		return string(text[:most]) + "..."
	}
	return string(text)
}

// withoutHead returns a version of a manifest without the members of objects that the server knows: apiVersion, kind
// and metadata of the object and of embedded ones, unless they say more than their type.
func withoutHead(version any) any {
	v, _ := version.(map[string]any)
	v = maps.Clone(v)
	holder, _ := v["schema"].(map[string]any)
	root, isObject := holder["openAPIV3Schema"].(map[string]any)
	if !isObject {
		return v
	}
	v["schema"] = map[string]any{"openAPIV3Schema": known(root, true)}
	return v
}

// known returns a schema without the members that withoutHead leaves out.
func known(s map[string]any, isObject bool) map[string]any {
	s = maps.Clone(s)
	properties, _ := s["properties"].(map[string]any)
	embedded, _ := s["x-kubernetes-embedded-resource"].(bool)
	isObject = isObject || embedded
	if properties != nil {
		properties = maps.Clone(properties)
		for name, v := range properties {
			p, ok := v.(map[string]any)
			switch {
			case !ok:
			case isObject && isHead(name) && isPlain(p):
				delete(properties, name)
			default:
				properties[name] = known(p, false)
			}
		}
		s["properties"] = properties
	}
	for _, name := range []string{"items", "additionalProperties"} {
		if inner, ok := s[name].(map[string]any); ok {
			s[name] = known(inner, false)
		}
	}
	if required, ok := s["required"].([]any); ok && isObject {
		s["required"] = slices.DeleteFunc(slices.Clone(required), func(v any) bool {
			name, _ := v.(string)
			return isHead(name)
		})
	}
	return s
}

func isHead(name string) bool { return name == "apiVersion" || name == "kind" || name == "metadata" }

// isPlain reports whether a schema has no more than a type and a description.
func isPlain(s map[string]any) bool {
	for name, v := range s {
		if name != "type" && name != "description" && present(name, v) != nil {
			return false
		}
	}
	return true
}
