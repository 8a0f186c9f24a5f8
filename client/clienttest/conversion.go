package clienttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/admission"
	"github.com/bowline-go/bowline/client/clienttest/internal/definitions"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/meta"
)

// A webhook may convert the objects of a definition between its versions. A real server asks it at each read. This one
// asks it about all versions when an object is written, without the lock of the store and before the write, so reads,
// lists and watches need no webhook. A write of metadata alone, such as a deletion, keeps the contents of each version.

// conversion is the webhook of a definition with several versions.
type conversion struct {
	admission.Conversion
	versions []*resource
	stored   *resource
}

// conversionOf returns the webhook of a definition; nil if no webhook converts its versions.
func (a *api) conversionOf(def *definitions.Definition, versions []*resource, stored *resource) (*conversion, error) {
	if def.Conversion.Strategy != "Webhook" || len(versions) < 2 {
		return nil, nil
	}
	by := &conversion{versions: versions, stored: stored}
	by.ReviewVersions, by.Validator = def.Conversion.ReviewVersions, a.validator
	if err := json.Unmarshal(def.Conversion.Client, &by.Client); err != nil {
		return nil, fmt.Errorf("spec.conversion.webhook.clientConfig: %w", err)
	}
	return by, nil
}

// convert returns objects of one version of a custom resource in another. It asks the webhook if there is one, so the
// caller must not hold the lock of the store.
func (a *api) convert(ctx context.Context, to *resource, objects []*object.Draft) ([]*object.Draft, error) {
	apiVersion := to.GVK().APIVersion()
	converted := objects
	if to.conversion != nil && len(objects) > 0 && objects[0].APIVersion != apiVersion {
		var err error
		converted, err = a.caller.Convert(ctx, &to.conversion.Conversion, admission.ConversionRequest{
			UID: newUID(), Objects: objects, To: apiVersion,
		})
		if err != nil {
			return nil, status.Failure(http.StatusInternalServerError, "", "%v", err)
		}
	}
	all := make([]*object.Draft, len(converted))
	for i, d := range converted {
		if all[i] = d; objects[i].APIVersion != apiVersion {
			all[i] = to.pruned(d)
		}
	}
	return all, nil
}

// convertToAll returns copies of objects of one version, each with its form in every version.
func (a *api) convertToAll(ctx context.Context, by *conversion, objects []*object.Draft) ([]*object.Draft, error) {
	all := make([]*object.Draft, len(objects))
	for i, d := range objects {
		whole := *d
		whole.Versions = map[string]*object.Draft{}
		all[i] = &whole
	}
	for _, r := range by.versions {
		views, err := a.convert(ctx, r, objects)
		if err != nil {
			return nil, err
		}
		for i, is := range views {
			all[i].Versions[r.GVK().APIVersion()] = is
		}
	}
	return all, nil
}

// converted returns an object that is about to be written in the form that its writer gets back: converted to the
// stored version, and from that to the version of the request. It has its form in every version. cur is nil for a new
// object.
func (c *call) converted(tx store.Tx, cur *object.Revision, d *object.Draft) (*object.Draft, error) {
	if c.res == c.crds {
		return d, c.convertObjects(tx, cur, d)
	}
	by := c.res.conversion
	if by == nil {
		return d, nil
	}
	if c.internal {
		return nil, errors.New("a webhook converts its versions, and the server calls no webhook before Run: create it with a client")
	}
	var next object.Draft
	err := c.outside(tx, cur, func() error {
		ctx := c.r.Context()
		all, err := c.convert(ctx, by.stored, []*object.Draft{d})
		if err != nil {
			return err
		}
		if d.APIVersion != all[0].APIVersion {
			by.stored.Declared.Complete(all[0].Content)
		}
		if all, err = c.convertToAll(ctx, by, all); err == nil {
			next = *all[0].Versions[d.APIVersion]
			next.Versions = all[0].Versions
		}
		return err
	})
	return &next, err
}

// keepVersions makes a write that changes only metadata keep the contents of an object in each version.
func (r *resource) keepVersions(tx store.Tx, d *object.Draft) {
	if r.conversion == nil {
		return
	}
	d.Versions = map[string]*object.Draft{}
	for _, v := range r.conversion.versions {
		is := tx.Get(v.objects, d.Key()).Draft()
		labels, annotations := is.Meta.Labels, is.Meta.Annotations
		is.Meta = d.Meta
		is.Meta.Labels, is.Meta.Annotations = labels, annotations
		d.Versions[is.APIVersion] = is
	}
}

// convertObjects converts the objects of a definition to the versions that it is about to get. The resources that
// define then makes take over the results.
func (c *call) convertObjects(tx store.Tx, cur *object.Revision, d *object.Draft) error {
	next := &definition{Definition: definitions.Read(d)}
	is := c.definitions[next.Name]
	if next.Accepted = next.Names; is != nil {
		next.Accepted = is.Accepted
		if is.terminating || is.spec != nil && string(is.spec) == string(next.text()) {
			return nil
		}
	} else {
		is = next
	}
	versions, stored, err := c.versionsOf(next.Definition, next.Accepted)
	if err != nil || stored == nil || stored.conversion == nil {
		return nil // versionsOf was called when the definition was checked
	}
	before := storedBefore(c.versionsBefore(is), stored)
	if before == nil || tx.Count(before) == 0 {
		return nil
	}
	if c.internal {
		return errors.New("a webhook converts the versions of objects that exist, and the server calls no webhook before Run")
	}
	present := slices.Collect(tx.Objects(before, ""))
	objects := make([]*object.Draft, len(present))
	for i, v := range present {
		objects[i] = readAs(versions, stored, v.Draft())
	}
	var all []*object.Draft
	err = c.outside(tx, cur, func() (err error) {
		all, err = c.convertToAll(c.r.Context(), stored.conversion, objects)
		return err
	})
	if err == nil && !slices.Equal(present, slices.Collect(tx.Objects(before, ""))) {
		err = errMoved
	}
	if err != nil {
		return err
	}
	c.adopted = map[meta.Key]*object.Draft{}
	for _, d := range all {
		c.adopted[d.Key()] = d
	}
	return nil
}
