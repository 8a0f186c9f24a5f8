package kubeconfig

import (
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/bowline-go/bowline/client"
)

// stanza is a mapping of a kubeconfig: its fields, and the first error found in it. As with a bufio.Scanner, the caller
// may read several values and check err at the end; a value after an error is empty.
type stanza struct {
	src    *source
	path   string                // such as users["admin"]; empty for the file as a whole
	values map[string]*yaml.Node // the known fields; an explicit null hides what a merge key would bring
	other  []string              // the names of other fields, at most maxOther of them
	within []string              // warnings about its content
	strict bool                  // whether unwise is an error
	place  int                   // its index among the stanzas of its kind in its file
	err    error
}

// maxOther bounds how many names of unknown fields a stanza keeps. More names do not help the user, and each new name
// is compared with all others.
const maxOther = 20

// clone returns a copy, so that reading values has no effect on s; nil for nil.
func (s *stanza) clone() *stanza {
	if s == nil {
		return nil
	}
	c := *s
	return &c
}

// fail records the error of a field, unless there is an earlier error.
func (s *stanza) fail(field string, err error) {
	if s.err == nil {
		s.err = &FieldError{file: s.src.name, stanza: s.path, field: field, err: err}
	}
}

// unwise records a mistake that kubectl accepts: as a warning that also says how it is handled, or as an error if Write
// would write it (strict).
func (s *stanza) unwise(field string, fault error, instead string) {
	switch {
	case s.err != nil:
	case s.strict:
		s.fail(field, fault)
	default:
		e := FieldError{file: s.src.name, stanza: s.path, field: field, err: fault}
		s.within = append(s.within, e.Error()+": "+instead)
	}
}

// read takes the known fields of the mapping n, which is not null. It keeps only the names of others.
func (s *stanza) read(n *yaml.Node, known ...string) {
	s.values = map[string]*yaml.Node{}
	if n.Kind != yaml.MappingNode {
		s.fail("", errors.New("must be a mapping"))
		return
	}
	s.merge(n, known)
}

// merge adds the known fields of n that are not set yet: first its own, then those of its YAML merge keys (<<), of
// which the first wins.
func (s *stanza) merge(n *yaml.Node, known []string) {
	own := map[string]*yaml.Node{}
	var others []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := follow(n.Content[i]), follow(n.Content[i+1])
		switch {
		case key.Tag == "!!merge" && value.Kind == yaml.SequenceNode:
			others = append(others, value.Content...)
		case key.Tag == "!!merge":
			others = append(others, value)
		case key.Kind != yaml.ScalarNode:
		case !slices.Contains(known, key.Value):
			if len(s.other) < maxOther && !slices.Contains(s.other, key.Value) {
				s.other = append(s.other, key.Value)
			}
		case own[key.Value] != nil:
			s.fail(key.Value, errors.New("is set twice"))
		default:
			own[key.Value] = value
		}
	}
	for field, value := range own {
		if s.values[field] == nil {
			s.values[field] = value
		}
	}
	for _, other := range others {
		if other = follow(other); other.Kind != yaml.MappingNode {
			s.fail("", errors.New("must have mappings only under the merge key (<<)"))
			return
		}
		s.merge(other, known)
	}
}

// value returns the value of a field; nil if it is absent or null, or after an error.
func (s *stanza) value(field string) *yaml.Node {
	n := s.values[field]
	if s.err != nil || n == nil || isNull(n) {
		return nil
	}
	return n
}

// has reports whether a field is set: to anything but null and the empty string.
func (s *stanza) has(field string) bool {
	n := s.value(field)
	return n != nil && (n.Kind != yaml.ScalarNode || n.Value != "")
}

// text returns a string; empty if it is not set. Text that YAML would read as a number, a date or a boolean stays as it
// is written.
func (s *stanza) text(field string) string {
	n := s.value(field)
	if n == nil {
		return ""
	}
	text, ok := text(n)
	if !ok {
		s.fail(field, errors.New("must be a string"))
	}
	return text
}

// flag returns a boolean; false if it is not set.
func (s *stanza) flag(field string) bool {
	n := s.value(field)
	if n == nil {
		return false
	}
	var b bool
	if n.Kind != yaml.ScalarNode || n.Decode(&b) != nil {
		s.fail(field, errors.New("must be true or false"))
		return false
	}
	return b
}

// data decodes a base64 field; empty if it is not set.
func (s *stanza) data(field string) client.Secret {
	data, err := base64.StdEncoding.DecodeString(s.text(field))
	if err != nil {
		s.fail(field, fmt.Errorf("is not base64: %w", err))
		return ""
	}
	return client.Secret(data)
}

// file returns an absolute path; empty if it is not set.
func (s *stanza) file(field string) string {
	path := s.text(field)
	if path == "" {
		return ""
	}
	if !filepath.IsAbs(path) {
		if s.src.dir == "" {
			s.fail(field, fmt.Errorf("must be an absolute path, because it is not in a file, got %q", path))
			return ""
		}
		path = filepath.Join(s.src.dir, path)
	}
	if s.src.open {
		if err := readable(path); err != nil {
			s.fail(field, fmt.Errorf("%q cannot be read: %w", path, err))
			return ""
		}
	}
	return path
}

// either returns the data of the field with the suffix -data or, if that is not set, the file that the field names.
func (s *stanza) either(field string) (data client.Secret, file string) {
	if data = s.data(field + "-data"); data != "" {
		return data, ""
	}
	return "", s.file(field)
}

// list returns a list of strings; nil if it is not set.
func (s *stanza) list(field string) []string {
	n := s.value(field)
	if n == nil {
		return nil
	}
	texts, ok := texts(n)
	if !ok {
		s.fail(field, errors.New("must be a list of strings, none of them empty"))
	}
	return texts
}

// lists returns lists of strings by name; nil if it is not set.
func (s *stanza) lists(field string) map[string][]string {
	n := s.value(field)
	if n == nil {
		return nil
	}
	wrong := errors.New("must be a mapping of names to lists of strings, none of them empty")
	if n.Kind != yaml.MappingNode {
		s.fail(field, wrong)
		return nil
	}
	all := map[string][]string{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, isText := text(follow(n.Content[i]))
		list, isList := texts(follow(n.Content[i+1]))
		switch {
		case !isText || name == "" || !isList:
			s.fail(field, wrong)
		case all[name] != nil:
			s.fail(field, fmt.Errorf("has %q twice", name))
		}
		all[name] = append([]string{}, list...)
	}
	return all
}

// texts returns the strings of a list, and whether n is a list of non-empty strings.
func texts(n *yaml.Node) (list []string, ok bool) {
	if n.Kind != yaml.SequenceNode {
		return nil, isNull(n)
	}
	for _, item := range n.Content {
		item, ok := text(follow(item))
		if !ok || item == "" {
			return nil, false
		}
		list = append(list, item)
	}
	return list, true
}

// text returns a string as it is written, and whether n is a string.
func text(n *yaml.Node) (string, bool) {
	if n.Kind == yaml.ScalarNode {
		switch n.Tag {
		case "!!str", "!!int", "!!float", "!!bool", "!!timestamp", "!!merge":
			return n.Value, true
		}
	}
	return "", false
}

// follow returns n, or the target of the alias n.
func follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }
