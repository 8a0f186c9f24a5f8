package apiversion_test

import (
	"slices"
	"testing"

	"github.com/bowline-go/bowline/internal/apiversion"
)

func TestTheMostStableVersionComesFirst(t *testing.T) {
	want := []string{
		"v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10", "v01", "v1beta", "v9999999999",
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, apiversion.Compare)
	if !slices.Equal(got, want) {
		t.Errorf("the order is %q, want %q", got, want)
	}
}
