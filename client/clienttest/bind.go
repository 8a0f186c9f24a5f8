package clienttest

import (
	"net/http"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// binding assigns a pod to a node. It has the name of the pod.
type binding struct {
	meta.ObjectMeta `json:"metadata"`
	Target          struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
	} `json:"target"`
}

// serveBinding answers a Binding that is sent to its pod.
func serveBinding(c *call) error {
	var b binding
	o, err := c.readFor(&b, &b.ObjectMeta)
	if err != nil {
		return err
	}
	return c.bind(b, o)
}

// serveBindings answers a Binding that is sent to its namespace, as old schedulers do.
func serveBindings(c *call) error {
	o, err := c.writeOptions("CreateOptions")
	if err != nil {
		return err
	}
	var b binding
	if err := c.readAction(&b, c.res.GVK()); err != nil {
		return err
	}
	if err := c.checkNamespace(b.Namespace); err != nil {
		return err
	}
	c.res, c.Key.Name = c.registry.core("pods"), b.Name
	return c.bind(b, o)
}

// bind assigns the pod that the call names.
func (c *call) bind(b binding, o writeOptions) error {
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
