package errors

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bowline-go/bowline/internal/shown"
)

// FieldConflict is a field that another manager owns, and that an apply sets to a different value.
type FieldConflict struct {
	// Field is the path as the server writes it, such as .spec.template.spec.containers[name="web"].image.
	Field string
	// Manager is the field manager that owns the field. It is empty if the server's message has an unknown form.
	Manager string
	// Operation is the operation by which the manager owns the field: "Apply", or "Update" for every other kind of
	// write.
	Operation string
	// Subresource is the subresource that the manager wrote through; empty for the object itself.
	Subresource string
	// APIVersion is the API version of the manager's write, if it was an Update; empty otherwise.
	APIVersion string
	// Time is the time of the write, if the server sends it; most do not.
	Time time.Time
	// Message is the server's message about the conflict.
	Message string
}

// String returns the field and the message, which names the owner, on one line. It cleans both as Error cleans a
// message.
func (c FieldConflict) String() string {
	return shown.Clean(c.Field+": "+c.Message, maxText)
}

// FieldConflicts returns the fields of an apply that other managers own and have set to other values. It collects them
// from all answers that err wraps or joins. It returns none if err is something else, such as a conflict of resource
// versions. The result is sorted by field; a field that several managers own appears once for each of them.
//
// To resolve a conflict, do one of these:
//
//   - Copy the value from the object.
//   - Leave the field out, so that its owner keeps it.
//   - Apply again with ApplyOptions.Force, so that the caller becomes the owner.
func FieldConflicts(err error) []FieldConflict {
	var found []FieldConflict
	for e := range all(err) {
		for _, cause := range e.Causes() {
			if cause.Reason == CauseFieldManagerConflict {
				c := FieldConflict{Field: cause.Field, Message: cause.Message}
				c.read()
				found = append(found, c)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b FieldConflict) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Manager, b.Manager))
	})
	return found
}

// read parses the server's message: conflict with "name" with subresource "status" using apps/v1 at
// 2006-01-02T15:04:05Z. Only the first part is always present. An update adds the last two, and new servers leave out
// the last.
func (c *FieldConflict) read() {
	rest, ok := strings.CutPrefix(c.Message, "conflict with ")
	if !ok {
		return
	}
	if c.Manager, rest, ok = cutQuoted(rest); !ok {
		return
	}
	c.Operation = "Apply"
	if after, ok := strings.CutPrefix(rest, " with subresource "); ok {
		c.Subresource, rest, _ = cutQuoted(after)
	}
	if after, ok := strings.CutPrefix(rest, " using "); ok {
		c.Operation = "Update"
		version, at, _ := strings.Cut(after, " at ")
		c.APIVersion = version
		if t, err := time.Parse(time.RFC3339, at); err == nil {
			c.Time = t
		}
	}
}

// cutQuoted returns the value of a quoted string at the start of a text, and the text after it.
func cutQuoted(text string) (said, rest string, ok bool) {
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", text, false
	}
	said, err = strconv.Unquote(quoted)
	return said, text[len(quoted):], err == nil
}
