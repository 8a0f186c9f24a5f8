package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// normalizer makes the states of two runs comparable. It replaces the values that a server chooses at random: uids,
// times, and the ends of generated names. It sorts the lists that have no order. It drops versions and managedFields. A
// generation in a status becomes "current" if it is the object's.
type normalizer struct {
	owners   map[string]string // a uid -> the kind and the name of its object
	renamed  []renaming
	unsorted []string
}

// renaming replaces each text that matches by another text. It is for names that the operator may choose freely, so
// that two runs may differ.
type renaming struct {
	match *regexp.Regexp
	by    string
}

var timestamp = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)

func normalize(objects []unstructured.Unstructured, unsorted []string, renamed ...renaming) []string {
	n := normalizer{owners: map[string]string{}, renamed: slices.Clone(renamed), unsorted: unsorted}
	for _, o := range objects {
		name := o.GetName()
		if prefix := o.GetGenerateName(); prefix != "" {
			name = prefix + "*"
			n.renamed = append(n.renamed, renaming{regexp.MustCompile("^" + regexp.QuoteMeta(o.GetName()) + "$"), name})
		}
		n.owners[string(o.GetUID())] = "uid of " + o.GetKind() + " " + name
	}
	lines := make([]string, 0, len(objects))
	for _, o := range objects {
		lines = append(lines, n.line(o.DeepCopy()))
	}
	slices.Sort(lines)
	return lines
}

func (n normalizer) line(o *unstructured.Unstructured) string {
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "selfLink"} {
		generation := o.GetGeneration()
		if field == "generation" {
			observed, found, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
			if found && observed == generation {
				_ = unstructured.SetNestedField(o.Object, "current", "status", "observedGeneration")
			}
		}
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
	value := n.value(o.Object)
	text, err := json.Marshal(value) // with sorted members
	if err != nil {
		return err.Error()
	}
	name, _, _ := unstructured.NestedString(value.(map[string]any), "metadata", "name")
	return fmt.Sprintf("%s %s/%s %s", o.GetKind(), o.GetNamespace(), name, text)
}

func (n normalizer) value(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if uid, ok := member.(string); ok && name == "uid" {
				v[name] = n.owner(uid)
				continue
			}
			v[name] = n.value(member)
			if list, ok := member.([]any); ok && slices.Contains(n.unsorted, name) {
				slices.SortFunc(list, func(a, b any) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) }) // maps print sorted
			}
		}
	case []any:
		for i := range v {
			v[i] = n.value(v[i])
		}
	case string:
		if timestamp.MatchString(v) {
			return "a time"
		}
		for _, r := range n.renamed {
			if r.match.MatchString(v) {
				return r.match.ReplaceAllString(v, r.by)
			}
		}
	}
	return v
}

func (n normalizer) owner(uid string) string {
	if owner := n.owners[uid]; owner != "" {
		return owner
	}
	return "uid of something else"
}

// compare returns the lines of one state that the other lacks, as a diff.
func compare(before, after []string) []string {
	count := map[string]int{}
	for _, line := range before {
		count[line]++
	}
	for _, line := range after {
		count[line]--
	}
	var diff []string
	for _, line := range slices.Sorted(maps.Keys(count)) {
		sign := "-"
		n := count[line]
		if n < 0 {
			sign, n = "+", -n
		}
		for range n {
			diff = append(diff, sign+" "+line)
		}
	}
	return diff
}

// kindsOf counts the objects of a state by kind.
func kindsOf(state []string) string {
	count := map[string]int{}
	for _, line := range state {
		kind, _, _ := strings.Cut(line, " ")
		count[kind]++
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(count)) {
		parts = append(parts, fmt.Sprintf("%d %s", count[kind], kind))
	}
	return strings.Join(parts, ", ")
}
