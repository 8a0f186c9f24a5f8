package records

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// The limits of texts, in bytes.
const (
	maxWord = 128 // an action, a reason and a reporting instance
	maxNote = 1024
)

// checker collects the errors of an Event. In both views the server's errors use the core's names of the members,
// except for the controller.
type checker struct {
	event     jsontree.Object // in the view of the core
	strict    bool            // the request is of events.k8s.io
	qualified func(name string) []string
	causes    []meta.StatusCause
}

// Rules check the Events that are sent to a group.
type Rules struct {
	Group string
	// Qualified returns what is wrong with a name that may have a prefix.
	Qualified func(name string) []string
}

func (r Rules) checker(content jsontree.Object) *checker {
	if r.Group == Group {
		content = View(content, "")
	}
	return &checker{event: content, strict: r.Group == Group, qualified: r.Qualified}
}

func (c *checker) text(path string) string { return jsontree.Lookup(c.event, path) }

func (c *checker) invalid(field string, value any, why string) {
	c.causes = append(c.causes, status.InvalidValue(field, value, why))
}

func (c *checker) required(field string) {
	c.causes = append(c.causes, meta.StatusCause{Reason: "FieldValueRequired", Field: field, Message: "Required value"})
}

// New returns everything that is wrong with a new Event of a namespace. metadata is what is wrong with its metadata.
func (r Rules) New(content jsontree.Object, namespace string, metadata []meta.StatusCause) []meta.StatusCause {
	c := r.checker(content)
	c.both(namespace)
	if !c.strict {
		if len(c.causes) > 0 {
			return c.causes
		}
		return metadata
	}
	c.causes = append(c.causes, metadata...)
	c.series()
	if c.text("eventTime") == "" {
		c.required("eventTime")
	}
	if t := c.text("type"); t != "Normal" && t != "Warning" {
		c.invalid("type", "", "has invalid value: "+t)
	}
	const unset = "needs to be unset"
	for _, name := range []string{"firstTimestamp", "lastTimestamp"} {
		if c.text(name) != "" {
			c.invalid(name, "", unset)
		}
	}
	if n := c.text("count"); n != "" && n != "0" {
		c.invalid("count", "", unset)
	}
	if c.text("source.component") != "" || c.text("source.host") != "" {
		c.invalid("source", "", unset)
	}
	return c.causes
}

// Changed returns what is wrong with the change of an Event.
func (r Rules) Changed(old, content jsontree.Object, namespace string) []meta.StatusCause {
	c := r.checker(content)
	c.both(namespace)
	if !c.strict {
		return c.causes
	}
	was := View(old, "")
	if !jsontree.Equal(withoutEmpty(was["series"]), withoutEmpty(c.event["series"])) {
		c.series()
	}
	for _, name := range []string{
		"involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count", "type", "eventTime", "action", "related",
		"reportingComponent", "reportingInstance",
	} {
		if jsontree.Equal(withoutEmpty(was[name]), withoutEmpty(c.event[name])) {
			continue
		}
		field := name
		if name == "reportingComponent" {
			field = "reportingController"
		}
		c.invalid(field, shown(name, c.event[name]), "field is immutable")
	}
	return c.causes
}

// both checks the rules of both groups.
func (c *checker) both(namespace string) {
	about := c.text("involvedObject.namespace")
	if c.text("eventTime") == "" { // from a recorder of the older API
		if about != namespace && !(about == "" && namespace == "default") {
			c.invalid("involvedObject.namespace", about, "does not match event.namespace")
		}
		return
	}
	if about == "" && namespace != "default" && namespace != "kube-system" {
		c.invalid("involvedObject.namespace", about, "does not match event.namespace")
	}
	controller := "reportingComponent"
	if c.strict {
		controller = "reportingController"
	}
	name := c.text("reportingComponent")
	if name == "" {
		c.required(controller)
	}
	for _, why := range c.qualified(name) {
		c.invalid(controller, name, why)
	}
	for _, f := range []struct {
		name  string
		most  int
		needs bool
	}{{"reportingInstance", maxWord, true}, {"action", maxWord, true}, {"reason", maxWord, true}, {"message", maxNote, false}} {
		switch length := len(c.text(f.name)); {
		case length == 0 && f.needs:
			c.required(f.name)
		case length > f.most:
			c.invalid(f.name, "", fmt.Sprintf("can have at most %d characters", f.most))
		}
	}
}

// series checks the count and the last time of a repeated Event.
func (c *checker) series() {
	if c.event["series"] == nil {
		return
	}
	var n json.Number
	if s, ok := c.event["series"].(jsontree.Object); ok {
		n, _ = s["count"].(json.Number)
	}
	if count, _ := n.Int64(); count < 2 {
		c.invalid("series.count", "", "should be at least 2")
	}
	if c.text("series.lastObservedTime") == "" {
		c.required("series.lastObservedTime")
	}
}

// withoutEmpty returns a value without the members of an object that are null, empty or 0, and nil if nothing is left.
// A server that decodes into a struct cannot tell the difference.
func withoutEmpty(v any) any {
	switch v := v.(type) {
	case jsontree.Object:
		out := jsontree.Object{}
		for name, inner := range v {
			if inner = withoutEmpty(inner); inner != nil {
				out[name] = inner
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case string:
		if v == "" {
			return nil
		}
	case json.Number:
		if v == "0" {
			return nil
		}
	}
	return v
}

// shown returns the value of a member as errors show it.
func shown(name string, v any) any {
	text, isText := v.(string)
	switch name {
	case "reason", "message", "type", "action", "reportingComponent", "reportingInstance":
		return text // "" if it is not there
	case "eventTime", "firstTimestamp", "lastTimestamp":
		if t, err := time.Parse(time.RFC3339, text); isText && err == nil {
			return json.RawMessage(`"` + t.UTC().Format(time.RFC3339) + `"`)
		}
		return nil
	}
	return v
}
