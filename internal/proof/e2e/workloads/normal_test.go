package workloads

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// normalizer writes objects without what differs between two clusters that do the same.
type normalizer struct {
	hashes map[string]string // what stands for a hash of a pod template
	times  *regexp.Regexp
}

func newNormalizer() *normalizer {
	return &normalizer{hashes: map[string]string{}, times: regexp.MustCompile(`^\d{4}-\d\d-\d\dT`)}
}

// learnHashes gives each hash the revision of its replica set.
func (n *normalizer) learnHashes(sets []object) {
	for _, set := range sets {
		if hash := set.GetLabels()["pod-template-hash"]; hash != "" {
			n.hashes[hash] = "hash-of-" + cmp.Or(set.GetAnnotations()["deployment.kubernetes.io/revision"], "none")
		}
	}
}

// text returns an object in its normal form.
func (n *normalizer) text(resource string, obj object) string {
	o := obj.DeepCopy()
	m, _ := o.Object["metadata"].(map[string]any)
	generation := m["generation"]
	if s, ok := o.Object["status"].(map[string]any); ok && s["observedGeneration"] != nil {
		s["observedGeneration"] = map[bool]string{true: "current", false: "old"}[fmt.Sprint(s["observedGeneration"]) == fmt.Sprint(generation)]
	}
	for _, field := range []string{"uid", "resourceVersion", "managedFields", "generation", "creationTimestamp", "namespace"} {
		delete(m, field)
	}
	if annotations, ok := m["annotations"].(map[string]any); ok {
		delete(annotations, "endpoints.kubernetes.io/last-change-trigger-time")
		if len(annotations) == 0 {
			delete(m, "annotations")
		}
	}
	if prefix, ok := m["generateName"].(string); ok {
		m["name"] = prefix + "*"
	}
	delete(o.Object, "kind")
	delete(o.Object, "apiVersion")
	switch resource {
	case "pods":
		n.reducePod(o)
	case "serviceaccounts":
		delete(o.Object, "secrets")
	case "replicasets", "deployments", "jobs":
		if spec, ok := o.Object["spec"].(map[string]any); ok {
			n.reduceTemplate(spec)
		}
	}
	text, err := json.Marshal(n.value("", o.Object))
	if err != nil {
		panic(err)
	}
	return string(text)
}

// reducePod keeps what controllers decide, and the parts of the status that they read.
func (n *normalizer) reducePod(o object) {
	spec, _ := o.Object["spec"].(map[string]any)
	kept := map[string]any{"hostname": spec["hostname"], "restartPolicy": spec["restartPolicy"], "scheduled": spec["nodeName"] != nil}
	for _, list := range []string{"containers", "initContainers"} {
		containers, _ := spec[list].([]any)
		for _, c := range containers {
			c := c.(map[string]any)
			kept[fmt.Sprint(list, c["name"])] = map[string]any{"image": c["image"], "env": c["env"]}
		}
	}
	o.Object["spec"] = kept
	status, _ := o.Object["status"].(map[string]any)
	o.Object["status"] = map[string]any{"phase": status["phase"], "reason": status["reason"], "conditions": status["conditions"]}
}

// reduceTemplate leaves out the spec of a pod template, which the server has filled in.
func (n *normalizer) reduceTemplate(spec map[string]any) {
	template, _ := spec["template"].(map[string]any)
	pod, _ := template["spec"].(map[string]any)
	if containers, ok := pod["containers"].([]any); ok && len(containers) > 0 {
		template["spec"] = containers[0].(map[string]any)["image"]
	}
}

// value returns a value of an object in its normal form. name is the member that has it.
func (n *normalizer) value(name string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, inner := range v {
			switch k {
			case "message", "namespace", "lastProbeTime", "lastUpdateTime", "lastTransitionTime", "zone", "observedGeneration":
				if k == "observedGeneration" && name != "conditions" {
					out[k] = inner
				}
			case "uid":
				out[k] = "uid"
			case "batch.kubernetes.io/controller-uid", "controller-uid":
				out[k] = "uid"
			default:
				out[k] = n.value(k, inner)
			}
		}
		return out
	case []any:
		var out []any
		for _, inner := range v {
			out = append(out, n.value(name, inner))
		}
		if name == "conditions" || name == "endpoints" || name == "ports" || name == "ownerReferences" {
			slices.SortFunc(out, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
		return out
	case string:
		return n.word(name, v)
	}
	return v
}

// word returns a string in its normal form.
func (n *normalizer) word(name, s string) string {
	switch {
	case n.times.MatchString(s):
		return "time"
	case name == "addresses":
		return "address"
	}
	for hash, stands := range n.hashes {
		s = strings.ReplaceAll(s, hash, stands)
	}
	if i := strings.LastIndex(s, "-"); name == "name" && i > 0 && len(s)-i == 6 { // the end of a generated name
		s = s[:i] + "-*"
	}
	return s
}

// diff returns the lines that only one of two sorted lists has.
func diff(a, b []string) (onlyA, onlyB []string) {
	left := slices.Clone(b)
	for _, line := range a {
		if i := slices.Index(left, line); i >= 0 {
			left = slices.Delete(left, i, i+1)
		} else {
			onlyA = append(onlyA, line)
		}
	}
	return onlyA, left
}
