package clienttest

import (
	"net/http"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// serveBinding assigns a pod to a node.
func serveBinding(c *call) error {
	var b struct {
		meta.ObjectMeta `json:"metadata"`
		Target          struct {
			Kind string `json:"kind"`
			Name string `json:"name"`
		} `json:"target"`
	}
	o, err := c.readFor(&b, &b.ObjectMeta)
	if err != nil {
		return err
	}
	if b.Target.Name == "" {
		return status.Failure(http.StatusInternalServerError, "", "target.name: Required value")
	}
	tx := c.store.Begin()
	defer tx.End()
	cur, err := c.present(tx)
	if err != nil {
		return err
	}
	refuse := func(format string, args ...any) error {
		return status.Unfulfilled("", "pods/binding", c.Key.Name, format, args...)
	}
	d := cur.Draft()
	spec := d.Member("spec")
	switch node, _ := spec["nodeName"].(string); {
	case b.UID != "" && b.UID != cur.UID:
		return refuse("Precondition failed: UID in precondition: %s, UID in object meta: %s", b.UID, cur.UID)
	case cur.Deleting:
		return refuse("pod %s is being deleted, cannot be assigned to a host", c.Key.Name)
	case node != "":
		return refuse("pod %s is already assigned to node %q", c.Key.Name, node)
	}
	spec["nodeName"] = b.Target.Name
	scheduled := jsontree.Object{
		"type": "PodScheduled", "status": "True", "lastProbeTime": nil, "lastTransitionTime": timeText(timestamp()),
	}
	d.Content["spec"] = spec
	d.Content["status"] = jsontree.Merge(d.Content["status"], jsontree.Object{"conditions": []any{scheduled}})
	if !o.dryRun {
		tx.Put(c.res.objects, cur, d)
	}
	return c.accept()
}
