package crd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// This file checks values, such as defaults, by their schema. The server has the last word: it also checks formats and
// rules.

// consistent returns an error if a minimum of the schema is above the maximum, so that no value can meet both.
func (s *Schema) consistent() error {
	if s.Minimum != nil && s.Maximum != nil {
		low, err := rational(s.Minimum.String())
		high, err2 := rational(s.Maximum.String())
		if err != nil || err2 != nil {
			return errors.Join(err, err2)
		}
		if order := low.Cmp(high); order > 0 || order == 0 && (s.ExclusiveMinimum || s.ExclusiveMaximum) {
			return fmt.Errorf("no number is above the minimum %s and below the maximum %s of the tag or the type", s.Minimum, s.Maximum)
		}
	}
	for _, f := range []struct {
		min, max *int64
		of       string
	}{{s.MinLength, s.MaxLength, "Length"}, {s.MinItems, s.MaxItems, "Items"}, {s.MinProperties, s.MaxProperties, "Properties"}} {
		if f.min != nil && f.max != nil && *f.min > *f.max {
			return fmt.Errorf("min%s is %d, above max%s, which is %d, in the tag or the type", f.of, *f.min, f.of, *f.max)
		}
	}
	return nil
}

// check returns an error if a JSON value does not fit the schema.
func (s *Schema) check(value json.RawMessage) error {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return err
	}
	return s.checkValue(v, "")
}

func (s *Schema) checkValue(v any, at string) error {
	refuse := func(format string, args ...any) error {
		if at != "" {
			format = "at " + at + ": " + format
		}
		return fmt.Errorf(format, args...)
	}
	if v == nil {
		if !s.Nullable && !s.anything() {
			return refuse("null is not allowed, the value is %s", shown(s))
		}
		return nil
	}
	if !s.hasType(v) {
		return refuse("%s is not allowed, the value is %s", asJSON(v), shown(s))
	}
	if len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(e json.RawMessage) bool { return string(e) == asJSON(v) }) {
		return refuse("%s is not in the enum, which has %s", asJSON(v), bytes.Join(rawTexts(s.Enum), []byte(", ")))
	}
	switch v := v.(type) {
	case string:
		if err := s.checkText(v); err != nil {
			return refuse("%w", err)
		}
	case json.Number:
		if err := s.checkNumber(v); err != nil {
			return refuse("%w", err)
		}
	case []any:
		if err := between(len(v), s.MinItems, s.MaxItems); err != nil {
			return refuse("the number of elements %w", err)
		}
		for i, e := range v {
			if s.Items == nil {
				break
			}
			if err := s.Items.checkValue(e, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	case map[string]any:
		if err := between(len(v), s.MinProperties, s.MaxProperties); err != nil {
			return refuse("the number of members %w", err)
		}
		return s.checkMembers(v, at)
	}
	return nil
}

func rawTexts(values []json.RawMessage) (texts [][]byte) {
	for _, v := range values {
		texts = append(texts, v)
	}
	return texts
}

func asJSON(v any) string {
	if text, is := v.(string); is {
		return string(quote(text))
	}
	text, _ := json.Marshal(v) // cannot fail: v was decoded from JSON
	return string(text)
}

func (s *Schema) hasType(v any) bool {
	switch v := v.(type) {
	case string:
		return s.Type == "string" || s.IntOrString || s.anything()
	case bool:
		return s.Type == "boolean" || s.anything()
	case json.Number:
		n, err := rational(v.String())
		return err == nil && (s.Type == "number" || s.anything() || n.IsInt() && (s.Type == "integer" || s.IntOrString))
	case []any:
		return s.Type == "array" || s.anything()
	case map[string]any:
		return s.Type == "object" || s.anything()
	}
	return false
}

func (s *Schema) checkText(text string) error {
	if err := between(utf8.RuneCountInString(text), s.MinLength, s.MaxLength); err != nil {
		return fmt.Errorf("the length of %q %w", text, err)
	}
	if s.Pattern == "" {
		return nil
	}
	pattern, err := regexp.Compile(s.Pattern)
	if err == nil && !pattern.MatchString(text) {
		err = fmt.Errorf("%q does not match the pattern %s", text, s.Pattern)
	}
	return err
}

// between returns an error if n is not from least to most.
func between(n int, least, most *int64) error {
	switch {
	case least != nil && int64(n) < *least:
		return fmt.Errorf("must be at least %d, got %d", *least, n)
	case most != nil && int64(n) > *most:
		return fmt.Errorf("must be at most %d, got %d", *most, n)
	}
	return nil
}

func (s *Schema) checkNumber(v json.Number) error {
	n, err := rational(v.String())
	if err != nil {
		return err
	}
	for _, limit := range []struct {
		is        *json.Number
		exclusive bool
		sign      int // the result of n.Cmp(bound) for a number n that breaks the limit
		must      string
	}{{s.Minimum, s.ExclusiveMinimum, -1, "at least"}, {s.Maximum, s.ExclusiveMaximum, 1, "at most"}} {
		if limit.is == nil {
			continue
		}
		bound, err := rational(limit.is.String())
		if err != nil {
			return err
		}
		if order := n.Cmp(bound); order == limit.sign || order == 0 && limit.exclusive {
			return fmt.Errorf("%s must be %s %s%s", v, limit.must, limit.is, map[bool]string{true: ", and not that"}[limit.exclusive])
		}
	}
	if s.MultipleOf != nil {
		step, err := rational(s.MultipleOf.String())
		if err != nil || !step.Quo(n, step).IsInt() {
			return errors.Join(err, fmt.Errorf("%s must be a multiple of %s", v, s.MultipleOf))
		}
	}
	return nil
}

func (s *Schema) checkMembers(v map[string]any, at string) error {
	for _, name := range s.Required {
		if _, found := v[name]; !found {
			return fmt.Errorf("at %s: the member is required", strings.TrimPrefix(at+"."+name, "."))
		}
	}
	for _, name := range []string{"apiVersion", "kind"} {
		if text, _ := v[name].(string); s.EmbeddedResource && text == "" {
			return fmt.Errorf("at %s: the member is required in a whole object", strings.TrimPrefix(at+"."+name, "."))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if s.EmbeddedResource && (name == "apiVersion" || name == "kind" || name == "metadata") {
			continue
		}
		in := strings.TrimPrefix(at+"."+name, ".")
		of := s.Properties[name]
		if of == nil {
			of = s.values()
		}
		switch {
		case of != nil:
			if err := of.checkValue(v[name], in); err != nil {
				return err
			}
		case !s.PreserveUnknownFields:
			return fmt.Errorf("at %s: the server drops the member; allowed are %q", in, s.members())
		}
	}
	return nil
}
