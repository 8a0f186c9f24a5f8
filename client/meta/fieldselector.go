package meta

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// FieldSelector selects objects by the values of some of their fields: an object must meet every term. The server
// chooses which fields each resource supports; metadata.name and metadata.namespace always work.
//
// It is an immutable value in canonical form, with its terms sorted; the zero FieldSelector selects everything.
type FieldSelector struct {
	terms []FieldTerm
}

// FieldTerm is one condition: a field has a value, or does not have it. An absent field has the empty value.
type FieldTerm struct {
	// Field is the field's path, such as "metadata.name" or "spec.nodeName".
	Field string
	// Value is the value without any escaping.
	Value string
	// Differs negates the condition: the field must not have the value.
	Differs bool
}

// NewFieldSelector returns the selector of objects that meet every term. The error names each field that cannot be
// written in a selector: its name must not be empty or contain white space, a control character, or any of = ! , and
// backslash.
func NewFieldSelector(terms ...FieldTerm) (FieldSelector, error) {
	var errs []error
	for _, t := range terms {
		if err := t.valid(); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return FieldSelector{}, fmt.Errorf("field selector: %w", errors.Join(errs...))
	}
	return fieldSelectorOf(slices.Clone(terms)), nil
}

// ParseFieldSelector parses a field selector in the syntax of the API and of kubectl's --field-selector: terms of the
// form field=value, field==value or field!=value, separated by commas. In a value, a backslash escapes a backslash, a
// comma or an equals sign; white space is significant. The error names the place in text, and says what was found and
// what is allowed.
func ParseFieldSelector(text string) (FieldSelector, error) {
	p := fieldParser{text: text}
	var terms []FieldTerm
	for p.pos < len(text) {
		if text[p.pos] == ',' { // the server accepts an empty term
			p.pos++
			continue
		}
		t, err := p.term()
		if err != nil {
			return FieldSelector{}, err
		}
		terms = append(terms, t)
	}
	return fieldSelectorOf(terms), nil
}

// Matches reports whether an object meets every term. value returns a field of the object and whether the object has
// it; an absent field counts as empty, as in the server.
func (s FieldSelector) Matches(value func(field string) (string, bool)) bool {
	for _, t := range s.terms {
		got, found := value(t.Field)
		if !found {
			got = ""
		}
		if (got == t.Value) == t.Differs {
			return false
		}
	}
	return true
}

// Everything reports whether the selector has no terms, and so selects every object.
func (s FieldSelector) Everything() bool { return len(s.terms) == 0 }

// Terms returns a copy of the terms, in the order in which String prints them.
func (s FieldSelector) Terms() []FieldTerm { return slices.Clone(s.terms) }

// String returns the selector in the syntax of the API, as [ParseFieldSelector] parses it and as a fieldSelector
// parameter carries it. It is empty for the selector of everything.
func (s FieldSelector) String() string {
	var b strings.Builder
	for i, t := range s.terms {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(t.Field)
		if t.Differs {
			b.WriteByte('!')
		}
		b.WriteByte('=')
		for i := range len(t.Value) {
			if strings.IndexByte(fieldEscaped, t.Value[i]) >= 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(t.Value[i])
		}
	}
	return b.String()
}

// fieldEscaped are the bytes that a backslash escapes in a value.
const fieldEscaped = `\,=`

// fieldSelectorOf takes ownership of terms, sorts them and drops duplicates.
func fieldSelectorOf(terms []FieldTerm) FieldSelector {
	if len(terms) == 0 {
		return FieldSelector{}
	}
	slices.SortFunc(terms, func(a, b FieldTerm) int {
		if c := strings.Compare(a.Field, b.Field); c != 0 {
			return c
		}
		if a.Differs != b.Differs {
			if b.Differs {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Value, b.Value)
	})
	return FieldSelector{slices.Compact(terms)}
}

func (t FieldTerm) valid() error {
	if t.Field == "" || strings.ContainsAny(t.Field, `=!,\`) ||
		strings.ContainsFunc(t.Field, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return fmt.Errorf(`field must be a path such as metadata.name, without white space or any of = ! , \, got %q`,
			clip(t.Field))
	}
	return nil
}

type fieldParser struct {
	text string
	pos  int
}

// term parses one term; it leaves pos at the comma after the term, or at the end.
func (p *fieldParser) term() (FieldTerm, error) {
	start := p.pos
	end := strings.IndexAny(p.text[start:], `=!,\`)
	if end < 0 {
		end = len(p.text) - start
	}
	t := FieldTerm{Field: p.text[start : start+end]}
	if err := t.valid(); err != nil {
		return FieldTerm{}, p.fail(start, err.Error())
	}
	p.pos = start + end
	rest := p.text[p.pos:]
	switch {
	case strings.HasPrefix(rest, "!="):
		t.Differs = true
		p.pos += 2
	case strings.HasPrefix(rest, "=="):
		p.pos += 2
	case strings.HasPrefix(rest, "="):
		p.pos++
	case rest == "":
		return FieldTerm{}, p.fail(p.pos, "found the end, want one of = == !=")
	default:
		return FieldTerm{}, p.fail(p.pos, fmt.Sprintf("found %q, want one of = == !=", rest[:1]))
	}
	var err error
	t.Value, err = p.value()
	return t, err
}

// value parses an escaped value, up to a comma or the end.
func (p *fieldParser) value() (string, error) {
	var b strings.Builder
	for ; p.pos < len(p.text) && p.text[p.pos] != ','; p.pos++ {
		switch c := p.text[p.pos]; c {
		case '=':
			return "", p.fail(p.pos, `found "=" in a value, which must be written "\="`)
		case '\\':
			p.pos++
			if p.pos == len(p.text) {
				return "", p.fail(p.pos, `found the end, want one of \ , = after a backslash`)
			}
			escaped := p.text[p.pos]
			if strings.IndexByte(fieldEscaped, escaped) < 0 {
				return "", p.fail(p.pos, fmt.Sprintf(`found %q, want one of \ , = after a backslash`, string(rune(escaped))))
			}
			b.WriteByte(escaped)
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), nil
}

func (p *fieldParser) fail(offset int, problem string) error {
	return syntaxError("field", p.text, offset, problem)
}
