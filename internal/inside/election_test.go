package inside

import (
	"context"
	"slices"
	"testing"
)

func TestElectionsAreToldFromTheOutermostContextInwards(t *testing.T) {
	var said []string
	tells := func(name string) Elections {
		return Elections{Run: func(_ context.Context, e Election) func() {
			said = append(said, name+" begins "+e.Name)
			return func() { said = append(said, name+" ends") }
		}}
	}
	ElectionBegins(t.Context(), Election{Name: "a"})() // nobody is told
	ctx := WithElections(WithElections(WithElections(t.Context(), tells("outer")), Elections{}), tells("inner"))
	ElectionBegins(ctx, Election{Name: "b"})()
	if want := []string{"outer begins b", "inner begins b", "inner ends", "outer ends"}; !slices.Equal(said, want) {
		t.Errorf("said %q, want %q", said, want)
	}
}
