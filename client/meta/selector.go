package meta

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Selector selects objects by their labels: an object must meet every requirement. It is an immutable value; the zero
// Selector has no requirements and selects everything.
//
// A Selector is always valid and in canonical form: its requirements are sorted by key, their values are sorted too,
// and duplicates are dropped. So two selectors with the same requirements have the same String, and parsing that gives
// the same selector again.
type Selector struct {
	requirements []requirement
}

// Operator relates a label's key to a requirement's values. The words are those of the API's label selectors.
type Operator string

const (
	// OpIn requires the label to be present with one of the values. "=" is OpIn with one value.
	OpIn Operator = "In"
	// OpNotIn requires the label not to have any of the values; an object without the label meets it. "!=" is OpNotIn
	// with one value.
	OpNotIn Operator = "NotIn"
	// OpExists requires the label to be present, with any value.
	OpExists Operator = "Exists"
	// OpDoesNotExist requires the label to be absent.
	OpDoesNotExist Operator = "DoesNotExist"
	// OpGreaterThan requires the label to be present with an integer greater than the one value.
	OpGreaterThan Operator = "Gt"
	// OpLessThan requires the label to be present with an integer less than the one value.
	OpLessThan Operator = "Lt"
)

// Requirement is one condition on the labels of an object, and the wire form of an expression in a [LabelSelector].
// [NewSelector] checks it.
type Requirement struct {
	Key      string   `json:"key"`
	Operator Operator `json:"operator"`
	// Values has one or more elements for OpIn and OpNotIn, none for OpExists and OpDoesNotExist, and one non-negative
	// integer for OpGreaterThan and OpLessThan.
	Values []string `json:"values,omitempty"`
}

// NewSelector returns the selector of objects that meet every requirement. The error names each requirement that the
// server would refuse, and why.
func NewSelector(requirements ...Requirement) (Selector, error) {
	compiled := make([]requirement, 0, len(requirements))
	var errs []error
	for _, r := range requirements {
		c, err := r.compile()
		if err != nil {
			errs = append(errs, err)
			continue
		}
		compiled = append(compiled, c)
	}
	if len(errs) > 0 {
		return Selector{}, fmt.Errorf("label selector: %w", errors.Join(errs...))
	}
	return selectorOf(compiled), nil
}

// selectNothing returns a selector that no object meets. The syntax cannot express it, so it prints as a contradiction
// that selects nothing on the server too.
func selectNothing() Selector {
	const key = "bowline.dev/nothing"
	return selectorOf([]requirement{{key: key, op: OpExists}, {key: key, op: OpDoesNotExist}})
}

// Matches reports whether an object with these labels meets every requirement. It follows the server: OpNotIn and
// OpDoesNotExist hold for an object without the label, and a label that is not a 64-bit integer is neither greater nor
// less than anything.
func (s Selector) Matches(labels map[string]string) bool {
	for i := range s.requirements {
		if !s.requirements[i].matches(labels) {
			return false
		}
	}
	return true
}

// Everything reports whether the selector has no requirements, and so selects every object.
func (s Selector) Everything() bool { return len(s.requirements) == 0 }

// Requirements returns a copy of the requirements, in the order in which String prints them.
func (s Selector) Requirements() []Requirement {
	out := make([]Requirement, len(s.requirements))
	for i, r := range s.requirements {
		out[i] = Requirement{Key: r.key, Operator: r.op, Values: slices.Clone(r.values)}
	}
	return out
}

// String returns the selector in the syntax of the API, as [ParseSelector] parses it and as a labelSelector parameter
// carries it. It is empty for the selector of everything.
func (s Selector) String() string {
	var b strings.Builder
	for i := range s.requirements {
		if i > 0 {
			b.WriteByte(',')
		}
		s.requirements[i].print(&b)
	}
	return b.String()
}

// requirement is a valid Requirement with sorted, distinct values.
type requirement struct {
	key    string
	op     Operator
	values []string
	number int64 // the operand of OpGreaterThan and OpLessThan
}

