// Package sharding reads the shard selectors of lists and watches (KEP-5866), as kube-apiserver does.
package sharding

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// Selector selects the objects with a hash in one of some ranges.
type Selector struct {
	ranges []hashRange
}

type hashRange struct {
	field      string
	start, end string // "0x" and 16 digits, or endOfAll
}

// Matches reports whether the selector selects an object.
func (s *Selector) Matches(namespace, uid string) bool {
	value := uid
	if s.ranges[0].field == namespaceField {
		value = namespace
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(value))
	hash := fmt.Sprintf("0x%016x", h.Sum64())
	for _, r := range s.ranges {
		if !less(hash, r.start) && less(hash, r.end) {
			return true
		}
	}
	return false
}

// String returns the selector in the form of a list's shardInfo.
func (s *Selector) String() string {
	var parts []string
	for _, r := range s.ranges {
		parts = append(parts, fmt.Sprintf("shardRange(%s, '%s', '%s')", r.field, r.start, r.end))
	}
	return strings.Join(parts, " || ")
}

// less compares two numbers in the form that a selector has.
func less(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

const (
	uidField       = "object.metadata.uid"
	namespaceField = "object.metadata.namespace"

	endOfAll = "0x10000000000000000"
)

// Parse reads a selector. The errors are those of a server, except for texts that are not CEL expressions, and for
// expressions with more than calls, fields, literals and ||.
func Parse(text string) (*Selector, error) {
	if text = strings.TrimSpace(text); text == "" {
		return nil, fmt.Errorf("empty shard selector is not allowed; omit the parameter for unfiltered lists")
	}
	e, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("CEL parse error: %w", err)
	}
	s := new(Selector)
	if err := s.add(e); err != nil {
		return nil, err
	}
	for _, r := range s.ranges[1:] {
		if first := s.ranges[0].field; r.field != first {
			return nil, fmt.Errorf("all shard ranges must use the same field, got %q and %q", first, r.field)
		}
	}
	return s, nil
}

// add adds the ranges of an expression.
func (s *Selector) add(e expression) error {
	switch {
	case e.kind != callKind:
		return fmt.Errorf("unexpected expression kind %d; expected shardRange() call or || operator", e.kind)
	case e.name == or:
		for _, side := range e.args {
			if err := s.add(side); err != nil {
				return err
			}
		}
		return nil
	case e.name != "shardRange":
		return fmt.Errorf("unsupported function %q; only shardRange() and || are allowed", e.name)
	case len(e.args) != 3:
		return fmt.Errorf("shardRange() requires exactly 3 arguments, got %d", len(e.args))
	}
	field, err := e.args[0].path()
	if err != nil {
		return fmt.Errorf("shardRange() first argument: %w", err)
	}
	if field != uidField && field != namespaceField {
		return fmt.Errorf("unsupported field path %q; supported: %s, %s", field, uidField, namespaceField)
	}
	start, err := e.args[1].number("hexStart")
	if err != nil {
		return err
	}
	end, err := e.args[2].number("hexEnd")
	if err != nil {
		return err
	}
	if !less(start, end) {
		return fmt.Errorf("shard range start %s must be less than end %s", start, end)
	}
	s.ranges = append(s.ranges, hashRange{field, start, end})
	return nil
}

// path returns the path of a field.
func (e expression) path() (string, error) {
	switch e.kind {
	case identKind:
		return e.name, nil
	case selectKind:
		operand, err := e.args[0].path()
		return operand + "." + e.name, err
	}
	return "", fmt.Errorf("expected field path (e.g. object.metadata.uid), got expression kind %d", e.kind)
}

// number returns the text of a bound; name is that of the argument.
func (e expression) number(name string) (string, error) {
	if e.kind != literalKind {
		return "", fmt.Errorf("%s must be a string literal (e.g. '0xff'), got expression kind %d", name, e.kind)
	}
	if e.typ != "string" {
		return "", fmt.Errorf("%s must be a string literal, got %s", name, e.typ)
	}
	digits, found := strings.CutPrefix(e.name, "0x")
	switch {
	case !found:
		return "", fmt.Errorf("%s must have '0x' prefix, got %q", name, e.name)
	case digits == "":
		return "", fmt.Errorf("%s: hex value is required after '0x'", name)
	case len(digits) > 17:
		return "", fmt.Errorf("%s: hex value too long (%d chars, max 17): %q", name, len(digits), digits)
	}
	for _, c := range digits {
		if !strings.ContainsRune("0123456789abcdef", c) {
			return "", fmt.Errorf("%s: invalid hex character %q in %q", name, string(c), e.name)
		}
	}
	switch {
	case len(digits) == 17 && e.name != endOfAll:
		return "", fmt.Errorf("%s: 17-digit hex value must be '%s' (2^64), got %q", name, endOfAll, e.name)
	case len(digits) < 16:
		return "", fmt.Errorf("%s must be a 0x-prefixed 16-digit hex value, got %q (did you mean %q?)", name, e.name,
			"0x"+strings.Repeat("0", 16-len(digits))+digits)
	}
	return e.name, nil
}
