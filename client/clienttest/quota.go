package clienttest

import (
	"iter"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/quantity"
	"github.com/bowline-go/bowline/client/clienttest/internal/quota"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/meta"
)

// The plugin ResourceQuota of a real server refuses objects that exceed the hard limits in the status of a quota, and
// counts there the objects that it admits. A controller fills in the status of a new quota, and counts again when an
// object needs less. Here the transaction of the write does both. An object that is deleted has left the status of its
// quotas when the deletion is answered.

// checkQuotas refuses a write that needs more than the quotas of its namespace have. charge counts a create in them.
func (c *call) checkQuotas(tx store.Tx, old, d *object.Draft) (charge func(), _ error) {
	nothing := func() {}
	if tx.Count(c.quotas.objects) == 0 || c.res.Scope == meta.Cluster {
		return nothing, nil
	}
	present := map[string]*object.Revision{}
	var quotas []quota.Quota
	for v := range tx.Objects(c.quotas.objects, d.Meta.Namespace) {
		present[v.Key.Name] = v
		quotas = append(quotas, quota.Read(v.Draft()))
	}
	if len(quotas) == 0 {
		return nothing, nil
	}
	change := quota.Change{
		Resource: c.res.groupResource(), Subresource: c.Subresource, Old: old, New: d, Now: timestamp().Time,
	}
	admitted, err := change.Admit(quotas)
	if err != nil {
		return nil, status.Forbidden(c.res, d.Meta.Name, "%v", err)
	}
	return func() {
		for _, q := range admitted {
			c.setUsed(tx, present[q.Name], q)
		}
	}, nil
}

// setUsed writes the status of a quota, unless the used amounts are the same.
func (a *api) setUsed(tx store.Tx, cur *object.Revision, q quota.Quota) {
	d := cur.Draft()
	if quota.Read(d).Used.Equal(q.Used) {
		return
	}
	d.Content["status"] = q.Status()
	tx.Put(a.quotas.objects, cur, d)
}

// recount counts again the objects of a resource in the quotas of a namespace, after the write or the removal of one of
// them. old is nil after a removal.
func (a *api) recount(tx store.Tx, r *resource, key meta.Key, old, next *object.Revision) {
	if key.Namespace == "" || tx.Count(a.quotas.objects) == 0 {
		return
	}
	name := r.groupResource()
	if old != nil && !quota.Varies(name) {
		return
	}
	if home := tx.Get(a.namespaces.objects, meta.Key{Name: key.Namespace}); home == nil || home.Deleting {
		return // the quotas go too
	}
	change := quota.Change{Resource: name, Now: timestamp().Time}
	for v := range tx.Objects(a.quotas.objects, key.Namespace) {
		q := quota.Read(v.Draft())
		if !q.Counts(name) {
			continue
		}
		if old != nil && change.Old == nil {
			change.Old, change.New = old.Draft(), next.Draft()
		}
		if old != nil && !change.Moves(q) {
			continue
		}
		used := quantity.List{}
		used.Add(q.Used)
		for name, n := range q.Total(name, tx.Objects(r.objects, key.Namespace), change.Now) {
			used[name] = n
		}
		q.Used = used
		a.setUsed(tx, v, q)
	}
}

// settleQuota fills in the status of a quota whose limits are new.
func settleQuota(c *call, tx store.Tx, old, d *object.Draft, _ bool) error {
	q := quota.Read(d)
	if c.Subresource != "" || old != nil && quota.Read(old).Wanted.Equal(q.Wanted) {
		return nil
	}
	q.Hard = q.Wanted
	used, now := q.Used, timestamp().Time
	seen := map[string]bool{}
	for _, r := range c.registry.registered() {
		name := r.groupResource()
		if r.Scope == meta.Cluster || r.review || seen[name] || !q.Counts(name) {
			continue
		}
		seen[name] = true // further versions have the same objects
		total := q.Total(name, withNew(tx, c.res, r, d, old == nil), now)
		for name, n := range total {
			used[name] = n
		}
	}
	q.Used = used.Only(q.Hard.Names())
	d.Content["status"] = q.Status()
	return nil
}

// withNew returns the objects of r in the namespace of d, together with d if it is a new object of r.
func withNew(tx store.Tx, own, r *resource, d *object.Draft, isNew bool) iter.Seq[*object.Revision] {
	present := tx.Objects(r.objects, d.Meta.Namespace)
	if r != own || !isNew {
		return present
	}
	return func(yield func(*object.Revision) bool) {
		if yield(d.Revision(&r.Type, 0)) {
			present(yield)
		}
	}
}