// selectorOf takes ownership of requirements, sorts them and drops duplicates.
func selectorOf(requirements []requirement) Selector {
	if len(requirements) == 0 {
		return Selector{}
	}
	slices.SortFunc(requirements, requirement.compare)
	return Selector{slices.CompactFunc(requirements, func(a, b requirement) bool { return a.compare(b) == 0 })}
}

func (r requirement) compare(other requirement) int {
	return cmp.Or(strings.Compare(r.key, other.key), cmp.Compare(r.op.rank(), other.op.rank()),
		slices.Compare(r.values, other.values))
}

// rank orders the requirements of one key.
func (o Operator) rank() int {
	return slices.Index([]Operator{OpExists, OpDoesNotExist, OpIn, OpNotIn, OpGreaterThan, OpLessThan}, o)
}

// compile checks r by the rules of the server and returns its canonical form.
func (r Requirement) compile() (requirement, error) {
	if err := ValidLabelKey(r.Key); err != nil {
		return requirement{}, err
	}
	for _, value := range r.Values {
		if err := ValidLabelValue(value); err != nil {
			return requirement{}, fmt.Errorf("label %q: %w", r.Key, err)
		}
	}
	fail := func(want string) (requirement, error) {
		return requirement{}, fmt.Errorf("label %q: operator %s must have %s, got %q", r.Key, r.Operator, want, r.Values)
	}
	c := requirement{key: r.Key, op: r.Operator}
	switch r.Operator {
	case OpIn, OpNotIn:
		if len(r.Values) == 0 {
			return fail("at least one value")
		}
		c.values = slices.Clone(r.Values)
		slices.Sort(c.values)
		c.values = slices.Compact(c.values)
	case OpExists, OpDoesNotExist:
		if len(r.Values) > 0 {
			return fail("no value")
		}
	case OpGreaterThan, OpLessThan:
		if len(r.Values) != 1 {
			return fail("one value")
		}
		n, err := strconv.ParseInt(r.Values[0], 10, 64)
		if err != nil {
			return fail("an integer from 0 to 9223372036854775807")
		}
		c.number, c.values = n, []string{strconv.FormatInt(n, 10)}
	default:
		return requirement{}, fmt.Errorf("label %q: operator must be In, NotIn, Exists, DoesNotExist, Gt or Lt, got %q",
			r.Key, clip(string(r.Operator)))
	}
	return c, nil
}

func (r *requirement) matches(labels map[string]string) bool {
	value, found := labels[r.key]
	switch r.op {
	case OpIn:
		return found && r.has(value)
	case OpNotIn:
		return !found || !r.has(value)
	case OpExists:
		return found
	case OpDoesNotExist:
		return !found
	}
	if !found {
		return false
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return false
	}
	if r.op == OpGreaterThan {
		return n > r.number
	}
	return n < r.number
}

func (r *requirement) has(value string) bool {
	if len(r.values) == 1 {
		return r.values[0] == value
	}
	_, found := slices.BinarySearch(r.values, value)
	return found
}

func (r *requirement) print(b *strings.Builder) {
	if r.op == OpDoesNotExist {
		b.WriteByte('!')
	}
	b.WriteString(r.key)
	switch r.op {
	case OpExists, OpDoesNotExist:
		return
	case OpGreaterThan:
		b.WriteByte('>')
	case OpLessThan:
		b.WriteByte('<')
	case OpIn:
		if len(r.values) > 1 {
			r.printSet(b, " in (")
			return
		}
		b.WriteByte('=')
	case OpNotIn:
		if len(r.values) > 1 {
			r.printSet(b, " notin (")
			return
		}
		b.WriteString("!=")
	}
	b.WriteString(r.values[0])
}

func (r *requirement) printSet(b *strings.Builder, open string) {
	b.WriteString(open)
	for i, value := range r.values {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(value)
	}
	b.WriteByte(')')
}
