package clienttest

import (
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"strconv"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/meta"
)

// insert puts a new object into the store.
func (c *call) insert(tx store.Tx, d *object.Draft, o writeOptions) (*object.Revision, error) {
	if err := c.mayCreate(tx, d); err != nil {
		return nil, err
	}
	d, err := c.admit(tx, nil, nil, d, &o)
	if err != nil {
		return nil, err
	}
	c.complete(tx, d)
	if err := c.checkGrant(tx, d, nil); err != nil {
		return nil, err
	}
	c.noteBlocked(d, nil)
	d, meant, err := c.settled(tx, nil, d, o.dryRun)
	if err != nil {
		return nil, err
	}
	causes := append(c.validator.Object(&c.res.Type, &d.Meta), c.wrongValues(tx, d, nil)...)
	if c.res.checkNew != nil {
		causes = c.res.checkNew(d, causes)
	}
	if len(causes) > 0 {
		return nil, c.res.Invalid(d.Meta.Name, causes)
	}
	if c.res.refuse != nil {
		if err := c.res.refuse(c, tx, d); err != nil {
			return nil, err
		}
	}
	c.res.Fill(d)
	if !o.owned {
		c.own(d, meant, nil, o.manager)
	}
	if err := c.checkLimits(tx, nil, d); err != nil {
		return nil, err
	}
	if err := c.permitCreate(tx); err != nil {
		return nil, err
	}
	if err := c.validate(tx, nil, d, o); err != nil {
		return nil, err
	}
	return c.add(tx, d, o)
}

// permitCreate checks whether the user of an apply or an update may also create the object, which does not exist.
func (c *call) permitCreate(tx store.Tx) error {
	if c.internal || c.Verb == "create" {
		return nil
	}
	access := Access{User: c.user, Request: c.Request}
	access.Verb = "create"
	return c.outside(tx, nil, func() error { return c.authorize(access) })
}

// add puts a new object, which its kind and admission allow, into the store.
func (c *call) add(tx store.Tx, d *object.Draft, o writeOptions) (*object.Revision, error) {
	// The storage refuses a version, and a dry run does not reach the storage.
	version, err := strconv.ParseUint(d.Meta.ResourceVersion, 10, 64)
	if err == nil && version != 0 && !o.dryRun {
		return nil, status.Failure(http.StatusInternalServerError, "", "resourceVersion should not be set on objects to be created")
	}
	if d, err = c.converted(tx, nil, d); err == nil {
		err = c.mayCreate(tx, d) // admission and conversion may have taken long
	}
	if err != nil {
		return nil, err
	}
	charge, err := c.checkQuotas(tx, nil, d)
	if err != nil {
		return nil, err
	}
	if there := tx.Get(c.res.objects, d.Key()); there != nil {
		return nil, c.alreadyExists(d, there)
	}
	c.warnFinalizers(d.Meta.Finalizers, nil)
	c.warnDefinition(d, nil)
	if o.dryRun {
		return d.Revision(&c.res.Type, version), nil
	}
	charge()
	return c.put(tx, c.res, nil, d), nil
}

// mayCreate refuses an object where none may be created now.
func (c *call) mayCreate(tx store.Tx, d *object.Draft) error {
	if err := c.current(); err != nil {
		return err
	}
	if is := c.definitions[c.res.definedBy]; is != nil && is.terminating {
		return status.Forbidden(c.res, d.Meta.Name, "create not allowed while custom resource definition is terminating")
	}
	if c.res.Scope == meta.Namespaced {
		return c.checkHome(tx, d)
	}
	return nil
}

// checkHome refuses an object whose namespace does not exist or is ending.
func (c *call) checkHome(tx store.Tx, d *object.Draft) error {
	home := tx.Get(c.namespaces.objects, meta.Key{Name: d.Meta.Namespace})
	switch {
	case home == nil:
		return status.NotFound(c.namespaces, d.Meta.Namespace)
	case !home.Deleting:
		return nil
	}
	err := status.Forbidden(c.res, d.Meta.Name,
		"unable to create new content in namespace %s because it is being terminated", home.Key.Name)
	err.Status.Details.Causes = []meta.StatusCause{{
		Reason: "NamespaceTerminating", Field: "metadata.namespace",
		Message: fmt.Sprintf("namespace %s is being terminated", home.Key.Name),
	}}
	return err
}

// alreadyExists returns the error for a new object with the name of another.
func (c *call) alreadyExists(d *object.Draft, there *object.Revision) error {
	err := status.AlreadyExists(c.res, d.Meta.Name)
	if d.Meta.GenerateName != "" { // a real server adds this whether or not it generated the name
		err.Status.Message += ", the server was not able to generate a unique name for the object"
		err.Status.Details.RetryAfterSeconds = 1
	}
	if there.Deleting {
		err.Status.Message = "object is being deleted: " + err.Status.Message
	}
	return err
}

// complete sets the fields of a new object that the server decides, and its name if the object has a generateName.
func (c *call) complete(tx store.Tx, d *object.Draft) {
	m := &d.Meta
	m.UID, m.CreationTimestamp = newUID(), timestamp()
	m.DeletionTimestamp, m.DeletionGracePeriodSeconds = nil, nil
	if c.res.Generation {
		m.Generation = 1
	}
	if m.Name == "" && m.GenerateName != "" {
		m.Name = c.freeName(tx, d)
	}
	if c.res.Status {
		wanted := d.Content["status"]
		delete(d.Content, "status")
		if c.res.initial != nil {
			d.Content["status"] = c.res.firstStatus(wanted)
		}
	}
	if c.res.prepare != nil {
		c.res.prepare(d, true)
	}
	if c.res.complete != nil {
		c.res.complete(d, c.user)
	}
}

// freeName returns a name that starts with the wanted prefix and is not taken.
func (c *call) freeName(tx store.Tx, d *object.Draft) string {
	const (
		letters = "bcdfghjklmnpqrstvwxz2456789" // no vowels: no words
		length  = 5
		limit   = 63 - length
	)
	prefix := d.Meta.GenerateName[:min(len(d.Meta.GenerateName), limit)]
	for {
		suffix := make([]byte, length)
		for i := range suffix {
			suffix[i] = letters[mathrand.IntN(len(letters))]
		}
		key := meta.Key{Namespace: d.Meta.Namespace, Name: prefix + string(suffix)}
		if tx.Get(c.res.objects, key) == nil {
			return key.Name
		}
	}
}

// firstStatus returns the status of a new object, given the one that its writer wants.
func (r *resource) firstStatus(wanted any) any {
	first := withNow(r.initial, timeText(timestamp()))
	if !r.StatusOnCreate || wanted == nil {
		return first
	}
	return jsontree.Merge(first, wanted)
}
