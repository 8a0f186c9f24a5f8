package client

import (
	"reflect"
	"slices"
	"testing"
)

// A handle that is made of another must not forget for whom it acts, or where. Whoever adds a field to Resource decides here
// whether wholeObjects carries it.
func TestWholeObjectsKnowsEveryFieldOfAHandle(t *testing.T) {
	known := []string{"c", "t", "write", "as", "err", "partial"} // it leaves out partial
	handle := reflect.TypeFor[Resource[*sight]]()
	for i := range handle.NumField() {
		if name := handle.Field(i).Name; !slices.Contains(known, name) {
			t.Errorf("what does wholeObjects do with %s?", name)
		}
	}
}
