package jsontree_test

import (
	"reflect"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

func TestMerge(t *testing.T) {
	target := jsontree.Object{"a": jsontree.Object{"b": 1, "c": 2}, "d": []any{1}}
	change := jsontree.Object{"a": jsontree.Object{"b": nil}, "d": []any{}, "e": jsontree.Object{"f": nil}}
	want := jsontree.Object{"a": jsontree.Object{"c": 2}, "d": []any{}, "e": jsontree.Object{}}
	if got := jsontree.Merge(target, change); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
