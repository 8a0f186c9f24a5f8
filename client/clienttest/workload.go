package clienttest

import (
	"maps"
	"strconv"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/clienttest/internal/strategy"
)

// templateLabels returns the labels of the template in the spec of a workload.
func templateLabels(d *object.Draft) jsontree.Object {
	v := any(d.Content)
	for _, name := range []string{"spec", "template", "metadata", "labels"} {
		m, _ := v.(jsontree.Object)
		v = m[name]
	}
	labels, _ := v.(jsontree.Object)
	return labels
}

// labelWorkload gives a workload that has no labels those of its template.
func labelWorkload(d *object.Draft, _ bool) {
	labels := templateLabels(d)
	if len(d.Meta.Labels) > 0 || len(labels) == 0 {
		return
	}
	d.Meta.Labels = make(map[string]string, len(labels))
	for name, text := range labels {
		d.Meta.Labels[name], _ = text.(string)
	}
}

// settleJob gives a new job a selector that selects only its own pods, and gives the pods the labels that it selects.
func settleJob(_ *call, _ store.Tx, old, d *object.Draft, _ bool) error {
	spec := d.Member("spec")
	delete(spec, "scheduling") // it needs the feature gate WorkloadWithJob
	d.Content["spec"] = spec
	if manual, _ := spec["manualSelector"].(bool); manual || old != nil {
		return nil
	}
	const uid = "batch.kubernetes.io/controller-uid"
	labels := templateLabels(d)
	own := jsontree.Object{
		"controller-uid": d.Meta.UID, uid: d.Meta.UID, "job-name": d.Meta.Name, "batch.kubernetes.io/job-name": d.Meta.Name,
	}
	maps.Copy(own, labels)
	spec["template"] = withMember(spec["template"], own, "metadata", "labels")
	if len(d.Meta.Labels) == len(labels) && containsTexts(labels, d.Meta.Labels) { // they are those of the template
		d.Meta.Labels = nil
		labelWorkload(d, true)
	}
	selector, _ := spec["selector"].(jsontree.Object)
	matches, _ := selector["matchLabels"].(jsontree.Object)
	if matches[uid] == nil {
		spec["selector"] = withMember(spec["selector"], d.Meta.UID, "matchLabels", uid)
	}
	return nil
}

// containsTexts reports whether an object has all members in texts, with the same values.
func containsTexts(m jsontree.Object, texts map[string]string) bool {
	for name, text := range texts {
		if m[name] != text {
			return false
		}
	}
	return true
}

// settleCronJob drops the field that needs the feature gate WorkloadWithJob.
func settleCronJob(_ *call, _ store.Tx, _, d *object.Draft, _ bool) error {
	template, _ := d.Member("spec")["jobTemplate"].(jsontree.Object)
	if spec, found := template["spec"].(jsontree.Object); found {
		delete(spec, "scheduling")
	}
	return nil
}

// withMember returns a copy of an object with another value at a path.
func withMember(of, v any, path ...string) any {
	if len(path) == 0 {
		return v
	}
	m, _ := of.(jsontree.Object)
	if m = maps.Clone(m); m == nil {
		m = jsontree.Object{}
	}
	m[path[0]] = withMember(m[path[0]], v, path[1:]...)
	return m
}

// templateGeneration is the annotation in which a DaemonSet counts the changes of its template.
const templateGeneration = "deprecated.daemonset.template.generation"

// prepareDaemonSet sets the annotation to 0 if the client has not sent it.
func prepareDaemonSet(d *object.Draft, _ bool) {
	if _, found := d.Meta.Annotations[templateGeneration]; !found {
		setAnnotation(d, templateGeneration, "0")
	}
}

// settleDaemonSet counts the changes of a DaemonSet's template.
func settleDaemonSet(_ *call, _ store.Tx, old, d *object.Draft, _ bool) error {
	count := func(d *object.Draft) int64 {
		n, _ := strconv.ParseInt(d.Meta.Annotations[templateGeneration], 10, 64)
		return n
	}
	n := max(count(d), 1)
	if old != nil {
		n = count(old)
		if !strategy.Same(d.Member("spec")["template"], old.Member("spec")["template"]) {
			n++
		}
	}
	setAnnotation(d, templateGeneration, strconv.FormatInt(n, 10))
	return nil
}

func setAnnotation(d *object.Draft, name, text string) {
	if d.Meta.Annotations == nil {
		d.Meta.Annotations = map[string]string{}
	}
	d.Meta.Annotations[name] = text
}

// settleDeployment counts a change of the annotations of a Deployment as a change of its spec.
func settleDeployment(c *call, _ store.Tx, old, d *object.Draft, _ bool) error {
	if old != nil && c.Subresource == "" && !maps.Equal(old.Meta.Annotations, d.Meta.Annotations) {
		d.Meta.Generation = old.Meta.Generation + 1
	}
	return nil
}
