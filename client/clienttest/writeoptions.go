package clienttest

import (
	"fmt"
	"slices"
	"unicode"

	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// writeOptions are the parameters of a create, an update and a patch.
type writeOptions struct {
	dryRun  bool
	force   bool // of an apply
	manager string
	owned   bool // managedFields are already right
}

// writeOptions reads the parameters. wrong are the errors of the kind's own parameters.
func (c *call) writeOptions(kind string, wrong ...meta.StatusCause) (o writeOptions, _ error) {
	manager := c.query.Get("fieldManager")
	if len(manager) > managerMax {
		wrong = append(wrong, meta.StatusCause{
			Reason: "FieldValueTooLong", Field: "fieldManager",
			Message: fmt.Sprintf("Too long: may not be more than %d bytes", managerMax),
		})
	}
	for i, r := range manager {
		if !unicode.IsPrint(r) {
			wrong = append(wrong, status.InvalidValue("fieldManager", manager, fmt.Sprintf("invalid character %#U (at position %d)", r, i)))
		}
	}
	values := c.query["dryRun"]
	var bad bool
	if o.dryRun, bad = readDryRun(values); bad {
		wrong = append(wrong, status.UnsupportedValue("dryRun", values, "All"))
	}
	switch v := c.query.Get("fieldValidation"); v {
	case "", "Ignore", "Warn", "Strict":
	default:
		wrong = append(wrong, status.UnsupportedValue("fieldValidation", v, "", "Ignore", "Strict", "Warn"))
	}
	if len(wrong) > 0 {
		return o, status.InvalidOptions(kind, wrong...)
	}
	o.force, o.manager = isTrue(c.query, "force"), managerOf(manager, c.r.UserAgent())
	return o, nil
}

// patchOptions is writeOptions for a patch.
func (c *call) patchOptions(media string) (writeOptions, error) {
	var wrong []meta.StatusCause
	switch {
	case media == mediaApply && c.query.Get("fieldManager") == "":
		wrong = append(wrong, status.RequiredValue("fieldManager", "is required for apply patch"))
	case media != mediaApply && c.query.Has("force"):
		wrong = append(wrong, status.ForbiddenValue("force", "may not be specified for non-apply patch"))
	}
	return c.writeOptions("PatchOptions", wrong...)
}

func readDryRun(values []string) (dry, bad bool) {
	return len(values) > 0, slices.ContainsFunc(values, func(v string) bool { return v != "All" })
}
