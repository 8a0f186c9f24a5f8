// Package records has the rules of Events, which a real server stores once and serves by two groups: the core, and
// events.k8s.io, where some members have other names. Each group is a view of the same objects.
package records

import "github.com/bowline-go/bowline/client/clienttest/internal/jsontree"

// Group is the group events.k8s.io. The group of the other view is empty.
const Group = "events.k8s.io"

// names returns the members whose names differ between the views: the name in the core, and the name in events.k8s.io.
func names() [][2]string {
	return [][2]string{
		{"involvedObject", "regarding"},
		{"message", "note"},
		{"reportingComponent", "reportingController"},
		{"source", "deprecatedSource"},
		{"firstTimestamp", "deprecatedFirstTimestamp"},
		{"lastTimestamp", "deprecatedLastTimestamp"},
		{"count", "deprecatedCount"},
	}
}

// renamed returns the name of a member in the view of a group, given its name in the other one.
func renamed(name, into string) string {
	from, to := 0, 1
	if into != Group {
		from, to = 1, 0
	}
	for _, n := range names() {
		if n[from] == name {
			return n[to]
		}
	}
	return name
}

// View returns the members of an Event in the view of a group, given those in the other one. It leaves out members
// that are null or empty texts, because only one of the views writes them.
func View(content jsontree.Object, into string) jsontree.Object {
	out := make(jsontree.Object, len(content))
	for name, v := range content {
		if v != nil && v != "" {
			out[renamed(name, into)] = v
		}
	}
	return out
}

// Selected returns the text that a field selector compares. Only the view of the core has the field "source". Its text
// is the component of the Event's source, or else the Event's controller.
func Selected(content jsontree.Object, path string) string {
	if path != "source" {
		return jsontree.Lookup(content, path)
	}
	if component := jsontree.Lookup(content, "source.component"); component != "" {
		return component
	}
	return jsontree.Lookup(content, "reportingComponent")
}
