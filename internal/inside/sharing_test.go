package inside

import (
	"context"
	"slices"
	"testing"
)

func TestSharingsAreToldFromTheOutermostContextInwards(t *testing.T) {
	var said []string
	tells := func(name string) Sharings {
		return Sharings{
			Run: func(_ context.Context, s Sharing) func() {
				said = append(said, name+" begins "+s.Name)
				return func() { said = append(said, name+" ends") }
			},
			Changed: func(_ context.Context, c ShareChange) { said = append(said, name+" changes "+c.Name) },
		}
	}
	SharingBegins(t.Context(), Sharing{Name: "a"})() // nobody is told
	SharesChange(t.Context(), ShareChange{Name: "a"})
	ctx := WithSharings(WithSharings(WithSharings(t.Context(), tells("outer")), Sharings{}), tells("inner"))
	end := SharingBegins(ctx, Sharing{Name: "b"})
	SharesChange(ctx, ShareChange{Name: "b"})
	end()
	if want := []string{"outer begins b", "inner begins b", "outer changes b", "inner changes b", "inner ends", "outer ends"}; !slices.Equal(said, want) {
		t.Errorf("said %q, want %q", said, want)
	}
}
