package meta

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// This file reads the fields of causes, as servers write them: "spec.containers[0].image", "metadata.labels[a/b.c]". A
// server escapes nothing, so a text may have several meanings. The object that was sent shows which one is right.

// Pointer returns the JSON pointer (RFC 6901) to the field of the cause, such as "/spec/containers/0/image". It is
// empty for the whole object, which servers write as "<nil>".
//
// obj is the object that was sent: any value that encodes to JSON, or nil. It decides which dots and brackets belong to
// a name, as in a member "a.b". Without an object, and after the last part that the object has, every dot outside of
// brackets ends a name.
//
// Pointer returns an error if the cause has no field, if the field cannot be read, or if obj cannot be encoded.
func (c StatusCause) Pointer(obj any) (string, error) {
	found, rest, _, err := c.follow(obj)
	if err != nil {
		return "", err
	}
	for rest != "" {
		name, after := cutStep(rest)
		if after == rest { // the object has a name with half of a bracket
			name, after = rest, ""
		}
		found, rest = append(found, name), after
	}
	var b strings.Builder
	for _, name := range found {
		b.WriteByte('/')
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1"))
	}
	return b.String(), nil
}

// Value returns the value of obj at the field of the cause: nil, a string, a bool, an int64, a float64, a json.Number
// if the number fits neither, a map[string]any or a []any. found is false if obj has no such field, as for a required
// field that is missing. The error and obj are as for [StatusCause.Pointer].
func (c StatusCause) Value(obj any) (value any, found bool, err error) {
	_, rest, value, err := c.follow(obj)
	if err != nil || rest != "" {
		return nil, false, err
	}
	return value, true, nil
}

// follow walks along the field as far as obj has it. It returns the names on the way, the part of the field that obj
// lacks, and the value where the walk ended.
func (c StatusCause) follow(obj any) (way []string, rest string, value any, err error) {
	field := c.Field
	switch {
	case field == "":
		return nil, "", nil, errors.New("the cause has no field")
	case field == "<nil>":
		field = ""
	case field[0] != '[':
		field = "." + field
	}
	if err := checkField(field); err != nil {
		return nil, "", nil, fmt.Errorf("the field of the cause %q: %w", clip(c.Field), err)
	}
	if obj != nil {
		text, err := json.Marshal(obj)
		if err == nil {
			value, err = decodeValue(text)
		}
		if err != nil {
			return nil, "", nil, fmt.Errorf("read the field %q of %T: %w", clip(c.Field), obj, err)
		}
	}
	way, rest, value = walkField(value, field)
	return way, rest, value, nil
}

// walkField follows a field as far as value has it. Each step of the field begins with a dot or a bracket. If the field
// can be split into steps in several ways, walkField takes the first way that value has in full, or else the one that
// reaches furthest.
func walkField(value any, field string) (way []string, rest string, at any) {
	rest, at = field, value
	for end := range stepEnds(field) {
		next, ok := member(value, stepName(field[:end]), field[0] == '[')
		if !ok {
			continue
		}
		more, left, there := walkField(next, field[end:])
		if len(left) < len(rest) {
			way, rest, at = append([]string{stepName(field[:end])}, more...), left, there
		}
		if left == "" {
			break
		}
	}
	return way, rest, at
}

// stepEnds yields the positions where the first step of a field may end: before any further dot or bracket, or at the
// end of the field.
func stepEnds(field string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for end := 1; end <= len(field) && field != ""; end++ {
			if end < len(field) && field[end] != '.' && field[end] != '[' {
				continue
			}
			if step := field[:end]; step[0] == '[' && (step[end-1] != ']' || end == 1) || step == "." {
				continue
			}
			if !yield(end) {
				return
			}
		}
	}
}

// stepName returns the name in a step: ".name" or "[name]".
func stepName(step string) string {
	if step[0] == '[' {
		return step[1 : len(step)-1]
	}
	return step[1:]
}

// member returns the member called name of an object. If the name is in brackets, it may also be the index of an
// element of an array.
func member(value any, name string, bracketed bool) (any, bool) {
	switch v := value.(type) {
	case map[string]any:
		inner, ok := v[name]
		return inner, ok
	case []any:
		i, err := strconv.Atoi(name)
		if !bracketed || err != nil || i < 0 || i >= len(v) || strconv.Itoa(i) != name {
			return nil, false
		}
		return v[i], true
	}
	return nil, false
}

// cutStep returns the name of the first step of a field, and the rest of the field. If there is no step, the rest is
// the whole field.
func cutStep(field string) (name, rest string) {
	for end := range stepEnds(field) {
		return stepName(field[:end]), field[end:]
	}
	return "", field
}

// checkField returns an error if a field cannot be cut into steps.
func checkField(field string) error {
	for field != "" {
		if strings.HasPrefix(field, "..") || strings.HasPrefix(field, ".[") || field == "." {
			return errors.New("it has an empty name")
		}
		_, rest := cutStep(field)
		if rest == field {
			return errors.New("it has a bracket that is not closed")
		}
		field = rest
	}
	return nil
}
