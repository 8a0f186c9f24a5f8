package schema

import (
	"encoding/json"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/quantity"
)

// isQuantity reports whether values of the shape are quantities.
func (s *Shape) isQuantity() bool {
	return s != nil && strings.HasSuffix(s.name, ".api.resource.Quantity")
}

// SetQuantities writes the quantities in a value as a compiled-in type does. Those of a map are rounded up to
// thousandths.
func (s *Shape) SetQuantities(v any) {
	if s == nil {
		return
	}
	if object, ok := v.(jsontree.Object); ok {
		for name, m := range object {
			if inner, named := s.Field(name); inner.isQuantity() {
				object[name] = canonicalQuantity(m, !named)
			}
		}
	}
	s.Each(v, (*Shape).SetQuantities)
}

// canonicalQuantity returns a quantity in its canonical form.
func canonicalQuantity(v any, inMap bool) any {
	text, ok := v.(string)
	if quantity.IsShort(text) {
		return v
	}
	if n, isNumber := v.(json.Number); isNumber {
		text, ok = n.String(), true
	}
	q, err := quantity.Parse(text)
	switch {
	case !ok || err != nil: // Misfit has reported it
		return v
	case inMap:
		q = q.RoundUp()
	}
	return q.String()
}
