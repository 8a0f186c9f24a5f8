package clienttest

import (
	"cmp"
	"net/http"
	"strconv"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/ownership"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/meta"
)

// replace makes d the object's next state. old is the decoded cur.
func (c *call) replace(tx store.Tx, cur *object.Revision, old, d *object.Draft, o writeOptions) (*object.Revision, error) {
	d, err := c.admit(tx, cur, old, d, &o)
	if err == nil {
		err = c.checkVersion(cur, d.Meta.ResourceVersion)
	}
	if err != nil {
		return nil, err
	}
	d, meant, err := c.settled(tx, old, c.next(old, d), o.dryRun)
	if err != nil {
		return nil, err
	}
	if c.res.check != nil {
		if causes := c.res.check(old, d, c.Subresource); len(causes) > 0 {
			return nil, c.res.Invalid(c.Key.Name, causes)
		}
	}
	if err := c.checkGrant(tx, d, old); err != nil {
		return nil, err
	}
	c.noteBlocked(d, old)
	causes := c.validator.Update(&c.res.Type, &d.Meta, &old.Meta)
	if causes = append(causes, c.wrongValues(tx, d, old)...); len(causes) > 0 {
		return nil, c.res.Invalid(c.Key.Name, causes)
	}
	if c.Subresource == "" {
		c.warnFinalizers(d.Meta.Finalizers, old.Meta.Finalizers)
		c.warnDefinition(d, old)
	}
	c.res.Fill(d)
	if !o.owned {
		c.own(d, meant, old, o.manager)
	}
	if c.res.Generation && !c.res.once && !d.SameSpec(old, &c.res.Type) {
		d.Meta.Generation = old.Meta.Generation + 1
	}
	if err := c.checkLimits(tx, old, d); err != nil {
		return nil, err
	}
	if err := c.validate(tx, cur, d, o); err != nil {
		return nil, err
	}
	if _, err := c.checkQuotas(tx, old, d); err != nil {
		return nil, err
	}
	if d.SameAs(old) && ownership.Same(d.Meta.ManagedFields, old.Meta.ManagedFields) {
		return cur, nil // no new version, and no event
	}
	if !c.mayGo(d) {
		if d, err = c.converted(tx, cur, d); err != nil {
			return nil, err
		}
	}
	return c.commit(tx, cur, d, o), nil
}

// next returns the object that a write of sent results in: it keeps the members that the write cannot change.
func (c *call) next(old, sent *object.Draft) *object.Draft {
	d := sent
	if part := c.res.partOf(c.Subresource); part != nil {
		d = part(old, sent)
		d.Meta.ManagedFields = sent.Meta.ManagedFields
		c.res.metadataPart(c.Subresource).copy(d, sent)
	} else {
		c.keep(old, d)
	}
	d.Meta.ResourceVersion = old.Meta.ResourceVersion
	if c.res.prepare != nil {
		c.res.prepare(d, false)
	}
	return d
}

// commit stores an object's next state, unless it is a dry run, and removes a deleted object if this write removed the
// last obstacle, such as a finalizer. It returns the state to show to the client.
func (c *call) commit(tx store.Tx, cur *object.Revision, d *object.Draft, o writeOptions) *object.Revision {
	if o.dryRun {
		return d.Revision(&c.res.Type, cur.Version)
	}
	if c.mayGo(d) {
		tx.Remove(c.res.objects, cur)
		c.left(tx, c.res, cur.Key)
		return d.Revision(&c.res.Type, cur.Version)
	}
	v := c.put(tx, c.res, cur, d)
	if c.res == c.namespaces {
		c.finishNamespace(tx, v.Key.Name)
	}
	return v
}

// checkVersion compares the client's version of an object with the present one.
func (c *call) checkVersion(cur *object.Revision, version string) error {
	seen := uint64(0)
	if version != "" {
		var err error
		if seen, err = strconv.ParseUint(version, 10, 64); err != nil {
			return status.Failure(http.StatusInternalServerError, "", "%v", err)
		}
	}
	switch {
	case seen == cur.Version, seen == 0 && c.res.Unconditional:
		return nil
	case seen == 0:
		// As on a real server, the kind is the resource's name here.
		return status.Invalid(c.res.Group, c.res.Resource.Resource, c.Key.Name, []meta.StatusCause{
			status.InvalidValue("metadata.resourceVersion", 0, "must be specified for an update"),
		})
	}
	return status.Conflict(c.res, c.Key.Name, status.Modified)
}

// keep copies from old the fields that an update cannot change.
func (c *call) keep(old, d *object.Draft) {
	m := &d.Meta
	m.UID = cmp.Or(m.UID, old.Meta.UID)
	m.CreationTimestamp, m.Generation = old.Meta.CreationTimestamp, old.Meta.Generation
	if old.Meta.DeletionTimestamp != nil {
		m.DeletionTimestamp = old.Meta.DeletionTimestamp
	}
	m.DeletionGracePeriodSeconds = cmp.Or(m.DeletionGracePeriodSeconds, old.Meta.DeletionGracePeriodSeconds)
	retain := func(member string) {
		delete(d.Content, member)
		if v, found := old.Content[member]; found {
			d.Content[member] = v
		}
	}
	if c.res.Status {
		retain("status")
	}
	if c.res.fixed {
		retain("spec")
	}
}

// mayGo reports whether an object that is being deleted can be removed now. A namespace is removed by finishNamespace.
func (c *call) mayGo(d *object.Draft) bool {
	grace := d.Meta.DeletionGracePeriodSeconds
	return d.Meta.DeletionTimestamp != nil && len(d.Meta.Finalizers) == 0 && (grace == nil || *grace == 0) &&
		c.res != c.namespaces
}
