package clienttest

import (
	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/meta"
)

// serveEviction deletes a pod, unless its disruption budget does not allow that now.
func serveEviction(c *call) error {
	var e struct {
		meta.ObjectMeta `json:"metadata"`
		DeleteOptions   *deleteOptions `json:"deleteOptions"`
	}
	o, err := c.readFor(&e, &e.ObjectMeta)
	if err != nil {
		return err
	}
	if err := c.checkNamespace(e.Namespace); err != nil {
		return err
	}
	how := e.DeleteOptions
	if how == nil {
		how = &deleteOptions{}
	}
	if err := how.validate(); err != nil {
		return err
	}
	how.dryRun = how.dryRun || o.dryRun
	if err := c.evict(how); err != nil {
		return err
	}
	return c.accept()
}

// evict takes the eviction from the pod's budget, writes the condition DisruptionTarget, and deletes the pod.
func (c *call) evict(how *deleteOptions) error {
	tx := c.store.Begin()
	defer tx.End()
	cur, err := c.present(tx)
	if err != nil {
		return err
	}
	spared, err := c.spend(tx, cur, how.dryRun)
	if err != nil {
		return err
	}
	if err := how.check(c.res, cur); err != nil {
		// A real server adds this precondition itself, and takes any failure for a change of the pod.
		if spared != nil && how.Preconditions.ResourceVersion == nil {
			return spared.unknown()
		}
		return err
	}
	if !how.dryRun {
		cur = disrupt(tx, c.res, cur)
	}
	c.remove(tx, c.res, cur, how)
	return nil
}

// disrupt writes into a pod why it ends.
func disrupt(tx store.Tx, pods *resource, cur *object.Revision) *object.Revision {
	d := cur.Draft()
	setStatusCondition(d, jsontree.Object{
		"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting",
		"lastProbeTime": nil, "lastTransitionTime": timeText(timestamp()),
	})
	if d.SameAs(cur.Draft()) {
		return cur
	}
	return tx.Put(pods.objects, cur, d)
}
