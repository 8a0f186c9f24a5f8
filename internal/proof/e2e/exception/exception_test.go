package exception

import (
	"maps"
	"slices"
	"testing"
)

func TestAListIsNamesWithReasons(t *testing.T) {
	got, err := Parse("# comment\n\na test\n\tone\n\t reason\n\nanother: test\n  its reason\n")
	want := List{"a test": "one reason", "another: test": "its reason"}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestAListThatIsWrongIsRefusedWithItsLine(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"no reason", "a\n\tr\nb\nc\n\tr\n", `line 3: "b" must have a reason, indented, on the lines below it`},
		{"no reason at the end", "a\n\tr\n\nb\n", `line 4: "b" must have a reason, indented, on the lines below it`},
		{"twice", "a\n\tr\na\n\ts\n", `line 3: "a" is in the list twice`},
		{"a reason for nothing", "# c\n\tr\n", "line 2: a reason must stand below the name of an exception"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := Parse(tc.text); err == nil || err.Error() != tc.want {
				t.Errorf("error is %v, want %s", err, tc.want)
			}
		})
	}
}

func TestAListIsCheckedBothWays(t *testing.T) {
	l := List{"listed and differs": "r", "listed and equal": "r", "listed and not tried": "r"}
	got := l.Check(map[string]bool{"listed and differs": true, "listed and equal": false, "new": true, "equal": false})
	want := []string{
		`"listed and equal" is in the list of exceptions, and is none any more`,
		`"new" is not in the list of exceptions`,
		`"listed and not tried" is in the list of exceptions, and was not tried`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
