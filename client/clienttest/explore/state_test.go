package explore

import (
	"reflect"
	"slices"
	"testing"
)

// The server lists objects by their names, and those that it has generated are random.
func TestObjectsWithGeneratedNamesAreTheSameInEachOrder(t *testing.T) {
	pod := func(label string) map[string]any { return map[string]any{"metadata": map[string]any{"labels": label}} }
	want := state{"pods default/a-*": pod("x"), "pods default/a-* (2)": pod("x"), "pods default/a-* (3)": pod("y")}
	objects := []map[string]any{pod("x"), pod("x"), pod("y")}
	for range 2 {
		s := state{}
		if s.add("pods default/a-*", slices.Clone(objects)); !reflect.DeepEqual(s, want) {
			t.Errorf("got %v, want %v", s, want)
		}
		slices.Reverse(objects)
	}
}
