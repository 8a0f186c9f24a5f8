package values

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// problem is something wrong at a path.
type problem struct {
	reason string
	path   string // below the root; empty for the root
	value  any
	why    string
	whole  bool // it is about a choice between schemas, and its cause names no field
}

// cause returns the cause of an error.
func (p problem) cause(root string) meta.StatusCause {
	field := strings.TrimPrefix(p.path, ".")
	if root != "" {
		field = strings.TrimSuffix(root+"."+field, ".")
	}
	if p.whole {
		field = cmp.Or(root, "<nil>")
	}
	c := meta.StatusCause{Reason: p.reason, Field: cmp.Or(field, "<nil>")}
	switch p.reason {
	case "FieldValueRequired":
		c.Message = "Required value"
	case "FieldValueTooLong":
		c.Message = "Too long: " + p.why
	case "FieldValueTooMany":
		c.Message = fmt.Sprintf("Too many: %v: %s", p.value, p.why)
	case "FieldValueNotSupported":
		c.Message = fmt.Sprintf("Unsupported value: %s: %s", status.Shown(p.value), p.why)
	default:
		if p.value == nil {
			p.value = ""
		}
		shown := status.Shown(p.value)
		if f, ok := p.value.(float64); ok {
			shown = fmt.Sprint(f)
		}
		c.Message = fmt.Sprintf("Invalid value: %s: %s", shown, p.why)
	}
	return c
}

// result is the result of checking a value against a schema. matched counts what was right: if a value fits none of
// several schemas, the problems with the schema that matched most are reported.
type result struct {
	problems []problem
	seen     map[string]bool // the problems that add has added
	matched  int
}

// causes returns the causes of an error. root is the path of the value.
func (r result) causes(root string) []meta.StatusCause {
	all := make([]meta.StatusCause, len(r.problems))
	for i, p := range r.problems {
		all[i] = p.cause(root)
	}
	return all
}

// add adds a problem, unless another schema has found it already.
func (r *result) add(p problem) {
	key := p.reason + " " + p.path + " " + p.why
	if r.seen[key] {
		return
	}
	if r.seen == nil {
		r.seen = make(map[string]bool)
	}
	r.seen[key] = true
	r.problems = append(r.problems, p)
}

// merge adds the result of another schema. other must not be used any more.
func (r *result) merge(other result) {
	if len(r.problems) == 0 {
		r.problems, r.seen, r.matched = other.problems, other.seen, r.matched+other.matched
		return
	}
	for _, p := range other.problems {
		r.add(p)
	}
	r.matched += other.matched
}
