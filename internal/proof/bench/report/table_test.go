package report

import (
	"slices"
	"strings"
	"testing"
)

func TestTableIsMarkdownWithRatiosToTheFirstRow(t *testing.T) {
	var out strings.Builder
	Table{
		Header: []string{"", "size"},
		Rows:   [][]string{{"Bowline", Ratio("2 B", 2, 2)}, {"other", Ratio("5 B", 5, 2)}, {"large", Ratio("50 B", 50, 2)}},
	}.Print(&out)
	want := []string{
		"|         |       size |",
		"| ------- | ---------: |",
		"| Bowline |        2 B |",
		"| other   | 5 B (2.5×) |",
		"| large   | 50 B (25×) |",
		"",
	}
	if got := strings.Split(out.String(), "\n"); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
