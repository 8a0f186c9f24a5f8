package informer

import "testing"

// An object that is added shows that a streaming list goes on if its version is below one that came before, or not above one that
// the server has had.
func TestOldVersionsShowThatAStreamingListGoesOn(t *testing.T) {
	type step struct {
		version string
		goesOn  bool
	}
	for _, test := range []struct {
		name  string
		had   string
		steps []step
	}{
		{"versions that rise", "", []step{{"5", false}, {"6", false}, {"7", false}}},
		{"below the highest that came", "", []step{{"5", false}, {"3", true}, {"4", true}, {"6", false}, {"5", true}}},
		{"the same again", "", []step{{"5", false}, {"5", false}}},
		{"one that cannot be ordered", "", []step{{"5", false}, {"x", true}, {"7", false}, {"6", true}}},
		{"up to what the server has had", "6", []step{{"5", true}, {"6", true}, {"7", false}, {"8", false}, {"6", true}}},
	} {
		i := initial{had: test.had}
		for n, s := range test.steps {
			if got := i.goesOn(s.version); got != s.goesOn {
				t.Errorf("%s: version %s, number %d, shows %v, want %v", test.name, s.version, n, got, s.goesOn)
			}
		}
	}
}
