package clienttest

import (
	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/limits"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
)

// The plugin LimitRanger of a real server: the LimitRanges of a namespace give the containers of a new pod the requests
// and limits that they lack, and bound those of pods and claims.

// annotationOfLimits is the annotation that says which requests and limits a pod did not have itself.
const annotationOfLimits = "kubernetes.io/limit-ranger"

// completeResources gives the containers of a pod the requests and limits that they lack. It does not change the
// annotation for a resize.
func (c *call) completeResources(tx store.Tx, old, d *object.Draft) {
	spec, _ := d.Content["spec"].(jsontree.Object)
	if spec == nil || tx.Count(c.limitRanges.objects) == 0 || isEnding(old) {
		return
	}
	for v := range tx.Objects(c.limitRanges.objects, d.Meta.Namespace) {
		text := limits.Read(v.Draft().Content).Complete(spec)
		if text == "" || old != nil {
			continue
		}
		if d.Meta.Annotations == nil {
			d.Meta.Annotations = map[string]string{}
		}
		d.Meta.Annotations[annotationOfLimits] = text
	}
}

// checkLimits refuses a new pod, the resize of a pod, and a claim, if a LimitRange does not allow what it asks for.
func (c *call) checkLimits(tx store.Tx, old, d *object.Draft) error {
	if tx.Count(c.limitRanges.objects) == 0 || isEnding(old) {
		return nil
	}
	var check func(r limits.Range, content jsontree.Object) error
	switch name := c.res.groupResource(); {
	case name == "pods" && (old == nil || c.Subresource == "resize"):
		check = limits.Range.CheckPod
	case name == "persistentvolumeclaims" && c.Subresource == "":
		check = limits.Range.CheckClaim
	default:
		return nil
	}
	for v := range tx.Objects(c.limitRanges.objects, d.Meta.Namespace) {
		if err := check(limits.Read(v.Draft().Content), d.Content); err != nil {
			return status.Forbidden(c.res, d.Meta.Name, "%v", err)
		}
	}
	return nil
}

// isEnding reports whether an object, which may be nil, has been deleted and is still there.
func isEnding(d *object.Draft) bool { return d != nil && d.Meta.DeletionTimestamp != nil }
