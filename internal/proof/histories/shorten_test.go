package histories_test

import (
	"slices"
	"testing"

	"github.com/bowline-go/bowline/internal/proof/histories"
)

func TestShortenLeavesWhatFails(t *testing.T) {
	all := make([]int, 100)
	for i := range all {
		all[i] = i
	}
	played := 0
	// The history fails if 17 comes before 71.
	play := func(steps []int) []string {
		played++
		if at := slices.Index(steps, 17); at >= 0 && slices.Contains(steps[at:], 71) {
			return []string{"17 before 71"}
		}
		return nil
	}
	if got, why := histories.Shorten(all, nil, 1000, play); !slices.Equal(got, []int{17, 71}) || !slices.Equal(why, []string{"17 before 71"}) {
		t.Errorf("got %v, %q", got, why)
	}
	played = 0
	if got, why := histories.Shorten(all, []string{"all"}, 3, play); played != 3 || len(play(got)) == 0 || len(why) != 1 {
		t.Errorf("after 3 tries of %d the steps are %v, %q", played, got, why)
	}
	if got, why := histories.Shorten([]int{}, []string{"none"}, 9, play); len(got) != 0 || why[0] != "none" {
		t.Errorf("got %v, %q", got, why)
	}
}
