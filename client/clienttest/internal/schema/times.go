package schema

import (
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// microLayout is how a MicroTime is read and written: with six digits, no more and no fewer.
const microLayout = "2006-01-02T15:04:05.000000Z07:00"

// layout returns the layout in which the shape's time is read and written, or "" if the shape is not a time.
func (s *Shape) layout() string {
	switch {
	case strings.HasSuffix(s.name, ".meta.v1.MicroTime"):
		return microLayout
	case strings.HasSuffix(s.name, ".meta.v1.Time"):
		return time.RFC3339
	}
	return ""
}

// SetTimes writes the times in a value as a compiled-in type does, in UTC.
func (s *Shape) SetTimes(v any) {
	if s == nil {
		return
	}
	if object, ok := v.(jsontree.Object); ok {
		for name, m := range object {
			inner, _ := s.Field(name)
			text, isText := m.(string)
			if !isText || inner == nil || inner.layout() == "" {
				continue
			}
			if t, err := time.Parse(inner.layout(), text); err == nil { // otherwise Misfit has reported it
				object[name] = t.UTC().Format(inner.layout())
			}
		}
	}
	s.Each(v, (*Shape).SetTimes)
}
