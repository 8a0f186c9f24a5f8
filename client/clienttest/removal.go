package clienttest

import (
	"strconv"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/meta"
)

// removeNamed deletes the object that the request names. It returns the state to show to the client, and whether the
// object has gone.
func (c *call) removeNamed(o *deleteOptions) (_ *object.Revision, gone bool, _ error) {
	var v *object.Revision
	err := c.write(func(tx store.Tx) (err error) {
		v, gone, err = c.removePresent(tx, o)
		return err
	})
	return v, gone, err
}

func (c *call) removePresent(tx store.Tx, o *deleteOptions) (_ *object.Revision, gone bool, _ error) {
	cur, err := c.present(tx)
	if err == nil {
		err = o.check(c.res, cur)
	}
	if err == nil {
		err = c.admitRemoval(tx, cur, o)
	}
	if err != nil {
		return nil, false, err
	}
	if c.res == c.namespaces {
		switch cur.Key.Name {
		case "default", "kube-system", "kube-public":
			return nil, false, status.Forbidden(c.res, cur.Key.Name, "this namespace may not be deleted")
		}
		return c.terminate(tx, cur, o), false, nil
	}
	v, gone := c.remove(tx, c.res, cur, o)
	return v, gone, nil
}

// admitRemoval asks admission about the deletion of an object.
func (c *call) admitRemoval(tx store.Tx, cur *object.Revision, o *deleteOptions) error {
	if c.res.graceful {
		if _, pending := o.grace(cur.Draft(), cur.Draft()); pending {
			return nil
		}
	}
	_, err := c.both(tx, cur, func(q *question) {
		q.Operation, q.OldObject, q.Key = remove, cur.Raw, cur.Key
		q.Parameters, q.DryRun, q.stored = o.asParameters(), o.dryRun, true
	})
	return err
}

// remove removes an object, or marks it as deleted if it has finalizers or is a pod on a node. It returns the state to
// show to the client.
func (a *api) remove(tx store.Tx, r *resource, cur *object.Revision, o *deleteOptions) (_ *object.Revision, gone bool) {
	if r == a.crds && !cur.Deleting {
		return a.endDefinition(tx, cur, o.dryRun), false
	}
	old := cur.Draft()
	d := old.Clone()
	graceful, pending := false, false
	if r.graceful {
		if graceful, pending = o.grace(old, d); pending {
			return cur, false
		}
	}
	d.Meta.Finalizers = r.unprotected(o.finalizers(r, old.Meta.Finalizers))
	waits := len(d.Meta.Finalizers) > 0
	if waits && !graceful {
		endAt(d, timestamp(), 0)
	}
	if !cur.Deleting && d.Meta.DeletionTimestamp != nil && d.Meta.Generation > 0 {
		d.Meta.Generation++
	}
	if !d.SameAs(old) {
		if o.dryRun {
			cur = d.Revision(&r.Type, cur.Version)
		} else {
			r.keepVersions(tx, d)
			cur = a.put(tx, r, cur, d)
		}
	}
	switch {
	case waits, graceful && *d.Meta.DeletionGracePeriodSeconds > 0:
		return cur, false
	case o.dryRun:
		return cur, true
	}
	cur = tx.Remove(r.objects, cur)
	a.left(tx, r, cur.Key)
	return cur, true
}

// finishNamespace removes a namespace that is being deleted when it is empty and has no finalizers of its clients. With
// Options.NamespaceController it removes the namespace when it has no finalizers, whatever is in it.
func (a *api) finishNamespace(tx store.Tx, name string) {
	cur := tx.Get(a.namespaces.objects, meta.Key{Name: name})
	if cur == nil || !cur.Deleting {
		return
	}
	d := cur.Draft()
	ready := tx.InNamespace(name) == 0 && !awaitsClients(d)
	if a.options.NamespaceController {
		list, _ := d.Member("spec")["finalizers"].([]any)
		ready = len(list)+len(d.Meta.Finalizers) == 0
	}
	if ready {
		tx.Remove(a.namespaces.objects, cur)
	}
}

// terminate deletes a namespace and its contents. With Options.NamespaceController it marks the namespace as deleted,
// and leaves the contents to a controller. It returns the namespace as it is until it has gone.
func (a *api) terminate(tx store.Tx, cur *object.Revision, o *deleteOptions) *object.Revision {
	if cur.Deleting {
		return cur
	}
	d := cur.Draft()
	d.Meta.DeletionTimestamp = new(timestamp())
	d.Meta.Finalizers = o.finalizers(a.namespaces, d.Meta.Finalizers)
	d.Content["status"] = jsontree.Object{"phase": "Terminating"}
	if o.dryRun {
		return d.Revision(&a.namespaces.Type, cur.Version)
	}
	cur = tx.Put(a.namespaces.objects, cur, d)
	if a.options.NamespaceController {
		a.finishNamespace(tx, cur.Key.Name)
		return cur
	}
	// The controller of a real cluster deletes the contents in the background, whatever propagation the request has.
	contents := &deleteOptions{PropagationPolicy: new("Background")}
	for _, r := range a.registry.registered() {
		if r.Scope != meta.Namespaced {
			continue
		}
		for v := range tx.Objects(r.objects, cur.Key.Name) {
			a.remove(tx, r, v, contents)
		}
	}
	a.finishNamespace(tx, cur.Key.Name)
	return cur
}

// endAt records in an object the time of its removal, and the grace period until then.
func endAt(d *object.Draft, at meta.Time, grace int64) {
	if was := d.Meta.DeletionTimestamp; was == nil || was.After(at.Time) {
		d.Meta.DeletionTimestamp = &at
	}
	d.Meta.DeletionGracePeriodSeconds = &grace
}

// defaultGrace is the grace period in seconds of a pod that does not set one. A real server writes it into the pod.
const defaultGrace = 30

// grace records in d, a copy of the pod old, when the pod ends. A pod that no kubelet runs ends at once. pending means
// that the pod is already ending, no later than requested. graceful is false if the pod must be removed at once.
func (o *deleteOptions) grace(old, d *object.Draft) (graceful, pending bool) {
	asked := o.GracePeriodSeconds
	if asked != nil && *asked < 0 {
		asked = new(int64(1))
	}
	was := old.Meta.DeletionGracePeriodSeconds
	switch {
	case old.Meta.DeletionTimestamp == nil:
		seconds := gracePeriod(old, asked)
		endAt(d, meta.Time{Time: timestamp().Add(time.Duration(seconds) * time.Second)}, seconds)
		return true, false
	case was == nil:
		return false, false
	case asked == nil || *asked >= *was:
		return true, true
	}
	told := old.Meta.DeletionTimestamp.Add(-time.Duration(*was) * time.Second)
	endAt(d, meta.Time{Time: told.Add(time.Duration(*asked) * time.Second)}, *asked)
	return true, false
}

// gracePeriod returns the grace period of a pod in seconds. asked is that of the request; nil if it has none.
func gracePeriod(d *object.Draft, asked *int64) int64 {
	phase := jsontree.Lookup(d.Content, "status.phase")
	if jsontree.Lookup(d.Content, "spec.nodeName") == "" || phase == "Succeeded" || phase == "Failed" {
		return 0
	}
	if asked != nil {
		return *asked
	}
	seconds, err := strconv.ParseInt(jsontree.Lookup(d.Content, "spec.terminationGracePeriodSeconds"), 10, 64)
	if err != nil {
		return defaultGrace
	}
	return max(seconds, 0)
}
