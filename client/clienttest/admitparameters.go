package clienttest

import (
	"encoding/json"
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// writeParameters returns the parameters of a write as admission sees them. A patch has those of an update, or of a
// create if it makes an object.
func (c *call) writeParameters(operation string) json.RawMessage {
	o := jsontree.Object{"kind": "UpdateOptions", "apiVersion": metaGroup + "/v1"}
	if operation == create {
		o["kind"] = "CreateOptions"
	}
	for _, name := range []string{"fieldManager", "fieldValidation"} {
		if text := c.query.Get(name); text != "" {
			o[name] = text
		}
	}
	if values := c.query["dryRun"]; len(values) > 0 {
		o["dryRun"] = jsontree.Of(values)
	}
	return jsontree.Append(nil, o)
}

// asParameters returns the parameters of a deletion as admission sees them.
func (o *deleteOptions) asParameters() json.RawMessage {
	is := jsontree.Object{"kind": "DeleteOptions", "apiVersion": metaGroup + "/v1"}
	set := func(name string, v any, set bool) {
		if set {
			is[name] = jsontree.Of(v)
		}
	}
	set("gracePeriodSeconds", o.GracePeriodSeconds, o.GracePeriodSeconds != nil)
	set("orphanDependents", o.OrphanDependents, o.OrphanDependents != nil)
	set("propagationPolicy", o.PropagationPolicy, o.PropagationPolicy != nil)
	set("dryRun", o.DryRun, len(o.DryRun) > 0)
	conditions := jsontree.Object{}
	if uid := o.Preconditions.UID; uid != nil {
		conditions["uid"] = *uid
	}
	if version := o.Preconditions.ResourceVersion; version != nil {
		conditions["resourceVersion"] = *version
	}
	set("preconditions", conditions, len(conditions) > 0)
	return jsontree.Append(nil, is)
}

// connectParameters returns the object of a connection: the options of exec, attach or portforward.
func (c *call) connectParameters() json.RawMessage {
	kinds := map[string]string{"exec": "PodExecOptions", "attach": "PodAttachOptions", "portforward": "PodPortForwardOptions"}
	o := jsontree.Object{"kind": kinds[c.Subresource], "apiVersion": "v1"}
	for _, name := range []string{"stdin", "stdout", "stderr", "tty"} {
		if isTrue(c.query, name) {
			o[name] = true
		}
	}
	if name := c.query.Get("container"); name != "" {
		o["container"] = name
	}
	for _, name := range []string{"command", "ports"} {
		var list []any
		for _, text := range c.query[name] {
			if list = append(list, text); name == "ports" {
				list[len(list)-1] = json.Number(text)
			}
		}
		if len(list) > 0 {
			o[name] = slices.Clip(list)
		}
	}
	return jsontree.Append(nil, o)
}
