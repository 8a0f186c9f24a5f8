package clienttest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"unicode"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// writeOptions are the parameters of a create, an update and a patch.
type writeOptions struct {
	dryRun   bool
	force    bool // of an apply
	manager  string
	owned    bool   // managedFields are already right
	admitted bool   // admission was asked already
	name     string // of a new object, as its client wants it, although admission may have changed it
}

// writeOptions reads the parameters. sent are the errors of the kind's own parameters.
func (c *call) writeOptions(kind string, sent ...meta.StatusCause) (o writeOptions, _ error) {
	wrong := status.Causes(sent)
	manager := c.query.Get("fieldManager")
	if len(manager) > managerMax {
		wrong = append(wrong, meta.StatusCause{
			Reason: "FieldValueTooLong", Field: "fieldManager",
			Message: fmt.Sprintf("Too long: may not be more than %d bytes", managerMax),
		})
	}
	for i, r := range manager {
		wrong.If(!unicode.IsPrint(r), status.InvalidValue("fieldManager", manager, fmt.Sprintf("invalid character %#U (at position %d)", r, i)))
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
	var wrong status.Causes
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

// deleteOptions are the DeleteOptions of the API, in the body or as parameters.
type deleteOptions struct {
	meta.TypeMeta      `json:",inline"`
	GracePeriodSeconds *int64   `json:"gracePeriodSeconds"`
	OrphanDependents   *bool    `json:"orphanDependents"`
	PropagationPolicy  *string  `json:"propagationPolicy"`
	DryRun             []string `json:"dryRun"`
	Preconditions      struct {
		UID             *string `json:"uid"`
		ResourceVersion *string `json:"resourceVersion"`
	} `json:"preconditions"`

	dryRun bool
}

func (c *call) deleteOptions() (*deleteOptions, error) {
	b, err := c.readPayload(metaGroup+"/v1", "DeleteOptions")
	if err != nil {
		return nil, err
	}
	if b.wrong != nil {
		return nil, status.BadRequest("%v", b.wrong)
	}
	o := &deleteOptions{}
	if len(b.sent) > 0 {
		err = o.read(b.json)
	} else {
		err = o.parameters(c.query)
	}
	if err != nil {
		return nil, err
	}
	return o, o.validate()
}

// read reads the options from the body of a request.
func (o *deleteOptions) read(body []byte) error {
	is, err := object.TypeOf(body)
	if err != nil {
		return status.BadRequest("%v", err)
	}
	if is.Kind != "" && is.Kind != "DeleteOptions" {
		return status.BadRequest("%v", noKind(is.Kind, cmp.Or(is.APIVersion, metaGroup+"/v1")))
	}
	type DeleteOptions deleteOptions // encoding/json puts the type's name into its errors
	if err := json.Unmarshal(body, (*DeleteOptions)(o)); err != nil {
		return status.BadRequest("%v", err)
	}
	return nil
}

// parameters reads the options from the query of a request.
func (o *deleteOptions) parameters(query url.Values) error {
	if s := query.Get("gracePeriodSeconds"); s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return status.BadRequest("%v", err)
		}
		o.GracePeriodSeconds = &n
	}
	if s := query.Get("propagationPolicy"); s != "" {
		o.PropagationPolicy = &s
	}
	if query.Get("orphanDependents") != "" {
		o.OrphanDependents = new(isTrue(query, "orphanDependents"))
	}
	o.DryRun = query["dryRun"]
	return nil
}

// validate returns everything that is wrong with the options.
func (o *deleteOptions) validate() error {
	var causes status.Causes
	if p := o.PropagationPolicy; p != nil {
		causes.If(o.OrphanDependents != nil, status.InvalidValue("propagationPolicy", *p, "orphanDependents and deletionPropagation cannot be both set"))
		switch *p {
		case "Foreground", "Background", "Orphan":
		default:
			causes = append(causes, status.UnsupportedValue("propagationPolicy", *p, "Foreground", "Background", "Orphan", "nil"))
		}
	}
	var bad bool
	if o.dryRun, bad = readDryRun(o.DryRun); bad {
		causes = append(causes, status.UnsupportedValue("dryRun", o.DryRun, "All"))
	}
	if len(causes) > 0 {
		return status.InvalidOptions("DeleteOptions", causes...)
	}
	return nil
}

// finalizers returns the finalizers of an object that is deleted with the options. Events are not garbage collected,
// so the options do not affect theirs.
func (o *deleteOptions) finalizers(r *resource, have []string) []string {
	if r.Kind == "Event" && r.Builtin {
		return have
	}
	var wanted string
	switch p := o.PropagationPolicy; {
	case o.OrphanDependents != nil && *o.OrphanDependents, p != nil && *p == "Orphan":
		wanted = object.FinalizerOrphan
	case p != nil && *p == "Foreground":
		wanted = object.FinalizerForeground
	case o.OrphanDependents == nil && p == nil:
		wanted = defaultPolicy(r, have)
	}
	kept := slices.DeleteFunc(slices.Clone(have), func(f string) bool {
		return (f == object.FinalizerOrphan || f == object.FinalizerForeground) && f != wanted
	})
	if wanted != "" && !slices.Contains(kept, wanted) {
		kept = append(kept, wanted)
	}
	return kept
}

// defaultPolicy returns the finalizer of a deletion that names no policy: the one that the object has, or that of the
// resource. ReplicationControllers and Jobs orphan their dependents, as they did before there were policies.
func defaultPolicy(r *resource, have []string) string {
	isPolicy := func(f string) bool { return f == object.FinalizerOrphan || f == object.FinalizerForeground }
	if i := slices.IndexFunc(have, isPolicy); i >= 0 {
		return have[i]
	}
	if r.Builtin && (r.Kind == "ReplicationController" || r.Kind == "Job") {
		return object.FinalizerOrphan
	}
	return ""
}

// check compares the preconditions with the object. As on a real server, the error names the kind, where other errors
// name the resource.
func (o *deleteOptions) check(r *resource, v *object.Revision) error {
	fail := func(format string, args ...any) error {
		return status.Unfulfilled(r.Group, r.Kind, v.Key.Name, format, args...)
	}
	if uid := o.Preconditions.UID; uid != nil && *uid != v.UID {
		return fail("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been "+
			"deleted and then recreated", *uid, v.UID)
	}
	if version := o.Preconditions.ResourceVersion; version != nil && *version != strconv.FormatUint(v.Version, 10) {
		return fail("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%d). "+
			"The object might have been modified", *version, v.Version)
	}
	return nil
}
