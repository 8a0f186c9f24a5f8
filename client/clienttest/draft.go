package clienttest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// readDraft reads the object in the body of a create or an update.
func (c *call) readDraft() (*object.Draft, error) {
	b, err := c.readBody(c.res.GVK())
	if err != nil {
		return nil, err
	}
	d, err := object.Parse(b.json)
	if err == nil {
		err = c.checkKind(d, b.sent)
	}
	if err == nil {
		err = d.Normalize(&c.res.Type)
	}
	if err == nil && b.media != mediaProtobuf {
		if wrong := c.reportPayload(b, c.fields(b.json, d)); wrong != nil {
			err = &object.DecodeError{APIVersion: d.APIVersion, Kind: d.Kind, Err: wrong}
		}
	}
	if bad, ok := errors.AsType[*object.DecodeError](err); ok {
		return nil, c.cannotRead(bad, b)
	}
	if err == nil {
		c.uniteOwners(d, "duplicate entries")
	}
	return d, err
}

// cannotRead returns the error for a body that cannot be read as an object of the resource's kind.
func (c *call) cannotRead(bad *object.DecodeError, b *payload) error {
	apiVersion, kind, err := bad.APIVersion, bad.Kind, bad.Err
	if c.res.Builtin && bad.InMetadata {
		// A compiled-in type is read as a whole, and the error says where it failed.
		apiVersion, kind = cmp.Or(apiVersion, c.res.GVK().APIVersion()), cmp.Or(kind, c.res.Kind)
		if misfit := c.res.Shape().Fits(b.json); misfit != nil {
			err = misfit
		}
	}
	if kind == "" {
		return unrecognized(c.res.Kind, err, b.sent)
	}
	_, version := meta.SplitAPIVersion(apiVersion)
	return status.BadRequest("%s in version %q cannot be handled as a %s: %v", kind, version, c.res.Kind, err)
}

// uniteOwners drops duplicate owners, with a warning that names them.
func (c *call) uniteOwners(d *object.Draft, what string) {
	var twice []string
	kept := []meta.OwnerReference{}
	for _, o := range d.Meta.OwnerReferences {
		if slices.ContainsFunc(kept, func(k meta.OwnerReference) bool { return reflect.DeepEqual(k, o) }) {
			twice = append(twice, o.UID)
		} else {
			kept = append(kept, o)
		}
	}
	if len(twice) > 0 {
		d.Meta.OwnerReferences = kept
		c.warn(".metadata.ownerReferences contains %s; API server dedups owner references in 1.20+, and may reject such requests as early as "+
			"1.24; please fix your requests; duplicate UID(s) observed: %s", what, strings.Join(twice, ", "))
	}
}

// checkKind compares the kind of a body with the resource. A body of a compiled-in type may leave out the kind.
func (c *call) checkKind(d *object.Draft, body []byte) error {
	want := c.res.GVK()
	if strings.Count(d.APIVersion, "/") > 1 {
		return &object.DecodeError{Err: fmt.Errorf("unexpected GroupVersion string: %s", d.APIVersion)}
	}
	if c.res.Builtin {
		d.Kind = cmp.Or(d.Kind, want.Kind)
		d.APIVersion = cmp.Or(d.APIVersion, want.APIVersion())
		if d.Kind != want.Kind || d.APIVersion != want.APIVersion() {
			return &object.DecodeError{Kind: d.Kind, APIVersion: d.APIVersion, Err: noKind(d.Kind, d.APIVersion)}
		}
		return nil
	}
	switch {
	case d.Kind == "":
		//lint:ignore ST1005 these are the real server's words
		return &object.DecodeError{Err: fmt.Errorf("Object 'Kind' is missing in '%s'", body)}
	case d.APIVersion != want.APIVersion() && c.Verb == "patch":
		return status.Invalid(want.Group, d.Kind, d.Meta.Name, []meta.StatusCause{
			status.InvalidValue("apiVersion", d.APIVersion, "must be "+want.APIVersion()),
		})
	case d.APIVersion != want.APIVersion():
		return status.BadRequest("the API version in the data (%s) does not match the expected API version (%s)",
			d.APIVersion, want.APIVersion())
	case d.Kind != want.Kind:
		return status.Invalid(want.Group, d.Kind, d.Meta.Name, []meta.StatusCause{status.InvalidValue("kind", d.Kind, "must be "+want.Kind)})
	}
	return nil
}

// settle gives an object from a body the namespace of the request. It returns an error if the object names another
// one.
func (c *call) settle(d *object.Draft) error {
	err := c.checkNamespace(d.Meta.Namespace)
	d.Meta.Namespace = c.Key.Namespace
	return err
}

// readWrite reads a create or an update: the object in its body, and its parameters. kind is that of the parameters.
func (c *call) readWrite(kind string) (d *object.Draft, o writeOptions, err error) {
	if err = c.negotiate(false); err == nil {
		d, err = c.readDraft()
	}
	if err == nil {
		o, err = c.writeOptions(kind)
	}
	if err == nil {
		err = c.settle(d)
	}
	return d, o, err
}

// decode decodes a body that has the given kind, or none.
func (c *call) decode(b *payload, into any, kind meta.GVK) error {
	is, err := object.TypeOf(b.json)
	if err != nil {
		return unrecognized(kind.Kind, err, b.sent)
	}
	is.Kind, is.APIVersion = cmp.Or(is.Kind, kind.Kind), cmp.Or(is.APIVersion, kind.APIVersion())
	if is.Kind != kind.Kind || is.APIVersion != kind.APIVersion() {
		err = noKind(is.Kind, is.APIVersion)
	} else if err = schema.Builtin().Of(kind).Fits(b.json); err == nil {
		if err = json.Unmarshal(b.json, into); err == nil {
			err = c.reportPayload(b, schema.FieldErrors(b.json, schema.Builtin().Of(kind)))
		}
	}
	if err != nil {
		_, version := meta.SplitAPIVersion(is.APIVersion)
		return status.BadRequest("%s in version %q cannot be handled as a %s: %v", is.Kind, version, kind.Kind, err)
	}
	return nil
}
