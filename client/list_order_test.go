package client_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
)

// The members of a JSON object have no order. A list whose apiVersion came behind its items was taken for one without, and
// refused.
func TestTheMembersOfAListComeInAnyOrder(t *testing.T) {
	members := []string{
		`"kind":"ConfigMapList"`, `"apiVersion":"v1"`,
		`"metadata":{"resourceVersion":"5","continue":"%s"}`, `"items":[` + object("%s", "1") + `]`,
	}
	for _, order := range [][]int{
		{0, 1, 2, 3}, {0, 2, 3, 1}, {2, 0, 3, 1}, {1, 2, 3, 0}, {2, 1, 3, 0}, {2, 3, 0, 1}, {1, 3, 0, 2}, {3, 2, 1, 0},
	} {
		page := func(next, name string) string {
			var parts []string
			for _, i := range order {
				part := members[i]
				switch i {
				case 2:
					part = fmt.Sprintf(part, next)
				case 3:
					part = strings.ReplaceAll(part, "%s", name)
				}
				parts = append(parts, part)
			}
			return "{" + strings.Join(parts, ",") + "}"
		}
		r := client.For(connect(t, says(page("2", "a"), page("", "b"))), slims)
		names, bad, err := collect(t.Context(), r, client.ListOptions{})
		if !slices.Equal(names, []string{"a", "b"}) || bad != nil || err != nil {
			t.Errorf("order %v: got %v, %v, %v", order, names, bad, err)
		}
	}
}
