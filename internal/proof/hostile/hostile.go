// Package hostile has documents whose cost to a careless reader grows faster than their length. It is for tests of
// package patch and of its parts.
package hostile

import (
	"fmt"
	"strings"
	"testing"
)

// Grows fails the test if a document that is eight times as large costs more than nine times the work. It counts
// steps, not time.
func Grows(t testing.TB, work func(n int) int) {
	t.Helper()
	few, many := work(500), work(4000)
	if few == 0 || many > 9*few {
		t.Errorf("%d steps became %d for 8 times as much", few, many)
	}
}

// Changes returns functions that return documents before and after a change, with n of the parts that slow down a
// careless reader.
func Changes() map[string]func(n int) (before, after string) {
	return map[string]func(n int) (before, after string){
		"deep lists": func(n int) (string, string) {
			return `{"a":` + strings.Repeat(`[`, n) + "1" + strings.Repeat("]", n) + "}",
				`{"a":` + strings.Repeat(`[`, n) + "2" + strings.Repeat("]", n) + "}"
		},
		"deep lists of two": func(n int) (string, string) {
			return `{"a":` + strings.Repeat(`[0,`, n) + "1" + strings.Repeat(",1]", n) + "}",
				`{"a":` + strings.Repeat(`[2,`, n) + "2" + strings.Repeat(",3]", n) + "}"
		},
		"deep objects in lists, that are spelt otherwise": func(n int) (string, string) {
			return `{"a":1,"b":` + strings.Repeat(`[{"a":1,"b":`, n/2) + "1" + strings.Repeat("}]", n/2) + "}",
				`{"a":2,"b":` + strings.Repeat(`[{"\u0061":1,"b":`, n/2) + "1" + strings.Repeat("}]", n/2) + "}"
		},
		"deep objects that differ behind a long text": func(n int) (string, string) {
			long := `"` + strings.Repeat("z", 8*n) + `"`
			return strings.Repeat(`{"a":`, n) + `{"a":` + long + `,"b":1}` + strings.Repeat("}", n),
				strings.Repeat(`{"a":`, n) + `{"a":` + long + `,"b":2}` + strings.Repeat("}", n)
		},
		"deep lists that differ behind a long text": func(n int) (string, string) {
			long := `"` + strings.Repeat("z", 8*n) + `"`
			return `{"a":` + strings.Repeat(`[`, n) + long + strings.Repeat(",1]", n) + "}",
				`{"a":` + strings.Repeat(`[`, n) + long + strings.Repeat(",2]", n) + "}"
		},
		"one name many times, and all of it changed": func(n int) (string, string) {
			return listOfText(n, func(i int) string { return fmt.Sprintf(`{"name":"a","v":%d}`, i) }),
				listOfText(n-1, func(i int) string { return fmt.Sprintf(`{"name":"a","v":%d}`, -1-i) })
		},
	}
}

// Joined writes n texts with commas between.
func Joined(n int, text func(i int) string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(text(i))
	}
	return b.String()
}

func listOfText(n int, element func(i int) string) string {
	return `{"l":[` + Joined(n, element) + `]}`
}
