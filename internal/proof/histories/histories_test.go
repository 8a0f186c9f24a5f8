package histories

import (
	"flag"
	"slices"
	"testing"
)

func TestFlagsSayWhichHistoriesArePlayed(t *testing.T) {
	for _, test := range []struct {
		name         string
		first, seeds string
		short        string
		want         []uint64
	}{
		{"the usual ones", "1", "0", "false", []uint64{1, 2, 3, 4, 5}},
		{"a quarter of them, and not less", "1", "0", "true", []uint64{1, 2}},
		{"more of them", "1", "6", "false", []uint64{1, 2, 3, 4, 5, 6}},
		{"a number is not made smaller", "1", "3", "true", []uint64{1, 2, 3}},
		{"others", "40", "2", "false", []uint64{40, 41}},
		{"one again", "17", "1", "false", []uint64{17}},
	} {
		t.Run(test.name, func(t *testing.T) {
			set(t, "first", test.first)
			set(t, "seeds", test.seeds)
			set(t, "test.short", test.short)
			if got := slices.Collect(Seeds(5)); !slices.Equal(got, test.want) || Count(5) != len(test.want) {
				t.Errorf("seeds are %v, and their number is %d; want %v", got, Count(5), test.want)
			}
			if One() != (len(test.want) == 1) {
				t.Errorf("One is %v for %v", One(), test.want)
			}
		})
	}
}

// A test may stop before the last seed.
func TestSeedsStopEarly(t *testing.T) {
	var got []uint64
	for seed := range Seeds(100) {
		if got = append(got, seed); len(got) == 2 {
			break
		}
	}
	if len(got) != 2 {
		t.Errorf("got %v", got)
	}
}

// set sets a flag for the rest of the test.
func set(t *testing.T, name, value string) {
	t.Helper()
	was := flag.Lookup(name).Value.String()
	if err := flag.Set(name, value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = flag.Set(name, was) })
}
