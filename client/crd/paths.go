package crd

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// This file checks the JSON paths of columns, of the subresource scale, and of selectable fields.

// simplePath matches a JSON path that has only names of members.
var simplePath = regexp.MustCompile(`^(\.[A-Za-z_][A-Za-z0-9_-]*)+$`)

// lookup returns the schema at a simple path, nil if there is none.
func (s *Schema) lookup(path string) *Schema {
	for name := range strings.SplitSeq(strings.TrimPrefix(path, "."), ".") {
		next := s.Properties[name]
		if next == nil {
			next = s.values()
		}
		if next == nil && s.PreserveUnknownFields {
			return &Schema{PreserveUnknownFields: true}
		}
		if s = next; s == nil {
			return nil
		}
	}
	return s
}

// lookup returns the schema at a simple path of an object, metadata included.
func (v *Version) lookup(path string) *Schema {
	switch rest, isMeta := strings.CutPrefix(path, ".metadata."); {
	case path == ".apiVersion", path == ".kind":
		return text()
	case !isMeta:
		return v.Schema.OpenAPIV3Schema.lookup(path)
	case rest == "creationTimestamp" || rest == "deletionTimestamp":
		return &Schema{Type: "string", Format: "date-time"}
	case rest == "generation" || rest == "deletionGracePeriodSeconds":
		return &Schema{Type: "integer"}
	}
	return text()
}

var (
	columnTypes   = [...]string{"boolean", "date", "integer", "number", "string"}
	columnFormats = [...]string{"byte", "date", "date-time", "double", "float", "int32", "int64", "password"}
)

// columns sets the columns.
func (v *Version) columns(columns []Column) error {
	v.Columns = slices.Clone(columns)
	for i := range v.Columns {
		c := &v.Columns[i]
		what := fmt.Sprintf("crd.Options: Columns[%d]", i)
		switch {
		case c.Name == "":
			return fmt.Errorf("%s: Name must be set", what)
		case !strings.HasPrefix(c.JSONPath, ".") || c.JSONPath == ".":
			return fmt.Errorf("%s: JSONPath must start with a dot, as in .spec.replicas, got %q", what, c.JSONPath)
		case c.Type != "" && !slices.Contains(columnTypes[:], c.Type):
			return fmt.Errorf("%s: Type must be one of %q, got %q", what, columnTypes, c.Type)
		case c.Format != "" && !slices.Contains(columnFormats[:], c.Format):
			return fmt.Errorf("%s: Format must be one of %q, got %q", what, columnFormats, c.Format)
		}
		var is *Schema
		if simplePath.MatchString(c.JSONPath) {
			if is = v.lookup(c.JSONPath); is == nil {
				return fmt.Errorf("%s: JSONPath is %q, which is not the path of a member; members are %q", what, c.JSONPath, v.Schema.OpenAPIV3Schema.members())
			}
		}
		if c.Type == "" {
			c.Type = columnType(is)
		}
	}
	return nil
}

// columnType returns the type of the column of a value; is may be nil.
func columnType(is *Schema) string {
	switch {
	case is == nil:
	case is.Type == "string" && is.Format == "date-time":
		return "date"
	case is.Type == "boolean" || is.Type == "integer" || is.Type == "number":
		return is.Type
	}
	return "string"
}

// scale sets the subresource scale.
func (v *Version) scale(s *Scale) error {
	if s == nil {
		return nil
	}
	is := *s
	v.Subresources.Scale = &is
	var errs []error
	for _, f := range []struct {
		name, path, typ string
		under           []string
	}{
		{"SpecReplicas", s.SpecReplicas, "integer", []string{".spec."}},
		{"StatusReplicas", s.StatusReplicas, "integer", []string{".status."}},
		{"LabelSelector", s.LabelSelector, "string", []string{".spec.", ".status."}},
	} {
		if f.name == "LabelSelector" && f.path == "" {
			continue
		}
		under := slices.ContainsFunc(f.under, func(prefix string) bool { return strings.HasPrefix(f.path, prefix) })
		switch member := v.Schema.OpenAPIV3Schema.lookup(f.path); {
		case !simplePath.MatchString(f.path) || !under:
			errs = append(errs, fmt.Errorf("crd.Options: Scale.%s must be a path that starts with %s, got %q", f.name, strings.Join(f.under, " or "), f.path))
		case member == nil || member.Type != f.typ && !member.anything():
			errs = append(errs, fmt.Errorf("crd.Options: Scale.%s is %q, which must be a member of type %s", f.name, f.path, f.typ))
		}
	}
	return errors.Join(errs...)
}

// selectable sets the selectable fields.
func (v *Version) selectable(paths []string) error {
	if len(paths) > 8 {
		return fmt.Errorf("crd.Options: SelectableFields must have at most 8 paths, got %d", len(paths))
	}
	for i, path := range paths {
		what := fmt.Sprintf("crd.Options: SelectableFields[%d]", i)
		var member *Schema
		if simplePath.MatchString(path) {
			member = v.Schema.OpenAPIV3Schema.lookup(path)
		}
		switch {
		case strings.HasPrefix(path, ".metadata."):
			return fmt.Errorf("%s must be a path outside of metadata, got %q", what, path)
		case member == nil || !slices.Contains([]string{"string", "integer", "boolean"}, member.Type):
			return fmt.Errorf("%s is %q, which must be the path of a string, an integer or a boolean", what, path)
		case slices.Index(paths, path) < i:
			return fmt.Errorf("%s must not be listed twice, got %q", what, path)
		}
		v.SelectableFields = append(v.SelectableFields, SelectableField{JSONPath: path})
	}
	return nil
}

// ruleStep matches a step of the fieldPath of a rule: .name or ['name'].
var ruleStep = regexp.MustCompile(`^(?:\.([^.\[\]']+)|\['([^'\\]+)'\])`)

// checkFieldPaths returns an error unless the fieldPath of each rule leads to a member of s.
func (s *Schema) checkFieldPaths(what string) error {
	for _, r := range s.Rules {
		at := s
		for rest := r.FieldPath; rest != ""; {
			step := ruleStep.FindStringSubmatch(rest)
			if step == nil {
				return fmt.Errorf("%s has a rule with the fieldPath %q, which must have the form .name or ['name'], such as .spec.min", what, r.FieldPath)
			}
			name := step[1] + step[2]
			next := at.Properties[name]
			if next == nil && len(at.Properties) == 0 {
				next = at.values()
			}
			if next == nil {
				return fmt.Errorf("%s has a rule with the fieldPath %q, and there is no member %q; allowed are %q", what, r.FieldPath, name, at.members())
			}
			at, rest = next, rest[len(step[0]):]
		}
	}
	return nil
}
