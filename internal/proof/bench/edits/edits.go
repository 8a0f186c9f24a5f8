// Package edits has the documents of the row about patches: a pod of a Deployment before and after an edit.
package edits

import (
	"encoding/json"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"

	"github.com/bowline-go/bowline/internal/proof/bench/canned"
	"github.com/bowline-go/bowline/internal/proof/bench/sample"
)

// The edit adds a label and an environment variable, removes an annotation, and changes the image, an annotation and a
// condition.
const (
	jsonPatch = `[{"op":"add","path":"/metadata/labels/tier","value":"front"},` +
		`{"op":"replace","path":"/metadata/annotations/checksum~1config","value":"f00d"},` +
		`{"op":"remove","path":"/metadata/annotations/prometheus.io~1port"},` +
		`{"op":"replace","path":"/spec/containers/0/image","value":"registry.example.com/app:2"},` +
		`{"op":"add","path":"/spec/containers/0/env/-","value":{"name":"FEATURE","value":"on"}},` +
		`{"op":"replace","path":"/status/conditions/2/status","value":"False"}]`
	metadata       = `"metadata":{"labels":{"tier":"front"},"annotations":{"checksum/config":"f00d","prometheus.io/port":null}}`
	strategicPatch = `{` + metadata + `,"spec":{"$setElementOrder/containers":[{"name":"app"},{"name":"proxy"}],"containers":[` +
		`{"name":"app","image":"registry.example.com/app:2","$setElementOrder/env":[{"name":"LOG_LEVEL"},{"name":"DATABASE_HOST"},` +
		`{"name":"POD_NAME"},{"name":"DATABASE_PASSWORD"},{"name":"FEATURE"}],"env":[{"name":"FEATURE","value":"on"}]}]},` +
		`"status":{"conditions":[{"type":"Ready","status":"False"}]}}`
)

// Documents returns the documents, the same each time.
func Documents() (sample.Documents, error) {
	raw, err := canned.Pod(0)
	if err != nil {
		return sample.Documents{}, err
	}
	var pod corev1.Pod
	if err := json.Unmarshal(raw, &pod); err != nil {
		return sample.Documents{}, fmt.Errorf("decode the pod: %w", err)
	}
	// evanphx/json-patch drops members that are null from the items of a list, which RFC 7386 keeps.
	for i := range pod.Status.Conditions {
		pod.Status.Conditions[i].LastProbeTime = pod.CreationTimestamp
	}
	e := encoder{}
	after := pod.DeepCopy()
	edit(after)
	ready := after.DeepCopy()
	ready.Status.Conditions[2].Status = corev1.ConditionFalse
	d := sample.Documents{
		Old: e.encode(pod), New: e.encode(ready), JSON: []byte(jsonPatch), Strategic: []byte(strategicPatch),
		Original: e.encode(configuration(&pod)), Modified: e.encode(configuration(after)),
	}
	d.Merge = fmt.Appendf(nil, `{%s,"spec":{"containers":%s},"status":{"conditions":%s}}`,
		metadata, e.encode(ready.Spec.Containers), e.encode(ready.Status.Conditions))
	for _, p := range []*corev1.Pod{&pod, after} {
		p.Labels["injected"] = "true" // by another client
	}
	d.Current, d.Configured = e.encode(pod), e.encode(after)
	return d, e.err
}

func edit(p *corev1.Pod) {
	p.Labels["tier"] = "front"
	p.Annotations["checksum/config"] = "f00d"
	delete(p.Annotations, "prometheus.io/port")
	c := &p.Spec.Containers[0]
	c.Image = "registry.example.com/app:2"
	c.Env = append(c.Env, corev1.EnvVar{Name: "FEATURE", Value: "on"})
}

// configuration returns the configuration for such a pod.
func configuration(p *corev1.Pod) *corev1.Pod {
	c := &corev1.Pod{Spec: *p.Spec.DeepCopy()}
	c.Name, c.Namespace, c.Labels, c.Annotations = p.Name, p.Namespace, maps.Clone(p.Labels), maps.Clone(p.Annotations)
	c.Spec.NodeName, c.Spec.Priority = "", nil
	return c
}

// encoder keeps its first error.
type encoder struct{ err error }

func (e *encoder) encode(v any) []byte {
	text, err := json.Marshal(v)
	if e.err == nil {
		e.err = err
	}
	return text
}
